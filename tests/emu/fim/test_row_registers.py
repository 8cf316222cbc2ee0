"""`act` with a row register: loops over rows equal unrolled words and NumPy; errors of `act`."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.asm.assembler import Source, assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.disassembler import disassemble
from macaw.emu.engines import ENGINES
from macaw.emu.floats import add, multiply, tree_sum
from tests.emu.fim.machine import Machine

ROWS = 16
HEAD = [".block banks=0-3", "mmr op, mul", "mmr arrange, dot", "mmr accumulate, 1"]


def body(left, right, out):
    """Return words that multiply 16 vector tiles by 16 weight tiles and add up the products.

    The vector is in columns 0 to 15 of row `left`, the weights are in columns 16 to 31 of row
    `right`. Column 31 of row `out` gets the sum.
    """
    products = [
        word
        for tile in range(16)
        for word in (f"act {left}", f"rop <- iosa[{tile}]", f"act {right}", "mmr rz_slot, 0",
                     f"rz <- rop * iosa[{16 + tile}]")
    ]  # fmt: skip
    return ["mmr accumulate, 0", *products[:5], "mmr accumulate, 1", *products[5:],
            "mmr rz_slot, 0", f"act {out}", "iosa[31] <- rz"]  # fmt: skip


LOOP = [*HEAD, "mmr row1, 20", "mmr row2, 63", f"loop {ROWS}",
        *body("row0", "row1, 0", "row2, -1"), "act row0, 1", "act row1, inc=1",
        "endloop", "end"]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop_over_rows_computes_what_numpy_does(engine):
    machine = Machine(LOOP, engine=engine)
    noise = np.random.default_rng(5)
    x, w = noise.standard_normal((2, 4, ROWS, 16, 16)).astype(np.float16)
    for bank in range(4):
        for row in range(ROWS):
            machine.put(bank, row, 0, x[bank, row])
            machine.put(bank, 20 + row, 16, w[bank, row])
    machine.done()
    sums = tree_sum(multiply(x, w))
    expected = sums[..., 0]
    for tile in range(1, 16):
        expected = add(expected, sums[..., tile])
    found = [[machine.get(bank, 63 - row, 31, 1)[0] for row in range(ROWS)] for bank in range(4)]
    assert np.array_equal(np.array(found, np.float16), expected)
    assert machine.island.blocks[0].rows == [ROWS, 20 + ROWS, 63 - ROWS, 0]


def test_a_loop_takes_the_words_of_one_round():
    unrolled = [*HEAD]
    for row in range(ROWS):
        unrolled += body(row, 20 + row, 63 - row)
    loop, words = (Machine(lines).program.section(".fim.0") for lines in (LOOP, [*unrolled, "end"]))
    assert len(words.data) > 12 * len(loop.data)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("first", "inc", "row"), [(62, 1, 64), (1, -1, -1)])
def test_a_row_that_is_not_there(engine, first, inc, row):
    lines = [".block banks=0", f"mmr row3, {first}", "loop 3", f"act row3, inc={inc}", "endloop",
             "end"]  # fmt: skip
    machine = Machine(lines, engine=engine).start()
    stop = machine.run()
    assert stop.fault.kind == "out-of-range access"
    text = f"row {row} (row3): the banks of fim[0] have rows 0 to 63"
    assert stop.fault.message == text
    assert stop.fault.address == machine.program.section(".fim.0").address + 12


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("act 4096", "row: 4096 is out of range, 0 to 4095", ""),
        ("act row4", "'row4' is no row register and no symbol", "did you mean 'row"),
        ("act rows", "'rows' is no row register and no symbol", "did you mean 'row"),
        ("act next", "'next' is no row register and no symbol", "there are row0, row1, row2, row3"),
        ("act 7, 1", "inc: only a row register is advanced",
         "write mmr row0, 7 once, and act row0, inc=1 here"),
        ("act row0, 5000", "inc: 5000 is out of range, -4096 to 4095", ""),
        ("mmr row1, 64", "value: row 64 is out of range, 0 to 63", ""),
        ("mmr row1, 4096", "value: 4096 is out of range, 0 to 4095", ""),
    ],
)  # fmt: skip
def test_mistakes(line, message, hint):
    text = f"        .device tiny\n        .core fim, island=0\n.block banks=0\n{line}\nend\n"
    with pytest.raises(AssemblyError) as error:
        assemble(Source(text, "p.s"))
    (found,) = error.value.errors
    assert (found.message, found.span.line) == (message, 4)
    assert (found.hint or "").startswith(hint)
    assert bool(found.hint) == bool(hint)


def test_words_are_printed_as_they_are_written():
    lines = [".block banks=0", "act 5", "act row0", "act row1, inc=-3", "mmr row2, 9", "end"]
    text = f"        .device tiny\n        .core fim, island=0\n{chr(10).join(lines)}\n"
    program = assemble(Source(text, "p.s"))
    printed = disassemble(program)
    for line in lines:
        assert " ".join(line.split()) in " ".join(printed.split())
    again = assemble(Source(printed, "p.s"))
    assert again.section(".fim.0").data == program.section(".fim.0").data


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_of_the_slot_that_leaves_rz_stops_at_its_repeat(engine):
    """If `rz_step` leads to a slot outside Rz, that repeat faults; the earlier repeat is done.

    Rz of island 1 has slices 0 and 1; the slots would be 0, 8, 0, 8.
    """
    lines = [
        ".block banks=0",
        "mmr rz_slot, 0",
        "mmr rz_step, 8",
        "act 0",
        "iosa[0:4] <- rz",
        "end",
    ]
    machine = Machine(lines, engine=engine, island=1)
    machine.put(0, 0, 0, np.arange(1, 65, dtype=np.float16))
    stop = machine.start().run()
    assert (stop.reason, stop.fault.kind) == ("fault", "not available")
    assert "slice 8 of Rz" in str(stop.fault)
    assert machine.get(0, 0, 0, 64).tolist() == [0] * 16 + list(range(17, 65))
