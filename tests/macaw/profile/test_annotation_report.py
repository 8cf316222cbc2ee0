"""`macaw annotate`: its output at several widths, its files, exit status and errors."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

import macaw
from macaw.cli import run_command
from macaw.profiling.annotation import Annotation
from macaw.profiling.annotation_report import print_annotation
from macaw.profiling.annotation_view import Choice, of_cores
from tests.macaw.profile.programs import six_cores

pytestmark = pytest.mark.once

SOURCE = """        .device tiny
        .core   cp
        .macro  twice r
        addi    \\r, \\r, 1
        addi    \\r, \\r, 1
        .endm
_start: li      a0, 40                  # turns
loop:   mul     a1, a0, a0
        twice   a2
        addi    a0, a0, -1
        bnez    a0, loop


        nop
        li      a0, 0
        li      a7, 93
        ecall
"""
# Of each turn: a mul of 3 cycles, two additions, one, and a branch that takes 2 if it is taken.
REPORT = """\
loop.s on tiny: 324 cycles

loop.s: 324 cycles, 100.0%
run   share    macs  cause     line  source
                                     … 6 lines
  1    0.3% ░        work         7  _start: li a0, 40 # turns
120   37.0% █    40  long 67%     8  loop: mul a1, a0, a0
 80   24.7% █        work         9    twice a2
 40   12.3% ▓        work        10    addi a0, a0, -1
 79   24.4% █        work 51%    11    bnez a0, loop
                                     … 2 lines
  1    0.3% ░        work        14    nop
  1    0.3% ░        work        15    li a0, 0
  1    0.3% ░        work        16    li a7, 93
  1    0.3% ░        work        17    ecall

324  100.0%      40                  in all
"""


@pytest.fixture(scope="module")
def six() -> Annotation:
    return macaw.annotate(*six_cores(3), name="six_cores.s")


class Done(NamedTuple):
    """The result of a command."""

    returncode: int
    stdout: str
    stderr: str


Tool = Callable[..., Done]


@pytest.fixture
def tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tool:
    """A function that runs `macaw annotate loop.s` with arguments, at 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "loop.s").write_text(SOURCE, "utf-8")

    def run(*arguments: str) -> Done:
        return Done(run_command(["annotate", "loop.s", *arguments]), *capsys.readouterr())

    return run


def printed(annotation: Annotation, width: int, choice: Choice, **options: bool) -> str:
    data = io.StringIO()
    screen = Console(width=width, file=data, highlight=False)
    unset = {"own": False, "by_core": False, "plain": False}
    print_annotation(annotation, screen, choice, **unset | options)
    return data.getvalue()


def numbers(text: str) -> list[int]:
    """The numbers of the first column, `run`, in the rows of all sections."""
    lines = text.rpartition("\n\n")[0].splitlines()
    heading = next(line for line in lines if line.split()[:1] == ["run"])
    end = heading.index("run") + len("run")
    cells = [line[:end].strip().replace(",", "") for line in lines[1:]]
    return [int(cell) for cell in cells if cell.isdigit()]


def test_a_report(tool: Tool) -> None:
    done = tool("--context", "0")
    assert done == Done(0, REPORT, "")


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("by_core", [False, True])
def test_numbers_are_never_cut(six: Annotation, width: int, by_core: bool) -> None:
    text = printed(six, width, Choice(), by_core=by_core)
    lines = text.splitlines()
    if width >= 80:
        assert max(map(len, lines)) <= width
    assert sum(numbers(text)) == six.cycles
    hot = next(line for line in lines if line.startswith("1,001"))
    assert ("6,763   49,267" in hot) != by_core
    assert ("imbalance 6%" in hot) == (width == 200 and not by_core)
    assert lines[-1].startswith("4,496  100.0%")


@pytest.mark.parametrize(
    "choice",
    [Choice(most=3), Choice(least=0.05, context=0), Choice("run", 4), Choice("bytes", 0)],
)
def test_what_is_left_out_is_summed_up(six: Annotation, choice: Choice) -> None:
    text = printed(six, 80, choice)
    assert sum(numbers(text)) == six.cycles
    assert "…" in text


@pytest.mark.parametrize("by_core", [False, True])
def test_a_plain_report_without_lines_has_all_sums(six: Annotation, by_core: bool) -> None:
    text = printed(six, 80, Choice(most=0), by_core=by_core, plain=True)
    *cells, last = text.splitlines()[-1].split("; ")
    assert last == "source in all"
    found = dict(cell.rsplit(" ", 1) for cell in cells)
    assert found.pop("share") == "100.0%"
    sums = {name: int(cell.replace(",", "")) for name, cell in found.items()}
    assert sums.pop("run") == six.cycles
    if by_core:
        assert sum(sums.values()) == six.cycles
    else:
        lines = six.lines
        assert sums == {"macs": sum(x.macs for x in lines), "bytes": sum(x.bytes for x in lines)}


def test_sorted_lines(six: Annotation) -> None:
    rows = printed(six, 80, Choice("macs", 3)).splitlines()[4:]
    assert [row.split("six_cores.s:")[1].split()[0] for row in rows[:3]] == ["47", "56", "127"]
    assert rows[3].endswith("lines")


def test_some_cores(six: Annotation) -> None:
    part = of_cores(six, ["pe"])
    assert dict(part.units) == {"pe[0]": 8}
    assert sum(line.cycles for line in part.lines) == 8 * six.cycles
    text = printed(part, 80, Choice(), own=True)
    assert "  pe[0]: 35,968 cycles of 8 units; 2,476 of the run on the critical path\n" in text
    assert "six_cores.s:" in text
    assert of_cores(six, ["pe[0]"]) == part
    both = of_cores(six, ["dma", "pe"])
    assert sum(line.run for line in both.lines) == 2476 + sum(
        line.run for line in of_cores(six, ["dma"]).lines
    )


def test_signs_without_unicode_and_colours_with_a_second_sign(six: Annotation) -> None:
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding="ascii")
    print_annotation(
        six,
        Console(width=80, file=stream, highlight=False),
        Choice(most=2),
        own=False,
        by_core=False,
        plain=False,
    )
    stream.flush()
    assert re.search(r"^1,001   22.3% #", data.getvalue().decode("ascii"), flags=re.M)
    shown = io.StringIO()
    screen = Console(width=80, file=shown, highlight=False, force_terminal=True,
                     color_system="standard", no_color=False)  # fmt: skip
    print_annotation(six, screen, Choice(most=2), own=False, by_core=False, plain=False)
    coloured = shown.getvalue()
    plain = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert plain == printed(six, 80, Choice(most=2))
    assert "\x1b[1;31m█" in coloured


def test_json(tool: Tool, tmp_path: Path) -> None:
    done = tool("--json", "-", "--core", "cp", "--limit", "1")
    found = json.loads(done.stdout)
    assert (found["kind"], found["cycles"], len(found["lines"])) == ("macaw annotation", 324, 10)
    assert tool("--json", "lines.json").stdout.startswith("loop.s on tiny: 324 cycles\n")
    assert json.loads((tmp_path / "lines.json").read_text("utf-8")) == found


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--core", "vcc"], "no core is called 'vcc'\nhint: did you mean 'vc'?"),
        (["--core", "vcc", "--max-cycles", "1"], "no core is called 'vcc'"),  # without a run
        (["--core", "pe"], "pe did nothing in this run\nhint: there are cp"),
        (["--sort", "time"], "'time' is not one of 'run', 'cycles', 'macs', 'bytes'"),
        (["--min-percent", "101"], "101"),
        (["--min-percent", "nan"], "nan is not a number from 0 to 100"),
        (["--limit", "-1"], "-1"),
        (["--context", "-1"], "-1"),
        (["--item", "2"], "there is no item 2, the last one is 0"),
        (["--json", "loop.s"], "loop.s is an input: it is not overwritten"),
        (["--json", "none/l.json"], "cannot write none/l.json"),
        (["--json", ""], "the name is empty"),
        (["-i", "x=x.npy"], "cannot read x.npy"),
        (["--device", "tinny"], "no device is called 'tinny'"),
    ],
)
def test_errors(tool: Tool, options: list[str], text: str) -> None:
    done = tool(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_failed_says_so(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "loop.s").write_text(SOURCE.replace("a0, 0\n", "a0, 3\n"))
    done = tool("--json", "p.json")
    assert done.returncode == 0
    first = "loop.s on tiny: 324 cycles; the program failed with exit code 3\n"
    assert done.stdout.startswith(first)
    assert json.loads((tmp_path / "p.json").read_text("utf-8"))["exit_code"] == 3


def test_a_program_that_does_not_end(tool: Tool) -> None:
    done = tool("--max-cycles", "20")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the program does not end by itself: cycle limit: 20 cycles are over" in done.stderr
