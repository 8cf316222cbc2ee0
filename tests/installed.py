"""Builds the wheel of this tree and unpacks it as an installation does."""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from pathlib import Path

from tests.mutants.copies import copy_tree

ROOT = Path(__file__).parents[1]
ROOMS = ("isa", "asm", "emu", "debugger")
READY = "packages"  # the name of the folder with the packages, once they are all there
MOST_SECONDS = 300
BUILT_FROM = (*ROOMS, "src", "pyproject.toml", "setup.py", "README.md", "LICENSE")


def wheel(tree: Path, folder: Path) -> Path:
    """Build the wheel of a tree in a folder; return its path."""
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(tree)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    (found,) = folder.glob("macaw_npu-*.whl")
    return found


def install(folder: Path) -> Path:
    """Build the wheel in a folder; return the folder with its packages."""
    copy_tree(ROOT, folder / "tree", BUILT_FROM)
    with zipfile.ZipFile(wheel(folder / "tree", folder)) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def install_once(folder: Path) -> Path:
    """Like `install`, but only the first process that asks for this folder builds the wheel.

    The others wait for it. Raises `TimeoutError` if it takes minutes, or if the build fails.
    """
    try:
        folder.mkdir()
    except FileExistsError:
        pass
    else:
        install(folder).rename(folder / READY)
    until = time.monotonic() + MOST_SECONDS
    while not (folder / READY).exists():
        if time.monotonic() > until:
            raise TimeoutError(f"another process did not build the wheel in {folder}")
        time.sleep(0.1)
    return folder / READY
