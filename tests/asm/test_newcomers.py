"""Mistakes of newcomers in programs for all cores: the message and place of each.

`MACAW_GOLDENS=write pytest tests/asm/test_newcomers.py` writes `newcomers/messages.txt` anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError, Diagnostic, render
from macaw.asm.source import Source

pytestmark = pytest.mark.once

FOLDER = Path(__file__).parent / "newcomers"
MESSAGES = FOLDER / "messages.txt"
_HEAD = "#--- "


def _pieces(path: Path) -> Iterator[tuple[str, str]]:
    for piece in path.read_text("utf-8").split(_HEAD)[1:]:
        name, _, text = piece.partition("\n")
        yield name if "/" in name else f"{path.stem}/{name}", text


SOURCES = {name: text for path in sorted(FOLDER.glob("*.s")) for name, text in _pieces(path)}
WRITE = os.environ.get("MACAW_GOLDENS") == "write"


def diagnostics(name: str) -> list[Diagnostic]:
    try:
        found = assemble(Source(SOURCES[name], "new.s", FOLDER)).warnings
    except AssemblyError as error:
        found = error.diagnostics
    return [item for item in found if isinstance(item, Diagnostic)]


def test_there_are_sixty_of_all_cores() -> None:
    assert len(SOURCES) >= 60
    assert {name.partition("/")[0] for name in SOURCES} >= {"cp", "vc", "pe", "nnp", "fim"}
    if WRITE:
        texts = [f"{_HEAD}{name}\n{render(diagnostics(name))}" for name in SOURCES]
        MESSAGES.write_text("".join(texts), "utf-8")
    assert dict(_pieces(MESSAGES)).keys() == SOURCES.keys()


@pytest.mark.parametrize("name", SOURCES)
def test_message(name: str) -> None:
    assert render(diagnostics(name)) == dict(_pieces(MESSAGES))[name]


@pytest.mark.parametrize("name", SOURCES)
def test_one_mistake_is_one_message_at_a_line_of_the_source(name: str) -> None:
    (item,) = diagnostics(name)
    line = SOURCES[name].splitlines()[item.span.line - 1]
    assert item.source == line
    assert 1 <= item.span.column <= len(line) + 1
