"""Reads files with clear errors, and writes files by renaming a temporary file.

A write replaces an existing file in one step. If the write fails, the old file is unchanged.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from macaw.errors import InputError
from macaw.isa import reading
from macaw.phrases import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray


_NPY = b"\x93NUMPY"  # a .npy file begins with these bytes
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _error_text(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def read_bytes(path: str | os.PathLike[str], limit: int = reading.MOST_BYTES) -> bytes:
    """Return the contents of a file.

    Raises `InputError` if the file cannot be read or has more than `limit` bytes; the message has
    the file's name and the reason.
    """
    try:
        return reading.read(path, limit)
    except reading.UnreadableError as error:
        raise InputError(f"cannot read {path}: {error}") from None


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file for writing. When the block ends without an error, the file replaces `path`.

    If `path` is not a regular file (`/dev/stdout`, a pipe), the block writes to it directly. Raises
    `InputError` if the file cannot be written, or if `path` ends with `/` and so names a folder.
    """
    target = file_path(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                yield stream
            return
        target = _resolve(target)  # keep a symbolic link
        # `tempfile` would do the same, but its imports take as long as the rest of a short command.
        temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
        handle = os.open(temporary, _NEW_FILE, 0o600)
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
            temporary.chmod(_permissions(target))
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (BrokenPipeError, InputError):
        raise  # the reader of /dev/stdout closed it, or the block could not write another file
    except (OSError, ValueError) as error:
        reason = _error_text(error) if isinstance(error, OSError) else str(error)
        raise InputError(f"cannot write {path}: {reason}") from None


def file_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that will be written.

    Raises `InputError` if it ends with `/` and so names a folder; a `Path` does not show the slash.
    """
    if os.fspath(path).endswith(("/", os.sep)):
        raise InputError(f"cannot write {path}: {os.strerror(errno.EISDIR)}")
    return Path(path)


def _resolve(path: Path) -> Path:
    """Return the file to which a path leads. Raises `OSError` if links lead in a circle."""
    with contextlib.suppress(RuntimeError):  # a circle; since Python 3.13 the result is a link
        path = path.resolve()
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return path


def _permissions(target: Path) -> int:
    """Return the permissions of `target`; if it does not exist, those that a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def refuse_overwriting(
    outputs: Iterable[str | os.PathLike[str]],
    inputs: Iterable[str | os.PathLike[str]],
    hint: str = "-o names another",
) -> None:
    """Raise `InputError` with `hint` if an output is the same file as an input.

    Two different paths can be the same file, for example if one is a link.
    """
    inputs = list(inputs)
    for output in outputs:
        for path in inputs:
            if _is_same_file(output, path):
                raise InputError(f"{output} is an input: it is not overwritten", hint)


def with_suffix(path: str | os.PathLike[str], suffix: str) -> Path:
    """Return the path with another suffix. Raises `InputError` if it has no name, as `.`."""
    try:
        return Path(path).with_suffix(suffix)
    except ValueError:
        raise InputError(f"'{path}' is no name of a file") from None


def named_after(source: str | os.PathLike[str], suffix: str) -> Path:
    """Return the path of the output of a source: beside it, for a pipe in the current folder.

    Raises `InputError` if the source's path has no name.
    """
    return with_suffix(Path(source).name if reading.is_pipe(source) else source, suffix)


def refuse_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> None:
    """Raise `InputError` if the paths of two outputs are the same file.

    The file does not need to exist.
    """
    try:
        same = Path(one).resolve() == Path(other).resolve()
    except (OSError, RuntimeError, ValueError):
        same = False  # the write will report the error
    if same or _is_same_file(one, other):
        raise InputError(f"{one} and {other} are one file: it cannot hold both")


def _is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return whether two paths name the same existing regular file.

    For other kinds of files, such as a terminal or a pipe, the result is False, because a command
    may both read and write such a file.
    """
    try:
        return Path(one).is_file() and Path(one).samefile(other)
    except (OSError, ValueError):  # `other` does not exist, or is no valid name
        return False


def walk(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield (folder, names of its folders, names of its files) for `folder` and all folders below.

    The walk leaves out the folders that the caller removes from the list. It does not follow links
    to folders. Raises `InputError` for a folder that cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise InputError(f"cannot read {error.filename}: {_error_text(error)}")

    for path, folders, names in os.walk(folder, onerror=refuse):
        yield Path(path), folders, names


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder at `path`, and make it if it is missing. Raises `InputError` on failure."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {_error_text(error)}") from None
    return folder


@contextlib.contextmanager
def new_folders(folders: Iterable[Path]) -> Iterator[None]:
    """Make the folders that do not exist, and remove them again if the block raises an error.

    Raises `InputError` if a folder cannot be made.
    """
    made: list[Path] = []
    try:
        for folder in folders:
            missing = [path for path in folder.parents if not path.exists()]
            if not folder.is_dir():
                missing.insert(0, folder)
            for path in reversed(missing):
                try:
                    path.mkdir()
                except (OSError, ValueError) as error:
                    reason = _error_text(error) if isinstance(error, OSError) else str(error)
                    raise InputError(f"cannot make {path}: {reason}") from None
                made.append(path)
        yield
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the contents of a file. Raises `InputError` if the file cannot be written."""
    with replace_file(path) as stream:
        stream.write(data)


def text_bytes(text: str) -> bytes:
    """Return `text` in UTF-8. It may name a file; each byte of a name that is not UTF-8 gives `?`.

    Python has such bytes as surrogates.
    """
    return text.encode("utf-8", "replace")


def write_all(contents: Iterable[tuple[str | os.PathLike[str], bytes]]) -> None:
    """Replace each file (path, bytes) of `contents`; raise `InputError` if one cannot be written.

    After such an error no file is replaced.
    """
    with contextlib.ExitStack() as stack:
        for path, data in contents:
            stream = stack.enter_context(replace_file(path))
            stream.write(data)
            stream.close()  # an error comes here, before the first file is replaced


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array in a .npy file.

    A file with numbers in bfloat16, which the package ml_dtypes saves with the type `V2`, gives a
    float32 array. Raises `InputError` if the file cannot be read or has pickled objects.
    """
    import numpy as np

    data = read_bytes(path)
    if not data.startswith(_NPY):
        raise InputError(f"{path} is no .npy file", "write it with numpy.save")
    stream = io.BytesIO(data)
    try:
        array = np.load(stream, allow_pickle=False)
    except Exception as error:  # numpy raises many kinds on a damaged file
        raise InputError(f"{path} is no .npy file that can be read: {error}") from None
    more = len(data) - stream.tell()
    if more:  # as the assembler does for .npy
        raise InputError(
            f"{path} is no .npy file that can be read: {plural(more, 'byte')} after the array"
        )
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} holds no array")
    return _with_numbers(array)


def _with_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of bfloat16 elements as float32 numbers; return other arrays unchanged."""
    from macaw.emu.bfloat16 import BFLOAT16, is_stored_in, numbers

    return numbers(array.view(BFLOAT16)) if is_stored_in(array.dtype) else array


def read_archive(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays in a .npz file by name.

    Numbers in bfloat16, which the package ml_dtypes saves with the type `V2`, become float32.
    Raises `InputError` if the file cannot be read or has pickled objects, and if the arrays
    together have more bytes than `read_bytes` allows for a file.
    """
    import zipfile

    import numpy as np

    data = read_bytes(path)
    if data.startswith(_NPY):
        raise InputError(f"{path} holds one array, no archive", "write it with numpy.savez")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(item.file_size for item in archive.infolist())
        if size > reading.MOST_BYTES:
            raise InputError(f"{path} has {size:,} bytes, more than {reading.MOST_BYTES:,}")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {name: _with_numbers(arrays[name]) for name in arrays.files}
    except InputError:
        raise
    except Exception as error:  # numpy and zipfile raise many kinds on a damaged file
        raise InputError(
            f"{path} is no .npz file that can be read: {error}", "write it with numpy.savez"
        ) from None


def read_arrays(
    paths: Mapping[str, str | os.PathLike[str]],
) -> dict[str, NDArray[Any]]:
    """Return the arrays in the .npy files `paths`, by name. Raises the errors of `read_array`."""
    return {name: read_array(path) for name, path in paths.items()}


def write_array(path: str | os.PathLike[str], array: NDArray[Any]) -> None:
    """Write `array` as .npy. Raises `InputError` if the file cannot be written."""
    write_bytes(path, npy_bytes(array))


def npy_bytes(array: NDArray[Any]) -> bytes:
    """Return the bytes of a .npy file that contains `array`."""
    import numpy as np

    data = io.BytesIO()  # NumPy needs the position, which a pipe does not have
    np.save(data, array, allow_pickle=False)
    return data.getvalue()
