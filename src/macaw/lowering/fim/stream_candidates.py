"""Finds the tilings by which an island can compute a product as a stream.

The tilings differ in the numbers of banks, blocks and starts, and in the tiles of an item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import BUFFERS, COLUMNS, DOT, OUTER
from macaw.isa.fim_islands import abilities, geometry
from macaw.lowering.fim.integer_steps import NO_STEPS, IntegerSteps
from macaw.lowering.fim.shape import Shape, lacks, part
from macaw.lowering.fim.stream import StreamTiling
from macaw.lowering.fim.windows import Windows


def streams(
    shape: Shape,
    config: Configuration,
    island: int,
    layout: int,
    after: tuple[int, ...] = (),
    rows: int | None = None,
    windows: Windows | None = None,
    integers: IntegerSteps = NO_STEPS,
) -> Iterator[StreamTiling]:
    """Yield the tilings of a product that fit the registers, rows and program memory of an island.

    There are none if the island cannot multiply in the layout or number format. `after` has the
    indices in `FUNCTIONS` of the functions that follow the product. A tiling may use `rows` rows of
    a bank, by default all. `windows` has the rows of A, if they are windows of an image. `integers`
    has the steps of a product in int8.
    """
    if lacks(shape, config, island, layout):
        return
    able, memory = abilities(config, island), geometry(config)
    slots, slices = shape.numbers.slots, able.slices(shape.numbers)
    room = {DOT: slots, OUTER: 1}.get(layout, slices)  # number of tiles of C in Rz
    powers = tuple(1 << n for n in range(slots.bit_length()))
    words = int(config["fim.instructions"])
    rows = memory.rows if rows is None else rows
    for high in powers:
        for wide in powers:
            if high * wide > room:
                continue
            probe = StreamTiling(
                shape, island, layout, high, wide, 1, 1, 1, memory, after,
                windows=windows, integers=integers,
            )  # fmt: skip
            if windows is not None and probe.strips * probe.steps * 3 > words:
                continue  # each tile that is pulled takes three words or more
            if probe.operands * probe.patterns > COLUMNS:
                continue
            if shape.part % (wide * probe.tile[2]):
                continue  # the columns of a bank would be in two results of a joint product
            for banks, blocks in _shares(probe, memory.banks):
                stream = _fitting(probe, banks, blocks, rows, words)
                if stream is not None and stream.slices <= slices:
                    yield stream


def _shares(probe: StreamTiling, banks: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs to try: the number of banks of a block, and the number of blocks.

    `probe` has the other numbers of the tiling, `banks` is the number of banks of the island. A
    pair is left out if fewer banks or fewer blocks give the same work to each bank.
    """
    columns, rows = part(probe.across, probe.wide), part(probe.strips, probe.high)
    pairs = set()
    for blocks in range(1, min(BUFFERS, banks // 2, rows) + 1):
        items = part(rows, blocks)
        if part(rows, items) < blocks:
            continue
        for each in range(1, min(banks // blocks - 1, columns) + 1):
            rounds = part(columns, each)
            if (blocks, rounds) not in pairs:
                pairs.add((blocks, rounds))
                yield each, blocks


def _fitting(
    probe: StreamTiling, banks: int, blocks: int, rows: int, words: int
) -> StreamTiling | None:
    """Return `probe` with `banks` and `blocks` and the fewest starts that fit, or None.

    A tiling fits if it has at most `rows` rows and `words` words. More items in a start take more
    of both. So the function searches an interval for the largest number of items. Every second
    guess is the middle of the interval; the others assume that rows and words are proportional to
    the items.
    """
    strips = part(probe.strips, probe.high)
    best, low, high = None, 1, part(strips, blocks)
    items, halves = high, False
    while low <= high:
        stream = replace(probe, banks=banks, blocks=blocks, starts=part(strips, blocks * items))
        uses = (stream.rows, rows), (stream.buffer_rows, rows), (stream.most_words, words)
        if all(used <= limit for used, limit in uses):
            best, low = stream, items + 1
        else:
            high = items - 1
        if probe.windows is not None:
            break  # a buffer with windows is filled once
        guess = min(items * limit // used for used, limit in uses if used)
        items = (low + high) // 2 if halves else min(max(guess, low), high)
        halves = not halves
    return best
