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
    PLAIN,
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
from tests.fuzzing import tries
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


def some_word(random):
    """A word that uses no buffer."""
    kind = random.choice([OPERATE] * 4 + [ACT, ACT, PLAIN])
    if kind != OPERATE:
        return Word("", kind)
    count, mode = random.choice([1, 1, 2, 8]), random.randrange(len(MODES))
    return Word("", OPERATE, count, mode, random.choice(OPERATES))


def some_round(random, kind):
    """Words of a round: operations and words of the kind `kind`."""
    words = [some_word(random) for _ in range(random.randrange(1, 6))]
    every, register = random.random() < 0.7, random.choice([ROP, GIO])
    for _ in range(random.choice([1, 4, 7, 8, 8, 16])):
        if kind == PULL:
            words.append(Word("", PULL, register=register, every=every))
        elif kind == PUSH:
            words.append(Word("", PUSH))
    random.shuffle(words)
    return words


def as_pulls(words):
    """The round of a block that pulls what a block with the round `words` pushes."""
    return [Word("", PULL, register=ROP) if word.kind == PUSH else word for word in words]


def some_blocks(random, device):
    """Blocks with a repetition each, and a buffer for each or for all.

    A buffer begins in a bank behind those of the blocks, or in one of theirs. It has about as many
    columns as the blocks pull from it.
    """
    memory = geometry(device)
    several = random.choice([1, 1, 2, 2, 3, 8])
    each = random.choice([1, 1, 2, 3])
    several = max(1, min(several, (memory.banks - 2) // each))
    each = min(each, memory.banks - 1)
    shared, alike = random.random() < 0.3, random.random() < 0.7
    locks = random.random() < 0.2
    size = memory.rows * COLUMNS
    first = random.choice([several * each] * 4 + [memory.banks - 1, 0, 0])
    near = random.randrange(min(40, size))
    begin = min(first, memory.banks - 1) * size + random.choice([near, size - 1 - near])
    kinds = [PULL, PULL, PUSH, PLAIN]
    rounds, last = some_round(random, random.choice(kinds)), 0
    pairs = random.random() < 0.25  # each second block pulls what the block before it pushes
    blocks: list[Block] = []
    for number in range(several):
        buffer = 0 if shared else number % 8
        if not alike:
            rounds = some_round(random, random.choice(kinds))
        if pairs:
            buffer = number // 2
            rounds = as_pulls(rounds) if number % 2 else some_round(random, PUSH)
        uses = [1 if x.every else each for x in rounds if x.kind in (PULL, PUSH)]
        moved = sum(uses) * (several if shared else 1)
        most = (memory.banks * size - begin) // moved if moved else 200
        count = random.randrange(1, max(2, min(random.choice([20, 100, 200]), most)))
        count = max(count, min(most, 30))
        if blocks and random.random() < 0.8:
            count = min(count, last)
        last = count
        words = [replace(x, value=buffer) if x.kind in (PULL, PUSH) else x for x in rounds]
        if locks:
            words = [Word("", LOCK, value=7), *words, Word("", UNLOCK, value=7)]
        pulls = any(x.kind == PULL for x in rounds)
        end = begin + (
            moved * count + random.choice([-3, 0, 1, 5, 100, -moved * count // 2]) if pulls else 0
        )
        end = begin if pairs else max(begin, end)
        head = [Word("", POINT, value=buffer, start=begin, end=end)]
        if pairs and number % 2:
            head = [Word("", PLAIN)] * 20
        if random.random() < 0.05:
            words.append(head[0])
        head += [some_word(random) for _ in range(random.randrange(3))]
        pushes = [Word("", PUSH, value=0)] * random.choice([5, 60])
        tail = random.choice([[], [Word("", ACT)], words, pushes])
        banks = tuple(range(number * each, (number + 1) * each))
        repeated = random.choice([Repeat, Loop])(count, tuple(words))
        again = [head[0], repeated] * random.choice([0, 0, 1, 2])
        items = (*head, repeated, *again, *tail)
        blocks.append(Block(banks, items, MODES, 0))
    return blocks


def one(seed, monkeypatch):
    """Compare the ends of random blocks; return how often rounds were skipped."""
    random = Random(seed)
    skipped = []

    class Counted(RepeatedRounds):
        def _postpone(self, cycles, now):
            skipped.append(cycles)
            super()._postpone(cycles, now)

    while True:
        device = some_device(random)
        if geometry(device).banks < 4 and random.random() < 0.8:
            continue
        with suppress(ConfigError):
            device = device.changed({"fim.rows": random.choice([2, 2, 4, 16])})
        blocks, row = some_blocks(random, device), random.choice([CLOSED, OTHER, ANY, 0])
        begin = random.randrange(5, 100)
        with suppress(IndexError):  # a buffer leaves the island
            plain = ends(blocks, device, row, begin, AllRounds, monkeypatch)
            break
    assert ends(blocks, device, row, begin, Counted, monkeypatch) == plain
    return sum(map(bool, skipped))


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(10))
def test_blocks_end_in_the_cycle_of_a_simulation_of_all_rounds(seed, monkeypatch):
    """Their end, the state of the banks and the rows that are open then are the same."""
    assert sum(one(1000 * seed + number, monkeypatch) for number in range(tries(40))) > 0


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
