"""Writes the program of the rows: arrays in the on-chip unit, sequences and packet lists.

All rows execute the same program, which cp copies to every on-chip unit. The packet list of an
iteration consists of exes. An exe is a packet that starts an instruction sequence in the PEs. Each
exe does one thing to the four accumulators of a PE: `begin` loads a bias or partial sums, `product`
adds weights times activations, `raw` stores sums, and `final` turns them into results. Sums stay in
the accumulators from one exe to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch
from math import prod

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import (
    ACCUMULATORS,
    DATA_ALIGN,
    INSTRUCTION_BYTES,
    OUT,
    PACKET,
    PACKET_ALIGN,
    SEGMENT,
    SEQUENCE,
    SEQUENCE_ALIGN,
    STEP,
    TYPES,
)
from macaw.lowering.finishing import (
    SCALE,
    TABLE,
    config_size,
    factor_bytes,
    factor_slots,
    finish,
    type_words,
)
from macaw.lowering.listing import Listing
from macaw.lowering.operation import ENTRIES, Types
from macaw.lowering.plan import ProductPlan

# Numbers of instruction buffers; the products of group g have PRODUCT + g.
HOLD, BEGIN, RAW, FINAL, PRODUCT = range(5)
_LOADS = ("ld activations", "ld weights")  # instructions whose operands have a type
WEIGHTS = "w_tile"  # the array of a tile's weights
# Symbols of a layer that includes the text of its shape: the bytes of that array, and the shift.
WEIGHT_ROOM, SHIFT = "WEIGHT_ROOM", "SHIFT"


@dataclass(frozen=True)
class Array:
    """An array in the on-chip unit, as `.array` declares it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    what: str  # the comment

    @property
    def size(self) -> int:
        """The number of bytes of the array."""
        return prod(self.shape) * Types.size(self.dtype)


@dataclass(frozen=True)
class Sequence:
    """An instruction sequence of the PEs.

    `buffer` is the number of its instruction buffer, `body` its instructions. `header` has the
    operands of its `.seq` line, `options` its directives, such as `.loop`. `data` has the segments
    of the packet that stores the sequence in the PEs.
    """

    name: str
    buffer: int  # the number of the instruction buffer
    body: list[str]  # the instructions
    header: str = ""  # the options of `.seq`
    what: str = ""  # the comment
    options: tuple[str, ...] = ()  # the directives .loop, .step, .then and .types
    # segments of the config packet; with segments, the packet is in the lists, not in `setup`
    data: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of bytes of the sequence."""
        steps = sum(option.startswith(".step") for option in self.options)
        types = sum(option.startswith(".types") for option in self.options)
        records = steps * STEP.size + types * TYPES.size
        return SEQUENCE.size + records + INSTRUCTION_BYTES * len(self.body)

    def config(self) -> str:
        """Return the assembly statement of the packet that stores the sequence in the PEs."""
        data = f", data=({', '.join(self.data)})" if self.data else ""
        return f"config ib={self.buffer}, {self.name}{data}"


@dataclass(frozen=True)
class Exe:
    """An exe packet: it starts the sequence in instruction buffer `buffer` on the segments `data`.

    `out` has the addresses at which results are stored; empty if nothing is stored. `label` marks a
    packet that cp changes, or at which cp can start a list. `to` is the operand that selects
    clusters (empty: all), `flag` the operand before `out=`.
    """

    buffer: int  # the number of the instruction buffer
    data: tuple[str, ...] = ()  # the segments
    out: str = ""  # the addresses of `out=`; empty: nothing is stored
    to: str = ""  # the operand that selects clusters; empty: all clusters
    flag: str = "last"  # the operand before `out=`
    label: str = ""
    what: str = ""  # the comment

    @property
    def size(self) -> int:
        """The number of bytes of the packet."""
        return PACKET.size + len(self.data) * SEGMENT.size + OUT.size

    def text(self) -> str:
        """Return the assembly statement of the packet."""
        data = f", data=({', '.join(self.data)})" if self.data else ""
        out = f", {self.flag}, out=({self.out})" if self.out else ""
        return f"exe ib={self.buffer}{data}{out}{self.to}"


@dataclass(frozen=True)
class Packets:
    """A packet list: its name, its exes and its comment."""

    name: str
    exes: list[Exe]
    what: str  # the comment


def _write_arrays(out: Listing, plan: ProductPlan, memory: str) -> None:
    """Write the directives that declare the arrays in the on-chip units.

    `memory` is the symbol of memory that layers share, or empty (`write_rows`).
    """
    at = 0
    weights_last = sorted(all_arrays(plan), key=lambda array: array.name == WEIGHTS)
    for array in weights_last if memory else all_arrays(plan):
        shape = ", ".join(map(str, array.shape))
        if memory:
            if array.name == WEIGHTS and not plan.dense:
                shape = WEIGHT_ROOM
            place = f"{memory} + {at:#x}"
            out.put(f".view {array.name}, {array.dtype}, {shape}, at={place}", array.what)
            at = align_up(at + array.size, DATA_ALIGN)
        else:
            out.put(f".array {array.dtype}, {shape}", array.what, label=array.name)


def write_rows(out: Listing, plan: ProductPlan, memory: str = "") -> None:
    """Write the part of the program that all rows of the array execute (`.core pe, row=0`).

    If `memory` is empty, each array has separate memory. Otherwise the arrays are views of the
    memory at the symbol `memory`. Then layers of the same shape get the same text: weights are the
    last array, and symbols stand for the numbers that differ (bytes of weights, shift).
    """
    if not memory:
        out.title("the array: every row runs this part")
    out.mark("arrays")
    out.put(".core pe, row=0", "every row runs this part" if memory else "")
    _write_arrays(out, plan, memory)
    buffers = typed_sequences(plan)
    for sequence in buffers:
        header = sequence.header
        if memory:
            header = header.replace(f"shift={plan.product.shift}", f"shift={SHIFT}")
        out.mark(sequence.name.rstrip("0123456789"))
        out.comment()
        out.put(f".seq {sequence.name}{header}", sequence.what)
        for line in sequence.options:
            out.put(line)
        for line in sequence.body:
            out.put(line)
        out.put(".endseq")
    out.mark("setup")
    out.comment()
    out.put(".list setup", "once")
    for sequence in buffers:
        if not sequence.data:
            out.put(sequence.config())
    out.put(".endlist")
    final = next((sequence for sequence in buffers if sequence.data), None)
    for packets in lists(plan):
        out.mark(packets.name)
        out.comment()
        out.put(f".list {packets.name}", packets.what)
        configures = final is not None and packets.name in finishing_lists(plan)
        for number, exe in enumerate(packets.exes):
            label = exe.label
            if configures and final is not None and number == _entry_exes(plan, packets):
                again, _, label = label.rpartition(": ") if ": " in label else ("", "", label)
                if label.endswith("_again"):
                    again, label = label, ""
                to = to_clusters(plan, range(plan.summing_clusters))
                out.put(final.config() + to, "the factors of these outputs", label=again)
            out.put(exe.text(), exe.what, label=label)
        out.put(".endlist")
    out.mark()


@singledispatch
def finishing_lists(plan: ProductPlan) -> tuple[str, ...]:
    """Return the names of the packet lists that use the sequence that turns sums into results.

    A list that stores raw sums is one of them if it uses this sequence, too.
    """
    return ("merge",) if plan.reduces_rows else list_names(plan)[1:]


def loads_factors(plan: ProductPlan, last: bool) -> bool:
    """Return whether an iteration loads factors (scales, table) that turn sums into results.

    `last` says whether the iteration has the last tile of k.
    """
    return factor_bytes(plan) > 0 and (last or list_names(plan)[0] in finishing_lists(plan))


def factor_loads(plan: ProductPlan) -> int:
    """Return the number of iterations that load factors (scales, table) for results."""
    if not factor_bytes(plan):
        return 0
    k = plan.count("K") if loads_factors(plan, last=False) else 1
    return plan.count("M") * plan.count("N") * k


def shifts_products(plan: ProductPlan) -> bool:
    """Return whether the packets that multiply are at different offsets in the two packet lists.

    The lists are those of `list_names`. The offsets differ if only the second list, which is for
    the last tile of inputs, begins with a packet that loads factors (scales, table) of results.
    """
    is_last = list_names(plan)[1] in finishing_lists(plan)
    return factor_bytes(plan) > 0 and is_last and not loads_factors(plan, last=False)


def _entry_exes(plan: ProductPlan, packets: Packets) -> int:
    """Return the number of packets at the start of a list that some iterations skip: 0 or 1."""
    return int(has_entry_part(plan) and packets.name != "merge")


def all_arrays(plan: ProductPlan) -> list[Array]:
    """Return all arrays in each half of an on-chip unit, also scales and table of the results."""
    result = arrays(plan)
    if plan.product.scales is not None:
        result.append(Array(SCALE, "float32", (factor_slots(plan),), "a scale for each PE"))
    if plan.product.table is not None:
        result.append(Array(TABLE, plan.types.result, (ENTRIES,), "results by their bytes"))
    return result


def program_bytes(plan: ProductPlan) -> int:
    """Return the bytes of packets and sequences, which cp copies to both halves of each unit."""
    if "program_bytes" not in plan.computed:
        plan.computed["program_bytes"] = _program_bytes(plan)
    return plan.computed["program_bytes"]


def _program_bytes(plan: ProductPlan) -> int:
    buffers = typed_sequences(plan)
    configured = sum(not sequence.data for sequence in buffers)
    bodies = [configured * (PACKET.size + SEGMENT.size), *list_sizes(plan)]
    if factor_bytes(plan):
        names = [*dict.fromkeys(list_names(plan)), *["merge"] * plan.reduces_rows]
        for place, name in enumerate(names, 1):
            bodies[place] += config_size(plan) * (name in finishing_lists(plan))
    at = 0
    for body in bodies:  # each list has an end mark
        at = align_up(at, PACKET_ALIGN) + body + 1
    for sequence in buffers:
        at = align_up(at, SEQUENCE_ALIGN) + sequence.size
    return align_up(at, DATA_ALIGN)


def align_up(offset: int, align: int) -> int:
    """Return the smallest multiple of `align` that is at least `offset`."""
    return -(-offset // align) * align


def tile_bytes(plan: ProductPlan) -> int:
    """Return the bytes of a plan's arrays in a half of a unit, each rounded up to `DATA_ALIGN`."""
    return sum(align_up(array.size, DATA_ALIGN) for array in all_arrays(plan))


def unit_bytes(plan: ProductPlan) -> int:
    """Return the number of bytes that program and arrays take in a half of an on-chip unit."""
    at = program_bytes(plan)
    for array in all_arrays(plan):
        at = align_up(at, DATA_ALIGN) + array.size
    return at


def list_names(plan: ProductPlan) -> tuple[str, str]:
    """Return the names of two packet lists.

    The first is for iterations before the last tile of k, the second for iterations with the last
    tile. The names are the same if all iterations execute the same list.
    """
    if plan.count("K") == 1 or (plan.reduces_rows and not plan.in_accumulators):
        return "last", "last"  # every iteration is the same
    return "more", "last"


def has_entry_part(plan: ProductPlan) -> bool:
    """Return whether packet lists have a first part that some iterations skip.

    The part loads activations, or values with which sums start. Iterations for which the PEs
    already have them start at the label `LIST_again`.
    """
    return plan.holds_activations or (plan.in_accumulators and plan.has_start_sums)


def stores_raw(plan: ProductPlan) -> bool:
    """Return whether the program stores raw sums, those before activation and requantisation."""
    return plan.returns_sums or plan.reduces_rows or plan.reduces_clusters


def takes_sums(plan: ProductPlan) -> bool:
    """Return whether PEs load sums from the on-chip unit into their accumulators."""
    return plan.has_start_sums or plan.reduces_clusters or plan.reduces_rows


@singledispatch
def arrays(plan: ProductPlan) -> list[Array]:
    """Return the arrays in each half of an on-chip unit, but no scales and table of the results."""
    tile, types, part = plan.tile, plan.types, plan.partition
    clusters = 1 if plan.shares_activations else part.clusters
    sums = (tile.groups, plan.summing_clusters * plan.pes, plan.lanes)
    weights = int(plan.weight_bytes.max())
    tiles = [
        Array("x_tile", types.activation, (tile.m, clusters, tile.k), "(row, cluster, input)"),
        Array(WEIGHTS, "uint8", (weights,), "index + value, as many bytes as a tile has at most"),
    ]
    if plan.has_start_sums:
        what = "what sums begin with: (group, PE, accumulator)"
        tiles.append(Array("start", types.sum, sums, what))
    if plan.returns_sums or plan.reduces_rows:
        tiles.append(Array("partial", types.sum, sums, "raw sums: (group, PE, accumulator)"))
    if plan.reduces_clusters:
        shape = (part.clusters, plan.pes, ACCUMULATORS)
        tiles.append(Array("chain", types.sum, shape, "sums from cluster to cluster"))
    if plan.reduces_rows:
        tiles.append(Array("gathered", types.sum, (part.rows, *sums), "raw sums of all rows"))
    result = (tile.m, plan.summing_clusters * plan.pes)
    tiles.append(Array("result", types.result, result, "(row, PE)"))
    return tiles


@singledispatch
def sequences(plan: ProductPlan) -> list[Sequence]:
    """Return the instruction sequences of the rows."""
    tile = plan.tile
    loads = [f"ld activations, base={row * plan.blocks}" for row in range(tile.m)]
    result = []
    if plan.holds_activations:
        result.append(Sequence("hold", HOLD, loads, what="activations stay in the input buffers"))
    if takes_sums(plan):
        result.append(Sequence("begin", BEGIN, ["ld psums"], what="sums into the accumulators"))
    for group in range(tile.groups):
        rows = range(group * tile.members, (group + 1) * tile.members)
        body = [] if plan.holds_activations else [loads[row] for row in rows]
        body.append("ld weights")
        body += [
            f"mac base={row * plan.blocks}, acc={row - rows[0]}{plan.mac_options}" for row in rows
        ]
        what = f"row {rows[0]} of the tile" if len(rows) == 1 else f"rows {rows[0]} to {rows[-1]}"
        result.append(Sequence(f"product{group}", PRODUCT + group, body, what=what))
    members = range(tile.members)
    moves = [f"spu nonsf, src={a}, dst={a}" for a in members]
    stores = [f"st base={a}" for a in members]
    if stores_raw(plan):
        result.append(Sequence("raw", RAW, moves + stores, what="sums to the unit as they are"))
    steps, what = finish(plan, members), "results to the unit"
    body = [*moves, *steps.body, *stores]
    result.append(Sequence("final", FINAL, body, steps.header, what, steps.options, steps.data))
    return result


def typed_sequences(plan: ProductPlan) -> list[Sequence]:
    """Return the instruction sequences of the rows with the element types of their operands."""
    weights, activations = plan.operand_types
    words = type_words(plan, weights=weights, activations=activations)
    if not words:
        return sequences(plan)
    types = (f".types {', '.join(words)}",)
    return [
        replace(sequence, options=(*types, *sequence.options))
        if any(line.startswith(_LOADS) for line in sequence.body)
        else sequence
        for sequence in sequences(plan)
    ]


@singledispatch
def list_sizes(plan: ProductPlan) -> list[int]:
    """Return the bytes of the packet lists of the iterations, without their end marks."""
    return [sum(exe.size for exe in packets.exes) for packets in lists(plan)]


@singledispatch
def lists(plan: ProductPlan) -> list[Packets]:
    """Return the packet lists of the iterations."""
    more, last = list_names(plan)
    result = []
    if more != last:
        store = "" if plan.in_accumulators else "raw"
        result.append(Packets(more, list(_exes(plan, more, store)), "before the last k"))
    store = "raw" if plan.reduces_rows else "final"
    what = "the last k" if more != last else "an iteration"
    result.append(Packets(last, list(_exes(plan, last, store)), what))
    if plan.reduces_rows:
        result.append(Packets("merge", list(_merge(plan)), "row 0, when all rows are done"))
    return result


def _exes(plan: ProductPlan, name: str, store: str) -> Iterator[Exe]:
    """Yield the exe packets of an iteration.

    `store` says what happens to its sums: "raw" if they are stored as they are, "final" if they are
    stored as results, empty if they stay in the accumulators.
    """
    to = to_clusters(plan, range(plan.partition.clusters))
    words = "" if plan.shares_activations else " by_cluster"
    rows = tuple(f"x_tile[{row}]{words}" for row in range(plan.tile.m))
    weights = f"weights w_tile {'by_pe' if plan.shares_weights else 'sliced'}"
    if plan.holds_activations:
        yield Exe(HOLD, rows, to=to, what="not if the PEs have them")
    elif plan.in_accumulators and plan.has_start_sums:
        yield _begin(plan, 0)
    for group in range(plan.tile.groups):
        label = f"{name}_again" if has_entry_part(plan) and not group else ""
        if plan.has_start_sums and not plan.in_accumulators:
            yield _begin(plan, group, label)
            label = ""
        first = group * plan.tile.members
        data = () if plan.holds_activations else rows[first : first + plan.tile.members]
        label = f"{label}: {name}_product{group}" if label else f"{name}_product{group}"
        yield Exe(PRODUCT + group, (*data, weights), to=to, label=label)
        if store:
            yield from _store(plan, store, group)


def to_clusters(plan: ProductPlan, clusters: range) -> str:
    """Return the operand `, to=...` that selects clusters; empty for all clusters."""
    if len(clusters) == plan.config["pe.clusters"]:
        return ""
    items = ", ".join(map(str, clusters))
    return f", to={items}" if len(clusters) == 1 else f", to=({items})"


def _begin(plan: ProductPlan, group: int, label: str = "") -> Exe:
    """Return the exe packet that loads the bias or partial sums of a group into the accumulators.

    If the sums of clusters are added later, only the last cluster loads the bias or partial sums,
    because the addition begins there.
    """
    last = plan.partition.clusters - 1
    to = f", to={last}" if plan.reduces_clusters else to_clusters(plan, range(last + 1))
    return Exe(BEGIN, (f"psums start[{group}] sliced",), to=to, label=label)


def _store(plan: ProductPlan, store: str, group: int) -> Iterator[Exe]:
    """Yield the exe packets that store the sums of a group of rows of activations.

    If clusters have parts of the same sums, the packets first add them: the last cluster's sums to
    those of the cluster before it, and so on down to cluster 0.
    """
    raw = f"stride={ACCUMULATORS * plan.sum_size}, step={plan.sum_size}"
    if plan.reduces_clusters:
        for cluster in reversed(range(1, plan.partition.clusters)):
            yield Exe(RAW, out=f"chain[0], {raw}", to=f", to={cluster}")
            yield Exe(BEGIN, (f"psums chain[{cluster}] sliced",), to=f", to={cluster - 1}")
    if store == "raw":
        to = to_clusters(plan, range(plan.summing_clusters))
        yield Exe(RAW, out=f"partial[{group}], {raw}", to=to)
    else:
        yield _final(plan, group)


def _final(plan: ProductPlan, group: int) -> Exe:
    size = Types.size(plan.types.result)
    step = plan.summing_clusters * plan.pes * size
    first = group * plan.tile.members
    to = to_clusters(plan, range(plan.summing_clusters))
    return Exe(FINAL, out=f"result[{first}], stride={size}, step={step}", to=to)


def _merge(plan: ProductPlan) -> Iterator[Exe]:
    """Yield the exe packets with which row 0 adds the raw sums of all rows (seed 000 ¶85)."""
    to = to_clusters(plan, range(plan.summing_clusters))
    for group in range(plan.tile.groups):
        for row in range(plan.partition.rows):
            yield Exe(BEGIN, (f"psums gathered[{row}, {group}] sliced",), to=to)
        yield _final(plan, group)
