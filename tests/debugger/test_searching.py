"""`find` and `search` against searches in the whole memory and in all lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import macaw as api
from macaw.debugger.commands import searching
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles
from macaw.execution import configuration_of
from tests.debugger.programs import of_source

pytestmark = pytest.mark.once

DATA = bytes([1, 2, 1, 2, 1, 0, 0, 0, 255, 255, 255, 255] * 9 + [1, 2, 1, 9])
SOURCE = (
    " .core cp\n_start: nop\n nop # b\n li a0, 1 # a\n nop # b\n ebreak # a\n .data\ny: .byte {}\n"
)
LINES = SOURCE.split("\n")


@pytest.fixture(scope="module")
def run() -> Interpreter:
    return Interpreter(of_source(SOURCE.format(", ".join(map(str, DATA)))), DebuggerFiles())


def found(run: Interpreter, line: str) -> list[int]:
    answer = run.execute(line)
    if answer.lines == ("nothing was found",):
        assert run.session.user_values.variables["numfound"] == 0
        return []
    base = run.session.program.symbol("y").value
    places = [int(text.split()[0], 16) - base for text in answer.lines]
    assert run.session.user_values.variables["numfound"] == len(places)
    assert run.session.user_values.variables["_"] == places[-1] + base
    return places


def places_of(pattern: bytes, begin: int, end: int) -> list[int]:
    last = end - len(pattern)
    return [at for at in range(begin, last + 1) if DATA[at : at + len(pattern)] == pattern]


@pytest.mark.parametrize("piece", [1, 5, 12, 1 << 20])
def test_all_places_of_a_range_are_found(
    run: Interpreter, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    """Also those over the border of two pieces that are read one after the other."""
    monkeypatch.setattr(searching, "PIECE", piece)
    for words, pattern in [
        ("/b y, y+{last}, 1, 2, 1", b"\1\2\1"), ("/h y, y+{last}, 0x0201", b"\1\2"),
        ("/b y, y+{last}, 9", b"\t"), ("/w y, y+{last}, -1", b"\xff" * 4),
        ('/b y, y+{last}, "\1\2"', b"\1\2"), ("/b y, y+{last}, 1, 9", b"\1\t"),
    ]:  # fmt: skip
        for end in (1, 3, 12, 13, len(DATA) - 1, len(DATA)):
            expected = places_of(pattern, 0, end)
            assert found(run, f"find{words.format(last=end - 1)}") == expected[:100]
            if expected[2:]:
                assert (
                    found(run, f"find{words.replace(' ', '2 ', 1).format(last=end - 1)}")
                    == (expected[:2])
                )


def test_a_length_and_a_last_address_are_the_same(run: Interpreter) -> None:
    for size in (1, 4, 5, len(DATA)):
        expected = places_of(b"\1", 0, size)
        assert found(run, f"find/b y, +{size}, 1") == expected
        assert found(run, f"find/b y, y+{size - 1}, 1") == expected
    most = searching.MOST_BYTES
    message = f"is no range of 1 to {most:,} bytes"
    assert message in run.execute(f"find/b y, +{most + 1}, 1").message
    assert message not in (run.execute(f"find/b y, +{most}, 1").message or "")
    assert message in run.execute("find/b y, y-1, 1").message


@pytest.mark.parametrize(("letter", "size"), [("b", 1), ("h", 2), ("w", 4), ("", 4), ("g", 8)])
def test_numbers_that_fit_and_the_next_ones(run: Interpreter, letter: str, size: int) -> None:
    low, high = -(1 << 8 * size - 1), (1 << 8 * size) - 1
    for value in (low, high):
        pattern = (value % (1 << 8 * size)).to_bytes(size, "little")
        assert found(run, f"find/{letter} y, +{len(DATA)}, {value}".replace("/ ", " ")) == (
            places_of(pattern, 0, len(DATA))
        )
    for value in (low - 1, high + 1):
        if -(1 << 63) <= value < 1 << 64:
            message = run.execute(f"find/{letter} y, +9, {value}".replace("/ ", " ")).message
            assert f"{value} does not fit {size} byte{'s' * (size > 1)}" in message


def test_lines_are_found_in_both_directions(tmp_path: Path) -> None:
    """`search` finds each later line that matches, `reverse-search` each earlier one."""
    source = tmp_path / "lines.s"
    source.write_text(SOURCE.format(1))
    program = api.assemble(source, device="tiny")
    run = Interpreter(Session(program, configuration_of(program), {}), DebuggerFiles())
    for pattern in ("# a", "# b", "nop", r"\bebreak"):
        matching = [n for n, text in enumerate(LINES, 1) if re.search(pattern, text)]
        run.execute("list 1,1")
        after = [n for n in matching if n > 1]
        for number in after:
            assert run.execute(f"search {pattern}").rows[0][0] == number
        assert run.execute(f"search {pattern}").kind == "error"
        for number in reversed(matching[:-1]):
            assert run.execute(f"reverse-search {pattern}").rows[0][0] == number
        assert run.execute(f"reverse-search {pattern}").kind == "error"
