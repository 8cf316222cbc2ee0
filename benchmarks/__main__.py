"""Runs all benchmarks, or those that are named, and writes docs/benchmarks.md from the results.

    python -m benchmarks [--short] [--resume] [NAME ...]     docs/benchmarks.json keeps the results
    python -m benchmarks --load N [NAME ...]    with N busy processes beside: benchmarks-load-N.json
    python -m benchmarks --page                 write the page alone
    python -m benchmarks --smoke [NAME ...]     run each once, on small inputs; nothing is kept
    python -m benchmarks --compare OLD.json [NEW.json]

When a benchmark ends, its result is saved and the page is written. `--resume` leaves out benchmarks
that have a result of this commit, `--short` the long benchmarks. `--load` measures only benchmarks
with a goal. So does a Python other than 3.11; its results (benchmarks-3.13.json) are a column of
the page. Exit status 1 of `--compare`: a benchmark became slower by more than the noise.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks import machine, results
from benchmarks.figures import Effort, Figure, Skipped, parse_figure
from benchmarks.results import Origin, Result

DOCS = machine.ROOT / "docs"
RESULTS = DOCS / "benchmarks.json"
PAGE = DOCS / "benchmarks.md"
PYTHON = (3, 11)  # results of other versions are a column of the goals
LONG = ("network_layers", "deepbench", "tracing", "resnet50")  # --short leaves them out
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
    "floors": (),
    "tracing": (),
    "debugger": (),
    "debugger_screen": (),
    "causes": (),
    "protection": (),
    "editing": ("pygls", "lsprotocol"),
    "startup": (),
    "commands": (),
    "golden": (),
    "sweeps": (),
    "compiling": ("onnx",),
    "resnet50": ("onnx",),
}


@dataclass(frozen=True)
class Measured:
    """The figures that a benchmark yielded, and the peers that it left out."""

    figures: tuple[Figure, ...]
    skipped: tuple[Skipped, ...]


def missing(name: str) -> Skipped | None:
    """Return the reason why a benchmark cannot run here; None if it can."""
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
    """Run each of the benchmarks `names` once, on small inputs, in this process."""
    for name in names:
        begin = sum(os.times()[:4])  # CPU time of this process and its children
        found = measured(name, Effort(small=True))
        seconds = sum(os.times()[:4]) - begin
        print(f"{name}: {len(found.figures)} figures, {seconds:.1f} s of CPU time", flush=True)
        for item in found.skipped:
            print(f"{name}: skipped {item.what}: {item.reason}", flush=True)


def measure(names: list[str], resume: bool, path: Path) -> None:
    """Run each of the benchmarks `names` in its own process, and save each result in file `path`.

    So no benchmark inherits the memory of another one. With `resume`, benchmarks that have a result
    of this commit are left out.
    """
    from benchmarks.calibration import mix, speeds

    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has bytecode, too
    saved = results.read(path) if path.exists() else {}
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
        results.write(path, saved)
        write_page()
        print(f"{name}: {len(found.figures)} figures, {origin.seconds:.0f} s", flush=True)


@contextlib.contextmanager
def busy(processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start this many processes, which keep the processor busy while the `with` block runs."""
    code = "while True: sum(range(100_000))"
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(processes)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def write_page() -> None:
    """Write docs/benchmarks.md from the results."""
    from benchmarks.page import page
    from macaw import files

    files.write_bytes(PAGE, page(DOCS).encode())


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
    """Print which benchmarks became slower between two files of results; return the exit status.

    `paths` are the old file and the new one, by default docs/benchmarks.json. The status is 1 if a
    benchmark became slower, else 0.
    """
    from benchmarks.comparison import compare, report

    if len(paths) > 2:
        sys.exit("--compare needs one or two files")
    old, new = (results.read(Path(x)) for x in [*paths, str(RESULTS)][:2])
    found = compare(old, new)
    print(report(found), end="")
    return int(bool(found.slower))


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )  # fmt: skip
    parser.add_argument("names", nargs="*")
    parser.add_argument("--load", type=int, default=0, metavar="N")
    for option in ("--short", "--resume", "--page", "--smoke", "--compare"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--figures", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Measure, write the page or compare, as the command line says; return the exit status."""
    words = _words()
    if words.compare:
        return compared(words.names)
    for name in words.names:
        if name not in CASES:
            sys.exit(f"no benchmark is called '{name}', there are {', '.join(CASES)}")
    names = words.names or [x for x in CASES if not (words.short and x in LONG)]
    if words.figures:
        Path(words.figures).write_text(json.dumps(asdict(measured(names[0], Effort()))), "utf-8")
    elif words.smoke:
        smoke(names)
    elif words.page:
        write_page()
    else:
        _measure_and_write(names, words)
    return 0


def results_path(load: int, version: tuple[int, int]) -> Path:
    """Return the file of the results for `load` busy processes and this version of Python."""
    from benchmarks.page import LOADED_RESULTS

    if load:
        return DOCS / LOADED_RESULTS.format(load)
    return RESULTS if version == PYTHON else DOCS / f"benchmarks-{version[0]}.{version[1]}.json"


def _measure_and_write(names: list[str], words: argparse.Namespace) -> None:
    """Measure the benchmarks `names`, and write the page; `words` are the command line's options.

    With busy processes, or on another Python than 3.11, measure only benchmarks with a goal.
    """
    from benchmarks.goals import GOALS

    path = results_path(words.load, sys.version_info[:2])
    if path != RESULTS and not words.names:
        with_goal = {goal.case for goal in GOALS} - set(LONG)
        names = [x for x in CASES if x in with_goal]
    with busy(words.load):
        measure(names, words.resume, path)
    print(
        f"{path.relative_to(machine.ROOT)} has the results, {PAGE.relative_to(machine.ROOT)} shows them"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except results.ResultsError as error:
        sys.exit(str(error))
