"""Blocks whose rounds repeat end in the cycles of a simulation of all rounds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from macaw.emu.rules.fim_dram import CLOSED
from macaw.isa.config import ConfigError
from macaw.isa.fim_circuit import COLUMNS, DOT, GIO, ROP
from macaw.isa.fim_islands import geometry
from macaw.lowering.fim import blocks_timing, instruction_timing
from macaw.lowering.fim.bank_timing import ANY, OTHER, BankTiming
from macaw.lowering.fim.block_program import (
    ACT,
    COMPUTE,
    COMPUTE_ALONE,
    FROM_RZ,
    LOCK,
    OPERATE,
    POINT,
    PULL,
    PUSH,
    READ,
    STORE,
    TO_GIO,
    UNLOCK,
    Block,
    Loop,
    Mode,
    Repeat,
    Word,
)
from macaw.lowering.fim.blocks_timing import BlocksTiming
from macaw.lowering.fim.instruction_timing import Running
from macaw.lowering.fim.island_job import ProductJob
from macaw.lowering.fim.repeated_rounds import RepeatedRounds
from macaw.lowering.fim.shape import Shape
from macaw.lowering.fim.stream_candidates import streams
from tests.lowering.fim.random_devices import some_device
from tests.lowering.fim.running import TINY, operands, product

MODES = Mode(0, 1, 0), Mode(0, 1, 0, True)
OPERATES = READ, STORE, FROM_RZ, TO_GIO, COMPUTE, COMPUTE_ALONE


class AllRounds:
    """Skips no rounds."""

    def __init__(self, island):
        pass


def ends(blocks, device, row, begin, repeated, monkeypatch):
    """The end of blocks, or the error, and the state in which they leave the banks."""
    monkeypatch.setattr(blocks_timing, "RepeatedRounds", repeated)
    banks = BankTiming(device, row)
    banks.reserve(range(banks.geometry.banks), begin - 3)
    try:
        end = BlocksTiming(blocks, device, 0).end(banks, begin)
    except ValueError as error:
        return str(error), None, None
    return end, banks.state(range(banks.geometry.banks), end), banks.rows


def some_word(random, buffers, mode_count=2):
    kind = random.choice([OPERATE] * 4 + [PULL] * 2 + [ACT, PUSH, 0])
    if kind == OPERATE:
        operation = random.choice(OPERATES)
        count, value = random.choice([1, 1, 2, 8]), random.randrange(mode_count)
        return Word("", OPERATE, count, value, operation)
    if kind in (PULL, PUSH):
        register, every = random.choice([ROP, GIO]), random.random() < 0.5
        if kind == PUSH:
            return Word("", PUSH, value=random.choice(buffers))
        return Word("", PULL, value=random.choice(buffers), register=register, every=every)
    return Word("", kind)


def some_blocks(random, device):
    """Blocks with a repetition each; their buffers are in the last banks, or in their own."""
    memory = geometry(device)
    several = random.choice([1, 1, 2, 4, 8])
    most = max(1, (memory.banks - 1) // several)
    each = random.randrange(1, most + 1)
    several = min(several, max(1, (memory.banks - 1) // each))
    shared = random.random() < 0.3
    alike = random.random() < 0.6
    blocks: list[Block] = []
    body: tuple[Word, ...] = ()
    bank_columns = memory.rows * COLUMNS
    first = random.choice([several * each, memory.banks - 1, 0])
    for number in range(several):
        buffers = [0, 1] if shared else [number % 8]
        if not body or not alike:
            body = tuple(some_word(random, [0]) for _ in range(random.randrange(1, 12)))
        words = tuple(replace(x, value=random.choice(buffers)) if x.kind in (PULL, PUSH) else x
                      for x in body)  # fmt: skip
        count = random.randrange(3, 150)
        if random.random() < 0.5 and blocks:
            count = blocks[0].items[-2].count
        begin = first * bank_columns + random.randrange(min(40, bank_columns))
        have = random.choice([0, bank_columns // 2, bank_columns])
        head = [Word("", POINT, value=x, start=begin, end=begin + have) for x in buffers]
        if random.random() < 0.2:
            locks = (Word("", LOCK, value=buffers[0]), *words, Word("", UNLOCK, value=buffers[0]))
            words = locks
        kind = random.choice([Repeat, Loop])
        head += [some_word(random, buffers) for _ in range(random.randrange(3))]
        tail = Word("", random.choice([0, ACT]))
        banks = tuple(range(number * each, (number + 1) * each))
        blocks.append(Block(banks, (*head, kind(count, words), tail), MODES, 0))
    return blocks


def one(seed, monkeypatch):
    """Compare the ends of random blocks; return the number of rounds that were skipped."""
    random = Random(seed)
    skipped = []

    class Counted(RepeatedRounds):
        def _postpone(self, cycles, now):
            skipped.append(cycles)
            super()._postpone(cycles, now)

    while True:
        device = some_device(random)
        with suppress(ConfigError):
            device = device.changed({"fim.rows": random.choice([2, 4, 16, 64])})
        blocks, row = some_blocks(random, device), random.choice([CLOSED, OTHER, ANY, 0])
        begin = random.randrange(5, 100)
        with suppress(IndexError):  # a buffer leaves the island
            plain = ends(blocks, device, row, begin, AllRounds, monkeypatch)
            assert ends(blocks, device, row, begin, Counted, monkeypatch) == plain
            return sum(map(bool, skipped))


@pytest.mark.parametrize("seed", range(10))
def test_blocks_end_in_the_cycle_of_a_simulation_of_all_rounds(seed, monkeypatch):
    """Their end, the state of the banks and the rows that are open then are the same."""
    assert sum(one(1000 * seed + number, monkeypatch) for number in range(25)) > 0


def test_most_rounds_of_a_long_product_are_skipped(monkeypatch):
    """The job of a product with 300 rows simulates a fifth of its words, with the same end."""
    words = []

    class Counted(Running):
        def step(self):
            words.append(self.place)
            super().step()

    monkeypatch.setattr(instruction_timing, "Running", Counted)
    graph = product(*operands(Shape(300, 20, 16)))
    tasks = tuple(graph.tasks)
    way = next(x for x in streams(Shape(300, 20, 16), TINY, 0, DOT) if x.wide == 16)
    job, row = ProductJob(tasks, tasks, way), CLOSED
    plain = ends(job.blocks(), TINY, row, 100, AllRounds, monkeypatch)
    every = len(words)
    words.clear()
    assert ends(job.blocks(), TINY, row, 100, RepeatedRounds, monkeypatch) == plain
    assert 30 < len(words) < every / 5
