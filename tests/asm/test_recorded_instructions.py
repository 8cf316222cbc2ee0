"""Each instruction of each core with operands at and beyond their bounds, against recorded outcomes."""

from __future__ import annotations

from random import Random

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import ERROR, AssemblyError, Diagnostic
from macaw.asm.disassembler import disassemble
from macaw.asm.source import Source
from macaw.isa import codec, registry
from macaw.isa.rows import Instruction, Row
from tests.asm.generated import instructions, outcomes
from tests.asm.generated.instructions import Line
from tests.recorded import check

pytestmark = pytest.mark.once

PLAIN = {"cp": ".core cp", "vc": ".core vc", "nnp": ".core nnp", "fim": ".core fim, island=0"}
HEAD = "_start: nop\n1: first: j 1b\n"
TAIL = "last: j 1f\n1:\n.set K, 5\n"
PARTS = {"cp": 3, "vc": 4, "nnp": 1, "fim": 1, "pe": 1}


def rows(name: str, part: int) -> list[tuple[Row, bool]]:
    every = instructions.rows(registry.core(name))
    return [pair for pair in every if instructions.number_of(pair[0]) % PARTS[name] == part]


def around(name: str, row: Row, lines: list[Line]) -> tuple[str, list[int]]:
    """A source with these lines, and their numbers."""
    more = ", s" if row.mnemonic == "config" else ""  # the name of a sequence
    texts = [line.text + more for line in lines]
    if name == "pe" and isinstance(row, Instruction) and row.family == "sequence":
        return in_sequences(texts)
    if name == "pe":
        before, after = (
            ".device tiny\n.core pe, row=0\n.seq s\nst base=0\n.endseq\nw: .byte 1\n",
            "",
        )
    elif name == "fim":
        inside = row.mnemonic not in ("block", "endall")
        before, after = (
            f"{PLAIN[name]}\n{'.block banks=0' if inside else ''}\n",
            "end\n" if inside else "",
        )
    elif name == "nnp":
        before, after = f"{PLAIN[name]}\nv_rd NetInQ\n", "v_wr NetOutQ\nend_chain\n"
    else:
        before, after = f"{PLAIN[name]}\n{HEAD}", TAIL
    first = before.count("\n") + 1
    source = "\n".join([before + texts[0], *texts[1:], after]) if texts else before + after
    return source, list(range(first, first + len(texts)))


def in_sequences(texts: list[str]) -> tuple[str, list[int]]:
    """A source with the lines in sequences of pe, which have at most 16 instructions each."""
    numbers: list[int] = []
    source = [".device tiny", ".core pe, row=0"]
    for place in range(0, len(texts), 16):
        some = texts[place : place + 16]
        source.append(f".seq s{place}, pipeline=4")
        numbers += range(len(source) + 1, len(source) + 1 + len(some))
        source += [*some, ".endseq", f"config ib=0, s{place}"]
    return "\n".join(source) + "\n", numbers


def words(name: str, row: Row, lines: list[Line]) -> str:
    """The words of the lines as hexadecimal numbers.

    Asserts that the disassembly assembles to them again, and that the decoder finds the row.
    """
    program = assemble(Source(around(name, row, lines)[0], outcomes.NAME))
    section = next(item for item in program.sections if item.core == name)
    again = assemble(Source(disassemble(program), outcomes.NAME))
    assert again.sections == program.sections
    data = section.data[8:-4]
    found = [int.from_bytes(data[place : place + 4], "little") for place in range(0, len(data), 4)]
    if isinstance(row, Instruction):
        assert len(found) == len(lines)
        for word, line in zip(found, lines, strict=True):
            assert codec.decode(registry.core(name), word).row is row, line.text
    texts = [f"{word:08x}" for word in found]
    if len(texts) <= 7:
        return " ".join(texts)
    return f"{' '.join(texts[:6])} ... {len(texts)} words, {outcomes.digest(' '.join(texts))}"


def diagnostics_of(source: str) -> tuple[Diagnostic, ...]:
    try:
        program = assemble(Source(source, outcomes.NAME))
    except AssemblyError as error:
        return error.diagnostics
    return tuple(item for item in program.warnings if isinstance(item, Diagnostic))


@pytest.mark.parametrize(("name", "part"), [(n, x) for n in ("cp", "vc") for x in range(PARTS[n])])
def test_operands_at_their_bounds(name: str, part: int) -> None:
    found: dict[str, str] = {}
    for row, _is_first in rows(name, part):
        lines = list(
            instructions.good_lines(row, Random(f"good {name} {row.mnemonic} {row.syntax}"))
        )
        sure = [line for line in lines if line.is_good]
        found[codec.syntax(row)] = words(name, row, sure)
    check(outcomes.FOLDER / f"words_{name}_{part}.txt", found)


@pytest.mark.parametrize("name", ["nnp", "fim", "pe"])
def test_operands_at_their_bounds_in_blocks(name: str) -> None:
    """These cores also have rules about the order of instructions, which some lines break."""
    found: dict[str, list[str]] = {}
    for row, is_first in rows(name, 0):
        random = Random(f"good {name} {row.mnemonic}")
        for place, line in enumerate(instructions.good_lines(row, random)):
            texts = outcomes.outcome(around(name, row, [line])[0])
            shown = texts if is_first and not place else [outcomes.digest(chr(10).join(texts))]
            found[f"{place} {line.text}"] = outcomes.shortened(shown, 3)
    check(outcomes.FOLDER / f"lines_{name}.txt", outcomes.records(found))


@pytest.mark.parametrize(("name", "part"), [(n, x) for n in PARTS for x in range(PARTS[n])])
def test_operands_beyond_their_bounds(name: str, part: int) -> None:
    found: dict[str, list[str]] = {}
    for row, is_first in rows(name, part):
        lines = list(instructions.bad_lines(row, Random(f"bad {name} {row.mnemonic} {row.syntax}")))
        source, numbers = around(name, row, lines)
        items = diagnostics_of(source)
        wrong = {item.span.line for item in items if item.severity == ERROR}
        for number, line in zip(numbers, lines, strict=True):
            assert line.is_good is not False or number in wrong, line.text
        texts = outcomes.diagnostics(items, source)
        if not is_first:
            texts = [f"{len(texts)} diagnostics, {outcomes.digest(chr(10).join(texts))}"]
        found[codec.syntax(row)] = outcomes.shortened(texts, 4)
    check(outcomes.FOLDER / f"mistakes_{name}_{part}.txt", outcomes.records(found))
