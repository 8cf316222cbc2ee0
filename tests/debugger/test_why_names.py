"""The names in answers of `why`: in halves and other units, packets, transfers, instructions."""

from __future__ import annotations

from pathlib import Path

import pytest

import macaw
from macaw.debugger.causes.cause_text import lines
from macaw.debugger.causes.place_names import label_place, memory_name, state_name
from macaw.emu.origins import Place
from macaw.isa.memory_map import HALF_SHIFT, UNIT_SHIFT
from tests.debugger.asked import inputs, only, settings, walk
from tests.debugger.programs import loaded, session

pytestmark = pytest.mark.once


def test_arrays_have_their_names_in_both_halves_and_in_other_units():
    program, _ = loaded("digits_mlp")
    hidden = next(x for x in program.arrays if x.name == "hidden2")
    at = hidden.address + 3 * 64 + 18
    assert memory_name(program, at, layer=None) == "hidden2[3, 18]"
    assert (
        memory_name(program, at + (1 << HALF_SHIFT), layer=None)
        == "hidden2[3, 18] (unit 0, half 1)"
    )
    other = at + (3 << UNIT_SHIFT) + (1 << HALF_SHIFT)
    assert memory_name(program, other, layer=None) == "hidden2[3, 18] (unit 3, half 1)"
    weights = program.symbol("w1").value
    assert memory_name(program, weights + 5, layer=None) == f"{weights + 5:#010x} <w1+5>"
    assert (
        memory_name(program, weights + 5 + (1 << HALF_SHIFT), layer=None)
        == "<w1+5> (unit 0, half 1)"
    )
    assert memory_name(program, 0x1007_FFFF, layer=None) == "0x1007ffff", (
        "nothing is there in any half"
    )


def test_several_registers_have_the_name_of_the_first() -> None:
    """A part of a core's state with several registers has the name of the first of them.

    Each PE has four accumulators of four bytes, and a cluster has four PEs.
    """
    row = session("layer").device.cores["pe[0]"]
    names = {
        (0, 4): "pe[0,0].0.acc0",
        (4, 8): "pe[0,0].0.acc1",
        (16, 16): "pe[0,0].1.acc0",
        (64 + 3 * 16, 16): "pe[0,1].3.acc0",
    }
    for part, name in names.items():
        assert state_name(row, Place("accumulators", *part)) == name


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_copy_of_a_tensor_has_the_name_of_the_tensor(engine, tmp_path):
    """A copy of a tensor has the tensor's name.

    The assembler gives `y` a place in the unit; the symbol of `y` is in external memory.
    """
    program, data = loaded("layer")
    path = tmp_path / "layer.elf"
    macaw.save(program, path)
    for one in (program, macaw.load(path)):
        run = macaw.debug(one, data, engine=engine)
        run.cont()
        (moved,) = run.why("y[2]")
        assert moved.name == "y[2]"
        stored = only(inputs(moved))
        (address, size), copy = stored.memory, one.copies[-1]
        assert (stored.how, stored.name) == ("st", f"{address:#010x} <copy of y[2]>")
        assert (address, size) == (copy.address + 8, 4)
        assert run.read(f"mem[{address}].i32") == run.read("y[2]") == stored.value


def test_the_line_of_a_label_is_in_the_first_file_that_has_it(tmp_path: Path) -> None:
    """The line of a label is in the first file that has it.

    Missing files and comments are passed over.
    """
    begin, data = tmp_path / "begin.s", tmp_path / "data.s"
    begin.write_text(".core cp\n_start: li a7, 93\n li a0, 0\n ecall\n")
    data.write_text(
        ".core cp\n.section .data.cp\n# pixels: a comment\nmore: .word 1\nat: pixels: .word 5, 6\n"
    )
    program = macaw.assemble(begin, data)
    address = program.symbol("pixels").value
    assert label_place(program, address + 4, layer=None) == (str(data), 5, "pixels+4")
    begin.unlink()
    assert label_place(program, address, layer=None) == (str(data), 5, "pixels")
    assert label_place(program, address - 4, layer=None) == (str(data), 4, "more")
    data.unlink()
    assert label_place(program, program.symbol("_start").value, layer=None) is None


def test_the_packet_that_chose_a_segment_and_the_place_of_results():
    run = session("layer")
    run.cont()
    stored = next(x for x in walk(only(run.why("y[2]"))) if x.how == "st")
    out = next(x for x in stored.causes if x.setting)
    assert out.value == settings(stored)["out"]
    assert (out.role, out.how, out.instruction.split(",")[0]) == ("out", "exe", "packet exe ib=0")
    source = session_source(out)
    assert source.split()[0] == "exe"
    total = next(x for x in walk(stored) if any(y.role == "product" for y in x.causes))
    roles = [x.role for x in total.causes if x.setting]
    assert sorted(set(roles)) == ["activations", "weights"]
    for chosen in (x for x in total.causes if x.setting):
        assert chosen.where == out.where, "the exe that chose it"
        name = chosen.value.split(" bytes at ")[1]
        parts = [y for x in total.causes if not x.setting for y in inputs(x)]
        used = [y.memory[0] for y in parts if y.role == chosen.role.rstrip("s")]
        begin = min(used) if name.startswith("0x") else used[0]
        assert used
        assert not name.startswith("0x") or int(name.split()[0], 16) <= begin
    text = "\n".join(lines([stored], 3))
    assert "with out = base=" in text
    assert text.count("with weights = ") == 1


def session_source(cause):
    """The text of the source line of a cause."""
    return Path(cause.where.file).read_text("utf-8").splitlines()[cause.where.line - 1]


@pytest.mark.long
def test_descriptions_that_cp_has_computed_lead_to_its_instructions():
    """If cp computed a transfer's description, `why` leads to the instructions that stored it."""
    run = session("six_cores")
    run.cont()
    copied = next(x for x in walk(only(run.why("f[3, 2]"))) if x.how.startswith("transfer"))
    said = next(x for x in copied.causes if x.role == "description")
    assert {x.how for x in said.causes} >= {"sw"}
    text = list(lines([copied], 2))
    assert text[1].startswith("  with description = dst=")
    assert text[2].startswith("    description ")
    assert ": cp sw " in text[2]
