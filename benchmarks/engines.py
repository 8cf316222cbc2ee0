"""The two engines of the PE array side by side: a row that multiplies, of 16, 64 and 256 PEs.

A row cycle is a cycle of one row with all its PEs. A MAC is effective if neither operand is zero.
Both engines must end in the same state after the same program.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.figures import HIGHER, LOWER, Effort, Figure, count, ratio
from benchmarks.measure import ROUNDS, timed
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.pe import build
from macaw.isa import codec
from macaw.isa.config import Configuration
from macaw.isa.pe import CORE, END_OF_LIST, MODES, OUT, PACKET, SEGMENT, SEGMENT_TYPES, SEQUENCE

PES = 16  # of a cluster
INPUTS = 512
MACS = 8  # instructions: each multiplies the weights by the activations again
# Share of weights and of activations that are not zero, and whether loads are balanced.
KINDS = {
    "dense": (1.0, 1.0, 0),
    "half the weights": (0.5, 1.0, 0),
    "a tenth, half": (0.1, 0.5, 0),
    "half, balance": (0.5, 1.0, 1),
}
ENTRY = np.dtype([("index", "<u2"), ("value", "i1")])


def program(clusters: int, weights: np.ndarray, x: np.ndarray, balance: int) -> dict[int, bytes]:
    """Return, by offset, the bytes of the half that feeds the row: packets with all their data.

    Each of `clusters` clusters has weights and activations; `balance` is that of the mac.

    The sequence loads, then multiplies `MACS` times.
    """
    by = CORE.by_mnemonic
    load = codec.encode(by["ld"], {"destination": 3})
    macs = [codec.encode(by["mac"], {"acc": n % 4, "balance": balance}) for n in range(MACS)]
    words = [load, *macs]
    sequence = codec.pack(SEQUENCE, {"count": len(words)})
    sequence += b"".join(word.to_bytes(2, "little") for word in words)
    records = []
    for row in weights:
        at = np.flatnonzero(row)
        entries = np.zeros(at.size, ENTRY)
        entries["index"], entries["value"] = at, row[at]
        records.append(len(at).to_bytes(2, "little") + entries.tobytes())
    data = b"".join(records)
    packets = packet("config", clusters, [("sequence", "broadcast", 0x1000, sequence)])
    packets += packet(
        "exe",
        clusters,
        [("weights", "sliced", 0x2000, data), ("activations", "broadcast", 0x1800, x.tobytes())],
    )
    packets += codec.pack(OUT, {}) + bytes([END_OF_LIST])
    return {0: packets, 0x1000: sequence, 0x1800: x.tobytes(), 0x2000: data}


def packet(mnemonic: str, clusters: int, segments: list[tuple[str, str, int, bytes]]) -> bytes:
    """Return a packet for all clusters; each of `segments` is (type, mode, offset, bytes)."""
    command = codec.encode(CORE.by_mnemonic[mnemonic], {"ib": 0})
    head = {"command": command, "segments": len(segments), "clusters": (1 << clusters) - 1}
    made = codec.pack(PACKET, head)
    for kind, mode, offset, data in segments:
        numbers = {"type": SEGMENT_TYPES.index(kind), "mode": MODES.index(mode)}
        made += codec.pack(SEGMENT, numbers | {"offset": offset, "length": len(data)})
    return made


def _dispatched(configuration: Configuration, contents: dict[int, bytes], engine: str) -> Device:
    """Return a device whose row of the array has started to execute the packets of `contents`."""
    device = Device(configuration, [build], engine)
    half = device.memory.feeding_address(0)
    for offset, data in contents.items():
        device.memory.poke(half + offset, data)
    device.dispatch(1, 0, 0)
    return device


def _loaded(configuration: Configuration, contents: dict[int, bytes]) -> int:
    """Return the cycle in which the first mac begins; `measured` starts its clock there."""
    device = _dispatched(configuration, contents, ENGINES[0])
    row = device.cores["pe[0]"]
    while not row.state.computing.any():
        begin = device.cycle
        device.run(max_cycles=1)
        row.sync()
    return begin


def measured(clusters: int, kind: str, rounds: int) -> Iterator[Figure]:
    """Yield the figures of both engines for the kind of product `kind` on `clusters` clusters."""
    density, nonzero, balance = KINDS[kind]
    rng = np.random.default_rng(1)
    shape = (clusters * PES, INPUTS)
    weights = np.where(rng.random(shape) < density, rng.integers(1, 8, shape), 0).astype(np.int8)
    x = np.where(rng.random(INPUTS) < nonzero, rng.integers(1, 8, INPUTS), 0).astype(np.int8)
    contents = program(clusters, weights, x, balance)
    settings = {
        "pe.rows": 1,
        "pe.clusters": clusters,
        "pe.pes": PES,
        "mem.unit_half_bytes": 1 << 19,
    }
    configuration = Configuration("engines", settings)
    effective = MACS * int(np.count_nonzero(weights * x))
    seconds, ends = {}, {}
    begin = _loaded(configuration, contents)
    for engine in ENGINES:
        times = []
        for _ in range(rounds):
            device = _dispatched(configuration, contents, engine)
            device.run(until=begin)
            times.append(timed(device.run))
        row = device.cores["pe[0]"]
        counters = device.counters()["pe[0]"]
        row.sync()
        ends[engine] = row.state.hash()
        seconds[engine] = times
        cycles, macs = device.cycle - begin, counters["macs"]
    fast, reference = ENGINES
    assert ends[fast] == ends[reference]
    assert counters["macs"] == effective
    name = f"{clusters * PES} PEs, {kind}"
    yield count(name, "row cycles", cycles)
    for engine, times in seconds.items():
        yield Figure(name, f"{engine}: µs", tuple(x / cycles * 1e6 for x in times), LOWER)
    for engine, times in seconds.items():
        yield Figure(name, f"{engine}: MACs", tuple(macs / x / 1000 for x in times), HIGHER)
    yield ratio(name, "times as fast", seconds[reference], seconds[fast], HIGHER, "reference")


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the figures of rows of 16, 64 and 256 PEs."""
    for clusters in (1,) if effort.small else (1, 4, 16):
        for kind in ("a tenth, half",) if effort.small else KINDS:
            yield from measured(clusters, kind, effort.rounds(ROUNDS))
