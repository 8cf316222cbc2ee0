"""Runs the command in this process, which is fast, or in a new process."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO
from unittest import mock

from docs import shown
from macaw.cli import run_command
from tests.tree_copies import PYTHON_PATH

ROOT = Path(__file__).parents[2]
NOTHING: Mapping[str, str] = {}


def run_here(
    words: Sequence[object],
    folder: Path,
    variables: Mapping[str, str] = NOTHING,
    text: str | bytes = b"",
) -> subprocess.CompletedProcess[str]:
    """Run `macaw` in a folder; its streams are files, its standard input is `text`.

    Coverage and the recording of the mutants' tool see the lines that `macaw` executes.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        status = _run_into(words, folder, variables, text, (out, err))
        said = [_text(file.fileno()) for file in (out, err)]
    return subprocess.CompletedProcess(["macaw", *map(str, words)], status, *said)


def _run_into(
    words: Sequence[object],
    folder: Path,
    variables: Mapping[str, str],
    text: str | bytes,
    files: tuple[IO[bytes], IO[bytes]],
) -> int:
    """Run `macaw` with files as its standard output and error; return the exit status."""
    out, err = files
    with tempfile.TemporaryFile() as into, contextlib.ExitStack() as stack:
        into.write(text.encode() if isinstance(text, str) else text)
        into.seek(0)
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(mock.patch.dict(os.environ, variables))
        for name, file, mode, errors in (
            ("stdin", into, "r", "strict"),
            ("stdout", out, "w", "strict"),
            ("stderr", err, "w", "backslashreplace"),
        ):
            lines = 1 if name == "stderr" else -1  # written after each line, as Python does
            stream = open(file.fileno(), mode, lines, "utf-8", errors, closefd=False)  # noqa: SIM115
            stack.enter_context(stream)
            stack.enter_context(mock.patch.object(sys, name, stream))
        try:
            return run_command([str(word) for word in words])
        except SystemExit as done:  # click's completion
            return int(done.code or 0)


def run_shown(command: str, folder: Path, text: str) -> str:
    """Run a command of a page and return what it prints, as `shown.run_shell` does.

    `macaw` runs in this process. Commands after a `|`, and commands that need a shell, run in a new
    process.
    """
    head, _, rest = command.replace("\\\n", " ").partition(" | ")
    words = shlex.split(head)
    if words[:1] != ["macaw"] or re.search(
        r"[|&;<>()$`*?~#]", re.sub(r"'[^']*'|\"[^\"$`]*\"", "", head)
    ):
        return shown.run_shell(command, folder, text)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        _run_into(words[1:], folder, shown.VARIABLES, text, (out, err if rest else out))
        printed, errors = _text(out.fileno()), _text(err.fileno())
    return errors + shown.run_shell(rest, folder, printed) if rest else printed


def _text(number: int) -> str:
    """The text of a file, with the line ends that `subprocess` gives."""
    os.lseek(number, 0, os.SEEK_SET)
    with open(number, encoding="utf-8", closefd=False) as file:
        return file.read()


def run_apart(
    words: Sequence[object],
    folder: Path,
    variables: Mapping[str, str] = NOTHING,
    text: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Like `run_here`, in a new process, as a user's shell starts it."""
    paths = os.pathsep.join([PYTHON_PATH, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "macaw", *map(str, words)],
        capture_output=True,
        text=True,
        input=text,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep), **variables},
        check=False,
    )
