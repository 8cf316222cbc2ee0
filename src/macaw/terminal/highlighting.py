"""Colours assembly source for a terminal. It imports the lexer only if colours are shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from macaw.terminal.plain import is_plain

if TYPE_CHECKING:
    from rich.text import Text


def shows_colours(stream: TextIO) -> bool:
    """Return whether a stream shows colours: a terminal, if NO_COLOR and --plain are not set."""
    if is_plain() or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def highlight(text: str, core: str | None = None) -> Text:
    """Return an assembly source in colours.

    With `core`, `text` is not a whole source but lines of that core's part.
    """
    from rich.text import Text

    from macaw.asm.editors.colours import coloured_words

    return Text.assemble(*coloured_words(text, core))
