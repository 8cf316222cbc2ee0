"""A copy of the repository in which a test makes the changes of a page."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.tree_copies import copy_paths

ROOT = Path(__file__).parents[2]
ROOMS = ("isa", "asm", "emu", "debugger", "src")


class Tree:
    """A copy of the packages and of other paths, which a test changes as a page says."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.folder = folder
        # Compiled files come along and stay good, as times are copied too.
        copy_paths(ROOT, folder, (*ROOMS, "docs", *more))

    def write(self, name: str, text: str) -> None:
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the tree; it imports the modules of the tree only."""
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(self.folder / "src"), str(self.folder))),
        }
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def macaw(self, *words: str) -> str:
        done = self.run("-m", "macaw", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, program: str) -> str:
        done = self.run("-c", textwrap.dedent(program))
        assert done.returncode == 0, done.stderr
        return done.stdout
