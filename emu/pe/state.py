"""The declared state of a row: its PEs, its cluster control units, its distribution unit.

Arrays have the shape (clusters, PEs, ...). Runs, packets and other small irregular data are plain
dicts, whose keys the typed dicts below declare. The numbers in the meanings are the boxes of seed
000, Fig. 4 and Fig. 5a to 5c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.emu.state import StateField
from macaw.emu.waits import NEVER
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.memory_map import UNIT_SHIFT
from macaw.isa.memory_map import UNITS as UNITS_BASE
from macaw.isa.pe import (
    ACCUMULATORS,
    BLOCKS,
    BUFFERS,
    ELEMENTS,
    OPERAND_DTYPES,
    PE_COUNTERS,
    ROW_COUNTERS,
    SCALARS,
    SCALE_DTYPE,
    SEQUENCE,
    SEQUENCE_LENGTH,
    SUM_DTYPES,
    TABLE_ENTRIES,
    available,
    widest_of,
)
from macaw.isa.typed_records import TypedDict

# The units of a cluster; each serves one instruction buffer at a time.
LOADER, MAC, SFU, STORE = range(4)
UNITS = ("loader", "mac", "sfu", "store")
FREE = -1

# The states of an instruction of a run.
WAITING, RUNNING, DONE = range(3)

# Stands for the unit of a step that needs no unit.
NO_UNIT = -1

# The value of `written_back` for an instruction that has not ended yet.
NOT_WRITTEN = -1

# The trace number of a packet that is not an exe.
UNNUMBERED = -1

# The activities of the PEs of a cluster; the activity selects the counter of the cycle.
IDLE, BUSY, COMPUTING = range(3)


@dataclass(frozen=True)
class Shape:
    """The dimensions and settings of a row, from the device configuration."""

    row: int  # the number of the row
    divider: int  # device cycles in one cycle of the row
    clusters: int  # number of clusters of the row
    pes: int  # number of PEs of a cluster
    element: str  # the setting pe.element
    types: tuple[str, ...]  # element types that sequences may name
    value_type: str  # NumPy type for weights and activations of all these types
    sum_type: str  # NumPy type of accumulators and of the output queue
    weight_queue: int  # entries
    input_buffer: int  # elements
    output_queue: int  # entries
    load_queue_1: int  # loads
    load_queue_2: int  # loads
    # a PE gives a load if its queue 1 has this many more loads than that of its left neighbour
    balance_threshold: int
    direct: bool  # whether the design is 5a, which has no load queues
    overflow: str  # the setting pe.overflow
    bus_bytes: int  # bytes of a beat of the bus
    sfu_rate: int  # results that enter a special-function unit in a cycle
    sfu_latency: int  # cycles that a result is in a special-function unit

    @property
    def mixes(self) -> bool:
        """Whether sequences may name several element types."""
        return len(self.types) > 1

    @property
    def input_block(self) -> int:
        """The number of elements in a block of the input buffer."""
        return self.input_buffer // BLOCKS

    @property
    def output_block(self) -> int:
        """The number of elements in a block of the output queue."""
        return self.output_queue // BLOCKS

    def address(self, offset: int) -> int:
        """Return the memory address of `offset` in the row's on-chip unit.

        The bit that selects one of the unit's halves is 0.
        """
        return UNITS_BASE + (self.row << UNIT_SHIFT) + offset


def shape_of(config: Mapping[str, Any], row: int) -> Shape:
    """Return the dimensions of row number `row` in a device configuration."""
    widest = widest_of(config)
    direct = config["pe.design"] == "5a"
    return Shape(
        row=row,
        divider=int(config["pe.divider"]),
        clusters=int(config["pe.clusters"]),
        pes=int(config["pe.pes"]),
        element=str(config["pe.element"]),
        types=available(config),
        value_type=OPERAND_DTYPES[widest],
        sum_type=SUM_DTYPES[widest],
        weight_queue=int(config["pe.weight_queue"]),
        input_buffer=int(config["pe.input_buffer"]),
        output_queue=int(config["pe.output_queue"]),
        load_queue_1=int(config["pe.load_queue_1"]),
        # Design 5a has a latch between comparator and MAC. In the state it is a queue of one entry.
        load_queue_2=1 if direct else int(config["pe.load_queue_2"]),
        balance_threshold=int(config["pe.balance_threshold"]),
        direct=direct,
        overflow=str(config["pe.overflow"]),
        bus_bytes=int(config["dist.bus_bytes"]),
        sfu_rate=int(config["sfu.rate"]),
        sfu_latency=int(config["sfu.latency"]),
    )


class Segment(TypedDict):
    """The description of one segment of a packet; the fields are those of `macaw.isa.pe.SEGMENT`."""

    type: int  # index in macaw.isa.pe.SEGMENT_TYPES
    mode: int  # index in macaw.isa.pe.MODES
    form: int  # of weights: index in macaw.isa.pe.FORMS
    element: int  # 0: the type of the sequence, else 1 + index in macaw.isa.pe.ELEMENTS
    offset: int  # bytes, in the unit's half
    length: int  # bytes


class Out(TypedDict):
    """The places of an exe's results in memory; the fields are those of `macaw.isa.pe.OUT`."""

    offset: int
    stride: int
    step: int
    count: int
    pes: int
    element: int


class Packet(TypedDict):
    """The packet that the distribution unit sends over the bus, with its progress."""

    address: int  # offset of the packet in the half
    mnemonic: str  # mnemonic of its command
    buffer: int  # instruction buffer; for a marker, its group
    shift: bool
    last: bool
    clusters: list[int]
    segments: list[Segment]
    out: Out | None
    order: int  # number of the packet in its row, from 0 on
    number: int  # number of an exe, given when it begins; else UNNUMBERED
    opened: bool  # whether its clusters have reserved the buffer
    commanded: bool  # whether the command byte was on the bus
    segment: int  # number of the segment on the bus
    sent: int  # number of bytes of this segment that were on the bus
    chunks: list[bytes]  # the bytes of this segment that were on the bus, by beat
    entries: dict[int, list[int]]  # by segment of weights: number of entries of each slice
    packed: dict[int, int]  # by compressed segment: bytes of its form index + value


class Beat(TypedDict):
    """One beat of the bus: pieces of segments, and the command byte if `command` is set.

    The beat has `carried` bytes, including the command byte. `data` has the bytes that were read
    from the half, or is None until memory has granted the beat.
    """

    cycle: int  # cycle of its request; after the grant, cycle of the grant
    command: bool
    carried: int  # bytes on the bus, including the command byte
    pieces: list[tuple[int, int, int]]  # segment number, bytes on the bus, bytes read from the half
    data: bytes | None  # None until the memory has answered


class Parser(TypedDict):
    """The progress of the parser 606 of a cluster while it stores a sequence."""

    buffer: int
    address: int  # offset of the sequence in the half
    length: int  # bytes of the sequence
    data: bytes  # the bytes that have arrived
    parsed: int  # number of instructions stored
    coming: list[int]  # types of the segments of scales and table that have not arrived completely
    brings: list[int]  # types of all segments of scales and table


class SfuJob(TypedDict):
    """The instruction that the special-function unit 510 of a cluster executes."""

    buffer: int  # the buffer to which the instruction belongs
    start: int  # the cycle in which the first results enter
    chained: int  # the accumulator whose values are in the FIFO, -1: decoupled
    reduction: int  # index in macaw.isa.pe.REDUCTIONS
    pes: list[int]  # the PEs whose results are processed, in order
    partial: list[Any]  # for a reduction: by result, its value so far
    function: int  # index in macaw.isa.pe.FUNCTIONS
    activation: int  # index in macaw.isa.pe.ACTIVATIONS
    shift: int  # shift of requantise
    scaled: bool  # whether requantise multiplies by the scales of its buffer
    element: int  # type of the results: index in macaw.isa.pe.ELEMENTS
    count: int  # results of each PE
    source: list[int]  # by PE: the first entry in the output queue
    target: list[int]


class Op(TypedDict):
    """A step of a run: an instruction, or a step that follows from the exe's flags.

    `reads` and `writes` are masks of input-buffer blocks, `sums` of accumulators, `blocks` of
    output-queue blocks. These blocks and accumulators are reserved from the start of the run until
    the step is done, but the accumulator `chained` only up to cycle `freed`.
    """

    # index of the instruction in the sequence; for an implied step, of the instruction before it
    place: int
    name: str  # name of the function in emu/pe/step_execution.py
    function: int  # spu: index in macaw.isa.pe.FUNCTIONS; ld: index in DESTINATIONS
    iteration: int  # iteration of the run
    base: int  # mac: the element address that PE 0 adds to indices
    stride: int  # growth of `base`, or of the source of `implied`, from a PE to the next
    unit: int  # the unit that it needs, or NO_UNIT
    lane: int  # steps of a lane start in order; 1: streams, 0: all others
    state: int
    start: int  # first cycle of work
    end: int  # last cycle of work; NEVER while it is unknown
    reads: int
    writes: int
    sums: int
    blocks: int
    chained: int  # spu: the accumulator of the preceding mac with sfu; -1: none
    freed: int  # the cycle in which the FIFO of 510 took the accumulator
    implied: tuple[int, int] | None  # source and destination of an implied step
    segments: list[int]  # ld: segments of the packet that it takes, in order
    received: int  # number of these segments that have arrived completely
    first: int  # cycle of the first beat; NEVER until it was on the bus
    last: int  # cycle of the last beat of the last segment
    # store: beats left to write, as ranges (offset, bytes) and data
    beats: list[tuple[list[tuple[int, int]], bytes]]


class Ahead(TypedDict):
    """What a run and its triggered buffers may still use: data to find conflicts with other runs.

    `sums` and `blocks` are masks of accumulators and of output-queue blocks. The base addresses of
    the macs are from `low` to `high`. `stores` says whether there are stores.
    """

    sums: int  # mask of accumulators
    blocks: int  # mask of output-queue blocks
    low: int  # the least base of their macs; low > high if they have no macs
    high: int  # the greatest base of their macs
    stores: bool  # whether they store


class Run(TypedDict):
    """One execution of an instruction buffer, started by an exe packet or by another buffer."""

    buffer: int
    order: int  # number of its packet in the row
    number: int  # number of its exe in the trace
    chain: list[int]  # the buffers that it triggers, in order
    iteration: int  # the iteration whose steps are in `ops`, from 0 on
    iterations: int  # number of iterations
    looped: bool  # whether the last iteration's lds and macs have ended
    initial: list[list[int]]  # operands of each instruction after the config
    written_back: list[int]  # pipeline=4: by instruction index, the cycle of WB of its last issue
    unwritten: list[tuple[int, int]]  # pipeline=4: instructions before their WB: index, iteration
    ahead: Ahead | None  # what later iterations and triggered buffers use; None: nothing
    segments: list[Segment]  # segments of the exe
    taken: int  # number of segments that the iterations so far take
    sharers: int  # number of clusters that share the packet
    command: tuple[bool, bool]  # the flags shift and last
    live: bool  # whether the command byte of its packet has been on the bus
    issue_at: list[int]  # by lane: the first cycle in which the next instruction may start
    out: Out
    stored: int  # number of elements of each PE that its stores have started to write
    span: tuple[int, int] | None  # bytes of the half that its stores may write
    reach: int  # the greatest index among its weights; -1: no weights
    has_weights: bool  # whether the run, or a buffer that it triggers, uses the weight queue
    held: bool  # whether weights of earlier iterations are in the queue
    receives: bool  # whether the bus is now sending a segment to this run
    ops: list[Op]  # its steps that are not done, and those of the present iteration


def fields(shape: Shape) -> tuple[StateField, ...]:
    """Return the declaration of a row's state, for a row with the dimensions `shape`.

    It has one `StateField` for each array or value.
    """
    c, k = shape.clusters, shape.pes
    pe = (c, k)
    head = "place of its first entry"
    held = "entries that it holds"
    # fmt: off
    return (
        # PE: weight queue, input buffer
        StateField("weight_index", "uint16", (*pe, shape.weight_queue), "503: indices of the weights"),
        StateField("weight_value", shape.value_type, (*pe, shape.weight_queue), "503: values of the weights"),
        StateField("weight_head", "int64", pe, f"503: {head}"),
        StateField("weight_count", "int64", pe, f"503: {held}"),
        StateField("activations", shape.value_type, (*pe, shape.input_buffer), "504: activations"),
        StateField("bitmask", "bool_", (*pe, shape.input_buffer), "504: which activations are not zero"),
        StateField("block_loaded", "int64", (*pe, BLOCKS), "504: how many elements of each block are loaded, from its first on"),
        StateField("block_types", "int64", (*pe, BLOCKS), "504: mask of the element types that were loaded into each block"),
        StateField("queue_types", "int64", (c, BUFFERS), "503: mask of the element types of the weights that the buffer's run has loaded", levels=1),
        # PE: index comparator and load queues; `emu/pe/loads.py` has the format of a load
        StateField("mac_left", "int64", pe, "505: weight entries of this mac that are still to be examined"),
        StateField("mac_next", "int64", pe, "505: place in 503 of the entry to be examined next"),
        StateField("mac_base", "int64", pe, "505: element address that is added to a weight index"),
        StateField("mac_limit", "int64", pe, "505: element after the last loaded one from the base on"),
        StateField("mac_sum", "int64", pe, "5062: accumulator that takes the products"),
        StateField("mac_reached", "bool_", pe, "506: a load of this mac has reached it"),
        StateField("q1", "int64", (*pe, shape.load_queue_1), "518: loads, weight place << 16 | input index; bit 32: given by the right neighbour, and of its data"),
        StateField("q1_head", "int64", pe, f"518: {head}"),
        StateField("q1_count", "int64", pe, f"518: {held}"),
        StateField("q2", "int64", (*pe, shape.load_queue_2), "519 (design 5a: the latch in front of 506): loads"),
        StateField("q2_head", "int64", pe, f"519: {head}"),
        StateField("q2_count", "int64", pe, f"519: {held}"),
        StateField("balancing", "bool_", (c,), "517: the mac at work balances"),
        StateField("given", "int64", pe, "517: loads of this mac that went to the left neighbour"),
        StateField("handing", "bool_", (c,), "516, 520: sums are handed over in the next cycle"),
        StateField("helpers", shape.sum_type, (*pe, ACCUMULATORS), "5063: helper accumulators, for the right neighbour"),
        # PE: sums and results
        StateField("accumulators", shape.sum_type, (*pe, ACCUMULATORS), "5063: accumulation buffers"),
        StateField("buffer", shape.sum_type, pe, "508: the result that went to the output queue last"),
        StateField("output", shape.sum_type, (*pe, shape.output_queue), "513: results"),
        StateField("output_written", "bool_", (*pe, shape.output_queue), "513: which places have been written"),
        StateField("sfu_jobs", "object", meaning="510: by cluster: what it works on, or None", initial=[None] * c),
        StateField("sfu_pipe", shape.sum_type, (c, shape.sfu_latency, shape.sfu_rate), "510: results under way; those that entered in its n-th cycle stand at n modulo sfu.latency", levels=1),
        StateField("sfu_tokens", "int64", (c, shape.sfu_latency, shape.sfu_rate), "510: which PE each of them belongs to", levels=1),
        StateField("sfu_fifo", shape.sum_type, pe, "510: accumulators that a chained function works on, by token"),
        *(StateField(row.name, "int64", pe, row.meaning) for row in PE_COUNTERS),
        # Cluster control unit 602
        StateField("words", "uint16", (c, BUFFERS, SEQUENCE_LENGTH), "instruction buffers: instruction words", levels=1),
        StateField("headers", "int32", (c, BUFFERS, len(SEQUENCE.members)), "instruction buffers: members of the sequence's header; count 0: nothing configured", levels=1),
        StateField("origins", "int64", (c, BUFFERS), "instruction buffers: offset of the first instruction in the half", -1, levels=1),
        StateField("registers", "int32", (c, BUFFERS, SEQUENCE_LENGTH, 2, k), "605: operands of each instruction by PE, full element addresses or accumulators", levels=1),
        StateField("steps", "int32", (c, BUFFERS, SEQUENCE_LENGTH, 2, 2), "604: what each operand changes by at an inner and, besides, at an outer loopback", levels=1),
        StateField("strides", "int32", (c, BUFFERS, SEQUENCE_LENGTH, 2), "606: what each operand changes by from a PE to the next", levels=1),
        StateField("types", "int32", (c, BUFFERS, 2), "instruction buffers: element types of weights and activations, by their places in ELEMENTS", ELEMENTS.index(shape.element), levels=1),
        StateField("scaled", "bool_", (c, BUFFERS), "instruction buffers: spu requantise multiplies by scales", levels=1),
        StateField("scales", SCALE_DTYPE, (c, BUFFERS, k), "509: by PE the scale of the buffer's requantise", levels=1),
        StateField("tables", shape.value_type, (c, BUFFERS, TABLE_ENTRIES), "509: the buffer's table, by the byte of a value", levels=1),
        StateField("scalar_sums", shape.sum_type, (c, BUFFERS, SCALARS), "604: accumulators of values that PEs sent, entries of 605", levels=1),
        StateField("scalar_held", "bool_", (c, BUFFERS, SCALARS), "604: which of them hold something", levels=1),
        StateField("segment_entries", "int64", (c, BUFFERS, k), "503: entries that the buffer's run has loaded", levels=1),
        StateField("computing", "bool_", (c,), "607: a mac is at work"),
        StateField("doing", "int64", (c,), "607: 0 idle, 1 a sequence runs, 2 a mac is at work"),
        StateField("macs_before", "int64", (c,), "506: products of the cluster's PEs before the mac at work, while a trace records; else 0"),
        StateField("doing_since", "int64", (c,), "607: cycles of the row before this one are counted in their class"),
        StateField("parsers", "object", meaning="606: by cluster: the configuration that is being parsed, or None", initial=[None] * c),
        StateField("units", "object", meaning="607: by cluster: which buffer holds loader, mac, sfu and store", initial=[[FREE] * len(UNITS) for _ in range(c)]),
        StateField("runs", "object", meaning="607: by cluster: running buffers in the order of their packets", initial=[[] for _ in range(c)]),
        StateField("due", "object", meaning="607: by cluster: cycle of the next decision", initial=[NEVER] * c),
        # Distribution unit 601
        StateField("reached", "int", meaning="first cycle of the row that is not simulated yet"),
        StateField("counted_to", "int", meaning="cycles of the row before this one are counted"),
        StateField("begun", "int", meaning="601: exes that have begun"),
        StateField("latest", "int", meaning="601: offset of the one that began last in the half, -1: none", initial=-1),
        StateField("next_packet", "int", meaning="601: offset in the half of the packet after this one, -1: the list is done", initial=-1),
        StateField("packet", "object", meaning="601: the packet on the bus, or None"),
        StateField("beat", "object", meaning="601: the beat that memory was asked for, or None"),
        StateField("bus_free", "int", meaning="601: the first cycle after the last beat"),
        StateField("return_turn", "int", meaning="return bus: the cluster that is served first"),
        StateField("returning", "int", meaning="return bus: the cluster whose beat is being written, -1: none", initial=FREE),
        StateField("returned", "int", meaning="return bus: the cycle in which it was written, -1: not yet", initial=FREE),
        *(StateField(row.name, "int", meaning=row.meaning) for row in ROW_COUNTERS),
    )
    # fmt: on
