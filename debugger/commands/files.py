"""The files that commands read and write; whoever makes an `Interpreter` says how."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray


class Files(Protocol):
    """Reads and writes files. Each call raises `CommandError` for what cannot be."""

    def read_array(self, path: str) -> NDArray[Any]:
        """The array of a .npy file."""

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Write an array as .npy, whole or not at all."""

    def read_text(self, path: str) -> str:
        """A text file, in UTF-8."""

    def exists(self, path: str) -> bool:
        """Whether something is called so."""

    def write_text(self, path: str, text: str) -> None:
        """Write a text, whole or not at all."""
