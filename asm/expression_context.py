"""Gives names in expressions their values, which depend on the position of the statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.data import dimensions_text
from macaw.asm.expressions import Address, Context, NotYet, Value, evaluate, fold, low_part, number
from macaw.asm.layout import Area
from macaw.asm.object_symbols import address_of
from macaw.asm.report import statement_place
from macaw.asm.source import LogicalLine
from macaw.asm.symbols import Datum, Deferred, Definition, Scope
from macaw.asm.syntax import (
    AlreadyReported,
    Call,
    FixedName,
    Indexed,
    LocalLabel,
    Mistake,
    Name,
    Node,
    Number,
    QuotedName,
    Slice,
    Text,
    quoted_name,
    walk,
)
from macaw.isa import memory_map
from macaw.isa.model import AddressUnit
from macaw.isa.registry import all_descriptors


def _no_number(node: Node) -> Mistake:
    return Mistake("a number is needed here, not a string", node)


class ExpressionContext:
    """The position of a statement: its line, its file's symbols, its area and its offset there.

    The class implements `Context` of `macaw.asm.expressions`. `head` is the offset of the mnemonic
    in the line; `ordinal` is the statement's number in the run.
    """

    __slots__ = ("area", "head", "line", "offset", "ordinal", "scope", "state")

    def __init__(
        self,
        state: AssemblyState,
        line: LogicalLine,
        scope: Scope,
        ordinal: int,
        area: Area,
        head: int,
    ) -> None:
        self.state = state
        self.line = line
        self.scope = scope
        self.ordinal = ordinal
        self.area = area
        self.head = head
        self.offset = area.size

    # --- values ---

    def number(self, node: Node) -> int:
        """Return the value of an expression. Raises `Mistake` if the value is not known yet."""
        try:
            return number(node, self)
        except NotYet as error:
            if isinstance(error.node, QuotedName):
                raise _no_number(error.node) from None
            raise Mistake(f"the value must be known here: {error.why}", error.node) from None

    def value(self, node: Node) -> int | Deferred | Address:
        """Return the value of an expression. Raises `Mistake`.

        If the value is known only after the layout, return a `Deferred`.
        """
        try:
            value = evaluate(node, self)
        except NotYet:
            return Deferred(self.fold(node), self, self.line)
        self.note_use(node)
        return value

    def assigned_value(self, node: Node) -> int | Deferred | Address:
        """Return the value of an expression to which a line sets a symbol. Raises `Mistake`.

        An address in another file is `Deferred`, too, because a later label of this file may have
        the same name.
        """
        with suppress(NotYet):
            if self.may_change(node) and isinstance(evaluate(node, self), Address):
                return Deferred(self.fold(node), self, self.line)
        return self.value(node)

    def bounded_number(self, node: Node, what: str, low: int, high: int) -> int:
        """Return the value of an expression.

        Raises `Mistake` unless the value is known and from `low` to `high`. `what` names the value
        in the message.
        """
        value = self.number(node)
        if not low <= value <= high:
            raise Mistake(f"{what}: {value} is out of range, {low} to {high}", node)
        return value

    def fold(self, node: Node) -> Node:
        """Return the expression with the current values of those symbols that may be set again."""
        return fold(node, self._variable) if self.state.symbols.has_variables else node

    def _variable(self, node: Name) -> Node | None:
        symbol = self.scope.find(node.text)
        if symbol is None or symbol.is_label:
            return None
        is_own, is_number = node.text in self.scope.symbols, isinstance(symbol.value, int)
        if not (is_own and is_number) and (symbol.is_weak or not (is_own or is_number)):
            return None  # a later definition may replace this one
        symbol.is_used = True
        self._borrow(symbol)
        if isinstance(symbol.value, int):
            return Number(node.start, node.end, symbol.value)
        return FixedName(node.start, node.end, node.text, symbol)

    # --- the names in expressions ---

    def definition(self, node: Name) -> Definition | None:
        """Return the definition of a name and mark it as used; None if there is none so far.

        Before all sources are read, a weak symbol gives None, too, because a later file may define
        it otherwise. Raises `AlreadyReported` if the line that defines the symbol has an error.
        After all sources are read, raises `Mistake` for an unknown name.
        """
        self.state.effects += 1
        is_read = self.state.is_read
        if isinstance(node, FixedName):
            symbol: Definition | None = node.definition
        else:
            symbol = self.scope.following(node.text) if is_read else self.scope.find(node.text)
        if symbol is None:
            if not is_read:
                return None
            if node.text in self.scope.weak:
                return Definition(node.text, self.line, node.start, node.end, 0, is_label=False)
            start, _end = statement_place(self.line)
            is_operand = not self.line.text.startswith(".", start)
            hint = self.state.symbols.hint(node.text, self.scope, self.state.cores, is_operand)
            raise Mistake(f"undefined symbol '{node.text}'", node, hint)
        symbol.is_used = True
        if symbol.is_bad:
            raise AlreadyReported
        return symbol if is_read or not symbol.is_weak else None

    def _known_definition(self, node: Name) -> Definition:
        """Return the definition of a name. Raises `NotYet` if it is not defined so far.

        After all sources are read, raises `Mistake` for an unknown name. Raises `AlreadyReported`
        if the line that defines the name has an error.
        """
        symbol = self.definition(node)
        if symbol is None:
            raise NotYet(node, f"'{node.text}' is not defined before")
        return symbol

    def is_external(self, node: Name) -> bool:
        """Return whether the symbol `node` is left to a linker.

        This is so if the run makes an object, all sources are read, and no source defines the
        symbol. While the run looks for words that need a relocation (`Linkage.is_relocating`), weak
        symbols are left to the linker, too.
        """
        linkage = self.state.linkage
        if linkage is None or not self.state.is_read or isinstance(node, FixedName):
            return False
        symbol = self.scope.following(node.text)
        return symbol is None or (symbol.is_weak and linkage.is_relocating)

    def name(self, node: Name) -> Value:
        linkage = self.state.linkage
        if linkage is not None and self.is_external(node):
            return Address(linkage.external(node.text), 0)
        if linkage is None and isinstance(node, QuotedName):
            self._check_quoted(node)
        symbol = self._known_definition(node)
        if symbol.formula is not None:
            return evaluate(symbol.formula, self)
        self._borrow(symbol)
        if isinstance(node, FixedName) and self.state.is_read and not self.state.is_placed:
            self.state.symbols.place_value(symbol)
        value = symbol.value
        if isinstance(value, Deferred):
            if not self.state.is_placed:
                raise NotYet(node, f"'{node.text}' depends on what follows")
            return self.state.symbols.resolve(symbol, node)
        if value is None:
            raise NotYet(node, f"'{node.text}' has no place yet")
        return self._address(value) if isinstance(value, Address) else value

    def may_change(self, node: Node) -> bool:
        return any(True for symbol in self._foreign(node))

    def note_use(self, node: Node) -> None:
        for symbol in self._foreign(node):
            self.scope.borrowed[symbol.name] = symbol

    def _foreign(self, node: Node) -> Iterator[Definition]:
        """Yield the symbols of other files in `node`, which this file may still define for itself.

        After all files are read, there are none.
        """
        if self.state.is_read:
            return
        for name in walk(node):
            if isinstance(name, Name) and not isinstance(name, FixedName):
                symbol = self.scope.find(name.text)
                if symbol is not None and name.text not in self.scope.symbols:
                    yield symbol

    def _borrow(self, symbol: Definition) -> None:
        """Note that a line uses the number of a symbol of another file, while files are read."""
        if (
            not self.state.is_read
            and isinstance(symbol.value, int)
            and symbol.name not in self.scope.symbols
        ):
            self.scope.borrowed[symbol.name] = symbol

    def _check_quoted(self, node: QuotedName) -> None:
        """Raise an error if no symbol has the name in quotes.

        The error is `NotYet` while the assembler reads sources, later `Mistake`.
        """
        if self.scope.find(node.text) is None and node.text not in self.scope.weak:
            if self.state.is_read:
                raise _no_number(node)
            raise NotYet(node, "no symbol has this name")

    def _address(self, value: Address) -> Value:
        if self.state.is_placed and isinstance(value.area, Area) and value.area.base is not None:
            return value.area.base + value.offset
        if self.state.is_placed and isinstance(value.area, Area) and value.area.is_dropped:
            raise Mistake("the label is in a section that no program loads", (-1, -1))
        return value

    def here(self) -> Value:
        self.state.effects += 1
        return self._address(Address(self.area, self.offset))

    def local(self, node: LocalLabel) -> Value:
        self.state.effects += 1
        label = self.scope.numbered_near(node.number, self.ordinal, node.forward)
        if label is None:
            if node.forward and not self.state.is_placed:
                raise NotYet(node, "it is a label that follows")
            where = "after" if node.forward else "before"
            raise Mistake(f"there is no local label '{node.number}:' {where} this line", node)
        if not self.state.is_read and node.forward:
            raise NotYet(node, "it is a label that follows")
        label.is_used = True
        if label.is_bad:
            raise AlreadyReported
        if not isinstance(label.value, Address):
            raise NotYet(node, "it has no place yet")
        return self._address(label.value)

    def indexed(self, node: Indexed) -> Value:
        symbol, _datum, offset, _length = self.bytes_of(node)
        if not isinstance(symbol.value, Address):
            raise NotYet(node, "it has no place yet")
        return self._address(Address(symbol.value.area, symbol.value.offset + offset))

    def call(self, node: Call) -> Value:
        first = node.arguments[0]
        if node.function == "sizeof":
            if isinstance(first, Text):
                first = quoted_name(first)
            if not isinstance(first, Name | Indexed):
                raise Mistake("sizeof takes a symbol, or a part of one", first)
            self.note_use(first)
            return self.bytes_of(first)[3]
        if not self.state.is_placed:
            raise NotYet(node, "it depends on where everything lies")
        if node.function == "slot":
            return self._slot(node)
        address = number(first, self)
        if node.function == "load_address":
            return self._load_address(address, first)
        for unit in (unit for core in all_descriptors() for unit in core.address_units):
            if unit.name == node.function:
                return self._entry(address, unit, first)
        return self._pcrel_low(address, first)

    def _slot(self, node: Call) -> int:
        """Return the value of `slot(x, 0)`: the address of tensor x in the memory of PE row 0.

        If the tensor is not declared in this memory, this is the address of the copy there.
        """
        name, index_node = node.arguments
        if not isinstance(name, Name | Indexed):
            raise Mistake("slot takes a tensor, or a part of one", name)
        symbol, _datum, offset, _length = self.bytes_of(name)
        index = number(index_node, self)
        slot = self.state.tensor_slots.address(symbol, index)
        if slot is None:
            hint = "a tensor has one where an exe names it"
            raise Mistake(f"'{symbol.name}' has no slot in row {index}", node, hint)
        return slot + offset

    def _load_address(self, address: int, node: Node) -> int:
        """Return the load address of the byte that has the run-time address `address`."""
        area = self.state.layout.area_at(address)
        if area is None:
            raise Mistake(f"no section holds the address {address:#x}", node)
        return area.load_base + address - (area.base or 0)

    def _entry(self, address: int, unit: AddressUnit, node: Node) -> int:
        """Return the index of the entry at an address, for functions such as `vec`.

        Such a function counts memory in entries of the unit `unit`, for example native vectors. The
        first entry is at the start of external memory. Raises `Mistake` unless the address is in
        external memory, at the start of an entry.
        """
        size, offset = unit.size(self.state.config), address - memory_map.EXTERNAL
        if offset < 0:
            text = f"the address {address:#x} is not in external memory, which begins at"
            raise Mistake(f"{text} {memory_map.EXTERNAL:#x}", node)
        entry, rest = divmod(offset, size)
        if rest:
            raise Mistake(
                f"the address is {rest} byte{'s' * (rest > 1)} after the start of a {unit.title},"
                f" which has {size}"
                " bytes",
                node,
                f"{unit.title}s begin at multiples of {size} bytes of external memory: put data of"
                " this size first, or fill up with .zero",
            )
        return entry

    def _pcrel_low(self, address: int, node: Node) -> int:
        """Return the low part that belongs to the `%pcrel_hi` of the instruction at `address`."""
        target = self.pcrel_target(address)
        if target is None:
            raise Mistake("%pcrel_lo takes the address of an instruction that has %pcrel_hi", node)
        try:
            return low_part(number(*target) - address)
        except Mistake:  # the instruction's own line reports the error
            raise AlreadyReported from None

    def pcrel_target(self, address: int) -> tuple[Node, Context] | None:
        """Return the operand of the `%pcrel_hi` at an address, and its context.

        Valid after the layout.
        """
        area = self.state.layout.area_at(address)
        offset = address - (area.base or 0) if area is not None else 0
        return self.state.pcrel_targets.get((id(area), offset))

    def warn(self, message: str, node: Node, hint: str = "", *, name: str) -> None:
        self.state.report.warning(self.line, node, message, hint, name=name)

    # --- parts of symbols ---

    def bytes_of(self, node: Name | Indexed) -> tuple[Definition, Datum | None, int, int]:
        """Return (symbol, datum, offset, length) of the bytes that `node` names.

        `node` is a symbol or a part of one, such as `w[0]`. The datum is the type with which the
        symbol's data are declared, or None. Offset and length are in bytes; the offset counts from
        the symbol. Raises `Mistake` and `NotYet`.
        """
        name = node.base if isinstance(node, Indexed) else node
        if isinstance(name, Text):
            raise Mistake("a symbol is needed here, not a string", node)
        symbol = self._known_definition(name)
        datum = self.state.symbols.datum(symbol)
        if not isinstance(node, Indexed):
            return symbol, datum, 0, self._size(symbol, datum, name)
        if datum is None or datum.what not in ("array", "tensor", "sparse", "dense"):
            raise Mistake(
                f"'{name.text}' has no elements to choose from",
                node,
                "a tensor, .npy, .sparse or .dense has",
            )
        if datum.rounds:
            return symbol, datum, *self._round(name, datum, node)
        return symbol, datum, *self._elements(name, datum, node)

    def _size(self, symbol: Definition, datum: Datum | None, node: Name) -> int:
        if datum is not None:
            return datum.size
        if symbol.size is not None:
            return symbol.size
        if not self.state.is_placed:
            raise NotYet(node, f"the size of '{node.text}' depends on what follows")
        area = symbol.area
        sizes = {} if area is None else self.state.natural_sizes.get(area.section, {})
        return sizes.get(address_of(symbol), 0)

    def _round(self, name: Name, datum: Datum, node: Indexed) -> tuple[int, int]:
        last = len(datum.rounds) - 1
        if len(node.subscripts) != 1 or isinstance(node.subscripts[0], Slice):
            raise Mistake(f"'{name.text}' takes the number of a round, 0 to {last}", node)
        index = self._subscript(node.subscripts[0], f"rounds of '{name.text}'", last)
        return datum.rounds[index]

    def _subscript(self, node: Node, what: str, last: int) -> int:
        value = number(node, self)
        if not 0 <= value <= last:
            raise Mistake(f"{what}: {value} is out of range, 0 to {last}", node)
        return value

    def _elements(self, name: Name, datum: Datum, node: Indexed) -> tuple[int, int]:
        if len(node.subscripts) > len(datum.shape):
            raise Mistake(f"'{name.text}' has {dimensions_text(datum.shape)}", node)
        size, offset = datum.size, 0
        for dimension, item in enumerate(node.subscripts):
            length, what = datum.shape[dimension], f"'{name.text}' in dimension {dimension}"
            size //= length
            if not isinstance(item, Slice):
                offset += size * self._subscript(item, what, length - 1)
                continue
            if dimension + 1 != len(node.subscripts):
                raise Mistake("only the last of the numbers may be a range", item)
            low = 0 if item.low is None else self._subscript(item.low, what, length)
            high = length if item.high is None else self._subscript(item.high, what, length)
            if low >= high:
                raise Mistake(f"the range {low}:{high} is empty", item)
            return offset + low * size, (high - low) * size
        return offset, size
