"""Finds and reads the files that a source names.

The module reads only files below the source's folder and below the `-I` folders.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from macaw.isa import reading
from macaw.isa.errors import MacawError


class FileError(MacawError, ValueError):
    """The error for a file that cannot be read; the message gives the reason."""


def find(name: str, folders: Iterable[Path]) -> Path:
    """Return the path of the regular file `name` in the first of the folders that contains it.

    Raises `FileError` if no folder contains the file, or if `..` or a symbolic link in the path
    leads out of all folders.
    """
    return find_named(name, folders)[0]


def find_named(name: str, folders: Iterable[Path]) -> tuple[Path, str]:
    """Return the path of the file `name`, as `find` does, and the file's name for messages.

    The name for messages begins with the folder as it is in `folders`.
    """
    if not name or "\0" in name:
        raise FileError("the name of a file is empty or holds a zero byte")
    if Path(name).is_absolute():
        raise FileError(f"'{name}' is absolute; files are named from the source's folder on")
    folders = list(folders)
    roots = [folder.resolve() for folder in folders]
    if not roots:
        raise FileError(f"'{name}' cannot be read: a text without a folder reads no files")
    outside = is_folder = False
    for folder, root in zip(folders, roots, strict=True):
        with suppress(OSError, RuntimeError, ValueError):
            path = (root / name).resolve()
            if not path.is_file():
                is_folder |= path.is_dir() and any(map(path.is_relative_to, roots))
            elif any(path.is_relative_to(other) for other in roots):
                return path, str(folder / name)
            else:
                outside = True
    if outside:
        raise FileError(f"'{name}' leads out of the source's folder and the -I folders")
    if is_folder:
        raise FileError(f"'{name}' is a folder")
    raise FileError(f"there is no file '{name}' below the source's folder or a -I folder")


def read(path: Path, limit: int) -> bytes:
    """Return the bytes of a file. Raises `FileError` if it has more than `limit` bytes."""
    try:
        return reading.read(path, limit)
    except reading.UnreadableError as error:
        raise FileError(f"'{path.name}' cannot be read: {error}") from None
