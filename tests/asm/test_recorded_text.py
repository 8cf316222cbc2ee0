"""After random edits, a run that repeats recorded lines has the result of a run from scratch."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from macaw.asm.assembler import Source, analyse
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.editing.program import EditedProgram
from macaw.asm.expressions import Address
from macaw.asm.layout import Area
from macaw.asm.recorded_text import Conditions, RecordedText, Recordings, Segment
from macaw.asm.simple_area import SimpleArea
from macaw.asm.symbols import Definition
from tests.fuzzing import tries

pytestmark = pytest.mark.once

REGISTERS = ("a0", "a1", "t0", "s3", "zero", "sp")
# Lines of a source: `{r}` is a register, `{l}` a name, `{n}` a number, `{d}` a digit.
PLAIN = (
    "        add     {r}, {r}, {r}",
    "        addi    {r}, {r}, {n}          # step {n}",
    "        lw      {r}, {n}({r})",
    "        li      {r}, {n}",
    "        li      {r}, 0x12345678",
    "        ret",
    "        mv      {r}, {r}",
    "{l}:",
    "{l}:    addi    {r}, {r}, 1",
    "{l}:    .word   {n}, {n}",
    "{l}:    .balign 8",
    "{d}:",
    "{d}:    addi    {r}, {r}, -1",
    "        beq     {r}, {r}, {l}",
    "        bnez    {r}, {d}b",
    "        j       {d}f",
    "        j       {l}",
    "        call    {l}",
    "        la      {r}, {l}",
    "        lui     {r}, %hi({l})",
    "        addi    {r}, {r}, %lo({l})",
    "        .word   {l}, {n}",
    "        .byte   1, 2, 3",
    "        .half   {n}",
    '        .asciz  "a # text, {n}"',
    "        .balign 4",
    "        .text",
    "        .data",
    "        .text                   # the code",
    "",
    "# a comment {n}",
)
OTHERS = (
    "        .set    size, {n}",
    "        .set    size, size + 1",
    "        li      {r}, size",
    "        .word   size",
    "        .global {l}",
    "        .weak   {l}",
    "        .bss",
    "        .zero   {n}",
    "        .space  5000",
    "        twice",
    "        adi     {r}, {r}",
    "        addi    {r}, {r}, 1 + 2; nop",
    "        addi    {r}, {r}, 99999",
    "        j       nowhere",
    "/* a comment",
    "*/",
    "        .rept   3",
    "        .endr",
    "        .if     {d}",
    "        .endif",
    "        .macro  {m}",
    "        .endm",
    "        .core   vc",
    "        .core   cp",
    "        .section .rodata",
)
MACRO = "        .macro  twice\n        nop\n        nop\n        .endm"


def line(pick: random.Random, others: float) -> str:
    """Return a line; `others` is the probability that it is no simple line."""
    text = pick.choice(OTHERS if pick.random() < others else PLAIN)
    parts = text.replace("{", "\0{").split("\0")
    values = {
        "{r}": lambda: pick.choice(REGISTERS),
        "{l}": lambda: f"{pick.choice(('', '.L'))}name{pick.randrange(40)}",
        "{n}": lambda: str(pick.randrange(-40, 2000)),
        "{d}": lambda: str(pick.randrange(3)),
        "{m}": lambda: pick.choice(("twice", "add", "name1")),
    }
    return "".join(
        values[part[:3]]() + part[3:] if part.startswith("{") else part for part in parts
    )


def start(pick: random.Random, count: int, others: float) -> list[str]:
    """Return the lines of a source."""
    return [".core cp", MACRO, *(line(pick, others) for _ in range(count))]


def edited(pick: random.Random, lines: list[str], others: float) -> list[str]:
    """Return the lines after a random edit."""
    place = pick.randrange(len(lines))
    match pick.randrange(6 if len(lines) > 9 else 2):
        case 0 | 1:
            return [*lines[:place], line(pick, others), *lines[place:]]
        case 2:
            return [*lines[:place], line(pick, others), *lines[place + 1 :]]
        case 3:
            return [*lines[:place], *lines[place + pick.randrange(1, 4) :]]
        case 4:  # a word is cut off
            return [*lines[:place], lines[place][: pick.randrange(20)], *lines[place + 1 :]]
        case _:  # lines are copied to another place
            other = pick.randrange(len(lines))
            return [*lines[:place], *lines[other : other + 9], *lines[place:]]


def value(symbol: Definition) -> object:
    """Return what a symbol means, without the objects of its run."""
    known = symbol.value
    if isinstance(known, Address):
        assert isinstance(known.area, Area)
        return known.area.section, known.area.name, known.offset
    return known if isinstance(known, int) else type(known)


def symbol_record(symbol: Definition) -> object:
    return (
        symbol.name,
        value(symbol),
        (symbol.line.start, symbol.line.text, symbol.start, symbol.end),
        (symbol.is_label, symbol.is_bad, symbol.is_used, symbol.is_weak),
        (symbol.size, symbol.kind),
    )


def result(state: AssemblyState) -> Iterator[object]:
    """Yield all that a run has found."""
    yield state.report.diagnostics()
    for scope in state.symbols.table.scopes:
        yield [symbol_record(symbol) for symbol in scope.symbols.values()]
        yield sorted(scope.exports), sorted(scope.weak)
        for number, labels in scope.numbered.items():
            yield number, [symbol_record(symbol) for _ordinal, symbol in labels]
    for plan in state.layout.plans.values():
        yield plan.name
        yield [(bytes(x.data), x.size, x.align, x.base, x.name) for x in plan.areas]
    yield list(state.line_table.table())
    yield state.instructions, state.symbols.has_variables


def compare(text: str, recordings: Recordings, folder: Path | None = None) -> None:
    """Assert that a run with the recordings of earlier texts has the result of a plain run."""
    source = Source(text, "edited.s", folder)
    again = analyse([source], recordings=recordings).state
    for found, expected in zip(result(again), result(analyse([source]).state), strict=True):
        assert found == expected


@pytest.mark.parametrize("others", [0.0, 0.02, 0.2])
def test_random_edits(others: float) -> None:
    for seed in range(tries(12)):
        pick = random.Random(f"{seed} {others}")
        lines, recordings = start(pick, pick.choice((3, 60, 300)), others), Recordings()
        for _ in range(12):
            end = pick.choice(("\n", "\n", "", "\r\n"))
            compare(end.join(lines) if end == "\r\n" else "\n".join(lines) + end, recordings)
            lines = edited(pick, lines, others)


def test_edits_of_an_included_file(tmp_path: Path) -> None:
    pick = random.Random(1)
    recordings, lines = Recordings(), start(pick, 90, 0.0)[2:]
    for _ in range(tries(12)):
        (tmp_path / "part.s").write_text("\n".join(lines) + "\n")
        compare('.core cp\nnop\n.include "part.s"\nret\n', recordings, tmp_path)
        lines = edited(pick, lines, 0.02)


def routines(count: int) -> list[str]:
    """Return the lines of routines with data."""
    return [
        line
        for number in range(count)
        for line in (
            "        .text",
            f"f{number}:    addi    sp, sp, -16",
            f"        call    f{number // 2}",
            f"        bnez    a0, f{number}",
            "        ret",
            "        .data",
            f"d{number}:    .word   f{number}, {number}",
        )
    ]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[bool, int]:
    """How many segments were repeated (True) and how many could not be repeated (False)."""
    found = {True: 0, False: 0}
    repeat = SimpleArea.repeat

    def counted(self: SimpleArea, segment: Segment, start: int) -> bool:
        done = repeat(self, segment, start)
        found[done] += 1
        return done

    monkeypatch.setattr(SimpleArea, "repeat", counted)
    return found


def test_only_edited_lines_are_read_again(counts: dict[bool, int]) -> None:
    lines, recordings = [".core cp", *routines(300)], Recordings()
    compare("\n".join(lines) + "\n", recordings)
    assert counts == {True: 0, False: 0}
    all_segments = len(recordings.of("edited.s", "\n".join(lines) + "\n").segments)
    lines.insert(1000, "        nop")
    compare("\n".join(lines) + "\n", recordings)
    assert counts[True] >= all_segments - 2 > 100
    assert not counts[False]


def test_a_label_that_is_defined_earlier_now(counts: dict[bool, int]) -> None:
    lines, recordings = [".core cp", *routines(30)], Recordings()
    compare("\n".join(lines) + "\n", recordings)
    compare("\n".join([lines[0], "d20:", *lines[1:]]) + "\n", recordings)
    assert counts[False] == 1


def test_a_macro_with_the_name_of_an_instruction(counts: dict[bool, int]) -> None:
    lines, recordings = [".core cp", *routines(30)], Recordings()
    compare("\n".join(lines) + "\n", recordings)
    macro = ["        .macro  ret", "        nop", "        .endm"]
    compare("\n".join([lines[0], *macro, *lines[1:]]) + "\n", recordings)
    assert counts[False] > 0
    assert not counts[True]


def test_many_edits_do_not_divide_a_text_for_ever() -> None:
    lines, recordings = [".core cp", *["        nop"] * 3000], Recordings()
    for place in range(5, 2900, 9):
        lines[place] = "        ret"
        text = "\n".join(lines) + "\n"
        segments = len(recordings.of("edited.s", text).segments)
        analyse([Source(text, "edited.s")], recordings=recordings)
        assert segments <= 70


def test_a_cancelled_run_leaves_valid_recordings() -> None:
    class Ended(Exception):
        pass

    calls = iter(range(1000))

    def watch() -> None:
        if next(calls) == 20:
            raise Ended

    lines, recordings = [".core cp", *routines(300)], Recordings()
    text = "\n".join(lines) + "\n"
    with pytest.raises(Ended):
        analyse([Source(text, "edited.s")], recordings=recordings, watch=watch)
    lines.insert(40, "        nop")
    compare("\n".join(lines) + "\n", recordings)


def test_a_program_in_an_editor_forgets_its_recordings() -> None:
    text = ".core cp\nnop\nret\n"
    program = EditedProgram((Source(text, "edited.s"),))
    assert not program.assembly.report.has_errors
    assert program.recordings.of("edited.s", text).segments
    program.forget()
    assert not program.recordings.of("edited.s", text).segments


def test_of_segments_that_overlap_the_first_stays() -> None:
    """An edit drops the segments that begin inside an earlier one; the other segments stay."""
    one = Segment(0, 0, None, Conditions(False, 0, frozenset()), b"", 0, [], [], ())
    lengths = {0: 4, 2: 3, 4: 2, 5: 3, 6: 4}
    segments = {start: one._replace(length=length) for start, length in lengths.items()}
    text = RecordedText("0123456789", segments, 100).after_edit("0123456789abc")
    assert sorted(text.segments) == [0, 4, 6]
