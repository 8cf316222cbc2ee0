"""`macaw profile`: its output, its files, its exit status and its errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from macaw.cli import run_command
from macaw.profiling.model import from_json
from tests.macaw.conftest import ROOT, Macaw
from tests.macaw.profile.shared_runs import shared_runs

pytestmark = pytest.mark.once


class Done(NamedTuple):
    """The result of a command, with the attributes of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


Tool = Callable[..., Done]


@pytest.fixture(scope="module", autouse=True)
def _shared_runs() -> Iterator[None]:
    with shared_runs():
        yield


@pytest.fixture
def tool(layer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tool:
    """A function that runs `macaw profile layer.s` with arguments in the layer's folder."""
    monkeypatch.chdir(layer.parent)

    def run(*arguments: str) -> Done:
        status = run_command(["profile", "layer.s", *arguments])
        return Done(status, *capsys.readouterr())

    return run


def test_a_report(macaw: Macaw, layer: Path) -> None:
    """The report has all rows and metrics, and compares goals (seed 001 ¶81-85)."""
    done = macaw("profile", layer, "-i", "x=x.npy")
    assert (done.returncode, done.stderr) == (0, "")
    assert "layer.s on tiny: 237 cycles" in " ".join(done.stdout.split())  # a long path wraps
    for row in ("cp", "dma", "pe", "vc", "nnp", "fim"):
        assert f"{row} " in done.stdout
    assert "bottleneck: cp" in done.stdout


def test_json_is_the_profile(tool: Tool, layer: Path) -> None:
    printed = tool("-i", "x=x.npy", "--json", "-")
    assert (printed.returncode, printed.stderr) == (0, "")
    found = from_json(json.loads(printed.stdout))
    assert (found.program, found.device, found.cycles) == ("layer.s", "tiny", 237)
    done = tool("-i", "x=x.npy", "--json", "p.json")
    assert "bottleneck: cp" in done.stdout
    assert from_json(json.loads((layer.parent / "p.json").read_text())) == found


def test_one_output_goes_to_standard_output(tool: Tool, layer: Path) -> None:
    assert tool("-i", "x=x.npy", "--html", "p.html").returncode == 0
    done = tool("-i", "x=x.npy", "--html", "-", "--json", "p.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (layer.parent / "p.html").read_text("utf-8")
    both = tool("-i", "x=x.npy", "--html", "-", "--json", "-")
    assert (both.returncode, both.stdout) == (2, "")
    assert both.stderr == "macaw: error: two outputs cannot both go to -\n"
    assert not (layer.parent / "-").exists()


def test_all_files_of_a_run(tool: Tool, layer: Path) -> None:
    pytest.importorskip("perfetto")
    done = tool(
        "-i",
        "x=x.npy",
        "--json",
        "p.json",
        "--html",
        "p.html",
        "--perfetto",
        "p.pftrace",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (layer.parent / "p.html").read_bytes().lower().startswith(b"<!doctype html>")
    assert (layer.parent / "p.pftrace").stat().st_size > 100


@pytest.mark.parametrize(
    ("goal", "status", "text"),
    [
        ("cycles=237", 0, "met"),
        ("cycles=236", 1, "1 too many"),
        ("utilisation=0.99", 1, "at least 0.99 wanted"),
    ],
)
def test_goals_give_the_exit_status(
    tool: Tool, layer: Path, goal: str, status: int, text: str
) -> None:
    """The exit status says whether the total time meets a goal (seed 001 ¶111)."""
    done = tool("-i", "x=x.npy", "--goal", goal)
    assert done.returncode == status
    assert text in done.stdout


def test_a_guide_and_what_improved(tool: Tool, layer: Path) -> None:
    """One loop of the method: `--guide` names a step, and `--against` shows what improved."""
    first = tool("-i", "x=x.npy", "--json", "old.json", "--guide")
    assert first.returncode == 0
    assert "710" in first.stdout
    layer.write_text(layer.read_text().replace(".device tiny", ".device base"))
    done = tool(
        "-i",
        "x=x.npy",
        "--against",
        "old.json",
        "--allow",
        "program",
        "--guide",
        "--goal",
        "cycles=100000",
    )
    assert done.returncode == 0
    assert "cycles: 237 before" in done.stdout
    assert "728" in done.stdout


def test_against_names_what_is_not_the_same(tool: Tool, layer: Path) -> None:
    """`--against` says if the program, the device or the inputs differ (F33)."""
    tool("-i", "x=x.npy", "--json", "old.json")
    same = tool("-i", "x=x.npy", "--against", "old.json").stdout
    assert "note" not in same
    assert "cycles: 237 before, 237 now (+0.0%), as before" in same
    np.save(layer.parent / "z.npy", np.load(layer.parent / "x.npy") * 0)
    layer.write_text(
        layer.read_text().replace("        .core   cp\n", "        .core   cp\n        nop\n", 1)
    )
    options = ["-i", "x=z.npy", "--against", "old.json", "--device", "base"]
    refused = tool(*options)
    assert (refused.returncode, refused.stdout) == (2, "")
    changed = "layer.s was changed, or gives another program for another device; the inputs are"
    assert f"old.json is the profile of another run: {changed}" in refused.stderr
    assert "allow program and inputs to compare them all the same" in refused.stderr
    found = tool(*options, "--allow", "program", "--allow", "inputs").stdout
    assert "the device is another one: tiny before, base now" in found
    assert "the inputs are others (other values of x), so nothing is called better" in found
    assert "better cycles" not in found
    layer.write_text(layer.read_text() + "\n# a comment is no change\n")
    tool("-i", "x=x.npy", "--json", "new.json")
    layer.write_text(layer.read_text() + "\n# nor is another one\n")
    assert "note" not in tool("-i", "x=x.npy", "--against", "new.json").stdout


def test_marks_without_instructions_between_them(tool: Tool, layer: Path) -> None:
    """They make no record: a second trace_begin ends the record of the first one, which is empty."""
    text, (exe,) = layer.read_text(), re.findall(r"\n +exe .*", layer.read_text())
    layer.write_text(text.replace(exe, f"\n trace_begin 0\n trace_end 0{exe}"))
    done = tool("-i", "x=x.npy", "--mode", "mark")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no instruction was recorded: the program reached no marker, or only" in done.stderr
    layer.write_text(text.replace(exe, f"\n trace_begin 0\n trace_begin 0{exe}\n trace_end 0"))
    found = json.loads(tool("-i", "x=x.npy", "--mode", "mark", "--json", "-").stdout)
    (track,) = (track for track in found["tracks"] if track["core"] == "pe[0]")
    assert [item["instructions"] for item in track["slices"]] == [1]


def test_marks_that_are_not_there(tool: Tool) -> None:
    """Mark mode without a marker is an error, not an empty profile (F36)."""
    done = tool("-i", "x=x.npy", "--mode", "mark")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no instruction was recorded: the program reached no marker" in done.stderr
    assert "bracket instructions with trace_begin and trace_end" in done.stderr


def test_a_foreign_executable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that gcc compiled has a profile, with the cycles of a plain run (F34).

    The findings of another one name lines of its C source.
    """
    monkeypatch.chdir(ROOT)
    assert run_command(["profile", "tests/emu/c/tour.elf", "--no-findings", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    found = from_json(json.loads(out))
    assert (found.cycles, err) == (114198, "")
    (cp,) = (item for item in found.rows if item.slices)
    assert sum(item.instructions for item in cp.slices) == 82138
    assert {item.place.partition("+")[0] for item in cp.slices} >= {"main", "print_number"}
    layer = ("programs/c_layer/c_layer.elf", "-i", "x=programs/c_layer/x.npy")
    assert run_command(["profile", *layer, "--json", "-"]) == 0
    found = from_json(json.loads(capsys.readouterr().out))
    assert any(item.core == "cp" and "main.c:" in item.where for item in found.findings)


def test_a_threshold_judges(tool: Tool, layer: Path) -> None:
    strict, mild = (
        from_json(
            json.loads(
                tool(
                    "-i",
                    "x=x.npy",
                    "--json",
                    "-",
                    "--threshold",
                    f"utilisation={v}",
                ).stdout
            )
        )
        for v in (0.99, 0)
    )
    assert any(finding.metric.key == "utilisation" for finding in strict.missed_thresholds)
    assert not any(finding.metric.key == "utilisation" for finding in mild.missed_thresholds)


def test_jobs_and_jitter(tool: Tool, layer: Path) -> None:
    options = ["-i", "x=x.npy", "--json", "-", "--segments", "3", "--jitter", "2", "--repeat", "2"]
    one = tool(*options)
    two = tool(*options, "--jobs", "2")
    assert one.stderr == two.stderr == ""
    assert json.loads(one.stdout) == json.loads(two.stdout)
    found = from_json(json.loads(one.stdout))
    assert found.merge is not None
    assert len(found.merge.runs) == 6


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--num", "0"], "'0' is not N or CORE=N, a number from 1 on"),
        (["--num", "cp=x"], "'cp=x' is not N or CORE=N"),
        (["--num", "9" * 5000], "9' is not N or CORE=N"),
        (["--num", "3", "--num", "4"], "N is given twice"),
        (["--num", "cp=3", "--num", "cp=4"], "cp is given twice"),
        (["--num", "ccp=3"], "no core is called 'ccp'"),
        (["--goal", "cycles"], "'cycles' is not KEY=NUMBER, a number from 0 on"),
        (["--goal", "cycles=-1"], "'cycles=-1' is not KEY=NUMBER"),
        (["--goal", "cycles=nan"], "'cycles=nan' is not KEY=NUMBER"),
        (["--goal", "cycles=1", "--goal", "cycles=2"], "cycles is given twice"),
        (["--goal", "speed=1"], "no goal is called 'speed'"),
        (["--threshold", "late=x"], "'late=x' is not KEY=NUMBER"),
        (["--threshold", "lat=1"], "no metric with a threshold is called 'lat'"),
        (["--mode", "loud"], "loud"),
        (["--mode", "mark", "--num", "3"], "'num' is for auto mode"),
        (["--repeat", "2"], "'repeat' takes the mean of runs that differ"),
        (["--segments", "1"], "1 segment is nothing to merge"),
        (["--segments", "1", "--max-cycles", "1"], "1 segment is nothing"),  # without a run
        (["--segments", "3", "--shared", "4"], "segments cannot share 4 of 4"),
        (["--groups", "99"], "trace.groups"),
        (["--item", "3"], "there is no item 3"),
        (["--against", "x.npy"], "x.npy is no JSON"),
        (["--against", "none.json"], "macaw: error: cannot read none.json: No such file"),
        (["--against", "other.json"], "other.json holds no profile"),
        (["--allow", "program"], "'allow' is for a comparison"),
        (["--allow", "device"], "'device' is not one of 'program', 'inputs', 'shape'"),
        (["--json", "layer.s"], "layer.s is an input: it is not overwritten"),
        (["--html", "x.npy"], "x.npy is an input: it is not overwritten"),
        (
            ["--energy", "table.toml", "--html", "table.toml"],
            "table.toml is an input: it is not overwritten",
        ),
        (["--json", "a", "--html", "./a"], "one file: it cannot hold both"),
        (["--json", "none/p.json"], "cannot write none/p.json"),
        (["--json", ""], "Invalid value for '--json': the name is empty"),
        (["--energy", ""], "Invalid value for '--energy': the name is empty"),
        (["--against", ""], "Invalid value for '--against': the name is empty"),
        (["--jobs", "2", "--scheduler", "tcp://localhost:1"], "--jobs is for processes here"),
        (["--device", "tinny"], "no device is called 'tinny'"),
    ],
)
def test_errors(tool: Tool, layer: Path, options: list[str], text: str) -> None:
    (layer.parent / "other.json").write_text("{}")
    (layer.parent / "table.toml").write_text("")
    done = tool("-i", "x=x.npy", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_does_not_end(tool: Tool, layer: Path) -> None:
    done = tool("-i", "x=x.npy", "--max-cycles", "20")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the program does not end by itself: cycle limit: 20 cycles are over" in done.stderr


def test_a_batch_has_items(tool: Tool, layer: Path) -> None:
    x = np.load(layer.parent / "x.npy")
    np.save(layer.parent / "xs.npy", np.stack([x, x * 0]))
    one, two = (
        json.loads(tool("-i", "x=xs.npy", "--item", str(item), "--json", "-").stdout)
        for item in (0, 1)
    )
    assert one["cycles"] == 237 != two["cycles"]


def test_a_program_that_failed_is_profiled_and_says_so(tool: Tool) -> None:
    text = ".core cp\n_start: li a0, {}\n li a7, 93\n ecall\n"
    for code in (0, 3):
        Path("layer.s").write_text(text.format(code))
        done = tool("--json", "p.json", "--html", "p.html")
        assert done.returncode == 0
        said = "; the program failed with exit code 3" in " ".join(done.stdout.split())
        assert said == bool(code)
        assert json.loads(Path("p.json").read_text("utf-8"))["exit_code"] == code
        assert ("failed with exit code 3" in Path("p.html").read_text("utf-8")) == bool(code)
