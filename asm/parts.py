"""Which part of which core a source is in, and which section of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.forms import Form, form_class
from macaw.asm.layout import EXTERNAL, Area, Layout, Plan
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Mistake, Name, Named, Statement
from macaw.isa import registry
from macaw.isa.model import Core

if TYPE_CHECKING:
    from macaw.asm.assembler import Assembly
    from macaw.asm.site import Site

_COMMON = {".data": ("aw", False), ".rodata": ("a", False), ".bss": ("aw", True)}


class Parts:
    """The parts of a program; `form` is the one that the source is in, `area` where bytes go."""

    def __init__(self, assembly: Assembly, layout: Layout) -> None:
        self._assembly = assembly
        self._layout = layout
        self._forms: dict[tuple[str, int | None], Form] = {}
        self.form: Form | None = None
        self.area = self._common_area(".data")

    def __iter__(self) -> Iterator[Form]:
        return iter(self._forms.values())

    def enter_core(self, site: Site, statement: Statement) -> None:
        """`.core NAME, row=R`. Raises `Mistake`; then what follows is taken without a word."""
        self.leave()
        try:
            self.form = self._part(site, statement)
        except Mistake:
            self.lose(site.line)
            raise
        self.area = self.form.area()

    def lose(self, line: LogicalLine) -> None:
        """Take what follows without a word: nobody knows whose it is."""
        self.form = LostForm(self._assembly, registry.cores()[0], None, line)
        self.area = self.form.area()

    def leave(self) -> None:
        """The source goes on in another part, or ends."""
        if self.form is not None:
            self.form.leave()
        self._assembly.names.settle_labels(self.area)
        self.form, self.area = None, self._common_area(".data")

    def _part(self, site: Site, statement: Statement) -> Form:
        assert statement.head is not None
        cores = [core for core in registry.cores() if core.section]
        known = ", ".join(core.name for core in cores)
        plain = [item for item in statement.operands if not isinstance(item, Named)]
        if len(plain) != 1 or not isinstance(plain[0], Name):
            place = (statement.head.start, statement.end)
            raise Mistake(".core takes the name of a core", place, f"there are {known}")
        name = plain[0]
        core = next((item for item in cores if item.name == name.text), None)
        if core is None:
            hint = did_you_mean(name.text, [x.name for x in cores]) or f"there are {known}"
            raise Mistake(f"no core that runs programs is called '{name.text}'", name, hint)
        options = site.named(statement.operands, [core.index] if core.index else [], statement.head)
        index = None
        if core.index:
            index = 0
            if core.index in options:
                count = self._assembly.config[f"{core.name}.{core.index}s"]
                index = site.bounded(options[core.index].value, core.index, 0, count - 1)
        return self.part(core, index, site.line)

    def part(self, core: Core, index: int | None, line: LogicalLine) -> Form:
        """The part of a core with that index; a new one if there is none."""
        key = core.name, index
        if key not in self._forms:
            self._forms[key] = form_class(core.name)(self._assembly, core, index, line)
        return self._forms[key]

    def home(self, word: Name) -> Plan:
        """The section of the tensors in the memory of that name. Raises `Mistake`."""
        known: dict[str, Plan] = {}
        shown: list[str] = []
        for core in registry.cores():
            homes = form_class(core.name).homes(core, self._assembly.config)
            names = list(homes)
            shown += [*names[:2], "...", names[-1]] if len(names) > 3 else names
            known |= homes
        if word.text not in known:
            hint = "there are " + ", ".join(shown)
            raise Mistake(f"the device has no memory '{word.text}' for tensors", word, hint)
        return self._layout.plan(known[word.text])

    def check_homes(self, ours: Form | None) -> None:
        """Warn of tensors in memories that no part of the program works with.

        A part of instructions may load from any memory, but for the default one, `ours`.
        """
        if any(form.core.executable and form is not ours for form in self):
            return
        for tensor in self._assembly.names.tensors:
            if tensor.home is not None and tensor.plan.behind not in self._layout.plans:
                message = f"the program has no part that works with {tensor.at}"
                self._assembly.report.warning(tensor.definition.line, tensor.home, message)

    def control(self) -> Form | None:
        """The part of the core that a device starts; None if there is none."""
        return next((form for form in self if not form.core.number), None)

    def default_form(self) -> Form:
        """A form of the control core, to ask for its default program."""
        core = next(core for core in registry.cores() if not core.number)
        nowhere = LogicalLine(SourceText("", ""), 0, "")
        return form_class(core.name)(self._assembly, core, None, nowhere)

    @property
    def common_sections(self) -> Sequence[str]:
        """The sections that every part may write to."""
        return tuple(_COMMON)

    def common_section(self, name: str) -> Area | None:
        """The area of such a section; None if it is none."""
        return self._common_area(name) if name in _COMMON else None

    def _common_area(self, name: str) -> Area:
        flags, zeros = _COMMON[name]
        return self._layout.area(Plan(name, EXTERNAL, flags, [Area(name, zeros=zeros)]))

    def enter_section(self, name: Name) -> None:
        """`.section NAME`. Raises `Mistake`."""
        if self.form is None:
            area, known = self.common_section(name.text), self.common_sections
        else:
            area, known = self.form.section(name.text), self.form.section_names()
        if area is None:
            where = f"a part of {self.form.core.name}" if self.form else "what stands in no part"
            there = "there are " + ", ".join(known)
            if self.form is None:
                there += "; a core's part begins with .core"
            hint = did_you_mean(name.text, known) or there
            raise Mistake(f"{where} has no section '{name.text}'", name, hint)
        self._assembly.names.settle_labels(self.area)
        self.area = area

    @property
    def padding(self) -> Callable[[int], bytes] | None:
        """How an alignment here fills: instructions among instructions, else zeros."""
        plan = self._layout.plans.get(self.area.section)
        executable = plan is not None and "x" in plan.flags
        return self.form.padding if self.form is not None and executable else None

    def slot(self, definition: Definition, index: int) -> int | None:
        """The address that a tensor has in the part with that index; None: it has none."""
        for form in self:
            address = form.slot(definition) if form.index == index else None
            if address is not None:
                return address
        return None


class LostForm(Form):
    """What follows a `.core` that is wrong: taken without a word, and put nowhere."""

    lenient = True

    def area(self) -> Area:
        return Area(".lost")

    def section(self, name: str) -> Area | None:
        return Area(".lost")

    def instruction(self, site: Site, statement: Statement, rows: object) -> None:
        """Take anything; a directive may define the symbol that it names first."""
        assert statement.head is not None
        first = statement.operands[0] if statement.operands else None
        if statement.head.text.startswith(".") and isinstance(first, Name):
            self.assembly.names.spoil(site, first)
