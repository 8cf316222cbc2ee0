"""Parses the debugger's expressions: the assembler's grammar, extended by paths into state.

Examples are `pe[1,0].3.q1.level` and `sum(pe[*,*].*.macs)`. This module adds four forms to
`asm/grammar.lark`: members after subscripts, `*` for all indices, functions of several values
(`sum`), and GDB's operators on memory (`*E`, `&E`, `E@N`, `{TYPE}E`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from lark import Lark, Token
from lark.exceptions import UnexpectedInput, VisitError

from macaw.asm import grammar, parser_tables
from macaw.asm.syntax import Call, Group, Indexed, Mistake, Name, Node

START = "expression"
_MORE = r"""
%extend primary: word_path
       | NAME "(" expression ("," expression)* ")" -> call
%override ?product: repeated | product ("*" | "/" | "%") repeated
?repeated: unary | unary "@" primary
%extend unary: "*" unary                -> contents
       | "&" unary                      -> address_of
       | "{" NAME "}" unary             -> typed
word_path: NAME subscripts tail+
tail: MEMBER [subscripts]
%extend subscript: "*"                   -> every
MEMBER.5: /\.(\*|[A-Za-z0-9_$]+)(\.(\*|[A-Za-z0-9_$]+))*/
"""


@dataclass(frozen=True, slots=True, eq=False)
class Every(Node):
    """The subscript `*`: it selects all indices."""


@dataclass(frozen=True, slots=True, eq=False)
class Path(Node):
    """A name with the subscripts and members after it: `fim[0].bank[3].rz`."""

    head: Name
    steps: tuple[str | tuple[Node, ...], ...]  # the name of a member, or subscripts


@dataclass(frozen=True, slots=True, eq=False)
class Contents(Node):
    """Memory at an address: `*E`, or `{TYPE}E` if `type` names a type."""

    address: Node
    type: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AddressOf(Node):
    """The address of a symbol, a tensor, an element or memory: `&E`."""

    operand: Node


@dataclass(frozen=True, slots=True, eq=False)
class Repeated(Node):
    """Consecutive elements of memory, `E@N`: N elements, of which `E` is the first."""

    first: Node
    count: Node


class _Builder(grammar.Builder):
    def contents(self, children: list[Token | Node]) -> Node:
        return Contents(_start(children[0]), _end(children[-1]), _node(children[-1]))

    def typed(self, children: list[Token | Node]) -> Node:
        start, end = _start(children[0]), _end(children[-1])
        return Contents(start, end, _node(children[-1]), str(children[1]))

    def address_of(self, children: list[Token | Node]) -> Node:
        return AddressOf(_start(children[0]), _end(children[-1]), _node(children[-1]))

    def repeated(self, children: list[Token | Node]) -> Node:
        first, _, count = children
        return Repeated(_start(first), _end(count), _node(first), _node(count))

    def every(self, children: list[Token]) -> Node:
        token = children[0]
        return Every(token.start_pos or 0, token.end_pos or 0)

    def tail(self, children: list[Token | Node]) -> Node:
        member = children[0]
        assert isinstance(member, Token)
        behind = [child for child in children[1:] if isinstance(child, Group)]
        start = member.start_pos or 0
        end = behind[0].end if behind else member.end_pos or 0
        steps: list[str | tuple[Node, ...]] = list(member[1:].split("."))
        return Path(start, end, Name(start, start, ""), (*steps, *(x.items for x in behind)))

    def word_path(self, children: list[Token | Node]) -> Node:
        head, first, *tails = children
        assert isinstance(head, Token)
        assert isinstance(first, Group)
        steps: list[str | tuple[Node, ...]] = [first.items]
        end = first.end
        for tail in tails:
            assert isinstance(tail, Path)
            steps += tail.steps
            end = tail.end
        start = head.start_pos or 0
        return Path(start, end, Name(start, head.end_pos or 0, str(head)), tuple(steps))

    def call(self, children: list[Token | Node | list[Node]]) -> Node:
        head, last = children[0], children[-1]
        assert isinstance(head, Token)
        assert isinstance(last, Token)
        arguments = tuple(child for child in children if isinstance(child, Node))
        return Call(head.start_pos or 0, last.end_pos or 0, str(head), arguments)


def _start(child: Token | Node) -> int:
    return child.start if isinstance(child, Node) else child.start_pos or 0


def _end(child: Token | Node) -> int:
    return child.end if isinstance(child, Node) else child.end_pos or 0


def _node(child: Token | Node) -> Node:
    assert isinstance(child, Node)
    return child


@lru_cache(maxsize=1)
def _parser() -> Lark:
    stored = (files("macaw.debugger") / parser_tables.NAME).read_text("utf-8")
    return parser_tables.parser(stored, text(), START, _Builder())


def text() -> str:
    """Return the text of the grammar of expressions."""
    return grammar.text() + _MORE


@lru_cache(maxsize=512)
def parse(text: str) -> Node:
    """Return the syntax tree of an expression. Raises `Mistake`."""
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise grammar.explain(error, text, "an operator or the end") from None
    except VisitError as error:
        raise error.orig_exc from None
    if isinstance(tree, Token):
        raise Mistake("an expression is needed here", (0, len(text)))
    assert isinstance(tree, Node)
    return tree


def denotes_place(node: Node) -> bool:
    """Return whether a node is a path, `*E`, `{TYPE}E` or `E@N`, alone or in parentheses."""
    while isinstance(node, Group) and len(node.items) == 1:
        node = node.items[0]
    return path_of(node) is not None or isinstance(node, Contents | Repeated)


def path_of(node: Node) -> Path | None:
    """Return a name, an indexed name or a longer path as one `Path`; None for other nodes."""
    if isinstance(node, Path):
        head, *members = node.head.text.split(".")
        steps: tuple[str | tuple[Node, ...], ...] = (*members, *node.steps)
        return Path(node.start, node.end, Name(node.start, node.end, head), steps)
    if isinstance(node, Indexed) and isinstance(node.base, Name):
        head, *members = node.base.text.split(".")
        name = Name(node.base.start, node.base.end, head)
        return Path(node.start, node.end, name, (*members, node.subscripts))
    if isinstance(node, Name):
        head, *members = node.text.split(".")
        return Path(node.start, node.end, Name(node.start, node.end, head), tuple(members))
    return None
