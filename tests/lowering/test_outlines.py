"""Lowering writes the same texts as before."""

from __future__ import annotations

import pytest

from tests.lowering.outlines import FILE, KINDS, outlines


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_what_they_were(kind: str) -> None:
    """The outlines of texts are the recorded ones; if a change is wanted, write the file again."""
    before = FILE.read_text("utf-8").splitlines()
    assert outlines(kind) == [line for line in before if line.startswith(f"{kind}: ")]
