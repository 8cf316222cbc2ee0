"""Products on islands: predicted cycles are the emulator's, results those of NumPy with the same roundings."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from isa import config
from isa.fim_circuit import ARRANGEMENT_NAMES, DOT, ELEMENTWISE, OUTER, TENSOR
from lower.errors import LowerError
from lower.fim.cost import best, choices, cycles
from lower.fim.product import TILES, block, lowered
from lower.fim.tiling import Shape, tilings
from tests.emu.fim.machine import Machine

TINY, BASE = config.load("tiny"), config.load("base")


def rounded(a, b, layout):
    """A · B with one rounding a product and sum: tiles along k one after the other, in each a tree of pairs."""
    lanes = 32 // a.dtype.itemsize
    size = {DOT: lanes, TENSOR: 4, OUTER: 1, ELEMENTWISE: 1}[layout]
    total = None
    for k in range(0, a.shape[1], size):
        terms = a[:, k : k + size, None] * b[None, k : k + size, :]
        terms = np.pad(terms, ((0, 0), (0, size - terms.shape[1]), (0, 0)))
        while terms.shape[1] > 1:
            terms = terms[:, ::2] + terms[:, 1::2]
        total = terms[:, 0] if total is None else total + terms[:, 0]
    return total


def operands(shape, seed=0):
    random = np.random.default_rng(seed)
    dtype = shape.numbers.dtype
    a, b = random.standard_normal((shape.m, shape.k)), random.standard_normal((shape.k, shape.n))
    return a.astype(dtype), b.astype(dtype)


def measured(tiling, device, a, b):
    """The cycle in which the block ends, and C."""
    machine = Machine(block(tiling).splitlines(), device=device, island=tiling.island)
    for bank, rows in enumerate(tiling.placed(a, b)):
        machine.put(bank, 0, 0, rows)
    ends = []
    machine.device.changed = lambda core, time: ends.append(time)
    machine.done()
    count = tiling.rounds * tiling.slices * tiling.shape.numbers.lanes
    banks = range(tiling.banks)
    found = [machine.get(bank, tiling.result_row, 0, count, a.dtype) for bank in banks]
    return ends[-1], tiling.gathered(np.stack(found))


def check(tiling, device):
    a, b = operands(tiling.shape)
    end, found = measured(tiling, device, a, b)
    assert end == cycles(tiling, device)
    np.testing.assert_array_equal(found, rounded(a, b, tiling.layout))


RANDOM = np.random.default_rng(7)
SHAPES = [Shape(*RANDOM.integers(1, 41, 3).tolist(), form=n % 2) for n in range(8)]


@pytest.mark.parametrize("shape", [*SHAPES, Shape(1, 1, 1), Shape(1, 70, 1), Shape(1, 3, 40)])
def test_each_pair_of_a_small_device(shape):
    """All islands and layouts: results to the bit, cycles exactly as predicted."""
    found = choices(shape, TINY)
    assert len(found) == (3 if shape.form else 6)
    for choice in found:
        check(choice.tiling, TINY)


def test_each_tiling_of_a_product():
    """Not the best ones alone."""
    shape = Shape(9, 37, 21)
    found = [x for layout in range(4) for x in tilings(shape, TINY, 0, layout)]
    assert len(found) > 30
    for tiling in found:
        check(tiling, TINY)


@pytest.mark.parametrize("shape", [Shape(96, 130, 75), Shape(17, 256, 128)])
def test_each_pair_of_four_islands(shape):
    found = choices(shape, BASE)
    assert {choice.tiling.island for choice in found} == {0, 1, 2, 3}
    assert found == sorted(found, key=lambda choice: choice.cycles)
    for choice in found[:4]:
        check(choice.tiling, BASE)


TIMES = ("t_ccdl", "t_rcdrd", "t_rcdwr", "t_rp", "t_ras", "t_rc", "wl", "t_wr", "burst")


@pytest.mark.parametrize("seed", range(4))
def test_each_pair_of_any_timing(seed):
    """Whatever waits longest, and islands of other clocks and lanes."""
    random = np.random.default_rng(seed)
    values = {f"fim.{name}": int(random.choice([1, 5, 16, 70])) for name in TIMES}
    for name in ("add", "mul", "tree"):
        values[f"fim.alu.{name}"] = int(random.choice([1, 4, 30]))
    for name, some in {"divider": [1, 3, 7], "lanes": [1, 7, 100]}.items():
        values[f"fim.island.0.{name}"] = int(random.choice(some))
    device = TINY.changed(values)
    for choice in choices(Shape(*random.integers(1, 31, 3).tolist(), form=seed % 2), device):
        check(choice.tiling, device)


def test_a_number_by_hand():
    """Row at 4 behind four mmr, Rop at 4 + 14, the dot 4 later, there 3 + 4 x 1 behind; the row of the
    result at 4 + 47, written 10 later, data end 8 + 2 later: 4 + 47 + 10 + 10."""
    assert best(Shape(1, 1, 1), TINY, 0, DOT).cycles == 71


def test_a_whole_program(tmp_path):
    """cp brings the tiles in and fetches C."""
    shape = Shape(20, 50, 30)
    a, b = operands(shape)
    program = lowered(best(shape, TINY, 0, TENSOR).tiling, TINY, a, b, "tiny")
    np.save(tmp_path / TILES, program.tiles)
    (tmp_path / "p.s").write_text(program.source)
    made = macaw.assemble(tmp_path / "p.s")
    assert not made.warnings
    found = program.result(macaw.run(made).outputs["c"])
    np.testing.assert_array_equal(found, rounded(a, b, TENSOR))


@pytest.mark.parametrize(
    ("shape", "island", "layout", "message"),
    [
        (Shape(4, 4, 4), 1, OUTER, "island 1 has no arrangement outer"),
        (Shape(4, 4, 4, 1), 0, TENSOR, "the arrangement tensor takes fp16, not fp32"),
        (Shape(900, 900, 900), 0, OUTER, "900 x 900 x 900 does not fit into island 0 by outer"),
    ],
)
def test_what_cannot_be(shape, island, layout, message):
    with pytest.raises(LowerError, match=message):
        best(shape, TINY, island, layout)


def test_sides_are_one_at_least():
    with pytest.raises(LowerError, match="0 x 4 x 4: sides are 1 at least"):
        Shape(0, 4, 4)


def test_operands_have_the_shape_of_the_product():
    tiling = best(Shape(4, 5, 6), TINY, 0, DOT).tiling
    a, b = operands(tiling.shape)
    with pytest.raises(LowerError, match=r"A has the shape \(5, 4\), the product takes \(4, 5\)"):
        lowered(tiling, TINY, a.T, b, "tiny")
    with pytest.raises(LowerError, match=r"B has the shape \(6, 5\), the product takes \(5, 6\)"):
        lowered(tiling, TINY, a, b.T, "tiny")


def test_the_source_names_what_it_does():
    shape = Shape(20, 50, 30)
    text = lowered(best(shape, TINY, 0, DOT).tiling, TINY, *operands(shape), "tiny").source
    assert f"by {ARRANGEMENT_NAMES[DOT]} on" in text
    assert len(text.splitlines()) < 80
