"""Assembly in colours, on a terminal alone; nothing is loaded for a pipe or with NO_COLOR."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.text import Text

    from macaw.isa.pages import Page

_LINES = 200  # that are shown at once; rich lays out a text as a whole


def wanted(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours and nobody objects."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@cache
def _styles() -> dict[object, str]:
    from pygments.token import Comment, Number, String

    from macaw.asm.editors import lexer

    return {
        lexer.MNEMONIC: "bold",
        lexer.DIRECTIVE: "magenta",
        lexer.REGISTER: "cyan",
        lexer.WORD: "blue",
        lexer.LABEL: "yellow",
        lexer.FUNCTION: "magenta",
        Number: "green",
        String: "green",
        Comment: "dim",
    }


def source(text: str, core: str | None = None) -> Text:
    """A source, or an extract of a part of `core`, as rich shows it."""
    from rich.text import Text

    from macaw.asm.editors.lexer import MacawLexer

    styles, found = _styles(), Text()
    for _at, kind, word in MacawLexer(core=core).get_tokens_unprocessed(text):
        while kind not in styles and kind.parent is not None:
            kind = kind.parent
        found.append(word, styles.get(kind, ""))
    return found


def show_source(text: str) -> None:
    """Print a source on standard output, a terminal."""
    from macaw import console

    screen = console.stdout()
    for piece in _pieces(source(text)):
        screen.print(piece, soft_wrap=True, end="")


def _pieces(text: Text) -> Iterator[Text]:
    lines = text.split("\n", include_separator=True)
    for at in range(0, len(lines), _LINES):
        piece = text.blank_copy()
        for line in lines[at : at + _LINES]:
            piece.append_text(line)
        yield piece


def show_page(text: str, page: Page) -> None:
    """Print a page of the reference on standard output, a terminal; its example is a source."""
    from rich.text import Text

    from macaw import console
    from macaw.isa import registry

    shown = Text(text)
    shown.stylize("bold", 0, len(page.title))
    core = page.owner if page.owner in registry.names() else None
    place = text.rfind("  Example ")
    for line in page.entry("Example") if page.kind != "setting" else ():
        begin = text.find(line, place)
        if place < 0 or begin < 0:
            break  # a long line is folded
        for span in source(line, core).spans:
            shown.stylize(span.style, begin + span.start, begin + span.end)
        place = begin + len(line)
    console.stdout().print(shown, soft_wrap=True, end="")
