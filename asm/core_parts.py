"""The parts of a program, one for each core and row, and the one that the source is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import COMMON_SECTIONS, CorePart, common_area
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.forms import part_class
from macaw.asm.layout import Area, SectionPlan
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Name, Named, Statement
from macaw.isa import registry
from macaw.isa.model import Core
from macaw.isa.rows import Row


class CoreParts:
    """All parts, in the order of the source; `current` is the one that the source is in, if any."""

    def __init__(self, state: AssemblyState) -> None:
        self._state = state
        self._parts: dict[tuple[str, int | None], CorePart] = {}
        self.current: CorePart | None = None
        self.has_reported_no_part = False  # of an instruction outside of all parts
        self._enter_data()

    def __iter__(self) -> Iterator[CorePart]:
        return iter(self._parts.values())

    def enter_core(self, context: StatementContext, statement: Statement) -> None:
        """`.core NAME, row=R`. Raises `Mistake`; anything may then follow up to the next part."""
        self.leave()
        try:
            self.current = self._part_of(context, statement)
        except Mistake:
            self.enter_unknown(context.line)
            raise
        self._state.area = self.current.area()

    def enter_unknown(self, line: LogicalLine) -> None:
        """Enter a part of no known core, in which everything is taken and discarded."""
        self.current = UnknownPart(self._state, registry.cores()[0], None, line)
        self._state.area = self.current.area()

    def leave(self) -> None:
        """End the current part, as a new one begins or the source ends."""
        if self.current is not None:
            self.current.leave()
        self._state.symbols.place_labels(self._state.area)
        self.current = None
        self._enter_data()

    def _enter_data(self) -> None:
        """Outside of parts bytes go to `.data`."""
        area = common_area(self._state.layout, ".data")
        assert area is not None
        self._state.area = area

    def _part_of(self, context: StatementContext, statement: Statement) -> CorePart:
        """Return the part that a `.core` names. Raises `Mistake`."""
        assert statement.head is not None
        cores = [core for core in registry.cores() if core.section]
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
        return self._part(core, index, context.line)

    def _part(self, core: Core, index: int | None, line: LogicalLine) -> CorePart:
        """Return the part of a core with that index; a new one if there is none."""
        key = core.name, index
        if key not in self._parts:
            self._parts[key] = part_class(core.name)(self._state, core, index, line)
            self._state.cores.append(core)
        return self._parts[key]

    def tensor_plan(self, word: Name) -> SectionPlan:
        """Return the section of the tensors in the memory of that name. Raises `Mistake`."""
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
        """Warn of tensors in memories that no part of the program works with.

        A part of instructions may load from any memory, except for the `default` program.
        """
        if any(part.core.executable and part is not default for part in self):
            return
        for tensor in self._state.symbols.tensors:
            worker = tensor.plan.part_section
            if tensor.home is not None and worker not in self._state.layout.plans:
                message = f"the program has no part that works with {tensor.at}"
                self._state.report.warning(tensor.definition.line, tensor.home, message)

    def control(self) -> CorePart | None:
        """Return the part of the core that a device starts; None if there is none."""
        return next((part for part in self if not part.core.number), None)

    def default_control(self) -> CorePart:
        """Return a new part of the control core, to ask for its default program."""
        core = next(core for core in registry.cores() if not core.number)
        nowhere = LogicalLine(SourceText("", ""), 0, "")
        return part_class(core.name)(self._state, core, None, nowhere)

    def enter_section(self, name: Name) -> None:
        """`.section NAME`. Raises `Mistake`."""
        part = self.current
        choices: Sequence[str]
        if part is None:
            area, choices = common_area(self._state.layout, name.text), tuple(COMMON_SECTIONS)
        else:
            area, choices = part.section(name.text), part.section_names()
        if area is None:
            where = f"a part of {part.core.name}" if part else "what stands in no part"
            there = "there are " + ", ".join(choices)
            if part is None:
                there += "; a core's part begins with .core"
            hint = did_you_mean(name.text, choices) or there
            raise Mistake(f"{where} has no section '{name.text}'", name, hint)
        self._state.symbols.place_labels(self._state.area)
        self._state.area = area

    @property
    def padding(self) -> Callable[[int], bytes] | None:
        """What fills an alignment among instructions; None: zeros do."""
        plan = self._state.layout.plans.get(self._state.area.section)
        executable = plan is not None and "x" in plan.flags
        return self.current.padding if self.current is not None and executable else None


class UnknownPart(CorePart):
    """What follows a wrong `.core`: no statement of it is an error, and its bytes are discarded."""

    accepts_anything = True

    def area(self) -> Area:
        return Area(".unknown", discarded=True)

    def section(self, name: str) -> Area | None:
        return Area(".unknown", discarded=True)

    def instruction(
        self, context: StatementContext, statement: Statement, rows: Sequence[Row]
    ) -> None:
        """Take anything; a word with a point may be a directive that defines its first operand."""
        assert statement.head is not None
        first = statement.operands[0] if statement.operands else None
        if statement.head.text.startswith(".") and isinstance(first, Name):
            context.spoil(first)
