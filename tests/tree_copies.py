"""Copies of the repository that a test may change, and how a new process imports them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON_PATH = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
"""PYTHONPATH of a new process that imports Macaw from this tree, not an installed package."""


def copy_paths(source: Path, target: Path, names: Iterable[str]) -> None:
    """Copy files and whole folders under the same names; links stay links, times are kept."""
    for name in names:
        place = target / name
        if (source / name).is_dir() and not (source / name).is_symlink():
            shutil.copytree(source / name, place, symlinks=True, dirs_exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, place, follow_symlinks=False)
