"""The history of typed lines, stored in a file for the next session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from prompt_toolkit.history import FileHistory


class LineHistory(FileHistory):
    """The history of typed lines, in a file.

    If the file cannot be read or written, the history contains only the lines of this session.
    """

    def load_history_strings(self) -> Iterable[str]:
        """Return the lines of the file, the newest first."""
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        """Add a line to the file."""
        with contextlib.suppress(OSError):
            super().store_string(string)
