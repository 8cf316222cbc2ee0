"""Profiles, comparisons and annotated sources of small programs are those of files.

`MACAW_GOLDENS=write` writes the files; read them before you keep them.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pytest

from tests.macaw.generated_commands import (
    WIDTHS,
    annotate_options,
    device,
    prepare,
    profile_options,
    run,
)
from tests.macaw.profile.shared_runs import shared_runs
from tests.recorded import check, summary
from tests.small_programs import PROGRAMS

pytestmark = pytest.mark.once
RECORDED = Path(__file__).parent / "recorded"
NAMES = tuple(PROGRAMS)
MOST = 24  # lines of one answer that are recorded


@pytest.fixture(autouse=True)
def _shared_runs() -> Iterator[None]:
    with shared_runs():
        yield
    # A search for the memory of dead devices need not go through what the commands have imported.
    gc.collect()
    gc.freeze()


def _rounded(value: Any) -> Any:
    """Round real numbers: Python 3.12 adds them in another way than 3.11."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


class Recorder:
    """Runs `macaw` on a program in a folder, and collects the outcomes."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder, self.outcomes = folder, dict[str, str]()
        self.words = prepare(name, folder)

    def run(self, command: str, *options: str, width: int = 80, lines: int = MOST) -> None:
        words = [command, *self.words, *options]
        said = run(words, self.folder, width, lines)
        self.outcomes[f"{len(self.outcomes)} {command} {' '.join(options)}"] = said

    def add_file(self, name: str) -> None:
        """Add a summary of each part of a JSON file that a command has written."""
        found: Any = json.loads((self.folder / name).read_text("utf-8"))
        rows = found.items() if isinstance(found, Mapping) else enumerate(found[:0])
        self.outcomes[f"{len(self.outcomes)} {name}"] = "\n".join(
            f"{key}: {summary(json.dumps(_rounded(value), indent=0, sort_keys=True))}"
            for key, value in rows
            if key != "generator"
        )


@pytest.mark.few(4)
@pytest.mark.parametrize("name", NAMES)
def test_profiles(name: str, tmp_path: Path) -> None:
    """All sections at each width, then options at random."""
    recorder, rng = Recorder(name, tmp_path), Random(f"profiles of {name}")
    everything = ("--causes", "--roofline", "--energy", "--lines", "--guide")
    for width in WIDTHS:
        recorder.run("profile", *everything, width=width, lines=200)
    recorder.run("profile", *everything, "--json", "all.json", lines=0)
    recorder.add_file("all.json")
    recorder.run("profile", "--perfetto", "all.trace", "--html", "all.html", lines=0)
    for file in ("all.trace", "all.html"):
        data = (tmp_path / file).read_bytes().replace(str(tmp_path).encode(), b"")
        recorder.outcomes[file] = f"{len(data)} bytes, {crc32(data):08x}"
    for _ in range(6):
        recorder.run("profile", *profile_options(rng), width=rng.choice(WIDTHS))
    check(RECORDED / f"profiles_{name}.txt", recorder.outcomes)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_comparisons(name: str, tmp_path: Path) -> None:
    """Runs with and without noise and repeats, on other devices, with other limits."""
    recorder = Recorder(name, tmp_path)
    slow = device(Random(3), tmp_path)
    noise = ("--jitter", "1", "--repeat", "3")
    runs = {
        "plain.json": (),
        "noise.json": noise,
        "once.json": ("--jitter", "5"),
        "slow.json": ("--device", slow, "--lines", "--causes"),
    }
    for file, options in runs.items():
        recorder.run("profile", *options, "--no-findings", "--json", file, lines=0)
    for old in runs:
        for options in ((), ("--jitter", "9", "--repeat", "4"), ("--device", slow)):
            recorder.run("profile", *options, "--no-findings", "--lines", "--against", old)
    recorder.run("profile", "--against", "slow.json", "--limit", "1", width=200)
    recorder.run("profile", "--against", "slow.json", "--plain", "--lines")
    recorder.run("profile", *noise, "--against", "noise.json", "--json", "both.json", lines=0)
    recorder.add_file("both.json")
    source = tmp_path / PROGRAMS[name].source
    source.write_text(source.read_text("utf-8") + "\n        .core cp\n        nop\n", "utf-8")
    recorder.run("profile", "--against", "plain.json")
    recorder.run("profile", "--against", "plain.json", "--allow", "program", "--lines")
    check(RECORDED / f"comparisons_{name}.txt", recorder.outcomes)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", NAMES)
def test_annotations(name: str, tmp_path: Path) -> None:
    """Each order of the lines, columns by core, and options at random."""
    recorder, rng = Recorder(name, tmp_path), Random(f"annotations of {name}")
    for width in WIDTHS:
        recorder.run("annotate", width=width, lines=200)
    for options in ("--by-core", "--sort cycles", "--sort macs", "--sort bytes", "--plain"):
        recorder.run("annotate", *options.split())
    recorder.run("annotate", "--json", "lines.json", lines=0)
    recorder.add_file("lines.json")
    for _ in range(5):
        recorder.run("annotate", *annotate_options(rng), width=rng.choice(WIDTHS))
    check(RECORDED / f"annotations_{name}.txt", recorder.outcomes)


SWEEPS = (
    ("--set", "cp.divider=1,2"),
    ("--set", "dma.width=16,32", "--set", "mem.external_latency=5,80"),
    ("--set", "dma.width=16,32", "--set", "mem.external_latency=5,80", "--zip"),
    ("--set", "dma.width=16,33,64", "--metric", "cycles", "--metric", "dma.bytes"),
    ("--set", "mem.external_latency=5,20,80", "--pareto", "mem.external_latency,cycles"),
    ("--set", "mem.external_latency=5,20", "--jitter", "1", "--repeat", "3"),
    ("--set", "mem.external_latency=5,20", "--energy"),
    ("--set", "mem.external_latency=5,20,80", "--limit", "1", "--plain"),
    ("--set", "mem.external_latency=5,20", "--csv", "-"),
    ("--set", "nothing=1"),
)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["vc", "pe", "several"])
def test_sweeps(name: str, tmp_path: Path) -> None:
    """Tables of points, refused points, a Pareto front, repeats, energy, CSV."""
    recorder = Recorder(name, tmp_path)
    for number, options in enumerate(SWEEPS):
        recorder.run("sweep", *options, width=WIDTHS[number % len(WIDTHS)])
    recorder.run("sweep", *SWEEPS[1], "--json", "points.json", lines=0)
    recorder.add_file("points.json")
    check(RECORDED / f"sweeps_{name}.txt", recorder.outcomes)
