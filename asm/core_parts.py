"""The parts of a program (one for each core and row), and the part that the source is in."""

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
    """All parts, in the order of the source.

    `current` is the part that the source is in; None before the first `.core`.
    """

    def __init__(self, state: AssemblyState) -> None:
        self._state = state
        self._parts: dict[tuple[str, int | None], CorePart] = {}
        self.current: CorePart | None = None
        self.has_reported_no_part = False  # of an instruction outside of parts
        self._enter_data()

    def __iter__(self) -> Iterator[CorePart]:
        return iter(self._parts.values())

    def enter_core(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.core NAME, row=R`.

        Raises `Mistake`; then an `UnknownPart` accepts all statements up to the next `.core`.
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
        self.current = UnknownPart(self._state, registry.cores()[0], None, line)
        self._state.area = self.current.area()

    def leave(self) -> None:
        """End the current part, because another part begins or the source ends."""
        if self.current is not None:
            self.current.leave()
        self._state.symbols.place_labels(self._state.area)
        self.current = None
        self._enter_data()

    def _enter_data(self) -> None:
        """Let the following bytes go to `.data`, the section for bytes outside of all parts."""
        area = common_area(self._state.layout, ".data")
        assert area is not None
        self._state.area = area

    def _part_of(self, context: StatementContext, statement: Statement) -> CorePart:
        """Return the part that a `.core` statement names. Raises `Mistake`."""
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
        """Return the part of `core` with this index. Create it if there is none."""
        key = core.name, index
        if key not in self._parts:
            self._parts[key] = part_class(core.name)(self._state, core, index, line)
            self._state.cores.append(core)
        return self._parts[key]

    def tensor_plan(self, word: Name) -> SectionPlan:
        """Return the section for tensors in the memory that `at=` names. Raises `Mistake`."""
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

        There is no warning if a part executes instructions, because these can load from any memory.
        The `default` program does not count as such a part.
        """
        if any(part.core.executable and part is not default for part in self):
            return
        for tensor in self._state.symbols.tensors:
            worker = tensor.plan.part_section
            if tensor.home is not None and worker not in self._state.layout.plans:
                message = f"the program has no part that works with {tensor.at}"
                self._state.report.warning(tensor.definition.line, tensor.home, message)

    def control(self) -> CorePart | None:
        """Return the part of the control core, which the device starts; None if there is none."""
        return next((part for part in self if not part.core.number), None)

    def default_control(self) -> CorePart:
        """Return a part of the control core that is not in the program.

        It can give its default program.
        """
        core = next(core for core in registry.cores() if not core.number)
        nowhere = LogicalLine(SourceText("", ""), 0, "")
        return part_class(core.name)(self._state, core, None, nowhere)

    def enter_section(self, name: Name) -> None:
        """Carry out `.section NAME`. Raises `Mistake` if the current part has no such section."""
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
        """The function that makes the fill bytes of an alignment in code; None: zeros."""
        plan = self._state.layout.plans.get(self._state.area.section)
        executable = plan is not None and "x" in plan.flags
        return self.current.padding if self.current is not None and executable else None


class UnknownPart(CorePart):
    """The part after a wrong `.core`. It accepts every statement and discards the bytes."""

    accepts_anything = True

    def area(self) -> Area:
        return Area(".unknown", discarded=True)

    def section(self, name: str) -> Area | None:
        return Area(".unknown", discarded=True)

    def instruction(
        self, context: StatementContext, statement: Statement, rows: Sequence[Row]
    ) -> None:
        """Accept any instruction.

        An unknown word that begins with a point may be a directive that defines a symbol. So the
        first operand becomes a symbol whose uses cause no further errors.
        """
        assert statement.head is not None
        first = statement.operands[0] if statement.operands else None
        if statement.head.text.startswith(".") and isinstance(first, Name):
            context.spoil(first)
