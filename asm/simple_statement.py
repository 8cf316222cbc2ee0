"""Splits statements of words, plain numbers, strings and lists of these without the grammar.

If the meaning of a text is not certain, the result is None, and the caller uses the grammar. A
statement from this module equals the statement from the grammar (`tests/asm/test_plain.py` checks
this).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from macaw.asm.syntax import (
    Binary,
    Call,
    Group,
    Here,
    Indexed,
    Inside,
    LocalLabel,
    Name,
    Named,
    Node,
    Number,
    Phrase,
    Slice,
    Statement,
    Text,
    Unary,
)
from macaw.isa.lazy_pattern import lazy_pattern

# As in the grammar, but without texts that may be numbers.
NAME = r"(?:[A-Za-z_$]|\.[A-Za-z_.$])[A-Za-z0-9_.$]*"
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
_MOST_BRACKETS = 50  # of a line with lists, which recursive functions parse
_TOKEN = lazy_pattern(rf"{NAME}|{NUMBER}|[.+-]")
_SUBSCRIPT = rf"(?:{_SUM}(?:[ \t]*:[ \t]*(?:{_SUM})?)?|:[ \t]*(?:{_SUM})?)"
# The parts of operands that `_OPERAND` does not match: lists, phrases and subscripts.
_KEY = lazy_pattern(rf"[ \t]*({NAME})[ \t]*=(?!=)")
_ALONE = lazy_pattern(rf"[ \t]*({_SUM})[ \t]*(?=[,)]|\Z)")
_WORD = lazy_pattern(
    rf"""[ \t]*(?:(?P<name>{NAME})|"(?P<text>[^"\\\n]*)"(?=[ \t]*\[))
    (?:[ \t]*\[[ \t]*(?P<subscripts>{_SUBSCRIPT}(?:[ \t]*,[ \t]*{_SUBSCRIPT})*)[ \t]*\])?[ \t]*""",
    re.VERBOSE,
)
_OPENING = lazy_pattern(r"[ \t]*\(")
_END = lazy_pattern(r"[ \t]*(,|\)|\Z)[ \t]*")
_SUBSCRIPTS = lazy_pattern(rf"({_SUM})?[ \t]*(:)?[ \t]*({_SUM})?[ \t]*(?:,|\Z)[ \t]*")


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
    """Return the node of a sum: terms with + and - between them, perhaps - before the first.

    The sum is `text[start:end]`.
    """
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


def _item(text: str, position: int, may_be_named: bool) -> tuple[Node, int] | None:
    """Parse an operand, or an item of a list. Return its node and the position after it.

    The result is None if the grammar must decide. An item may have the form `name=value`, unless
    `may_be_named` is false: the value after `=` must not have this form itself.
    """
    key = _KEY.match(text, position) if may_be_named else None
    if key is not None:
        found = _item(text, key.end(), may_be_named=False)
        if found is None:
            return None
        value, end = found
        return Named(key.start(1), value.end, Name(*key.span(1), key[1]), value), end
    alone = _ALONE.match(text, position)
    if alone is not None:
        return _sum(text, *alone.span(1)), alone.end()
    opening = _OPENING.match(text, position)
    return _words(text, position) if opening is None else _list(text, opening.end())


def _list(text: str, position: int) -> tuple[Node, int] | None:
    """Parse the rest of a list after its opening bracket. Return (node, position after it).

    Return None if the grammar must decide.
    """
    start, items = position - 1, []
    while (found := _item(text, position, may_be_named=True)) is not None:
        items.append(found[0])
        end = _END.match(text, found[1])
        if end is None or not end[1]:
            return None
        position = end.end()
        if end[1] == ")":
            return Group(start, end.end(1), tuple(items)), position
    return None


def _words(text: str, position: int) -> tuple[Node, int] | None:
    """Parse words, which may have subscripts. Return their node and the position after them.

    The node of several words is a `Phrase`. Return None if the grammar must decide.
    """
    words: list[Node] = []
    while (match := _WORD.match(text, position)) is not None:
        base: Name | Text
        if match["name"] is not None:
            base = Name(*match.span("name"), match["name"])
        elif words:
            return None  # a phrase has no strings
        else:
            start, end = match.span("text")
            base = Text(start - 1, end + 1, match["text"].encode("utf-8", "surrogatepass"))
        position = match.end()
        if match["subscripts"] is None:
            words.append(base)
            continue
        start, end = match.span("subscripts")
        subscripts = tuple(_subscripts(text, start, end))
        words.append(Indexed(base.start, text.index("]", end) + 1, base, subscripts))
        if isinstance(base, Text):
            break
    if not words:
        return None
    phrase = Phrase(words[0].start, words[-1].end, tuple(words))
    return (phrase if len(words) > 1 else words[0]), position


def _subscripts(text: str, start: int, end: int) -> Iterator[Node]:
    while start < end:
        match = _SUBSCRIPTS.match(text, start, end)
        assert match is not None
        low, high = (_sum(text, *match.span(group)) if match[group] else None for group in (1, 3))
        if match[2]:
            first, last = low.start if low else match.start(2), high.end if high else match.end(2)
            yield Slice(first, last, low, high)
        else:
            assert low is not None
            yield low
        start = match.end()


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
    position, more = head.end(), None
    while position < len(text) or more:
        operand = _OPERAND.match(text, position)
        if operand is not None:
            operands.append(_operand(text, operand))
            position, more = operand.end(), operand["more"]
        else:
            few = text.count("(") <= _MOST_BRACKETS
            item = _item(text, position, may_be_named=True) if few else None
            after = None if item is None else _END.match(text, item[1])
            if item is None or after is None or after[1] == ")":
                return None
            operands.append(item[0])
            position, more = after.end(), after[1]
        if not more:
            break
    start = labels[0].start if labels else name.start
    end = operands[-1].end if operands else name.end
    return Statement(start, end, tuple(labels), name, tuple(operands))
