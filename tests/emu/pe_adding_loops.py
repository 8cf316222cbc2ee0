"""Random loops that add segments of partial sums, as packet lists."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.pe import THEN
from tests.emu.pe_builder import SUMS, Segment, Unit

ADD, FINAL, BLOCKS = 1, 5, 4  # buffers; how many blocks of the output queue an accumulator has


@dataclass
class AddingLoop:
    """A loop without macs, as a packet list.

    Each iteration loads `loads` segments with a sum for each of `accumulators` accumulators, and
    moves these out. `large` multiplies the sums, so that totals may leave their range.
    """

    seed: int
    iterations: int = 14
    large: int = 1
    moves_all: bool = True
    config: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.random, self.rng = random.Random(self.seed), np.random.default_rng(self.seed)
        pick = self.random.choice
        self.clusters, self.pes = pick([1, 1, 2, 3]), pick([1, 2, 5])
        self.accumulators, self.loads = pick([1, 1, 2, 3]), pick([1, 2, 5])
        self.element = pick(["int8", "int8", "int16"])
        self.unit = Unit(
            {
                "pe.clusters": self.clusters + pick([0, 1]),
                "pe.pes": self.pes,
                "pe.element": self.element,
                "pe.overflow": pick(["fault", "wrap", "saturate"]),
                "pe.divider": pick([1, 1, 2]),
                "dist.bus_bytes": pick([3, 8, 32, 64]),
                **(self.config or {}),
            },
            data_at=0x4000,
        )
        self._configure()

    def _configure(self) -> None:
        pick = self.random.choice
        moved = list(range(self.accumulators))
        if not self.moves_all:
            moved = sorted(self.random.sample(moved, pick(moved) + 1))
        lines = [f"ld psums base={pick([15, 15, 14])}" for _ in range(self.loads)]
        lines += [f"spu nonsf src={number} dst={number * BLOCKS}" for number in moved]
        if pick([False, not self.moves_all]):
            lines = self.random.sample(lines, len(lines))
        moves = [place for place, line in enumerate(lines) if line.startswith("spu")]
        steps = [(place, 1, 1, 0) for place in moves]
        header: dict[str, Any] = {"inner": self.iterations, "then": THEN + FINAL, "pipeline": 4}
        self.unit.config_packet(ADD, *lines, steps=steps, **header)
        self.unit.config_packet(FINAL, *(f"st base={number * BLOCKS}" for number in moved))

    def exe(self) -> tuple[dict[str, int], NDArray[Any]]:
        """Add an exe. Return where its results go, and what they are if all sums are moved out.

        The results have the shape (clusters, PEs, accumulators, iterations).
        """
        unit, kind = self.unit, SUMS[self.element]
        shape = self.clusters, self.pes, self.accumulators
        values = self.rng.integers(-999, 1000, (self.iterations, self.loads, *shape)) * self.large
        contents = [unit.psums(x) for x in values.reshape(-1, *shape)]
        segments: list[Segment] = [*contents]
        if self.random.random() < 0.5:  # all iterations add the first segment
            place = unit.put(contents[0][2])
            first = range(place, place + len(contents[0][2]))
            for number in range(self.iterations):
                segments[number * self.loads] = ("psums", "sliced", first)
            values[:, 0] = values[0, 0]
        results = self.accumulators * self.iterations
        size = np.dtype(kind).itemsize
        out = unit.out(
            self.clusters * self.pes * results * size,
            kind,
            count=self.iterations,
            stride=results * size,
        )
        unit.exe(ADD, *segments, out=out, last=1, clusters=(1 << self.clusters) - 1)
        return out, values.sum(axis=1).transpose(1, 2, 3, 0)
