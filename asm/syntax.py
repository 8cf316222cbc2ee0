"""The nodes of a statement, with their places.

`start` and `end` are offsets in the statement's text, so that one parse serves every line with the
same text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


class Mistake(Exception):
    """An error in the text of a statement, from `start` up to `end`."""

    def __init__(self, message: str, at: Node | tuple[int, int], hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        self.start, self.end = at if isinstance(at, tuple) else (at.start, at.end)


class AlreadyReported(Exception):
    """A statement fails because of a mistake that is reported already."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Base of all nodes."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Number(Node):
    """A whole number or a character, taken modulo 2^64."""

    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Real(Node):
    """A number with a point or an exponent; only floating-point data take it."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Text(Node):
    """A string, as the bytes that it stands for."""

    value: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    """A symbol, register or other word."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Here(Node):
    """`.`: the address of the statement, or `back` bytes before it."""

    back: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class LocalLabel(Node):
    """`1b` or `1f`: the nearest local label of that number, backward or forward."""

    number: int
    forward: bool


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """`-x`, `~x`, `!x`, `+x`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Node):
    """`a + b` and the like."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """`%hi(x)`, `sizeof(x)`, `slot(x, 0)`."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Node):
    """`low:high` in brackets; None where a side is left out."""

    low: Node | None
    high: Node | None


@dataclass(frozen=True, slots=True, eq=False)
class Indexed(Node):
    """`w[0]`, `x[1:3]`, `"weights.npy"[0:8]`."""

    base: Name | Text
    subscripts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Group(Node):
    """Round brackets. With one expression in them they are that expression, else a list."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Phrase(Node):
    """Several words without commas: `weights w[0] sliced`."""

    words: tuple[Node, ...]  # Name or Indexed


@dataclass(frozen=True, slots=True, eq=False)
class Named(Node):
    """`name=value`."""

    name: Name
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Inside(Node):
    """`outer(inner)`: an offset and a base register."""

    outer: Node
    inner: Node


@dataclass(frozen=True, slots=True, eq=False)
class Statement(Node):
    """A logical line: labels, then a mnemonic or directive with its operands.

    `symbol = value` has the head `=` and two operands, `to <- from` the head `<-`.
    """

    labels: tuple[Name | Number, ...]
    head: Name | None
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FixedName(Name):
    """A symbol that may be set again, bound to its present `definition`."""

    definition: Any


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Node):
    """An operand in the expansion of a pseudo-instruction; `check` refuses bad numbers."""

    inner: Node
    check: Callable[[int], object]


def map_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the node with each of its children changed."""
    changes: dict[str, Any] = {}
    for cls in type(node).__mro__:
        for name in getattr(cls, "__slots__", ()):
            value = getattr(node, name)
            if isinstance(value, Node):
                changes[name] = change(value)
            elif isinstance(value, tuple) and value:
                changes[name] = tuple(change(x) if isinstance(x, Node) else x for x in value)
    return replace(node, **changes) if changes else node


def transform(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree with each node replaced by what `change` gives; None: its children are visited."""
    result = change(node)
    return map_children(node, lambda inner: transform(inner, change)) if result is None else result


def unplaced(node: Node) -> Node:
    """Return the tree without places: the text of an expansion is in no source."""
    return replace(map_children(node, unplaced), start=-1, end=-1)
