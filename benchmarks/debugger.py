"""The costs of debugging: breakpoints, conditions, watches, checkpoints and steps back.

The programs are the loop of `benchmarks.scalar` on cp, and the digits perceptron on the array.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np

import macaw
from benchmarks.figures import LOWER, Effort, Figure, ratio
from benchmarks.measure import ROUNDS, timed
from benchmarks.scalar import CP, PASSES
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.debugger.session import Session
from macaw.emu.device import Device
from macaw.execution import configuration_of

DEMO = Path(__file__).parents[1] / "programs" / "digits_mlp"
Setting = tuple[str, str, dict[str, str]]
NONE: list[Setting] = []
# What is set, beside the plain run: the points never stop it.
SCALAR: dict[str, list[Setting]] = {
    "a breakpoint that is never reached": [("break", "never", {})],
    "a breakpoint in the loop with a condition on one register": [
        ("break", "loop", {"condition": "a2 == 12345678"})
    ],
    "a breakpoint in the loop with a condition on two registers": [
        ("break", "loop+12", {"condition": "a2 < 0 || a0 > a1 + 4096"})
    ],
    "a breakpoint in the loop with a condition on memory": [
        ("break", "loop", {"condition": "mem[array+4] == 1"})
    ],
    "a watch of memory that nobody writes": [("watch", "mem[0]", {})],
}
ARRAY: dict[str, list[Setting]] = {
    "a breakpoint in cp with a condition on one register": [
        ("break", "_start", {"condition": "a0 == 77"})
    ],
    "a condition on all PEs, tested at each exe": [
        ("catch", "exe", {"condition": "sum(pe[*,*].*.macs) < 0"})
    ],
    "a watch of the output's last element": [("watch", "y[79,9] == 77", {})],
}


def _session(program: Program, inputs: dict[str, object], settings: list[Setting]) -> Session:
    debug = Session(program, configuration_of(program), inputs)
    for kind, text, more in settings:
        debug.points.add(kind, text, **more)
    return debug


def _plain(program: Program, inputs: dict[str, object]) -> float:
    device = Device(configuration_of(program))
    device.load(program)
    for name, array in inputs.items():
        device.write_tensor(name, array)
    return timed(device.run)


def _ends(debug: Session) -> Callable[[], None]:
    def run() -> None:
        stop = debug.cont()
        assert stop.reason == "exit", stop

    return run


def _ratios(
    program: Program, inputs: dict[str, object], cases: dict[str, list[Setting]], rounds: int
) -> dict[str, list[float]]:
    """Return the CPU seconds of the plain run and of each case in each round, by name."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        found.setdefault("plain run, no session", []).append(_plain(program, inputs))
        for name, settings in {"a session with checkpoints": NONE, **cases}.items():
            found.setdefault(name, []).append(timed(_ends(_session(program, inputs, settings))))
    return found


def _figures(found: dict[str, list[float]], table: str) -> Iterator[Figure]:
    plain = found["plain run, no session"]
    for name, seconds in found.items():
        yield Figure(name, "ms", tuple(1000 * x for x in seconds), LOWER, table=table)
        if seconds is not plain:
            yield ratio(name, "times the plain run", seconds, plain, LOWER, "plain run", table)


def _interrupted(program: Program) -> float:
    """Return the seconds from an interrupt to the stop, in a run that would not end by itself."""
    debug = _session(program, {}, NONE)
    asked: list[float] = []

    def ask() -> None:
        asked.append(time.perf_counter())
        debug.interrupt()

    timer = threading.Timer(0.3, ask)
    timer.start()
    debug.cont()
    return time.perf_counter() - asked[0]


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the costs of breakpoints, checkpoints, steps back and interrupts, on two programs."""
    rounds = effort.rounds(ROUNDS)
    text = CP.replace("        ecall\n", "        ecall\nnever:  nop\n")
    if effort.small:
        text = text.replace(f"s0, {PASSES}", "s0, 4")
    scalar = macaw.assemble(Source(text, "loop.s"))
    yield from _figures(_ratios(scalar, {}, SCALAR, rounds), "cp")
    demo = macaw.assemble(DEMO / "digits_mlp.s")
    inputs: dict[str, object] = {"x": np.load(DEMO / "images.npy")[0]}
    if not effort.small:
        yield from _figures(_ratios(demo, inputs, ARRAY, rounds), "digits_mlp")
    yield from _demo(demo, inputs, rounds)
    forever = macaw.assemble(Source(".core cp\n_start: addi a0, a0, 1\n j _start\n", "loop.s"))
    waits = tuple(1000 * _interrupted(forever) for _ in range(rounds))
    yield Figure("from an interrupt to the stop, ms", "value", waits, LOWER, table="sessions")


class _Timed:
    """A function that adds up the CPU seconds of its calls."""

    def __init__(self, act: Callable[..., int]) -> None:
        self.act, self.seconds = act, 0.0

    def __call__(self, *arguments: bool, **named: bool) -> int:
        begin = time.process_time()
        found = self.act(*arguments, **named)
        self.seconds += time.process_time() - begin
        return found


def _demo(demo: Program, inputs: dict[str, object], rounds: int) -> Iterator[Figure]:
    """Yield the figures of checkpoints and steps back in the digits perceptron."""
    shares, sizes, backs = [], [], []
    for _ in range(rounds):
        debug = _session(demo, inputs, NONE)
        with patch.object(debug._runner, "checkpoint", _Timed(debug._runner.checkpoint)) as taking:
            whole = timed(_ends(debug))
        spent = taking.seconds
        shares.append(100 * spent / (whole - spent))
        sizes.append(debug.checkpoint_bytes / (1 << 20))
        slowest = 0.0
        for step in (debug.stepi_back, debug.stepc_back, debug.back):
            debug.goto(1 << 40)
            slowest = max(slowest, 1000 * timed(step))
        backs.append(slowest)
    for row, values in (
        ("checkpoints, % of the demo's run time", shares),
        ("checkpoints, MiB", sizes),
        ("the slowest step back from the demo's end, ms", backs),
    ):
        yield Figure(row, "value", tuple(values), LOWER, table="sessions")
