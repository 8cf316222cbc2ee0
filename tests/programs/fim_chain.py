"""(A B) C of square matrices by two circuits of an island, with a chain of buffers between them."""

from __future__ import annotations

from functools import cache

import numpy as np

from macaw.isa import config
from macaw.isa.fim_islands import Place, geometry, island_address
from tests.emu.fim.machine import Machine

# Banks of the two circuits.
LEFT, RIGHT = 0, 4
# Number and bank of buffers; rows of A B go to two in turn, so that pushing and pulling never need
# two rows of one bank.
A, AB, ABC = ((1, 8),), ((0, 1), (3, 6)), ((2, 9),)
DEVICE = "base"
LOCK = 7  # of a buffer that nobody uses


def address(bank):
    memory = geometry(config.load(DEVICE))
    return island_address(0) + memory.offset(Place(bank, 0, 0))


def stage(side, sources, targets):
    """The words of a block that multiplies the rows of some buffers by a matrix into other buffers.

    A dot fills 16 slots, so a row of the result consists of `parts` times 16 numbers. Each number
    is the sum of `parts` dots. The block pulls all parts of a row again for each 16 numbers. It
    pulls the next part while it multiplies the present one.
    """
    parts = side // 16
    uses = [(r, g, k) for r in range(side) for g in range(parts) for k in range(parts)]
    words = ["mmr op, mul", "mmr arrange, dot", f"pull gio, {sources[0][0]}"]
    open_row = -1
    for (r, g, k), following in zip(uses, [*uses[1:], None], strict=True):
        words.append("rop <- gio")
        if following:
            number, bank = sources[following[0] % len(sources)]
            if following[1] and not following[2]:  # this row once more
                again = address(bank) + 32 * parts * (r // len(sources))
                words.append(f"mmr b{number}_start, {again:#x}")
            words.append(f"pull gio, {number}")
        place = g * parts + k  # of 16 columns of the matrix, two places to a row of memory
        if place // 2 != open_row:
            open_row = place // 2
            words.append(f"act {open_row}")
        words.append(f"mmr accumulate, {int(k > 0)}")
        words.append(f"rz <- rop * iosa[{16 * (place % 2)} : {16 * (place % 2) + 16}]")
        if k == parts - 1:
            words.append(f"push rz, {targets[r % len(targets)][0]}")
    return words


def buffers(side, places, full=False):
    words = []
    for number, bank in places:
        low = address(bank)
        high = low + 32 * (side * side // 16 // len(places))
        words += [f"mmr b{number}_low, {low:#x}", f"mmr b{number}_high, {high:#x}"]
        words += [f"mmr b{number}_end, {high:#x}"] if full else []
    return words


def program(side, apart):
    produce = [*buffers(side, A, full=True), *buffers(side, AB), *stage(side, A, AB)]
    consume = [*buffers(side, ABC), *stage(side, AB, ABC)]
    if apart:  # the lock is given back when all is pushed
        produce = [f"lock {LOCK}", *produce, f"unlock {LOCK}"]
        consume = ["act 0", "act 1", f"lock {LOCK}", *consume]
    blocks = ((LEFT, produce), (RIGHT, consume))
    return [line for bank, words in blocks for line in (f".block banks={bank}", *words, "end")]


@cache
def cycles_of_chain(side, apart):
    """The cycle of the last word of the chain, whose result and counters are asserted."""
    random = np.random.default_rng(side)
    a, b, c = (random.integers(-1, 2, (side, side)).astype(np.float16) for _ in range(3))
    machine = Machine(program(side, apart), device=DEVICE)
    machine.put(A[0][1], 0, 0, a)
    for bank, matrix in ((LEFT, b), (RIGHT, c)):
        # Of 16 columns of the matrix a part of 16 rows, then the next part; then the next columns.
        parts = matrix.T.reshape(side // 16, 16, side // 16, 16).swapaxes(1, 2)
        machine.put(bank, 0, 0, np.ascontiguousarray(parts))
    last = 0

    def seen(event):
        nonlocal last
        last = max(last, event.time)

    machine.device.listen(seen)
    machine.done()
    found = machine.get(ABC[0][1], 0, 0, side * side).reshape(side, side)
    np.testing.assert_array_equal(found, a.astype(int) @ b.astype(int) @ c.astype(int))
    counts = machine.island.counters()
    assert counts["host_columns"] == 0
    assert counts["pushed"] == 2 * side * side // 16
    return last
