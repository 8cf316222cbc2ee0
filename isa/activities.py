"""The activities that a meter counts, as one table: operations, bytes of memories, control.

The roofline adds up operations and bytes. The estimate of energy multiplies each count by the
picojoules of one activity. The reference engine and the fast engine of a core both count with the
meter in `macaw.emu.meter`, so their counts are equal.
"""

from __future__ import annotations

from macaw.isa.lazy_dataclass import dataclass

OPERATION, BYTES, CONTROL = "operation", "bytes", "control"
# What an instruction computes. Logic and special results count without their type.
ADD, MULTIPLY, LOGIC, SPECIAL = ARITHMETIC = ("add", "multiply", "logic", "special")


@dataclass(frozen=True)
class Activity:
    """A row of the table of activities.

    `kind` is `OPERATION`, `BYTES` or `CONTROL`. `unit` names what a count of the activity counts,
    for example "products".
    """

    name: str
    kind: str
    unit: str
    meaning: str


# fmt: off
ACTIVITIES = (
    Activity("add_int8",     OPERATION, "additions",       "additions, subtractions and comparisons of integers of 8 bits"),
    Activity("add_int16",    OPERATION, "additions",       "the same of 16 bits"),
    Activity("add_int32",    OPERATION, "additions",       "the same of 32 bits"),
    Activity("add_int64",    OPERATION, "additions",       "the same of 64 bits and more"),
    Activity("mul_int8",     OPERATION, "products",        "products of integers of at most 8 bits"),
    Activity("mul_int16",    OPERATION, "products",        "products of integers of 9 to 16 bits"),
    Activity("mul_int32",    OPERATION, "products",        "products of integers of 32 bits"),
    Activity("add_fp16",     OPERATION, "additions",       "additions, subtractions and comparisons of binary16"),
    Activity("add_fp32",     OPERATION, "additions",       "the same of binary32"),
    Activity("add_bf16",     OPERATION, "additions",       "the same of bfloat16"),
    Activity("mul_fp16",     OPERATION, "products",        "products of binary16"),
    Activity("mul_fp32",     OPERATION, "products",        "products of binary32"),
    Activity("mul_bf16",     OPERATION, "products",        "products of bfloat16"),
    Activity("logic",        OPERATION, "results",         "moves, shifts, conversions and logic, of an element or a word"),
    Activity("special",      OPERATION, "results",         "results of divisions, roots, exponentials, and of special-function units"),
    Activity("sram_8k",      BYTES,     "bytes",           "bytes of on-chip memories of at most 8 KiB"),
    Activity("sram_32k",     BYTES,     "bytes",           "bytes of on-chip memories of more than 8 and at most 32 KiB"),
    Activity("sram_1m",      BYTES,     "bytes",           "bytes of greater on-chip memories"),
    Activity("dram",         BYTES,     "bytes",           "bytes that pass the interface of a DRAM; of external memory in whole beats"),
    Activity("dram_bank",    BYTES,     "bytes",           "bytes of columns of DRAM that circuits beside the bank use"),
    Activity("dram_rows",    CONTROL,   "rows",            "rows of DRAM that were opened"),
    Activity("instructions", CONTROL,   "instructions",    "instructions of scalar cores"),
    Activity("commands",     CONTROL,   "commands",        "transfers, packets, and instructions and words of other cores"),
)
# fmt: on
BY_NAME = {row.name: row for row in ACTIVITIES}
OPERATIONS = frozenset(row.name for row in ACTIVITIES if row.kind == OPERATION)
PRODUCTS = frozenset(row.name for row in ACTIVITIES if row.unit == "products")


def sram(capacity: int) -> str:
    """Return the name of the activity for bytes accessed in an on-chip memory.

    `capacity` is the size of the memory in bytes. Up to 8 KiB, the result is "sram_8k".
    """
    if capacity <= 8 << 10:
        return "sram_8k"
    return "sram_32k" if capacity <= 32 << 10 else "sram_1m"


def adding(element: str) -> str:
    """Return the name of the activity for additions in the type `element`, such as `int32`."""
    return f"add_{element}"


def multiplying(element: str) -> str:
    """Return the name of the activity for products in the type `element`; int64 counts as int32."""
    return f"mul_{'int32' if element == 'int64' else element}"


def computing(arithmetic: str, element: str) -> str:
    """Return the name of the activity that counts an instruction's results of the type `element`.

    `arithmetic` is what the instruction computes, one of `ARITHMETIC`: "add" and "int8" give
    `add_int8`. For "logic" and "special" all types count together, as `logic` or `special`.
    """
    if arithmetic == ADD:
        return adding(element)
    return multiplying(element) if arithmetic == MULTIPLY else arithmetic
