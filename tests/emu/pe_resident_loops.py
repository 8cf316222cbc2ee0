"""Random products with weights that stay in the queues, as packet lists with a loop."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from macaw.isa.pe import THEN
from tests.emu.pe_builder import SUMS, Segment, Unit

FIFO, RQ = 0, 1
BLOCKS = 16
PRODUCT, FINAL, HOLD, JOIN, ROW, SET = 4, 3, 0, 1, 5, 2


@dataclass
class Loop:
    """A product of m rows of activations with weights that stay, as a packet list."""

    unit: Unit
    x: NDArray[Any]  # (clusters, m, k): what each cluster multiplies
    weights: NDArray[Any]  # (clusters, PEs, k)
    out: dict[str, int]
    at_once: int  # rows of an iteration
    start: NDArray[Any]  # (clusters, PEs, m): what the sums begin with
    joined: dict[str, int] | None = None  # where cluster 0 adds its first results to `added`
    added: NDArray[Any] | None = None  # (PEs,)

    def expected(self) -> NDArray[Any]:
        """The results in the order of memory: (clusters, PEs, rows of an iteration, iterations)."""
        found = np.einsum("cmk,cpk->cpm", self.x, self.weights) + self.start
        return found.reshape(*found.shape[:2], -1, self.at_once).swapaxes(2, 3)


class LoopMaker:
    """Makes a random loop.

    `order` says when activations come: "first", in "turns", in "two places"; "once" has activations
    first, and four macs in the only iteration. `sums` says what sums start with: "none", a "bias"
    (one segment for all iterations), partial sums of each iteration ("each"), or, in the first
    iteration, what an earlier exe left ("before"). With `join`, cluster 0 adds numbers to its first
    results.
    """

    def __init__(
        self,
        seed: int,
        order: str,
        balance: bool = False,
        sums: str = "none",
        join: bool = False,
        **config: Any,
    ) -> None:
        self.sums, self.join = sums, join
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)
        pick = self.random.choice
        self.clusters, self.pes = pick([1, 2, 3, 4]), pick([1, 2, 5])
        self.element = config.get("pe.element") or pick(["int8", "int8", "int16"])
        design = pick(["5a", "5b", "5b"])
        self.flag = " balance" * balance
        self.unit = Unit(
            {
                "pe.clusters": self.clusters,
                "pe.pes": self.pes,
                "pe.element": self.element,
                "pe.design": "5b" if balance else design,
                "pe.overflow": pick(["fault", "wrap", "saturate"]),
                "pe.load_queue_1": pick([2, 3, 8]),
                "pe.load_queue_2": pick([1, 2]),
                "pe.input_buffer": 256,
                "pe.output_queue": 64,
                "pe.weight_queue": 64,
                "pe.divider": pick([1, 1, 2]),
                "dist.bus_bytes": pick([3, 32, 64]),
                **config,
            },
            data_at=0x800,
        )
        self.once = order == "once"
        self.order = order = "first" if self.once else order
        self.blocks = pick([1, 2]) if order != "two places" else pick([1, 2, 4])
        self.k = pick([self.blocks * 16, self.blocks * 16 - 3])
        self.at_once = pick([1, 1, 2, 4]) if order == "first" else 1  # rows of an iteration
        most = BLOCKS // self.blocks if order == "first" else 8
        if 4 * self.at_once > most:
            self.at_once = 1
        self.iterations = pick([2, 3, 4, 6]) if self.at_once == 1 else 4  # a block of results
        if self.at_once == 1 and order == "first" and self.blocks == 1:
            self.iterations = pick([self.iterations, 9, 16])
        elif self.at_once == 2 and self.blocks == 1:
            self.iterations = pick([4, 8])
        if self.once:
            self.at_once, self.iterations = 4, 1
        if order == "two places":
            self.iterations = pick([self.iterations + self.iterations % 2, 10, 14])
        self.m = self.iterations * self.at_once
        self.shared = pick([True, False]), pick([True, False])  # activations, weights
        self.sums_first = pick([True, False])  # before activations and weights

    def sparse(self, *shape: int) -> NDArray[Any]:
        found = self.rng.integers(-9, 10, shape)
        found[self.rng.random(shape) < self.rng.random()] = 0
        return found

    def loop(self) -> Loop:
        """Add the configs and packets of the whole list."""
        unit, blocks = self.unit, self.blocks
        x_owners, w_owners = (1 if shared else self.clusters for shared in self.shared)
        x = self.sparse(x_owners, self.m, self.k)
        weights = self.sparse(w_owners, self.pes, self.k)
        self._configure()
        words = "broadcast" if self.shared[0] else "by_cluster"
        queue = unit.weights(weights.reshape(-1, self.k), "by_pe" if self.shared[1] else "sliced")
        kind = SUMS[self.element].replace("float", "fp")
        out = self._out(kind)
        pieces = [unit.dense(x[:, row], words) for row in range(self.m)]
        start, segments = self._start_sums()
        if self.order == "first":
            padded = np.zeros((x_owners, self.m, blocks * 16), int)
            padded[..., : self.k] = x
            data: list[Segment] = [unit.dense(padded, words), queue]
            data = [*segments[:1], *data] if self.sums_first else [*data, *segments[:1]]
            unit.exe(PRODUCT, *data, *segments[1:], out=out, last=1)
        else:
            unit.exe(HOLD, pieces[0])
            turns = zip_longest(segments, pieces[1:])
            data = [queue] + [piece for turn in turns for piece in turn if piece is not None]
            unit.exe(PRODUCT, *data, out=out, last=1)
        x, weights = (
            np.broadcast_to(values, (self.clusters, *values.shape[1:])) for values in (x, weights)
        )
        loop = Loop(unit, x, weights, out, self.at_once, start)
        if self.join:
            self._add_join(loop, kind)
        return loop

    def _out(self, kind: str) -> dict[str, int]:
        size = np.dtype(SUMS[self.element]).itemsize
        count = 1 if self.once else self.m  # of a store
        return self.unit.out(
            self.clusters * self.pes * self.m * 8, kind, count=count, stride=self.m * size
        )

    def _start_sums(self) -> tuple[NDArray[Any], list[Segment]]:
        """The start values of the sums, (clusters, PEs, m), and the segments that bring them."""
        shape = self.clusters, self.pes, self.iterations, self.at_once
        if self.sums == "none":
            return np.zeros((*shape[:2], self.m), int), []
        if self.sums == "before":
            values = self.rng.integers(-999, 1000, (*shape[:2], self.at_once))
            self.unit.exe(SET, self.unit.psums(values))
            start = np.zeros(shape, int)
            start[:, :, 0] = values
            return start.reshape(*shape[:2], -1), []
        count = 1 if self.sums == "bias" else self.iterations
        values = self.rng.integers(-999, 1000, (*shape[:2], count, self.at_once))
        segments: list[Segment] = [self.unit.psums(values[:, :, number]) for number in range(count)]
        return np.broadcast_to(values, shape).reshape(*shape[:2], -1), segments

    def _add_join(self, loop: Loop, kind: str) -> None:
        """Add packets for cluster 0 that begin during the loop and wait for its results."""
        unit, size = self.unit, np.dtype(SUMS[self.element]).itemsize
        loop.added = self.rng.integers(-99, 100, self.pes)
        first = range(loop.out["offset"], loop.out["offset"] + self.pes * size)
        segments: list[Segment] = [unit.psums(loop.added), ("psums", "sliced", first)]
        if self.random.random() < 0.5:
            segments.reverse()
        loop.joined = unit.out(self.pes * 8, kind, count=1)
        unit.exe(JOIN, *segments, clusters=1)
        unit.exe(ROW, out=loop.joined, last=1, clusters=1)

    def _configure(self) -> None:
        unit, size = self.unit, self.blocks * 16
        if self.join:
            unit.config_packet(JOIN, "ld psums base=0", inner=2)
            unit.config_packet(ROW, "spu nonsf src=0 dst=0", "st base=0")
        rows = range(self.at_once)
        macs = [f"mac base={row * self.blocks} acc={row}{self.flag}" for row in rows]
        moves = [f"spu nonsf src={row} dst=0" for row in rows]
        psums = [f"ld psums base={BLOCKS - 1}"] if self.sums in ("bias", "each") else []
        if self.sums == "before":
            unit.config_packet(SET, "ld psums base=0")
        loads = ["ld activations base=0", "ld weights"]
        if self.order == "first":
            lines = [*psums, *loads] if self.sums_first else [*loads, *psums]
            inner, outer = self.iterations, 1
            steps = [(len(lines) + row, 0, size * self.at_once, 0) for row in rows]
            lines += [*macs, *moves]
        else:
            unit.config_packet(HOLD, "ld activations base=0")
            lines = ["ld weights", *psums, *macs, f"ld activations base={self.blocks}", *moves]
            inner, outer = self.iterations, 1
            change = size, 0
            if self.order == "two places":
                inner, outer, change = 2, self.iterations // 2, (size, -2 * size)
            at = 1 + len(psums)
            steps = [
                (at, 0, *change),
                (at + 1, 0, change[0] * (1 if outer == 1 else -1), -change[1]),
            ]
        first = len(lines) - self.at_once
        steps += [(first + row, 1, self.at_once, 0) for row in rows]
        header: dict[str, Any] = {
            "state": self.random.choice([FIFO, RQ]) if self.once else RQ,
            "pipeline": self.random.choice([2, 4]) if self.once else 4,
            "inner": inner,
            "outer": outer,
            "then": THEN + FINAL,
        }
        if self.once:  # each result is the first one of its block
            lines[first:] = [f"spu nonsf src={row} dst={row}" for row in rows]
            unit.config_packet(FINAL, *(f"st base={row}" for row in rows))
            steps = []
        elif self.at_once > 1:  # each accumulator has a block of the queue for itself
            lines[first:] = [
                f"spu nonsf src={row} dst={row * self.iterations // 4}" for row in rows
            ]
            steps[-self.at_once :] = [(first + row, 1, 1, 0) for row in rows]
        unit.config_packet(PRODUCT, *lines, steps=steps, **header)
        if not self.once:
            unit.config_packet(FINAL, "st base=0")


LOOP_ORDERS = st.sampled_from(["first", "turns", "two places", "once"])
LOOP_SUMS = st.sampled_from(["none", "bias", "each", "before"])


def long_loop(seed: int, balance: bool = False, sums: str = "none", **config: Any) -> Unit:
    """A loop of 14 iterations, which use two places of the input buffers in turn."""
    maker = LoopMaker(seed, "two places", balance, sums, **config)
    maker.iterations = maker.m = 14
    return maker.loop().unit
