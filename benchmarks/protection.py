"""The price of weight protection: the digits network on the SIMD core, permuted beside plain.

Cycles are the emulated core's, the same on every machine; products are those of pmac, a second
of CPU time of this machine.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from statistics import median
from types import ModuleType

from benchmarks.measure import ROUNDS, table, thousands, timed
from macaw import Run

PROGRAM = Path(__file__).parents[1] / "programs" / "digits_protected" / "protected.py"


def network() -> ModuleType:
    """programs/digits_protected/protected.py, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("digits_protected", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(protected: ModuleType, name: str) -> tuple[Run, float]:
    """A run on eighty images, and CPU seconds, the median of some."""
    images, _ = protected.reference.load_test_set()
    program = protected.program(name)
    values = protected.plain_inputs()
    if name in protected.SCOPES:
        values = protected.inputs(protected.protect(name))
    runs: list[Run] = []

    def once() -> None:
        runs.append(protected.run(program, values, images[0]))

    seconds = median(timed(once) for _ in range(ROUNDS))
    if (runs[-1].outputs["y"] != protected.reference.forward(images[0])).any():
        raise SystemExit(f"{name}: the outputs are not those of the plain network")
    return runs[-1], seconds


def main() -> None:
    """Print the table."""
    protected = network()
    rows, plain = [], 0
    for name in ("plain", *protected.SCOPES):
        run, seconds = measured(protected, name)
        plain = plain or run.cycles
        rate = run.counters["vc"]["products"] / seconds
        more = f"{run.cycles / plain - 1:+.2%}" if name != "plain" else ""
        scope = protected.SCOPES.get(name, "plain")
        rows.append([scope, f"{run.cycles:,}", more, thousands(rate)])
    print("## Weight protection\n")
    print("80 images of the digits network on the SIMD core, weights permuted and plain.\n")
    print(table(["scope", "cycles", "more than plain", "thousand products/s"], rows))


if __name__ == "__main__":
    main()
