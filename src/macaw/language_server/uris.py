"""Converts `file:` URIs to paths."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def path_of(uri: str) -> str | None:
    """Return the path of a `file:` URI; None for any other URI."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or "\0" in path or not path.startswith("/"):
        return None
    return path


def resolve(name: str | Path) -> Path | None:
    """Return the real path of a file, for comparisons; None if it cannot be computed."""
    try:
        return Path(name).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
