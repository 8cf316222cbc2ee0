"""Runs of the command: in this process, which costs no start, or in one of their own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

from macaw.cli import run_command

ROOT = Path(__file__).parents[2]
NOTHING: Mapping[str, str] = {}


def run_here(
    words: Sequence[object],
    folder: Path,
    variables: Mapping[str, str] = NOTHING,
    text: str | bytes = b"",
) -> subprocess.CompletedProcess[str]:
    """Run `macaw` with the words in a folder; its streams are files, its input is `text`.

    Coverage and the map of the mutants see the lines that it executes.
    """
    given = text.encode() if isinstance(text, str) else text
    with (
        tempfile.TemporaryFile() as into,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        into.write(given)
        into.seek(0)
        streams = {
            name: open(file.fileno(), mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
            for name, file, mode, errors in (
                ("stdin", into, "r", "strict"),
                ("stdout", out, "w", "strict"),
                ("stderr", err, "w", "backslashreplace"),
            )
        }
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.chdir(folder))
            stack.enter_context(mock.patch.dict(os.environ, variables))
            for name, stream in streams.items():
                stack.enter_context(stream)
                stack.enter_context(mock.patch.object(sys, name, stream))
            try:
                status = run_command([str(word) for word in words])
            except SystemExit as done:  # click's completion
                status = int(done.code or 0)
        said = [_text(file.fileno()) for file in (out, err)]
    return subprocess.CompletedProcess(["macaw", *map(str, words)], status, *said)


def _text(number: int) -> str:
    """What is in a file, with the ends of lines that `subprocess` gives."""
    os.lseek(number, 0, os.SEEK_SET)
    with open(number, encoding="utf-8", closefd=False) as file:
        return file.read()


def run_apart(
    words: Sequence[object],
    folder: Path,
    variables: Mapping[str, str] = NOTHING,
    text: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, as a user's shell starts it."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "macaw", *map(str, words)],
        capture_output=True,
        text=True,
        input=text,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep), **variables},
        check=False,
    )
