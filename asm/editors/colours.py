"""Colours source text for terminals: returns its words with the style of their kind.

Listings and the debugger's code panel use this module. The styles are words that rich and other
libraries for terminals share: 16 colours, `bold` and `dim`.
"""

from __future__ import annotations

from pathlib import PurePath

from pygments.token import Comment, Number, String

from macaw.asm.editors import lexer

STYLES: dict[object, str] = {
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

_C_FILES = (".c", ".h", ".cc", ".cpp", ".hpp")


def is_assembly_file(name: str) -> bool:
    """Return whether a source is assembly: its name is not the name of a file of C or C++."""
    return PurePath(name).suffix not in _C_FILES


def coloured_words(text: str, core: str | None = None) -> list[tuple[str, str]]:
    """Return the words of a source with their styles; joined, the words are the text.

    With `core`, the text consists of lines from a part of that core.
    """
    words = []
    for _at, kind, word in lexer.MacawLexer(core=core).get_tokens_unprocessed(text):
        while kind not in STYLES and kind.parent is not None:
            kind = kind.parent
        words.append((word, STYLES.get(kind, "")))
    return words
