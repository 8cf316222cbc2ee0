"""Output on terminals and pipes whose encoding has few characters, such as ASCII."""

from __future__ import annotations

import io
import sys
from unittest import mock

import pytest

from macaw.terminal.substitutes import SUBSTITUTES, accept_all_text
from tests.macaw.command_runs import run_apart
from tests.macaw.conftest import ROOT


@pytest.mark.once
@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
def test_a_table_is_shown_in_any_encoding(encoding: str) -> None:
    words = ["estimate", "programs/network/digits_int8.onnx"]
    done = run_apart(words, ROOT, {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "depthwise 3x3/2x2" in done.stdout


def test_a_sign_without_a_substitute_is_a_question_mark() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, "ascii")
    with mock.patch.object(sys, "stdout", stream):
        accept_all_text()
        print("a × 漢 \udc80", flush=True)
    assert written.getvalue() == b"a x ? ?\n"


def test_substitutes_are_ascii() -> None:
    assert all(text.isascii() for text in SUBSTITUTES.values())
