"""Sources to a program, in two passes.

Read: every statement puts its bytes, or as many zeros and a promise, into an
area and its labels at an offset. Lay out: every area gets its address. Encode:
the promises are kept. Mistakes are collected all the way and raised together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from asm.data_directives import DATA
from asm.diagnostics import AssemblyError, did_you_mean
from asm.directives import COMMON, table
from asm.expressions import Address, NotYet, number
from asm.forms import Form, form_class
from asm.forms.sparse import DIRECTIVES as SPARSE
from asm.layout import EXTERNAL, IMAGE_ALIGN, Area, Layout, Plan
from asm.parser import labels_of, parse
from asm.program import Line, Program, Symbol, Tensor, natural_sizes
from asm.report import Report
from asm.site import Site
from asm.source import LogicalLine, Source, SourceText, logical_lines
from asm.symbols import Datum, Deferred, Definition, Scope, SymbolTable
from asm.syntax import Again, Call, Mistake, Name, Named, Node, Number, Statement, Text
from isa import registry
from isa.config import ConfigError, Configuration, load

__all__ = ["Source", "assemble"]

DEFAULT_DEVICE = "base"
_DIRECTIVES = table(COMMON, DATA, SPARSE)
_COMMON_SECTIONS = {".data": ("aw", False), ".rodata": ("a", False), ".bss": ("aw", True)}
_TENSORS = ".tensors"
# The first words of a line that cannot be parsed: labels, then `.equ NAME` or `NAME =`.
_WORDS = r"(?:\s*[\w.$]+\s*:)*\s*"
_BROKEN = re.compile(
    _WORDS + r"(?:(?P<assigned>[\w.$]+)\s*=|(?P<word>[\w.$]+)(?:\s+(?P<name>[\w.$]+))?)"
)
_TOO_DEEP = "the expression is nested too deeply"


def assemble(
    sources: str | Path | Source | Sequence[str | Path | Source],
    *,
    device: str | Configuration | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_dirs: Sequence[str | Path] = (),
) -> Program:
    """One executable from one or several sources: paths, or texts as `Source`.

    `device` overrides the source's `.device`; `defines` are symbols of every
    file; files are read below a source's folder and `include_dirs`. Raises
    `AssemblyError` with all that is wrong, and `ConfigError` for a bad `device`.
    """
    if isinstance(sources, str | Path | Source):
        sources = [sources]
    run = Assembly(device, defines or {}, [Path(folder) for folder in include_dirs])
    for source in sources:
        run.read_source(source)
    run.complete()
    run.lay_out()
    run.encode()
    return run.program()


class Assembly:
    """The state of one run: what directives and forms work on."""

    def __init__(
        self,
        device: str | Configuration | None,
        defines: Mapping[str, str | int],
        folders: Sequence[Path],
    ) -> None:
        self._config = load(device) if isinstance(device, str) else device
        self._device_fixed = device is not None
        self._config_used = False
        self._defines = defines
        self._folders = folders
        self.report = Report()
        self.layout = Layout()
        self.symbols = SymbolTable()
        self.parts: dict[tuple[str, int | None], Form] = {}
        self.form: Form | None = None
        self.area: Area
        self.read = False  # all sources are read
        self.placed = False  # everything has its address
        self.has_variables = False
        self.kinds: list[tuple[Site, Name, str]] = []
        self.sizes: list[tuple[Site, Name, int | Address | Deferred]] = []
        self._scope: Scope
        self._ordinal = 0
        self._files: list[str] = []
        self._waiting: list[Definition] = []  # labels whose place the next bytes decide
        self._fixes: list[tuple[Site, int, int, Callable[[], bytes]]] = []
        self._marks: list[tuple[Area, int, LogicalLine]] = []
        self._data: dict[tuple[int, int], Datum] = {}  # by area and offset
        self._tensors: list[tuple[Definition, str]] = []  # with their direction
        self._pcrel: dict[tuple[int, int], tuple[Site, Node]] = {}
        self._resolving: set[Definition] = set()
        self._sizes_by_symbol: dict[tuple[str, int], int] | None = None
        self._no_core_said = False
        self._default: Form | None = None  # the control core's part that is ours

    # --- reading ---

    def read_source(self, source: str | Path | Source) -> None:
        """Read one file from its begin to its end."""
        text = self._load(source)
        if text is None:
            return
        self.report.source(text)
        self._files.append(text.name)
        self._scope = self.symbols.scope()
        for name, value in self._defines.items():
            self._define_from_outside(name, value, text)
        self.form, self.area = None, self._common_area(".data")
        for line in logical_lines(text, partial(self._unterminated, text)):
            self.statement(line)
        self._leave()

    def _load(self, source: str | Path | Source) -> SourceText | None:
        if isinstance(source, Source):
            return SourceText(source.text, source.name, source.folder)
        path = Path(source)
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.report.at_file(str(source), f"byte {error.start} is not UTF-8 text")
            return None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.report.at_file(str(source), f"cannot read the file: {reason}")
            return None
        return SourceText(text, str(source), path.parent)

    def _define_from_outside(self, name: str, value: str | int, text: SourceText) -> None:
        line = LogicalLine(text, 0, "")
        try:
            number = value if isinstance(value, int) else int(value or "1", 0)
        except ValueError:
            self.report.at_file(text.name, f"-D {name}={value}: the value is no number")
            return
        found = Definition(name, line, 0, 0, value=number, is_label=False, used=True)
        self._scope.define(found)
        self.has_variables = True

    def _unterminated(self, text: SourceText, offset: int) -> None:
        line = LogicalLine(text, offset, "/*")
        self.report.mistake(line, Mistake("a comment without an end", (0, 2), "it ends with '*/'"))

    def statement(self, line: LogicalLine) -> None:
        """Take one logical line; its mistake is reported, and the next line starts anew."""
        self._ordinal += 1
        try:
            statement = parse(line.text)
        except Mistake as mistake:
            self.report.mistake(line, mistake)
            self._labels(line, labels_of(line.text))
            self._broken(line)
            return
        self._labels(line, statement.labels)
        if statement.head is None:
            return
        site = self.site(line)
        with self.reporting(line):
            self._take(site, statement, statement.head)

    def _broken(self, line: LogicalLine) -> None:
        """Keep a line that cannot be parsed from spoiling what follows it."""
        match = _BROKEN.match(line.text)
        if match is None:
            return
        word, name = (
            (match["assigned"] and "=") or match["word"],
            match["assigned"] or match["name"],
        )
        if word == ".core":
            self._leave()
            self._lose(line)
            return
        directives = self.form.directives if self.form is not None else {}
        directive = _DIRECTIVES.get(word) or directives.get(word)
        if directive is not None and directive.defines and name:
            site = self.site(line)
            self.spoil(site, Name(0, len(line.text), name))
        if self.form is not None:
            self.form.broken(word, line)

    def _take(self, site: Site, statement: Statement, head: Name) -> None:
        directive = _DIRECTIVES.get(head.text)
        if directive is None and self.form is not None:
            directive = self.form.directives.get(head.text)
        if directive is not None:
            directive.run(site, statement)
            return
        if self.form is None:
            if head.text.startswith("."):
                raise self._unknown(head)
            if self._no_core_said:
                raise Again
            self._no_core_said = True
            raise Mistake(f"'{head.text}' stands in no part", head, "begin one, as in '.core cp'")
        rows = self.form.core.rows.get(head.text)
        if rows is None and not self.form.lenient:
            raise self._unknown(head)
        self.form.instruction(site, statement, rows or ())

    def _unknown(self, head: Name) -> Mistake:
        """What to say of a mnemonic or directive that nobody knows here."""
        form = self.form
        known = list(_DIRECTIVES) + (list(form.directives) if form else [])
        if head.text.startswith("."):
            hint = did_you_mean(head.text, known)
            others = [
                c.name for c in registry.cores() if head.text in {d.name for d in c.directives}
            ]
            if others and not hint:
                hint = f"{', '.join(others)} has it"
            return Mistake(f"unknown directive '{head.text}'", head, hint)
        assert form is not None
        others = [core.name for core in registry.cores() if head.text in core.rows]
        if others:
            hint = f"{' and '.join(others)} has it; this part is of {form.core.name}"
        else:
            hint = did_you_mean(head.text, [*form.core.rows, *known])
        return Mistake(f"{form.core.name} has no instruction '{head.text}'", head, hint)

    @contextmanager
    def reporting(self, line: LogicalLine) -> Iterator[None]:
        """Report the mistake that the block finds as the error of `line`."""
        try:
            yield
        except Mistake as mistake:
            self.report.mistake(line, mistake)
        except NotYet as error:
            self.report.mistake(
                line, Mistake(f"the value must be known here: {error.why}", error.node)
            )
        except Again:
            self.report.fail(line)
        except RecursionError:
            self.report.mistake(line, Mistake(_TOO_DEEP, (-1, -1)))

    def site(self, line: LogicalLine) -> Site:
        """Where a line's bytes go."""
        return Site(self, line, self._scope, self._ordinal, self.area)

    # --- labels and symbols ---

    def _labels(self, line: LogicalLine, labels: Sequence[Name | Number]) -> None:
        for label in labels:
            found = Definition("", line, label.start, label.end)
            if isinstance(label, Number):
                found.name = str(label.value)
                self._scope.number(label.value, self._ordinal, found)
            else:
                found.name = label.text
                before = self._scope.clash(label.text)
                if before is not None:
                    self.report.mistake(line, self.twice(label, before))
                    continue
                self._scope.define(found)
            self.put_label(found)

    def put_label(self, definition: Definition) -> None:
        """Let a label stand here, or where the next bytes go."""
        if self.form is None or self.form.binds_now(self.area):
            definition.value = Address(self.area, self.area.size)
        else:
            self._waiting.append(definition)
        if self.form is not None and self.form.lenient:
            definition.bad = True

    def settle_labels(self, area: Area) -> None:
        """Let the labels that wait stand at the end of `area`."""
        for definition in self._waiting:
            definition.value = Address(area, area.size)
        self._waiting.clear()

    def take_labels(self) -> list[Definition]:
        """The labels that wait, for whoever knows their place."""
        labels, self._waiting = self._waiting, []
        return labels

    def settle(self, found: Definition, area: Area, offset: int, datum: Datum | None) -> None:
        """Give a symbol its place, and its size if it stands for a datum."""
        found.value, found.datum = Address(area, offset), datum
        if datum is not None:
            found.size = datum.size

    def label_here(
        self, site: Site, name: Name, area: Area, datum: Datum | None = None
    ) -> Definition:
        """Define a symbol at the end of `area`, as `.list` does. Raises `Mistake`."""
        found = self.new_symbol(site, name)
        self.settle(found, area, area.size, datum)
        return found

    def new_symbol(self, site: Site, name: Name) -> Definition:
        """A symbol of this file that waits for its place or value. Raises `Mistake`."""
        before = site.scope.clash(name.text)
        if before is not None:
            raise self.twice(name, before)
        found = Definition(name.text, site.line, name.start, name.end)
        site.scope.define(found)
        return found

    def twice(self, name: Name, before: Definition) -> Mistake:
        """What to say of a second definition."""
        source = before.line.source
        line, _column = source.locate(before.line.start + before.start)
        return Mistake(
            f"'{name.text}' is defined twice", name, f"the first is at {source.name}:{line}"
        )

    def set_symbol(self, site: Site, name: Name, value: int | Address | Deferred) -> None:
        """Give a symbol that may be set again a value. Raises `Mistake`."""
        found = site.scope.clash(name.text)
        if found is not None and found.is_label:
            raise self.twice(name, found)
        if found is None:
            found = self.new_symbol(site, name)
            found.is_label = False
        found.value, found.bad = value, False
        self.has_variables = True

    def spoil(self, site: Site, name: Name) -> None:
        """Let a symbol whose line is wrong cause no further errors."""
        if site.scope.clash(name.text) is None:
            found = self.new_symbol(site, name)
            found.bad, found.is_label = True, False

    @contextmanager
    def spoiling(self, site: Site, name: Name) -> Iterator[None]:
        """Let the block's mistake spoil the symbol that it should have defined."""
        try:
            yield
        except (Mistake, Again, RecursionError):
            self.spoil(site, name)
            raise

    def deferred(self, found: Definition, node: Name) -> int:
        """The value of a symbol that waited for the layout. Raises `Mistake`."""
        value = found.value
        assert isinstance(value, Deferred)
        if found in self._resolving:
            raise Mistake(f"'{found.name}' is defined by itself", node)
        self._resolving.add(found)
        try:
            assert isinstance(value.site, Site)
            found.value = number(value.node, value.site)
        except Mistake as mistake:
            found.bad = True
            self.report.mistake(value.site.line, mistake)
            raise Again from None
        finally:
            self._resolving.discard(found)
        return found.value

    def hint_for_symbol(self, name: str, scope: Scope) -> str:
        """The symbol that may have been meant, or what else the word is."""
        hint = did_you_mean(name, [*scope.symbols, *self.symbols.shared])
        if hint:
            return hint
        for form in self.parts.values():
            for file in form.core.files:
                if any(name in names for names in file.names):
                    return "it is a register; a number is needed here"
        return ""

    # --- parts and sections ---

    @property
    def config(self) -> Configuration:
        """The device; from the first question on it is settled."""
        self._config_used = True
        if self._config is None:
            self._config = load(DEFAULT_DEVICE)
        return self._config

    def choose_device(self, site: Site, node: Name | Text) -> None:
        """`.device`. Raises `Mistake`."""
        if isinstance(node, Text):
            from asm import files

            try:
                name = str(files.find(node.value.decode("utf-8"), self.folders(site.line)))
            except (files.FileError, UnicodeDecodeError) as error:
                raise Mistake(str(error), node) from None
        else:
            name = node.text
        try:
            config = load(name)
        except ConfigError as error:
            raise Mistake(str(error), node) from None
        if self._device_fixed:
            return
        if self._config_used and config != self._config:
            raise Mistake(
                ".device comes too late", node, "it stands before what depends on the device"
            )
        if self._config is not None and config != self._config:
            raise Mistake(f"the device is {self._config.name} already", node)
        self._config = config

    def enter_core(self, site: Site, statement: Statement) -> None:
        """`.core NAME, row=R`. Raises `Mistake`; then what follows is taken without a word."""
        self._leave()
        try:
            self.form = self._part(site, statement)
        except Mistake:
            self._lose(site.line)
            raise
        self.area = self.form.area()
        self.form.enter()

    def _lose(self, line: LogicalLine) -> None:
        """Take what follows without a word: nobody knows whose it is."""
        self.form = LostForm(self, registry.cores()[0], None, line)
        self.area = self.form.area()

    def _part(self, site: Site, statement: Statement) -> Form:
        assert statement.head is not None
        cores = [core for core in registry.cores() if core.section]
        plain = [item for item in statement.operands if not isinstance(item, Named)]
        if len(plain) != 1 or not isinstance(plain[0], Name):
            place = (statement.head.start, statement.end)
            known = ", ".join(core.name for core in cores)
            raise Mistake(".core takes the name of a core", place, f"there are {known}")
        name = plain[0]
        core = next((item for item in cores if item.name == name.text), None)
        if core is None:
            known = ", ".join(item.name for item in cores)
            hint = did_you_mean(name.text, [x.name for x in cores]) or f"there are {known}"
            raise Mistake(f"no core that runs programs is called '{name.text}'", name, hint)
        known_options = (core.index,) if core.index else ()
        options = site.named(statement.operands, known_options, statement.head)
        index = None
        if core.index:
            index = 0
            if core.index in options:
                count = self.config[f"{core.name}.{core.index}s"]
                index = site.bounded(options[core.index].value, core.index, 0, count - 1)
        key = (core.name, index)
        if key not in self.parts:
            self.parts[key] = form_class(core.name)(self, core, index, site.line)
        return self.parts[key]

    def _leave(self) -> None:
        if self.form is not None:
            self.form.leave()
        self.settle_labels(self.area)
        self.form, self.area = None, self._common_area(".data")

    @property
    def common_sections(self) -> Sequence[str]:
        """The sections that every part may write to."""
        return tuple(_COMMON_SECTIONS)

    def common_section(self, name: str) -> Area | None:
        """The area of such a section; None if it is none."""
        return self._common_area(name) if name in _COMMON_SECTIONS else None

    def _common_area(self, name: str) -> Area:
        flags, zeros = _COMMON_SECTIONS[name]
        return self.layout.area(Plan(name, EXTERNAL, flags, [Area(name, zeros=zeros)]))

    def enter_section(self, name: Name) -> None:
        """`.section NAME`. Raises `Mistake`."""
        if self.form is None:
            area, known = self.common_section(name.text), self.common_sections
        else:
            area, known = self.form.section(name.text), self.form.section_names()
        if area is None:
            where = f"a part of {self.form.core.name}" if self.form else "what is no core's part"
            listed = ", ".join(known)
            hint = did_you_mean(name.text, known) or (f"there are {listed}" if known else "")
            raise Mistake(f"{where} has no section '{name.text}'", name, hint)
        self.settle_labels(self.area)
        self.area = area

    @property
    def padding(self) -> Callable[[int], bytes] | None:
        """How an alignment here fills: instructions among instructions, else zeros."""
        plan = self.layout.plans.get(self.area.section)
        executable = plan is not None and "x" in plan.flags
        return self.form.padding if self.form is not None and executable else None

    def folders(self, line: LogicalLine) -> Sequence[Path]:
        """Where the files lie that a line names."""
        folder = line.source.folder
        return [*([folder] if folder is not None else []), *self._folders]

    # --- what directives and instructions leave behind ---

    def fix(self, site: Site, offset: int, size: int, make: Callable[[], bytes]) -> None:
        """Promise `size` bytes at `offset` of the site's area."""
        if self.form is None or not self.form.lenient:
            self._fixes.append((site, offset, size, make))

    def mark(self, area: Area, offset: int, line: LogicalLine) -> None:
        """Add a row to the line table."""
        if self.form is None or not self.form.lenient:
            self._marks.append((area, offset, line))

    def put_datum(self, site: Site, data: bytes, datum: Datum) -> None:
        """Put data that know what they are; the labels here stand for them."""
        self.settle_labels(site.area)
        self._data.setdefault((id(site.area), site.area.size), datum)
        site.emit(data)

    def datum(self, found: Definition) -> Datum | None:
        """What stands at a symbol."""
        if found.datum is not None or not isinstance(found.value, Address):
            return found.datum
        return self._data.get((id(found.value.area), found.value.offset))

    def declare_tensor(self, site: Site, name: Name, direction: str, datum: Datum) -> None:
        """`.input` and `.output`. Raises `Mistake`."""
        area = self.layout.area(Plan(_TENSORS, EXTERNAL, "aw", [Area(_TENSORS, zeros=True)]))
        other = site.scope.export(name.text, site.line, name.start, name.end)
        if other is not None:
            raise self.twice(name, other)
        before = Site(self, site.line, site.scope, site.ordinal, area)
        before.align(IMAGE_ALIGN)
        self.label_here(site, name, area, datum)
        before.moved().reserve(datum.size)
        found = site.scope.symbols[name.text]
        found.kind, found.used = "object", True
        self._tensors.append((found, direction))

    def promise_pcrel(self, site: Site, node: Node) -> None:
        """Remember what the `%pcrel_hi` of an instruction points at."""
        self._pcrel[id(site.area), site.offset] = (site, node)

    # --- laying out ---

    def complete(self) -> None:
        """Add the parts that are missing and let every part finish."""
        control = next(core for core in registry.cores() if not core.number)
        if not any(form.core is control for form in self.parts.values()):
            source = form_class(control.name)(
                self, control, None, LogicalLine(SourceText("", ""), 0, "")
            ).default_source()
            if source is not None:
                self.read_source(source)
                self._files.pop()
                self._default = self.parts[control.name, None]
        self.read = True
        for form in self.parts.values():
            form.finish()

    def lay_out(self) -> None:
        """Give everything its address."""
        for problem in self.layout.place(self.config):
            self.report.at_file(self._files[0] if self._files else "", problem)
        self.placed = True

    def encode(self) -> None:
        """Keep the promises."""
        for site, offset, size, make in self._fixes:
            if not self.report.has_failed(site.line):
                with self.reporting(site.line):
                    site.area.data[offset : offset + size] = make()
        for scope in self.symbols.scopes:
            for found in scope.symbols.values():
                self._settle(found)
        for site, name, kind in self.kinds:
            with self.reporting(site.line):
                self._symbol_of(site, name).kind = kind
        for site, name, value in self.sizes:
            with self.reporting(site.line):
                size = number(value.node, site) if isinstance(value, Deferred) else value
                if not isinstance(size, int) or not 0 <= size < 1 << 32:
                    raise Mistake("a size is a number from 0 to 4294967295", name)
                self._symbol_of(site, name).size = size
        self._check_labels()
        if self._default is not None and not self.report.failed:
            parts = [form.startup() for form in self.parts.values() if form is not self._default]
            self._default.fill_default(parts)

    def _settle(self, found: Definition) -> None:
        """Work out a symbol's value, so that its mistake is reported even if nobody uses it."""
        if isinstance(found.value, Deferred) and not found.bad:
            line, name = found.line, Name(found.start, found.end, found.name)
            with self.reporting(line):
                try:
                    self.deferred(found, name)
                except Again:
                    pass

    def _symbol_of(self, site: Site, name: Name) -> Definition:
        found = site.definition(name)
        assert found is not None
        return found

    def _check_labels(self) -> None:
        """Warn of labels that are for this file alone and that nobody uses."""
        for scope in self.symbols.scopes:
            numbered = [item[1] for group in scope.numbered.values() for item in group]
            private = [item for item in scope.symbols.values() if item.is_private and item.is_label]
            for found in [*private, *numbered]:
                if not found.used and not found.bad:
                    self.report.warning(
                        found.line, (found.start, found.end), f"label '{found.name}' is not used"
                    )

    def load_address(self, address: int, node: Node) -> int:
        """Where the loader puts the byte that its core sees at `address`. Raises `Mistake`."""
        found = self.layout.section_at(address)
        if found is None:
            raise Mistake(f"no section holds the address {address:#x}", node)
        _plan, area = found
        assert area.base is not None
        return area.load_base + address - area.base

    def pcrel_target(self, address: int) -> int | None:
        """What the `%pcrel_hi` of the instruction at `address` points at."""
        found = self.layout.section_at(address)
        if found is None:
            return None
        _plan, area = found
        assert area.base is not None
        entry = self._pcrel.get((id(area), address - area.base))
        return None if entry is None else number(entry[1], entry[0])

    def slot(self, found: Definition, index: int, node: Call) -> int:
        """The address that a tensor has in the part with that index. Raises `Mistake`."""
        for form in self.parts.values():
            if form.index == index and form.index is not None:
                address = form.slot(found)
                if address is not None:
                    return address
        raise Mistake(f"'{found.name}' has no slot in row {index}", node, "no exe there names it")

    # --- the program ---

    def program(self) -> Program:
        """The result. Raises `AssemblyError` if there was any error."""
        diagnostics = self.report.sorted()
        if self.report.failed:
            raise AssemblyError(diagnostics)
        sections = self.layout.sections()
        return Program(
            sections=sections,
            symbols=tuple(self._sized(self._symbols())),
            tensors=tuple(self._program_tensors()),
            lines=tuple(self._lines()),
            config_toml=self.config.to_toml(),
            device=self.config.name,
            entry=self._entry(),
            source_files=tuple(self._files),
            warnings=diagnostics,
        )

    def natural_size(self, found: Definition) -> int:
        """The bytes from a label to the next one in its section, or to its end."""
        if self._sizes_by_symbol is None:
            self._sizes_by_symbol = self._natural_sizes(list(self._symbols()))
        value = found.value
        if not isinstance(value, Address):
            return 0
        return self._sizes_by_symbol.get((found.name, self._place(value)), 0)

    def _natural_sizes(self, symbols: Sequence[Symbol]) -> dict[tuple[str, int], int]:
        return {
            key: size
            for section in self.layout.sections()
            for key, size in natural_sizes(section, symbols).items()
        }

    def place(self, found: Definition) -> int:
        """The address of a symbol, everything being laid out; 0 if it is a number."""
        return self._place(found.value) if isinstance(found.value, Address) else 0

    def direction(self, found: Definition) -> str:
        """"input" or "output" of a tensor."""
        return next((which for item, which in self._tensors if item is found), "")

    @staticmethod
    def _place(value: Address) -> int:
        assert isinstance(value.area, Area)
        assert value.area.base is not None
        return value.area.base + value.offset & 0xFFFF_FFFF

    def _symbols(self) -> Iterator[Symbol]:
        """The symbols of the object, without the sizes that follow from their neighbours."""
        for scope in self.symbols.scopes:
            for found in scope.symbols.values():
                if found.is_private or found.bad or found.value is None:
                    continue
                is_global = self.symbols.shared.get(found.name) is found
                value = found.value
                if isinstance(value, Address):
                    assert isinstance(value.area, Area)
                    if value.area.base is None:
                        continue
                    plan = self.layout.plans[value.area.section]
                    kind = found.kind or ("func" if "x" in plan.flags else "object")
                    section = plan.name if plan.size else None
                    size = -1 if found.size is None and section else found.size or 0
                    yield Symbol(found.name, self._place(value), size, section, kind, is_global)
                elif isinstance(value, int):
                    kind, size = found.kind or "notype", found.size or 0
                    yield Symbol(found.name, value & 0xFFFF_FFFF, size, None, kind, is_global)

    def _sized(self, symbols: Iterator[Symbol]) -> Iterator[Symbol]:
        found = list(symbols)
        natural = self._natural_sizes(found)
        for item in found:
            if item.size >= 0:
                yield item
            else:
                size = natural.get((item.name, item.value), 0)
                yield Symbol(item.name, item.value, size, item.section, item.kind, item.is_global)

    def _program_tensors(self) -> Iterator[Tensor]:
        for found, direction in self._tensors:
            assert found.datum is not None
            assert isinstance(found.value, Address)
            address = self._place(found.value)
            yield Tensor(found.name, direction, found.datum.dtype, found.datum.shape, address)

    def _lines(self) -> Iterator[Line]:
        for area, offset, line in self._marks:
            assert area.base is not None
            number, column = line.source.locate(line.start)
            yield Line(area.section, area.base + offset, line.source.name, number, column)

    def _entry(self) -> int | None:
        """`_start`, or the first instruction of the core that the device starts."""
        plans = [self.parts[key].plan() for key in self.parts if not self.parts[key].core.number]
        for scope in [*self.symbols.scopes]:
            found = scope.symbols.get("_start")
            if found is not None and isinstance(found.value, Address):
                return self._place(found.value)
        for plan in plans:
            placed = self.layout.plans.get(plan.name)
            if placed is not None and placed.size:
                return placed.areas[0].base
        return None


class LostForm(Form):
    """What follows a `.core` that is wrong: taken without a word, and put nowhere."""

    lenient = True

    def area(self) -> Area:
        return Area(".lost")

    def instruction(self, site: Site, statement: Statement, rows: object) -> None:
        """Take anything; a directive may define the symbol that it names first."""
        assert statement.head is not None
        first = statement.operands[0] if statement.operands else None
        if statement.head.text.startswith(".") and isinstance(first, Name):
            self.assembly.spoil(site, first)
