"""A matrix-vector product on an island of function-in-memory banks, beside NumPy's fp16.

1024 × 4096 in fp16 by dots: the 16 banks hold 64 rows of the matrix each, and the vector, a tile
of it in each row of memory. Every product and every sum is rounded to fp16, cycles and all.
"""

from __future__ import annotations

from statistics import median

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.measure import ROUNDS, table, target, timed
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.emu.fim.island import Island
from macaw.isa.config import load
from macaw.isa.fim_islands import Place, island_address

ROWS, COLUMNS = 1024, 4096
BANKS, SIDE = 16, 16  # numbers of a tile, and matrix rows whose tiles lie in a row of memory
GROUPS, TILES = ROWS // BANKS // SIDE, COLUMNS // SIDE
RESULTS = GROUPS * TILES  # the row of memory behind the matrix
LEAST = 1e6  # operations a second, 16 lanes each
MOST = 8  # times the duration of NumPy's product

Halves = NDArray[np.float16]


def source() -> str:
    """A block of all banks: slot s of Rz sums row s of a group, tile by tile."""
    lines = ["        .device base", "        .core   fim, island=0", "        .block  banks=0-15"]
    lines += ["mmr op, mul", "mmr arrange, dot"]
    for group in range(GROUPS):
        for tile in range(TILES):
            lines += [f"act {group * TILES + tile}", "rop <- iosa[0]"]
            if tile < 2:  # the first products of a group begin its sums
                lines.append(f"mmr accumulate, {tile}")
            lines.append("rz <- rop * iosa[16:32]")
        lines += [f"act {RESULTS + group}", "iosa[0] <- rz"]
    return "\n".join([*lines, "end\n"])


def memory(matrix: Halves, vector: Halves) -> Halves:
    """What each bank holds: (banks, rows of memory, 32 columns, 16)."""
    found = np.zeros((BANKS, RESULTS, 32, SIDE), np.float16)
    split = matrix.reshape(BANKS, GROUPS, SIDE, TILES, SIDE).transpose(0, 1, 3, 2, 4)
    found[:, :, 16:] = split.reshape(BANKS, RESULTS, SIDE, SIDE)
    found[:, :, 0] = np.tile(vector.reshape(TILES, SIDE), (GROUPS, 1))
    return found


def main() -> None:
    """Print the table."""
    random = np.random.default_rng(1)
    matrix = (random.standard_normal((ROWS, COLUMNS)) / 64).astype(np.float16)
    vector = random.standard_normal(COLUMNS).astype(np.float16)
    program = macaw.assemble(Source(source(), "product.s"))
    data = memory(matrix, vector)
    spent, of_numpy = [], []
    for _ in range(ROUNDS):
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
    counts = island.counters()
    results = [
        np.frombuffer(device.memory.peek(island_address(0) + place(Place(bank, RESULTS + group, 0)), 32), np.float16)
        for bank in range(BANKS)
        for group in range(GROUPS)
    ]  # fmt: skip
    error = np.abs(np.concatenate(results) - matrix.astype(float) @ vector.astype(float)).max()
    if error > 0.2:
        raise SystemExit(f"the product is off by {error}")
    rate = counts["operations"] / median(spent)
    print("## A product on islands\n")
    print(f"{ROWS} × {COLUMNS} in fp16 on island 0 of base, beside NumPy's fp16 product.\n")
    head = ["", "cycles", "ms", "NumPy fp16, ms", "million operations/s"]
    row = ["by dots", f"{device.cycle:,}", f"{median(spent) * 1000:.0f}"]
    print(table(head, [[*row, f"{median(of_numpy) * 1000:.0f}", f"{rate / 1e6:.2f}"]]))
    print(target(f"at least 1 million operations a second: {rate / 1e6:.2f}", rate >= LEAST))
    times = median(spent) / median(of_numpy)
    print(target(f"at most {MOST} times as long as NumPy's product: {times:.1f}", times <= MOST))


if __name__ == "__main__":
    main()
