"""The gain of load balancing between neighbours: a table of speed-ups and utilisations.

    python benchmarks/pe_balancing.py [--seeds N]

A cluster of 16 PEs (`base`) multiplies 16 sparse rows of 512 weights by a vector. The odd rows have
the density of the table. The even rows, their left neighbours, have half of that density. The
cycles are those of the mac alone; utilisation is the share of PE cycles in which a MAC works.
docs/timing-pe.md has the table; cycles are the same on every machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.emu.device import Device
from macaw.emu.pe import build
from macaw.isa import codec
from macaw.isa.config import Configuration
from macaw.isa.pe import CORE, END_OF_LIST, MODES, OUT, PACKET, SEGMENT, SEGMENT_TYPES, SEQUENCE

PES, INPUTS = 16, 512
DENSITIES = tuple(n / 10 for n in range(1, 10))
WORK = ("cycles_mac", "cycles_filling", "cycles_no_load", "cycles_handing", "cycles_early")


def matrix(rng: np.random.Generator, density: float) -> NDArray[np.int8]:
    """Return random weights (PEs, inputs); rows of even PEs are half as dense as `density`."""
    share = np.where(np.arange(PES) % 2, density, density / 2)
    values = rng.integers(1, 8, (PES, INPUTS))
    return np.where(rng.random((PES, INPUTS)) < share[:, None], values, 0).astype(np.int8)


def records(weights: NDArray[np.int8]) -> bytes:
    """Return the bytes of the weights' segment: for each row a count, then (index, value) pairs."""
    found = []
    for row in weights:
        at = np.flatnonzero(row)
        entries = np.zeros(at.size, [("index", "<u2"), ("value", "i1")])
        entries["index"], entries["value"] = at, row[at]
        found.append(len(at).to_bytes(2, "little") + entries.tobytes())
    return b"".join(found)


def packet(mnemonic: str, segments: Sequence[tuple[str, str, int, bytes]], **values: int) -> bytes:
    """Return a packet for cluster 0; each of `segments` is (type, mode, offset, bytes)."""
    command = codec.encode(CORE.by_mnemonic[mnemonic], {"ib": 0, **values})
    made = codec.pack(PACKET, {"command": command, "segments": len(segments), "clusters": 1})
    for kind, mode, offset, data in segments:
        numbers = {"type": SEGMENT_TYPES.index(kind), "mode": MODES.index(mode)}
        made += codec.pack(SEGMENT, numbers | {"offset": offset, "length": len(data)})
    return made + (codec.pack(OUT, {}) if mnemonic == "exe" else b"")


def measure(
    weights: NDArray[np.int8], x: NDArray[np.int8], balance: bool
) -> tuple[int, float, list[int]]:
    """Return the cycles of a mac, the utilisation (0 to 1), and the sums of the PEs.

    `weights` has a row for each PE, `x` has the activations. With `balance`, the mac balances.
    """
    settings = {"pe.rows": 1, "pe.clusters": 1, "pe.pes": PES}
    device = Device(Configuration("balancing", settings), build=[build])
    by = CORE.by_mnemonic
    words = [
        codec.encode(by["ld"], {"destination": 3}),
        codec.encode(by["mac"], {"balance": int(balance)}),
    ]
    program = codec.pack(SEQUENCE, {"count": len(words)})
    program += b"".join(word.to_bytes(2, "little") for word in words)
    data = records(weights)
    segments = [
        ("weights", "sliced", 0x2000, data),
        ("activations", "broadcast", 0x1800, x.tobytes()),
    ]
    packets = packet("config", [("sequence", "broadcast", 0x1000, program)])
    packets += packet("exe", segments) + bytes([END_OF_LIST])
    memory = device.memory
    half = memory.feeding_address(0)
    for offset, content in ((0, packets), (0x1000, program), (0x1800, x.tobytes()), (0x2000, data)):
        memory.poke(half + offset, content)
    device.dispatch(1, 0, 0)
    stop = device.run()
    assert stop.fault is None, stop
    counters = device.cores["pe[0]"].counters()
    work = sum(counters[name] for name in WORK)
    sums = device.cores["pe[0]"].state.accumulators[0, :, 0].tolist()
    return work // PES, counters["cycles_mac"] / work, sums


def average(density: float, activations: float, seeds: int) -> tuple[float, float, float]:
    """Return the mean speed-up, and the mean utilisation without and with balancing.

    `density` is that of the weights, `activations` that of the activations. The means are over
    `seeds` random products.
    """
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, round(1000 * density), round(1000 * activations)])
        weights = matrix(rng, density)
        x = np.where(rng.random(INPUTS) < activations, rng.integers(1, 8, INPUTS), 0)
        plain = measure(weights, x.astype(np.int8), False)
        helped = measure(weights, x.astype(np.int8), True)
        assert plain[2] == helped[2] == (weights.astype(int) @ x).tolist()
        found.append((plain[0] / helped[0], plain[1], helped[1]))
    speed_up, without, with_it = np.mean(found, axis=0).tolist()
    return speed_up, without, with_it


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    kinds = {"all": lambda _: 1.0, "half": lambda _: 0.5, "as the weights": lambda density: density}
    print("| weights | " + " | ".join(f"activations: {name}" for name in kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    for density in DENSITIES:
        cells = []
        for share in kinds.values():
            speed_up, without, with_it = average(density, share(density), seeds)
            cells.append(f"{speed_up:.2f} ({without:.0%} → {with_it:.0%})")
        print(f"| {density} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
