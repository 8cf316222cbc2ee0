"""The nodes of a parsed statement, with their positions.

`start` and `end` are offsets in the statement's text, so that lines with the same text share one
parse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from macaw.isa.lazy_dataclass import dataclass

# Texts of mistakes for which the editor offers an edit.
DOUBLE_QUOTES = "'a' is one character; write a string in double quotes"
BRACKETS = "write the value in brackets, as in %hi(value)"
NO_END = "a string without its end"
DIGIT_FIRST = "a word that begins with a digit needs quotes"  # of a setting, such as "5b"


class Mistake(Exception):
    """An error in the text of a statement, at the offsets `start` up to `end`."""

    def __init__(self, message: str, at: Node | tuple[int, int], hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        self.start, self.end = at if isinstance(at, tuple) else (at.start, at.end)


def missing_comma(text: str, start: int, stop: int) -> Mistake:
    """Return the error for a missing comma before the word from `start` to `stop` of a line.

    `text` is the text of the line.
    """
    end = len(text[:start].rstrip())
    hint = ""
    if text[max(0, start - 2) : start].startswith("'"):
        hint = DOUBLE_QUOTES
    return Mistake(f"expected ',' before '{text[start:stop]}'", (end, end + 1), hint)


class AlreadyReported(Exception):
    """Raised if a statement fails because of an error that is already reported."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """The base class of all nodes."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Number(Node):
    """A whole number or a character, modulo 2^64."""

    value: int


@dataclass(frozen=True, slots=True, eq=False)
class LongNumber(Node):
    """A number of more than 64 bits, which `.octa` and floating-point data accept."""


@dataclass(frozen=True, slots=True, eq=False)
class Real(Node):
    """A number with a point or an exponent. Only floating-point data accept it."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Text(Node):
    """A string. Its value is the bytes that it represents."""

    value: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    """A symbol, register or other word."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Here(Node):
    """The symbol `.`: the address of the statement, minus `back` bytes."""

    back: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class LocalLabel(Node):
    """A use of a local label, the nearest of its number before (`1b`) or after (`1f`) the use."""

    number: int
    forward: bool


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """An operator with one operand: `-x`, `~x`, `!x`, `+x`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Node):
    """An operator with two operands, such as `a + b`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """A function with its arguments: `%hi(x)`, `sizeof(x)`, `slot(x, 0)`."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Node):
    """A range in brackets, `low:high`; an omitted side is None."""

    low: Node | None
    high: Node | None


@dataclass(frozen=True, slots=True, eq=False)
class Indexed(Node):
    """A part of a symbol or of a file: `w[0]`, `x[1:3]`, `"weights.npy"[0:8]`."""

    base: Name | Text
    subscripts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Group(Node):
    """Expressions in round brackets.

    A group of one expression means this expression; a group of several means a list.
    """

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Phrase(Node):
    """Several words without commas: `weights w[0] sliced`."""

    words: tuple[Node, ...]  # Name or Indexed


@dataclass(frozen=True, slots=True, eq=False)
class Named(Node):
    """An operand with a name, `name=value`."""

    name: Name
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Inside(Node):
    """An operand with an offset and a base register, `outer(inner)`."""

    outer: Node
    inner: Node


@dataclass(frozen=True, slots=True, eq=False)
class Omitted(Node):
    """An operand that the source leaves out between two commas.

    The node has the position of the second comma.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Statement(Node):
    """A logical line: labels, then a mnemonic or directive with its operands.

    `symbol = value` has the head `=` and two operands; `to <- from` has the head `<-`.
    """

    labels: tuple[Name | Number, ...]
    head: Name | None
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FixedName(Name):
    """A use, in an expression, of a symbol that the source may set again.

    `definition` is the definition that the symbol has when the assembler reads the use. It stays
    the same if the source sets the symbol again later.
    """

    definition: Any


@dataclass(frozen=True, slots=True, eq=False)
class QuotedName(Name):
    """A quoted string in an expression. It means the symbol of that name."""


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Node):
    """An expression whose value must be checked: `check` raises `Mistake` for a bad value."""

    inner: Node
    check: Callable[[int], object]


def quoted_name(text: Text) -> Name:
    """Return the name of a symbol that the source gives as a string.

    Raises `Mistake` unless it is a name that an object file can have.
    """
    name = text.value.decode("utf-8", "replace")
    if not name:
        raise Mistake("a symbol needs a name", text)
    if not name.isprintable():
        raise Mistake("the name of a symbol has printable characters only", text)
    return Name(text.start, text.end, name)


def map_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a copy of the node in which `change(child)` replaces each child.

    The children are the nodes that are members of the node, also those in tuples. If there are no
    children, return the node itself.
    """
    changes: dict[str, Any] = {}
    node_class: type = type(node)
    for name in _members(node_class):
        value = getattr(node, name)
        if isinstance(value, Node):
            changes[name] = change(value)
        elif isinstance(value, tuple) and value:
            changes[name] = tuple(change(x) if isinstance(x, Node) else x for x in value)
    return replace(node, **changes) if changes else node


@cache
def _members(node_class: type) -> tuple[str, ...]:
    """Return the members of a class of nodes, without the members that all nodes have."""
    classes = (cls for cls in node_class.__mro__ if cls is not Node)
    return tuple(name for cls in classes for name in getattr(cls, "__slots__", ()))


def transform(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """Return a copy of the tree in which `change(node)` replaces each node.

    If `change` returns None, the node remains, and its children are changed in the same way.
    """
    result = change(node)
    return map_children(node, lambda inner: transform(inner, change)) if result is None else result


def walk(node: Node) -> Iterator[Node]:
    """Return all nodes of a tree, each node before the nodes inside of it."""
    nodes: list[Node] = []
    transform(node, lambda item: nodes.append(item))
    return iter(nodes)


def unplaced(node: Node) -> Node:
    """Return a copy of the tree without positions, for an expansion whose text is in no source."""
    return replace(map_children(node, unplaced), start=-1, end=-1)
