"""Makes phrases for messages: suggestions, plurals and shapes."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for a candidate x similar to `word`; empty if there is none."""
    near = get_close_matches(word, list(candidates), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else ""


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for a candidate x similar to `word`, or else all candidates.

    All candidates are listed as in `there are x, y, z`.
    """
    words = list(candidates)
    return did_you_mean(word, words) or f"there are {', '.join(words)}"


def one_line(text: str) -> str:
    """Return a text that has only printable characters, on one line.

    If `text` has other characters, the result has ASCII escapes.
    """
    return text if text.isprintable() else ascii(text)[1:-1]


def plural(count: int, word: str) -> str:
    """Return a number with the noun `word`, in the plural if needed: `1 cycle`, `12,345 cycles`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as text, such as `1 × 64`; `scalar` for a scalar."""
    return " × ".join(map(str, shape)) or "scalar"
