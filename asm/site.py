"""Where a statement stands: its place in the program, and what names mean there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.expressions import Address, NotYet, Value, evaluate, fold, low_part, number
from macaw.asm.layout import Area, LayoutError
from macaw.asm.source import LogicalLine
from macaw.asm.symbols import Datum, Deferred, Definition, Scope
from macaw.asm.syntax import (
    Again,
    Bound,
    Call,
    Indexed,
    Local,
    Mistake,
    Name,
    Named,
    Node,
    Number,
    Slice,
    Text,
)
from macaw.isa.rows import Row

if TYPE_CHECKING:
    from macaw.asm.assembler import Assembly

_MUCH = 1 << 24  # bytes of one statement for which all sections together are looked at


class Site:
    """A statement's place: line, file scope, area and offset. The context of its expressions."""

    __slots__ = ("area", "assembly", "head", "line", "offset", "ordinal", "scope")

    def __init__(
        self,
        assembly: Assembly,
        line: LogicalLine,
        scope: Scope,
        ordinal: int,
        area: Area,
        head: int = 0,
    ) -> None:
        self.assembly = assembly
        self.line = line
        self.scope = scope
        self.ordinal = ordinal
        self.area = area
        self.head = head  # where the mnemonic stands in the line
        self.offset = area.size

    def moved(self, area: Area | None = None) -> Site:
        """The same statement at the end of its area as it is now, or of another one."""
        area = area or self.area
        return Site(self.assembly, self.line, self.scope, self.ordinal, area, self.head)

    # --- bytes ---

    def emit(self, data: bytes) -> None:
        """Add bytes at the end of the area."""
        self.assembly.names.settle_labels(self.area)
        self.room(len(data))
        start = self.area.size
        try:
            self.area.append(data)
        except LayoutError as error:
            raise Mistake(str(error), (-1, -1)) from None
        self.has_put(start)

    def reserve(self, count: int) -> None:
        """Add zero bytes at the end of the area."""
        self.assembly.names.settle_labels(self.area)
        self.room(count)
        start = self.area.size
        self.area.grow(count)
        self.has_put(start)

    def later(self, size: int, make: Callable[[], bytes]) -> None:
        """Add `size` bytes that `make` gives when everything is laid out."""
        here = self.area.size
        self.reserve(size)
        if self.area.zeros:
            raise Mistake(f"{self.area.section} holds zeros, no data", (-1, -1))
        self.assembly.fix(self, here, size, make)

    def align(self, step: int, padding: Callable[[int], bytes] | None = None) -> None:
        """Go on at a multiple of `step`."""
        self.assembly.names.settle_labels(self.area)
        self.room(step)
        start = self.area.size
        try:
            self.area.align_to(step, padding)
        except LayoutError as error:
            raise Mistake(str(error), (-1, -1)) from None
        self.has_put(start)

    def has_put(self, start: int) -> None:
        """Tell the listing that the bytes from `start` to the end of the area are this line's."""
        if self.assembly.record is not None:
            self.assembly.record.put(self.ordinal, self.line, self.area, start)

    def mark(self) -> None:
        """Let the line table lead from here to this line."""
        self.assembly.mark(self.area, self.area.size, self.line, self.head)

    def room(self, count: int) -> None:
        """Raise `Mistake` unless `count` more bytes are less than any memory holds."""
        limit = self.assembly.device.external_bytes
        if self.area.size + count > limit:
            raise Mistake(
                f"{self.area.section} grows to {self.area.size + count} bytes,"
                f" external memory has {limit}",
                (-1, -1),
            )
        if count > _MUCH and self.assembly.layout.external_size() + count > limit:
            total = self.assembly.layout.external_size() + count
            raise Mistake(
                f"the program grows to {total} bytes, external memory has {limit}", (-1, -1)
            )

    # --- values ---

    def number(self, node: Node) -> int:
        """The value of an expression that must be known at once."""
        try:
            return number(node, self)
        except NotYet as error:
            raise Mistake(f"the value must be known here: {error.why}", error.node) from None

    def value(self, node: Node) -> int | Deferred | Address:
        """The value of an expression, now or later."""
        try:
            return evaluate(node, self)
        except NotYet:
            return Deferred(self.folded(node), self)

    def bounded(self, node: Node, what: str, low: int, high: int) -> int:
        """A number that must be known at once and lie in a range."""
        value = self.number(node)
        if not low <= value <= high:
            raise Mistake(f"{what}: {value} is out of range, {low} to {high}", node)
        return value

    def folded(self, node: Node) -> Node:
        """The expression with the present values of symbols that may be set again."""
        return fold(node, self._variable) if self.assembly.names.has_variables else node

    def _variable(self, node: Name) -> Node | None:
        found = self.scope.find(node.text)
        if found is None or found.is_label:
            return None
        found.used = True
        if isinstance(found.value, int):
            return Number(node.start, node.end, found.value)
        return Bound(node.start, node.end, node.text, found)

    def core_rows(self) -> Mapping[str, Sequence[Row]]:
        """The rows of the current part's core, by mnemonic."""
        form = self.assembly.parts.form
        return form.core.rows if form else {}

    # --- the names in expressions ---

    def definition(self, node: Name) -> Definition | None:
        """The symbol of a name, which counts as used; None if there is none yet.

        Raises `Mistake` for no symbol when all are known, `Again` for a wrong one.
        """
        is_late = self.assembly.placed or self.assembly.read
        if isinstance(node, Bound):
            found: Definition | None = node.definition
        else:
            found = self.scope.following(node.text) if is_late else self.scope.find(node.text)
        if found is None:
            if not is_late:
                return None
            raise Mistake(
                f"undefined symbol '{node.text}'",
                node,
                self.assembly.names.hint(
                    node.text, self.scope, [form.core for form in self.assembly.parts]
                ),
            )
        found.used = True
        if found.bad:
            raise Again
        return found

    def name(self, node: Name) -> Value:
        found = self.definition(node)
        if found is None:
            raise NotYet(node, f"'{node.text}' is not defined before")
        value = found.value
        if isinstance(value, Deferred):
            if not self.assembly.placed:
                raise NotYet(node, f"'{node.text}' depends on what follows")
            return self.assembly.names.deferred(found, node)
        if value is None:
            raise NotYet(node, f"'{node.text}' has no place yet")
        return self._address(value) if isinstance(value, Address) else value

    def _address(self, value: Address) -> Value:
        if self.assembly.placed and isinstance(value.area, Area) and value.area.base is not None:
            return value.area.base + value.offset
        return value

    def here(self) -> Value:
        return self._address(Address(self.area, self.offset))

    def local(self, node: Local) -> Value:
        found = self.scope.numbered_near(node.number, self.ordinal, node.forward)
        if found is None:
            if node.forward and not self.assembly.placed:
                raise NotYet(node, "it is a label that follows")
            where = "after" if node.forward else "before"
            raise Mistake(f"there is no local label '{node.number}:' {where} this line", node)
        if not self.assembly.placed and node.forward:
            raise NotYet(node, "it is a label that follows")
        found.used = True
        if found.bad:
            raise Again
        if not isinstance(found.value, Address):
            raise NotYet(node, "it has no place yet")
        return self._address(found.value)

    def datum(self, node: Name) -> tuple[Definition, Datum | None]:
        """A symbol and what its data are. Raises `NotYet`, `Mistake`."""
        found = self.definition(node)
        if found is None:
            raise NotYet(node, f"'{node.text}' is not defined before")
        return found, self.assembly.names.datum(found)

    def part(self, node: Name | Indexed) -> tuple[Definition, Datum | None, int, int]:
        """A symbol, its datum, and offset and length in bytes of the part that is meant."""
        name = node.base if isinstance(node, Indexed) else node
        if isinstance(name, Text):
            raise Mistake("a symbol is needed here, not a string", node)
        found, datum = self.datum(name)
        if not isinstance(node, Indexed):
            return found, datum, 0, self._size(found, datum, name)
        if datum is None or datum.what not in ("array", "tensor", "sparse"):
            raise Mistake(
                f"'{name.text}' has no elements to choose from",
                node,
                "a tensor, .npy or .sparse has",
            )
        if datum.what == "sparse":
            return found, datum, *self._round(name, datum, node)
        return found, datum, *self._elements(name, datum, node)

    def _size(self, found: Definition, datum: Datum | None, node: Name) -> int:
        if datum is not None:
            return datum.size
        if found.size is not None:
            return found.size
        if not self.assembly.placed:
            raise NotYet(node, f"the size of '{node.text}' depends on what follows")
        return self.assembly.natural_size(found)

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
            shape = " x ".join(map(str, datum.shape))
            raise Mistake(f"'{name.text}' has {len(datum.shape)} dimensions, {shape}", node)
        size, offset = datum.size, 0
        for place, item in enumerate(node.subscripts):
            length, what = datum.shape[place], f"'{name.text}' in dimension {place}"
            size //= length
            if not isinstance(item, Slice):
                offset += size * self._subscript(item, what, length - 1)
                continue
            if place + 1 != len(node.subscripts):
                raise Mistake("only the last of the numbers may be a range", item)
            low = 0 if item.low is None else self._subscript(item.low, what, length)
            high = length if item.high is None else self._subscript(item.high, what, length)
            if low >= high:
                raise Mistake(f"the range {low}:{high} is empty", item)
            return offset + low * size, (high - low) * size
        return offset, size

    def indexed(self, node: Indexed) -> Value:
        found, _datum, offset, _length = self.part(node)
        if not isinstance(found.value, Address):
            raise NotYet(node, "it has no place yet")
        return self._address(Address(found.value.area, found.value.offset + offset))

    def call(self, node: Call) -> Value:
        first = node.arguments[0]
        if node.function == "sizeof":
            if not isinstance(first, Name | Indexed):
                raise Mistake("sizeof takes a symbol, or a part of one", first)
            return self.part(first)[3]
        if not self.assembly.placed:
            raise NotYet(node, "it depends on where everything lies")
        if node.function == "slot":
            return self._slot(node)
        address = number(first, self)
        if node.function == "load_address":
            return self.assembly.load_address(address, first)
        target = self.assembly.pcrel_target(address)
        if target is None:
            raise Mistake("%pcrel_lo takes the address of an instruction that has %pcrel_hi", first)
        return low_part(target - address)

    def _slot(self, node: Call) -> int:
        name, row = node.arguments
        if not isinstance(name, Name | Indexed):
            raise Mistake("slot takes a tensor, or a part of one", name)
        found, _datum, offset, _length = self.part(name)
        index = number(row, self)
        slot = self.assembly.parts.slot(found, index)
        if slot is None:
            hint = "a tensor has one where an exe names it"
            raise Mistake(f"'{found.name}' has no slot in row {index}", node, hint)
        return slot + offset

    def warn(self, message: str, node: Node, hint: str = "") -> None:
        self.assembly.report.warning(self.line, node, message, hint)

    # --- operands of directives ---

    def named(self, operands: Sequence[Node], known: Sequence[str], head: Name) -> dict[str, Named]:
        """The operands with a name. Raises `Mistake` for an unknown one or one given twice."""
        found: dict[str, Named] = {}
        for item in operands:
            if not isinstance(item, Named):
                continue
            name = item.name.text
            if name not in known:
                hint = did_you_mean(name, known)
                if not hint:
                    hint = "there are " + ", ".join(known) if known else "it takes none by name"
                raise Mistake(f"{head.text} has no operand '{name}'", item.name, hint)
            if name in found:
                raise Mistake(f"the operand {name} is given twice", item)
            found[name] = item
        return found
