"""Sources to a program, in two passes.

Read: every statement puts its bytes, or as many zeros and a promise, into an
area, and its labels at an offset of it. Lay out: every area gets its address.
Encode: the promises are kept. Mistakes are collected all the way and raised
together. Macros, repetitions, conditionals and includes are done between the logical
lines and `Assembly.statement`, by a `Reader` a source (`asm/expansion.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from macaw.asm import output, recovery
from macaw.asm.bodies import Expanded
from macaw.asm.collecting import collecting_seldom
from macaw.asm.data_directives import DATA
from macaw.asm.diagnostics import AssemblyError, guessing
from macaw.asm.directives import COMMON, Directive, table
from macaw.asm.expansion import Budget, Meant, Reader
from macaw.asm.expressions import Address, NotYet, number
from macaw.asm.forms import Form, shared_directives
from macaw.asm.includes import TEXTUAL
from macaw.asm.layout import Area, Layout
from macaw.asm.listing import Record
from macaw.asm.macros import Macro
from macaw.asm.marks import Marks
from macaw.asm.naming import Naming
from macaw.asm.parser import labels_of, parse
from macaw.asm.parts import Parts
from macaw.asm.program import Hint, Program
from macaw.asm.report import Report
from macaw.asm.short import Later, Short
from macaw.asm.site import Site
from macaw.asm.source import LogicalLine, Source, SourceText, logical_lines
from macaw.asm.surroundings import Device, Folders
from macaw.asm.symbols import Deferred, Definition, Scope
from macaw.asm.syntax import Again, Mistake, Name, Node, Statement
from macaw.isa import registry
from macaw.isa.config import Configuration

__all__ = ["Source", "analyse", "assemble"]

DIRECTIVES = table(COMMON, DATA, shared_directives())
TEXT_DIRECTIVES = {row.name: row for row in TEXTUAL}


def assemble(
    sources: str | Path | Source | Sequence[str | Path | Source],
    *,
    device: str | Configuration | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_dirs: Sequence[str | Path] = (),
    record: Record | None = None,
) -> Program:
    """One executable from one or several sources: paths, or texts as `Source`.

    `device` overrides the source's `.device`; `defines` are symbols of every
    file; files are read below a source's folder and `include_dirs`. `record`
    gets what `macaw.asm.listing.text` needs. Raises `AssemblyError` with all that is
    wrong, and `ConfigError` for a bad `device`.
    """
    if isinstance(sources, str | Path | Source):
        sources = [sources]
    with collecting_seldom():
        run = analyse(
            sources, device=device, defines=defines or {}, include_dirs=include_dirs, record=record
        )
        return run.program()


def analyse(
    sources: Sequence[str | Path | Source],
    *,
    device: str | Configuration | None = None,
    defines: Mapping[str, str | int] = MappingProxyType({}),
    include_dirs: Sequence[str | Path] = (),
    record: Record | None = None,
    budget: Budget | None = None,
    watch: Callable[[], None] = lambda: None,
) -> Assembly:
    """The finished run of `assemble`, with all that it knows; mistakes do not raise.

    `budget` is what expansions may take. `watch` is called again and again; what it raises ends
    the run.
    """
    run = Assembly(device, defines, [Path(folder) for folder in include_dirs], record)
    run.watch = watch
    run.budget = budget or Budget()
    with collecting_seldom(), guessing():
        for source in sources:
            run.read_source(source)
        run.complete()
        run.lay_out()
        run.encode()
    return run


class Assembly:
    """The state of one run: what directives and forms work on."""

    def __init__(
        self,
        device: str | Configuration | None,
        defines: Mapping[str, str | int],
        folders: Sequence[Path],
        record: Record | None = None,
    ) -> None:
        self.device = Device(device)
        self.folders = Folders(folders)
        self._defines = defines
        self.report = Report()
        self.layout = Layout()
        self.names = Naming(self.report)
        self.parts = Parts(self, self.layout)
        self.record = record
        self.short = Short(self)
        if record is not None:
            self.short.enabled = False  # it takes many lines at a time, and tells nobody
        self.read = False  # all sources are read
        self.placed = False  # everything has its address
        self.files: list[str] = []
        self.marks = Marks()  # of the line table
        self.hints: list[Hint] = []
        self.macros: list[Macro] = []  # all that were defined
        self._scope: Scope
        self._reader: Reader
        self.budget = Budget()
        self.watch: Callable[[], None] = lambda: None
        self._ordinal = 0
        self._fixes: list[tuple[Site, int, int, Callable[[], bytes]] | Later] = []
        self._pcrel: dict[tuple[int, int], tuple[Site, Node]] = {}
        self._natural: dict[tuple[str, int], int] | None = None
        self._default: Form | None = None  # the control core's part, if it is ours
        self._no_part_said = False

    # --- reading ---

    def read_source(self, source: str | Path | Source, ours: bool = False) -> None:
        """Read one file from its begin to its end; one of `ours` sees no `-D` symbols."""
        text = self.folders.load(source, self.report)
        if text is None:
            return
        self.report.source(text)
        if self.record is not None:
            self.record.file(text)
        self._scope = self.names.table.scope()
        if not ours:
            self.files.append(text.name)
            for name, value in self._defines.items():
                self._define(name, value, text)
        self.short.blocked.clear()
        self._reader = Reader(self, TEXT_DIRECTIVES, self.budget)
        self._reader.read(self.lines(text))
        self.parts.leave()

    def lines(self, text: SourceText) -> Iterator[LogicalLine]:
        """The logical lines of a text but for the plain ones, which are done already."""
        return logical_lines(text, partial(self._unterminated, text), self._short_way)

    def _short_way(self, text: SourceText, start: int) -> int:
        """Take plain lines from an offset on; the offset of the first line that is none.

        Words that are no mnemonics any more stand in `short.blocked`.
        """
        if not self._reader.takes_statements:
            return start  # lines are skipped or collected
        return self.short.take(text, start, self._scope)

    def _define(self, name: str, value: str | int, text: SourceText) -> None:
        try:
            value = value if isinstance(value, int) else int(value or "1", 0)
        except ValueError:
            self.report.at_file(text.name, f"-D {name}={value}: the value is no number")
            return
        line = LogicalLine(text, 0, "")
        self._scope.define(Definition(name, line, 0, 0, value=value, is_label=False, used=True))
        self.names.has_variables = True

    def _unterminated(self, text: SourceText, offset: int) -> None:
        line = LogicalLine(text, offset, "/*")
        self.report.mistake(line, Mistake("a comment without an end", (0, 2), "it ends with '*/'"))

    def next_ordinal(self) -> int:
        """The number of the next statement, which orders the local labels."""
        self._ordinal += 1
        return self._ordinal

    def statement(self, line: LogicalLine) -> None:
        """Take one logical line; its mistake is reported, and the next line starts anew."""
        self.next_ordinal()
        if self.record is not None:
            self.record.statement(self._ordinal, line)
        statement = self.parsed(line)
        labels = self._labels(line, statement) if statement.labels else []
        if statement.head is None:
            if self.parts.form is not None and self.report.has_failed(line):
                self.parts.form.failed()
            return
        with self.reporting(line):
            first = min(x.start for x in (statement.head, *statement.operands[:1]))
            self._take(self.site(line, first), statement, statement.head)
        if self.report.has_failed(line):
            self._failed(statement.head, labels)

    def parsed(self, line: LogicalLine) -> Statement:
        """The statement of a line, or what of it can be taken; a mistake of syntax is reported."""
        try:
            return parse(line.text)
        except Mistake as mistake:
            if isinstance(line.source, Expanded):
                recovery.hint_at_parameter(mistake, line.text, line.source.names)
            self.report.mistake(line, mistake)
            return self._recovered(line, mistake)

    def _failed(self, head: Name, labels: Sequence[Definition]) -> None:
        """Keep a wrong statement from spoiling what follows it."""
        if self.parts.form is not None:
            self.parts.form.failed()
        if self._directive(head) is not None:
            for label in [*labels, *self.names.waiting]:
                label.bad = True  # nobody knows what should have stood there

    def _labels(self, line: LogicalLine, statement: Statement) -> list[Definition]:
        form, area = self.parts.form, self.parts.area
        bad = form is not None and form.lenient
        labels = self.names.labels(self._scope, self._ordinal, line, statement.labels, bad)
        self.names.wait(labels)
        if form is None or form.binds_now(area):
            self.names.settle_labels(area)
        return labels

    def _recovered(self, line: LogicalLine, mistake: Mistake) -> Statement:
        """What stands before a mistake of syntax, so that good lines do not suffer from it.

        The line has its error and says no more, whatever becomes of its begin.
        """
        assigned = recovery.assigned(line.text)
        if assigned is not None:
            self.names.spoil(self.site(line), assigned)
            return Statement(0, 0, labels_of(line.text), None, ())
        return recovery.beginning(line.text, mistake.start)

    def _directive(self, head: Name) -> Directive | None:
        form = self.parts.form
        return DIRECTIVES.get(head.text) or (form.directives.get(head.text) if form else None)

    def is_directive(self, name: str) -> bool:
        """Whether a directive of any part has this name."""
        owned = (row.name for core in registry.cores() for row in core.directives)
        return name in DIRECTIVES or name in TEXT_DIRECTIVES or name in owned

    def has_symbol(self, name: str) -> bool:
        """Whether the file has defined a symbol so far."""
        found = self._scope.symbols.get(name)
        if found is not None:
            found.used = True
        return found is not None

    def _take(self, site: Site, statement: Statement, head: Name) -> None:
        form = self.parts.form
        directive = self._directive(head)
        if directive is not None:
            before = site.area.size
            directive.run(site, statement)
            plan = self.layout.plans.get(site.area.section)
            if site.area.size > before and plan is not None and plan.core is not None:
                self.mark(site.area, before, site.line, site.head)  # it can run, or be a packet
            return
        if form is None:
            self._guess(site, statement, self._in_no_part(head))
            return
        rows = form.core.rows.get(head.text)
        if rows is None and not form.lenient:
            known = [*DIRECTIVES, *form.directives, *self._reader.known()]
            self._guess(site, statement, recovery.unknown(head, form.core, known))
            return
        form.instruction(site, statement, rows or ())

    def _guess(self, site: Site, statement: Statement, mistake: Mistake) -> None:
        """Report an unknown word, and go on as if what was probably meant stood there."""
        self.report.mistake(site.line, mistake)
        meant = recovery.meant(mistake)
        if meant is not None and self._reader.knows(meant):
            text = meant + site.line.text[mistake.end :]
            line = LogicalLine(site.line.source, site.line.start + mistake.start, text)
            self.report.fail(line)
            raise Meant(line)
        if meant is not None:
            head = Name(mistake.start, mistake.end, meant)
            self._take(site, replace(statement, head=head), head)

    def _in_no_part(self, head: Name) -> Mistake:
        """What to say of the first mnemonic in no part. Raises `Again` for the others."""
        if head.text.startswith("."):
            return recovery.unknown_directive(head, [*DIRECTIVES, *self._reader.known()])
        if self._no_part_said:
            raise Again
        self._no_part_said = True
        return recovery.no_part(head)

    @contextmanager
    def reporting(self, line: LogicalLine) -> Iterator[None]:
        """Report the mistake that the block finds as the error of `line`."""
        try:
            yield
        except Mistake as mistake:
            self.report.mistake(line, mistake)
        except NotYet as error:
            why = f"the value must be known here: {error.why}"
            self.report.mistake(line, Mistake(why, error.node))
        except Again:
            self.report.fail(line)
        except RecursionError:
            why = "the expression is nested too deeply"
            self.report.mistake(line, Mistake(why, (-1, -1)))

    # --- what directives, instructions and forms ask for and leave behind ---

    @property
    def config(self) -> Configuration:
        """The device; from the first question on it is settled."""
        return self.device.config

    def site(self, line: LogicalLine, head: int = 0) -> Site:
        """Where a line's bytes go; `head` is the place of its mnemonic."""
        return Site(self, line, self._scope, self._ordinal, self.parts.area, head)

    def fix(self, site: Site, offset: int, size: int, make: Callable[[], bytes]) -> None:
        """Promise `size` bytes at `offset` of the site's area."""
        if self.parts.form is None or not self.parts.form.lenient:
            self._fixes.append((site, offset, size, make))

    def keep_later(self, later: Later) -> None:
        """Promise what a run of plain lines waits for."""
        self._fixes.append(later)

    def mark(self, area: Area, offset: int, line: LogicalLine, head: int) -> None:
        """Add a row to the line table."""
        self.marks.add(area, offset, line.source, line.start + head)

    def promise_pcrel(self, site: Site, node: Node) -> None:
        """Remember what the `%pcrel_hi` of an instruction points at."""
        self._pcrel[id(site.area), site.offset] = (site, node)

    def pcrel_target(self, address: int) -> int | None:
        """What the `%pcrel_hi` of the instruction at `address` points at."""
        found = self.layout.area_at(address)
        if found is None:
            return None
        entry = self._pcrel.get((id(found), address - (found.base or 0)))
        return None if entry is None else number(entry[1], entry[0])

    def load_address(self, address: int, node: Node) -> int:
        """Where the loader puts the byte that its core sees at `address`. Raises `Mistake`."""
        found = self.layout.area_at(address)
        if found is None:
            raise Mistake(f"no section holds the address {address:#x}", node)
        return found.load_base + address - (found.base or 0)

    def natural_size(self, found: Definition) -> int:
        """The bytes from a label to the next one in its section, or to its end."""
        if self._natural is None:
            self._natural = output.sizes(self.layout, output.symbols(self.names, self.layout))
        return self._natural.get((found.name, output.address_of(found)), 0)

    # --- after reading ---

    def complete(self) -> None:
        """Add the control core's part if there is none, and let every part finish."""
        if self.parts.control() is None:
            source = self.parts.default_form().default_source()
            if source is not None:
                self.read_source(source, ours=True)
                self._default = self.parts.control()
        self.read = True
        for form in self.parts:
            form.finish()
        self.parts.check_homes(self._default)

    def lay_out(self) -> None:
        """Give everything its address."""
        for plan, problem in self.layout.place(self.config):
            form = next(
                (form for form in self.parts if plan is not None and form.plan().name == plan.name),
                None,
            )
            inside = [tensor for tensor in self.names.tensors if tensor.plan is plan]
            if form is not None:
                self.report.mistake(form.line, Mistake(problem, (-1, -1)))
            elif plan is not None and plan.behind and inside:
                last = inside[-1]
                assert last.home is not None
                self.report.mistake(last.definition.line, Mistake(problem, last.home))
            else:
                self.report.at_file(self.files[0] if self.files else "", problem)
        self.placed = True

    def encode(self) -> None:
        """Keep the promises, settle symbols, and give the default program its commands."""
        for fix in self._fixes:
            self.watch()
            if isinstance(fix, Later):
                fix.keep(self)
                continue
            site, offset, size, make = fix
            if not self.report.has_failed(site.line):
                with self.reporting(site.line):
                    site.area.data[offset : offset + size] = make()
        for scope in self.names.table.scopes:
            for found in scope.symbols.values():
                self._settle(found)
        self._kinds_and_sizes()
        self.names.check_unused()
        output.check_starts(self)
        if self._default is not None and not self.report.failed:
            parts = [form for form in self.parts if form is not self._default]
            if parts:
                output.check_outputs(self, lambda x: any(form.may_write(x) for form in parts))
            self._default.fill_default([form.startup() for form in parts])

    def _settle(self, found: Definition) -> None:
        """Work out a symbol's value, so that its mistake is reported even if nobody uses it."""
        if isinstance(found.value, Deferred) and not found.bad:
            with self.reporting(found.line), suppress(Again):
                self.names.deferred(found, Name(found.start, found.end, found.name))

    def _kinds_and_sizes(self) -> None:
        """What `.type` and `.size` said of symbols."""
        for site, name, kind in self.names.kinds:
            with self.reporting(site.line):
                self._known(site, name).kind = kind
        for site, name, value in self.names.sizes:
            with self.reporting(site.line):
                size: int | Address = (
                    number(value.node, value.site) if isinstance(value, Deferred) else value
                )
                if not isinstance(size, int) or not 0 <= size < 1 << 32:
                    raise Mistake("a size is a number from 0 to 4294967295", name)
                self._known(site, name).size = size

    def _known(self, site: Site, name: Name) -> Definition:
        """The symbol that `.type` or `.size` is about: the latest definition of it."""
        site.definition(name)  # there is one
        found = site.scope.find(name.text)
        assert found is not None  # everything is read
        return found

    def program(self) -> Program:
        """The result. Raises `AssemblyError` if there was any error."""
        diagnostics = self.report.sorted()
        if self.report.failed:
            raise AssemblyError(diagnostics)
        return output.program(self, diagnostics)
