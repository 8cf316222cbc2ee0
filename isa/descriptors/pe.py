"""The descriptor of pe, the PE array: its names, core number and settings."""

from __future__ import annotations

from macaw.isa.memory_map import MOST_UNITS
from macaw.isa.model import CoreDescriptor, Setting
from macaw.isa.pe_elements import SUM_DTYPES, disagreeing
from macaw.isa.pe_size import too_large

BLOCKS = 16  # blocks of an input buffer or an output queue
UNITS = MOST_UNITS  # at most as many rows: they have core numbers 16 to 31 of a 32-bit mask
CLUSTERS = 32  # most clusters of a row: a packet's mask has 32 bits

# fmt: off
SETTINGS = (
    Setting("pe.rows",               4,       "rows: memory units, distribution units and cluster groups",            "",          1, UNITS),
    Setting("pe.clusters",           4,       "clusters of a row",                                                     "",          1, CLUSTERS),
    Setting("pe.pes",                16,      "PEs of a cluster",                                                      "",          1, 1024),
    Setting("pe.divider",            1,       "device cycles to a cycle of the rows",                                  "cycles",    1, 64),
    Setting("pe.design",             "5b",    "cluster design: 5b, or 5a without load queues",                         "",          choices=("5a", "5b")),
    Setting("pe.element",            "int8",  "type of weights and activations, unless a sequence names others",       "",          choices=tuple(SUM_DTYPES)),
    Setting("pe.widest",             "element", "widest type that a sequence may name; buffers and queues count entries of this type", "",      choices=("element", "int16", "fp32")),
    Setting("pe.overflow",           "fault", "what an accumulator does past its range",                               "",          choices=("fault", "wrap", "saturate")),
    Setting("pe.weight_queue",       1024,    "weight queue 503",                                                      "entries",   16, 65536),
    Setting("pe.input_buffer",       4096,    "input buffer 504, 16 blocks",                                           "elements",  16, 65536, step=BLOCKS),
    Setting("pe.output_queue",       256,     "output queue 513, 16 blocks",                                           "elements",  64, 65536, step=BLOCKS),
    Setting("pe.load_queue_1",       8,       "load queue 518",                                                        "loads",     2, 256),
    Setting("pe.load_queue_2",       2,       "load queue 519",                                                        "loads",     1, 256),
    Setting("pe.balance_threshold",  2,       "how many more loads than its left neighbour a PE must have to give one to this neighbour",                "loads",     1, 256),
    Setting("dist.bus_bytes",        32,      "width of a row's bus and of its return bus",                            "bytes",     1, 4096),
    Setting("dist.dispatch_latency", 4,       "from cp's dispatch to the first packet",                                "cycles",    0, 1024),
    Setting("sfu.rate",              4,       "results of a cluster's special-function unit",                          "a cycle",   1, 1024),
    Setting("sfu.latency",           3,       "depth of the special-function unit",                                    "cycles",    1, 1024),
)
# fmt: on

DESCRIPTOR = CoreDescriptor(
    name="pe",
    title="sparse PE array",
    number=16,
    section=".pe.{}",
    executable=False,
    index="row",
    settings=SETTINGS,
    agreements=(too_large, disagreeing),
)
