"""The debugger's front door: its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from debugger.commands.table import CommandError
from macaw import files
from macaw.errors import InputError
from macaw.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_Value = TypeVar("_Value")
MOST_TEXT = 1 << 20  # bytes of a script


class DebuggerFiles:
    """Files as commands want them (`debugger.commands.files.Files`)."""

    def read_array(self, path: str) -> NDArray[Any]:
        """The array of a .npy file. Raises `CommandError`."""
        return _told(lambda: files.read_array(path))

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Write an array as .npy, whole or not at all. Raises `CommandError`."""
        _told(lambda: files.write_array(path, array))

    def read_text(self, path: str) -> str:
        """A text file, in UTF-8. Raises `CommandError`."""
        data = _told(lambda: files.read_bytes(path))
        if len(data) > MOST_TEXT:
            size = plural(MOST_TEXT >> 20, "MiB")
            raise CommandError(f"{path} is larger than {size}")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is no UTF-8 text: byte {error.start}") from None

    def write_text(self, path: str, text: str) -> None:
        """Write a text, whole or not at all. Raises `CommandError`."""
        _told(lambda: files.write_bytes(path, text.encode()))


def _told(act: Callable[[], _Value]) -> _Value:
    try:
        return act()
    except InputError as error:
        raise CommandError(str(error), error.hint or "") from None
