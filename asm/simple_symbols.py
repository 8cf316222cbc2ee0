"""The symbols of lines that need no parser: labels, and numbers that the source may set again."""

from __future__ import annotations

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.expressions import Address
from macaw.asm.literals import wrap
from macaw.asm.operand_encoder import plain_number
from macaw.asm.round_trace import Assignment, Field, Waiting
from macaw.asm.simple_statement import NAME, NUMBER
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.symbols import Definition, Scope
from macaw.isa.lazy_pattern import lazy_pattern

_SUM = rf"({NAME})[ \t]*(?:([+-])[ \t]*({NUMBER})[ \t]*)?"
_SYMBOL = lazy_pattern(rf"[ \t]*{_SUM}")
_ASSIGNMENT = lazy_pattern(rf"[ \t]*({NAME})[ \t]*,[ \t]*(?:(-?(?:{NUMBER}))[ \t]*|{_SUM})")
_NAME = lazy_pattern(NAME)


def is_name(text: str) -> bool:
    """Return whether a text is a valid name in the assembly language.

    The function first tests whether the text is a Python identifier, because this test is faster
    and most names pass it.
    """
    return (text.isidentifier() and text.isascii()) or _NAME.fullmatch(text) is not None


class SimpleSymbols:
    """Defines and looks up the symbols of simple lines of one source.

    The trace of a repetition's round shows what its lines do with symbols (`asm/round_trace.py`).
    `varies` becomes True when a line does something that no trace shows. `uses_numbers` becomes
    True when a line sets or uses a symbol that may be set again.
    """

    def __init__(self, state: AssemblyState, source: SourceText, scope: Scope) -> None:
        self._state = state
        self._source = source
        self._scope = scope
        self.varies = self.uses_numbers = False

    def define(self, name: str, line: LogicalLine, address: Address) -> Definition:
        """Define the label `name` of `line` at `address`, and return it."""
        self.varies = True
        symbol = Definition(name, line, 0, len(name), address)
        if name[0].isdigit():
            self._scope.number(int(name), self._state.next_ordinal(), symbol)
        else:
            self._scope.symbols[name] = symbol
        return symbol

    def is_plain(self, name: str, symbol: Definition | None) -> bool:
        """Return whether `name` is a label of this file.

        `symbol` is the definition that the name has so far, or None. A name without a definition
        counts as a label, unless another file shares a symbol of this name.
        """
        if symbol is None:
            return name not in self._scope.table.shared
        return self.is_label(symbol)

    @staticmethod
    def is_label(symbol: Definition | None) -> bool:
        """Return whether a symbol is a label with an address. If so, mark it as used."""
        if symbol is None or symbol.is_bad or not symbol.is_label:
            return False
        if not isinstance(symbol.value, Address):
            return False
        symbol.is_used = True
        return True

    def variable(self, symbol: Definition | None) -> int | None:
        """Return the current number of a symbol that may be set again; None for any other symbol.

        If the caller puts this number into bytes, it must also call `put`.
        """
        if symbol is None or symbol.is_label or symbol.is_bad or not isinstance(symbol.value, int):
            return None
        symbol.is_used = self.uses_numbers = True
        return symbol.value

    def number(self, text: str) -> tuple[int, str] | None:
        """Return the value of a plain number, or of `n`, `n + 1` or `n - 1` with a symbol `n`.

        `n` must be a symbol that may be set again. The result is (value, symbol); for a plain
        number the symbol is empty. Return None for other texts.
        """
        value = plain_number(text.strip(" \t"))
        if value is not None:
            return value, ""
        parts = _SYMBOL.fullmatch(text)
        value = None if parts is None else self._sum(*parts.groups())
        return None if parts is None or value is None else (value, parts[1])

    def _sum(self, name: str, sign: str | None, number: str | None) -> int | None:
        value = self.variable(self._scope.symbols.get(name))
        if value is None or number is None:
            return value
        return wrap(value + int(number, 0) if sign == "+" else value - int(number, 0))

    def assign(self, rest: str, place: int, line_start: int) -> bool:
        """Carry out `.set NAME, value` for a number, a symbol, or a symbol plus or minus a number.

        `rest` is the text after the directive; it begins at the source offset `place`. `line_start`
        is the offset of the line's text. Return whether the method has set the symbol.
        """
        parts = _ASSIGNMENT.fullmatch(rest)
        if parts is None:
            return False
        name, number, *terms = parts.groups()
        before = self._scope.symbols.get(name)
        if self._scope.is_restricted(name) or (
            before is not None and (before.is_label or before.is_bad)
        ):
            return False
        value = int(number, 0) if number is not None else self._sum(*terms)
        if value is None:
            return False
        self._trace_assignment(name, terms[0])
        if before is None:
            text = self._source.text[line_start : place + len(rest)]
            line = LogicalLine(self._source, line_start, text.rstrip(" \t\r\n"))
            start = place + parts.start(1) - line_start
            before = Definition(name, line, start, start + len(name), is_label=False)
        self._state.symbols.has_variables = self.uses_numbers = True
        self._scope.define(before.with_value(value))
        return True

    def _trace_assignment(self, name: str, source: str | None) -> None:
        trace = self._state.trace
        if trace is None:
            self.varies = True
            return
        start = None if source is None else self._scope.symbols[source].value
        trace.append(Assignment(name, source, start if isinstance(start, int) else 0))

    def put(self, field: Field) -> None:
        """Record in the trace of a repetition's round that the bytes of `field` depend on a symbol.

        If no round is traced, set `varies` instead, because no trace will show what the line does.
        """
        trace = self._state.trace
        if trace is None:
            self.varies = True
        else:
            trace.append(field)

    def wait(self, item: Waiting, depends_on_place: bool) -> None:
        """Record in the trace of a repetition's round that the bytes `item` wait for a symbol.

        If no trace can show what the line does, set `varies` instead. With `depends_on_place` none
        can, because the bytes depend also on their own address, so each round has other bytes.
        """
        state = self._state
        # A linker needs a relocation for each place. An error in a macro is reported in each round.
        is_same = not depends_on_place and state.linkage is None and self._source.is_repeated
        if state.trace is None or not is_same:
            self.varies = True
        else:
            state.trace.append(item)
