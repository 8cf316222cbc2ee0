"""The interface through which commands read and write files.

The caller of `Interpreter` implements it.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray


class Files(Protocol):
    """The interface to files. Each method raises `CommandError` if it fails."""

    def read_array(self, path: str) -> NDArray[Any]:
        """Return the array of a .npy file."""

    def read_arrays(self, path: str) -> dict[str, NDArray[Any]]:
        """Return the arrays of a .npz file by name."""

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Write an array to a .npy file. If that fails, leave no incomplete file."""

    def read_text(self, path: str) -> str:
        """Return the content of a text file in UTF-8."""

    def exists(self, path: str) -> bool:
        """Return whether a file or folder of this name exists."""

    def write_text(self, path: str, text: str) -> None:
        """Write a text to a file. If that fails, leave no incomplete file."""
