"""Lets standard output take any text: signs that its encoding does not have are replaced.

The terminal or pipe may have an encoding of 128 or 256 characters, as in the locale C and in older
consoles of Windows.
"""

from __future__ import annotations

import codecs
import io
import sys

SUBSTITUTES = {
    "×": "x", "≥": ">=", "≤": "<=", "–": "-", "…": "...", "Δ": "d", "→": "->", "µ": "u", "·": "*"
}  # fmt: skip
_HANDLER = "macaw.substitute"


def _substitute(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(SUBSTITUTES.get(sign, "?") for sign in text), error.end


def accept_all_text() -> None:
    """Make standard output replace characters that it cannot encode, without an error."""
    codecs.register_error(_HANDLER, _substitute)
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors=_HANDLER)
