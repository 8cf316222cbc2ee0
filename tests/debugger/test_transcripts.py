"""Every command and its errors give equal answers in a script, as JSON and on the screen.

`MACAW_GOLDENS=write` writes the answers into the transcripts; look at them before you keep them.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from macaw.commands.debug import _run_batch
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.table import COMMANDS, find, split
from macaw.debugger.commands.usage import pieces
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS
from macaw.execution import Streams
from macaw.terminal import console
from tests.debugger.transcripts import KEPT, PROMPT, TRANSCRIPTS, Heard
from tests.debugger.typist import Typist

pytestmark = pytest.mark.once
SCRIPT = "a script"
SIZE = (100, 30)  # columns and lines; tests/debugger/test_drawn.py has larger ones


def by_script(transcript):
    """Execute a transcript by scripts; each script ends with the first error."""
    run = transcript.interpreter()
    heard, rest = Heard(run), transcript.lines
    while rest:
        Path(SCRIPT).write_text("".join(f"{line}\n" for line in rest))
        answer = run.execute(f"source '{SCRIPT}'", keep=False)
        heard.records.pop()  # of the script itself
        failed = re.match(rf"{SCRIPT}:(\d+): ", answer.message)
        rest = rest[int(failed[1]) :] if failed else []
    return heard


def by_batch(transcript, capsys):
    """Execute a transcript by batches with JSON; each batch ends with the first error."""
    run = transcript.interpreter()
    heard, rest = Heard(run), transcript.lines
    printed = []
    capsys.readouterr()
    while rest:
        status = _run_batch(run, rest, True)
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [one["line"] for one in found] == rest[: len(found)]
        failed = found[-1]["kind"] == "error" or any(one["differs"] for one in found)
        assert status == (EXIT_FAILURE if failed else EXIT_SUCCESS)
        assert "error" not in [one["kind"] for one in found[:-1]]
        printed += found
        rest = rest[len(found) :]
    assert [one["line"] for one in printed] == transcript.lines
    heard.printed = printed
    return heard


def as_text(transcript, capsys):
    """The text that batches print for people, with errors after all else."""
    run = transcript.interpreter(Streams(console.write_stdout, console.write_stderr))
    rest, found, do = transcript.lines, "", run.execute
    while rest:
        done: list[str] = []
        run.execute = lambda line, keep=True, done=done: (
            keep and done.append(line),
            do(line, keep),
        )[1]
        _run_batch(run, rest, False)
        printed = capsys.readouterr()
        found += printed.out + printed.err
        rest = rest[len(done) :]
    return KEPT.sub("... kept", found)


def by_screen(transcript):
    """Type a transcript on the screen."""
    run = transcript.interpreter()
    heard = Heard(run)

    def act(user):
        for at, line in enumerate(transcript.lines):
            user.type(f"{line}\r")
            user.wait(lambda _, at=at: is_done(user, at + 1), line)

    def is_done(user, count):
        known = [one for one in run.history if one.strip()]
        return len(known) >= count and not user.screen.worker.waiting

    Typist(interpreter=run, size=SIZE).play(act)
    return heard


@pytest.mark.few(9)
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda one: one.path.stem)
def test_script_batch_and_screen_give_the_same_records(transcript, tmp_path, monkeypatch, capsys):
    ways = []
    for name, way in (("s", by_script), ("b", lambda x: by_batch(x, capsys)), ("t", by_screen)):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        transcript.prepare(folder)
        ways.append(way(transcript))
    script, batch, screen = ways
    answers = batch.outer(transcript.lines)
    outputs = [
        "".join(one[name] for name in ("stdout", "stderr", "dprintf") if name in one)
        for one in batch.printed
    ]
    golden = transcript.golden(answers, outputs)
    if os.environ.get("MACAW_GOLDENS") == "write":
        transcript.path.write_text(golden, "utf-8")
    assert golden == transcript.path.read_text("utf-8")
    asked = (transcript.head, *(PROMPT + line for line in transcript.lines))
    wanted = [row for row in golden.splitlines() if row not in asked]
    transcript.prepare(Path())
    assert as_text(transcript, capsys).splitlines() == wanted
    assert screen.plain() == batch.plain()
    assert script.plain() == batch.plain()
    for answer, printed in zip(answers, batch.printed, strict=True):
        assert answer.json().items() <= printed.items()
    if any(line.startswith("history") for line in transcript.lines):
        typed = [answer for line, answer in screen.records if line.startswith("history")]
        assert typed == [answer for line, answer in batch.records if line.startswith("history")]


def test_every_command_and_each_of_its_words_occurs():
    done: set[str] = set()
    failed: set[str] = set()
    words: set[tuple[str, str]] = set()
    for transcript in TRANSCRIPTS:
        for line, said in transcript.answered:
            try:
                name = find(split(line)[0]).name
            except CommandError:
                continue
            words |= {(name, word) for word in line.split()}
            (failed if said.startswith("error: ") else done).add(name)
    assert done == set(COMMANDS) - {"cd", "pwd"}  # whose answers name a folder of this machine
    assert failed == set(COMMANDS) - {"echo", "apropos", "complete"}  # which take any text
    wanted = {(name, word) for name, row in COMMANDS.items() for word in _words(pieces(row.usage))}
    assert sorted(wanted - words) == []


def _words(wanted):
    for piece in wanted:
        yield from piece.words
        yield from _words(piece.group)
