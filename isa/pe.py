"""The table of pe, the sparse PE array (seed 000): commands, instructions, packets, sequences.

The seed's Tables 1 and 2 list bits from the highest to the lowest. Here, the first bit of a command
is bit 7, and the first bit of an instruction is bit 11 (¶116, ¶121). Macaw defines what the seed
does not: some opcode values, the ld destination, the sequence header and the packet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from macaw.isa import common
from macaw.isa.descriptors.pe import BLOCKS as BLOCKS
from macaw.isa.descriptors.pe import CLUSTERS as CLUSTERS
from macaw.isa.descriptors.pe import DESCRIPTOR
from macaw.isa.kinds import Choice, Immediate
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import (
    Core,
    Counter,
    Directive,
    Event,
    Fault,
    Member,
    Queue,
    RegisterFile,
    Structure,
    checked,
)
from macaw.isa.pe_elements import DTYPES as DTYPES
from macaw.isa.pe_elements import ELEMENT_TYPES as ELEMENT_TYPES
from macaw.isa.pe_elements import ELEMENTS as ELEMENTS
from macaw.isa.pe_elements import OPERAND_DTYPES as OPERAND_DTYPES
from macaw.isa.pe_elements import SUM_DTYPES as SUM_DTYPES
from macaw.isa.pe_elements import available as available
from macaw.isa.pe_elements import widest_of as widest_of
from macaw.isa.pe_layouts import ACCUMULATORS as ACCUMULATORS
from macaw.isa.pe_layouts import COMMAND, EXE, LD, MAC, MARKER, SPU, ST, SUMS
from macaw.isa.pe_layouts import COMMAND_BITS as COMMAND_BITS
from macaw.isa.pe_layouts import COMMAND_BYTES as COMMAND_BYTES
from macaw.isa.pe_layouts import DESTINATIONS as DESTINATIONS
from macaw.isa.pe_layouts import FUNCTIONS as FUNCTIONS
from macaw.isa.pe_layouts import INSTRUCTION_BITS as INSTRUCTION_BITS
from macaw.isa.pe_layouts import INSTRUCTION_BYTES as INSTRUCTION_BYTES
from macaw.isa.rows import Instruction

BUFFERS = 32  # instruction buffers of a cluster
SEQUENCE_LENGTH = 16  # most instructions of a sequence
THEN = 128  # `then` of a sequence is this plus the number of an instruction buffer
SHORT_PIPELINE = 2  # stages of a pipeline without SU and WB, which .step needs
END_OF_LIST = 0x20  # the byte after the last packet of a list
# Alignments in a memory unit, in bytes.
PACKET_ALIGN = 4
SEQUENCE_ALIGN = INSTRUCTION_BYTES
DATA_ALIGN = 4
SLOT_ALIGN = 32  # of the address of a tensor

_TO = ("to=", "the clusters that take the packet: all, one, or several as (0, 2); default all")
I = Instruction  # a short name, so that a row fits in a line

# fmt: off
COMMANDS = (
    I("config",      COMMAND, {"op": 0, "marker": 0},             "ib=",                  "Store the instruction sequence that comes with the command in an instruction buffer, its operands in the register file, and its scales and its table, if it has any, beside it.",                                                                                                                                                                                            "payload",    "ib register-file",  "command", "its beats on the bus; each instruction is stored when it has arrived, at most one in a cycle", "config ib=0, layer",                    "seed 000 ¶115-117", carries=(("SEQUENCE", "the name of a .seq"), ("data=", "the scales and the table of a sequence that uses them, as in (scales S, table T)"), _TO)),
    I("exe",         EXE,     {"op": 1},                          "ib=, [shift], [last]", "Run the sequence of an instruction buffer over the operand data that come with the command. Without a flag, sums stay in the accumulators, and instructions after the last mac are skipped. shift: raw sums are moved out. last: results go through the special functions. Both flags: each result is written as soon as it is complete.", "payload ib", "accumulators unit", "command", "its beats on the bus; the sequence starts 3 cycles after the command byte at the earliest", "exe ib=0, last, data=(x, w[0]), out=y", "seed 000 ¶115-117", carries=(("data=", "the segments in the order of the ld: symbols or ranges of them; words beside a symbol give its type, its distribution to PEs, and compress or dense, if its declaration does not"), ("out=", "where the results go: a symbol, or one with stride=, step=, count=, pes=, type="), _TO)),
    I("trace_begin", MARKER,  {"op": 0, "marker": 1, "begin": 1}, "g",                    "Begin to record in a register group of the trace block.",                                                                                                                                                                                                                                                                "",           "trace",             "command", "a beat of one byte",                                                                        "trace_begin 0",                         "seed 001", carries=(_TO,)),
    I("trace_end",   MARKER,  {"op": 0, "marker": 1, "begin": 0}, "g",                    "End recording in a register group of the trace block.",                                                                                                                                                                                                                                                                  "",           "trace",             "command", "a beat of one byte",                                                                        "trace_end 0",                           "seed 001", carries=(_TO,)),
)
INSTRUCTIONS = (
    I("mac", MAC, {"op": 0}, "base=0, acc=0, [balance], [sfu]", "Multiply each weight of the segment by the activation at its index, counted from block number base of the input buffer, and add the products to an accumulator; zero activations are skipped, and zero weights too unless they came dense. balance: a PE may give loads to its left neighbour. sfu: the sums also go to the special-function unit.", "weights activations base acc",     "acc",                      "sequence", "n products of a PE take at least n + 2 cycles; in a cycle a PE examines two weights (design 5a: one) and computes one product; the mac ends with the last PE of the cluster", "mac base=0, acc=1, balance, sfu", "seed 000 ¶94-96, ¶99-102, ¶121"),
    I("ld",  LD,  {"op": 1}, "destination, base=0",             "Load the next segment of the exe command. weights: into the weight queue. activations: into the input buffer, with its bitmask. both: into queue and buffer. psums: into a block of the output queue, and add this block to accumulators 0 to 3; without a segment, add what the block contains. base is the number of the first block in the buffer or queue.",         "segment output-queue destination", "destination output-queue", "sequence", "until one cycle after its last beat; psums from the output queue: 4",                                                                     "ld activations, base=0",          "seed 000 ¶90-92, ¶121"),
    I("st",  ST,  {"op": 2}, "base=0",                          "Write elements of the output queue to the addresses in the memory unit that out= of the exe gives. base is the number of the first block.",                                                                                                                                                                            "output-queue",                     "unit",                     "sequence", "a beat a cycle on the row's return bus, clusters in turn",                                                                          "st base=3",                       "seed 000 ¶96, ¶121"),
    I("spu", SPU, {"op": 3}, "function, src=0, dst=0",          "Move results to an output-queue block. nonsf moves an accumulator (8 to 15: one of the scalar unit). The other functions send an output-queue block, or the accumulator of a mac with sfu, through the special-function unit. The sequence selects activation and reduction, and whether requantise shifts or multiplies by a scale of each PE.",                                                                                     "src scalars",                      "output-queue src scalars", "sequence", "nonsf: one cycle for each result of a PE; else ceil(results / sfu.rate) + sfu.latency - 1",                                                   "spu activation, src=0, dst=1",    "seed 000 ¶97, ¶121"),
)
# fmt: on

STATES = ("sq", "rq", "sw")
ACTIVATIONS = ("none", "relu", "sigmoid", "tanh", "table")
TABLE = ACTIVATIONS.index("table")  # the activation that uses a table, which a config brings
TABLE_ENTRIES = 256  # one entry for each value of a signed byte
# How spu requantise limits a sum to the range of an element.
REQUANTISE = ("shift", "scale")
SCALE_DTYPE = "float32"  # the type of the scales by which requantise multiplies
REDUCTIONS = ("none", "add", "max", "scalar_add", "scalar_max")
# The fields of a sequence's header that select what a function of spu does.
HEADER_OF = {"activation": ("activation",), "reduce": ("reduction",), "requantise": ("shift",)}
# Activations for which integers have `shift` fraction bits.
FIXED_POINT = ("sigmoid", "tanh")
SCALAR_REDUCTIONS = (3, 4)  # the reductions whose results go to the scalar unit
SCALARS = 8  # accumulators of the scalar unit; for spu nonsf they follow those of a PE
SCALAR_SOURCE = 8  # the value of src that means the first of them

SEQUENCE = Structure(
    "sequence",
    (
        Member(
            "count", "u8", "instructions", Immediate(8, low_limit=1, high_limit=SEQUENCE_LENGTH)
        ),
        Member(
            "state", "u8", "scalar pipeline state: behaviour of the weight queue", Choice(STATES)
        ),
        Member(
            "pipeline",
            "u8",
            "stages of the instruction pipeline",
            Choice(("", "", "2", "", "4")),
            SHORT_PIPELINE,
        ),
        Member("activation", "u8", "function of spu activation", Choice(ACTIVATIONS)),
        Member("reduction", "u8", "function of spu reduce, and where it goes", Choice(REDUCTIONS)),
        Member(
            "shift",
            "u8",
            "bits that spu requantise shifts right, unless it multiplies by scales",
            Immediate(8, high_limit=63),
        ),
        Member("then", "u8", f"0, or {THEN} + the instruction buffer to trigger afterwards"),
        Member("records", "u8", "records of the kinds types, step and stride that follow"),
        Member("inner", "u16", "passes of the inner loop", Immediate(16, low_limit=1), 1),
        Member("outer", "u16", "passes of the outer loop", Immediate(16, low_limit=1), 1),
        Member("window", "u16", "entries of a sliding window (sw)"),
        Member("pop", "u16", "entries popped at a loopback (sw)"),
    ),
    "An instruction sequence as config carries it.",
    then="records, then count instructions, a halfword each",
)
# The second byte of a record gives its kind. 0 or 1: a step of that entry. 2 or 3: a stride of
# entry 0 or 1. 128: the types of the sequence (docs/format-pe.md).
STRIDE_KIND = 2
TYPES_KIND = 128
STEP = Structure(
    "step",
    (
        Member("instruction", "u8", "position in the sequence", Immediate(8, high_limit=15)),
        Member("operand", "u8", "0: base or src; 1: acc or dst", Immediate(1)),
        Member("inner", "i16", "elements added at each loopback"),
        Member("outer", "i16", "elements added, too, at each loopback that ends an inner loop"),
        Member("reserved", "u16", "zero"),
    ),
    "How the scalar unit changes an operand at a loopback.",
)
STRIDE = Structure(
    "stride",
    (
        Member("instruction", "u8", "position in the sequence", Immediate(8, high_limit=15)),
        Member(
            "operand",
            "u8",
            f"{STRIDE_KIND}: base or src; {STRIDE_KIND + 1}: dst",
            Immediate(8, low_limit=STRIDE_KIND, high_limit=STRIDE_KIND + 1),
        ),
        Member("pe", "i16", "elements added from a PE of a cluster to the next"),
        Member("cluster", "i16", "elements added from a cluster of the row to the next"),
        Member("reserved", "u16", "zero"),
    ),
    "How the parser makes the operand of each PE from the written one.",
)
# Element types of weights and activations by number; 0 is the default.
DEFAULT = "default"
_OPERAND = Choice((DEFAULT, *(x if x in OPERAND_DTYPES else "" for x in ELEMENTS)))
TYPES = Structure(
    "types",
    (
        Member("reserved", "u8", "zero"),
        Member(
            "operand",
            "u8",
            "the kind of the record",
            Immediate(8, low_limit=TYPES_KIND, high_limit=TYPES_KIND),
            TYPES_KIND,
        ),
        Member("weights", "u8", "element type of the weights; default: pe.element", _OPERAND),
        Member(
            "activations", "u8", "element type of activations and of requantised results", _OPERAND
        ),
        Member("requantise", "u8", "what spu requantise does", Choice(REQUANTISE)),
        Member("reserved_byte", "u8", "zero"),
        Member("reserved_high", "u16", "zero"),
    ),
    "Which numbers a sequence computes with; at most one for each sequence. Without it, elements are pe.element, and requantise shifts.",
)
# The members of `TYPES` that `.types` names.
TYPE_MEMBERS = tuple(
    member.name
    for member in TYPES.members
    if member.name != "operand" and not member.name.startswith("reserved")
)
OPERAND_TYPES = ("weights", "activations")  # segment types 0 and 1, which have element types
RECORD_SIZE = STEP.size  # bytes of a record of any kind
# By field of an instruction: which of its two entries in the register file the field names.
ENTRY_OF = {"base": 0, "src": 0, "acc": 1, "dst": 1}


def record_kind(data: bytes, offset: int) -> Structure:
    """Return the structure of the record at `offset` of the sequence `data`.

    It is `STEP`, `STRIDE` or `TYPES`, by the second byte of the record; `STEP` for an unknown byte.
    """
    kind = data[offset + 1 : offset + 2]
    if kind and kind[0] == TYPES_KIND:
        return TYPES
    return STRIDE if kind and STRIDE_KIND <= kind[0] < STRIDE_KIND + 2 else STEP


def strided(row: Instruction, values: Mapping[str, int]) -> tuple[int, ...]:
    """Return which operands of an instruction may have another value in each PE (`.stride`).

    The result has 0 for the operand base or src, and 1 for acc or dst, as in `ENTRY_OF`. Only
    positions in a PE's buffers and queues may differ: the number of an accumulator is a control
    signal of the MAC unit, and a target in the scalar unit, or only in PE 0, exists once.
    """
    if row.mnemonic == "spu":
        function = FUNCTIONS[values["function"]]
        if function == "nonsf":
            return (1,) if values["src"] < SCALAR_SOURCE else ()
        return (0,) if function == "reduce" else (0, 1)
    if row.mnemonic == "ld" and DESTINATIONS[values["destination"]] == "weights":
        return ()
    return (0,)


SEGMENT_TYPES = ("weights", "activations", "psums", "sequence", "scales", "table")
# Who gets a segment: all get the whole, or a slice for each PE, each cluster, PE i of each cluster.
MODES = ("broadcast", "sliced", "by_cluster", "by_pe")
# How the weights of a segment are stored: records of index + value; all values, from which the
# distribution unit makes such records; all values, which the loading unit numbers.
FORMS = ("records", "compress", "dense")


PACKET = Structure(
    "packet",
    (
        Member("command", "u8", "the command byte"),
        Member("segments", "u8", "segments that follow"),
        Member("reserved", "u16", "zero"),
        Member("clusters", "u32", "mask of the row's clusters that take the packet"),
    ),
    f"A command in a memory unit; aligned to {PACKET_ALIGN} bytes.",
    then="segments, and after those of an exe its out record",
)
SEGMENT = Structure(
    "segment",
    (
        Member("type", "u8", "what it holds", Choice(SEGMENT_TYPES)),
        Member("mode", "u8", "which PEs get which part", Choice(MODES)),
        Member(
            "form",
            "u8",
            "how weights are stored: records of index and value (records); plain values, from which the distribution unit makes records (compress), or to which the loading unit adds indices (dense)",
            Choice(FORMS),
        ),
        Member(
            "element",
            "u8",
            "element type of the data; default: that of the sequence",
            Choice((DEFAULT, *ELEMENTS)),
        ),
        Member("offset", "u32", "bytes from the start of the unit's half"),
        Member("length", "u32", "bytes"),
    ),
    "A run of payload bytes of a packet.",
)
OUT = Structure(
    "out",
    (
        Member("offset", "u32", "byte of PE 0's element 0, counted from the start of the half"),
        Member("stride", "u32", "bytes from a PE to the next; the PE index is cluster * K + PE"),
        Member("step", "u32", "bytes from an element of a PE to its next"),
        Member("count", "u16", "elements that one st or stream writes for each PE; 0: no output"),
        Member("pes", "u16", "PEs that write, counted by PE index; 0: all"),
        Member("element", "u8", "element type in memory", Choice(ELEMENTS)),
        Member("reserved", "u8", "zero"),
        Member("reserved_high", "u16", "zero"),
    ),
    "Where the results of an exe go. Each store of an exe continues after the one before.",
)


@dataclass(frozen=True)
class Payload:
    """Which segments (pieces of data) may follow the header of a packet.

    Each segment has one of `types`; if `first` is not empty, the first segment has this type. With
    `once`, no two segments have the same type. With `out`, an out record follows the segments.
    """

    types: tuple[str, ...] = ()  # the types that its segments may have
    first: str = ""  # the type that the first segment must have; empty: any, or no segment
    once: bool = False  # each type occurs at most once
    out: bool = False  # an out record follows them

    def fits(self, types: Sequence[int]) -> bool:
        """Return whether segments of these types may follow the header.

        A type is an index into SEGMENT_TYPES.
        """
        names = [SEGMENT_TYPES[kind] for kind in types]
        starts = not self.first or names[:1] == [self.first]
        repeats = self.once and len(set(names)) < len(names)
        return starts and not repeats and all(name in self.types for name in names)


CONFIG_DATA = ("scales", "table")  # segments that may follow the sequence of a config
PAYLOADS = {
    "config": Payload(("sequence", *CONFIG_DATA), first="sequence", once=True),
    "exe": Payload(("weights", "activations", "psums"), out=True),
    "trace_begin": Payload(),
    "trace_end": Payload(),
}
WEIGHTS_RECORD = Structure(
    "weights",
    (Member("count", "u16", "entries"),),
    "The weights of a slice, which are one row of a matrix, in a segment of weights.",
    then="count records of the kind entry",
)
ENTRY = Structure(
    "entry",
    (Member("index", "u16", "index of the activation by which it is multiplied"),),
    "A weight that is not zero.",
    then="the bytes of its value, little-endian, of the element type of the segment",
)

_REGISTERS = RegisterFile(
    "accumulators",
    64,
    tuple((name,) for name in SUMS),
    "A PE's accumulation buffers 5063.",
)

DIRECTIVES = (
    Directive(
        ".seq",
        ".seq NAME, state=sq, pipeline=2, activation=none, reduction=none, shift=0, window=0, pop=0",
        "Begin an instruction sequence, which config stores in an instruction buffer."
        f" It holds {SEQUENCE_LENGTH} instructions at most."
        " With activation=table, config brings the table.",
        ".seq layer, state=sq, activation=relu, shift=4\n  ld activations\n  ld weights\n  mac base=0, acc=0\n  spu nonsf\n  st\n.endseq",
        end=".endseq",
        structures=(SEQUENCE.name,),
    ),
    Directive(
        ".loop",
        ".loop inner=1, outer=1",
        "Repeat the sequence in two nested loops: inner is the number of passes of the inner loop, outer that of the outer loop.",
        ".seq layer\n  .loop inner=3, outer=2\n  mac\n.endseq",
    ),
    Directive(
        ".types",
        ".types weights=default, activations=default, requantise=shift",
        "Say which numbers the sequence computes with: the element types of weights and activations, and whether requantise shifts sums right or multiplies them by scales, which config brings.",
        ".seq layer\n  .types weights=int8, requantise=scale\n  spu requantise\n.endseq",
        structures=(TYPES.name,),
    ),
    Directive(
        ".step",
        ".step MNEMONIC[N].OPERAND, inner=0, outer=0",
        "After each iteration, add inner to an operand of the sequence's instruction number N with that mnemonic (counted from 0). After the last iteration of the inner loop, add outer, too.",
        ".seq layer, pipeline=4\n  .loop inner=3\n  .step mac[0].base, inner=1\n  mac\n.endseq",
    ),
    Directive(
        ".stride",
        ".stride MNEMONIC[N].OPERAND, pe=0, cluster=0",
        "Give each PE its own value of an operand: the written value + P * pe + C * cluster, for PE P of cluster C.",
        ".seq layer\n  .stride mac[0].base, pe=1, cluster=4\n  mac\n.endseq",
    ),
    Directive(
        ".then",
        ".then ib=N",
        "Trigger another instruction buffer when the sequence has ended.",
        ".seq layer\n  .then ib=1\n  mac\n.endseq",
    ),
    Directive(".endseq", ".endseq", "End an instruction sequence.", ".seq layer\n  mac\n.endseq"),
    Directive(
        ".list",
        ".list NAME",
        "Begin a packet list, which cp's dispatch starts. NAME is the symbol of its address.",
        ".list packets\n  trace_begin 0\n.endlist",
    ),
    Directive(
        ".endlist", ".endlist", "End a packet list.", ".list packets\n  trace_end 0\n.endlist"
    ),
)

QUEUES = (
    Queue(
        "weights",
        "pe.weight_queue",
        "503: index and value of the weights of a segment",
        "weight_count",
        "weights_high",
        "weight_head",
    ),
    Queue("input", "pe.input_buffer", "504: activations and their bitmask", "block_loaded"),
    Queue(
        "q1",
        "pe.load_queue_1",
        "518: loads from the comparator, double width: up to two in a cycle",
        "q1_count",
        "q1_high",
        "q1_head",
    ),
    Queue(
        "q2",
        "pe.load_queue_2",
        "519: loads for the MAC, one in a cycle",
        "q2_count",
        "q2_high",
        "q2_head",
    ),
    Queue("output", "pe.output_queue", "513: results, 16 blocks", "output_written"),
)

# The kind of a PE's cycle, by the state of its MAC. The counts add up to the cycles.
CYCLE_CLASSES = (
    Counter("cycles_mac", "cycles in which the MAC took a load", "cycles"),
    Counter("cycles_filling", "cycles of a mac before the first load reached the MAC", "cycles"),
    Counter("cycles_no_load", "cycles of a mac in which no load was ready", "cycles"),
    Counter("cycles_queue", "cycles of waiting for a queue, a buffer or the SFU", "cycles"),
    Counter("cycles_handing", "cycles in which a PE handed partial sums over", "cycles"),
    Counter("cycles_early", "cycles from the end of a PE's mac to that of the last PE", "cycles"),
    Counter("cycles_idle", "cycles without a running sequence", "cycles"),
)
PE_COUNTERS = (
    *CYCLE_CLASSES,
    Counter("macs", "products added to an accumulator", "products"),
    Counter("weights_examined", "weight entries that the index comparator looked at", "entries"),
    Counter("effectual_loads", "weights whose activation was not zero", "loads"),
    Counter("loads_given", "loads that went to the left neighbour", "loads"),
    Counter("loads_taken", "loads that came from the right neighbour", "loads"),
    Counter("output_reads", "results read from the output queue", "results"),
    Counter("output_writes", "results written to the output queue", "results"),
    Counter("q1_high", "high-water mark of load queue 1", "loads", peak=True),
    Counter("q2_high", "high-water mark of load queue 2", "loads", peak=True),
    Counter("weights_high", "high-water mark of the weight queue", "entries", peak=True),
)
ROW_COUNTERS = (
    Counter("cycles", "cycles from a list's first packet to its end", "cycles"),
    Counter("packets", "packets that the bus has carried", "packets"),
    Counter("bus_beats", "beats of the bus", "beats"),
    Counter("bus_bytes", "bytes of commands and payloads on the bus", "bytes"),
    Counter("bus_waits", "cycles in which a packet waited and the bus carried no beat", "cycles"),
    Counter("return_beats", "beats of the return bus", "beats"),
    Counter("return_bytes", "bytes of results on the return bus", "bytes"),
    Counter("sfu_results", "results of the special-function units", "results"),
)
# A row's counter is the sum over its PEs; a high-water mark is the maximum over them.
COUNTERS = (*ROW_COUNTERS, *PE_COUNTERS)

# fmt: off
FAULTS = (
    *common.FAULTS,
    Fault("uninitialised instruction buffer", "An exe named a buffer that no config has filled."),
    Fault("segment mismatch",     "A segment that does not fit the ld of the sequence: of another type, missing or left over; compressed for a sliding window; or without an element type, though its clusters expect different ones."),
    Fault("slice mismatch",       "A sliced segment cannot be divided evenly among its PEs."),
    Fault("queue overflow",       "A queue or buffer would get more entries than it can store."),
    Fault("queue underflow",      "An instruction read an entry that nothing had written."),
    Fault("index out of range",   "A weight's index plus the base is past the loaded activations; a step has moved an operand out of its buffer; or a dense slice has too many elements for 16-bit indices."),
    Fault("type mismatch",        "The weights or activations of a mac were loaded with another element type than that of its sequence."),
    Fault("accumulator overflow", "A sum left the accumulator's range (pe.overflow = fault)."),
    Fault("store overflow",       "A result does not fit the element type with which it is stored."),
    Fault("malformed packet",     "A packet, segment or sequence whose contents are not allowed."),
    Fault("not available",        "A mode or function that this configuration does not have."),
)
# fmt: on


EVENTS = (
    Event("exe", "A cluster begins an exe command.", announced="begin"),
    Event(
        "sfu-done",
        "The special-function unit of a cluster has given its last result.",
        announced="sfu",
    ),
)

CORE = checked(
    Core(
        **vars(DESCRIPTOR),
        row=2,
        unit="the MACs of a row's PEs: one use for each product. They work from the first cycle of a mac to its last one. The array is the row: one use for each cycle in which a mac of any of its clusters works",
        instructions=COMMANDS + INSTRUCTIONS,
        structures=(SEQUENCE, TYPES, STEP, STRIDE, PACKET, SEGMENT, OUT, WEIGHTS_RECORD, ENTRY),
        directives=DIRECTIVES,
        files=(_REGISTERS,),
        queues=QUEUES,
        counters=COUNTERS,
        faults=FAULTS,
        events=EVENTS,
        begins=("instruction", "packet"),
        piece="end",
        levels=("cluster", "pe"),
        carried={
            "data=": (*PAYLOADS["exe"].types, *MODES, *FORMS, *OPERAND_DTYPES),
            "config data=": (*CONFIG_DATA, *MODES),
            "out=": ("stride=", "step=", "count=", "pes=", "type="),
            "to=": ("all",),
        },
        order=("command", "sequence"),
    )
)
