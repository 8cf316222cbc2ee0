"""What a core's source needs beyond rows: one module a core or base, named as its table's.

A form says which sections a part has, takes its instructions and its own
directives, and at the end what the default program has to do to run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from macaw.asm.directives import Directive
from macaw.asm.instructions import place
from macaw.asm.layout import EXTERNAL, IMAGE_ALIGN, OWN, Area, Plan
from macaw.asm.operands import without_brackets
from macaw.asm.output import entry_of
from macaw.asm.program import tensor_section
from macaw.asm.source import LogicalLine, Source
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Named, Number, Statement
from macaw.isa import registry
from macaw.isa.rows import Instruction

if TYPE_CHECKING:
    from macaw.asm.assembler import Assembly
    from macaw.asm.site import Site
    from macaw.isa.config import Configuration
    from macaw.isa.model import Core, Window
    from macaw.isa.rows import Row


@dataclass(frozen=True, slots=True)
class Transfer:
    """A copy of `rows` rows of `row_bytes` bytes; a stride is the distance of rows."""

    dst: int
    src: int
    row_bytes: int
    rows: int = 1
    dst_stride: int = 0
    src_stride: int = 0


@dataclass(frozen=True)
class Startup:
    """What the default program does for a part, in this order for all parts together."""

    loads: Sequence[Transfer] = ()
    swap: int = 0  # mask of memory units
    dispatches: Sequence[tuple[int, int]] = ()  # mask of rows, packet list
    starts: Sequence[tuple[int, int]] = ()  # core number, entry
    waits: int = 0  # mask of cores
    stores: Sequence[Transfer] = ()
    drains: Sequence[Transfer] = ()  # out of windows, while the cores run
    feeds: Sequence[Transfer] = ()  # into windows, meanwhile


@dataclass
class Form:
    """A part of a program. This base suits a core whose code is words in external memory."""

    assembly: Assembly
    core: Core
    index: int | None
    line: LogicalLine  # the `.core` that began it
    directives: Mapping[str, Directive] = field(default_factory=dict)
    groups: set[int] = field(default_factory=set)  # of registers, that the part has begun

    # Whatever stands in the part is taken without a word.
    lenient = False

    def __post_init__(self) -> None:
        """Set up what the core needs."""

    def area(self) -> Area:
        """Where a part begins to put things."""
        return self.section(".text") or self.assembly.layout.area(self.plan())

    def plan(self) -> Plan:
        """The part's own section; instructions are aligned to the size of one."""
        flags = "ax" if self.core.executable else "a"
        name = self.core.section.format(self.index)
        align = max((row.format.size for row in self.core.instructions), default=1)
        area = Area(name, align=align if self.core.executable else 1)
        memory = self.core.instruction_memory
        if memory is None:
            return Plan(name, EXTERNAL, flags, [area], self.core.name, self.index)
        instance = self.index or 0
        bound = memory.setting(instance)
        limit = memory.bytes(self.assembly.config, instance)
        start = memory.start(instance)
        return Plan(name, OWN, flags, [area], self.core.name, self.index, start, limit, bound=bound)

    def section(self, name: str) -> Area | None:
        """The area of a section of this part; None if it has none of that name."""
        if name in (".text", self.plan().name):
            return self.assembly.layout.area(self.plan())
        return self.assembly.parts.common_section(name)

    def section_names(self) -> Sequence[str]:
        """What `.section` takes in this part."""
        return (".text", *self.assembly.parts.common_sections)

    def binds_now(self, area: Area) -> bool:
        """Whether a label stands at the end of `area` now, and not where the next bytes go."""
        return True

    def enter(self) -> None:
        """The source goes on in this part."""

    def leave(self) -> None:
        """The source goes on in another part, or ends."""

    def instruction(self, site: Site, statement: Statement, rows: Sequence[Row]) -> None:
        """Take an instruction."""
        if self.core.called:
            statement = without_brackets(statement)
        place(site, statement, rows)
        self.watch_groups(site, statement)

    def hint(self, site: Site, statement: Statement) -> None:
        """Take advice to tools (`.hint`), if it is any that the core knows."""

    def failed(self) -> None:
        """A statement of this part is wrong, which has been said."""

    def padding(self, count: int) -> bytes:
        """The bytes that an alignment skips in executable areas."""
        return bytes(count)

    @cached_property
    def watched(self) -> tuple[str, ...]:
        """Mnemonics of which the form wants to know more than their words."""
        return tuple(name for name, rows in self.core.rows.items() if any(map(_begins, rows)))

    def watch_groups(self, site: Site, statement: Statement) -> None:
        """Warn of a register group that a part uses a second time: its first record is lost."""
        if statement.head is None or statement.head.text not in self.watched:
            return
        group = statement.operands[0] if statement.operands else None
        if isinstance(group, Named):
            group = group.value
        if isinstance(group, Number):
            if group.value in self.groups:
                message = f"register group {group.value} is used twice in this part"
                site.assembly.report.warning(site.line, group, message)
            self.groups.add(group.value)

    def may_write(self, _tensor: Definition) -> bool:
        """Whether what the part says can write to a tensor, everything being laid out."""
        return True

    def finish(self) -> None:
        """All sources are read, nothing is laid out."""

    @classmethod
    def homes(cls, core: Core, config: Configuration) -> Mapping[str, Plan]:
        """What `at=` of a tensor may say of this core, and the section there: its windows.

        Their tensors lie in external memory; the default program moves them through the windows.
        """
        return {
            name: Plan(
                tensor_section(name),
                EXTERNAL,
                "aw",
                [Area(tensor_section(name), zeros=True)],
                step=window.step(config),
                element=window.element(config),
                direction=window.direction,
                align=IMAGE_ALIGN,
                behind=core.section.format(instance),
            )
            for instance, name, window in _windows(core, config)
        }

    def slot(self, definition: Definition) -> int | None:
        """The address of the place that a tensor has in this part; None: it has none."""
        return None

    def startup(self) -> Startup:
        """What the default program has to do for this part, everything being laid out.

        A core that fetches its instructions is started, at `_start` or at the first one, and
        waited for.
        """
        entry = entry_of(self.assembly, self.plan().name) if self.core.executable else None
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
        """The copies between the tensors at this part's windows and these."""
        found = []
        config = self.assembly.config
        for instance, name, window in _windows(self.core, config):
            plan = self.assembly.layout.plans.get(tensor_section(name))
            if instance != (self.index or 0) or window.direction != direction or plan is None:
                continue
            base = plan.areas[0].base
            assert base is not None
            rows = plan.size // plan.step
            ends = (window.start(instance), base)
            dst, src = ends if direction == "in" else ends[::-1]
            strides = (0, plan.step) if direction == "in" else (plan.step, 0)
            found.append(Transfer(dst, src, plan.step, rows, *strides))
        return found

    def default_source(self) -> Source | None:
        """The program of this core if a source has none; only the control core has one."""
        return None

    def fill_default(self, parts: Sequence[Startup]) -> None:
        """Give the default program its commands, everything being laid out."""


def _windows(core: Core, config: Configuration) -> Iterator[tuple[int, str, Window]]:
    """Each window of each instance of a core: instance, name for `at=`, row."""
    for instance in range(config[f"{core.name}.{core.index}s"] if core.index else 1):
        for window in core.windows:
            yield instance, f"{window.name}{instance if core.index else ''}", window


def _begins(row: Row) -> bool:
    """Whether an instruction begins to record a register group: its first operand."""
    if not isinstance(row, Instruction) or "trace" not in row.writes.split():
        return False
    return row.fixed.get("begin") == 1 or row.fixed.get("ends") == 0


def form_class(core: str) -> type[Form]:
    """The form of a core: `CoreForm` of its module or of its base's, or the plain one."""
    for name in _modules(core):
        found: type[Form] = import_module(name).CoreForm
        return found
    return Form


def shared_directives() -> tuple[Directive, ...]:
    """Directives that a core's module has for every part: its `SHARED`."""
    names = dict.fromkeys(name for core in registry.names() for name in _modules(core))
    return tuple(row for name in names for row in getattr(import_module(name), "SHARED", ()))


def _modules(core: str) -> list[str]:
    names = (f"{__name__}.{name}" for name in registry.form_modules(core))
    return [name for name in names if find_spec(name) is not None]
