"""Clusters that go on as a gang in the fast engine: state, cycles and counters are the reference's.

Loops over weights that stay, as `lower` writes them and otherwise; looks of all kinds at any moment.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from macaw.emu.faults import Stop
from macaw.emu.pe.fast.row import FastRow
from macaw.isa.pe import THEN
from tests.emu.pe_builder import SUMS, Machine, Unit
from tests.emu.test_pe_engines import contents, differences, machines, said

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RQ = 1
BLOCKS = 16
PRODUCT, FINAL, HOLD = 4, 3, 0
SEEDS = st.integers(0, 2**32 - 1)


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


class Maker:
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
        header = {"state": RQ, "pipeline": 4, "inner": inner, "outer": outer, "then": THEN + FINAL}
        if self.at_once > 1:  # each accumulator has a block of the queue for itself
            lines[first:] = [f"spu nonsf src={row} dst={row}" for row in rows]
            steps[-self.at_once :] = [(first + row, 1, 1, 0) for row in rows]
        unit.config_packet(PRODUCT, *lines, steps=steps, **header)
        unit.config_packet(FINAL, "st base=0")


def interrupted(unit: Unit, looks: list[tuple[str, int]]) -> tuple[Machine, Machine]:
    """Run both engines with looks of these kinds after so many cycles each; they must agree."""
    fast, reference = pair = machines(unit)
    heard: tuple[list[Any], list[Any]] = ([], [])
    for kind, cycles in looks:
        stops = [machine.device.run(max_cycles=cycles) for machine in pair]
        assert said(stops[0]) == said(stops[1])
        if stops[0].reason != "cycle limit":
            break
        if kind == "state":
            assert not differences(fast.device, reference.device)
        elif kind == "counters":
            assert fast.device.counters() == reference.device.counters()
        elif kind == "place":
            assert fast.row.next_address == reference.row.next_address
        elif kind == "step":
            stops = [machine.device.step_core("pe[0]") for machine in pair]
            assert stops[0] == stops[1]
        else:
            for machine, events in zip(pair, heard, strict=True):
                note = lambda event, to=events: to.append((event.kind, event.time, event.values))  # noqa: E731
                machine.device.listen(note)
                machine.device.run(max_cycles=cycles)
                machine.device.unlisten(note)
    stops = [machine.device.run(max_cycles=100_000) for machine in pair]
    agree_at_end(pair, stops)
    assert heard[0] == heard[1]
    return pair


def agree_at_end(pair: tuple[Machine, Machine], stops: list[Stop]) -> None:
    fast, reference = (machine.device for machine in pair)
    assert said(stops[0]) == said(stops[1])
    assert contents(fast) == contents(reference)
    assert fast.counters() == reference.counters()


@pytest.mark.parametrize("stride", [0, 16, -16])
def test_pes_that_have_loaded_other_places_are_no_gang(stride: int) -> None:
    """An ld with a stride leaves each PE activations elsewhere; a loop without strides comes later."""
    config = {"pe.clusters": 2, "pe.pes": 3, "pe.input_buffer": 256, "pe.output_queue": 64}
    unit = Unit(config, data_at=0x800)
    unit.config_packet(HOLD, "ld activations base=4", strides=[(0, 0, stride, 0)])
    lines = "ld weights", "mac base=4 acc=0", "spu nonsf src=0 dst=0"
    unit.config_packet(PRODUCT, *lines, steps=[(2, 1, 1, 0)], state=RQ, pipeline=4, inner=4)
    unit.exe(HOLD, unit.dense(np.arange(1, 17)))
    unit.exe(PRODUCT, unit.weights(np.arange(1, 49).reshape(3, 16), "by_pe"), last=1)
    stop = interrupted(unit, [])[0].device.stopped
    assert stop is not None
    assert stop.reason == ("fault" if stride else "exit")  # PE 0 alone has something at the base


LOOKS = st.lists(
    st.tuples(
        st.sampled_from(["state", "state", "counters", "place", "step", "listen"]),
        st.integers(1, 150),
    ),
    max_size=6,
)
ORDERS = st.sampled_from(["first", "turns", "two places"])


@EXAMPLES
@given(SEEDS, ORDERS, st.booleans(), LOOKS)
def test_looks_at_any_moment(
    seed: int, order: str, balance: bool, looks: list[tuple[str, int]]
) -> None:
    interrupted(Maker(seed, order, balance).loop().unit, looks)


@EXAMPLES
@given(SEEDS, ORDERS, st.booleans())
def test_nobody_looks(seed: int, order: str, balance: bool) -> None:
    """The clusters are a gang from the first mac to the last, and the results are NumPy's."""
    loop = Maker(seed, order, balance).loop()
    pair = machines(loop.unit)
    agree_at_end(pair, [machine.device.run() for machine in pair])
    row = pair[0].row
    assert isinstance(row, FastRow)
    assert (row.controls.groups, row.controls.splits) == (1, 0)
    results = pair[0].read(loop.out, loop.expected().size)
    np.testing.assert_array_equal(results, loop.expected().reshape(-1))


@pytest.mark.parametrize(
    ("order", "balance"), [("first", False), ("turns", False), ("first", True), ("turns", True)]
)
def test_every_cycle(order: str, balance: bool) -> None:
    """A look in each cycle, from the first one of the gang on, each in a run of its own."""
    unit = Maker(7, order, balance).loop().unit
    last = machines(unit)[1].device.run().cycle
    seen = 0
    for cycle in range(0, last, 3):
        fast, reference = machines(unit)
        for machine in (fast, reference):
            machine.device.run(until=cycle)
        assert isinstance(fast.row, FastRow)
        seen += fast.row.controls.groups
        assert not differences(fast.device, reference.device)
    assert seen > 5


@example(1897, "first", False)  # steps lead below the input buffer in an iteration to come
@EXAMPLES
@given(SEEDS, ORDERS, st.booleans())
def test_a_fault_in_the_middle(seed: int, order: str, balance: bool) -> None:
    """An index past what is loaded, or a sum past its range: the same fault in the same cycle."""
    made = Maker(seed, order, balance, **{"pe.overflow": "fault", "pe.element": "int8"})
    unit = made.unit
    loop = made.loop()
    area = unit.data
    for _ in range(made.random.randrange(1, 4)):
        area[made.random.randrange(len(area))] = made.random.choice([0, 1, 0xFF, 0x7F])
    interrupted(loop.unit, [("state", made.random.randrange(1, 200))])


def test_floating_sums_do_not_go_in_gangs() -> None:
    """Their order counts."""
    unit = Maker(1, "first", **{"pe.element": "fp16"}).loop().unit
    pair = machines(unit)
    agree_at_end(pair, [machine.device.run() for machine in pair])
    assert isinstance(pair[0].row, FastRow)
    assert pair[0].row.controls.groups == 0


def test_sums_that_may_leave_their_range_do_not_go_in_gangs() -> None:
    """They start close to the end of it; the fault is the reference's."""
    unit = Unit({"pe.overflow": "fault"})
    unit.config_packet(
        PRODUCT,
        "ld psums base=2",
        "ld activations base=0",
        "ld weights",
        "mac base=0 acc=0",
        state=RQ,
        inner=9,
        pipeline=4,
    )
    sums = np.full(8, 2**31 - 400)
    x, weights = np.full(9, 7), np.full((8, 9), 1)
    unit.exe(PRODUCT, unit.psums(sums), unit.dense(x), unit.weights(weights))
    pair = machines(unit)
    stops = [machine.device.run() for machine in pair]
    agree_at_end(pair, stops)
    assert stops[0].fault is not None
    assert stops[0].fault.kind == "accumulator overflow"
