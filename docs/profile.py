"""Write what docs/profile.md shows: its commands, run now in a copy of its programs.

A command is an indented line that begins with `$ `; what it prints stands below it, up to the next
command or the end of the block.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path(__file__).with_suffix(".md")
FOLDERS = ("profiled", "six_cores")  # of programs; both in one place
INDENT, PROMPT = "    ", "$ "
BLOCK = re.compile(r"(?:^    .*\n(?:\n+(?=    ))?)+", re.M)


def made(text: str) -> str:
    """The page with the outputs of now."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for folder in FOLDERS:
            for file in (ROOT / "programs" / folder).iterdir():
                if file.suffix in (".s", ".npy") and not (
                    folder == "six_cores" and file.stem == "x"
                ):
                    shutil.copy(file, place)
        shutil.copy(ROOT / "programs" / "six_cores" / "x.npy", place / "items.npy")
        tool = place / "bin" / "macaw"
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m macaw "$@"\n')
        tool.chmod(0o755)
        return BLOCK.sub(lambda block: _block(block.group(), place), text)


def _block(text: str, place: Path) -> str:
    """A block with the outputs of its commands; one without commands as it is."""
    commands = [line for line in text.splitlines() if line.startswith(INDENT + PROMPT)]
    if not commands:
        return text
    lines = []
    for command in commands:
        lines.append(command)
        lines += [
            f"{INDENT}{line}".rstrip()
            for line in _run(command[len(INDENT + PROMPT) :], place).splitlines()
        ]
    while lines[-1] == "":
        lines.pop()
    return "\n".join(lines) + "\n"


def _run(command: str, place: Path) -> str:
    """What a command prints, both streams, at 80 columns."""
    paths = os.pathsep.join((str(place / "bin"), os.environ["PATH"]))
    environment = {
        **os.environ,
        "PATH": paths,
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text("utf-8")), "utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
