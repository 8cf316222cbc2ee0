"""Replaces the characters of a text that a screen cannot show."""

from __future__ import annotations

from macaw.terminal.substitutes import SUBSTITUTES


def printable_text(text: str, ascii_only: bool) -> str:
    """Return a text without control characters except line ends; with `ascii_only`, in ASCII."""
    text = "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)
    if ascii_only:
        text = "".join(SUBSTITUTES.get(sign, sign) for sign in text)
        text = text.encode("ascii", "backslashreplace").decode()
    return text
