"""`--plain` prints one record on each line, without colours, drawings and cursor movements."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
import time
from pathlib import Path
from unittest import mock

import click
import numpy as np
import onnx
import pytest
from prompt_toolkit.shortcuts import CompleteStyle
from rich.table import Table

from macaw import debugging
from macaw.cli import COMMANDS
from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.terminal import plain, progress_bar
from macaw.terminal.plain_answers import plain_answer_text
from macaw.terminal.progress_bar import ProgressBar
from tests.lowering.net.models import ModelBuilder
from tests.macaw import fim_models
from tests.macaw.command_runs import run_here
from tests.macaw.conftest import LAYER, ROOT
from tests.macaw.terminal import Terminal, shown

# They print no table, chart, progress or colour of their own: protocols, a script, click's help.
WITHOUT = {"lsp", "dap", "completion", "help"}
NETWORK = ROOT / "programs" / "network"
ALIGNED = ("dis", "isa", "test", "run")  # sources, verdicts, arrays
DRAWN = re.compile("[\x1b\u2500-\u259f\u2800-\u28ff\u25a0-\u25ff\u2026]|\\^\\^|~~")

PROGRAM = """\
        .core cp
        frob
"""

# Each command that prints tables or colours, and a record that it must print.
RUNS = {
    "run": ("run --stats programs/layer", r"^pe macs; pe\[0\] [\d,]+; pe\[1\] 0; all [\d,]+; products; "),
    "profile": (
        "profile --causes --roofline --energy --lines programs/layer",
        r"^core cp; busy [\d,]+ cycles; [\d.]+%; from cycle 0 to [\d,]+; slowest$",
    ),
    "annotate": ("annotate programs/layer", r"^line 7; source w: \.sparse "),
    "sweep": (
        "sweep programs/layer --set dist.bus_bytes=16,32 --pareto cycles,dist.bus_bytes",
        r"^dist.bus_bytes 16; cycles [\d,]+; macs [\d,]+; \*$",
    ),
    "test": ("test programs/layer", r"^ok +programs/layer$"),
    "isa": ("isa packet", "^packet"),
    "dis": ("dis {elf}", "^        .core   pe"),
    "asm": ("asm {wrong}", r"\.s:2:9: error: cp has no instruction 'frob'$"),
    "debug": (
        "debug --batch -e continue -e info\\ registers programs/layer",
        r"^core cp; register sp; x2; 0x1000000; value 16777216$",
    ),
    "lower": (
        "lower spmv -w {weights} -o {out}.s --explain --measure",
        r"^mapping \w+; split \w; tile m×n×k [\d×]+; iterations [\d,]+; cycles [\d,]+; bytes ",
    ),
    "lower-fim": (
        "lower --target fim {graph} -o {out}.s --measure",
        r"^step 0; where island .*; in [\d,]+; computes [\d,]+; out [\d,]+; begin \d+; end [\d,]+; ",
    ),
    "quantise": (
        "quantise {model} --data {data} -o {out}.onnx",
        r"^layer \S+; operator \w+; types int8>int8; scale \S+; own dB [\d.]+; dB [\d.]+; mean ",
    ),
    "estimate": ("estimate {small}", r"^layer \S+; operation .+; core pe; output \d"),
}  # fmt: skip


def test_each_command_that_prints_has_the_option() -> None:
    for name in COMMANDS:
        command: click.Command = importlib.import_module(f"macaw.commands.{name}").command
        has = any("--plain" in parameter.opts for parameter in command.params)
        assert has == (name not in WITHOUT), name


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The files that `RUNS` name."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "wrong.s").write_text(PROGRAM)
    np.save(folder / "data.npy", np.load(NETWORK / "pixels.npy").reshape(-1, 1, 8, 8)[:8])
    fim_models.saved(folder / "graph.onnx", fim_models.MATMUL)
    builder = ModelBuilder(0, (1, 1, 4, 4))
    builder.conv("only", 2, 1)
    onnx.save(builder.model(), folder / "small.onnx")
    elf = folder / "layer.elf"
    assert run_here(["asm", LAYER / "layer.s", "-o", elf], folder).returncode == 0
    return {
        "elf": elf,
        "wrong": folder / "wrong.s",
        "out": folder / "out",
        "data": folder / "data.npy",
        "weights": LAYER / "weights.npy",
        "graph": folder / "graph.onnx",
        "small": folder / "small.onnx",
        "model": NETWORK / "digits.onnx",
    }


def words_of(name: str, files: dict[str, object]) -> list[str]:
    return shlex.split(RUNS[name][0].format(**files))


@pytest.mark.once
@pytest.mark.parametrize("name", RUNS)
def test_what_a_terminal_shows(name: str, files: dict[str, object]) -> None:
    text = shown(*words_of(name, files), "--plain")
    assert DRAWN.findall(text) == []
    assert re.search(RUNS[name][1], text, re.M), text
    assert not re.search(r"(?m)(?:^|; )(\w+) \1;", text), "a heading is a record"
    assert not re.search(r"(?m)^\S.*\S {3,}\S", text) or name in ALIGNED, text


@pytest.mark.once
@pytest.mark.parametrize("name", ["profile", "isa", "asm"])
def test_the_environment_chooses_it_too(name: str, files: dict[str, object]) -> None:
    words = words_of(name, files)
    option = shown(*words, "--plain")
    assert shown(*words, MACAW_PLAIN="1") == option
    assert shown(*words, MACAW_PLAIN="0") == shown(*words) != option


@pytest.mark.once
@pytest.mark.parametrize("name", ["run", "profile", "annotate", "dis", "isa", "asm"])
def test_colours_say_nothing_that_the_text_does_not_say(
    name: str, files: dict[str, object]
) -> None:
    words = words_of(name, files)
    coloured = shown(*words, TERM="xterm")  # 16 colours
    assert "\x1b[" in coloured
    assert not re.search(r"\x1b\[[\d;]*[34]8;", coloured)
    without = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert re.sub(r"\x1b\[[\d;]*m", "", shown(*words, NO_COLOR="1")) == without
    assert re.sub(r"\x1b\[[\d;]*m", "", shown(*words)) == without


@pytest.mark.once
def test_a_real_terminal_gets_no_control_characters() -> None:
    text = Terminal("profile", "programs/layer", "--plain").read()
    assert "\ncore cp; busy 161 cycles; " in text.replace("\r", "")
    assert DRAWN.findall(text) == []


def test_a_record_has_each_cell_after_its_heading() -> None:
    assert plain.record(("core", "", "cycles"), ("pe[0]", "slowest", "1,234")) == (
        "core pe[0]; slowest; cycles 1,234"
    )
    assert plain.record(("a\nb", "c"), ("two\nlines", "")) == "a b two lines"
    assert list(plain.records(("x",), [("1",), ("2",)])) == ["x 1", "x 2"]
    table = Table("name", "value")
    table.add_row("[a]", "1")
    assert list(plain.rich_records(table)) == ["name [a]; value 1"]


def test_an_answer_of_the_debugger_has_words_for_signs() -> None:
    """A plain answer of the debugger is a record, with columns instead of marks."""
    cores = answers.table(
        ("", "core", "line", "state"), [("*", "cp", 7, "runs"), ("", "vc", None, "idle")]
    )
    assert plain_answer_text(cores).splitlines() == [
        "focus; core cp; line 7; state runs",
        "core vc; state idle",
    ]
    listing = answers.table(("", "line", "layer.s"), [("", 7, "w: .sparse"), ("=>", 8, "  nop")])
    assert plain_answer_text(listing).splitlines() == [
        "layer.s",
        "line 7; w: .sparse",
        "here; line 8; nop",
    ]
    error = answers.error("nothing is called 'q'", answers.Mark(6, 7), "help")
    assert plain_answer_text(error, "print q").splitlines() == [
        "error: nothing is called 'q'",
        "  at 'q', column 7",
        "hint: help",
    ]
    missing = answers.error("an expression is needed", answers.Mark(5, 6))
    assert plain_answer_text(missing, "print") == "error: an expression is needed\n  at column 6"
    assert plain_answer_text(answers.table(("core", "queue"), [])) == "none"
    nested = Answer("done", answers=(cores,))
    assert plain_answer_text(nested) == plain_answer_text(cores)


@pytest.mark.parametrize(
    ("value", "style"), [("1", CompleteStyle.READLINE_LIKE), ("0", CompleteStyle.COLUMN)]
)
def test_the_prompt_lists_completions_below_the_line(
    value: str, style: CompleteStyle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plain prompt lists completions below the line: screen readers cannot use a menu."""
    made = mock.Mock()
    monkeypatch.setattr("prompt_toolkit.PromptSession", made)
    monkeypatch.setenv("MACAW_PLAIN", value)
    with plain.plain_from_environment():
        debugging._line_reader(mock.Mock(), None)
    assert made.call_args.kwargs["complete_style"] is style


def test_it_ends_with_the_command(tmp_path: Path) -> None:
    assert not plain.is_plain()
    assert run_here(["--help"], tmp_path, {"MACAW_PLAIN": "1"}).returncode == 0
    assert run_here(["isa", "packet", "--plain"], tmp_path).returncode == 0
    assert not plain.is_plain()


def test_the_bar_of_a_command_with_plain_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bar begins before the option --plain is read. Here it appears right after that."""
    shown: list[str] = []

    def choose() -> None:
        bar = progress_bar.present_bar()
        assert bar is not None
        shown.append(type(bar).__name__)
        monkeypatch.setattr(bar, "_show", lambda: shown.append("bar"))
        monkeypatch.setattr(bar, "_print_line", lambda: shown.append("line"))
        print_lines = bar.print_lines

        def print_lines_now() -> None:
            print_lines()
            bar._appear()

        monkeypatch.setattr(bar, "print_lines", print_lines_now)

    monkeypatch.setattr(plain, "choose_plain", choose)
    assert run_here(["isa", "add", "--plain"], tmp_path).returncode == 0
    assert shown == ["CommandBar", "line"]


def test_progress_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_bar, "DELAY", 0.001)
    monkeypatch.setattr(progress_bar, "LINES_APART", 0.001)
    with plain.plain_from_environment():
        plain.choose_plain()
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        bar = ProgressBar("images", 360)
        bar.count = 12
        bar.note = lambda: "cycle 5"
        with bar:
            text = ""
            while text.count("\n") < 2:
                text += capsys.readouterr().err
                time.sleep(0.001)
    assert re.fullmatch(r"(images: 12 of 360, cycle 5, \d+ s\n)+", text)


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "what"),
    [("estimate", "estimating"), ("quantise", "quantising"), ("lower", "measuring")],
)
def test_long_commands_show_progress(
    name: str, what: str, files: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long commands print progress as lines, here without the usual delay."""
    monkeypatch.setattr(progress_bar, "LINES_APART", 0.01)
    text = shown(*words_of(name, files), "--plain", delay=0.0)
    # Without a delay, the bar of the command may appear before --plain is read, and be erased.
    assert re.search(rf"(?:^|\x1b\[2K){what}: \d+ s$", text, re.M), text
