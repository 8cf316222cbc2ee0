"""Symbols while a source is read: their places, values that wait, what data they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.expressions import Address, number
from macaw.asm.layout import Area
from macaw.asm.report import Report
from macaw.asm.site import Site
from macaw.asm.source import LogicalLine
from macaw.asm.symbols import Datum, Deferred, Definition, Scope, SymbolTable, TensorSymbol
from macaw.asm.syntax import Again, Mistake, Name, Number

if TYPE_CHECKING:
    from macaw.isa.model import Core


class Naming:
    """The symbols of a run and what the source has said of them so far."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.table = SymbolTable()
        self.has_variables = False  # symbols that may be set again
        self.tensors: list[TensorSymbol] = []
        self.kinds: list[tuple[Site, Name, str]] = []  # what `.type` said
        self.sizes: list[tuple[Site, Name, int | Address | Deferred]] = []  # what `.size` said
        self.waiting: list[Definition] = []  # labels whose place the next bytes decide
        self._data: dict[tuple[int, int], Datum] = {}  # by area and offset
        self.placed: list[tuple[Site, int, Datum]] = []  # the same, in the order of the source
        self._resolving: set[Definition] = set()

    # --- labels ---

    def labels(
        self,
        scope: Scope,
        ordinal: int,
        line: LogicalLine,
        labels: Sequence[Name | Number],
        bad: bool,
    ) -> list[Definition]:
        """Define the labels of a line; they have no place yet. `bad` ones cause no errors later."""
        found = []
        for label in labels:
            item = Definition("", line, label.start, label.end, bad=bad)
            if isinstance(label, Number):
                item.name = str(label.value)
                scope.number(label.value, ordinal, item)
            else:
                item.name = label.text
                before = scope.clash(label.text)
                if before is not None:
                    self.report.mistake(line, twice(label, before))
                    continue
                scope.define(item)
            found.append(item)
        return found

    def wait(self, labels: Sequence[Definition]) -> None:
        """Let labels stand where the next bytes go."""
        self.waiting += labels

    def take_labels(self) -> list[Definition]:
        """The labels that wait, for whoever knows their place."""
        labels, self.waiting = self.waiting, []
        return labels

    def settle_labels(self, area: Area) -> None:
        """Let the labels that wait stand at the end of `area`."""
        if self.waiting:
            for found in self.take_labels():
                found.value = Address(area, area.size)

    # --- other symbols ---

    def new(self, site: Site, name: Name) -> Definition:
        """A symbol of this file that waits for its place or value. Raises `Mistake`."""
        before = site.scope.clash(name.text)
        if before is not None:
            raise twice(name, before)
        found = Definition(name.text, site.line, name.start, name.end)
        site.scope.define(found)
        return found

    def settle(self, found: Definition, area: Area, offset: int, datum: Datum | None) -> None:
        """Give a symbol its place, and its size if it stands for a datum."""
        found.value, found.datum = Address(area, offset), datum
        if datum is not None:
            found.size = datum.size

    def label_here(
        self, site: Site, name: Name, area: Area, datum: Datum | None = None
    ) -> Definition:
        """Define a symbol at the end of `area`, as `.list` does. Raises `Mistake`."""
        found = self.new(site, name)
        self.settle(found, area, area.size, datum)
        return found

    def set(self, site: Site, name: Name, value: int | Address | Deferred) -> None:
        """Give a symbol that may be set again a value. Raises `Mistake`."""
        found = site.scope.clash(name.text)
        if found is not None and found.is_label:
            raise twice(name, found)
        if found is None:
            found = Definition(name.text, site.line, name.start, name.end, is_label=False)
        site.scope.define(replace(found, value=value))
        self.has_variables = True

    def spoil(self, site: Site, name: Name) -> None:
        """Let a symbol whose line is wrong cause no further errors."""
        if site.scope.clash(name.text) is None:
            found = self.new(site, name)
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
        """The value of a symbol that waited for the layout. Raises `Mistake` or `Again`."""
        value = found.value
        assert isinstance(value, Deferred)
        assert isinstance(value.site, Site)
        if found in self._resolving:
            raise Mistake(f"'{found.name}' is defined by itself", node)
        self._resolving.add(found)
        try:
            result = number(value.node, value.site)
        except Mistake as mistake:
            found.bad = True
            self.report.mistake(value.site.line, mistake)
            raise Again from None
        finally:
            self._resolving.discard(found)
        found.value = result
        return result

    def hint(self, name: str, scope: Scope, cores: Sequence[Core]) -> str:
        """The symbol that may have been meant by an unknown name, or what else the word is."""
        known = [*scope.symbols, *self.table.shared]
        hint = did_you_mean(name, known)
        if hint:
            return hint
        files = [file for core in cores for file in core.files]
        registers = [word for file in files for names in file.names for word in names]
        if name in registers:
            return "it is a register; a number is needed here"
        return did_you_mean(name, registers)

    # --- data ---

    def put_datum(self, site: Site, data: bytes, datum: Datum) -> None:
        """Put data that know what they are; the labels here stand for them."""
        self.settle_labels(site.area)
        self._data.setdefault((id(site.area), site.area.size), datum)
        self.placed.append((site, site.area.size, datum))
        site.emit(data)

    def datum(self, found: Definition) -> Datum | None:
        """What stands at a symbol."""
        if found.datum is not None or not isinstance(found.value, Address):
            return found.datum
        return self._data.get((id(found.value.area), found.value.offset))

    def direction(self, found: Definition) -> str:
        """What a tensor is, "input" or "output"."""
        return next((item.direction for item in self.tensors if item.definition is found), "")

    # --- the end ---

    def check_unused(self) -> None:
        """Warn of labels that are for their file alone and that nobody uses."""
        for scope in self.table.scopes:
            numbered = [item[1] for group in scope.numbered.values() for item in group]
            private = [item for item in scope.symbols.values() if item.is_private and item.is_label]
            for found in [*private, *numbered]:
                if not found.used and not found.bad:
                    at = (found.start, found.end)
                    self.report.warning(found.line, at, f"label '{found.name}' is not used")


def twice(name: Name, before: Definition) -> Mistake:
    """What to say of a second definition."""
    source = before.line.source
    line, _column = source.locate(before.line.start + before.start)
    return Mistake(f"'{name.text}' is defined twice", name, f"the first is at {source.name}:{line}")
