"""A core's part of a program: its sections, its instructions, and the steps that run the part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.directive import Directive
from macaw.asm.instructions import place_statement
from macaw.asm.layout import EXTERNAL, IMAGE_ALIGN, OWN, Area, Layout, SectionPlan
from macaw.asm.object_symbols import entry_of
from macaw.asm.operands import without_brackets
from macaw.asm.program import tensor_section
from macaw.asm.source import LogicalLine, Source
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Named, Number, Statement
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core, Window
from macaw.isa.rows import Instruction, Row

COMMON_SECTIONS = {".data": ("aw", False), ".rodata": ("a", False), ".bss": ("aw", True)}


def common_area(layout: Layout, section: str) -> Area | None:
    """Return the area of `section` if all parts share this section, for example `.data`.

    Return None for any other section.
    """
    if section not in COMMON_SECTIONS:
        return None
    plan = layout.plans.get(section)
    if plan is not None:
        return plan.areas[0]
    flags, zeros = COMMON_SECTIONS[section]
    return layout.area(SectionPlan(section, EXTERNAL, flags, [Area(section, zeros=zeros)]))


@dataclass(frozen=True, slots=True)
class Transfer:
    """A copy of `rows` rows of `row_bytes` bytes each, from address `src` to address `dst`.

    `src_stride` and `dst_stride` are the distances in bytes from the start of one row to the next.
    A stride of 0 means that all rows have the same address.
    """

    dst: int
    src: int
    row_bytes: int
    rows: int = 1
    dst_stride: int = 0
    src_stride: int = 0


@dataclass(frozen=True)
class Startup:
    """The steps with which the default program runs one part: copies, starts and waits.

    The default program does each of these steps for all parts before it begins the next step.
    `loads` and `stores` are the copies before and after the work of the cores. `feeds` and `drains`
    are the copies into windows and out of windows while the cores run. `swap` is a mask of memory
    units whose halves are exchanged, `waits` a mask of cores. `dispatches` has (mask of rows,
    address of a packet list), `starts` (core number, entry address).
    """

    loads: Sequence[Transfer] = ()
    swap: int = 0  # mask of memory units
    dispatches: Sequence[tuple[int, int]] = ()  # mask of rows, packet list
    starts: Sequence[tuple[int, int]] = ()  # core number, entry
    waits: int = 0  # mask of cores
    stores: Sequence[Transfer] = ()
    drains: Sequence[Transfer] = ()  # out of windows, while the cores run
    feeds: Sequence[Transfer] = ()  # into windows, while the cores run


@dataclass
class CorePart:
    """A core's part of a program.

    This base class is for cores whose code is instruction words in external memory. `index` is the
    number of the row or island, or None; `line` is the `.core` line that begins the part.
    `groups` are the numbers of the register groups of the trace that the part has used.
    """

    state: AssemblyState
    core: Core
    index: int | None
    line: LogicalLine  # the `.core` line that began the part
    directives: Mapping[str, Directive] = field(default_factory=dict)
    groups: set[int] = field(default_factory=set)  # register groups that the part has used

    # Whether the part accepts any statement without an error.
    accepts_anything = False
    # Whether the part needs the position of each line, so that no expansion in it is replayed.
    reads_expansions = False

    def __post_init__(self) -> None:
        """Set up additional state in a subclass."""

    def area(self) -> Area:
        """Return the area to which the statements after the part's `.core` line append bytes."""
        return self.section(".text") or self.state.layout.area(self.plan())

    def plan(self) -> SectionPlan:
        """Return the name, address range and alignment of the part's own section.

        If the core executes the section, the section's alignment is the size of an instruction.
        """
        flags = "ax" if self.core.executable else "a"
        name = self.core.section.format(self.index)
        align = max((row.format.size for row in self.core.instructions), default=1)
        area = Area(name, align=align if self.core.executable else 1)
        memory = self.core.instruction_memory
        if memory is None:
            return SectionPlan(name, EXTERNAL, flags, [area], self.core.name, self.index)
        instance = self.index or 0
        setting = memory.setting(instance)
        limit = memory.bytes(self.state.config, instance)
        start = memory.start(instance)
        return SectionPlan(
            name, OWN, flags, [area], self.core.name, self.index, start, limit, bound=setting
        )

    @cached_property
    def _own_plan(self) -> SectionPlan:
        return self.plan()

    def section(self, name: str) -> Area | None:
        """Return the area of this part's section `name`; None if there is no such section."""
        if name in (".text", self._own_plan.name):
            return self.state.layout.area(self._own_plan)
        return common_area(self.state.layout, name)

    def section_names(self) -> Sequence[str]:
        """Return the section names that `.section` accepts in this part."""
        return (".text", *COMMON_SECTIONS)

    def section_forms(self) -> Sequence[str]:
        """Return patterns of further section names, for error messages.

        A capital letter in a pattern stands for a number.
        """
        return ()

    def places_labels(self, area: Area) -> bool:
        """Return whether a label at the current end of `area` gets its address at once.

        If not, the label is pending until bytes are appended to the area.
        """
        return True

    def leave(self) -> None:
        """Close open constructs such as a block, because the source enters another part or ends."""

    def instruction(
        self, context: StatementContext, statement: Statement, rows: Sequence[Row]
    ) -> None:
        """Assemble an instruction at the end of the context's area. Raises `Mistake`."""
        if self.core.called:
            statement = without_brackets(statement)
        place_statement(context, statement, rows, self.core.rows)
        self.check_group(context, statement)

    def hint(self, context: StatementContext, statement: Statement) -> None:
        """Carry out a `.hint` of a kind that this core supports; ignore any other `.hint`.

        Raises `Mistake`.
        """

    def statement_failed(self) -> None:
        """React to an error in the last statement of this part, for example close a broken block.

        The assembler has reported the error.
        """

    def padding(self, count: int) -> bytes:
        """Return the `count` bytes with which an alignment fills code of this core."""
        return bytes(count)

    @cached_property
    def group_starters(self) -> tuple[str, ...]:
        """The mnemonics that start a record in a register group of the trace block."""
        return tuple(name for name, rows in self.core.rows.items() if any(map(_begins_group, rows)))

    def check_group(self, context: StatementContext, statement: Statement) -> None:
        """Warn if an instruction starts a record in a register group that the part has used before.

        Each register group of the trace block has room for one record, so the earlier record is
        lost.
        """
        if statement.head is None or statement.head.text not in self.group_starters:
            return
        context.state.effects += 1
        group = statement.operands[0] if statement.operands else None
        if isinstance(group, Named):
            group = group.value
        if isinstance(group, Number):
            if group.value in self.groups:
                message = f"register group {group.value} is used twice in this part"
                context.state.report.warning(context.line, group, message, name="register-group")
            self.groups.add(group.value)

    def may_write(self, _tensor: Definition) -> bool:
        """Return whether the part can write to a tensor. Valid after the layout."""
        return True

    def finish(self) -> None:
        """Complete the part; a class for one core may add instructions or checks here.

        The assembler calls this after it has read all sources.
        """

    @classmethod
    def tensor_plans(cls, core: Core, config: Configuration) -> Mapping[str, SectionPlan]:
        """Return a section for the tensors of each window of the core, by the name for `at=`.

        These tensors are in external memory; the default program copies them into or out of the
        window.
        """
        return {
            name: SectionPlan(
                tensor_section(name),
                EXTERNAL,
                "aw",
                [Area(tensor_section(name), zeros=True)],
                step=window.step(config),
                element=window.element(config),
                direction=window.direction,
                align=IMAGE_ALIGN,
                part_section=core.section.format(instance),
            )
            for instance, name, window in _windows(core, config)
        }

    def startup(self, parts: Sequence[CorePart]) -> Startup:
        """Return the steps with which the default program runs this part. Valid after the layout.

        `parts` are all parts, including this one. If the core fetches instructions, the default
        program starts the core at `_start`, or at its first instruction, and waits until the core
        has ended.
        """
        entry = None
        if self.core.executable:
            entry = entry_of(self.state.layout, self.state.symbols.table, self.plan().name)
        if entry is None:
            return Startup()
        number = self.core.number + (self.index or 0)
        return Startup(
            starts=[(number, entry)],
            feeds=self._streams("in"),
            drains=self._streams("out"),
            waits=1 << number,
        )

    def _streams(self, direction: str) -> list[Transfer]:
        """Return the copies that move tensors into ("in") or out of ("out") this part's windows."""
        transfers = []
        config = self.state.config
        for instance, name, window in _windows(self.core, config):
            plan = self.state.layout.plans.get(tensor_section(name))
            if instance != (self.index or 0) or window.direction != direction or plan is None:
                continue
            base = plan.areas[0].base
            assert base is not None
            rows = plan.size // plan.step
            ends = (window.start(instance), base)
            dst, src = ends if direction == "in" else ends[::-1]
            strides = (0, plan.step) if direction == "in" else (plan.step, 0)
            transfers.append(Transfer(dst, src, plan.step, rows, *strides))
        return transfers

    def default_source(self) -> Source | None:
        """Return the default program, for sources without a part for the control core.

        If this part does not belong to the control core, return None.
        """
        return None

    def fill_default(self, parts: Sequence[Startup]) -> None:
        """Write the commands that run `parts` into the default program, after the layout.

        Only the class for the control core's part implements the method.
        """


def _windows(core: Core, config: Configuration) -> Iterator[tuple[int, str, Window]]:
    """Yield the windows of all instances of a core as (instance, name for `at=`, window)."""
    for instance in range(config[f"{core.name}.{core.index}s"] if core.index else 1):
        for window in core.windows:
            yield instance, f"{window.name}{instance if core.index else ''}", window


def _begins_group(row: Row) -> bool:
    """Return whether an instruction starts a record of the trace, as trace_begin does."""
    if not isinstance(row, Instruction) or "trace" not in row.writes.split():
        return False
    return row.fixed.get("begin") == 1 or row.fixed.get("ends") == 0
