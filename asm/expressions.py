"""Evaluates expressions with 64-bit values: operators as in C, results as in GNU as.

Before the layout, an address is an area and an offset in it (`Address`). An expression may add a
number to an address, and subtract two addresses of the same area. A `Context` gives names their
values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Protocol

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.literals import wrap
from macaw.asm.syntax import (
    Binary,
    Call,
    Checked,
    Group,
    Here,
    Indexed,
    Inside,
    LocalLabel,
    LongNumber,
    Mistake,
    Name,
    Node,
    Number,
    QuotedName,
    Real,
    Text,
    Unary,
    transform,
)
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple


@dataclass(frozen=True)
class Function:
    """An operator that is written as a function, such as `sizeof`: its syntax and its meaning."""

    name: str
    syntax: str
    meaning: str
    example: str


# fmt: off
ROWS = (
    Function("%hi",          "%hi(value)",           "The upper 20 bits of a value; with %lo of the value they make its low 32 bits.",                    "lui a0, %hi(0x12345fff)"),
    Function("%lo",          "%lo(value)",           "The lower 12 bits as a signed number.",                                                            "addi a0, a0, %lo(0x12345fff)"),
    Function("%pcrel_hi",    "%pcrel_hi(value)",     "Like %hi, for the distance from this instruction to an address.",                                     "here: auipc a0, %pcrel_hi(here)"),
    Function("%pcrel_lo",    "%pcrel_lo(label)",     "Like %lo, for the distance whose %pcrel_hi is in the auipc at that label.",                        "here: auipc a0, %pcrel_hi(here)\n      addi a0, a0, %pcrel_lo(here)"),
    Function("sizeof",       "sizeof(symbol)",       "The bytes of an array or a tensor, or from a label to the next one.",                                  "table: .word 1, 2, 3\n       .word sizeof(table)"),
    Function("load_address", "load_address(symbol)", "The address in external memory at which the loader puts the data of a symbol in a PE row's part.",               "p: .word load_address(p)"),
    Function("slot",         "slot(tensor, row)",    "The address of a tensor in the memory unit of a row, if an exe of the row names the tensor.",      "take_x: .word slot(x, 0), x, sizeof(x), 1, 0, 0"),
    Function("vec",          "vec(address)",         "The number of the native vector at an address, counted from the start of external memory. The address must be the start of a native vector of the device.", ".data\nb: .word vec(b)"),
    Function("tile",         "tile(address)",        "As vec, counted in native tiles.",                                                                 ".data\nW: .word tile(W)"),
)
# fmt: on
MODIFIERS = tuple(row.name for row in ROWS if row.name.startswith("%"))
FUNCTIONS = tuple(row.name for row in ROWS if not row.name.startswith("%"))
_SYNTAX = {row.name: row.syntax for row in ROWS}


class Address(NamedTuple):
    """An address before the layout: a byte offset in an area without an address so far."""

    area: object  # compared by identity
    offset: int


Value = int | Address


@dataclass(frozen=True, eq=False)
class External:
    """The symbol `name` of another object file. Only a linker gives the symbol its address.

    In an `Address`, an `External` as the `area` means that the offset counts from this symbol.
    """

    name: str


def _why(reason: str, *values: Value) -> str:
    """Return the reason why the value of an expression with these `values` is not known.

    If one of `values` is an external symbol, the text says that only the linker knows this symbol.
    Otherwise the text is `reason`.
    """
    for value in values:
        if isinstance(value, Address) and isinstance(value.area, External):
            return f"only the linker knows '{value.area.name}'"
    return reason


class NotYet(Exception):
    """The error for a value that is known only after the layout; `why` is the reason."""

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


class Context(Protocol):
    """The position of a statement. It determines what names in the statement's expressions mean."""

    def name(self, node: Name) -> Value:
        """Return the value of a symbol. Raises `NotYet` or `Mistake`."""

    def here(self) -> Value:
        """Return the address of the statement, which expressions write as `.`."""

    def local(self, node: LocalLabel) -> Value:
        """Return the address of a local label."""

    def indexed(self, node: Indexed) -> Value:
        """Return the address of an element, as in `x[2]`."""

    def call(self, node: Call) -> Value:
        """Return the value of a call of `sizeof`, `load_address`, `slot`, `vec`, `tile` or `%pcrel_lo`."""

    def may_change(self, node: Node) -> bool:
        """Return whether a later line of the file may change what a name in `node` means."""

    def note_use(self, node: Node) -> None:
        """Note that a line uses the value that `node` has at this line."""

    def warn(self, message: str, node: Node, hint: str = "", *, name: str) -> None:
        """Report the warning `message` at a node; `name` is the warning's name for options."""


def high_part(value: int) -> int:
    """Return the upper 20 bits of the 32-bit `value` for a `lui` that an `addi` completes.

    If `low_part(value)` is negative, the result is greater by 1.
    """
    return (value + 0x800) >> 12 & 0xFFFFF


def low_part(value: int) -> int:
    """Return the lower 12 bits of `value` as a signed number."""
    return ((value + 0x800) & 0xFFF) - 0x800


def _quotient(left: int, right: int) -> int:
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


def _truth(compare: Callable[[int, int], bool]) -> Callable[[int, int], int]:
    return lambda left, right: -1 if compare(left, right) else 0


BINARY: Mapping[str, Callable[[int, int], int]] = {
    "||": lambda left, right: int(bool(left or right)),
    "&&": lambda left, right: int(bool(left and right)),
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "==": _truth(operator.eq),
    "!=": _truth(operator.ne),
    "<>": _truth(operator.ne),
    "<": _truth(operator.lt),
    "<=": _truth(operator.le),
    ">": _truth(operator.gt),
    ">=": _truth(operator.ge),
    "<<": operator.lshift,
    ">>": lambda left, right: (left % (1 << 64)) >> right,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
}
UNARY: Mapping[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda value: int(not value),
}
COMPARISONS = ("==", "!=", "<>", "<", "<=", ">", ">=")


def evaluate(node: Node, context: Context) -> Value:
    """Return the value of an expression.

    Raises `Mistake`; raises `NotYet` if the value is known only after the layout.
    """
    # Walk down the left side without recursion: a long sum is deep there.
    spine: list[Binary] = []
    while isinstance(node, Binary):
        spine.append(node)
        node = node.left
    value = _leaf(node, context)
    for binary in reversed(spine):
        right = evaluate(binary.right, context)
        if isinstance(value, int) and isinstance(right, int):
            value = _apply(binary, value, right, context)
        else:
            value = _addresses(binary, value, right, context)
    return value


def number(node: Node, context: Context) -> int:
    """Return the value of an expression that must be a plain number.

    Raises `Mistake`; raises `NotYet` if the value is known only after the layout, as that of an
    `Address` is.
    """
    value = evaluate(node, context)
    if isinstance(value, Address):
        raise not_placed(node, value)
    return value


def not_placed(node: Node, *values: Value) -> NotYet:
    """Return the error for an expression `node` with addresses that only the layout will give.

    `values` are the values of the expression's operands.
    """
    return NotYet(node, _why("it is an address, and nothing is laid out yet", *values))


def _leaf(node: Node, context: Context) -> Value:
    match node:
        case Number():
            return node.value
        case Name():
            return context.name(node)
        case Unary():
            operand = evaluate(node.operand, context)
            if isinstance(operand, Address):
                raise NotYet(node, _why("it depends on where its section lies", operand))
            return wrap(UNARY[node.operator](operand))
        case Here():
            here = context.here()
            if isinstance(here, Address):
                return Address(here.area, here.offset - node.back)
            return here - node.back
        case LocalLabel():
            return context.local(node)
        case Group() if len(node.items) == 1:
            return evaluate(node.items[0], context)
        case Indexed() if isinstance(node.base, Name):
            return context.indexed(node)
        case Call():
            return _call(node, context)
        case Checked():
            value = evaluate(node.inner, context)
            if isinstance(value, int):
                node.check(value)
            return value
        case LongNumber():
            raise Mistake("the number does not fit 64 bits", node)
        case Real():
            raise Mistake("a whole number is needed here", node)
        case Text():
            name = node.value.decode("utf-8", "replace")
            return context.name(QuotedName(node.start, node.end, name))
        case Indexed():
            raise Mistake("a number is needed here, not a string", node)
    if isinstance(node, Inside) and isinstance(node.outer, Name):
        hint = did_you_mean(node.outer.text, FUNCTIONS)
        if hint:
            raise Mistake(f"unknown function '{node.outer.text}'", node.outer, hint)
    raise Mistake("an expression is needed here", node)


def _apply(node: Binary, left: int, right: int, context: Context) -> int:
    if node.operator in "/%" and right == 0:
        raise Mistake("division by zero", node)
    if node.operator in ("<<", ">>") and not 0 <= right < 64:
        context.warn(
            f"shift by {right} is out of range, 0 to 63; the result is 0", node, name="shift"
        )
        return 0
    return wrap(BINARY[node.operator](left, right))


def _addresses(node: Binary, left: Value, right: Value, context: Context) -> Value:
    """Return the value of a binary expression of which at least one operand is an `Address`."""
    if node.operator == "+":
        if isinstance(right, int):
            left, right = right, left
        if isinstance(left, int) and isinstance(right, Address):
            return Address(right.area, right.offset + left)
    if isinstance(left, Address):
        if node.operator == "-" and isinstance(right, int):
            return Address(left.area, left.offset - right)
        if isinstance(right, Address) and left.area is right.area:
            if node.operator == "-":
                if isinstance(node.right, Here) and context.may_change(node.left):
                    raise not_placed(node, left)
                context.note_use(node)
                return left.offset - right.offset
            if node.operator in COMPARISONS:
                context.note_use(node)
                return BINARY[node.operator](left.offset, right.offset)
    raise NotYet(node, _why("it depends on where its section lies", left, right))


def _call(node: Call, context: Context) -> Value:
    if node.function not in MODIFIERS + FUNCTIONS:
        raise Mistake(
            f"unknown operator '{node.function}'",
            (node.start, node.start + len(node.function)),
            did_you_mean(node.function, MODIFIERS) or "there are " + " ".join(MODIFIERS),
        )
    count = 2 if node.function == "slot" else 1
    if len(node.arguments) != count:
        raise Mistake(f"{node.function} is written {_SYNTAX[node.function]}", node)
    if node.function in ("%hi", "%lo"):
        value = number(node.arguments[0], context)
        return high_part(value) if node.function == "%hi" else low_part(value)
    if node.function == "%pcrel_hi":
        target, here = evaluate(node.arguments[0], context), context.here()
        if isinstance(target, Address) or isinstance(here, Address):
            raise NotYet(node, _why("it depends on where its section lies", target))
        return high_part(target - here)
    return context.call(node)


def fold(node: Node, replacement: Callable[[Name], Node | None]) -> Node:
    """Return the expression `node`, in which each name is replaced by the node from `replacement`.

    A name for which `replacement` returns None remains. With this function, an expression stores
    the current value of a symbol that the source may set again later.
    """

    def change(item: Node) -> Node | None:
        match item:
            case Name():
                return replacement(item)
            case Indexed():  # its base is a symbol, not a value
                inner = tuple(transform(part, change) for part in item.subscripts)
                return Indexed(item.start, item.end, item.base, inner)
            case Call(function=function) if function in FUNCTIONS:
                first, *rest = item.arguments
                if isinstance(first, Name):
                    arguments = (first, *(transform(part, change) for part in rest))
                    return Call(item.start, item.end, function, arguments)
        return None

    return transform(node, change)
