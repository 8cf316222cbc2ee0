"""Random sparse layers on random rows: results against NumPy, cycles against a scalar model."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from tests.emu import pe_witness as witness
from tests.emu.pe_builder import NAMES, SUMS, Unit, record
from tests.emu.pe_random_layers import (
    BuiltLayer,
    Layer,
    build_layer,
    random_layers,
)

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def expected(layer: Layer, built: BuiltLayer) -> tuple[NDArray[Any], list[dict[str, int]]]:
    """Results (columns, PEs) and the counts of each PE, by the witness."""
    config = layer.config
    overflow = str(config["pe.overflow"])
    totals = np.zeros((layer.columns, layer.pes), layer.sums)
    counts: list[dict[str, int]] = [{} for _ in range(layer.pes)]
    clusters, pes = int(config["pe.clusters"]), int(config["pe.pes"])
    for weights, x in zip(built.weights, built.x, strict=True):
        for column in range(layer.columns):
            if layer.balance:
                balanced(layer, weights, x[column], totals[column], counts)
                continue
            lanes = []
            for pe in range(layer.pes):
                lane = witness.Lane(entries(layer, weights[pe]))
                if config["pe.design"] == "5a":
                    products = witness.mac_direct(lane, x[column])
                else:
                    products = witness.mac_queued(
                        lane, x[column], config["pe.load_queue_1"], config["pe.load_queue_2"]
                    )
                totals[column, pe] = witness.accumulate(
                    totals[column, pe], products, layer.sums, overflow
                )
                lanes.append(lane)
            for cluster in range(clusters):
                mine = lanes[cluster * pes : (cluster + 1) * pes]
                length = max(1, *(len(lane.took) for lane in mine))
                for place, lane in enumerate(mine):
                    count = counts[cluster * pes + place]
                    found = witness.classes(lane, length)
                    add_counts(count, lane, found | {"given": 0, "taken": 0, "handing": 0})
    return totals, counts


def entries(layer: Layer, row: NDArray[Any]) -> deque[tuple[int, Any]]:
    """The entries of a PE's weight queue: all weights if dense, else the nonzero weights."""
    indices = range(row.size) if layer.is_dense else np.flatnonzero(row).tolist()
    return deque((i, row[i]) for i in indices)


def add_counts(count: dict[str, int], lane: witness.Lane, found: dict[str, int]) -> None:
    """Add a lane's counts of one mac, and `found`, to `count`; keep the larger queue lengths."""
    found |= {"examined": lane.examined, "effectual": lane.effectual}
    for name, number in found.items():
        count[name] = count.get(name, 0) + number
    for name in ("q1_high", "q2_high"):
        count[name] = max(count.get(name, 0), getattr(lane, name))


def balanced(
    layer: Layer,
    weights: NDArray[Any],
    x: NDArray[Any],
    totals: NDArray[Any],
    counts: list[dict[str, int]],
) -> None:
    """Add the sums and counts of one mac with `balance`, by the witness, to `totals` and `counts`.

    `weights` has a row for each PE of all clusters; `x` has the activations, which all PEs share.
    """
    config, pes = layer.config, int(layer.config["pe.pes"])
    overflow, sums = str(config["pe.overflow"]), layer.sums
    places = config["pe.load_queue_1"], config["pe.load_queue_2"]
    for first in range(0, layer.pes, pes):
        lanes = [witness.Lane(entries(layer, row)) for row in weights[first : first + pes]]
        threshold = config["pe.balance_threshold"]
        products, found = witness.mac_balanced(lanes, [list(x)] * pes, places, threshold)
        length = max(1, len(lanes[0].took)) + any(found.given)
        for k, lane in enumerate(lanes):
            total = witness.accumulate(totals[first + k], products[k], sums, overflow)
            if found.given[k]:
                helped = witness.accumulate(0, found.helped[k], sums, overflow)
                total = witness.added(total, helped, sums, overflow)
            totals[first + k] = total
            extra = {"given": found.given[k], "taken": sum(found.given[k + 1 : k + 2])}
            mine = witness.classes(lane, length - found.handed[k])
            add_counts(counts[first + k], lane, mine | extra | {"handing": int(found.handed[k])})


@EXAMPLES
@given(random_layers())
def test_random_layers(layer: Layer) -> None:
    """Random layers have the witness's results and cycles (seed 000 ¶94, ¶124-130)."""
    with np.errstate(all="ignore"):
        built = build_layer(layer)
        totals, counts = expected(layer, built)
        machine = built.machine
        machine.run()
    size = np.dtype(totals.dtype).itemsize
    raw = machine.device.memory.peek(machine.half + built.out["offset"], 8 * totals.size)
    got = np.frombuffer(raw, np.uint8).reshape(-1, 8)[:, :size].copy().view(totals.dtype)
    assert got.reshape(totals.shape).tobytes() == totals.tobytes()

    machine.row.sync()
    state = machine.row.state
    for pe, count in enumerate(counts):
        at = divmod(pe, int(layer.config["pe.pes"]))
        found = {
            "mac": state.cycles_mac[at],
            "filling": state.cycles_filling[at],
            "no_load": state.cycles_no_load[at],
            "early": state.cycles_early[at],
            "examined": state.weights_examined[at],
            "effectual": state.effectual_loads[at],
            "q1_high": state.q1_high[at],
            "q2_high": state.q2_high[at],
            "given": state.loads_given[at],
            "taken": state.loads_taken[at],
            "handing": state.cycles_handing[at],
        }
        assert {name: int(value) for name, value in found.items()} == count
        assert state.macs[at] == count["effectual"] - count["given"] + count["taken"]
        every = [name for name in dir(state) if name.startswith("cycles_")]
        assert sum(int(getattr(state, name)[at]) for name in every) == state.cycles
    assert not state.weight_count.any()
    assert not state.accumulators.any()
    assert not state.helpers.any()
    assert not state.given.any()


@pytest.mark.parametrize("element", sorted(NAMES))
@pytest.mark.parametrize("design", ["5a", "5b"])
def test_dense_product_is_numpys(element: str, design: str) -> None:
    """Dense products of small whole numbers equal NumPy's in each type (seed 000 ¶134-137)."""
    rng = np.random.default_rng(1)
    unit = Unit({"pe.element": element, "pe.design": design, "pe.clusters": 3, "pe.pes": 5})
    unit.config_packet(0, "ld activations base=0", "ld weights", "mac base=0 acc=3", "st base=3")
    weights = rng.integers(-4, 5, (45, 37)) * (rng.random((45, 37)) < 0.4)
    x = rng.integers(-4, 5, 37) * (rng.random(37) < 0.6)
    kind = SUMS[element].replace("float", "fp")
    out = unit.out(45 * 8, kind)
    width = out["step"]
    for part in range(3):  # three rounds of 15 rows
        where = out | {"offset": out["offset"] + 15 * width * part}
        segment = unit.weights(weights[15 * part : 15 * part + 15])
        unit.exe(0, unit.dense(x), segment, out=where, last=1)
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 45).tolist() == (weights @ x).tolist()


@pytest.mark.parametrize("mode", ["broadcast", "sliced", "by_cluster", "by_pe"])
@pytest.mark.parametrize("clusters", [0b111, 0b101, 0b010])
def test_who_gets_which_slice(mode: str, clusters: int) -> None:
    """Each PE gets its slice of a segment, by mode and clusters (seed 000 ¶87-88)."""
    unit = Unit({"pe.clusters": 3, "pe.pes": 2})
    ranks = [cluster for cluster in range(3) if clusters >> cluster & 1]
    count = {"broadcast": 1, "sliced": 2 * len(ranks), "by_cluster": len(ranks), "by_pe": 2}[mode]
    # Activations 10, 20, 30, ... and partial sums 1, 2, 3, ... in the same slices; weights 1, 2, ...
    unit.config_packet(0, "ld psums base=1", "ld both base=0", "mac base=0 acc=0", "st base=0")
    number = np.arange(1, count + 1)
    out = unit.out(6 * 4, "int32")
    unit.exe(
        0,
        unit.psums(number, mode),
        unit.weights(number[:, None], mode),
        unit.dense(10 * number, mode),
        out=out,
        last=1,
        clusters=clusters,
    )
    machine = unit.machine()
    machine.run()
    wanted = [0] * 6
    for rank, cluster in enumerate(ranks):
        for pe in range(2):
            slice_number = {
                "broadcast": 0,
                "sliced": 2 * rank + pe,
                "by_cluster": rank,
                "by_pe": pe,
            }[mode]
            n = slice_number + 1
            wanted[2 * cluster + pe] = n * 10 * n + n
    assert machine.read(out, 6).tolist() == wanted


def test_fewer_records_than_slices_leave_the_rest_empty() -> None:
    unit = Unit()
    unit.config_packet(0, "ld both base=0", "mac base=0 acc=0", "st base=0")
    out = unit.out(8 * 4, "int32")
    data = b"".join(record([0], [n], "int8") for n in (1, 2, 3))
    unit.exe(0, ("weights", "sliced", data), unit.dense([5]), out=out, last=1)
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 8).tolist() == [5, 10, 15, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("overflow", "result"), [("wrap", -(2**31) + 3), ("saturate", 2**31 - 1)])
def test_overflow_by_configuration(overflow: str, result: int) -> None:
    unit = Unit({"pe.overflow": overflow})
    unit.config_packet(0, "ld psums base=0", "ld both base=0", "mac base=0 acc=0", "st base=0")
    out = unit.out(8 * 4, "int32")
    sums = unit.psums([2**31 - 1], "broadcast")
    weights = unit.weights(np.array([[4]]), "broadcast")
    unit.exe(0, sums, weights, unit.dense([1]), out=out, last=1)
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 8).tolist() == [result] * 8


def test_raw_sums_go_past_the_special_function_unit() -> None:
    """Raw sums are stored without the special function (seed 000 ¶115-117)."""
    unit = Unit()
    lines = (
        "ld both base=0",
        "mac base=0 acc=0",
        "spu nonsf src=0 dst=0",
        "spu activation src=0 dst=1",
        "st base=1",
    )
    unit.config_packet(0, *lines, activation=1)
    final, raw, streamed = (unit.out(32, "int32") for _ in range(3))
    data = unit.weights(np.arange(-4, 4)[:, None]), unit.dense([3])
    unit.exe(0, *data, out=final, last=1)
    unit.exe(0, *data, out=raw, shift=1)
    unit.exe(0, *data, out=streamed, last=1, shift=1)
    machine = unit.machine()
    machine.run()
    sums = [3 * n for n in range(-4, 4)]
    assert machine.read(raw, 8).tolist() == sums
    assert machine.read(final, 8).tolist() == [max(0, n) for n in sums]
    assert machine.read(streamed, 8).tolist() == [max(0, n) for n in sums]


@pytest.mark.parametrize("element", sorted(NAMES))
def test_requantise_rounds_half_to_even_and_saturates(element: str) -> None:
    unit = Unit({"pe.element": element, "pe.clusters": 4})
    lines = ("ld psums base=0", "spu nonsf src=0 dst=0", "spu requantise src=0 dst=0", "st base=0")
    unit.config_packet(0, *lines, shift=2)
    sums = np.array([0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -6, 400_000, -400_000, 131_066, -131_072])
    out = unit.out(16 * 8, element)
    unit.exe(0, unit.psums(sums), out=out, last=1)
    machine = unit.machine()
    machine.run()
    got = machine.read(out, 16)
    if element.startswith("fp"):
        greatest = float(np.finfo(NAMES[element]).max)
        with np.errstate(over="ignore"):
            rounded = (sums / 4).astype(NAMES[element])
        assert got.tolist() == np.clip(rounded, -greatest, greatest).tolist()
    else:
        ends = np.iinfo(NAMES[element])
        assert got.tolist() == [min(max(round(n / 4), ends.min), ends.max) for n in sums.tolist()]


def test_pes_that_do_not_write() -> None:
    unit = Unit()
    unit.config_packet(0, "ld both base=0", "mac base=0 acc=0", "st base=0")
    out = unit.out(8 * 8, "int64", pes=5, stride=16, step=8)
    out["offset"] = unit.put(bytes([0xAA]) * 128, 8)
    unit.exe(0, unit.weights(np.arange(8)[:, None]), unit.dense([-1]), out=out, last=1)
    machine = unit.machine()
    machine.run()
    untouched = int.from_bytes(b"\xaa" * 8, "little", signed=True)
    assert machine.read(out, 16).tolist()[::2] == [0, -1, -2, -3, -4, *[untouched] * 3]
    assert machine.read(out, 16).tolist()[1::2] == [untouched] * 8
