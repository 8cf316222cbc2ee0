"""What debugging costs: breakpoints, conditions and watches beside the plain run; checkpoints; a step back.

The loop of `benchmarks.scalar` on cp, its array's bytes; the digits perceptron on the array.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np

import macaw
from benchmarks.measure import ROUNDS, table, target, timed
from benchmarks.scalar import CP
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
) -> list[tuple[str, float, float]]:
    """Seconds and times the plain run of each case, medians of rounds side by side."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        found.setdefault("plain run, no session", []).append(_plain(program, inputs))
        for name, settings in {"a session with checkpoints": NONE, **cases}.items():
            found.setdefault(name, []).append(timed(_ends(_session(program, inputs, settings))))
    plain = median(found["plain run, no session"])
    return [(name, median(times), median(times) / plain) for name, times in found.items()]


def _shown(rows: list[tuple[str, float, float]]) -> str:
    lines = [[name, f"{1000 * seconds:,.0f}", f"{ratio:.2f}"] for name, seconds, ratio in rows]
    return table(["", "ms", "times the plain run"], lines)


def _interrupted(program: Program) -> float:
    """Seconds from an interrupt to the stop, of a run that would not end."""
    debug = _session(program, {}, NONE)
    asked: list[float] = []

    def ask() -> None:
        asked.append(time.perf_counter())
        debug.interrupt()

    timer = threading.Timer(0.3, ask)
    timer.start()
    debug.cont()
    return time.perf_counter() - asked[0]


def main() -> None:
    """Print the tables, and what they were to be."""
    print("## Debugging\n")
    print("Milliseconds of CPU time, medians. cp: 51,200 rounds of a loop of ten instructions.\n")
    text = CP.replace("        ecall\n", "        ecall\nnever:  nop\n")
    scalar = macaw.assemble(Source(text, "loop.s"))
    rows = _ratios(scalar, {}, SCALAR, ROUNDS)
    print(_shown(rows))
    demo = macaw.assemble(DEMO / "digits_mlp.s")
    inputs: dict[str, object] = {"x": np.load(DEMO / "images.npy")[0]}
    print("digits_mlp, eighty images:\n")
    more = _ratios(demo, inputs, ARRAY, ROUNDS)
    print(_shown(more))
    conditions = [x for x in (*rows, *more) if "condition" in x[0] or "the same" in x[0]]
    for name, _, ratio in conditions:
        print(target(f"{name}: below 3 times the plain run ({ratio:.2f})", ratio < 3), end="")
    _demo(demo, inputs)
    forever = macaw.assemble(Source(".core cp\n_start: addi a0, a0, 1\n j _start\n", "loop.s"))
    waits = [_interrupted(forever) for _ in range(ROUNDS)]
    longest = 1000 * max(waits)
    print(target(f"an interrupt stops a run within 50 ms ({longest:.1f})", longest < 50), end="")


class _Timed:
    """A function that knows how long its calls have taken together."""

    def __init__(self, act: Callable[..., int]) -> None:
        self.act, self.seconds = act, 0.0

    def __call__(self, *arguments: bool, **named: bool) -> int:
        begin = time.process_time()
        found = self.act(*arguments, **named)
        self.seconds += time.process_time() - begin
        return found


def _demo(demo: Program, inputs: dict[str, object]) -> None:
    """Checkpoints and steps back on the demo."""
    shares, sizes, backs = [], [], []
    for _ in range(ROUNDS):
        debug = _session(demo, inputs, NONE)
        with patch.object(debug._runner, "checkpoint", _Timed(debug._runner.checkpoint)) as taking:
            whole = timed(_ends(debug))
        spent = taking.seconds
        shares.append(100 * spent / (whole - spent))
        sizes.append(debug.checkpoint_bytes / (1 << 20))
        steps = (debug.stepi_back, debug.stepc_back, debug.back)
        for step in steps:
            debug.goto(1 << 40)
            backs.append(1000 * timed(step))
    print(
        target(
            f"checkpoints take less than 10% of the demo's run time ({median(shares):.1f}%)",
            median(shares) < 10,
        ),
        end="",
    )
    print(
        target(f"checkpoints take less than 200 MiB ({max(sizes):.0f})", max(sizes) < 200), end=""
    )
    print(
        target(
            f"a step back from the end of the demo takes at most 0.2 s ({max(backs):.0f} ms at most)",
            max(backs) < 200,
        ),
        end="",
    )


if __name__ == "__main__":
    main()
