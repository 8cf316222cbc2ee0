"""The PE array compared with SciPy and NumPy: simulated MACs and PE cycles a second.

The program is a lowered sparse product, weight stationary, with one output for each PE, with and
without `balance`. Runs are whole: cp and the dma included. A PE cycle is a cycle of one PE: a cycle
of a row with 256 PEs is 256 PE cycles. A MAC is effective if neither weight nor activation is zero.
SciPy and NumPy only compute the result, which must equal Macaw's. A large convolution follows, in
its own process, so that its memory can be measured.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.figures import HIGHER, LOWER, Effort, Figure, count, parse_figure
from benchmarks.measure import ROUNDS, output_of, timed
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.isa import config
from macaw.isa.config import Configuration
from macaw.layer_lowering import Lowering, assemble_lowered
from macaw.lowering import reference

INPUTS, VECTORS = 1024, 16  # the weight queue holds that many weights
DENSITIES = (0.1, 0.5, 1.0)
ROUNDS_OF = {"base": ROUNDS, "large": 1}  # runs on `large` take seconds
WORK = ("cycles_mac", "cycles_filling", "cycles_no_load", "cycles_handing", "cycles_early")
IMAGE, CHANNELS, KERNEL = (56, 56), 64, 3


@dataclass(frozen=True)
class Rates:
    """The work that a whole run simulated, and the CPU seconds of each run.

    `macs` are effective MACs, `pe_cycles` are cycles times PEs.
    """

    cycles: int  # of the device
    macs: int  # effective
    pe_cycles: int
    work: int  # PE cycles in which the cluster's macs are at work
    seconds: tuple[float, ...]


def simulated(
    program: Program, settings: Configuration, x: NDArray[Any], wanted: NDArray[Any], rounds: int
) -> Rates:
    """Run a program `rounds` times, and return the rates; assert that its output is `wanted`."""
    times = []
    for _ in range(rounds):
        device = Device(settings)
        device.load(program)
        device.write_tensor("x", x)
        times.append(timed(device.run))
        assert np.array_equal(device.read_tensor("y"), wanted)
    pes = settings["pe.clusters"] * settings["pe.pes"]
    rows = [counters for name, counters in device.counters().items() if name.startswith("pe[")]

    def total(*names: str) -> int:
        return sum(row[name] for row in rows for name in names)

    return Rates(device.cycle, total("macs"), total("cycles") * pes, total(*WORK), tuple(times))


def product(device: str, density: float) -> tuple[Lowering, NDArray[np.int8]]:
    """Return a lowered product, and activations of the same density."""
    settings = config.load(device)
    outputs = int(settings["pe.rows"] * settings["pe.clusters"] * settings["pe.pes"])
    rng = np.random.default_rng(1)

    def values(*shape: int) -> NDArray[np.int8]:
        kept = rng.random(shape) < density
        return (rng.integers(1, 10, shape) * kept).astype(np.int8)

    found = macaw.lower(
        "spmm", values(outputs, INPUTS), rows=VECTORS, device=device, mapping="weight", split="e"
    )
    return found, values(VECTORS, INPUTS)


def balanced(found: Lowering) -> Program:
    """Return the program of `found`, with `balance` added to every mac."""
    lines = [
        f"{line}, balance" if line.split()[:1] == ["mac"] and "balance" not in line else line
        for line in found.source.splitlines()
    ]
    return assemble_lowered(replace(found.program, source="\n".join(lines) + "\n"), found.name)


def peers(weights: NDArray[Any], x: NDArray[Any], rounds: int) -> list[list[float]]:
    """Return the CPU seconds of SciPy's sparse product and of NumPy's dense one, in each round."""
    from scipy.sparse import csr_array

    wide, columns = weights.astype(np.int32), x.astype(np.int32).T.copy()
    matrix = csr_array(wide)
    return [
        [timed(lambda: matrix @ columns) for _ in range(rounds)],
        [timed(lambda: wide @ columns) for _ in range(rounds)],
    ]


def products(device: str, effort: Effort) -> Iterator[Figure]:
    """Yield the figures of the products on a device."""
    for density in (0.1,) if effort.small else DENSITIES:
        found, x = product(device, density)
        weights = found.product.weights
        wanted = x.astype(np.int64) @ weights.astype(np.int64).T
        of_peers = peers(weights, x, effort.rounds(ROUNDS))
        for balance in (False, True):
            program = balanced(found) if balance else found.assemble()
            rounds = effort.rounds(ROUNDS_OF.get(device, 1))
            rates = simulated(program, found.config, x, wanted, rounds)
            row = f"{device}, {density}{', balance' * balance}"
            yield from _figures(row, rates)
            yield count(row, "macs at work, %", 100 * rates.work / rates.pe_cycles)
            for name, seconds in zip(("SciPy", "NumPy"), of_peers, strict=True):
                yield Figure(row, name, tuple(rates.macs / x / 1000 for x in seconds))


def _figures(row: str, rates: Rates, table: str = "") -> Iterator[Figure]:
    yield count(row, "MACs", rates.macs, table)
    yield count(row, "device cycles", rates.cycles, table)
    yield Figure(
        row, "macaw", tuple(rates.macs / x / 1000 for x in rates.seconds), HIGHER, table=table
    )
    million = tuple(rates.pe_cycles / x / 1e6 for x in rates.seconds)
    yield Figure(row, "million PE cycles/s", million, HIGHER, table=table)


def convolved(device: str, image: tuple[int, int], channels: int) -> Iterator[Figure]:
    """Lower, assemble and run a convolution once, and yield its figures."""
    rng = np.random.default_rng(1)
    shape = (channels, KERNEL, KERNEL, channels)
    weights = (rng.integers(-9, 10, shape) * (rng.random(shape) < 0.5)).astype(np.int8)
    x = rng.integers(-9, 10, (*image, channels)).astype(np.int8)
    found = macaw.lower(
        "conv2d", weights, image=image, padding=1, activation="relu", shift=8, device=device
    )
    wanted = reference.result(found.product, found.config, x)
    yield from _figures(
        device, simulated(found.assemble(), found.config, x, wanted, 1), "convolution"
    )
    usage = resource.getrusage(resource.RUSAGE_SELF)
    table = "convolution"
    yield Figure(device, "s", (usage.ru_utime + usage.ru_stime,), LOWER, table=table)
    yield Figure(device, "MiB", (usage.ru_maxrss / 1024,), LOWER, table=table)


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the figures of the convolutions, each from its own process, and of the products."""
    if effort.small:
        yield from convolved("tiny", (6, 6), 4)
    else:
        for device in ("base", "large"):  # first, while this process is small
            found = output_of([sys.executable, "-m", "benchmarks.array", device])
            yield from map(parse_figure, json.loads(found))
    for device in ("tiny",) if effort.small else ("base", "large"):
        yield from products(device, effort)


if __name__ == "__main__":
    print(json.dumps([asdict(x) for x in convolved(sys.argv[1], IMAGE, CHANNELS)]))
