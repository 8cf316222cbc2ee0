"""The state of a run of the assembler: the data that the code of statements reads and changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property

from macaw.asm import object_symbols
from macaw.asm.assembly_inputs import DeviceChoice, SourceFolders
from macaw.asm.expressions import Context
from macaw.asm.layout import Area, Layout
from macaw.asm.line_table_builder import LineTableBuilder
from macaw.asm.listing import Record
from macaw.asm.macro import Macro
from macaw.asm.program import Hint
from macaw.asm.program_symbols import ProgramSymbols
from macaw.asm.recorded_text import Recordings
from macaw.asm.relocatable import Linkage
from macaw.asm.report import Report
from macaw.asm.round_trace import Entry
from macaw.asm.symbols import CommonSymbol, Scope
from macaw.asm.syntax import Node
from macaw.asm.tensor_slots import TensorSlots
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core


@dataclass(eq=False)
class AssemblyState:
    """The inputs of a run, the program assembled so far, and the current position in the source.

    `record` collects the data of a listing; it is None if the caller wants no listing. The run
    calls `watch` repeatedly; an exception that `watch` raises ends the run. If there is a
    `linkage`, the run makes an object, and a symbol without a definition is left to the linker.
    Otherwise such a symbol is an error. `recordings` has the effects of lines that earlier runs
    over the same files have stored; it is None if the caller makes only one run.

    The current position consists of `scope` (the symbols of the file), `area` (the area that gets
    the bytes) and `ordinal` (the number of the statement). `effects` counts those effects
    of statements that copies of their bytes would not repeat, such as the use of an address.
    `trace` has the uses of symbols in a round of a repetition; it is None if no round is traced.
    """

    device: DeviceChoice
    folders: SourceFolders
    record: Record | None
    watch: Callable[[], None]
    linkage: Linkage | None
    recordings: Recordings | None

    report: Report = field(default_factory=Report)
    layout: Layout = field(default_factory=Layout)
    line_table: LineTableBuilder = field(default_factory=LineTableBuilder)
    symbols: ProgramSymbols = field(init=False)
    macros: list[Macro] = field(default_factory=list)  # all definitions, in their order
    hints: list[Hint] = field(default_factory=list)
    cores: list[Core] = field(default_factory=list)  # the core of each part, in their order
    tensor_slots: TensorSlots = field(default_factory=TensorSlots)
    commons: list[CommonSymbol] = field(default_factory=list)

    fixups: list[Callable[[], None]] = field(default_factory=list)  # to call after the layout
    # The target of each `%pcrel_hi`, by the id of the area and the offset of the instruction.
    pcrel_targets: dict[tuple[int, int], tuple[Node, Context]] = field(default_factory=dict)

    # The position in the source: the file's symbols, the area for bytes, the statement's number.
    scope: Scope = field(init=False)
    area: Area = field(init=False)
    ordinal: int = 0

    # The number of instructions that are in areas so far.
    instructions: int = 0

    # Counts what statements do besides adding bytes, such as uses of symbols and addresses. What is
    # in the trace is not counted.
    effects: int = 0
    # The uses of symbols in the round that is being read; None if no round is traced.
    trace: list[Entry] | None = None

    is_read: bool = False  # all sources are read
    is_placed: bool = False  # the layout has given everything its address

    def __post_init__(self) -> None:
        self.symbols = ProgramSymbols(self.report)

    @property
    def config(self) -> Configuration:
        """The device's configuration.

        After the first use of this property, a line that would change the device is an error.
        """
        return self.device.config

    def next_ordinal(self) -> int:
        """Count the next statement and return its ordinal, the number of statements so far.

        Ordinals give local labels such as `1:` an order.
        """
        self.ordinal += 1
        return self.ordinal

    @cached_property
    def natural_sizes(self) -> dict[str, dict[int, int]]:
        """The sizes of symbols for which no `.size` gives one: {section name: {address: bytes}}.

        Such a symbol extends to the next symbol or to the section's end. Valid after the layout.
        """
        return object_symbols.sizes(self.symbols, self.layout)
