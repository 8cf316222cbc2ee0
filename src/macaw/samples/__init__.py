"""The sample programs, each in a folder here, which `macaw new` copies to a new folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

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
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc")


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
    try:
        shutil.copytree(HOME / core, folder, ignore=_NOT_COPIED, dirs_exist_ok=True)
        readme = folder / README
        text = readme.read_text("utf-8").replace(NAME, folder.resolve().name)
        readme.write_text(text, "utf-8", newline="\n")
    except (OSError, shutil.Error, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot make {folder}: {reason}") from None
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
