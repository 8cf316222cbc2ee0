"""Run the programs for islands."""

from __future__ import annotations

from functools import cache

import numpy as np

import macaw
from tests.emu.fim.machine import Machine
from tests.programs.scripts import PROGRAMS


def outputs_of(folder, engine="fast"):
    program = macaw.assemble(PROGRAMS / folder / f"{folder[4:]}.s")
    return macaw.run(program, engine=engine).outputs


def chain(rows, apart=False):
    """The words of two blocks that compute (A B) C: A is rows x 16, B and C are 16 x 16.

    Each block computes one product. With `apart` the second block waits for the end of the first
    one.
    """
    # A buffer for each 32 rows, in bank 3 and 1 in turn: where one pushes and where one pulls are
    # rows of two banks.
    produce, consume = ["mmr op, mul", "mmr arrange, dot"], ["mmr op, mul", "mmr arrange, dot"]
    for number in range(-(-rows // 32)):
        low = 0x40000000 + (3, 1)[number % 2] * 0x10000 + 0x400 * number
        produce += [f"mmr b{number}_low, {low:#x}", f"mmr b{number}_high, {low + 1024:#x}"]
    consume.append("pull gio, 0")
    for r in range(rows):
        if r % 16 == 0:
            produce.append(f"act {r // 16}")
            consume.append(f"act {r // 16}")
        produce += [f"rop <- iosa[{r % 16}]", "rz <- rop * iosa[16:32]", f"push rz, {r // 32}"]
        following = [f"pull gio, {(r + 1) // 32}"] if r + 1 < rows else []
        consume += ["rop <- gio", *following, "rz <- rop * iosa[16:32]", f"iosa[{r % 16}] <- rz"]
    if apart:  # the lock is given back when all is pushed
        produce = ["lock 7", *produce, "unlock 7"]
        consume = ["act 0", "act 1", "lock 7", *consume]
    return [".block banks=0", *produce, "end", ".block banks=2", *consume, "end"]


@cache
def run_chain(rows, apart):
    random = np.random.default_rng(rows)
    a, b, c = (random.integers(-3, 4, (n, 16)).astype(np.float16) for n in (rows, 16, 16))
    machine = Machine(chain(rows, apart))
    for n in range(rows // 16):
        machine.put(0, n, 0, np.concatenate([a[16 * n : 16 * n + 16], b.T]))
        machine.put(2, n, 16, np.ascontiguousarray(c.T))
    seen = []

    def listen(event):
        if event.kind == "instruction":
            seen.append((event.time, event.values["address"]))

    machine.device.listen(listen)
    stop = machine.start().run()
    assert stop.reason == "exit"
    found = np.array([machine.get(2, n, 0, 256) for n in range(rows // 16)]).reshape(rows, 16)
    np.testing.assert_array_equal(found, (a.astype(int) @ b.astype(int) @ c.astype(int)))
    counts = machine.island.counters()
    assert counts["host_columns"] == 0
    assert counts["pushed"] == counts["pulled"] == rows
    return seen, machine
