"""The interface to files that commands use; the caller of `Interpreter` implements it."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray


class Files(Protocol):
    """Reads and writes files. Each call raises `CommandError` if it fails."""

    def read_array(self, path: str) -> NDArray[Any]:
        """The array of a .npy file."""

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Write an array as .npy; if that fails, no part of the file is left."""

    def read_text(self, path: str) -> str:
        """A text file, in UTF-8."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder of that name exists."""

    def write_text(self, path: str, text: str) -> None:
        """Write a text; if that fails, no part of the file is left."""
