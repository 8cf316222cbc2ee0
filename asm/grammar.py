"""The parser for `grammar.lark`, which turns a logical line into nodes."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from importlib.resources import files

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from macaw.asm import parser_tables
from macaw.asm.literals import WORD, unescape, wrap
from macaw.asm.syntax import (
    BRACKETS,
    DIGIT_FIRST,
    NO_END,
    Binary,
    Call,
    Group,
    Here,
    Indexed,
    Inside,
    LocalLabel,
    LongNumber,
    Mistake,
    Name,
    Named,
    Node,
    Number,
    Omitted,
    Phrase,
    Real,
    Slice,
    Statement,
    Text,
    Unary,
    missing_comma,
    quoted_name,
)
from macaw.isa.lazy_pattern import lazy_pattern

START = "line"  # the symbol of a whole line
# Directives that have defaults for operands that are not the last ones.
_MAY_OMIT = frozenset(
    (".align", ".balign", ".p2align", ".comm", ".lcomm", ".fill", ".space", ".skip", ".org")
)

# The most states on the parser's stack for which the accepted tokens are cached.
_DEEPEST_KEPT = 100

_Child = Token | Node | list[Node]


def _integer(token: Token) -> int:
    """Return the value of a number's token, as a signed 64-bit number.

    If the number has more than 64 bits, return a number of at least `WORD` (2^64), from which the
    caller sees that the number is too long. It need not be the value of the token.
    """
    start, end = _place(token)
    text = token.lower()
    if text.startswith(("0x", "0b")):
        value = int(text, 0)
    elif len(text) > 1 and text.startswith("0"):
        if set(text) & set("89"):
            raise Mistake(f"'{token}' is no octal number", (start, end), "a leading 0 means octal")
        value = int(text, 8)
    else:
        value = int(text) if len(text) < 40 else WORD
    return wrap(value) if value < WORD else value


def _place(child: _Child) -> tuple[int, int]:
    if isinstance(child, Token):
        return child.start_pos or 0, child.end_pos or 0
    assert isinstance(child, Node)
    return child.start, child.end


def _name(token: Token) -> Name:
    """Return the name in a token, without quotes and without `@plt`."""
    start, end = _place(token)
    if token.type == "STRING":
        return quoted_name(Text(start, end, unescape(token[1:-1], start + 1)))
    return Name(start, end, token.removesuffix("@plt"))


class Builder(Transformer[Token, Node]):
    """Builds nodes while the parser runs. Each node has the start and end of its tokens."""

    @staticmethod
    def _nodes(children: list[_Child]) -> tuple[Node, ...]:
        return tuple(child for child in children if isinstance(child, Node))

    @staticmethod
    def _span(children: list[_Child]) -> tuple[int, int]:
        return _place(children[0])[0], _place(children[-1])[1]

    def line(self, children: list[_Child]) -> Node:
        nodes = self._nodes(children)
        labels = tuple(node for node in nodes if isinstance(node, Name | Number))
        if nodes and isinstance(nodes[-1], Statement):
            statement = nodes[-1]
            return Statement(
                nodes[0].start, statement.end, labels, statement.head, statement.operands
            )
        end = nodes[-1].end if nodes else 0
        return Statement(0, end, labels, None, ())

    def label(self, children: list[Token]) -> Node:
        token = children[0]
        if token.type == "INTEGER":
            value = _integer(token)
            if value >= WORD:
                raise Mistake("the number does not fit 64 bits", _place(token))
            return Number(*_place(token), value)
        return _name(token)

    def command(self, children: list[_Child]) -> Node:
        head = children[0]
        assert isinstance(head, Token)
        operands = children[1] if len(children) > 1 else []
        assert isinstance(operands, list)
        end = operands[-1].end if operands else _place(head)[1]
        name = _name(head)
        return Statement(name.start, end, (), name, tuple(operands))

    def assignment(self, children: list[_Child]) -> Node:
        name, sign, value = children
        assert isinstance(value, Node)
        assert not isinstance(name, list)
        target = name if isinstance(name, Node) else _name(name)
        head = Name(*_place(sign), str(sign))
        return Statement(target.start, value.end, (), head, (target, value))

    move = assignment

    def operands(self, children: list[_Child]) -> list[Node]:
        nodes: list[Node] = []
        for before, child in zip([None, *children], children, strict=False):
            if isinstance(child, Node):
                nodes.append(child)
            elif isinstance(before, Token):  # two commas
                nodes.append(Omitted(*_place(child)))
        return nodes

    def inside(self, children: list[_Child]) -> Node:
        outer, inner = self._nodes(children)
        return Inside(*self._span(children), outer, inner)

    def named(self, children: list[_Child]) -> Node:
        name, _, value = children
        assert isinstance(value, Node)
        return Named(*self._span(children), Name(*_place(name), str(name)), value)

    def phrase(self, children: list[_Child]) -> Node:
        return Phrase(*self._span(children), self._nodes(children))

    def items(self, children: list[_Child]) -> Node:
        return Group(*self._span(children), self._nodes(children))

    group = subscripts = items

    def _binary(self, children: list[_Child]) -> Node:
        left, operator, right = children
        assert isinstance(left, Node)
        assert isinstance(right, Node)
        return Binary(left.start, right.end, str(operator), left, right)

    either = both = inclusive = exclusive = common = _binary
    equality = comparison = shift = sum = product = _binary

    def unary(self, children: list[_Child]) -> Node:
        operator, operand = children
        assert isinstance(operand, Node)
        return Unary(_place(operator)[0], operand.end, str(operator), operand)

    def integer(self, children: list[Token]) -> Node:
        value = _integer(children[0])
        return (
            Number(*_place(children[0]), value)
            if value < WORD
            else LongNumber(*_place(children[0]))
        )

    def real(self, children: list[Token]) -> Node:
        return Real(*_place(children[0]), str(children[0]))

    def character(self, children: list[Token]) -> Node:
        start, end = _place(children[0])
        inside = children[0][1:]
        if len(inside) > 1 and inside.endswith("'") and inside != "\\'":
            inside = inside[:-1]
        encoded = unescape(inside, start + 1)
        if len(encoded) != 1:
            raise Mistake("a character is one byte", (start, end), "a string can hold any text")
        return Number(start, end, encoded[0])

    @staticmethod
    def _string(token: Token) -> Text:
        start, end = _place(token)
        return Text(start, end, unescape(token[1:-1], start + 1))

    def string(self, children: list[Token]) -> Node:
        texts = [self._string(token) for token in children]
        value = b"".join(text.value for text in texts)
        return Text(texts[0].start, texts[-1].end, value)

    def local(self, children: list[Token]) -> Node:
        token = children[0]
        number = int(token[:-1]) if len(token) < 20 else -1
        return LocalLabel(*_place(token), number, token.endswith("f"))

    def here(self, children: list[Token]) -> Node:
        return Here(*_place(children[0]))

    def call(self, children: list[_Child]) -> Node:
        return Call(*self._span(children), str(children[0]), self._nodes(children))

    def name(self, children: list[Token]) -> Node:
        return _name(children[0])

    def indexed(self, children: list[_Child]) -> Node:
        token, subscripts = children
        assert isinstance(token, Token)
        assert isinstance(subscripts, Group)
        if token.type == "STRING":
            base: Name | Text = self._string(token)
        else:
            base = _name(token)
        return Indexed(base.start, subscripts.end, base, subscripts.items)

    def slice(self, children: list[_Child]) -> Node:
        colon = next(place for place, child in enumerate(children) if isinstance(child, Token))
        before, after = self._nodes(children[:colon]), self._nodes(children[colon + 1 :])
        low, high = before[0] if before else None, after[0] if after else None
        return Slice(*self._span(children), low, high)


@lru_cache(maxsize=1)
def _parser() -> Lark:
    stored = (files("macaw.asm") / parser_tables.NAME).read_text("utf-8")
    return parser_tables.parser(stored, text(), START, Builder())


def text() -> str:
    """Return the text of the grammar."""
    return (files("macaw.asm") / "grammar.lark").read_text("utf-8")


def parse(line: str) -> Statement:
    """Return the statement in the text of a logical line without comments. Raises `Mistake`."""
    try:
        statement = _parser().parse(line)
    except UnexpectedInput as error:
        raise explain(error, line) from None
    assert isinstance(statement, Statement)
    if statement.head is None or statement.head.text not in _MAY_OMIT:
        for operand in statement.operands:
            if isinstance(operand, Omitted):
                place = operand.start, operand.end
                raise Mistake("unexpected ',', expected an operand", place)
    return statement


# Tokens with which an operand begins, and what other assemblers write in its place.
_BEGINS = ("NAME", "INTEGER", "STRING", "CHARACTER", "REAL", "LOCAL", "FUNCTION")
_HABITS = (
    (re.compile(r"%(pcrel_)?(hi|lo)\b"), BRACKETS),
    (re.compile(r"%[a-z]+[0-9]"), "write registers without '%'"),
    (re.compile(r"\["), "an address is written 4(sp)"),
)
_BAD_NUMBER = lazy_pattern(r"[A-Za-z0-9_.$]+")
_SETTING = lazy_pattern(r"\s*\.setting\s")


def _accepted(error: UnexpectedToken) -> Set[str]:
    """Return the kinds of tokens that the grammar accepts in place of the unexpected token."""
    parser = error.interactive_parser
    states = parser.parser_state.state_stack if parser else []
    return _accepted_after(tuple(states)) if 0 < len(states) <= _DEEPEST_KEPT else error.accepts


@lru_cache(maxsize=1024)
def _accepted_after(states: tuple[int, ...]) -> frozenset[str]:
    """Return the kinds of tokens that may follow if the stack of the line's parser is `states`.

    The results are cached, because Lark needs a millisecond to compute one, and a source with
    thousands of wrong lines has only few different stacks.
    """
    parser = _parser().parse_interactive("")
    parser.parser_state.state_stack[:] = states
    parser.parser_state.value_stack[:] = [None] * (len(states) - 1)
    accepted: Set[str] = parser.accepts()  # type: ignore[no-untyped-call]  # lark gives no types here
    return frozenset(accepted)


def explain(error: UnexpectedInput, text: str, whole: str = "") -> Mistake:
    """Return an error of Lark as a `Mistake` in plain words.

    `text` is the text of the line. If it must be one complete expression, `whole` is the phrase
    with which the message says what may follow an operand: "an operator or the end".
    """
    if isinstance(error, UnexpectedCharacters):
        return _unreadable(error.pos_in_stream or 0, text)
    assert isinstance(error, UnexpectedToken)
    expected = (error.accepts if whole else _accepted(error)) or error.expected
    if "COMMA" in expected and error.token.type in _BEGINS and not whole:
        return missing_comma(text, *_place(error.token))
    if "INTEGER" in expected and "NAME" in expected and "REAL" in expected:
        expectation = "an operand"
    elif "RPAR" in expected:
        expectation = "')'"
    elif "RSQB" in expected:
        expectation = "']'"
    elif whole:
        expectation = whole
    elif "COMMA" in expected:
        expectation = "',' or the end of the line"
    elif "LPAR" in expected:
        expectation = "'('"
    elif expected == {"COLON", "EQUAL"}:
        expectation = "':' or '='"
    elif expected == {"COLON"}:
        expectation = "':'"
    else:
        expectation = "a label, a mnemonic or a directive"
    if error.token.type == "$END":
        return Mistake(f"the line ends where {expectation} should be", (len(text), len(text) + 1))
    start, end = _place(error.token)
    hint = ""
    if expectation == "an operand":
        hint = next((hint for habit, hint in _HABITS if habit.match(text, start)), "")
    return Mistake(f"unexpected '{error.token}', expected {expectation}", (start, end), hint)


def _unreadable(position: int, text: str) -> Mistake:
    char = text[position]
    if char == '"':
        return Mistake(NO_END, (position, len(text)), "it ends with '\"'")
    if char == "'":
        return Mistake("a character without its end", (position, len(text)))
    number = _BAD_NUMBER.match(text, position)
    if number and (char.isdigit() or char == "."):
        is_label = text[number.end() :].lstrip().startswith(":")
        hint = "a label begins with a letter, '_', '.' or '$'" if is_label else ""
        if _SETTING.match(text):
            hint = DIGIT_FIRST
        return Mistake(f"'{number[0]}' is no number", number.span(), hint)
    printed = char if char.isprintable() else f"\\x{ord(char):02x}"
    hint = ""
    if char.isalpha():
        hint = "names are made of the letters a to z and A to Z, digits, '_', '.' and '$'"
    elif char == "@":
        hint = "write words without '@', as in '.type f, function'"
    return Mistake(f"unexpected character '{printed}'", (position, position + 1), hint)
