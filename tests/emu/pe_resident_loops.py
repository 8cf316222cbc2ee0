"""Random products of rows of activations with weights that stay, as packet lists with a loop."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from macaw.isa.pe import THEN
from tests.emu.pe_builder import SUMS, Unit

RQ = 1
BLOCKS = 16
PRODUCT, FINAL, HOLD = 4, 3, 0


@dataclass
class Loop:
    """A product of m rows of activations with weights that stay, as a packet list."""

    unit: Unit
    x: NDArray[Any]  # (clusters, m, k): what each cluster multiplies
    weights: NDArray[Any]  # (clusters, PEs, k)
    out: dict[str, int]
    at_once: int  # rows of an iteration

    def expected(self) -> NDArray[Any]:
        """The results as they lie in memory: (clusters, PEs, rows of an iteration, iterations)."""
        found = np.einsum("cmk,cpk->cpm", self.x, self.weights)
        return found.reshape(*found.shape[:2], -1, self.at_once).swapaxes(2, 3)


class LoopMaker:
    """Makes a random loop; `order` says when activations come: first, in turns, in two places."""

    def __init__(self, seed: int, order: str, balance: bool = False, **config: Any) -> None:
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
        self.order = order
        self.blocks = pick([1, 2]) if order != "two places" else pick([1, 2, 4])
        self.k = pick([self.blocks * 16, self.blocks * 16 - 3])
        self.at_once = pick([1, 1, 2, 4]) if order == "first" else 1  # rows of an iteration
        most = BLOCKS // self.blocks if order == "first" else 8
        if 4 * self.at_once > most:
            self.at_once = 1
        self.iterations = pick([2, 3, 4, 6]) if self.at_once == 1 else 4  # a block of results
        if order == "two places":
            self.iterations += self.iterations % 2
        self.m = self.iterations * self.at_once
        self.shared = pick([True, False]), pick([True, False])  # activations, weights

    def sparse(self, *shape: int) -> NDArray[Any]:
        found = self.rng.integers(-9, 10, shape)
        found[self.rng.random(shape) < self.rng.random()] = 0
        return found

    def loop(self) -> Loop:
        """Configurations and packets of the whole list."""
        unit, blocks = self.unit, self.blocks
        x_owners, w_owners = (1 if shared else self.clusters for shared in self.shared)
        x = self.sparse(x_owners, self.m, self.k)
        weights = self.sparse(w_owners, self.pes, self.k)
        self._configure()
        words = "broadcast" if self.shared[0] else "by_cluster"
        queue = unit.weights(weights.reshape(-1, self.k), "by_pe" if self.shared[1] else "sliced")
        kind = SUMS[self.element].replace("float", "fp")
        out = unit.out(self.clusters * self.pes * self.m * 8, kind, count=self.m)
        pieces = [unit.dense(x[:, row], words) for row in range(self.m)]
        if self.order == "first":
            padded = np.zeros((x_owners, self.m, blocks * 16), int)
            padded[..., : self.k] = x
            unit.exe(PRODUCT, unit.dense(padded, words), queue, out=out, last=1)
        else:
            unit.exe(HOLD, pieces[0])
            unit.exe(PRODUCT, queue, *pieces[1:], out=out, last=1)
        x, weights = (
            np.broadcast_to(values, (self.clusters, *values.shape[1:])) for values in (x, weights)
        )
        return Loop(unit, x, weights, out, self.at_once)

    def _configure(self) -> None:
        unit, size = self.unit, self.blocks * 16
        rows = range(self.at_once)
        macs = [f"mac base={row * self.blocks} acc={row}{self.flag}" for row in rows]
        moves = [f"spu nonsf src={row} dst=0" for row in rows]
        steps = []
        if self.order == "first":
            lines = ["ld activations base=0", "ld weights", *macs, *moves]
            inner, outer = self.iterations, 1
            steps += [(2 + row, 0, size * self.at_once, 0) for row in rows]
        else:
            unit.config_packet(HOLD, "ld activations base=0")
            lines = ["ld weights", *macs, f"ld activations base={self.blocks}", *moves]
            inner, outer = self.iterations, 1
            change = size, 0
            if self.order == "two places":
                inner, outer, change = 2, self.iterations // 2, (size, -2 * size)
            steps += [(1, 0, *change), (2, 0, change[0] * (1 if outer == 1 else -1), -change[1])]
        first = len(lines) - self.at_once
        steps += [(first + row, 1, self.at_once, 0) for row in rows]
        lines[first:] = [f"spu nonsf src={row} dst=0" for row in rows]
        header: dict[str, Any] = {
            "state": RQ,
            "pipeline": 4,
            "inner": inner,
            "outer": outer,
            "then": THEN + FINAL,
        }
        if self.at_once > 1:  # each accumulator has a block of the queue for itself
            lines[first:] = [f"spu nonsf src={row} dst={row}" for row in rows]
            steps[-self.at_once :] = [(first + row, 1, 1, 0) for row in rows]
        unit.config_packet(PRODUCT, *lines, steps=steps, **header)
        unit.config_packet(FINAL, "st base=0")


LOOP_ORDERS = st.sampled_from(["first", "turns", "two places"])
