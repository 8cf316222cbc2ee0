"""GNU binutils and gcc for RISC-V, where they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

GNU = "riscv64-unknown-elf-"


def tool(name: str) -> str:
    path = shutil.which(GNU + name)
    if path is None:
        pytest.skip(f"{GNU}{name} is not installed")
    return path


def output(name: str, *arguments: str) -> str:
    """Return what a tool of GNU binutils prints; a warning fails the test."""
    done = subprocess.run([tool(name), *arguments], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert not done.stderr, done.stderr
    assert not re.search(r"warning|error|corrupt|<unknown>", said, re.IGNORECASE), said
    return done.stdout
