"""The sample programs, each in a folder here, which `macaw new` copies to a new folder."""

from __future__ import annotations

import os
from pathlib import Path

from macaw import files
from macaw.errors import InputError

# By the word of `--core`: what the program is.
SAMPLES = {
    "pe": "a sparse layer for the PE array",
    "vc": "a dot product for the SIMD core",
    "nnp": "a dense layer for the matrix-vector processor",
    "fim": "products inside of the memory of a function-in-memory island",
    "c": "C for the command processor, which starts a sparse layer",
}
# By the word of `--exercise`: what it is about. Its golden test fails until it is solved.
EXERCISES = {
    "sparsity": "leave out the weights that are zero",
    "dataflow": "keep weights where they are, and use both rows of the array",
    "block-floating-point": "get more precision from four bits",
    "in-memory": "divide the work among the banks of a memory",
    "tracing": "measure a loop by the registers of the trace block",
    "protection": "multiply weights that are stored in a secret order",
}
HOME = Path(__file__).parent
NAME = "@NAME@"  # in a README: the new folder's name
README = "README.md"


def create_exercise(folder: Path, exercise: str) -> list[Path]:
    """Copy the files of `exercise`, a key of `EXERCISES`, to `folder`; return their paths there.

    The paths are relative to the folder, which must be new or empty. Raises `InputError` if the
    folder has contents or cannot be written.
    """
    return create(folder, f"exercises/{exercise}")


def create(folder: Path, core: str) -> list[Path]:
    """Copy the sample of `core`, a key of `SAMPLES`, to `folder`; return the paths of the copies.

    The paths are relative to the folder.

    The folder must be new or empty. Missing parent folders are made. Raises `InputError` if the
    folder has contents or cannot be written.
    """
    try:
        exists = os.path.lexists(folder)
        is_empty = not exists or (folder.is_dir() and not any(folder.iterdir()))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot make {folder}: {error}") from None
    if not is_empty:
        what = "and is not empty" if folder.is_dir() else "and is no folder"
        raise InputError(f"{folder} exists, {what}", "choose another name")
    contents = _contents(HOME / core)
    name = files.text_bytes(folder.resolve().name)
    contents[Path(README)] = contents[Path(README)].replace(NAME.encode(), name)
    with files.new_folders([folder, *(folder / path.parent for path in contents)]):
        files.write_all([(folder / path, data) for path, data in contents.items()])
    return list(contents)


def _contents(home: Path) -> dict[Path, bytes]:
    """Return the bytes of each file in and below a folder, by path relative to the folder."""
    paths = (path for path in sorted(home.rglob("*")) if "__pycache__" not in path.parts)
    return {path.relative_to(home): path.read_bytes() for path in paths if path.is_file()}
