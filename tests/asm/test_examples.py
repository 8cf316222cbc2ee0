"""Every example of the reference assembles to the words that its page describes."""

import re
from pathlib import Path

import pytest

from macaw.asm import reference
from macaw.asm.assembler import Source, assemble
from macaw.asm.program import Program
from macaw.emu.scalar.timing import Timing
from macaw.isa import codec, config, pe, registry
from macaw.isa.pe import PACKET, SEQUENCE
from macaw.isa.rows import Instruction, Pseudo
from tests.asm.gnu import live, tools_missing

pytestmark = pytest.mark.once

FOLDER = Path(__file__).parent / "ok"  # where weights.npy is
CP, PE = registry.core("cp"), registry.core("pe")
SCALAR = [row for rows in CP.rows.values() for row in rows]
LAYER = """\
        .device tiny
        .input  x, int8, 64
        .output y, int32, 8
        .core   pe, row=0
w:      .sparse "weights.npy"[0:8]
        .seq    layer
          ld    activations
          ld    weights
          mac
          spu   nonsf
          st
        .endseq
"""
FIRST = "        .list first\n        config ib=0, layer\n        .endlist\n"
AFTER = "        .list after\n        exe ib=0, last, data=(x, w[0]), out=y\n        .endlist\n"
RUN = "        config  ib=0, layer\n        exe     ib=0, last, data=(x, w[0]), out=y\n"
CP_PART = ".core cp\n"


def built(text: str) -> Program:
    """The program of a text that may name files of the corpus; no warning is allowed."""
    program = assemble(Source(text, "example.s", FOLDER), device="tiny")
    assert not program.warnings, program.warnings
    return program


def words(lines: str) -> bytes:
    """The bytes of a cp part with these lines."""
    return built(f".core cp\n{lines}\n").section(".text.cp").data


def probe(row: Instruction, text: str) -> Program:
    """A program whose list `probe` has one command."""
    first = "" if row is pe.COMMANDS[0] else FIRST
    return built(f"{LAYER}{first}        .list probe\n{text}\n        .endlist\n{AFTER}")


@pytest.mark.parametrize("row", SCALAR, ids=lambda row: f"{row.mnemonic}-{row.syntax}")
def test_an_example_of_cp_is_its_row(row: Instruction | Pseudo) -> None:
    data = words(row.example)
    if isinstance(row, Instruction):
        assert len(data) == row.format.size
        assert codec.decode(CP, int.from_bytes(data, "little")).row is row
        return
    # What the example stands for according to the page, with its operands.
    written = [text.strip() for text in row.example.removeprefix(row.mnemonic).split(",")]
    values: dict[str, str] = {}
    outer = [operand for operand in row.operands if not operand.inside]
    assert len(outer) == len(list(filter(None, written)))
    for operand, text in zip(outer, written, strict=False):
        number, _, base = text.partition("(")
        values[operand.name] = number
        values.update({x.name: base[:-1] for x in row.operands if x.inside == operand.name})
    found = [
        alternative
        for alternative in row.alternatives
        if not alternative.when or alternative.when(int(values[row.choose], 0))
    ]
    lines = []
    for place, line in enumerate(found[0].lines):
        here = {name: re.sub(r"^\.", f"(.-{4 * place})", text) for name, text in values.items()}
        pieces = re.split(r"\{(\w+)\}", line)
        pieces[1::2] = [here[name] for name in pieces[1::2]]
        lines.append("".join(pieces))
    assert data == words("\n".join(lines))


@pytest.mark.skipif(tools_missing(), reason="GNU as is missing")
@pytest.mark.may_skip_in_ci  # .ci/run installs it
def test_examples_of_cp_are_those_of_gnu_as() -> None:
    rows = [row for row in SCALAR if getattr(row, "family", "") != "xcp"]
    text = "\n".join(row.example for row in rows) + "\n"
    assert words(text).hex() == live(text)[".text"]


@pytest.mark.parametrize(
    "row", [x for x in PE.instructions if x.family == "sequence"], ids=lambda x: x.mnemonic
)
def test_an_example_of_a_sequence_is_its_row(row: Instruction) -> None:
    program = built(f".core pe, row=0\n.seq s\n{row.example}\n.endseq\n")
    section, at = program.section(".pe.0"), program.symbol("s").value + SEQUENCE.size
    place = at - section.address
    word = int.from_bytes(section.data[place : place + row.format.size], "little")
    found = codec.decode(PE, word, row.format.width)
    assert found.row is row
    said = re.findall(r"(\w+)=(\d+)", row.example)  # what the example names is in the word
    assert {name: found.values[name] for name, _ in said} == {x: int(n) for x, n in said}


@pytest.mark.parametrize(
    "row", [x for x in PE.instructions if x.family == "command"], ids=lambda x: x.mnemonic
)
def test_an_example_of_a_command_is_its_row(row: Instruction) -> None:
    program = probe(row, row.example)
    section = program.section(".pe.0")
    place = program.symbol("probe").value - section.address
    packet = codec.unpack(PACKET, section.data, place)
    assert codec.decode(PE, packet["command"], row.format.width).row is row
    # What the source names beside the word, according to the page.
    forms = [form.rstrip("=") for form, _meaning in row.carries]
    for name in re.findall(r"(\w+)=", row.example):
        assert name in forms or name in {operand.name for operand in row.operands}


def test_what_a_command_carries_is_what_its_form_takes() -> None:
    for row in PE.instructions:
        for form, meaning in row.carries:
            assert meaning
            if form.endswith("="):
                text = f"{row.example}, {form}" if form not in row.example else row.example
                text = re.sub(r"data=$", "data=()", text.replace("to=", "to=all"))
                assert probe(row, text)


def _frames() -> list[tuple[str, str, str]]:
    """Name, text before the example, and example of each directive and function."""
    found = []
    for row in reference.directives():
        alone = row.name in (".core", ".device", ".input", ".output")
        found.append((row.name, "" if alone else CP_PART, row.example))
    for core in registry.cores():
        part = f".core {core.name}" + (f", {core.index}=0\n" if core.index else "\n")
        found += [(row.name, part, row.example) for row in core.directives]
    frames = {"load_address": ".core pe, row=0\n", "slot": f"{LAYER}{RUN}{CP_PART}"}
    found += [
        (row.name, frames.get(row.name, CP_PART), row.example) for row in reference.functions()
    ]
    return found


@pytest.mark.parametrize(("name", "frame", "example"), _frames(), ids=lambda text: text[:12])
def test_an_example_of_a_directive_or_function(name: str, frame: str, example: str) -> None:
    pattern = rf"(^|[\s(]){re.escape(name)}(\s|\(|$)"
    assert re.search(pattern, example, re.MULTILINE), example
    assert built(f"{frame}{example}\n")


GNU_KNOWS_NOT = (
    ".core",
    ".device",
    ".setting",
    ".input",
    ".output",
    ".hint",
    ".bfloat16",
    ".array",
    ".view",
    ".dense",
    ".npy",
    ".sparse",
    ".tiles",
)


@pytest.mark.skipif(tools_missing(), reason="GNU as is missing")
@pytest.mark.may_skip_in_ci  # .ci/run installs it
def test_examples_of_directives_give_gnu_s_bytes() -> None:
    compared = 0
    for row in reference.directives():
        if row.name in GNU_KNOWS_NOT:
            continue
        text = f"        .data\n{row.example}\n"
        program = built(f".core cp\n        nop\n{text}")
        data = [section.data for section in program.sections if section.name == ".data"]
        if data and data[0]:
            assert data[0].hex() == live(text)[".data"], row.name
            compared += 1
    assert compared > 20


def test_cycles_name_the_settings_that_the_emulator_takes() -> None:
    """Each cost that an instruction's page names is the cost that the emulator's model charges."""
    costs = {"cp.alu_cycles": 3, "cp.mul_cycles": 5, "cp.div_cycles": 7, "cp.branch_taken_cycles": 11,
             "cp.local_cycles": 13, "cp.csr_cycles": 17}  # fmt: skip
    model = Timing(config.Configuration("primes", costs), "cp")
    for row in CP.instructions:
        named = re.findall(r"\w+_cycles", row.cycles)
        cost = costs[f"cp.{named[0]}"] if named else 1
        assert model.of_family[row.family] == cost, row.mnemonic
        if row.family == "branch":
            assert costs[f"cp.{named[1]}"] == model.taken
