"""Transcripts of sessions: files of command lines, each followed by its answer.

The first line names a program (a source beside the transcript, or a golden folder), and may allow
the shell: `# hello --allow-shell`. `--against FILE` names the program of another run beside it.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from macaw import api
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.text import answer_text
from macaw.debugging import join_runs, make_interpreter
from tests.debugger.programs import PROGRAMS, loaded

FOLDER = Path(__file__).parent / "transcripts"
PROMPT = "(macaw) "
KEPT = re.compile(r"\d+ kept, [\d.]+ MiB")  # checkpoints come with time


class Transcript:
    """A transcript: its command lines, and the text of their answers."""

    def __init__(self, path):
        self.path = path
        self.head, *rows = path.read_text("utf-8").splitlines()
        self.program, *options = self.head.removeprefix("# ").split()
        self.allows_shell = "--allow-shell" in options
        self.other = options[options.index("--against") + 1] if "--against" in options else ""
        self.answered = []  # lines, and the first line of what they answer
        for row, behind in zip(rows, [*rows[1:], ""], strict=True):
            if row.startswith(PROMPT):
                self.answered.append((row.removeprefix(PROMPT), behind))
        self.lines = [line for line, _ in self.answered]

    def prepare(self, folder):
        """Copy the program, and files that the lines name, into a folder."""
        others = [FOLDER / self.other] if self.other else []
        for path in (*_files(self.program), *others, *FOLDER.glob("*.script")):
            shutil.copy(path, folder)

    def interpreter(self, streams=None):
        """A session of the program in the current folder, whose source has no path in messages."""
        source, *_ = _files(self.program)
        inputs = {} if source.parent == FOLDER else loaded(self.program)[1]
        program = _assembled(self.program, source.name)
        run = make_interpreter(program, inputs, allow_shell=self.allows_shell, streams=streams)
        if self.other:
            other = make_interpreter(_assembled(self.other, self.other), inputs)
            join_runs(run, other, source.name, self.other)
        return run

    def golden(self, answers, outputs):
        """The text of the transcript: below each line the program's output and the answer."""
        found = [self.head]
        for line, answer, output in zip(self.lines, answers, outputs, strict=True):
            text = KEPT.sub("... kept", answer_text(answer, line))
            found += [PROMPT + line, *output.splitlines(), *text.splitlines()]
        return "\n".join(found) + "\n"


class Heard:
    """The answers of an interpreter, also to lines of scripts and of points."""

    def __init__(self, interpreter):
        self.interpreter = interpreter
        self.records: list[tuple[str, Answer]] = []
        self.printed: list[dict[str, Any]] = []  # what --json prints, where a test asks for it
        interpreter.on_answer = lambda line, answer: self.records.append((line, answer))

    def plain(self):
        """Lines and records as JSON types, and the whole output of the program."""
        found = [
            (line, json.loads(KEPT.sub("... kept", json.dumps(answer.json()))))
            for line, answer in self.records
            if not line.startswith("history")
        ]
        return found, self.interpreter.session.output

    def outer(self, lines):
        """The answers to these lines only."""
        left = iter(self.records)
        return [next(answer for line, answer in left if line == wanted) for wanted in lines]


TRANSCRIPTS = [Transcript(path) for path in sorted(FOLDER.glob("*.txt"))]


@cache
def _files(name):
    """The source of a program, and other files that it needs."""
    if name.endswith(".s"):
        return (FOLDER / name,)
    folder = PROGRAMS / name
    return (*folder.glob("*.s"), *folder.glob("*.npy"))


@cache
def _assembled(program, source):
    return api.load(source)


@cache
def program_and_inputs(folder):
    """A program and its inputs, from a golden folder or a source of the transcripts."""
    return (api.load(FOLDER / folder), {}) if folder.endswith(".s") else loaded(folder)
