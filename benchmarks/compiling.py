"""`macaw compile` of a network of many shapes in two processes beside one: wall-clock time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import onnx

import macaw
from benchmarks.figures import HIGHER, LOWER, Effort, Figure, Skipped, ratio
from benchmarks.models import UnavailableError
from benchmarks.networks import light

ROUNDS = 3
NAME, ROW = "densenet121", "DenseNet-121"
SMALL = Path(__file__).parents[1] / "programs" / "network" / "digits_int8.onnx"


def seconds(model: Path, folder: Path, jobs: int) -> float:
    """Return the wall-clock seconds of the command with `jobs` processes, with their start."""
    output = folder / f"net{jobs}"
    command = [sys.executable, "-m", "macaw", "compile", str(model), "-o", str(output)]
    start = time.perf_counter()
    subprocess.run([*command, "--jobs", str(jobs)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the seconds of one process and of two, and the ratio round by round."""
    with tempfile.TemporaryDirectory() as name:
        model, row = SMALL, "digits"
        if not effort.small:
            try:
                case = light(NAME, 0.0)
            except UnavailableError as error:
                yield Skipped(ROW, str(error))
                return
            model, row = Path(name, "model.onnx"), ROW
            onnx.save(macaw.quantise(case.model, case.samples[:1]).model, model)
        rounds = [
            (seconds(model, Path(name), 1), seconds(model, Path(name), 2))
            for _ in range(effort.rounds(ROUNDS))
        ]
    one, two = ([pair[place] for pair in rounds] for place in (0, 1))
    yield Figure(row, "one process, s", tuple(one), LOWER)
    yield Figure(row, "two processes, s", tuple(two), LOWER)
    yield ratio(row, "times one process", one, two, HIGHER, "one process")
