"""Predicts the cost of a plan: its exact bytes, and its cycles by a model.

Rows, dma and cp work in parallel, so an iteration takes as long as the slowest of them (seed 000
¶146). The model uses the timing rules of docs/timing-pe.md and docs/memory.md without contention.
`macaw lower --measure` prints the emulator's numbers beside the predicted ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ACCUMULATORS
from macaw.lowering.finishing import factor_bytes
from macaw.lowering.image_plan import ImagePlan
from macaw.lowering.mapping import WEIGHT
from macaw.lowering.operation import Types
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_cycles import IterationCycles
from macaw.lowering.reduction_cost import cluster_reduction_cycles, row_reduction_cycles
from macaw.lowering.row_program import (
    BEGIN,
    FINAL,
    HOLD,
    RAW,
    Exe,
    factor_loads,
    has_entry_part,
    list_names,
    lists,
    loads_factors,
    program_bytes,
)
from macaw.lowering.slab_padding import PaddedSlabs, padded_slabs
from macaw.lowering.sliding_window import SlidingWindowPlan
from macaw.lowering.transfer_shapes import (
    TransferShape,
    bytes_of_transfers,
    cycles_of_transfers,
    grouped,
    start_cycles,
)
from macaw.lowering.transfers import (
    activation_grid,
    activations_of,
    first_copies,
    result_grid,
    results_of,
    weight_transfers,
)
from macaw.lowering.weight_stationary import BufferedPlan, WeightStationaryPlan
from macaw.lowering.widths import bus_width, onchip_cycles, unit_width

IMAGE_TURN = 5  # for one output position: fill, move out, write back, fetch
QUEUE_SUMS = 3  # for one output position: loading the start of its sum from the output queue
STATIONARY_TURN = 3  # for one row of activations: move out, write back, fetch
HANDING = 2  # end of a balanced mac, when the owners of given loads get their sums
USUAL_DISPATCH = 4  # from a dispatch to the first packet; part of other constants here
CONFIG_CYCLES = 3  # cycles of the bus for one sequence and its packet


@dataclass(frozen=True)
class Traffic:
    """The numbers of bytes that the dma moves in a run of a program, by purpose."""

    program: int  # packets and sequences, copied into both halves
    copies: int  # copies of x into a frame of zeros, or of its necessary pixels; zeros of paddings
    activations: int
    weights: int
    sums_in: int  # biases and partial sums
    sums_out: int  # partial sums
    results: int
    between: int  # copies from one on-chip unit, or half of a unit, to another

    @property
    def external(self) -> int:
        """The number of bytes that are read from external memory or written to it."""
        return self.total - self.between

    @property
    def total(self) -> int:
        """The number of bytes that the dma moves."""
        return (
            self.program
            + self.copies
            + self.activations
            + self.weights
            + self.sums_in
            + self.sums_out
            + self.results
            + self.between
        )


@dataclass(frozen=True)
class Cost:
    """Predicted bytes and cycles of a program, and the cycles in which rows, dma and cp work."""

    traffic: Traffic  # the bytes
    cycles: int  # device cycles of the whole program
    rows: int  # cycles in which the rows work
    dma: int  # cycles in which the dma works
    cp: int  # cycles in which cp executes code

    @property
    def bottleneck(self) -> str:
        """The name of the part that takes the most cycles: the rows, the dma or cp."""
        greatest = max(self.rows, self.dma, self.cp)
        names = {self.rows: "the rows' work", self.dma: "the dma", self.cp: "cp's code"}
        return names[greatest]


def row_clock(config: Configuration) -> int:
    """Return the number of device cycles in a cycle of the rows."""
    return int(config["pe.divider"])


def dispatch_delay(config: Configuration) -> int:
    """Return by how many device cycles a dispatch is slower than a usual one.

    The result is negative if it is faster.
    """
    latency = max(config["dist.dispatch_latency"], config["mem.onchip_latency"])
    return int(latency) - USUAL_DISPATCH


def cost(plan: ProductPlan, density: float = 1.0) -> Cost:
    """Return the predicted cost of a plan.

    `density` is the share of activations that are not zero, padding not counted.
    """
    moves, program = _IterationTransfers.of(plan), program_bytes(plan)
    control = IterationCycles.of(plan.config)
    if moves.slabs is not None:
        density *= moves.slabs.inside
    products, clock = _products(plan, density), row_clock(plan.config)
    delay = dispatch_delay(plan.config)
    turn = rows = joins = dma = cp = loading = 0.0  # the numbers below are averages over iterations
    for share, entering, first, last in _iteration_kinds(plan):
        row, join = _row_cycles(plan, products, entering, last), _reduction_cycles(plan, last)
        if last and factor_bytes(plan):  # with the config packet for the factors
            row += CONFIG_CYCLES + factor_bytes(plan) / bus_width(plan.config)
        row = row * clock + delay
        loads = list(_step_loads(plan, moves, entering, first, last))
        move, code = _overlapped_work(plan, moves, control, loads, last)
        loading += share * cycles_of_transfers(plan.config, loads)
        rows, joins = rows + share * row, joins + share * join
        dma, cp = dma + share * move, cp + share * code
        turn += share * (max(row, move + control.store, code) + join + control.turn)
    steps = plan.steps
    loads = list(_step_loads(plan, moves, True, True, plan.count("K") == 1))
    # reads and writes are both of external memory, so they take turns on its channel
    pad = 2 * cycles_of_transfers(plan.config, grouped(1, first_copies(plan)))
    fill = cycles_of_transfers(plan.config, [TransferShape(1, 1, program)])
    code = control.load + _load_code(plan, moves, control)
    begun = start_cycles(plan.config, control, loads, 2 * fill + pad, code)
    ended = start_cycles(plan.config, control, moves.results, stores=True)
    # The setup dispatches once, too, and waits for this delay.
    around = control.begin + delay + begun + ended
    # The first iteration overlaps only loads, the last one only stores.
    begin = max(rows, loading + control.store, cp) + joins + control.turn if steps > 1 else 0.0
    end = max(rows, control.store + dma - loading if steps > 1 else 0.0) + joins
    whole = max(0, steps - 2) * turn + begin + end + around
    return Cost(
        _traffic(plan, moves, program),
        cycles=round(whole),
        rows=round(steps * (rows + joins)),
        dma=round(steps * dma),
        cp=round(steps * cp),
    )


# Bytes


def traffic(plan: ProductPlan) -> Traffic:
    """Return the exact number of bytes that a plan's program moves."""
    return _traffic(plan, _IterationTransfers.of(plan), program_bytes(plan))


def _traffic(plan: ProductPlan, moves: _IterationTransfers, program: int) -> Traffic:
    """Return the bytes that a program moves; `program` is the size of its lists and sequences."""
    m, n, k = (plan.count(dim) for dim in "MNK")
    rows = plan.partition.rows
    weights = int(plan.weight_bytes.sum()) * (min(m, 2) if plan.mapping is WEIGHT else m)
    sums = rows * plan.partial_bytes
    begins = m * n * plan.start_rows * plan.start_bytes if plan.has_start_sums else 0
    begins += factor_loads(plan) * plan.partition.rows * factor_bytes(plan)
    sums_returned = m * n * (k - 1) * sums if plan.returns_sums else 0
    results = bytes_of_transfers(moves.results) * m * n
    away = 0 if plan.keeps_sums_on_chip else sums_returned
    between = (sums_returned if plan.keeps_sums_on_chip else 0) + (
        m * n * sums if plan.reduces_rows else 0
    )
    pad = bytes_of_transfers(grouped(1, first_copies(plan)))
    copies = pad + moves.zero_bytes
    return Traffic(
        2 * program, copies, moves.activation_bytes, weights, begins + away, away, results, between
    )


# Cycles of the dma


@dataclass(frozen=True)
class _IterationTransfers:
    """The dma's transfers: shapes in one iteration, and bytes of activations and zeros in all."""

    activations: list[TransferShape]
    results: list[TransferShape]
    activation_bytes: int  # bytes of activations in all iterations
    zero_bytes: int  # bytes of zeros that pad slabs, in all iterations
    slabs: PaddedSlabs | None  # None if the units add no padding

    @classmethod
    def of(cls, plan: ProductPlan) -> _IterationTransfers:
        results = grouped(len(result_grid(plan)), results_of(plan, 0, 0))
        slabs = padded_slabs(plan)
        if slabs is not None:
            zeros = TransferShape(
                slabs.zeroed_share, slabs.unit_slabs * slabs.plan.slab_rows, slabs.line
            )
            shapes = [zeros, TransferShape(*slabs.mean_transfers())]
            return cls(shapes, results, slabs.activation_bytes, slabs.zero_bytes, slabs)
        shapes = grouped(len(activation_grid(plan)), activations_of(plan, 0, 0))
        loads = plan.count("M") * plan.count("K")
        loads *= 1 if plan.holds_activations else plan.count("N")
        return cls(shapes, results, bytes_of_transfers(shapes) * loads, 0, None)


def _step_loads(
    plan: ProductPlan, moves: _IterationTransfers, entering: bool, first: bool, last: bool
) -> Iterator[TransferShape]:
    """Yield the shapes of the transfers that load the data of one iteration.

    `first` says whether the iteration starts new sums, `last` whether it ends sums, `entering`
    whether it loads new activations. `moves` has the shapes of the transfers of activations.
    """
    if plan.has_start_sums and (first or (plan.returns_sums and not plan.keeps_sums_on_chip)):
        yield TransferShape(1, plan.start_rows, plan.start_bytes)
    if loads_factors(plan, last):
        yield TransferShape(1, plan.partition.rows, factor_bytes(plan))
    if entering or not plan.holds_activations:
        yield from moves.activations
    loads = weight_transfers(plan)
    mean = plan.mean_weight_bytes
    keeps_weights = plan.mapping is WEIGHT and plan.count("M") > 2
    share = 2 / plan.count("M") if keeps_weights else 1.0
    yield TransferShape(loads, 1, mean * share)


def _overlapped_work(
    plan: ProductPlan,
    moves: _IterationTransfers,
    control: IterationCycles,
    loads: list[TransferShape],
    last: bool,
) -> tuple[float, float]:
    """Return the cycles of the dma and of cp that overlap with the rows' work in an iteration.

    `loads` has the transfers of `_step_loads`; the iteration ends sums if `last`.
    """
    stores = moves.results if last else []
    if not last and plan.returns_sums and not plan.keeps_sums_on_chip:
        stores = [TransferShape(1, plan.partition.rows, plan.partial_bytes)]
    transfers = sum(shape.times for shape in loads + stores)
    code = control.step + control.transfer * transfers + _load_code(plan, moves, control)
    storing = cycles_of_transfers(plan.config, stores, stores=True)
    return cycles_of_transfers(plan.config, loads) + storing, code


def _load_code(plan: ProductPlan, moves: _IterationTransfers, control: IterationCycles) -> float:
    """Return the cycles of cp's loops over packets and padded slabs in the load of an iteration."""
    slabs = 0 if moves.slabs is None else len(activation_grid(plan))
    return control.patch * plan.partition.rows * plan.products + control.slab * slabs


def _reduction_cycles(plan: ProductPlan, last: bool) -> float:
    """Return the cycles in which sums are moved on chip and added between two iterations.

    `last` says whether the earlier iteration has the last tile of k.
    """
    rows, time, clock = plan.partition.rows, 0.0, row_clock(plan.config)
    setup = int(plan.config["dma.setup"]) * int(plan.config["dma.divider"])
    copy = setup + onchip_cycles(plan.config, rows * plan.partial_bytes)
    if plan.keeps_sums_on_chip and not last:
        time += copy + 12
    if plan.reduces_rows and last:
        bus = plan.partial_bytes / bus_width(plan.config)
        time += dispatch_delay(plan.config)
        if isinstance(plan, ImagePlan | WeightStationaryPlan):
            return time + copy + 40 + clock * row_reduction_cycles(plan)
        time += copy + 40 + clock * (rows * bus + 12 * plan.positions)
    return time


# Cycles of the rows


def _iteration_kinds(plan: ProductPlan) -> Iterator[tuple[float, bool, bool, bool]]:
    """Yield the kinds of iterations, each as (share, entering, first, last).

    `share` is the kind's share of all iterations. `entering` says whether the packet lists execute
    their first part, which for example loads activations, and which some iterations skip
    (`row_program.has_entry_part`). `first` says whether the iteration has the first tile of inputs
    (k) and so starts new sums; `last` whether it has the last one and so completes the sums. Other
    functions use these names.
    """
    k = plan.count("K")
    ends = [(1.0, True, True)] if k == 1 else [(1 / k, True, False), (1 / k, False, True)]
    if k > 2:
        ends.append(((k - 2) / k, False, False))
    for share, first, last in ends:
        if plan.holds_activations and plan.count("N") > 1:
            n = plan.count("N")
            yield share / n, True, first, last
            yield share * (n - 1) / n, False, first, last
        else:
            yield share, plan.holds_activations or first, first, last


def _products(plan: ProductPlan, density: float) -> float:
    """Return the number of products of the PE with the most, averaged over tiles.

    `density` is the share of activations that are not zero. The result is for one output position.
    """
    most = float(plan.weight_counts.max(axis=(2, 3)).mean())
    entries = _balanced_entries(plan) if plan.balance else most
    if plan.config["pe.design"] == "5b":
        return max(entries * density, most / 2)  # a PE examines two weights in a cycle
    return entries


def _balanced_entries(plan: ProductPlan) -> float:
    """Return the number of weights of the PE with the most after balancing, averaged over tiles.

    A plan with `balance` moves work from PE to PE. No activation is zero.
    """
    counts = plan.weight_counts
    clusters = counts.reshape(*counts.shape[:3], -1, plan.pes)
    # PE 0 never gives loads, so PEs 0 to j do at least the products of their own weights. A load is
    # given at most once, so a PE and its left neighbour do the products of the PE's weights.
    means = np.cumsum(clusters, axis=-1) / np.arange(1, plan.pes + 1)
    least = np.maximum(means.max(axis=-1), clusters.max(axis=-1) / 2)
    return float((least + HANDING * (least < clusters.max(axis=-1))).max(axis=(2, 3)).mean())


def _row_cycles(plan: ProductPlan, loads: float, entering: bool, last: bool) -> float:
    """Return the cycles that a row of the array takes for the packet list of one iteration.

    They follow from the times at which each exe packet uses the bus and the accumulators. `loads`
    is the number of products of a PE for one output position (`_products`). The iteration loads new
    activations if `entering`, completes sums if `last`.
    """
    config = plan.config
    width = bus_width(config)
    if isinstance(plan, ImagePlan):
        return _image_cycles(plan, loads, entering, last)
    if isinstance(plan, WeightStationaryPlan):
        return _stationary_cycles(plan, loads, entering, last)
    more, name = list_names(plan)
    list_name = name if last else more
    (packets,) = (item for item in lists(plan) if item.name == list_name)
    exes: Sequence[Exe] = packets.exes
    if has_entry_part(plan) and not entering:
        exes = exes[1:]
    bus = sums = units = float(USUAL_DISPATCH)
    for exe in exes:
        bus += _payload(plan, exe) / width + 0.5
        if exe.buffer == HOLD:
            sums = max(sums, bus + 1)
        elif exe.buffer == BEGIN:
            if "chain" in exe.data[0]:  # the earlier stores must have ended
                bus = max(bus, units + 1)
            bus = max(bus, sums)  # its segment waits for the accumulators, and so does the bus
            sums = bus + 2
        elif exe.buffer in (RAW, FINAL):
            moves_end = max(sums, bus + 3) + plan.tile.members
            sums, units = moves_end, _store_end(plan, exe, moves_end, units)
        else:
            sums = max(sums, bus + 2) + plan.tile.members * (loads + 3)
    return float(max(sums, units)) + 3


def _image_cycles(plan: ImagePlan, loads: float, entering: bool, last: bool) -> float:
    """Return the cycles of a convolution's packet list: loading, the loop over outputs, storing.

    A PE adds `loads` products for one output. If slabs stay in the PEs for several tiles, only a
    list with `entering` loads a slab. With `last`, the list completes the sums.
    """
    config, outputs = plan.config, plan.tile.outputs
    clusters = 1 if plan.shares_activations else plan.partition.clusters
    raw = not last or plan.reduces_rows
    finish = not raw and not plan.reduces_clusters
    size = Types.size(plan.types.result if finish else plan.types.sum)
    slab = clusters * plan.slab * Types.size(plan.types.activation)
    # the whole window is examined, two elements in each cycle
    if isinstance(plan, SlidingWindowPlan):
        slab = plan.tile.groups * plan.slots * plan.strip * Types.size(plan.types.activation)
        loads = max(loads, plan.window / (2 if config["pe.design"] == "5b" else 1))
    width = bus_width(config)
    loading = plan.mean_weight_bytes / width + 8
    if entering or not plan.holds_activations:
        loading += slab / width
    each = loads + IMAGE_TURN
    if plan.adds_start_sums and plan.start_positions > 1:
        each = max(each, plan.bias_bytes / width) + 3
    elif plan.adds_start_sums:
        each += QUEUE_SUMS
    kinds = len(plan.functions)
    special = kinds * finish * ceil(outputs * plan.pes / config["sfu.rate"])
    beats = plan.slots * outputs * size / width
    joining = cluster_reduction_cycles(plan, raw) if plan.reduces_clusters else 0.0
    return float(loading + outputs * each + special + beats + 14 + joining)


def _stationary_cycles(
    plan: WeightStationaryPlan, loads: float, entering: bool, last: bool
) -> float:
    """Return the cycles of a packet list that loads weights once and multiplies row by row by them.

    A PE adds `loads` products for one row of activations. If activations stay in the PEs for
    several tiles, only a list with `entering` loads them. With `last`, the list ends the sums.
    """
    config, rows = plan.config, plan.tile.m
    width, raw = bus_width(config), not last or plan.reduces_rows
    clusters = 1 if plan.shares_activations else plan.partition.clusters
    row = clusters * plan.tile.k * Types.size(plan.types.activation) / width
    several = plan.adds_start_sums and plan.start_positions > 1
    begins = plan.slots * plan.sum_size / width if several else 0.0
    whole = isinstance(plan, BufferedPlan)
    each = max(loads + 2, begins + (0 if whole else row)) + STATIONARY_TURN
    each += QUEUE_SUMS if plan.adds_start_sums and not several else 0
    loaded = (rows if whole else 1) * (entering or not plan.holds_activations)
    first = row * loaded + plan.mean_weight_bytes / width + 8
    joins = plan.reduces_clusters
    size = Types.size(plan.types.sum if raw or joins else plan.types.result)
    finishes = len(plan.functions) * (not raw and not joins)
    special = finishes * (ceil(rows * plan.pes / config["sfu.rate"]) + config["sfu.latency"])
    work = first + rows * each + special + plan.slots * rows * size / width + 6
    return float(work + (cluster_reduction_cycles(plan, raw) if joins else 0))


def _payload(plan: ProductPlan, exe: Exe) -> float:
    """Return the number of bytes that an exe packet sends over the bus to the PEs."""
    tile, operand = plan.tile, Types.size(plan.types.activation)
    total = 1.0
    for item in exe.data:
        if "w_tile" in item:
            total += plan.mean_weight_bytes
        elif "x_tile" in item:
            clusters = 1 if plan.shares_activations else plan.partition.clusters
            total += clusters * tile.k * operand
        elif "chain" in item:
            total += plan.pes * ACCUMULATORS * plan.sum_size
        else:
            total += plan.summing_clusters * plan.pes * ACCUMULATORS * plan.sum_size
    return total


def _store_end(plan: ProductPlan, exe: Exe, moves_end: float, units: float) -> float:
    """Return the cycle in which the PEs have stored the sums or results of an exe packet.

    `moves_end` is the cycle in which the sums have left the accumulators; `units` is the cycle in
    which the earlier packets' stores end.
    """
    config, members = plan.config, plan.tile.members
    special = 0.0
    if exe.buffer == FINAL:
        kinds = len(plan.functions)
        one = ceil(plan.pes / config["sfu.rate"]) + config["sfu.latency"] - 2
        special = kinds * members * (one + 1)
    dtype = plan.types.sum if exe.buffer == RAW else plan.types.result
    clusters = 1 if "chain" in exe.out else plan.summing_clusters
    size = Types.size(dtype)
    # the bytes over which one store spreads the results of a cluster's PEs
    reach = plan.pes * size * (ACCUMULATORS if exe.buffer == RAW else 1)
    spread = max(1.0, reach / (config["pe.divider"] * unit_width(config)))
    beats = max(ceil(plan.pes * size / config["dist.bus_bytes"]), spread) + 1
    return float(max(moves_end + special, units) + clusters * members * beats)
