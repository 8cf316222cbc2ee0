"""What the timing models skip or know from earlier changes no cycle, and no state of the banks."""

from __future__ import annotations

from random import Random

import pytest

from macaw.emu.rules.fim_dram import CLOSED, align_up
from macaw.isa.fim_islands import geometry
from macaw.lowering.fim.bank_timing import ANY, OTHER, BankTiming
from macaw.lowering.fim.blocks_timing import BlocksTiming
from macaw.lowering.fim.dma_timing import (
    EXTERNAL,
    ISLAND,
    LOCAL,
    Copy,
    DmaTiming,
    Location,
    _Beats,
    _Columns,
)
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option
from tests.lowering.fim.random_devices import some_device
from tests.lowering.fim.running import BASE, TINY

SIZES, ROWS = (1, 2, 4, 8, 30, 32, 64, 200, 320, 1024, 5000, 12736), (1, 2, 3, 16, 40, 150, 400)
KINDS = (
    (EXTERNAL, ISLAND), (LOCAL, ISLAND), (ISLAND, EXTERNAL), (ISLAND, LOCAL), (EXTERNAL, LOCAL),
    (ISLAND, ISLAND),
)  # fmt: skip
MOST = 8_000  # bytes of a copy


class Plain(DmaTiming):
    """A timing model of the dma that simulates every row of every copy."""

    def copy(self, copy, begin):
        return self._follow(copy, align_up(begin, self._dma.step))

    def _parts(self, copy):
        yield copy

    def _left(self, copy, number):
        return 0


def some_copy(random, device):
    """A copy that is not too long and ends within its island."""
    memory = geometry(device)
    while True:
        kind, size, rows = random.choice(KINDS), random.choice(SIZES), random.choice(ROWS)
        rows = min(rows, -(-MOST // size))
        sides = []
        for name in kind:
            stride = random.choice([0, size, size + random.choice([2, 8, 32]), 32, 512, 1024])
            offset = random.choice([0, 8 * random.randrange(99), random.randrange(5000)])
            if name == ISLAND:
                stride = random.choice([stride, memory.bank_bytes, random.randrange(3000)])
                rows = min(rows, (memory.size - size) // stride + 1 if stride else rows)
                offset = random.randrange(max(1, memory.size - size - (rows - 1) * stride))
                offset -= offset % random.choice([1, 8, 32, 1024])
            sides.append((Location(name, "x", offset), stride))
        (src, src_stride), (dst, dst_stride) = sides
        copy = Copy(dst, src, size, rows, dst_stride, src_stride)
        ends = (x.offset + size + (rows - 1) * stride for x, stride in sides if x.memory == ISLAND)
        if rows > 0 and max(ends, default=0) <= memory.size:
            return copy


@pytest.mark.few(30)
@pytest.mark.parametrize("seed", range(60))
def test_copies_take_the_cycles_of_a_simulation_of_all_rows(seed):
    """Copies after one another end in the same cycles, and leave the banks in the same state."""
    random = Random(seed)
    device = some_device(random)
    row = random.choice([CLOSED, OTHER, ANY, 0])
    plain, quick = BankTiming(device, row), BankTiming(device, row)
    models = Plain(device, {0: plain}), DmaTiming(device, {0: quick})
    every, now = range(plain.geometry.banks), random.randrange(50)
    several = [some_copy(random, device) for _ in range(3)]
    for _ in range(8):
        if random.random() < 0.3:  # blocks ran, and opened a row
            some = random.sample(every, random.randrange(1, len(every) + 1))
            until, bus = now + random.choice([0, 5, 500]), random.random() < 0.5
            for banks in (plain, quick):
                banks.open(sorted(some), 0, now, random.choice([1]), bus)
                banks.reserve(some, until)
        copy = random.choice(several)
        end, found = (model.copy(copy, now) for model in models)
        assert found == end
        now = end + random.choice([0, 0, 3, 200])
        assert quick.state(every, now) == plain.state(every, now)


def test_most_rows_of_a_long_copy_are_skipped(monkeypatch):
    """Of a copy of 3,000 rows, and of one of a row of 96,000 bytes, few rows are simulated."""
    rows = []

    class Counted(_Beats):
        def row(self, *args):
            rows.append(args)
            super().row(*args)

    class CountedColumns(_Columns):
        def row(self, *args):
            rows.append(args)
            super().row(*args)

    monkeypatch.setattr("macaw.lowering.fim.dma_timing._Beats", Counted)
    monkeypatch.setattr("macaw.lowering.fim.dma_timing._Columns", CountedColumns)
    device = BASE.changed({"dma.setup": 11})  # other tests know no copies of it
    carrier = DmaTiming(device, {0: BankTiming(device)})
    here, there = Location(LOCAL, "x"), Location(ISLAND)
    assert carrier.copy(Copy(here, there, 8, 3000, 32, 32), 0) > 3000
    assert 32 < len(rows) < 200
    rows.clear()
    assert carrier.copy(Copy(here, there, 96_000), 10**6) > 10**6 + 3000
    assert 2 < len(rows) < 20


@pytest.mark.parametrize("device", [BASE, TINY, BASE.changed({"fim.t_rrds": 9, "fim.t_wtrl": 30})])
def test_blocks_end_in_the_cycle_of_a_new_simulation(device):
    """Blocks that have started in other states end as blocks that start for the first time."""
    random, graph = Random(1), Graph()
    graph.chain(*(graph.tensor(*x) for x in (("a", 9, 40), ("b", 40, 50), ("c", 50, 33))))
    found = [x.job for x in options(graph.tasks, device, form=graph.form) if isinstance(x, Option)]
    for job in found:
        known, ends = BlocksTiming(job.blocks(), device, job.island), set()
        copies = [Copy(Location(ISLAND), Location(LOCAL, "x"), 32, 2, x, 32) for x in (32, 1024)]
        for _ in range(6):
            models, now = [], 99 * random.randrange(1, 9)
            copy, gap, row = random.choice(copies), random.choice([0, 9]), random.choice([0, ANY])
            for timing in (known, BlocksTiming(job.blocks(), device, job.island)):
                banks = BankTiming(device, row)
                begin = DmaTiming(device, {0: banks}).copy(copy, now) + gap
                end = timing.end(banks, begin)
                models.append((end, banks.state(range(banks.geometry.banks), begin + 1)))
            assert models[0] == models[1]
            ends.add(models[0][0] - now)
        assert len(ends) > 1


@pytest.mark.parametrize("rows", [4, 16])
@pytest.mark.parametrize("stride", [512, 1024])
@pytest.mark.parametrize("kind", KINDS[:4])
def test_rows_in_the_next_bank_are_no_repetitions(kind, stride, rows):
    """A copy whose rows go on in the next banks opens rows there, and waits for them."""
    device = BASE.changed({"fim.rows": rows})
    src, dst = (Location(name) for name in kind)
    count = 3 * rows * 1024 // stride
    copy = Copy(dst, src, 64, count, *((stride, 64) if dst.memory == ISLAND else (64, stride)))
    plain, quick = BankTiming(device), BankTiming(device)
    end = Plain(device, {0: plain}).copy(copy, 0)
    assert DmaTiming(device, {0: quick}).copy(copy, 0) == end
    every = range(plain.geometry.banks)
    assert quick.state(every, end) == plain.state(every, end)
