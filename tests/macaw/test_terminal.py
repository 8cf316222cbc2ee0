"""The command on a terminal: bars after a second, colours, Ctrl-C."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from macaw.terminal.progress_bar import DELAY
from tests.macaw.conftest import ROOT, Macaw
from tests.macaw.terminal import Terminal

Source = Callable[[str], Path]

LOOP = "        .core cp\nloop:   j loop\n"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    def write(text: str) -> Path:
        (tmp_path / "p.s").write_text(text)
        return tmp_path / "p.s"

    return write


def test_control_c_during_the_first_imports(tmp_path: Path) -> None:
    """The first module that the command imports raises what Ctrl-C raises."""
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    words = [sys.executable, "-m", "macaw", "isa"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "macaw: interrupted\n"


@pytest.mark.parametrize("words", [("run", "--stats"), ("profile",), ("annotate",)])
def test_a_width_of_zero_is_an_unknown_width(
    macaw: Macaw, layer: Path, words: tuple[str, ...]
) -> None:
    said = [macaw(*words, layer.parent, COLUMNS=columns) for columns in ("0", "80")]
    assert said[0].stdout == said[1].stdout != ""
    assert said[0].stderr == said[1].stderr


def test_a_long_run_shows_a_bar_and_control_c_says_how_far_it_was(source: Source) -> None:
    terminal = Terminal("run", source(LOOP))
    terminal.read(" cycles")
    assert "running" in terminal.text
    terminal.process.send_signal(signal.SIGINT)
    text = terminal.read()
    assert terminal.process.wait() == 130
    assert re.search(r"macaw: interrupted at cycle [\d,]+\r\n$", text)


def test_a_short_run_shows_none() -> None:
    before = time.monotonic()
    text = Terminal("run", "programs/hello/hello.s").read()
    is_slow = time.monotonic() - before > DELAY  # this machine is busy: a bar may have been due
    assert text == "Hello from the command processor.\r\n" or is_slow


def test_no_bar_where_nobody_looks(source: Source) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "macaw", "run", source(LOOP), "--max-cycles", "8000000"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.stderr.startswith("macaw: error: cycle limit")


@pytest.mark.few(1)
@pytest.mark.parametrize("columns", [80, 200])
def test_colour_and_no_color(source: Source, columns: int) -> None:
    path = source("        .core cp\n        frob\n")
    # a busy machine may show a bar first, which is erased
    plain = Terminal("run", path, columns=columns, NO_COLOR="1").read().rpartition("\x1b[2K")[2]
    coloured = Terminal("run", path, columns=columns).read().rpartition("\x1b[2K")[2]
    assert "\x1b[1;31merror: " in coloured
    assert "\x1b[1;31m" not in plain
    assert "\x1b[3" not in plain
    without = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert re.sub(r"\x1b\[[\d;]*m", "", plain) == without
    lines = without.splitlines()
    assert lines[0] == f"{path}:2:9: error: cp has no instruction 'frob'"
    assert [line.strip() for line in lines[1:3]] == ["frob", "^^^^"]
