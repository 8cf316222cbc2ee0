"""The kind of each word of a source, from the assembler: the witness of all syntax colouring.

Spans come from the assembler's parser, kinds from the row of the table that it chooses. The lists
of the lexer are not used. `samples` are the sources that assemble.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from macaw.asm.assembly_inputs import is_gnu_source
from macaw.asm.directives import DIRECTIVES
from macaw.asm.operands import without_brackets
from macaw.asm.parser import parse
from macaw.asm.source import SourceText, logical_lines
from macaw.asm.syntax import (
    Call,
    Group,
    Here,
    Indexed,
    Inside,
    LocalLabel,
    Mistake,
    Name,
    Named,
    Node,
    Number,
    Phrase,
    Real,
    Statement,
    Text,
    map_children,
)
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.isa import codec, config, registry
from macaw.isa import kinds as isa_kinds
from macaw.isa.kinds import Kind, Letters
from macaw.isa.model import Core
from macaw.isa.pe import ELEMENT_TYPES, FORMS, MODES, SEGMENT_TYPES

ROOT = Path(__file__).parents[2]
IN_FILES = (isa_kinds.Register, isa_kinds.Named)  # kinds whose words are registers
Kinds = dict[tuple[int, int], str]


def samples() -> list[Path]:
    """The sources of the corpus and of programs/."""
    return sorted([*(ROOT / "tests/asm/ok").glob("*.s"), *(ROOT / "programs").glob("*/*.s")])


def kinds(text: str) -> Kinds:
    """The kind of each word and number by its span."""
    found: Kinds = {}
    core: Core | None = registry.cores()[0] if is_gnu_source(text) else None
    for line in logical_lines(SourceText(text, "x.s"), lambda _offset: None):
        try:
            statement = parse(line.text)
        except Mistake:
            continue
        if statement.head and statement.head.text == ".core":
            (name,) = [x for x in statement.operands[:1] if isinstance(x, Name)]
            core = registry.core(name.text)
        for start, end, kind in _statement(statement, core):
            word = line.text[start:end]
            # Names in quotes look like strings, joined strings like several; `@function` is no name.
            if word[:1] in "@%" or (word[:1] == '"' and (kind != "string" or '" "' in word)):
                continue
            found[line.start + start, line.start + end] = kind
    return found


def _statement(statement: Statement, core: Core | None) -> Iterator[tuple[int, int, str]]:
    for label in statement.labels:
        yield label.start, label.end, "label"
    head = statement.head
    if head is None:
        return
    if head.text in ("=", "=="):
        first, *rest = statement.operands
        yield first.start, first.end, "symbol"
        for node in rest:
            yield from _plain(node)
        return
    if head.text == "<-":
        for node in statement.operands:
            yield from _moved(node)
        return
    rows = core.rows.get(head.text, ()) if core else ()
    own = {row.name for row in core.directives} if core else set()
    known = (
        "mnemonic"
        if rows
        else "directive"
        if head.text in DIRECTIVES or head.text in TEXT_DIRECTIVES or head.text in own
        else "macro"
    )
    yield head.start, head.end, known
    if rows:
        assert core is not None
        yield from _instruction(without_brackets(statement) if core.called else statement, rows)
    elif head.text in own:
        assert core is not None
        kinds = [m.kind for item in core.structures for m in item.members if m.kind]
        for node in statement.operands:
            yield from _named(node, kinds)
    elif known == "macro":  # nobody knows what it makes of a name
        for node in statement.operands:
            yield from (found for found in _plain(node) if found[2] != "symbol")
    else:
        yield from _directive(statement, head.text)


def _moved(node: Node) -> Iterator[tuple[int, int, str]]:
    """The words of a move: registers, perhaps with an index in brackets, and functions."""
    match node:
        case Name():
            yield node.start, node.end, "register"
        case Indexed():
            yield from _moved(node.base)
            for inner in _children(node):
                if inner is not node.base:
                    yield from _plain(inner)
        case Inside():
            yield node.outer.start, node.outer.end, "function"
            yield from _moved(node.inner)
        case _:
            for inner in _children(node):
                yield from _moved(inner)


def _instruction(statement: Statement, rows) -> Iterator[tuple[int, int, str]]:
    def pair(node: Node) -> tuple[str, str | None]:
        if isinstance(node, Inside):
            return outside(node.outer), outside(node.inner)
        if isinstance(node, Group) and isinstance(node.items[0], Name):
            return "0", node.items[0].text  # `(sp)`
        return outside(node), None

    def outside(node: Node) -> str:
        return node.text if isinstance(node, Name) else "?"

    written = [pair(x) for x in statement.operands if not isinstance(x, Named)]
    row, _fits = codec.select(rows, written)
    outer = [x for x in row.operands if not x.inside]
    inner = {x.inside: x for x in row.operands if x.inside}
    place = 0
    for node in statement.operands:
        if isinstance(node, Named):
            kind = next((x.kind for x in row.operands if x.name == node.name.text), None)
            yield from _named(node, [kind] if kind else None)
        elif isinstance(node, Inside):
            yield from _plain(node.outer)
            yield from _with(node.inner, inner[outer[place].name].kind)
            place += 1
        elif isinstance(node, Group) and place < len(outer) and outer[place].name in inner:
            yield from _with(node.items[0], inner[outer[place].name].kind)  # `(sp)`
            place += 1
        else:
            flags = [x.kind for x in outer if x.kind.optional]
            kind = next((k for k in flags if isinstance(node, Name) and k.parse(node.text)), None)
            yield from _with(node, kind or (outer[place].kind if place < len(outer) else Kind()))
            place += 1


def _with(node: Node, kind: Kind) -> Iterator[tuple[int, int, str]]:
    if (
        isinstance(node, Name)
        and not isinstance(kind, Letters)
        and kind.parse(node.text) is not None
    ):
        register = isinstance(kind, IN_FILES)
        yield node.start, node.end, "register" if register else "word"
    elif isinstance(node, Name) and isinstance(kind, Letters):
        return  # letters of fence look like any name
    else:
        yield from _plain(node)


def _named(node: Node, kinds: list[Kind] | None) -> Iterator[tuple[int, int, str]]:
    """The words of `name=value`; without `kinds`, it is an operand of a packet."""
    if not isinstance(node, Named):
        yield from _plain(node)
        return
    yield node.name.start, node.name.end, "named"
    words = {*MODES, *SEGMENT_TYPES, *FORMS, "all", *(x.name for x in ELEMENT_TYPES)}
    for inner in _leaves(node.value):
        if isinstance(inner, Named):
            yield from _named(inner, kinds)
        elif isinstance(inner, Name):
            known = (
                inner.text in words
                if kinds is None
                else any(k.parse(inner.text) is not None for k in kinds)
            )
            if any(isinstance(k, Letters) for k in kinds or ()):
                continue  # letters of fence look like any name
            register = any(isinstance(k, IN_FILES) for k in kinds or ())
            yield (
                inner.start,
                inner.end,
                ("register" if register else "word") if known else "symbol",
            )
        else:
            yield from _plain(inner)


def _directive(statement: Statement, head: str) -> Iterator[tuple[int, int, str]]:
    places = {".core": 0, ".device": 0, ".array": 0}
    places |= dict.fromkeys((".input", ".output", ".type", ".view"), 1)
    word = places.get(head)
    for place, node in enumerate(statement.operands):
        if place == word and isinstance(node, Name):
            known = head != ".device" or node.text in config.presets()
            yield node.start, node.end, "word" if known else "symbol"
        elif isinstance(node, Named):
            yield node.name.start, node.name.end, "named"
            yield from _plain(node.value)
        else:
            yield from _plain(node)


def _leaves(node: Node) -> Iterator[Node]:
    """The nodes inside a value that are no group, phrase or indexed node."""
    if isinstance(node, Group | Phrase | Indexed):
        for inner in _children(node):
            yield from _leaves(inner)
    else:
        yield node


def _children(node: Node) -> list[Node]:
    found: list[Node] = []

    def take(inner: Node) -> Node:
        found.append(inner)
        return inner

    map_children(node, take)
    return found


def _plain(node: Node) -> Iterator[tuple[int, int, str]]:
    """The words of an expression, in which every name is a symbol."""
    match node:
        case Name():
            yield node.start, node.end, "symbol"
        case Number() | Real():
            yield node.start, node.end, "number"
        case Text():
            yield node.start, node.end, "string"
        case LocalLabel():
            yield node.start, node.end, "label"
        case Here():
            return
        case Call():
            yield node.start, node.start + len(node.function), "function"
            for inner in node.arguments:
                yield from _plain(inner)
        case Named():
            yield node.name.start, node.name.end, "named"
            yield from _plain(node.value)
        case _:
            for inner in _children(node):
                yield from _plain(inner)
