"""All benchmarks, or those that are named.

    python -m benchmarks [--resume] [NAME ...]      measure; docs/benchmarks.json keeps the results
    python -m benchmarks --smoke [NAME ...]         run each once, on small inputs; nothing is kept
    python -m benchmarks --compare OLD.json [NEW.json]

A result is saved when its benchmark ends. `--resume` leaves out what has a result of this commit.
Exit status 1 of `--compare`: something became slower by more than the noise.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks import machine, results
from benchmarks.figures import Effort, Figure, Skipped, parse_figure
from benchmarks.results import Origin, Result

RESULTS = machine.ROOT / "docs" / "benchmarks.json"
# By name: the modules and commands without which a benchmark cannot run.
CASES: dict[str, tuple[str, ...]] = {
    "calibration": (),
    "assembling": (),
    "repeating": ("riscv64-unknown-elf-as",),
    "disassembling": (),
    "scalar": (),
    "array": ("scipy",),
    "network_layers": (),
    "sparse": ("scipy",),
    "engines": (),
    "dma": (),
    "nnp": (),
    "deepbench": (),
    "fim": (),
    "tracing": (),
    "debugger": (),
    "debugger_screen": (),
    "protection": (),
    "editing": ("pygls", "lsprotocol"),
    "startup": (),
    "sweeps": (),
}


@dataclass(frozen=True)
class Measured:
    """What a benchmark yielded."""

    figures: tuple[Figure, ...]
    skipped: tuple[Skipped, ...]


def missing(name: str) -> Skipped | None:
    """Why a benchmark cannot run here, if so."""
    for need in CASES[name]:
        if find_spec(need) is None and shutil.which(need) is None:
            return Skipped(name, f"{need} is not installed")
    return None


def measured(name: str, effort: Effort) -> Measured:
    """Run a benchmark in this process."""
    if (skipped := missing(name)) is not None:
        return Measured((), (skipped,))
    found = list(importlib.import_module(f"benchmarks.{name}").measure(effort))
    return Measured(
        tuple(x for x in found if isinstance(x, Figure)),
        tuple(x for x in found if isinstance(x, Skipped)),
    )


def smoke(names: list[str]) -> None:
    """Run each benchmark once, on small inputs, in this process."""
    for name in names:
        begin = sum(os.times()[:4])  # of this process and of those that it started
        found = measured(name, Effort(small=True))
        seconds = sum(os.times()[:4]) - begin
        print(f"{name}: {len(found.figures)} figures, {seconds:.1f} s of CPU time", flush=True)
        for item in found.skipped:
            print(f"{name}: skipped {item.what}: {item.reason}", flush=True)


def measure(names: list[str], resume: bool) -> None:
    """Run each in a process of its own, so that none inherits another's memory; save each result."""
    from benchmarks.calibration import mix, speeds

    saved = results.read(RESULTS) if RESULTS.exists() else {}
    commit, speed, versions = machine.commit(), speeds(mix()), machine.versions()
    for name in names:
        if resume and name in saved and saved[name].origin.commit == commit:
            print(f"{name}: measured at {commit} already", flush=True)
            continue
        before, begin = machine.load(), time.perf_counter()
        found = _in_a_process(name)
        origin = Origin(
            machine.today(), commit, machine.processor(), versions, (before, machine.load()),
            speed, round(time.perf_counter() - begin, 1),
        )  # fmt: skip
        saved[name] = Result(origin, found.figures, found.skipped)
        results.write(RESULTS, saved)
        print(f"{name}: {len(found.figures)} figures, {origin.seconds:.0f} s", flush=True)


def _in_a_process(name: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "figures.json")
        command = [sys.executable, "-m", "benchmarks", "--figures", str(path), name]
        if status := subprocess.run(command).returncode:
            sys.exit(f"{name} ended with {status}; the results before it are saved: --resume")
        found = json.loads(path.read_text("utf-8"))
    figures = tuple(map(parse_figure, found["figures"]))
    return Measured(figures, tuple(Skipped(**x) for x in found["skipped"]))


def compared(paths: list[str]) -> int:
    """Print what became slower; the exit status."""
    from benchmarks.comparison import compare, report

    if len(paths) > 2:
        sys.exit("--compare needs one or two files")
    old, new = (results.read(Path(x)) for x in [*paths, str(RESULTS)][:2])
    found = compare(old, new)
    print(report(found), end="")
    return int(bool(found.slower))


def main() -> int:
    """Measure, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("names", nargs="*")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--figures", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.compare:
        return compared(words.names)
    for name in words.names:
        if name not in CASES:
            sys.exit(f"no benchmark is called '{name}', there are {', '.join(CASES)}")
    names = words.names or list(CASES)
    if words.figures:
        Path(words.figures).write_text(json.dumps(asdict(measured(names[0], Effort()))), "utf-8")
    elif words.smoke:
        smoke(names)
    else:
        measure(names, words.resume)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except results.ResultsError as error:
        sys.exit(str(error))
