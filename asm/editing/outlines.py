"""Makes the outline of a source: its symbols and macros, by the part that defines them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from macaw.asm import explanations
from macaw.asm.diagnostics import Span
from macaw.asm.editing.file_view import FileView, by_line
from macaw.asm.editing.source_tokens import WORD, head_of
from macaw.asm.editors import words


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the outline. `kind` is one of part, code, data, tensor, constant and macro.

    `detail` is a symbol's value as text, or the syntax of a macro's call; it is empty for a part.
    `children` are the entries below a part.
    """

    name: str
    kind: str
    detail: str
    span: Span
    children: tuple[Entry, ...] = ()


def outline(view: FileView) -> list[Entry]:
    """Return the outline of a source: its symbols and macros, grouped by `.core` part."""
    parts = list(_parts(view))
    groups: list[list[Entry]] = [[] for _ in range(len(parts) + 1)]
    for entry in sorted(own_entries(view), key=lambda entry: by_line(entry.span)):
        groups[sum(span.line <= entry.span.line for _name, span in parts)].append(entry)
    entries = groups[0]
    for (name, span), children in zip(parts, groups[1:], strict=True):
        entries.append(Entry(f".core {name}", "part", "", span, tuple(children)))
    return entries


def _parts(view: FileView) -> Iterator[tuple[str, Span]]:
    """Yield (name of the core, span of the name) for each `.core` line."""
    for line in view.file.tokens.lines:
        if words.CORE not in line.text:
            continue
        for statement in line.statements():
            head = head_of(statement)
            names = [token for token in statement if token.role == WORD]
            if head is not None and head.text == words.CORE and names:
                yield names[0].text, view.token_span(line, names[0])


def own_entries(view: FileView) -> Iterator[Entry]:
    """Yield the symbols and macros that the text itself defines.

    Definitions in included files and in expansions of macros are left out.
    """
    names, layout = view.program.assembly.symbols, view.program.assembly.layout
    text = view.file.text
    for symbol in view.scopes[0].symbols.values():
        source = symbol.line.source
        if explanations.is_written(symbol) and source.text == text:
            kind = explanations.kind(symbol, names, layout)
            value = explanations.value(symbol, names)
            yield Entry(symbol.name, kind, value, explanations.place(symbol))
    for macro in view.program.assembly.macros:
        if macro.line.source.text == text:
            yield Entry(macro.name, "macro", macro.syntax, explanations.macro_place(macro))
