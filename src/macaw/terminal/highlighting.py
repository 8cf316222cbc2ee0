"""Colours assembly source for a terminal. The lexer is loaded only if colours are shown."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.text import Text


def shows_colours(stream: TextIO) -> bool:
    """Return whether a stream is a terminal with colours and NO_COLOR is not set."""
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


def highlight(text: str, core: str | None = None) -> Text:
    """Return a source in colours. With `core`, the text is lines from a part of that core."""
    from rich.text import Text

    from macaw.asm.editors.lexer import MacawLexer

    styles, coloured = _styles(), Text()
    for _at, kind, word in MacawLexer(core=core).get_tokens_unprocessed(text):
        while kind not in styles and kind.parent is not None:
            kind = kind.parent
        coloured.append(word, styles.get(kind, ""))
    return coloured
