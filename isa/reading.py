"""Reads files that a user names, with a limit on their size. All of Macaw uses it.

The module accepts only regular files, because other files may be endless, or may wait for a writer
for ever. The exception is a pipe that the shell has opened for the command: `/dev/stdin`, or
`/dev/fd/63` of a process substitution.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 1 << 32  # bytes of any file: the 32-bit address space of a device
MOST_TEXT = 1 << 20  # bytes of a description or a script
MOST_SOURCE = 1 << 28  # bytes of a source
_PIECE = 1 << 24  # bytes that are read at once; one piece need not be copied
_OPEN_PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


class UnreadableError(Exception):
    """The error for a file that cannot be read; the message is the reason."""


def read(path: str | os.PathLike[str], limit: int = MOST_BYTES) -> bytes:
    """Return the bytes of the file `path`.

    Raises `UnreadableError` if the file cannot be read or has more than `limit` bytes.
    """
    try:
        _check(Path(path).stat(), os.fspath(path), limit)
        with Path(path).open("rb") as stream:
            _check(os.fstat(stream.fileno()), os.fspath(path), limit)
            pieces, rest = [], limit
            while rest >= 0 and (piece := stream.read(min(_PIECE, rest + 1))):
                pieces.append(piece)
                rest -= len(piece)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error) or type(error).__name__) from None
    except ValueError as error:  # the text cannot be the name of a file
        raise UnreadableError(str(error)) from None
    if rest < 0:
        raise UnreadableError(f"it is longer than {limit} bytes")
    return b"".join(pieces)


def decode(data: bytes) -> str:
    """Return the text of a file without its byte order mark. Raises `UnicodeDecodeError`.

    The codec `utf-8-sig` does not count the mark in the place of a wrong byte.
    """
    return data.decode().removeprefix("\ufeff")


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Return whether the path is a pipe that `read` accepts. A pipe can be read only once."""
    try:
        return _is_open_pipe(Path(path).stat(), os.fspath(path))
    except (OSError, ValueError):
        return False


def _is_open_pipe(status: os.stat_result, path: str) -> bool:
    return stat.S_ISFIFO(status.st_mode) and path.startswith(_OPEN_PIPES)


def _check(status: os.stat_result, path: str, limit: int) -> None:
    """Raise `UnreadableError` unless the file is a regular file or a pipe that the shell opened.

    `status` is the file's status, `path` its name, and `limit` the greatest size in bytes.
    """
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise UnreadableError("Is a directory")
    if stat.S_ISREG(mode):
        if status.st_size > limit:
            raise UnreadableError(f"it is longer than {limit} bytes")
    elif not _is_open_pipe(status, path):
        raise UnreadableError("it is a device, a pipe or a socket, no plain file")
