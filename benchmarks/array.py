"""The PE array beside SciPy and NumPy: simulated MACs and PE cycles a second.

    python -m benchmarks.array [--devices base,large] [--convolutions base,large]

A lowered sparse product, weight stationary, one output a PE, with and without `balance`, whole runs:
cp and the dma included. A PE cycle is a cycle of a row, for each of its PEs. A MAC is effective if
neither weight nor activation is zero. SciPy and NumPy only compute the result, which all have
to have alike. Then a large convolution, in a process of its own for its memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.measure import ROUNDS, output_of, table, target, thousands, timed
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
PLAIN, BALANCED = 20e6, 5e6  # PE cycles a second on `large`, at least
IMAGE, CHANNELS, KERNEL = (56, 56), 64, 3
HEAD = ["", "MACs", "device cycles", "macaw", "million PE cycles/s", "s", "MiB"]
SECONDS, MEMORY = 60, 1 << 30  # of the convolution, at most


@dataclass(frozen=True)
class Rates:
    """What a whole run simulated, and the CPU seconds that it took."""

    cycles: int  # of the device
    macs: int  # effective
    pe_cycles: int
    work: int  # PE cycles in which the cluster's macs are at work
    seconds: float


def simulated(
    program: Program, settings: Configuration, x: NDArray[Any], wanted: NDArray[Any], rounds: int
) -> Rates:
    """Run a program some times; its outputs must be those that are wanted."""
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

    return Rates(device.cycle, total("macs"), total("cycles") * pes, total(*WORK), median(times))


def product(device: str, density: float) -> tuple[Lowering, NDArray[np.int8]]:
    """A lowered product, and activations of the same density."""
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
    """The program with `balance` at every mac, as one writes it into the source."""
    lines = [
        f"{line}, balance" if line.split()[:1] == ["mac"] else line
        for line in found.source.splitlines()
    ]
    return assemble_lowered(replace(found.program, source="\n".join(lines) + "\n"), found.name)


def peers(weights: NDArray[Any], x: NDArray[Any]) -> tuple[float, float]:
    """Seconds of SciPy's product of a sparse and a dense matrix, and of NumPy's of dense ones."""
    from scipy.sparse import csr_array

    wide, columns = weights.astype(np.int32), x.astype(np.int32).T.copy()
    matrix = csr_array(wide)
    return (
        median(timed(lambda: matrix @ columns) for _ in range(ROUNDS)),
        median(timed(lambda: wide @ columns) for _ in range(ROUNDS)),
    )


def products(devices: list[str]) -> Iterator[str]:
    """The table, and whether the targets are met."""
    lines, targets = [], []
    for device in devices:
        for density in DENSITIES:
            found, x = product(device, density)
            weights = found.product.weights
            wanted = x.astype(np.int64) @ weights.astype(np.int64).T
            sparse, dense = peers(weights, x)
            for balance in (False, True):
                program = balanced(found) if balance else found.assemble()
                rates = simulated(program, found.config, x, wanted, ROUNDS_OF[device])
                what = f"{device}, {density}{', balance' * balance}"
                millions = rates.pe_cycles / rates.seconds
                lines.append(
                    [
                        what,
                        f"{rates.macs:,}",
                        f"{rates.cycles:,}",
                        thousands(rates.macs / rates.seconds),
                        f"{millions / 1e6:.1f}",
                        f"{rates.work / rates.pe_cycles:.0%}",
                        thousands(rates.macs / sparse),
                        thousands(rates.macs / dense),
                    ]
                )
                if device == "large":
                    least = BALANCED if balance else PLAIN
                    said = f"{what}: {millions / 1e6:.1f} million PE cycles a second"
                    met = millions >= least
                    targets.append(target(f"{said}, at least {least / 1e6:.0f}", met))
    head = ["", "MACs", "device cycles", "macaw", "million PE cycles/s", "macs at work"]
    yield table([*head, "SciPy", "NumPy"], lines)
    yield "".join(targets)


def convolved(device: str) -> None:
    """Lower, assemble and run the convolution; print what came of it."""
    rng = np.random.default_rng(1)
    shape = (CHANNELS, KERNEL, KERNEL, CHANNELS)
    weights = (rng.integers(-9, 10, shape) * (rng.random(shape) < 0.5)).astype(np.int8)
    x = rng.integers(-9, 10, (*IMAGE, CHANNELS)).astype(np.int8)
    found = macaw.lower(
        "conv2d", weights, image=IMAGE, padding=1, activation="relu", shift=8, device=device
    )
    wanted = reference.result(found.product, found.config, x)
    rates = simulated(found.assemble(), found.config, x, wanted, 1)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    said = f"{rates.macs:,}", f"{rates.cycles:,}", thousands(rates.macs / rates.seconds)
    rate = f"{rates.pe_cycles / rates.seconds / 1e6:.1f}"
    print(table(HEAD, [[device, *said, rate, f"{seconds:.1f}", f"{peak / (1 << 20):.0f}"]]))
    limits = f"at most {SECONDS} and {MEMORY >> 20}"
    line = f"{device}: {seconds:.0f} s and {peak / (1 << 20):.0f} MiB, {limits}"
    print(target(line, seconds <= SECONDS and peak <= MEMORY))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--devices", default="base,large")
    parser.add_argument("--convolutions", default="base,large")
    parser.add_argument("--convolved", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.convolved:
        convolved(words.convolved)
        return
    print("### The PE array\n")
    print("Thousands of effective MACs a second, of whole runs; SciPy and NumPy: of the result.\n")
    size = f"{KERNEL}×{KERNEL} convolution of {'×'.join(map(str, IMAGE))}×{CHANNELS}"
    print(f"A {size} to {CHANNELS} channels, half of the weights zero; seconds and memory of a")
    print("process that lowers, runs and compares it:\n", flush=True)
    for device in words.convolutions.split(","):  # first, while this process is small
        print(output_of([sys.executable, "-m", "benchmarks.array", "--convolved", device]))
    print("Sparse products:\n", flush=True)
    for text in products(words.devices.split(",")):
        print(text, flush=True)


if __name__ == "__main__":
    main()
