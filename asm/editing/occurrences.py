r"""Finds all occurrences of a name in a program: symbols, macros, parameters, labels, registers.

The module searches the whole text, also macro bodies and text that a conditional skips. A word
directly before or after a `\parameter` is a part of a longer name, so it is not an occurrence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from macaw.asm.directives import DIRECTIVES
from macaw.asm.editing import blocks
from macaw.asm.editing.file_view import FileView
from macaw.asm.editing.program import ProgramFile
from macaw.asm.editing.source_tokens import (
    ARGUMENT,
    INSTRUCTION,
    LABEL,
    MACRO,
    MARK,
    NAMED,
    OPERATOR,
    REGISTER,
    STRING_TEXT,
    SYMBOL,
    SourceTokens,
    Token,
    TokenLine,
    head_of,
    quoted_name,
)
from macaw.asm.editors import words
from macaw.asm.symbols import Definition
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.isa import registry
from macaw.isa.typed_records import NamedTuple

# Kinds of occurrences. A keyword is the parameter in `name=value` of a macro call.
SYMBOLS, MACROS, PARAMETERS, KEYWORDS = "symbol", "macro", "parameter", "keyword"
LOCALS, REGISTERS = "local", "register"
_VALUES = (".irp", ".irpc")  # their first operand is a parameter
_PURGE = ".purgem"
_TYPE = ".type"  # its second operand may be a string that is no name
_WITHOUT_SYMBOLS = (".core", ".device", ".section", ".pushsection", ".setting", ".option")
_CACHED_LINES = 1 << 14


class Occurrence(NamedTuple):
    """A name that occurs from offset `start` up to `end`.

    `kind` says what it names, for example "symbol" or "macro". `defines` is true if the source
    defines the name here. `head` is the first word of the statement.
    """

    kind: str
    name: str
    start: int
    end: int
    defines: bool
    head: str


def of_file(file: ProgramFile) -> Iterator[Occurrence]:
    """Yield all occurrences of names in a file, with offsets in the file's text."""
    for line in file.tokens.lines:
        yield from _moved(line)


def of_name(file: ProgramFile, name: str) -> Iterator[Occurrence]:
    """Yield the occurrences of `name` in a file. Upper and lower case count as equal."""
    folded = name.lower()
    for line in file.tokens.lines:
        if folded in line.text.lower():
            yield from (item for item in _moved(line) if item.name.lower() == folded)


def _moved(line: TokenLine) -> Iterator[Occurrence]:
    for item in in_line(line):
        yield item._replace(start=item.start + line.start, end=item.end + line.start)


def at(view: FileView, offset: int) -> Occurrence | None:
    """Return the occurrence at an offset; None if there is none."""
    line = view.file.tokens.line_at(offset)
    found = [item for item in _moved(line) if item.start <= offset <= item.end]
    return found[-1] if found else None


@cache
def defining() -> frozenset[str]:
    """Return the directives whose first operand is a symbol that they define."""
    common = [*DIRECTIVES.values(), *TEXT_DIRECTIVES.values()]
    own = [row for core in registry.cores() for row in core.directives]
    first_is_name = [row.name for row in own if row.syntax.split(",")[0] == f"{row.name} NAME"]
    return frozenset([*(row.name for row in common if row.defines), *first_is_name])


@cache
def _with_names() -> frozenset[str]:
    """Return the directives in which a string is the name of a symbol, not a text or a file."""
    rows = [*DIRECTIVES.values(), *TEXT_DIRECTIVES.values()]
    texts = (*_WITHOUT_SYMBOLS, *_VALUES, ".macro", _PURGE)
    return frozenset(
        row.name
        for row in rows
        if not ({'"', "text"} & set(re.findall(r'"|\w+', row.syntax)))
        and row.syntax != f"{row.name} ..."
        and row.name not in texts
    )


@cache
def _name() -> re.Pattern[str]:
    return re.compile(words.terminal("NAME"))


def in_line(line: TokenLine) -> tuple[Occurrence, ...]:
    """Return the occurrences in a line, with offsets in the line."""
    return _in_text(line.text, line.core)


@lru_cache(maxsize=_CACHED_LINES)
def _in_text(text: str, core: str) -> tuple[Occurrence, ...]:
    """Return the occurrences in a line of a part of `core`, with offsets in the line."""
    lines = SourceTokens(text, core).lines
    return tuple(
        item
        for line in lines
        for statement in line.statements()
        for item in _in_statement(statement)
    )


def _in_statement(statement: Sequence[Token]) -> Iterator[Occurrence]:
    head = head_of(statement)
    first = True  # the next symbol is the first operand
    for place, token in enumerate(statement):
        before = statement[place - 1] if place else None
        after = statement[place + 1] if place + 1 < len(statement) else None
        if _is_piece(token, before, after):
            first = first and token.role in (LABEL, MACRO)
            continue
        if token.role == SYMBOL:
            yield from _symbol(token, first, before)
            first = False
        elif token.role == LABEL:
            defines = after is not None and after.text == ":"
            if token.text[0].isdigit():
                number = token.text.rstrip("bf")
                end = token.start + len(number)
                yield Occurrence(LOCALS, number, token.start, end, defines, token.head)
            elif token.text[0] == '"':
                yield from _quoted(token, defines)
            else:
                yield _occurrence(SYMBOLS, token, defines)
        elif token.role == MACRO:
            yield _occurrence(MACROS, token)
        elif token.role == REGISTER:
            yield _occurrence(REGISTERS, token)
        elif token.role == ARGUMENT:
            name = token.text[1:]
            if name[0].isalpha() or name[0] in "_.$":
                yield Occurrence(PARAMETERS, name, token.start + 1, token.end, False, token.head)
        elif token.role == NAMED and token.head == ".macro":
            yield _occurrence(PARAMETERS, token, True)
        elif token.role == NAMED and head is not None and head.role == MACRO:
            yield _occurrence(KEYWORDS, token)
        elif token.role == STRING_TEXT:
            is_code = token.head == ".macro" or (head is not None and head.role == MACRO)
            yield from _in_string(token, is_code)
            is_instruction = head is not None and head.role == INSTRUCTION
            if is_instruction or token.head == "=" or token.head in _with_names():
                defines = first and (token.head == "=" or token.head in defining())
                if first or token.head != _TYPE:
                    yield from _quoted(token, defines)
                first = False


def _quoted(token: Token, defines: bool) -> Iterator[Occurrence]:
    """Yield the occurrence of a symbol whose name the source writes in quotes."""
    name = quoted_name(token)
    if name:
        yield _occurrence(SYMBOLS, token, defines)._replace(name=name)


def _in_string(token: Token, is_code: bool) -> Iterator[Occurrence]:
    r"""Yield each `\parameter` in a string; if `is_code`, also yield each other name in the string.

    Arguments of macros and default values of their parameters are code.
    """
    for match in re.finditer(r"\\([A-Za-z_.$][\w.$]*)", token.text):
        start = token.start + match.start(1)
        yield Occurrence(PARAMETERS, match[1], start, start + len(match[1]), False, token.head)
    if is_code:
        for match in _name().finditer(token.text, 1):
            start, end = token.start + match.start(), token.start + match.end()
            if token.text[match.start() - 1] != "\\":
                yield Occurrence(SYMBOLS, match[0], start, end, False, token.head)


def _symbol(token: Token, first: bool, before: Token | None) -> Iterator[Occurrence]:
    """Yield an occurrence for a token that the lexer marks as a symbol; none if it names nothing.

    `first` is true for the statement's first operand. `before` is the token before it, or None.
    """
    head = token.head
    if token.text == "." or head in _WITHOUT_SYMBOLS:
        return
    if head == ".macro":
        if first:
            yield _occurrence(MACROS, token, True)
        elif before is not None and before.text == ":":
            return  # `req` or `vararg`
        elif before is not None and (before.role == OPERATOR or before.text == "("):
            yield _occurrence(SYMBOLS, token)  # in a default value
        else:
            yield _occurrence(PARAMETERS, token, True)
    elif head == _PURGE:
        yield _occurrence(MACROS, token)
    elif head in _VALUES and first:
        yield _occurrence(PARAMETERS, token, True)
    else:
        yield _occurrence(SYMBOLS, token, first and (head == "=" or head in defining()))


def _occurrence(kind: str, token: Token, defines: bool = False) -> Occurrence:
    return Occurrence(kind, token.text, token.start, token.end, defines, token.head)


def _is_piece(token: Token, before: Token | None, after: Token | None) -> bool:
    r"""Return whether a token is part of a longer name that a `\parameter` completes.

    `before` and `after` are the tokens before it and after it, or None.
    """
    if token.role in (ARGUMENT, MARK, STRING_TEXT, OPERATOR):
        return False
    joined_before = before is not None and before.role == ARGUMENT and before.end == token.start
    joined_after = after is not None and after.role == ARGUMENT and after.start == token.end
    return joined_before or joined_after


# --- the same thing everywhere ---


def same(view: FileView, target: Occurrence) -> list[tuple[ProgramFile, Occurrence]]:
    """Return all occurrences that mean the same thing as the occurrence `target`.

    Each result is a file of the program and an occurrence in this file.
    """
    if target.kind == REGISTERS:
        return [(view.file, item) for item in _same_register(view.file, target)]
    if target.kind == LOCALS:
        return [(view.file, item) for item in _same_local(view.file, target)]
    if target.kind in (PARAMETERS, KEYWORDS):
        return _same_parameter(view, target)
    is_macro = target.kind == MACROS
    files = _files_of_macro(view, target.name) if is_macro else _files_of_symbol(view, target.name)
    return [
        (file, item)
        for file in files
        for item in of_name(file, target.name)
        if item.kind == target.kind and (is_macro or item.name == target.name)
    ]


def _files_of_symbol(view: FileView, name: str) -> list[ProgramFile]:
    """Return the files in which `name` means the same symbol as in the file of `view`."""
    from_here = [scope.find(name) for scope in view.scopes]
    places = {_place(symbol) for symbol in from_here if symbol is not None}
    table = view.program.assembly.symbols.table
    scopes = set(view.file.scopes)
    for number in range(len(view.program.sources)):
        symbol = table.scopes[number].find(name)
        if symbol is not None and _place(symbol) in places:
            scopes.add(number)
    return list(view.program.files_of(scopes))


def _place(symbol: Definition) -> tuple[str, int, int]:
    return symbol.line.source.name, symbol.line.start, symbol.start


def _files_of_macro(view: FileView, name: str) -> list[ProgramFile]:
    """Return the files in which `name` can mean the same macro as in the file of `view`."""
    macro = view.program.macros.get(name.lower())
    scopes = set(view.file.scopes)
    home = view.program.files.get(macro.span.file) if macro is not None else None
    if home is not None and scopes.intersection(home.scopes):
        scopes.update(home.scopes)
    return list(view.program.files_of(scopes))


def _same_register(file: ProgramFile, target: Occurrence) -> Iterator[Occurrence]:
    """Yield the occurrences of the register `target` in the part that contains it."""
    starts = [x.start for x in blocks.blocks(file.tokens) if x.kind == blocks.PART]
    low = max((start for start in starts if start <= target.start), default=0)
    high = min((start for start in starts if start > target.start), default=len(file.text))
    for item in of_name(file, target.name):
        if item.kind == REGISTERS and low <= item.start < high and item.name == target.name:
            yield item


def _same_local(file: ProgramFile, target: Occurrence) -> Iterator[Occurrence]:
    """Yield the local label that `target` defines or uses, and all uses of this label."""
    items = [item for item in of_name(file, target.name) if item.kind == LOCALS]
    labels = [x for x in items if x.defines]

    def label_of(item: Occurrence) -> Occurrence | None:
        if item.defines:
            return item
        if file.text[item.end] == "f":
            return next((x for x in labels if x.start > item.start), None)
        return next((x for x in reversed(labels) if x.start < item.start), None)

    wanted = label_of(target)
    if wanted is None:
        yield target
        return
    yield from (item for item in items if label_of(item) == wanted)


def _same_parameter(view: FileView, target: Occurrence) -> list[tuple[ProgramFile, Occurrence]]:
    """Return the occurrences of the parameter `target` of a macro or repetition.

    These are in the macro or repetition itself, and in calls of the macro with `name=`.
    """
    file, start, name, defines = view.file, target.start, target.name, target.defines
    if target.kind == KEYWORDS:
        macro = view.macro(target.head)
        home = view.program.files.get(macro.span.file) if macro is not None else None
        if macro is None or home is None:
            return [(view.file, target)]
        file, start, defines = home, macro.line.start, True
    kinds = (blocks.MACRO, blocks.REPETITION)
    bodies = [x for x in blocks.blocks(file.tokens) if x.kind in kinds and name in parameters(x)]
    block = _owner(bodies, start, defines)
    if block is None:
        return [(view.file, target)]
    result = [
        (file, item)
        for item in of_name(file, name)
        if item.kind == PARAMETERS
        and item.name == name
        and _owner(bodies, item.start, item.defines) == block
    ]
    called = [token.text for token in block.statement if token.role == SYMBOL][:1]
    if block.kind == blocks.MACRO and called:
        result += [
            (other, item)
            for other in _files_of_macro(view, called[0])
            for item in of_name(other, name)
            if item.kind == KEYWORDS and item.head.lower() == called[0].lower()
        ]
    return result


def _owner(bodies: Sequence[blocks.Block], offset: int, defines: bool) -> blocks.Block | None:
    """Return the macro or repetition to whose parameter an occurrence at an offset refers, or None.

    `bodies` are all macros and repetitions that have a parameter with the name. If several of
    these contain the offset, a use belongs to the outermost one, because that one replaces the name
    first. A definition (`defines`) belongs to the innermost one.
    """
    around = [x for x in bodies if x.start <= offset <= x.end]
    return next(iter(reversed(around) if defines else around), None)


def parameters(block: blocks.Block) -> list[str]:
    """Return the names of the parameters of a macro or repetition."""
    items = _in_statement(block.statement)
    return [item.name for item in items if item.kind == PARAMETERS and item.defines]
