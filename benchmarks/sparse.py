"""A product of two sparse matrices on the PE array, compared with SciPy's.

`macaw lower` writes the program, which runs as a whole: cp and the dma included. SciPy only
computes the result, with both operands in CSR. The results must be equal. The reference engine runs
once, and must have the same cycles and counters as the fast engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import matmul
from statistics import median

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.figures import LOWER, Effort, Figure, count, ratio
from benchmarks.measure import timed
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.pe.fast.row import FastRow
from macaw.isa.config import Configuration

ROUNDS = 5
SIZE = 256
ZERO = (0.5, 0.8, 0.9)  # the share of zeros, on both sides


def values(seed: int, zero: float, size: int = SIZE) -> NDArray[np.int8]:
    """Return a random matrix (size, size) in which the share `zero` of the numbers is zero."""
    rng = np.random.default_rng(seed)
    kept = rng.random((size, size)) >= zero
    return (rng.integers(1, 10, (size, size)) * kept).astype(np.int8)


def simulated(
    program: Program, settings: Configuration, x: NDArray[np.int8], engine: str = "fast"
) -> tuple[float, Device]:
    """Return the CPU seconds of a run of a program with the input `x`, and the device after it."""
    device = Device(settings, engine=engine)
    device.load(program)
    device.write_tensor("x", x)
    return timed(device.run), device


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the times of Macaw and SciPy by the share of zeros."""
    from scipy.sparse import csr_array

    name, size = ("tiny", 16) if effort.small else ("large", SIZE)
    for zero in ZERO[:1] if effort.small else ZERO:
        weights, x = values(1, zero, size), values(2, zero, size)
        found = macaw.lower("spmm", weights, rows=size, device=name)
        program = found.assemble()
        left, right = csr_array(x.astype(np.int32)), csr_array(weights.T.astype(np.int32))
        product = partial(matmul, left, right)
        wanted = product().toarray()
        ours, theirs = [], []
        for _ in range(effort.rounds(ROUNDS)):
            seconds, device = simulated(program, found.config, x)
            assert np.array_equal(device.read_tensor("y"), wanted)
            ours.append(seconds)
            theirs.append(median(timed(product) for _ in range(ROUNDS)))
        slow, reference = simulated(program, found.config, x, "reference")
        assert device.cycle == reference.cycle
        assert device.counters() == reference.counters()
        row, counters = f"{zero:.0%}", device.counters().values()
        rows = [core for core in device.present if isinstance(core, FastRow)]
        yield count(row, "MACs", sum(item.get("macs", 0) for item in counters))
        yield count(row, "packets", sum(item.get("packets", 0) for item in counters))
        yield count(row, "lockstep groups", sum(core.controls.groups for core in rows))
        yield count(row, "device cycles", device.cycle)
        yield Figure(row, "macaw, ms", tuple(1000 * x for x in ours), LOWER)
        yield Figure(row, "SciPy, ms", tuple(1000 * x for x in theirs))
        yield ratio(row, "times", ours, theirs, LOWER, "SciPy")
        yield Figure(row, "reference, s", (slow,), LOWER)
