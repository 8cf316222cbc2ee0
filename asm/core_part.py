"""A core's part of a program: its sections, its instructions, how the default program runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from macaw.isa.model import Core, Window
from macaw.isa.rows import Instruction, Row

COMMON_SECTIONS = {".data": ("aw", False), ".rodata": ("a", False), ".bss": ("aw", True)}


def common_area(layout: Layout, section: str) -> Area | None:
    """Return the area of a section that every part may write to; None: it is none of them."""
    if section not in COMMON_SECTIONS:
        return None
    flags, zeros = COMMON_SECTIONS[section]
    return layout.area(SectionPlan(section, EXTERNAL, flags, [Area(section, zeros=zeros)]))


@dataclass(frozen=True, slots=True)
class Transfer:
    """A copy of `rows` rows of `row_bytes` bytes. A stride is the bytes from row to row."""

    dst: int
    src: int
    row_bytes: int
    rows: int = 1
    dst_stride: int = 0
    src_stride: int = 0


@dataclass(frozen=True)
class Startup:
    """What the default program does for a part. It does each step for all parts before the next."""

    loads: Sequence[Transfer] = ()
    swap: int = 0  # mask of memory units
    dispatches: Sequence[tuple[int, int]] = ()  # mask of rows, packet list
    starts: Sequence[tuple[int, int]] = ()  # core number, entry
    waits: int = 0  # mask of cores
    stores: Sequence[Transfer] = ()
    drains: Sequence[Transfer] = ()  # out of windows, while the cores run
    feeds: Sequence[Transfer] = ()  # into windows, meanwhile


@dataclass
class CorePart:
    """A part of a program. This base suits a core whose code is words in external memory."""

    state: AssemblyState
    core: Core
    index: int | None
    line: LogicalLine  # the `.core` that began it
    directives: Mapping[str, Directive] = field(default_factory=dict)
    groups: set[int] = field(default_factory=set)  # register groups that the part has used

    # No statement of the part is an error.
    accepts_anything = False

    def __post_init__(self) -> None:
        """Set up what the core needs besides."""

    def area(self) -> Area:
        """Return the area of the first bytes in the part."""
        return self.section(".text") or self.state.layout.area(self.plan())

    def plan(self) -> SectionPlan:
        """The part's own section, aligned to the size of an instruction if the core executes it."""
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

    def section(self, name: str) -> Area | None:
        """Return the area of a section of this part; None if it has none of that name."""
        if name in (".text", self.plan().name):
            return self.state.layout.area(self.plan())
        return common_area(self.state.layout, name)

    def section_names(self) -> Sequence[str]:
        """Return the names that `.section` takes in this part."""
        return (".text", *COMMON_SECTIONS)

    def places_labels(self, area: Area) -> bool:
        """Whether a label means the present end of `area`; if not, it waits for the next bytes."""
        return True

    def leave(self) -> None:
        """Close what is open: the source enters another part, or ends."""

    def instruction(
        self, context: StatementContext, statement: Statement, rows: Sequence[Row]
    ) -> None:
        """Assemble an instruction at the end of the context's area. Raises `Mistake`."""
        if self.core.called:
            statement = without_brackets(statement)
        place_statement(context, statement, rows, self.core.rows)
        self.check_group(context, statement)

    def hint(self, context: StatementContext, statement: Statement) -> None:
        """Take a `.hint` if the core knows it. Raises `Mistake`."""

    def statement_failed(self) -> None:
        """Note that the last statement of this part has an error, which is reported."""

    def padding(self, count: int) -> bytes:
        """Return the `count` bytes with which an alignment fills executable areas."""
        return bytes(count)

    @cached_property
    def group_starters(self) -> tuple[str, ...]:
        """The mnemonics that begin to record a register group."""
        return tuple(name for name, rows in self.core.rows.items() if any(map(_begins_group, rows)))

    def check_group(self, context: StatementContext, statement: Statement) -> None:
        """Warn if a part uses a register group a second time, which loses the first record."""
        if statement.head is None or statement.head.text not in self.group_starters:
            return
        group = statement.operands[0] if statement.operands else None
        if isinstance(group, Named):
            group = group.value
        if isinstance(group, Number):
            if group.value in self.groups:
                message = f"register group {group.value} is used twice in this part"
                context.state.report.warning(context.line, group, message)
            self.groups.add(group.value)

    def may_write(self, _tensor: Definition) -> bool:
        """Return whether the part can write to a tensor, after the layout."""
        return True

    def finish(self) -> None:
        """Add what the part still needs, when all sources are read and nothing is laid out."""

    @classmethod
    def tensor_plans(cls, core: Core, config: Configuration) -> Mapping[str, SectionPlan]:
        """Return the sections that `at=` of a tensor can name for this core, by name: its windows.

        The tensors of a window lie in external memory; the default program moves them through it.
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
        """Return what the default program does for this part, one of `parts`, after the layout.

        It starts a core that fetches its instructions, at `_start` or at the first one, and waits
        for it.
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
        """Return the copies between this part's windows, "in" or "out", and their tensors."""
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
        """The program of this core for a source that has none; only the control core has one."""
        return None

    def fill_default(self, parts: Sequence[Startup]) -> None:
        """Write the commands of the default program for `parts` into it, after the layout."""


def _windows(core: Core, config: Configuration) -> Iterator[tuple[int, str, Window]]:
    """Yield the windows of a core: number of the instance, name for `at=`, row of the table."""
    for instance in range(config[f"{core.name}.{core.index}s"] if core.index else 1):
        for window in core.windows:
            yield instance, f"{window.name}{instance if core.index else ''}", window


def _begins_group(row: Row) -> bool:
    """Return whether an instruction begins to record a register group: its first operand."""
    if not isinstance(row, Instruction) or "trace" not in row.writes.split():
        return False
    return row.fixed.get("begin") == 1 or row.fixed.get("ends") == 0
