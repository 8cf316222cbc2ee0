"""Macros replace sections that differ only in numbers, without a change of the program."""

from __future__ import annotations

import tempfile
from pathlib import Path

import macaw
from macaw.lowering.listing import Listing
from macaw.lowering.macro_library import MacroLibrary

HALVES = (("ping", "0", "PONG"), ("pong", "PONG", "0"))


def section(name: str, *lines: tuple[str, str]) -> Listing:
    """A listing with a section of statements and comments, and a line before and after it."""
    out = Listing()
    out.comment("before")
    out.mark(name)
    for statement, comment in lines:
        out.put(statement, comment)
    out.mark()
    out.put("nop")
    return out


def data(lines: list[str]) -> bytes:
    """The bytes of the data of these lines."""
    source = "\n".join([".device tiny", ".core cp", "_start: ecall", ".data", *lines])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.s"
        path.write_text(source + "\n", "utf-8")
        program = macaw.assemble(path)
    return b"".join(bytes(section.data) for section in program.sections)


def words(first: int, rows: int, step: int) -> tuple[tuple[str, str], ...]:
    """Statements in which the first number is constant, and two numbers are equal."""
    return (
        (f".word 7, {first}, {first}", f"from {first} on"),
        (f".irp i, {', '.join(map(str, range(rows)))}", "each row"),
        (f".word {step} * \\i, 0x10", ""),
        (".endr", ""),
        (f".word -{first} - {step}", ""),
    )


def test_sections_with_other_numbers_are_calls_of_one_macro():
    sources = [section("table", *words(*numbers)) for numbers in ((1, 3, 8), (2, 4, 8), (5, 1, 9))]
    library = MacroLibrary(sources)
    macros = library.definitions().text()
    assert macros.count(".macro") == 1
    assert "first" not in macros
    assert "# each row" in macros  # all sections have this comment
    for source in sources:
        text = library.text(source).splitlines()
        assert text[0] == "# before"
        assert len(text) == 3
        calls = [line for line in text if line.strip().startswith("table_1 ")]
        assert len(calls) == 1
        assert "# from " in calls[0]
        lines = [line.replace("nop", "") for line in source.lines]
        assert data([*macros.splitlines(), calls[0]]) == data(lines)


def test_a_section_that_nothing_else_resembles_stays():
    one, two = section("a", (".word 1", ""), (".word 2", "")), section("a", (".byte 1", "one"))
    library = MacroLibrary([one, two])
    assert library.definitions().lines == ()
    assert library.text(one).split() == "# before .word 1 .word 2 nop".split()
    assert library.text(two).split() == "# before .byte 1 # one nop".split()


def test_tables_are_written_for_both_halves():
    sources = [
        section("table", (rf"\h\()_t: .word {number} + \here, \other", "what"))
        for number in (10, 20)
    ]
    library = MacroLibrary(sources)
    macros = library.definitions().text().splitlines()
    for number, source in zip((10, 20), sources, strict=True):
        (call,) = (line for line in library.text(source).splitlines() if "halves" in line)
        wanted = [f"{h}_t: .word {number} + {here}, {other}" for h, here, other in HALVES]
        symbol = [".equ PONG, 64"]
        assert data([*symbol, *macros, call]) == data([*symbol, *wanted])


def test_a_table_without_numbers_that_differ_has_no_arguments():
    source = section("table", (r"\h\()_t: .word \here, \other", ""))
    library = MacroLibrary([source])
    (call,) = (line for line in library.text(source).splitlines() if "halves" in line)
    assert call.split() == ["halves", "table_1"]
    macros = library.definitions().text().splitlines()
    wanted = [f"{h}_t: .word {here}, {other}" for h, here, other in HALVES]
    symbol = [".equ PONG, 64"]
    assert data([*symbol, *macros, call]) == data([*symbol, *wanted])


def test_segments_of_a_packet_are_one_argument():
    packets = [
        section(
            "last",
            (".list last", ""),
            (f"exe ib=4, data=(weights w[{n}] by_pe, x[0]), last, out=(y[0], count={n})", ""),
            (".endlist", ""),
            (".balign 4", ""),
        )
        for n in (3, 4, 5)
    ]
    library = MacroLibrary(packets)
    texts = [library.text(packet) for packet in packets]
    assert 'last_1  data="(weights w[3] by_pe, x[0])", count=3' in texts[0]
    assert 'last_1  data="(weights w[4] by_pe, x[0])", count=4' in texts[1]
