"""The islands of fim and their memory: settings, abilities, geometry, timing.

The islands of a device may differ (seed 004 ¶53, ¶61). By default, the first islands have the
values of the preset `base`, and further islands are slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.isa import memory_map
from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    ARRANGEMENTS,
    COLUMN_BITS,
    COLUMN_BYTES,
    COLUMNS,
    FORMAT_NAMES,
    FORMATS,
    FUNCTION_NAMES,
    FUNCTIONS,
    ISLANDS,
    MAX_ROWS,
    OUTER,
    SLOTS,
    TENSOR,
    TRANSPOSED,
    TRANSPOSES,
    Arrangement,
    NumberFormat,
)
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Counter, Memory, Setting

BANK_SECTION = (
    "{}.bank{}.row{}"  # the section of a bank's row: section of the island's part, bank, row
)
MAX_BANKS = 16  # banks of an island at most; masks have as many bits
HBM, DIMM = ORGANISATIONS = ("hbm", "dimm")
ALL_BANKS, BANK = REFRESHES = ("all", "bank")


@dataclass(frozen=True)
class Timing:
    """A timing constraint of the memory: the cycles that must pass between two events.

    The events are commands, or the beginnings or ends of data. `meaning` names them. The cycles are
    a setting with the value `default` and the legal range from `low` to `high`.
    """

    name: str
    default: int
    meaning: str
    low: int = 1
    high: int = 1024


# fmt: off
TIMINGS = (
    Timing("t_ccdl",  4,  "from a column command to the next one of its bank, or on the channel to the next one of its bank group"),
    Timing("t_ccds",  2,  "from a column command on the channel to the next one of another bank group"),
    Timing("t_rcdrd", 14, "from an activation to a read of its row"),
    Timing("t_rcdwr", 10, "from an activation to a write to its row"),
    Timing("t_rp",    14, "from a precharge to the next activation of its bank"),
    Timing("t_ras",   33, "from an activation to the precharge of its bank"),
    Timing("t_rc",    47, "from an activation to the next one of its bank"),
    Timing("rl",      20, "from a read on the channel to its data"),
    Timing("wl",      8,  "from a write to its data"),
    Timing("t_wr",    16, "from the last data of a write to the precharge of its bank"),
    Timing("burst",   2,  "hbm: transfer of a column's data on the channel"),
    Timing("t_rtrs",  2,  "gap between the data of two ranks on the channel", 0),
    Timing("t_rrds",  0,  "from an activation to the next one of its rank, in another bank group; 0: off", 0),
    Timing("t_rrdl",  0,  "from an activation to the next one of its bank group; 0: off", 0),
    Timing("t_faw",   0,  "from an activation of a rank to the fourth one after it; 0: off", 0),
    Timing("t_wtrs",  0,  "from the last data of a write on the channel to a read of another bank group of the rank; 0: off", 0),
    Timing("t_wtrl",  0,  "from the last data of a write to a read of its bank, or on the channel to a read of its bank group; 0: off", 0),
    Timing("t_rtp",   0,  "from a read to the precharge of its bank; 0: off", 0),
    Timing("t_rtw",   0,  "from a read on the channel to the next write on it; 0: off", 0),
    Timing("t_column", 0, "from a read of a circuit to the column at the circuit, in its bank; 0: at once", 0),
    Timing("t_refi",  0,  "from one refresh of a bank to the next one; 0: no refresh", 0, 1 << 20),
    Timing("t_rfc",   260, "from a refresh to the next activation of its banks", 1, 1 << 16),
)
# fmt: on
# What a command may wait for. Each has a counter: the cycles in which it is the longest wait.
CONSTRAINTS = (
    "t_ccd",
    "t_rcd",
    "t_rp",
    "t_ras",
    "t_rc",
    "t_wr",
    "channel",
    "t_rrd",
    "t_faw",
    "t_wtr",
    "t_rtp",
    "t_rtw",
    "t_column",
    "refresh",
)


@dataclass(frozen=True)
class Kind:
    """The default values of the settings of one island.

    A field has the name of its setting: `lanes` is the default of `fim.island.N.lanes`.
    """

    arrangements: str
    functions: str
    formats: str = "fp16 fp32"
    divider: int = 1
    lanes: int = 16
    rz_slices: int = 16


_DOT = Kind("elementwise dot", "add sub mul relu", rz_slices=2)
_OUTER = Kind("elementwise outer", "add sub mul and or xor not")
_TENSOR = Kind("elementwise tensor transposed", "add sub mul div vssqr vssqrt", "fp16", rz_slices=4)
_GRU = Kind("elementwise dot", "add sub mul sigmoid tanh", lanes=8, rz_slices=4)
_ALL = Kind(" ".join((*ARRANGEMENT_NAMES, TRANSPOSED)), " ".join(FUNCTION_NAMES), divider=2)
KINDS = (
    _DOT,
    _OUTER,
    _TENSOR,
    _GRU,
    _ALL,
    Kind(_DOT.arrangements, _DOT.functions, divider=2, lanes=8, rz_slices=2),
    Kind(_OUTER.arrangements, _OUTER.functions, "fp16", divider=2, lanes=16),
    Kind(_GRU.arrangements, _GRU.functions, "fp16", divider=2, lanes=16, rz_slices=2),
)


def _island(number: int, kind: Kind) -> tuple[Setting, ...]:
    prefix = f"fim.island.{number}"
    arrangements = (*ARRANGEMENT_NAMES, TRANSPOSED)
    words: dict[str, Any] = {"several": True}
    # fmt: off
    return (
        Setting(f"{prefix}.divider",      kind.divider,      "device cycles to a cycle of the island's circuits", "cycles", 1, 64),
        Setting(f"{prefix}.lanes",        kind.lanes,        "products, or results of another function, of a circuit's ALU", "a cycle", 1, 256),
        Setting(f"{prefix}.rz_slices",    kind.rz_slices,    "size of the register Rz", "columns", 2, SLOTS),
        Setting(f"{prefix}.formats",      kind.formats,      "number types of the lanes", choices=FORMAT_NAMES, **words),
        Setting(f"{prefix}.arrangements", kind.arrangements, "what the ALU can do with its operands; transposed: AᵀB and ABᵀ of tensor", choices=arrangements, **words),
        Setting(f"{prefix}.functions",    kind.functions,    "what the ALU can compute", choices=FUNCTION_NAMES, **words),
    )
    # fmt: on


# fmt: off
SETTINGS = (
    Setting("fim.islands",      4,     "islands",                                                       "",        1, ISLANDS),
    Setting("fim.organisation", "hbm", "hbm: a bank is in one chip, rows and columns have command wires of their own; dimm: the chips of a rank act in lock-step, their banks of one number are a megabank, and all ranks share one command bus and one data bus", choices=ORGANISATIONS),
    Setting("fim.chips",        8,     "dimm: chips of a rank",                                         "",        1, 32),
    Setting("fim.chip_bits",    32,    "dimm: data of a chip a cycle; chips x chip_bits divide the 256 bits of a column", "bits", 8, COLUMN_BITS, step=8),
    Setting("fim.ranks",        1,     "ranks of an island; the banks of all of them are at most 16",   "",        1, MAX_BANKS),
    Setting("fim.bank_groups",  4,     "bank groups of a rank",                                         "",        1, MAX_BANKS),
    Setting("fim.group_banks",  4,     "banks of a bank group",                                         "",        1, MAX_BANKS),
    Setting("fim.act_banks",    MAX_BANKS, "banks of a block that one activation command opens; t_rrds, t_rrdl and t_faw count commands", "", 1, MAX_BANKS),
    Setting("fim.refresh",      "all", "all: all banks of an island are refreshed together; bank: one after another, evenly spread over t_refi", choices=REFRESHES),
    Setting("fim.instructions", 65536, "words of an island's program",                                  "words",   16, 1 << 18),
    Setting("fim.rows",         4096,  "rows of a bank",                                                "",        1, MAX_ROWS),
    *(Setting(f"fim.{row.name}", row.default, row.meaning, "cycles", row.low, row.high) for row in TIMINGS),
    *(Setting(f"fim.alu.{row.name}", row.cycles, f"from the start of {row.name} to its result, in the island's clock", "cycles", 1, 256) for row in FUNCTIONS),
    Setting("fim.alu.tree",     1,     "latency of a level of the adder tree, in the island's clock",              "cycles",  1, 64),
    *(setting for number, kind in enumerate(KINDS) for setting in _island(number, kind)),
)
# fmt: on

WAITS = tuple(
    Counter(f"waits_{name}", f"cycles in which a command waited for {name} longest", "cycles")
    for name in CONSTRAINTS
)


@dataclass(frozen=True)
class Place:
    """The position of a byte in an island's memory: bank, row, column, byte."""

    bank: int
    row: int
    column: int
    byte: int = 0


@dataclass(frozen=True)
class Geometry:
    """How the memory of an island is divided into ranks, banks, rows and columns.

    An island has `ranks` ranks of `groups` bank groups, with `group_banks` banks of `rows` rows in
    each group. `chips` chips store a column together, and each transfers `chip_bits` bits in a
    cycle. If `one_bus`, all ranks share one command bus. An activation command opens `act_banks`
    banks. If `refreshes_banks`, each bank has refreshes of its own.

    A byte's offset in the island is counted in the order: byte in column, column in row, row in
    bank, bank. The first of these varies fastest.
    """

    ranks: int
    groups: int  # of a rank
    group_banks: int
    rows: int
    chips: int = 1  # chips that store a column together
    chip_bits: int = COLUMN_BITS  # bits that a chip transfers in a cycle
    one_bus: bool = False  # all ranks share one command bus
    act_banks: int = MAX_BANKS  # banks that one activation command opens
    refreshes_banks: bool = False  # whether each bank has refreshes of its own

    @property
    def banks(self) -> int:
        """The number of banks of an island, over all ranks.

        In a DIMM, a bank is a megabank: the banks with the same number in all chips of a rank.
        """
        return self.ranks * self.groups * self.group_banks

    @property
    def row_bytes(self) -> int:
        """The size of a DRAM row in bytes."""
        return COLUMNS * COLUMN_BYTES

    @property
    def bank_bytes(self) -> int:
        """The size of a bank in bytes."""
        return self.rows * self.row_bytes

    @property
    def size(self) -> int:
        """The size of an island in bytes."""
        return self.banks * self.bank_bytes

    def group(self, bank: int) -> int:
        """Return the index of the bank group that contains a bank, counted over all ranks."""
        return bank // self.group_banks

    def rank(self, bank: int) -> int:
        """Return the index of the rank that contains a bank."""
        return bank // (self.groups * self.group_banks)

    def place(self, offset: int) -> Place:
        """Return the position (bank, row, column, byte) of the byte at an offset of the island."""
        bank, rest = divmod(offset, self.bank_bytes)
        row, rest = divmod(rest, self.row_bytes)
        column, byte = divmod(rest, COLUMN_BYTES)
        return Place(bank, row, column, byte)

    def offset(self, place: Place) -> int:
        """Return the offset in the island, in bytes, of a position: the inverse of `place`."""
        within = place.row * self.row_bytes + place.column * COLUMN_BYTES + place.byte
        return place.bank * self.bank_bytes + within

    def chip(self, byte: int) -> int:
        """Return the index of the chip of a rank that stores byte `byte` of a column.

        Each beat of a column contains bytes from all chips of the rank.
        """
        width = self.chip_bits // 8
        return byte % (self.chips * width) // width


def geometry(config: Mapping[str, Any]) -> Geometry:
    """Return the geometry of a device's islands."""
    ranks, groups, banks = (config[f"fim.{x}"] for x in ("ranks", "bank_groups", "group_banks"))
    rows = config["fim.rows"]
    chips, bits, one_bus = 1, COLUMN_BITS, config["fim.organisation"] == DIMM
    if one_bus:
        chips, bits = config["fim.chips"], config["fim.chip_bits"]
    together, own = config["fim.act_banks"], config["fim.refresh"] == BANK
    return Geometry(ranks, groups, banks, rows, chips, bits, one_bus, together, own)


def unfit(config: Mapping[str, Any]) -> str:
    """Return an error sentence if island settings contradict each other, else an empty text."""
    memory = geometry(config)
    if memory.banks > MAX_BANKS:
        return (
            f"fim.ranks ({memory.ranks}) x fim.bank_groups ({memory.groups}) x fim.group_banks"
            f" ({memory.group_banks}) are {memory.banks} banks, an island has at most {MAX_BANKS}"
        )
    bits = memory.chips * memory.chip_bits
    if memory.one_bus and COLUMN_BITS % bits:
        return (
            f"fim.chips ({memory.chips}) x fim.chip_bits ({memory.chip_bits}) are {bits} bits a cycle,"
            f" which do not divide the {COLUMN_BITS} of a column"
        )
    return _unfit_refresh(config, memory)


def _unfit_refresh(config: Mapping[str, Any], memory: Geometry) -> str:
    """Return an error sentence if refreshes of `memory` leave no time to open a row, else ""."""
    interval, duration = config["fim.t_refi"], config["fim.t_rfc"]
    number = memory.banks if memory.refreshes_banks else 1
    row = config["fim.t_rp"] + config["fim.t_rc"]
    if interval and number * (duration + row) > interval:
        many = f"{number} refreshes" if number > 1 else "a refresh"
        return (
            f"fim.t_refi ({interval}) is too short for {many} of fim.t_rfc ({duration}) with"
            f" fim.t_rp + fim.t_rc ({row})"
        )
    return ""


def timings(config: Mapping[str, Any]) -> dict[str, int]:
    """Return the timing constraints of the memory in cycles, by name.

    `burst` is the number of cycles for the data of a column. In a DIMM, this number follows from the
    width of the chips.
    """
    values = {row.name: int(config[f"fim.{row.name}"]) for row in TIMINGS}
    memory = geometry(config)
    if memory.one_bus:
        values["burst"] = COLUMN_BITS // (memory.chips * memory.chip_bits)
    return values


class BankMemory(Memory):
    """The table row for the memory of an island, whose size is the sum of its banks' sizes."""

    def bytes(self, config: Mapping[str, Any], instance: int) -> int:
        return geometry(config).size


def bank_ranges(mask: int) -> list[str]:
    """Return the banks of a mask as texts, each a number or a range such as `0-3`."""
    ranges, bank = [], 0
    while mask >> bank:
        if mask >> bank & 1:
            first = bank
            while mask >> bank + 1 & 1:
                bank += 1
            ranges.append(f"{first}-{bank}" if bank > first else f"{bank}")
        bank += 1
    return ranges


def island_address(island: int) -> int:
    """Return the address of an island's first byte."""
    return memory_map.ISLANDS + (island << memory_map.ISLAND_SHIFT)


@dataclass(frozen=True)
class Abilities:
    """What the circuits of an island can do, by the island's settings.

    `island` is the number of the island. Any other field has the value of the island's setting with
    the same name, for example `lanes` the value of `fim.island.N.lanes`.
    """

    island: int  # the number of the island
    divider: int  # device cycles in one cycle of the island's clock
    lanes: int  # of the ALU: the products that it computes in a cycle
    rz_slices: int  # the size of Rz in columns
    formats: frozenset[str]
    arrangements: frozenset[str]
    functions: frozenset[str]

    def lacks(self, function: int, arrangement: int, form: int, transpose: int = 0) -> str:
        """Return the reason why the circuits cannot do an operation; an empty text if they can.

        The arguments are the values that `mmr` writes for function, arrangement, format and
        transpose.
        """
        kind, numbers = ARRANGEMENTS[arrangement], FORMATS[form]
        name = FUNCTIONS[function].name
        if name not in self.functions:
            return f"island {self.island} has no {name}, but {self._list(FUNCTION_NAMES, self.functions)}"
        if kind.name not in self.arrangements:
            there = self._list(ARRANGEMENT_NAMES, self.arrangements)
            return f"island {self.island} has no arrangement {kind.name}, but {there}"
        if numbers.name not in self.formats:
            return f"island {self.island} has no {numbers.name}, but {self._list(FORMAT_NAMES, self.formats)}"
        if numbers.is_integer and FUNCTIONS[function].is_real:
            return f"{name} has no results in {numbers.name}: most of its results are no integers"
        return self._unfit(kind, numbers, name, transpose)

    def _unfit(self, kind: Arrangement, numbers: NumberFormat, name: str, transpose: int) -> str:
        if kind.name != ARRANGEMENT_NAMES[0] and name != "mul":
            return f"the arrangement {kind.name} takes the function mul, not {name}"
        if numbers.name not in kind.formats:
            return (
                f"the arrangement {kind.name} takes {' or '.join(kind.formats)}, not {numbers.name}"
            )
        if (
            kind.name == ARRANGEMENT_NAMES[TENSOR]
            and transpose
            and TRANSPOSED not in self.arrangements
        ):
            return f"island {self.island} cannot transpose {TRANSPOSES[transpose]}"
        if not self.slices(numbers):
            needed = numbers.slice_bytes // COLUMN_BYTES
            return (
                f"a slice of {numbers.name} fills {needed} columns of Rz,"
                f" island {self.island} has {self.rz_slices} (rz_slices)"
            )
        needed = kind.work(numbers.lanes).results * numbers.sum_size // COLUMN_BYTES
        if kind.name == ARRANGEMENT_NAMES[OUTER] and needed > self.rz_slices:
            return (
                f"outer of {numbers.name} fills {needed} columns of Rz,"
                f" island {self.island} has {self.rz_slices} (rz_slices)"
            )
        return ""

    def slices(self, numbers: NumberFormat) -> int:
        """Return how many slices fit into Rz; a slice has one result of `numbers` for each lane."""
        return self.rz_slices * COLUMN_BYTES // numbers.slice_bytes

    @staticmethod
    def _list(names: tuple[str, ...], values: frozenset[str]) -> str:
        return ", ".join(name for name in names if name in values) or "none"


def abilities(config: Mapping[str, Any], island: int) -> Abilities:
    """Return the abilities of one island of a device."""
    prefix = f"fim.island.{island}"

    def words(name: str) -> frozenset[str]:
        return frozenset(config[f"{prefix}.{name}"].split())

    divider, lanes, slices = (config[f"{prefix}.{x}"] for x in ("divider", "lanes", "rz_slices"))
    kinds = words("formats"), words("arrangements"), words("functions")
    return Abilities(island, divider, lanes, slices, *kinds)
