"""The generated pages: every row has a page, with the row's bits."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from macaw.isa import codec, common, config, manual, pages, registry
from macaw.isa.diagram import diagram
from macaw.isa.rows import Instruction, Pseudo

CORES = registry.cores()
ROWS = [(core, row) for core in CORES for rows in core.rows.values() for row in rows]


def test_a_whole_page():
    page = manual.page(registry.core("cp"), "jal")
    assert (
        page
        == """\
jal rd, target                                                          cp, jump

  Jump; rd gets the address of the next instruction.

        31      30          21      20      19           12 11   7 6       0
  +------------+--------------+------------+---------------+------+---------+
  | target[20] | target[10:1] | target[11] | target[19:12] |  rd  | 1101111 |
  +------------+--------------+------------+---------------+------+---------+

  Operands    rd: a register, zero to t6
              target: an address -1048576 to 1048574 bytes away, a multiple of 2
  Reads       pc
  Writes      rd, pc
  Cycles      cp.branch_taken_cycles (2)
  Example     jal ra, .+8
  Source      RV32I

jal target                                                cp, pseudo-instruction

  Call a near address.

  Operands    target: an address, 0x0 to 0xffffffff
  Stands for  jal ra, target
  Cycles      the cycles of the instructions for which it stands
  Example     jal .+8
"""
    )


@pytest.mark.parametrize(("core", "row"), ROWS, ids=lambda x: getattr(x, "mnemonic", ""))
def test_every_row_has_a_page_with_all_that_it_says(core, row):
    page = manual.render(core, row)
    head = page.split("\n\n")[0]
    assert " ".join(head.split()).startswith(codec.syntax(row))
    joined = " ".join(page.split())
    assert row.meaning in joined
    assert row.example
    assert f"Example {row.example}" in joined
    for operand in row.operands:
        assert f" {operand.name}: {operand.kind.describe()}" in joined
    if isinstance(row, Pseudo):
        for alternative in row.alternatives:
            for line in alternative.lines:
                assert re.sub(r"[{}]", "", line) in joined
    else:
        assert row.source
        assert row.cycles
        assert "Cycles" in page


@pytest.mark.parametrize(
    ("core", "row"),
    [(core, row) for core, row in ROWS if isinstance(row, Instruction)],
    ids=lambda x: getattr(x, "mnemonic", ""),
)
def test_the_bits_of_a_diagram_are_the_rows(core, row):
    lines = diagram(row).split("\n")
    ends: list[int] = []
    cells: list[str] = []
    for top, rule, middle, again in zip(*(lines[at::4] for at in range(4)), strict=True):
        assert rule == again
        assert [place for place, x in enumerate(rule) if x == "+"] == [
            place for place, x in enumerate(middle) if x == "|"
        ]
        ends += [int(number) for number in top.split()]
        cells += [cell.strip() for cell in middle.strip("|").split("|")]
    word, position, spans = 0, row.format.width, []
    for cell in cells:
        high = ends.pop(0)
        assert high == position - 1
        single = ends[:1] == [high - 1] or not ends
        if re.fullmatch("[01]+", cell):
            position = high + 1 - len(cell)
            word |= int(cell, 2) << position
            if len(cell) > 1:
                assert ends.pop(0) == position
        else:
            name, _, bits = cell.partition("[")
            numbers = [int(n) for n in re.findall(r"\d+", bits)]
            field = row.format.by_name[name]
            width = numbers[0] - numbers[-1] + 1 if numbers else field.width
            position = high + 1 - width
            if width > 1:
                assert not single or width == 2
                assert ends.pop(0) == position
        spans.append((high, position))
    assert position == 0
    assert not ends
    assert word == row.match


def test_structures_have_pages():
    for core in CORES:
        for structure in core.structures:
            page = manual.page(core, structure.name)
            for member in structure.members:
                assert f" {member.type:<5} {member.name} " in page
            assert f"{structure.size} bytes" in page


def test_pages_are_narrow():
    for item in [x for core in CORES for x in pages.of_core(core)] + list(pages.of_device()):
        for line in manual.text(item).splitlines():
            assert len(line) <= 80, line


def test_cycles_name_the_cores_settings():
    page = manual.page(registry.core("cp"), "beq")
    assert "cp.alu_cycles (1); cp.branch_taken_cycles (2) if taken" in page


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_summary_has_a_line_for_everything(core):
    summary = manual.summary(core)
    assert summary.startswith(f"{core.name}: {core.title}\n")
    for rows in core.rows.values():
        for row in rows:
            assert f"\n  {codec.syntax(row)}" in summary
    blocks = reversed(summary.split("\n\n"))  # a family may have the name of a later list
    parts = {heading: lines for heading, *lines in map(str.splitlines, blocks)}
    every = {codec.syntax(row) for row in core.instructions}
    for family in {row.family for row in core.instructions}:
        listed = {text for line in parts[family] for text in (line[2:], line[2:28].strip())}
        wanted = {codec.syntax(row) for row in core.instructions if row.family == family}
        assert listed & every == wanted
    for directive in core.directives:
        assert f"\n  {directive.syntax}" in summary
    for group in (
        core.structures,
        core.queues,
        core.counters,
        core.faults,
        core.rules,
        core.settings,
    ):
        for item in group:
            assert f"\n  {item.name}" in summary
    lines = summary.splitlines()
    assert max(map(len, lines)) <= 100
    for line, following in pairwise([*lines, ""]):  # a name, then its meaning in a column
        if line[:2] == "  " != line[2:4] and line[26:28].strip():
            assert following.startswith(" " * 28), line


def test_names_for_completion():
    found = manual.names(registry.core("pe"))
    assert {"mac", "exe", "packet"} <= set(found)
    assert all(manual.page(registry.core("pe"), name) for name in found)


def test_unknown_name():
    with pytest.raises(manual.UnknownRowError) as error:
        manual.page(registry.core("cp"), "mac")
    assert str(error.value) == "cp has no 'mac'"


def test_every_word_read_or_written_is_an_operand_or_known_state():
    """`reads` and `writes` name operands, registers, queues, or state from the list here."""
    parts = {"pc", "memory", "csr", "unit", "dma", "core", "pe", "trace", "payload", "register-file",
             "accumulators", "weights", "activations", "segment", "destination", "output-queue",
             "scalars", "chain", "MatrixRf", "MulVrf", "row-buffer", "rz", "registers", "buffer", "loops"}  # fmt: skip
    for core, row in ROWS:
        if isinstance(row, Instruction):
            registers = {name for file in core.files for names in file.names for name in names}
            known = parts | registers | {operand.name for operand in row.operands}
            assert set(row.reads.split()) | set(row.writes.split()) <= known, row.mnemonic


def found(name, core=None):
    known = [x for table in CORES for x in pages.of_core(table)] + list(pages.of_device())
    return [manual.text(item) for item in manual.find(known, name)]


@pytest.mark.parametrize("name", ["gr3", "gp", "x3", "GP"])
def test_a_register_by_each_of_its_names(name):
    (page,) = found(name)
    assert page.startswith("gp, x3, gr3 ")
    assert "Number      3 of 32" in page


def test_a_setting_by_its_whole_name_and_by_its_last_word():
    (page,) = found("dist.bus_bytes")
    counter, short = found("bus_bytes")
    assert page == short
    assert "counter" in counter
    assert "Value       32 by default\n  Legal       1 to 4096\n" in page
    assert config.parse("[dist]\nbus_bytes = 32\n", "x")["dist.bus_bytes"] == 32
    assert "Example     [dist]\n              bus_bytes = 32\n" in page


def test_settings_that_differ_on_a_shipped_device_say_so():
    (page,) = found("pe.clusters")
    assert f"{config.load('tiny')['pe.clusters']} on tiny" in page
    assert f"{config.load('large')['pe.clusters']} on large" in page
    assert " by default, " in page  # a short list


def test_registers_that_mean_different_things_say_what_they_hold():
    (page,) = found("iterations", "nnp")
    assert "Holds       times that each following chain runs\n" in page


def test_a_word_that_means_something_by_itself_says_it_once():
    (page,) = found("MatrixRf")
    assert page.count("Tiles of matrices, quantised.") == 1
    assert "The mem of m_rd, m_wr may be this." in " ".join(page.split())


def test_a_rule_is_explained():
    (page,) = found("in place")
    assert page.endswith("A chain that reads entries of InitialVrf does not write them.\n")


def test_what_several_own_in_the_same_words_has_one_page():
    (page,) = found("transfer")
    assert "cp, dma, structure of 24 bytes" in page
    assert len(found("misaligned access")) == 2  # the dma's is another one
    assert found("Segment_Mismatch") == found("segment mismatch") != []


def test_everything_has_a_page_that_says_something():
    for core in CORES:
        names = {item.name for item in pages.of_core(core)}
        for group in (
            core.queues,
            core.counters,
            core.faults,
            core.rules,
            core.settings,
            core.specials,
        ):
            assert {item.name for item in group} <= names
        for item in pages.of_core(core):
            # A sentence: from a capital, a number or a word of the row to a full stop.
            assert re.match(r"[A-Z0-9]|\w+\b", item.meaning), item
            assert item.meaning.endswith("."), item
            assert "  " not in item.meaning, item
    assert all(item.meaning.endswith(".") for item in pages.of_device())


def test_a_queue_names_its_setting():
    (page,) = found("q1")
    assert f"pe.load_queue_1 ({config.load('base')['pe.load_queue_1']})" in page


def test_a_memory_mapped_register_has_its_address():
    (page,) = found("status")
    assert "0x20000004 + (core number << 12)" in page
    assert len(common.REGISTERS) == len(
        [item for item in pages.of_device() if item.kind == "memory-mapped register"]
    )


def test_a_word_says_whose_it_is():
    (page,) = found("broadcast")
    assert (
        "The field mode of the structure segment (which PEs get which part): one of broadcast,"
        in " ".join(page.split())
    )
    (page,) = found("balance")
    assert "A flag of mac: writing this word sets the flag." in page
    assert len(found("weights")) == 3  # a structure, a word, a queue
