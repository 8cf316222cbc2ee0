"""The symbols of all files of a run, and the data that they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from macaw.asm.diagnostics import did_you_mean, numbered_names
from macaw.asm.expressions import Address, NotYet, evaluate, number
from macaw.asm.layout import Area
from macaw.asm.report import Report
from macaw.asm.source import LogicalLine
from macaw.asm.symbols import PRIVATE, Datum, Deferred, Definition, Scope, SymbolTable, TensorSymbol
from macaw.asm.syntax import AlreadyReported, Mistake, Name, Number
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core


@dataclass(frozen=True, slots=True)
class PlacedDatum:
    """The declared type `datum` of the data at byte `offset` of an area.

    The directive that declares the data begins at offset `head` of `line`.
    """

    area: Area
    offset: int
    line: LogicalLine
    head: int
    datum: Datum


@lru_cache(maxsize=16)
def _register_names(cores: tuple[Core, ...]) -> frozenset[str]:
    """Return the names of all registers of the cores."""
    files = [file for core in cores for file in core.files]
    return frozenset(word for file in files for names in file.names for word in names)


class ProgramSymbols:
    """All symbols of a run, its tensors, and its data with declared types.

    `pending` has the labels without an address: they get the address of the next bytes.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self.table = SymbolTable()
        self.has_variables = False  # a symbol may be set again
        self.tensors: list[TensorSymbol] = []
        self.pending: list[Definition] = []  # labels whose address the next bytes decide
        self.data: list[PlacedDatum] = []  # in the order of the source
        self._data_at: dict[tuple[int, int], Datum] = {}  # by the area's id and offset
        self._resolving: set[Definition] = set()
        self._kept_names: tuple[tuple[Scope, int, int], frozenset[str]] | None = None

    # --- labels ---

    def define_labels(
        self,
        scope: Scope,
        ordinal: int,
        line: LogicalLine,
        names: Sequence[Name | Number],
        is_bad: bool,
    ) -> list[Definition]:
        """Define the labels `names` of a line; `ordinal` is the number of the statement.

        The labels are pending, that is without an address, until bytes follow or `place_labels` is
        called. With `is_bad`, uses of the labels cause no errors.
        """
        labels = []
        for name in names:
            label = Definition("", line, name.start, name.end, is_bad=is_bad)
            if isinstance(name, Number):
                label.name = str(name.value)
                scope.number(name.value, ordinal, label)
            else:
                label.name = name.text
                before = scope.clash(name.text)
                if before is not None:
                    self._report.mistake(line, second_definition(name, before, scope))
                    continue
                scope.define(label)
            labels.append(label)
        self.pending += labels
        return labels

    def take_pending(self) -> list[Definition]:
        """Remove and return the pending labels. The caller must give these labels an address."""
        labels, self.pending = self.pending, []
        return labels

    def place_labels(self, area: Area) -> None:
        """Give the pending labels the address at the end of `area`."""
        if self.pending:
            for label in self.take_pending():
                label.value = Address(area, area.size)

    # --- values ---

    def place_value(self, symbol: Definition) -> None:
        """Replace the `Deferred` value of a symbol by the address or number that it means.

        Valid after all sources are read, before the layout. The value stays `Deferred` if it
        depends on the layout, or if its expression is wrong; `resolve` reports what is wrong. It
        also stays `Deferred` if each use evaluates it again.
        """
        value = symbol.value
        if not isinstance(value, Deferred) or symbol.formula is not None:
            return
        try:
            result = evaluate(value.node, value.context)
        except (NotYet, Mistake, AlreadyReported):
            return
        if isinstance(result, int) or isinstance(result.area, Area):
            symbol.value = result

    def resolve(self, symbol: Definition, node: Name) -> int:
        """Compute, store and return the value of a symbol whose value is `Deferred`.

        Valid after the layout. Raises `Mistake` at `node` if the symbol depends on itself, and
        `AlreadyReported` if the line that defines the symbol is wrong.
        """
        value = symbol.value
        assert isinstance(value, Deferred)
        if symbol in self._resolving:
            raise Mistake(f"'{symbol.name}' is defined by itself", node)
        self._resolving.add(symbol)
        try:
            result = number(value.node, value.context)
        except Mistake as mistake:
            symbol.is_bad = True
            self._report.mistake(value.line, mistake)
            raise AlreadyReported from None
        finally:
            self._resolving.discard(symbol)
        symbol.value = result
        return result

    def hint(self, name: str, scope: Scope, cores: Sequence[Core], is_operand: bool) -> str:
        """Return a hint for an unknown name: a similar symbol, or that `name` is a register.

        If `is_operand`, the name is in an instruction, and the hint may be a similar register.
        """
        hint = did_you_mean(name, self._names(scope))
        if hint:
            return hint
        registers = _register_names(tuple(cores))
        if name in registers:
            return "it is a register; a number is needed here"
        if re.fullmatch(r"[0-9A-Fa-f]+[hH]", name):
            return f"a hexadecimal number is written 0x{name[:-1]}"
        if not is_operand:
            return ""
        return numbered_names(name, registers) or did_you_mean(name, registers)

    def _names(self, scope: Scope) -> frozenset[str]:
        """Return the names of all symbols that the lines of a file can use.

        Thousands of wrong lines ask for the same names, so the method keeps the last result. The
        result is valid while the number of symbols is the same, because symbols are never removed.
        """
        key = scope, len(scope.symbols), len(self.table.shared)
        if self._kept_names is None or self._kept_names[0] != key:
            self._kept_names = key, frozenset((*scope.symbols, *self.table.shared))
        return self._kept_names[1]

    # --- data ---

    def add_datum(
        self, area: Area, offset: int, line: LogicalLine, head: int, datum: Datum
    ) -> None:
        """Record that the data at `offset` of `area` have the declared type `datum`.

        The directive that declares them begins at offset `head` of `line`.
        """
        self._data_at.setdefault((id(area), offset), datum)
        self.data.append(PlacedDatum(area, offset, line, head, datum))

    def datum(self, symbol: Definition) -> Datum | None:
        """Return the declared type of the data at the address of `symbol`.

        Return None if no data with a declared type begin there.
        """
        if symbol.datum is not None or not isinstance(symbol.value, Address):
            return symbol.datum
        return self._data_at.get((id(symbol.value.area), symbol.value.offset))

    def direction(self, symbol: Definition) -> str:
        """Return "input" or "output" for the symbol of a tensor; empty for other symbols."""
        return next((item.direction for item in self.tensors if item.definition is symbol), "")

    # --- the end ---

    def warn_unused(self) -> None:
        """Warn of private labels (`.L...`) and local labels (`1:`) that no line uses.

        There are no warnings for files that a compiler wrote.
        """
        for scope in self.table.scopes:
            numbered = [item[1] for group in scope.numbered.values() for item in group]
            symbols = scope.symbols.values()
            private = [item for item in symbols if item.name.startswith(PRIVATE) and item.is_label]
            for label in () if scope.is_compiled else (*private, *numbered):
                dropped = label.area is not None and label.area.is_dropped
                if not label.is_used and not label.is_bad and not dropped:
                    at = (label.start, label.end)
                    self._report.warning(
                        label.line, at, f"label '{label.name}' is not used", name="unused-label"
                    )


def second_definition(name: Name, before: Definition, scope: Scope) -> Mistake:
    """Return the error for a second definition of `name` in the file with the symbols `scope`.

    `before` is the first definition.
    """
    source = before.line.source
    line, _column = source.locate(before.line.start + before.start)
    if scope.is_borrowed(name.text):
        return Mistake(
            f"'{name.text}' is defined here, but lines above use that of {source.name}:{line}",
            name,
            "define it above its uses, or give it another name",
        )
    # A symbol of the option -D has no line.
    first = f"at {source.name}:{line}" if before.line.text else f"that of -D {name.text}"
    return Mistake(f"'{name.text}' is defined twice", name, f"the first is {first}")
