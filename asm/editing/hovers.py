"""Explains the word at a position of a source, and finds the definition of the word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from macaw.asm import explanations
from macaw.asm.diagnostics import Span
from macaw.asm.editing import cursor, occurrences, signatures
from macaw.asm.editing.completion import directives
from macaw.asm.editing.file_view import FileView, label_number
from macaw.asm.editing.source_tokens import (
    COMMENT_TEXT,
    HEADS,
    STRING_TEXT,
    Token,
    TokenLine,
    quoted_name,
)
from macaw.asm.expressions import ROWS as FUNCTION_ROWS
from macaw.isa import manual
from macaw.isa.model import Core

_EQUALS = re.compile(r"\s*=(?!=)")


@dataclass(frozen=True, slots=True)
class Hover:
    """An explanation, in Markdown, of the word at `span`."""

    text: str
    span: Span


def hover(view: FileView, line: int, column: int) -> Hover | None:
    """Return an explanation of the word at a position; None if no word with a meaning is there."""
    place = view.token_at(line, column)
    if place is None or place[1].role == COMMENT_TEXT:
        return None
    token_line, token = place
    core = view.core_at(token_line.start)
    explained = _explain_head(view, token.text, core) if token.role in HEADS else None
    if explained is None and core is not None and token.head:
        rows = core.rows.get(token.head, ())
        is_named = _EQUALS.match(token_line.text, token.end) is not None
        place_after = cursor.at(view.file.tokens, token_line.start + token.end)
        here = signatures.active_operands(core, rows, place_after)
        explained = explanations.operand_text(token.text, rows, is_named, here)
    if explained is None:
        explained = _explain_symbol(view, _symbol_at(view, *place))
    if explained is None:
        explained = _explain_function(token.text)
    return None if explained is None else Hover(explained, view.token_span(*place))


def _explain_head(view: FileView, word: str, core: Core | None) -> str | None:
    macro = view.macro(word)
    if macro is not None:
        where = view.where(explanations.macro_place(macro))
        return f"{explanations.macro_text(macro)}\nDefined in {where}."
    if core is not None and word in core.rows:
        return explanations.code(manual.page(core, word), "text")
    directive = directives(core).get(word)
    if directive is not None:
        return f"{explanations.code(directive.syntax)}\n{directive.meaning}"
    return None


def _explain_symbol(view: FileView, word: str) -> str | None:
    symbol = view.symbol(word)
    if symbol is None:
        return None
    value = explanations.value(symbol, view.program.assembly.symbols)
    explanation = explanations.code(f"{word}: {value}")
    if view.program.is_from_outside(symbol):
        return f"{explanation}\nDefined with -D."
    return f"{explanation}\nDefined in {view.where(explanations.place(symbol))}."


def _symbol_at(view: FileView, line: TokenLine, token: Token) -> str:
    """Return the name of the symbol that a token of a line can mean.

    A string is the name of a symbol if the statement needs a symbol there; else return an empty
    string.
    """
    if not quoted_name(token):
        return token.text
    found = occurrences.at(view, line.start + token.start)
    return found.name if found is not None and found.kind == occurrences.SYMBOLS else ""


def _explain_function(word: str) -> str | None:
    row = next((row for row in FUNCTION_ROWS if row.name == word), None)
    return None if row is None else f"{explanations.code(row.syntax)}\n{row.meaning}"


def definition(view: FileView, line: int, column: int) -> Span | None:
    """Return the span that defines the symbol, local label, macro or file at a position.

    Return None if the definition is unknown.
    """
    place = view.token_at(line, column)
    if place is None:
        return None
    token = place[1]
    if token.role == STRING_TEXT and not _symbol_at(view, *place):
        path = view.path(token.text.strip('"'))
        return None if path is None else Span(str(path), 1, 1, 1)
    if token.role == COMMENT_TEXT:
        return None
    local = label_number(token)
    if local is not None:
        return view.local_label(*local, view.token_span(*place))
    return _of_name(view, *place)


def _of_name(view: FileView, line: TokenLine, token: Token) -> Span | None:
    macro = view.macro(token.text) if token.role in HEADS else None
    if macro is not None:
        return explanations.macro_place(macro)
    symbol = view.symbol(_symbol_at(view, line, token))
    if symbol is None or view.program.is_from_outside(symbol):
        return None
    return explanations.place(symbol)
