"""A sparse product of two sparse matrices on the PE array beside SciPy's.

    python -m benchmarks.sparse [--device large]

`macaw lower` writes the program, which runs as a whole: cp and the dma included. SciPy only computes
the result, of both operands in CSR. All have to have the same result, and the reference
engine, once, the same cycles and counters as the fast one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from operator import matmul
from statistics import median

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.measure import ROUNDS, table, target, timed
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.isa.config import Configuration

SIZE = 256
ZERO = (0.5, 0.8, 0.9)  # the share of zeros, on both sides
TIMES = 200  # SciPy's time, at most
HEAD = ["zeros", "MACs", "device cycles", "macaw, ms", "SciPy, ms", "times", "reference, s"]


def values(seed: int, zero: float) -> NDArray[np.int8]:
    """A matrix with that share of zeros."""
    rng = np.random.default_rng(seed)
    kept = rng.random((SIZE, SIZE)) >= zero
    return (rng.integers(1, 10, (SIZE, SIZE)) * kept).astype(np.int8)


def simulated(
    program: Program, settings: Configuration, x: NDArray[np.int8], engine: str = "fast"
) -> tuple[float, Device]:
    """CPU seconds of a run, and the device after it."""
    device = Device(settings, engine=engine)
    device.load(program)
    device.write_tensor("x", x)
    return timed(device.run), device


def products(name: str) -> Iterator[tuple[list[str], str]]:
    """A row of the table, and whether the target is met."""
    from scipy.sparse import csr_array

    for zero in ZERO:
        weights, x = values(1, zero), values(2, zero)
        found = macaw.lower("spmm", weights, rows=SIZE, device=name)
        program = found.assemble()
        left, right = csr_array(x.astype(np.int32)), csr_array(weights.T.astype(np.int32))
        product = partial(matmul, left, right)
        wanted = product().toarray()
        ours, theirs = [], []
        for _ in range(ROUNDS):
            seconds, device = simulated(program, found.config, x)
            assert np.array_equal(device.read_tensor("y"), wanted)
            ours.append(seconds)
            theirs += [timed(product) for _ in range(ROUNDS)]
        slow, reference = simulated(program, found.config, x, "reference")
        assert device.cycle == reference.cycle
        assert device.counters() == reference.counters()
        macs = sum(row.get("macs", 0) for row in device.counters().values())
        times = median(ours) / median(theirs)
        figures = f"{1e3 * median(ours):,.0f}", f"{1e3 * median(theirs):.2f}", f"{times:,.0f}"
        line = [f"{zero:.0%}", f"{macs:,}", f"{device.cycle:,}", *figures, f"{slow:.1f}"]
        said = f"{zero:.0%} zero: {times:,.0f} times SciPy's time, at most {TIMES}"
        yield line, target(said, times <= TIMES)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="large")
    words = parser.parse_args()
    print("### A product of sparse matrices\n")
    print(f"{SIZE}×{SIZE}×{SIZE} on `{words.device}`, both sides with so many zeros.\n", flush=True)
    found = list(products(words.device))
    print(table(HEAD, [line for line, _ in found]))
    print("".join(said for _, said in found))


if __name__ == "__main__":
    main()
