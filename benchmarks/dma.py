"""The two engines of the dma side by side: one transfer many times, of several shapes.

Both do it in the same cycles and end in the same state.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import macaw
from benchmarks.measure import ROUNDS, table, timed
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
    """How many transfers of a shape a run has."""
    _, _, row_bytes, count, _, _ = SHAPES[what]
    return BYTES // (row_bytes * count)


def source_of(what: str) -> str:
    """The program of a shape."""
    src, dst, row_bytes, count, dst_stride, src_stride = SHAPES[what]
    return SOURCE.format(
        copies=copies_of(what),
        dst=dst,
        src=src,
        row_bytes=row_bytes,
        rows=count,
        dst_stride=dst_stride,
        src_stride=src_stride,
    )


def main() -> None:
    """Measure and print."""
    print("### The dma\n")
    print(
        "Megabytes a second of CPU time, a transfer again and again until 256 KiB are moved;"
        " cp starts them.\n"
    )
    head = ["", "transfers", "cycles", *[f"{engine}: MB/s" for engine in ENGINES], "times as fast"]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "bench.s"
        for what in SHAPES:
            text = source_of(what)
            path.write_text(text, "utf-8")
            program = macaw.assemble(path)
            rates, ends = [], set()
            for engine in ENGINES:
                rate, end = measured(program, engine)
                rates.append(rate)
                ends.add(end)
            assert len(ends) == 1
            cycles = f"{ends.pop()[1]:,}"
            times = f"{rates[0] / rates[1]:,.0f}"
            rows.append([what, f"{copies_of(what)}", cycles, *[f"{x:,.1f}" for x in rates], times])
    print(table(head, rows))


def measured(program: Program, engine: str) -> tuple[float, tuple[str, int]]:
    """Megabytes a second, and the state and cycle at the end."""
    times = []
    for _ in range(ROUNDS):
        device = Device(macaw.configuration("base"), engine=engine)
        device.load(program)
        device.memory.poke(EXTERNAL, bytes(x % 251 for x in range(65536)))
        times.append(timed(device.run))
    moved = device.counters()["dma"]["bytes"]
    return moved / median(times) / 1e6, (device.hash(), device.cycle)


if __name__ == "__main__":
    main()
