"""The totals and counts of the commands' progress bars (test_terminal.py tests their display)."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import click
import numpy as np
import pytest
from rich.console import Console

from macaw.cli import COMMANDS, CONVERSATIONS
from macaw.terminal import plain, progress_bar
from macaw.terminal.progress_bar import CommandBar, ProgressBar
from tests.macaw.command_runs import run_here
from tests.macaw.conftest import ROOT, Macaw

Bars = list[tuple[str, int | None, int, str]]
TWICE = """        .core cp
        .input x, int32, 1
        .output y, int32, 1
_start: la   a0, x
        lw   a1, 0(a0)
        la   a0, y
        sw   a1, 0(a0)
        li   a7, 93
        li   a0, 0
        ecall
"""


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Bars:
    """A list to which each bar of a command adds its name, total, count and note at its end."""
    found: Bars = []
    close = ProgressBar.__exit__

    def end(bar: ProgressBar, *error: Any) -> None:
        close(bar, *error)
        if not isinstance(bar, CommandBar):
            found.append((bar.what, bar.total, bar.count, bar.note()))

    monkeypatch.setattr(ProgressBar, "__exit__", end)
    return found


def test_golden_tests(macaw: Macaw, bars: Bars, layer: Path) -> None:
    """`macaw test` counts each folder, also folders that fail."""
    for name in ("a", "b", "c"):
        folder = layer.parent / "all" / name
        folder.mkdir(parents=True)
        for file in layer.parent.glob("*.*"):
            (folder / file.name).write_bytes(file.read_bytes())
    assert macaw("test", "all", "-k", "not b").returncode == 1
    assert bars == [("golden tests", 2, 2, "")]


def test_a_run_counts_items_and_cycles(macaw: Macaw, bars: Bars, source: Callable) -> None:
    path = source(TWICE)
    np.save(path.parent / "x.npy", np.arange(3, dtype=np.int32)[:, None])
    done = macaw("run", path, "-i", "x=x.npy", "--stats")
    assert done.returncode == 0, done.stderr
    ((total, count, note),) = (bar[1:] for bar in bars if bar[0] == "running")
    assert (total, count) == (3, 2)
    assert note.endswith(" cycles")
    assert note != "0 cycles"


def test_a_run_of_one_item_has_no_total(macaw: Macaw, bars: Bars, source: Callable) -> None:
    path = source(TWICE)
    np.save(path.parent / "x.npy", np.zeros(1, np.int32))
    assert macaw("run", path, "-i", "x=x.npy").returncode == 0
    assert ("running", None, 0) in [bar[:3] for bar in bars]


def test_a_profile_says_what_it_does(macaw: Macaw, bars: Bars) -> None:
    assert macaw("profile", ROOT / "programs" / "hello" / "hello.s").returncode == 0
    ((total, _, note),) = (bar[1:] for bar in bars if bar[0] == "profiling")
    assert total is None
    assert re.fullmatch(r"[a-z ]+ [\d,]+ of [\d,]+", note)


def test_a_sweep_counts_points(macaw: Macaw, bars: Bars) -> None:
    hello = ROOT / "programs" / "hello" / "hello.s"
    done = macaw("sweep", hello, "--set", "mem.onchip_latency=1,2,3")
    assert done.returncode == 0, done.stderr
    assert bars == [("sweeping", 3, 3, "")]


class Tty(StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_after_its_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar is drawn after its delay, with name, count, total and note, and removed at the end."""
    stream, drawn = Tty(), threading.Event()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress_bar, "DELAY", 0.0)
    make = progress_bar._progress

    def narrow(bar: ProgressBar, console: Console) -> object:
        made = make(bar, Console(file=stream, width=100, force_terminal=True))
        drawn.set()
        return made

    monkeypatch.setattr(progress_bar, "_progress", narrow)
    with ProgressBar("images", 360) as bar:
        bar.count = 12
        bar.note = lambda: "34 cycles"
        assert drawn.wait(60)
        with bar._lock:  # it has been started
            pass
        assert bar._progress is not None
        bar._progress.refresh()
        (task,) = bar._progress.tasks
        assert (task.description, task.completed, task.total) == ("images", 12, 360)
    text = stream.getvalue()
    assert "12/360" in text
    assert "34 cycles" in text
    assert bar._progress.finished is False
    assert not bar._progress.live.is_started


def test_a_bar_without_a_total_has_no_count() -> None:
    bar = ProgressBar("annotating")
    made = progress_bar._progress(bar, Console(file=StringIO(), width=100))
    assert len(made.columns) == 4
    assert len(progress_bar._progress(ProgressBar("x", 2), Console(file=StringIO())).columns) == 6


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in CONVERSATIONS])
def test_each_command_has_a_bar_from_its_first_moment(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command has a bar before it reads its arguments, so that it shows progress in time."""
    bars: list[ProgressBar | None] = []

    def parse(*_: object, **__: object) -> None:
        bars.append(progress_bar._INNERMOST.get())
        raise click.exceptions.Exit(7)

    command = importlib.import_module(f"macaw.commands.{name}").command
    monkeypatch.setattr(command, "make_context", parse)
    assert run_here([name], tmp_path).returncode == 7
    (bar,) = bars
    assert isinstance(bar, CommandBar)
    assert bar.what == name
    assert progress_bar._INNERMOST.get() is None


@contextlib.contextmanager
def immediate_lines() -> Iterator[Tty]:
    """Replace both streams by a terminal on which progress is printed as lines, without delay."""
    stream = Tty()
    with (
        mock.patch("sys.stdout", stream),
        mock.patch("sys.stderr", stream),
        mock.patch.object(progress_bar, "DELAY", 0.0),
        plain.plain_from_environment(),
    ):
        plain.choose_plain()
        yield stream


def wait_for(stream: Tty, text: str) -> None:
    end = time.monotonic() + 60
    while text not in stream.getvalue():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_the_innermost_bar_is_shown() -> None:
    with immediate_lines() as screen, CommandBar("run"):
        wait_for(screen, "run: 0 s\n")
        with ProgressBar("assembling"):
            wait_for(screen, "assembling: 0 s\n")
        wait_for(screen, "assembling: 0 s\nrun: 0 s\n")
    assert progress_bar._INNERMOST.get() is None


def test_the_first_output_ends_the_bar_of_a_command() -> None:
    """The first output ends the bar of a command; later bars inside the command still work.

    Calls of `isatty` and `flush` are no output.
    """
    bar = CommandBar("run")
    with immediate_lines() as screen, bar:
        assert sys.stdout is not screen
        assert sys.stdout.isatty()
        sys.stdout.flush()
        assert not bar._has_ended
        print("x")
        assert bar._has_ended
        assert sys.stdout is screen
        print("y")
        with ProgressBar("assembling"):
            wait_for(screen, "assembling: 0 s\n")
        assert not bar._open
    assert screen.getvalue().replace("run: 0 s\n", "") == "x\ny\nassembling: 0 s\n"


def test_a_bar_counts_time_from_its_beginning() -> None:
    """A bar counts time from its creation, not from when it is drawn."""
    bar = ProgressBar("x")
    bar.begin = time.monotonic() - 5
    (task,) = progress_bar._progress(bar, Console(file=StringIO())).tasks
    assert task.elapsed is not None
    assert 5 <= task.elapsed < 100


def test_work_that_ends_before_the_delay_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Tty())
    with ProgressBar("images") as bar:
        assert bar._timer is not None
        assert bar._timer.daemon
    bar._show()
    assert bar._progress is None
    monkeypatch.setattr("sys.stderr", StringIO())
    with ProgressBar("images") as other:
        assert other._timer is None


def test_a_name_with_brackets_is_no_markup() -> None:
    """Brackets in a bar's name, as in the debugger's `print y[/x]`, are no markup."""
    stream = StringIO()
    drawn = progress_bar._progress(ProgressBar("print y[i][/x]"), Console(file=stream, width=100))
    Console(file=stream, width=100).print(drawn.get_renderable())
    assert "print y[i][/x]" in stream.getvalue()
