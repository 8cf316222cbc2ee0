"""A file that is open in the editor: its text, its version and its path."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from macaw.asm.diagnostics import printable_name
from macaw.language_server.positions import Positions
from macaw.language_server.program_finder import includes
from macaw.language_server.uris import path_of, resolve

MOST_CHARACTERS = 1 << 22  # characters of a file; a longer file is not assembled


class OpenFile:
    """A version of a file that is open in the editor.

    `positions` has the text and converts positions in it. `name` is the name of the file in
    messages of the assembler.
    """

    def __init__(self, uri: str, version: int, positions: Positions) -> None:
        self.uri, self.version = uri, version
        self.positions, self.text = positions, positions.text
        self.is_too_long = len(self.text) > MOST_CHARACTERS
        path = path_of(uri)
        self.name = printable_name(path or uri)
        self.folder = Path(path).parent if path else None

    @property
    def source(self) -> str:
        """The text that the assembler reads; empty for a file that is too long."""
        return "" if self.is_too_long else self.text

    @cached_property
    def path(self) -> Path | None:
        """The real path of the file; None if it is not a file on a disk."""
        path = path_of(self.uri)
        return None if path is None else resolve(path)

    @cached_property
    def includes(self) -> tuple[str, ...]:
        """The names in the `.include` lines of the text."""
        return includes(self.text)
