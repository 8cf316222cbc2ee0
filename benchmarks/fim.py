"""A matrix-vector product on an island of fim memory, compared with NumPy's in fp16.

The matrix is 1024 × 4096 in fp16, multiplied by dots. Each of the 16 banks holds 64 rows of the
matrix. It also holds the vector, in tiles of 16 numbers: each row of memory has one tile. Every
product and every sum is rounded to fp16. The emulation also counts the cycles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.figures import HIGHER, LOWER, Effort, Figure, count, ratio
from benchmarks.measure import ROUNDS, timed
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.emu.fim.island import Island
from macaw.isa.config import load
from macaw.isa.fim_islands import Place, island_address

ROWS, COLUMNS = 1024, 4096
BANKS, SIDE = 16, 16  # numbers of a tile, and matrix rows whose tiles lie in a row of memory
GROUPS, TILES = ROWS // BANKS // SIDE, COLUMNS // SIDE

Halves = NDArray[np.float16]


def source(groups: int = GROUPS, tiles: int = TILES) -> str:
    """Return the source of a block of all banks, which multiplies `groups` groups of rows.

    Slot s of Rz adds up the dots of row s of a group, over `tiles` tiles.
    """
    lines = ["        .device base", "        .core   fim, island=0", "        .block  banks=0-15"]
    lines += ["mmr op, mul", "mmr arrange, dot"]
    for group in range(groups):
        for tile in range(tiles):
            lines += [f"act {group * tiles + tile}", "rop <- iosa[0]"]
            if tile < 2:  # the first products of a group begin its sums
                lines.append(f"mmr accumulate, {tile}")
            lines.append("rz <- rop * iosa[16:32]")
        lines += [f"act {groups * tiles + group}", "iosa[0] <- rz"]
    return "\n".join([*lines, "end\n"])


def memory(matrix: Halves, vector: Halves) -> Halves:
    """Return the contents of all banks, which have the rows of the matrix and the vector.

    The shape is (banks, rows of memory, 32 columns, 16).
    """
    groups, tiles = matrix.shape[0] // BANKS // SIDE, len(vector) // SIDE
    found = np.zeros((BANKS, groups * tiles, 32, SIDE), np.float16)
    split = matrix.reshape(BANKS, groups, SIDE, tiles, SIDE).transpose(0, 1, 3, 2, 4)
    found[:, :, 16:] = split.reshape(BANKS, groups * tiles, SIDE, SIDE)
    found[:, :, 0] = np.tile(vector.reshape(tiles, SIDE), (groups, 1))
    return found


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the time of the product, emulated and in NumPy."""
    groups, tiles = (1, 4) if effort.small else (GROUPS, TILES)
    random = np.random.default_rng(1)
    numbers = random.standard_normal((groups * BANKS * SIDE, tiles * SIDE))
    matrix = (numbers / 64).astype(np.float16)
    vector = random.standard_normal(tiles * SIDE).astype(np.float16)
    program = macaw.assemble(Source(source(groups, tiles), "product.s"))
    data = memory(matrix, vector)
    spent, of_numpy = [], []
    for _ in range(effort.rounds(ROUNDS)):
        device = Device(load("base"))
        device.load(program)
        island = device.cores["fim[0]"]
        assert isinstance(island, Island)
        place = island.geometry.offset
        for bank in range(BANKS):
            start = island_address(0) + place(Place(bank, 0, 0))
            device.memory.poke(start, data[bank].tobytes())
        spent.append(timed(device.run))
        of_numpy.append(timed(lambda: matrix @ vector))
    results = [
        np.frombuffer(device.memory.peek(island_address(0) + place(Place(bank, groups * tiles + group, 0)), 32), np.float16)
        for bank in range(BANKS)
        for group in range(groups)
    ]  # fmt: skip
    error = np.abs(np.concatenate(results) - matrix.astype(float) @ vector.astype(float)).max()
    if error > 0.2:
        raise SystemExit(f"the product is off by {error}")
    operations = island.counters()["operations"]
    yield count("by dots", "cycles", device.cycle)
    yield Figure("by dots", "ms", tuple(1000 * x for x in spent), LOWER)
    yield Figure("by dots", "NumPy fp16, ms", tuple(1000 * x for x in of_numpy))
    millions = tuple(operations / x / 1e6 for x in spent)
    yield Figure("by dots", "million operations/s", millions, HIGHER)
    yield ratio("by dots", "times", spent, of_numpy, LOWER, "NumPy fp16")
