"""The price of weight protection: the digits network on vc, with permuted and with plain weights.

Cycles are cycles of the emulated core, which are the same on every machine. Rates are products of
pmac in a second of CPU time on this machine.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from benchmarks.figures import HIGHER, Effort, Figure, count
from benchmarks.measure import ROUNDS, timed
from macaw import Run

PROGRAM = Path(__file__).parents[1] / "programs" / "digits_protected" / "protected.py"


def network() -> ModuleType:
    """Return the module programs/digits_protected/protected.py, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("digits_protected", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(protected: ModuleType, name: str, rounds: int) -> tuple[Run, list[float]]:
    """Return a run of the variant `name` with eighty images, and the CPU seconds of each run."""
    images, _ = protected.reference.load_test_set()
    program = protected.program(name)
    values = protected.plain_inputs()
    if name in protected.SCOPES:
        values = protected.inputs(protected.protect(name))
    runs: list[Run] = []

    def once() -> None:
        runs.append(protected.run(program, values, images[0]))

    seconds = [timed(once) for _ in range(rounds)]
    if (runs[-1].outputs["y"] != protected.reference.forward(images[0])).any():
        raise SystemExit(f"{name}: the outputs are not those of the plain network")
    return runs[-1], seconds


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the cycles and rates of each scope."""
    protected = network()
    plain = 0
    for name in ("plain",) if effort.small else ("plain", *protected.SCOPES):
        run, seconds = measured(protected, name, effort.rounds(ROUNDS))
        plain = plain or run.cycles
        scope, products = protected.SCOPES.get(name, "plain"), run.counters["vc"]["products"]
        yield count(scope, "cycles", run.cycles)
        if name != "plain":
            yield count(scope, "more than plain, %", 100 * (run.cycles / plain - 1))
        yield Figure(
            scope, "thousand products/s", tuple(products / x / 1000 for x in seconds), HIGHER
        )
