"""Prints the report of a profile for a test."""

from __future__ import annotations

import io

from rich.console import Console

from macaw.profiling.model import Profile
from macaw.profiling.terminal_report import print_report


def printed(profile: Profile, width: int, limit: int | None = None) -> str:
    """Return the report of a profile as text, without layers, in lines of `width` characters."""
    data = io.StringIO()
    screen = Console(width=width, file=data, highlight=False)
    print_report(profile, screen, layers=False, limit=limit, plain=False)
    return data.getvalue()
