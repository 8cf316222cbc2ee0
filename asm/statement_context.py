"""The context of a statement: the operations with which it adds bytes and symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.expression_context import ExpressionContext
from macaw.asm.expressions import Address
from macaw.asm.layout import Area, LayoutError
from macaw.asm.program_symbols import second_definition
from macaw.asm.source import LogicalLine
from macaw.asm.symbols import Datum, Deferred, Definition
from macaw.asm.syntax import AlreadyReported, Mistake, Name, Named, Node

_Arguments = ParamSpec("_Arguments")
_LARGE = 1 << 24  # bytes of one statement above which the size of the whole program is checked


class StatementContext(ExpressionContext):
    """The position of a statement, with methods that append bytes and define symbols there."""

    __slots__ = ()

    @classmethod
    def current(cls, state: AssemblyState, line: LogicalLine, head: int = 0) -> StatementContext:
        """Return the context of a statement at the end of the current area.

        `head` is the offset of the mnemonic in the line.
        """
        return cls(state, line, state.scope, state.ordinal, state.area, head)

    def at_end(self, area: Area | None = None) -> StatementContext:
        """Return the context of the same statement at the current end of `area`.

        By default, `area` is the area of this context.
        """
        return StatementContext(
            self.state, self.line, self.scope, self.ordinal, area or self.area, self.head
        )

    # --- bytes ---

    def emit(self, data: bytes) -> None:
        """Append bytes to the area. Raises `Mistake`."""
        self._grow(len(data), self.area.append, data)

    def reserve(self, count: int) -> None:
        """Append `count` zero bytes to the area. Raises `Mistake`."""
        self._grow(count, self.area.grow, count)

    def align(self, step: int, padding: Callable[[int], bytes] | None = None) -> None:
        """Append padding up to a multiple of `step` bytes. Raises `Mistake`."""
        self._grow(step, self.area.align_to, step, padding)

    def _grow(
        self, most: int, add: Callable[_Arguments, None],
        *arguments: _Arguments.args, **named: _Arguments.kwargs,
    ) -> None:  # fmt: skip
        """Give the pending labels an address, then call `add`, which appends at most `most` bytes.

        `arguments` and `named` are the arguments of `add`. Raises `Mistake`.
        """
        self.state.symbols.place_labels(self.area)
        self.check_room(most)
        start = self.area.size
        try:
            add(*arguments, **named)
        except LayoutError as error:
            raise Mistake(str(error), (-1, -1)) from None
        if self.state.record is not None:
            self.list_bytes(start)

    def emit_later(self, size: int, make: Callable[[], bytes]) -> None:
        """Reserve `size` bytes. After the layout, the result of `make` replaces them.

        Raises `Mistake`.
        """
        start = self.area.size
        self.reserve(size)
        if self.area.zeros:
            raise Mistake(f"{self.area.section} holds zeros, no data", (-1, -1))
        if not self.area.discarded:
            self.after_layout(partial(self._fill, start, size, make))

    def _fill(self, start: int, size: int, make: Callable[[], bytes]) -> None:
        self.area.data[start : start + size] = make()

    def after_layout(self, action: Callable[[], None]) -> None:
        """Call `action` after the layout, unless this line has an error by then.

        If `action` raises a `Mistake`, the `Mistake` becomes the error of this line.
        """
        self.state.effects += 1
        self.state.fixups.append(partial(self._run_fixup, action))

    def _run_fixup(self, action: Callable[[], None]) -> None:
        if not self.state.report.has_failed(self.line):
            with self.state.report.catching(self.line):
                action()

    def list_bytes(self, start: int) -> None:
        """Show, at this line of the listing, the bytes of the area from offset `start` on."""
        if self.state.record is not None:
            self.state.record.add_bytes(self.ordinal, self.line, self.area, start)

    def mark(self) -> None:
        """Enter in the line table that the next bytes of the area belong to this line."""
        self.mark_from(self.area.size)

    def mark_from(self, offset: int) -> None:
        """Enter in the line table that the bytes of the area from `offset` belong to this line."""
        line = self.line
        self.state.line_table.add(self.area, offset, line.source, line.start + self.head)

    def check_room(self, count: int) -> None:
        """Raise `Mistake` unless the area with `count` more bytes fits into external memory.

        The bytes of other areas count only if `count` is greater than `_LARGE`.
        """
        limit = self.state.device.external_bytes
        if self.area.size + count > limit:
            raise Mistake(
                f"{self.area.section} grows to {self.area.size + count} bytes,"
                f" external memory has {limit}",
                (-1, -1),
            )
        if count > _LARGE and self.state.layout.external_size() + count > limit:
            total = self.state.layout.external_size() + count
            raise Mistake(
                f"the program grows to {total} bytes, external memory has {limit}", (-1, -1)
            )

    def add_pcrel_target(self, node: Node) -> None:
        """Store the target of this instruction's `%pcrel_hi`, for the matching `%pcrel_lo`."""
        self.state.pcrel_targets[id(self.area), self.offset] = (node, self)

    # --- symbols ---

    def new_symbol(self, name: Name) -> Definition:
        """Define a new symbol of this file, without a value.

        Raises `Mistake` if the name is already defined.
        """
        self.check_is_new(name)
        return self.define(name)

    def check_is_new(self, name: Name) -> None:
        """Raise `Mistake` if the name is already defined, or lines use another file's symbol."""
        before = self.scope.clash(name.text)
        if before is not None:
            raise second_definition(name, before, self.scope)

    def define(self, name: Name) -> Definition:
        """Define a symbol of this file, without a value. `check_is_new` is called before."""
        symbol = Definition(name.text, self.line, name.start, name.end)
        self.scope.define(symbol)
        return symbol

    def new_label(self, name: Name, datum: Datum | None = None) -> Definition:
        """Define a new symbol at the end of the area, for directives such as `.list`.

        Raises `Mistake`.
        """
        symbol = self.new_symbol(name)
        symbol.place(self.area, self.area.size, datum)
        return symbol

    def assign(self, name: Name, value: int | Address | Deferred) -> None:
        """Set a symbol that may be set again.

        Raises `Mistake` if the name is the name of a label, or of a symbol that another file shares
        with this file.
        """
        before = self.scope.clash(name.text)
        if before is not None and (before.is_label or name.text not in self.scope.symbols):
            raise second_definition(name, before, self.scope)
        self.state.symbols.has_variables = True
        if before is None:
            before = Definition(name.text, self.line, name.start, name.end, is_label=False)
        self.scope.define(before.with_value(value))

    def spoil(self, name: Name) -> None:
        """Mark a symbol as bad because its line is wrong, so that uses cause no further errors."""
        if self.scope.clash(name.text) is None:
            symbol = self.new_symbol(name)
            symbol.is_bad, symbol.is_label = True, False

    @contextmanager
    def spoil_on_error(self, name: Name) -> Iterator[None]:
        """Mark the symbol `name` as bad if the `with` block raises an error."""
        try:
            yield
        except (Mistake, AlreadyReported, RecursionError):
            self.spoil(name)
            raise

    def emit_datum(self, data: bytes, datum: Datum) -> None:
        """Append bytes with a declared type. Raises `Mistake`.

        Pending labels get the address of the bytes.
        """
        self.state.symbols.place_labels(self.area)
        self.state.symbols.add_datum(self.area, self.area.size, self.line, self.head, datum)
        self.emit(data)

    # --- operands of directives ---

    def named_operands(
        self, operands: Sequence[Node], known: Sequence[str], head: Name
    ) -> dict[str, Named]:
        """Return, by name, those operands that have the form `name=value`.

        Raises `Mistake` for a name that is not in `known` or is given twice.
        """
        items: dict[str, Named] = {}
        for item in operands:
            if not isinstance(item, Named):
                continue
            name = item.name.text
            if name not in known:
                hint = did_you_mean(name, known)
                if not hint:
                    hint = "there are " + ", ".join(known) if known else "it takes none by name"
                raise Mistake(f"{head.text} has no operand '{name}'", item.name, hint)
            if name in items:
                raise Mistake(f"the operand {name} is given twice", item)
            items[name] = item
        return items
