"""The two engines of the dma side by side: one transfer many times, of several shapes.

Both engines take the same cycles and end in the same state.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import macaw
from benchmarks.figures import HIGHER, Effort, Figure, count, ratio
from benchmarks.measure import ROUNDS, timed
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa.memory_map import EXTERNAL, HALF_SHIFT, UNITS

UNIT = UNITS
FAR = EXTERNAL + (1 << 20)
# From, to, bytes of a row, rows, distance of rows there and here.
SHAPES = {
    "external to on-chip, 64 KiB": (EXTERNAL, UNIT, 65536, 1, 0, 0),
    "the same, 64 rows of 100": (EXTERNAL, UNIT, 100, 64, 256, 112),
    "the same, 16 rows of 64, strided": (EXTERNAL, UNIT, 64, 16, 1024, 1024),
    "on-chip to external, 64 KiB": (UNIT, EXTERNAL, 65536, 1, 0, 0),
    "on-chip to on-chip, 64 KiB": (UNIT, UNIT + (1 << HALF_SHIFT), 65536, 1, 0, 0),
    "external to external, 64 KiB": (EXTERNAL, FAR, 65536, 1, 0, 0),
}
BYTES = 1 << 18  # moved in a run

SOURCE = """
        .device base
        .core   cp
        la      a0, what
        li      a1, {copies}
again:  dma.copy zero, a0
        addi    a1, a1, -1
        bnez    a1, again
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .align  2
what:   .word   {dst}, {src}, {row_bytes}, {rows}, {dst_stride}, {src_stride}
"""


def copies_of(what: str) -> int:
    """Return the number of transfers of the shape `what` in a run."""
    _, _, row_bytes, count, _, _ = SHAPES[what]
    return BYTES // (row_bytes * count)


def source_of(what: str, copies: int | None = None, is_empty: bool = False) -> str:
    """Return a program of `copies` transfers of the shape `what`.

    Without `copies`, there are as many transfers as copy `BYTES` bytes. If `is_empty`, each
    transfer copies no bytes.
    """
    src, dst, row_bytes, count, dst_stride, src_stride = SHAPES[what]
    return SOURCE.format(
        copies=copies or copies_of(what),
        dst=dst,
        src=src,
        row_bytes=0 if is_empty else row_bytes,
        rows=count,
        dst_stride=dst_stride,
        src_stride=src_stride,
    )


CONTIGUOUS = "external to on-chip, 64 KiB"
COMPARED = ("the same, 16 rows of 64, strided", "external to external, 64 KiB")


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the rates of both engines for each shape of transfer."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "bench.s"
        for what in (CONTIGUOUS, COMPARED[0]) if effort.small else SHAPES:
            path.write_text(source_of(what, 1 if effort.small else None), "utf-8")
            program = macaw.assemble(path)
            rates, ends = {}, set()
            for engine in ENGINES:
                rates[engine], end = measured(program, engine, effort.rounds(ROUNDS))
                ends.add(end)
            assert len(ends) == 1
            yield count(what, "transfers", copies_of(what))
            yield count(what, "cycles", ends.pop()[1])
            for engine, values in rates.items():
                yield Figure(what, f"{engine}: MB/s", tuple(values), HIGHER)
            fast, reference = rates.values()
            yield ratio(what, "times as fast", fast, reference, HIGHER, "reference")
            found[what] = fast
    for what in COMPARED:
        if what in found:
            yield ratio(what, "of contiguous", found[what], found[CONTIGUOUS], HIGHER, CONTIGUOUS)


def measured(program: Program, engine: str, rounds: int) -> tuple[list[float], tuple[str, int]]:
    """Return the megabytes a second of each run, and the state and the cycle at the end."""
    times = []
    for _ in range(rounds):
        device = Device(macaw.configuration("base"), engine=engine)
        device.load(program)
        device.memory.poke(EXTERNAL, bytes(x % 251 for x in range(65536)))
        times.append(timed(device.run))
    moved = device.counters()["dma"]["bytes"]
    return [moved / x / 1e6 for x in times], (device.hash(), device.cycle)
