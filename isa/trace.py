"""The registers and records of the trace block that each core has (seed 001).

The seed names the counters, the modes and the parameters. Macaw defines addresses, the order of
registers and the record in memory. `macaw.emu.trace` does the recording. A core's table says how
its program accesses the registers: as CSRs or memory-mapped.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Member, Setting, SpecialRegister, Structure
from macaw.isa.rows import TableError

MARK, AUTO = 0, 1  # values of trace_mode
ALL = 0xFFFF_FFFF
INSTRUCTION = "instruction"


@dataclass(frozen=True)
class Occurrence:
    """A kind of occurrence on a core that its trace block counts, such as a blocked write."""

    name: str  # if it is traffic: the name of its counter in `macaw.isa.common.TRAFFIC`
    meaning: str


@dataclass(frozen=True)
class GroupRegister:
    """A register of a register group of the trace. It records occurrences of the kind `of`.

    `takes` says what the register records: "first" (the cycle in which the first occurrence
    begins), "last" (the cycle after the end of the last occurrence) or "count" (their number).
    `symbol` is the register's letter in the seed's formulas.
    """

    name: str
    of: str
    takes: str
    meaning: str
    symbol: str = ""  # the letter in the seed's formulas


@dataclass(frozen=True)
class Parameter:
    """A configuration register of the trace block. `index` is the register's number.

    `access` is "rw" or "ro". A value that is written must be a multiple of `step` and at most
    `high`.
    """

    name: str
    index: int
    access: str  # "rw", "ro"
    meaning: str
    unit: str = ""
    high: int = ALL  # the greatest value that may be written
    step: int = 1  # values must be a multiple of it


# fmt: off
OCCURRENCES = (
    Occurrence(INSTRUCTION,        "an instruction, from its start to its end"),
    Occurrence("unit",             "a compute unit works: one use for each unit that does"),
    Occurrence("array",            "the array of compute units works: one use, however many units take part"),
    Occurrence("reads",            "a read of on-chip memory was granted"),
    Occurrence("reads_blocked",    "a read of on-chip memory lost a bank, for a cycle"),
    Occurrence("writes",           "a write of on-chip memory was granted"),
    Occurrence("writes_blocked",   "a write of on-chip memory lost a bank, for a cycle"),
    Occurrence("external_reads",   "beats of an external read, from its request to its last data"),
    Occurrence("external_writes",  "beats of an external write, from its request to its last beat"),
    Occurrence("external_partial", "beats of an external write that are narrower than the memory"),
)

# In the order of the registers.
GROUP = (
    GroupRegister("t_begin",       INSTRUCTION,        "first", "start of the first instruction"),
    GroupRegister("t_end",         INSTRUCTION,        "last",  "end of the last instruction"),
    GroupRegister("t_rd_begin",    "external_reads",   "first", "start of the first external read",  "t1"),
    GroupRegister("t_rd_end",      "external_reads",   "last",  "end of the last external read",     "t2"),
    GroupRegister("t_wr_begin",    "external_writes",  "first", "start of the first external write"),
    GroupRegister("t_wr_end",      "external_writes",  "last",  "end of the last external write"),
    GroupRegister("t_cu_begin",    "unit",             "first", "start of the computation",          "t3"),
    GroupRegister("t_cu_end",      "unit",             "last",  "end of the computation",            "t4"),
    GroupRegister("e_cu",          "unit",             "count", "uses of compute units",             "a3, q"),
    GroupRegister("e_array",       "array",            "count", "uses of the array of units",        "b3"),
    GroupRegister("e_rd",          "reads",            "count", "reads of on-chip memory",           "b2"),
    GroupRegister("e_rd_blocked",  "reads_blocked",    "count", "blocked reads of on-chip memory",   "a2"),
    GroupRegister("e_wr",          "writes",           "count", "writes of on-chip memory",          "b2"),
    GroupRegister("e_wr_blocked",  "writes_blocked",   "count", "blocked writes of on-chip memory",  "a2"),
    GroupRegister("e_bus",         "external_reads",   "count", "beats with valid external read data", "n"),
    GroupRegister("e_xwr_partial", "external_partial", "count", "beats of external writes that are narrower than the memory", "a1"),
    GroupRegister("e_xwr",         "external_writes",  "count", "beats of external writes",          "b1"),
)

PARAMETERS = (
    Parameter("trace_mode",      0, "rw", "0, mark: markers enclose the recorded instructions; 1, auto: the parameters below select them", high=AUTO),
    Parameter("trace_begin",     1, "rw", "number of the first instruction that group 0 records in loop 0", "instructions"),
    Parameter("trace_num",       2, "rw", "instructions that a group records at a time", "instructions"),
    Parameter("trace_step",      3, "rw", "instructions from a group's first one to the first one of the next group", "instructions"),
    Parameter("trace_overhead",  4, "rw", "instructions from a group's first one to its first one in the next loop", "instructions"),
    Parameter("trace_loops",     5, "rw", "number of loops; 0: until the end of the program", "loops"),
    Parameter("trace_spill",     6, "rw", "address of the area to which records are written (spilled), outside of on-chip memory; a write to this register or to trace_spill_end empties the area", "bytes", step=4),
    Parameter("trace_spill_end", 7, "rw", "the first address after the area at trace_spill; if it is not greater than trace_spill, there is no area", "bytes", step=4),
    Parameter("trace_status",    8, "ro", "bit 0: a group records; bit 1: a record was lost because the area was full"),
    Parameter("trace_next",      9, "ro", "address at which the next record will be spilled", "bytes"),
    Parameter("trace_lost",     10, "ro", "records that were not spilled because the area was full", "records"),
)

SETTINGS = (
    Setting("trace.groups",    4,    "register groups of each core's trace block", "groups", 1, 16),
    Setting("trace.recording", True, "whether trace blocks record; else their counters stay 0"),
)
# fmt: on

RECORDING, FULL = 1, 2  # bits of trace_status

RECORD = Structure(
    "trace record",
    (
        Member("core", "u32", "number of the core"),
        Member("group", "u32", "register group that recorded"),
        Member("loop", "u32", "loop in which it did, from 0; 0 in mark mode"),
        Member("first", "u32", "number of the first instruction, in the order executed, from 0"),
        Member("instructions", "u32", "instructions that were recorded"),
        *(Member(row.name, "u32", row.meaning) for row in GROUP),
    ),
    "What a group writes to the area when it ends its record.",
)

# CSRs (cp, vc). Four groups fit into the ranges that RISC-V reserves for custom registers.
CSR_PARAMETERS = 0x7C0
CSR_GROUPS = 0xFC0  # + 16 * group + index, indices 0 to 15
CSR_LAST = 0xCC0  # + 16 * group: index 16
CSR_STRIDE = 16
CSR_REACHED = 4  # groups

# Offsets in the page of a core's memory-mapped registers.
MAPPED_PARAMETERS = 0x700
MAPPED_GROUPS = 0x800
MAPPED_STRIDE = 0x80
MAPPED_REACHED = 16  # groups


def group_register(row: GroupRegister, group: int) -> str:
    """Return the name of a register in one of the groups, such as `t_begin0`."""
    return f"{row.name}{group}"


def csrs() -> tuple[SpecialRegister, ...]:
    """Return the registers of the trace block as CSRs, ordered by address."""
    parameters = [_parameter(row, CSR_PARAMETERS + row.index) for row in PARAMETERS]
    for group in range(CSR_REACHED):
        for place, row in enumerate(GROUP):
            inside = place < CSR_STRIDE
            base = CSR_GROUPS + place if inside else CSR_LAST
            parameters.append(_counter(row, group, base + CSR_STRIDE * group))
    return tuple(sorted(parameters, key=lambda row: row.address))


def mapped() -> tuple[SpecialRegister, ...]:
    """Return the registers of the trace block as memory-mapped registers.

    Their addresses are byte offsets in a core's page of registers.
    """
    parameters = [_parameter(row, MAPPED_PARAMETERS + 4 * row.index) for row in PARAMETERS]
    for group in range(MAPPED_REACHED):
        for place, row in enumerate(GROUP):
            address = MAPPED_GROUPS + MAPPED_STRIDE * group + 4 * place
            parameters.append(_counter(row, group, address))
    return tuple(parameters)


def _parameter(row: Parameter, address: int) -> SpecialRegister:
    return SpecialRegister(row.name, address, row.access, f"Trace: {row.meaning}.")


def _counter(row: GroupRegister, group: int, address: int) -> SpecialRegister:
    name = group_register(row, group)
    return SpecialRegister(name, address, "ro", f"Trace, group {group}: {row.meaning}.")


def places() -> Mapping[str, tuple[int, int]]:
    """Return (group, index in the group) of each group register, by its name.

    The name is a result of `group_register`.
    """
    return MappingProxyType(
        {
            group_register(row, group): (group, place)
            for group in range(MAPPED_REACHED)
            for place, row in enumerate(GROUP)
        }
    )


def _check() -> None:
    """Raise `TableError` if rows of this module contradict each other."""
    names = {row.name for row in OCCURRENCES}
    for row in GROUP:
        if row.of not in names or row.takes not in ("first", "last", "count"):
            raise TableError(f"trace: {row.name} takes {row.takes} of {row.of}")
    for rows in (csrs(), mapped()):
        addresses, names = {row.address for row in rows}, {row.name for row in rows}
        if len(addresses) != len(rows) or len(names) != len(rows):
            raise TableError("trace: two registers have one name or one address")
    RECORD.check()


_check()
