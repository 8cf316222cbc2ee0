"""The parts of a program, one for each core and row, and the part that receives statements now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from macaw.asm import layout
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import COMMON_SECTIONS, CorePart, common_area
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.forms import part_class
from macaw.asm.layout import Area, SectionPlan
from macaw.asm.section_names import DROPPED, SectionWords, section_of
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Name, Named, Statement
from macaw.isa import registry
from macaw.isa.model import Core
from macaw.isa.rows import Row


class CoreParts:
    """All parts of a program, in the order of the source.

    `current` is the part to which the next statement belongs; None before the first `.core`.
    """

    def __init__(self, state: AssemblyState) -> None:
        self._state = state
        self._parts: dict[tuple[str, int | None], CorePart] = {}
        self.current: CorePart | None = None
        self.has_reported_no_part = False  # an instruction outside of all parts was reported
        self._is_gnu = False
        self._previous: Area | None = None
        self._groups: dict[str, str] = {}  # by COMDAT group, the file whose sections are included
        self._pushed: list[tuple[Area, Area | None]] = []  # (current, previous) section
        self._enter_data()

    def __iter__(self) -> Iterator[CorePart]:
        return iter(self._parts.values())

    def enter_core(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.core NAME, row=R`.

        If the operands are wrong, enter an `UnknownPart`, which accepts all statements up to the
        next `.core`, and raise `Mistake`.
        """
        self.leave()
        try:
            self.current = self._part_of(context, statement)
        except Mistake:
            self.enter_unknown(context.line)
            raise
        self._state.area = self.current.area()

    def enter_unknown(self, line: LogicalLine) -> None:
        """Enter an `UnknownPart`, which accepts every statement and discards its bytes."""
        self.current = UnknownPart(self._state, registry.control(), None, line)
        self._state.area = self.current.area()

    def leave(self) -> None:
        """End the current part, because another part begins or the source ends."""
        self._previous = None
        self._pushed.clear()
        if self.current is not None:
            self.current.leave()
        self._state.symbols.place_labels(self._state.area)
        self.current = None
        self._enter_data()

    def begin_source(self, is_gnu: bool) -> None:
        """Begin a source. With `is_gnu`, its first statement begins the control core's part."""
        self._is_gnu = is_gnu

    @property
    def awaits_control(self) -> bool:
        """Whether the next statement begins the control core's part without a `.core`."""
        return self._is_gnu and self.current is None

    def begin_control(self, line: LogicalLine) -> None:
        """Begin the control core's part."""
        core = registry.control()
        self.current = self._part(core, None, line)
        self._state.area = self.current.area()

    def _enter_data(self) -> None:
        """Make `.data` the current section. It is the section for bytes outside of all parts."""
        area = common_area(self._state.layout, ".data")
        assert area is not None
        self._state.area = area

    def _part_of(self, context: StatementContext, statement: Statement) -> CorePart:
        """Return the part that a `.core` statement names. Raises `Mistake`."""
        assert statement.head is not None
        cores = [core for core in registry.all_descriptors() if core.section]
        choices = ", ".join(core.name for core in cores)
        plain = [item for item in statement.operands if not isinstance(item, Named)]
        if len(plain) != 1 or not isinstance(plain[0], Name):
            place = (statement.head.start, statement.end)
            raise Mistake(".core takes the name of a core", place, f"there are {choices}")
        name = plain[0]
        core = next((item for item in cores if item.name == name.text), None)
        if core is None:
            hint = did_you_mean(name.text, [x.name for x in cores]) or f"there are {choices}"
            raise Mistake(f"no core that runs programs is called '{name.text}'", name, hint)
        options = context.named_operands(
            statement.operands, [core.index] if core.index else [], statement.head
        )
        index = None
        if core.index:
            index = 0
            if core.index in options:
                count = self._state.config[f"{core.name}.{core.index}s"]
                index = context.bounded_number(options[core.index].value, core.index, 0, count - 1)
        return self._part(registry.core(core.name), index, context.line)

    def _part(self, core: Core, index: int | None, line: LogicalLine) -> CorePart:
        """Return the part of `core` with this index.

        If there is none, create a part whose `.core` line is `line`.
        """
        key = core.name, index
        if key not in self._parts:
            self._parts[key] = part_class(core.name)(self._state, core, index, line)
            self._state.cores.append(core)
        return self._parts[key]

    def tensor_plan(self, word: Name) -> SectionPlan:
        """Return the section for tensors in a memory; the layout has not placed the section yet.

        `word` is the memory's name, the value of `at=`. Raises `Mistake`.
        """
        plans_by_name: dict[str, SectionPlan] = {}
        choices: list[str] = []
        for core in registry.cores():
            plans = part_class(core.name).tensor_plans(core, self._state.config)
            names = list(plans)
            choices += [*names[:2], "...", names[-1]] if len(names) > 3 else names
            plans_by_name |= plans
        if word.text not in plans_by_name:
            hint = "there are " + ", ".join(choices)
            raise Mistake(f"the device has no memory '{word.text}' for tensors", word, hint)
        return self._state.layout.plan(plans_by_name[word.text])

    def check_tensor_memories(self, default: CorePart | None) -> None:
        """Warn of each tensor in a core's memory if the program has no part for that core.

        If the program has a part whose core fetches instructions, there is no warning, because
        these instructions can load from any memory. `default`, the part of the default program,
        does not count.
        """
        if any(part.core.executable and part is not default for part in self):
            return
        for tensor in self._state.symbols.tensors:
            worker = tensor.plan.part_section
            if tensor.home is not None and worker not in self._state.layout.plans:
                message = f"the program has no part that works with {tensor.at}"
                self._state.report.warning(
                    tensor.definition.line, tensor.home, message, name="unused-memory"
                )

    def control(self) -> CorePart | None:
        """Return the part of the control core, the core that the device starts first.

        Return None if there is none.
        """
        return next((part for part in self if not part.core.number), None)

    def default_control(self) -> CorePart:
        """Return a new part of the control core, for the default program.

        The new part is not one of the parts of the sources.
        """
        core = registry.control()
        nowhere = LogicalLine(SourceText("", ""), 0, "")
        return part_class(core.name)(self._state, core, None, nowhere)

    def enter_section(self, line: LogicalLine, name: Name, words: SectionWords) -> None:
        """Carry out `.section NAME` with the operands `words` after the name.

        Raises `Mistake` if the current part has no such section.
        """
        area = self._own_area(name.text) if not words.number else None
        section = section_of(name.text, words) if area is None else None
        if area is None and section is not None:
            area = self._source_area(name.text, section, words, line)
        if area is None:
            raise self._no_section(name)
        self._enter(area)

    def enter_own_section(self, name: str) -> bool:
        """Enter the current part's section `name`. Return False if the part has none."""
        area = self._own_area(name)
        if area is not None:
            self._enter(area)
        return area is not None

    def _own_area(self, name: str) -> Area | None:
        """Return the area of the current part's section `name`; None if it has no such section."""
        if self.current is None:
            return common_area(self._state.layout, name)
        return self.current.section(name)

    def _source_area(
        self, name: str, section: str, words: SectionWords, line: LogicalLine
    ) -> Area | None:
        """Return the area of the current part for the section `name` of a `.section` line.

        `section` is the part's section that will contain the area, for example `.text` for
        `.text.f`; `words` are the operands after the name. If the program leaves the section out,
        as it does with debug information, the area discards its bytes. The result is None if the
        part has no section `section`, or if `name` is the section of another core.
        """
        if name.rpartition(".")[2] in registry.names():
            return None  # the section of another core's part
        if section == DROPPED or not self._takes_group(words.group, line):
            return Area(layout.DROPPED, discarded=True)
        main = self._own_area(section)
        plan = self._state.layout.plans.get(main.section) if main is not None else None
        if plan is None:
            return main
        return plan.area_named("" if name == section else name, words.number)

    def _takes_group(self, group: str, line: LogicalLine) -> bool:
        """Return whether the program includes this file's sections of a COMDAT group.

        `line` is the `.section` line. The program includes the group only from the first file that
        has it. Sections without a group are always included.
        """
        return not group or self._groups.setdefault(group, line.source.name) == line.source.name

    def _no_section(self, name: Name) -> Mistake:
        part = self.current
        choices = part.section_names() if part else tuple(COMMON_SECTIONS)
        there = "there are " + ", ".join((*choices, *(part.section_forms() if part else ())))
        if part is None:
            there += "; a core's part begins with .core"
        hint = did_you_mean(name.text, choices) or there
        if part is None:
            return Mistake(f"outside of parts there is no section '{name.text}'", name, hint)
        return Mistake(f"a part of {part.core.name} has no section '{name.text}'", name, hint)

    def _enter(self, area: Area) -> None:
        self._state.symbols.place_labels(self._state.area)
        self._previous, self._state.area = self._state.area, area

    def zeros(self) -> Area:
        """Return the area of `.bss`, which contains only zeros."""
        area = common_area(self._state.layout, ".bss")
        assert area is not None
        return area

    def enter_dropped(self) -> None:
        """Enter a section whose bytes are discarded."""
        self._enter(Area(layout.DROPPED, discarded=True))

    def enter_subsection(self, number: int) -> None:
        """Make the subsection `number` of the current section the current one."""
        area = self._state.area
        plan = self._state.layout.plans.get(area.section)
        if plan is not None:
            self._enter(plan.area_named(area.name, number))

    def enter_previous(self, head: Name) -> None:
        """Make the previous section the current one, and the current section the previous one.

        Raises `Mistake` if there is no previous section.
        """
        if self._previous is None:
            raise Mistake("no section was left before", head)
        self._enter(self._previous)

    def push_section(self) -> None:
        """Store the current and the previous section, so that `pop_section` can restore both."""
        self._pushed.append((self._state.area, self._previous))

    def pop_section(self, head: Name) -> None:
        """Restore the sections, current and previous, that the last `push_section` has stored.

        Each call takes away the sections that it restores, so nested pairs of calls work.

        Raises `Mistake` if no sections are stored.
        """
        if not self._pushed:
            raise Mistake("'.popsection' without '.pushsection'", head)
        area, previous = self._pushed.pop()
        self._enter(area)
        self._previous = previous

    @property
    def padding(self) -> Callable[[int], bytes] | None:
        """The function that makes fill bytes for alignments in this section; None for zeros."""
        plan = self._state.layout.plans.get(self._state.area.section)
        executable = plan is not None and "x" in plan.flags
        return self.current.padding if self.current is not None and executable else None


class UnknownPart(CorePart):
    """The part after a wrong `.core`. It accepts every statement and discards its bytes."""

    accepts_anything = True

    def area(self) -> Area:
        return Area(".unknown", discarded=True)

    def section(self, name: str) -> Area | None:
        return Area(".unknown", discarded=True)

    def instruction(
        self, context: StatementContext, statement: Statement, rows: Sequence[Row]
    ) -> None:
        """Ignore the statement, without an error, whatever its mnemonic is.

        If the mnemonic begins with a dot, the statement may be a misspelt directive that defines a
        symbol. In this case, uses of the symbol named by its first operand cause no errors either.
        """
        assert statement.head is not None
        first = statement.operands[0] if statement.operands else None
        if statement.head.text.startswith(".") and isinstance(first, Name):
            context.spoil(first)
