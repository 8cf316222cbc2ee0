"""The word formats of pe's commands and instructions, which the rows of `macaw.isa.pe` use.

Tables 1 and 2 of seed 000 list bits from the highest to the lowest. Here, the first bit of a
command is bit 7, and the first bit of an instruction is bit 11.
"""

from __future__ import annotations

from macaw.isa.kinds import Choice, Flag, Immediate
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.rows import Field, Format

ACCUMULATORS = 4
# Bits, and bytes in memory.
COMMAND_BITS, COMMAND_BYTES = 8, 1
INSTRUCTION_BITS, INSTRUCTION_BYTES = 12, 2

SUMS = tuple(f"acc{number}" for number in range(ACCUMULATORS))


@dataclass(frozen=True)
class Sums(Immediate):
    """The operand kind for the number of an accumulator.

    A `.step` directive may change the number during a run. So `stands_for` returns the registers of
    all accumulators for each number.
    """

    def stands_for(self, value: int, written: bool) -> tuple[str, ...]:
        return SUMS


@dataclass(frozen=True)
class Destination(Choice):
    """The operand kind for the buffer or queue into which a ld moves its segment."""

    def stands_for(self, value: int, written: bool) -> tuple[str, ...]:
        return SUMS if self.choices[value] == "psums" else ()


_BUFFER = Immediate(5)
_BLOCK = Immediate(4)

COMMAND = Format(
    "command",
    COMMAND_BITS,
    (
        Field("op", "7"),
        Field("marker", "6"),
        Field("reserved", "5"),
        Field("ib", "4:0", _BUFFER),
    ),
    size=COMMAND_BYTES,
)
EXE = Format(
    "exe",
    COMMAND_BITS,
    (
        Field("op", "7"),
        Field("shift", "6", Flag("shift")),
        Field("last", "5", Flag("last")),
        Field("ib", "4:0", _BUFFER),
    ),
    size=COMMAND_BYTES,
)
MARKER = Format(
    "marker",
    COMMAND_BITS,
    (Field("op", "7"), Field("marker", "6"), Field("begin", "5"), Field("g", "4:0", _BUFFER)),
    size=COMMAND_BYTES,
)
MAC = Format(
    "mac",
    INSTRUCTION_BITS,
    (
        Field("op", "11:10"),
        Field("balance", "9", Flag("balance")),
        Field("sfu", "8", Flag("sfu")),
        Field("base", "7:4", _BLOCK),
        Field("acc", "3:2", Sums(2)),
        Field("reserved", "1:0"),
    ),
    size=INSTRUCTION_BYTES,
)
DESTINATIONS = ("weights", "activations", "psums", "both")
LD = Format(
    "ld",
    INSTRUCTION_BITS,
    (
        Field("op", "11:10"),
        Field("destination", "9:8", Destination(DESTINATIONS)),
        Field("base", "7:4", _BLOCK),
        Field("reserved", "3:0"),
    ),
    size=INSTRUCTION_BYTES,
)
ST = Format(
    "st",
    INSTRUCTION_BITS,
    (
        Field("op", "11:10"),
        Field("reserved_high", "9:8"),
        Field("base", "7:4", _BLOCK),
        Field("reserved_low", "3:0"),
    ),
    size=INSTRUCTION_BYTES,
)
FUNCTIONS = ("nonsf", "activation", "reduce", "requantise")
SPU = Format(
    "spu",
    INSTRUCTION_BITS,
    (
        Field("op", "11:10"),
        Field("function", "9:8", Choice(FUNCTIONS)),
        Field("src", "7:4", Sums(4)),
        Field("dst", "3:0", _BLOCK),
    ),
    size=INSTRUCTION_BYTES,
)
