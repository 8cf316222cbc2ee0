"""Splits statements of words, plain numbers and strings without the grammar.

If the meaning is not certain, the result is None, and the grammar decides. A statement from this
module equals the statement from the grammar (`tests/asm/test_plain.py` checks this).
"""

from __future__ import annotations

import re

from macaw.asm.syntax import (
    Binary,
    Call,
    Here,
    Inside,
    LocalLabel,
    Name,
    Named,
    Node,
    Number,
    Statement,
    Text,
    Unary,
)
from macaw.isa.lazy_pattern import lazy_pattern

# As in the grammar, but without texts that may be numbers.
NAME = r"[A-Za-z_$][A-Za-z0-9_.$]*|\.[A-Za-z_.$][A-Za-z0-9_.$]*"
# A leading zero would mean octal.
NUMBER = r"0[xX][0-9A-Fa-f]{1,15}|[1-9][0-9]{0,17}|0"

_LABEL = lazy_pattern(rf"({NAME}|0|[1-9][0-9]{{0,17}})[ \t]*:[ \t]*")
_HEAD = lazy_pattern(rf"({NAME})(?:[ \t]+|\Z)")
_TERM = rf"(?:{NAME}|{NUMBER}|\.(?![A-Za-z0-9_.$]))"
_SUM = rf"-?{_TERM}(?:[ \t]*[+-][ \t]*{_TERM})*"
_OPERAND = lazy_pattern(
    rf"""[ \t]*(?:
      (?P<name>{NAME})
    | (?P<number>{NUMBER})
    | (?P<key>{NAME})[ \t]*=[ \t]*(?:(?P<word>{NAME})|(?P<value>{NUMBER}))
    | "(?P<text>[^"\\\n]*)"
    | (?P<local>[0-9]{{1,18}}[bf])
    | (?P<sum>{_SUM})
    | (?:(?P<offset>-?(?:{NUMBER}))|(?P<function>%[A-Za-z_][A-Za-z0-9_]*)\((?P<argument>{_SUM})\))
      (?:\((?P<inner>{NAME})\))?
    )[ \t]*(?P<more>,|\Z)""",
    re.VERBOSE,
)
_TOKEN = lazy_pattern(rf"{NAME}|{NUMBER}|[.+-]")


def _operand(text: str, match: re.Match[str]) -> Node:
    kind = next(name for name, value in match.groupdict().items() if value is not None)
    start, end = match.span(kind)
    match kind:
        case "name":
            return Name(start, end, match[kind])
        case "number":
            return Number(start, end, int(match[kind], 0))
        case "key":
            return _named_operand(match, Name(start, end, match[kind]))
        case "text":
            return Text(start - 1, end + 1, match[kind].encode("utf-8", "surrogatepass"))
        case "local":
            return LocalLabel(start, end, int(text[start : end - 1]), text[end - 1] == "f")
        case "sum":
            return _sum(text, start, end)
        case "offset":
            outer = _sum(text, start, end)
        case _:
            argument = _sum(text, *match.span("argument"))
            outer = Call(start, match.end("argument") + 1, match[kind], (argument,))
    if match["inner"] is None:
        return outer
    start, end = match.span("inner")
    return Inside(outer.start, end + 1, outer, Name(start, end, match["inner"]))


def _named_operand(match: re.Match[str], name: Name) -> Node:
    value: Node
    if match["word"] is not None:
        value = Name(*match.span("word"), match["word"])
    else:
        value = Number(*match.span("value"), int(match["value"], 0))
    return Named(name.start, value.end, name, value)


def _sum(text: str, start: int, end: int) -> Node:
    """Parse terms with + and - between them, and an optional - before the first."""
    node: Node | None = None
    operator, sign = "", start
    for token in _TOKEN.finditer(text, start, end):
        word = token[0]
        if word in "+-":
            operator, sign = word, token.start()
            continue
        term: Node
        if word == ".":
            term = Here(*token.span())
        elif word[0].isdigit():
            term = Number(*token.span(), int(word, 0))
        else:
            term = Name(*token.span(), word)
        if node is not None:
            node = Binary(node.start, term.end, operator, node, term)
        else:
            node = Unary(sign, term.end, operator, term) if operator else term
    assert node is not None
    return node


def split(text: str) -> Statement | None:
    """Return the statement of a logical line without comments; None if the grammar must decide."""
    labels: list[Name | Number] = []
    position = len(text) - len(text.lstrip(" \t"))
    while label := _LABEL.match(text, position):
        word = label[1]
        place = label.span(1)
        labels.append(Number(*place, int(word)) if word[0].isdigit() else Name(*place, word))
        position = label.end()
    if position == len(text):
        return Statement(0, labels[-1].end if labels else 0, tuple(labels), None, ())
    head = _HEAD.match(text, position)
    if head is None:
        return None
    name = Name(*head.span(1), head[1])
    operands: list[Node] = []
    position = head.end()
    while position < len(text) or (operands and text[-1] == ","):
        operand = _OPERAND.match(text, position)
        if operand is None:
            return None
        operands.append(_operand(text, operand))
        position = operand.end()
        if not operand["more"]:
            break
    start = labels[0].start if labels else name.start
    end = operands[-1].end if operands else name.end
    return Statement(start, end, tuple(labels), name, tuple(operands))
