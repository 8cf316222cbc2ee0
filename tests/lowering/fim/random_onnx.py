"""Random ONNX models on islands: right bits, or an error that names a node.

    python -m tests.lowering.fim.random_onnx --count 1000 --seed 0

Each model is also compared with onnxruntime, in float64 without the islands' roundings. With
`--format int8` each model is quantised first and compared with the definition of networks.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

import macaw
from macaw.commands.lower_fim import budget
from macaw.fim_lowering import RESIDENT
from macaw.isa.fim_circuit import FORMAT_NAMES, FORMATS, NumberFormat
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.onnx_graph import read
from macaw.lowering.onnx.pipeline import Plan, quantise_model
from tests.lowering.fim.quantised_models import compared
from tests.lowering.fim.random_models import random_model
from tests.lowering.fim.running import modelled, numpy_type, with_bf16
from tests.lowering.nnp.running import inputs_of


@dataclass(frozen=True)
class Outcome:
    """Why a model is refused, or its predicted and its emulated cycles.

    `early` is the number of steps whose constants are copied in advance, `held` the number of steps
    that use constants of an earlier step again.
    """

    refusal: str = ""
    predicted: int = 0
    cycles: int = 0
    early: int = 0
    held: int = 0

    @property
    def off(self) -> float:
        """The error of the prediction, as a share of the emulated cycles."""
        return abs(self.predicted / self.cycles - 1)


def checked(seed: int, form: NumberFormat = FORMATS[0], resident: float = RESIDENT) -> Outcome:
    """Lower and run a random model; compare all bits of its results with the model of islands.

    `resident` is the argument of `macaw.lower_graph`. Check that the run takes at least the cycles
    of the lower bound. For bf16 the device is `with_bf16`, and both engines run the program. For
    int8 see `quantised`.
    """
    random = np.random.default_rng(seed)
    made = random_model(random)
    given = inputs_of(made, random)
    if form.is_integer:
        return quantised(made, given)
    try:
        device = with_bf16() if form.name == "bf16" else "base"
        found = macaw.lower_graph(made, number_format=form.name, device=device, resident=resident)
    except macaw.InputError as error:
        return Outcome(str(error))
    compare_with_onnxruntime(read(made, form=0).graph, made, given)
    dtype = numpy_type(form)
    inputs = {
        tensor.name: np.asarray(array, dtype).reshape(found.graph.shape(tensor))
        for tensor, array in zip(found.graph.inputs, given.values(), strict=True)
    }
    program = found.assemble()
    run = macaw.run(program, inputs)
    for name, wanted in modelled(found.plan, found.graph, inputs).items():
        np.testing.assert_array_equal(run.outputs[name], wanted)
    if form.name == "bf16":
        slow = macaw.run(program, inputs, engine="reference")
        assert slow.cycles == run.cycles
        for name, array in slow.outputs.items():
            np.testing.assert_array_equal(array.view("u4"), run.outputs[name].view("u4"))
    assert found.least_cycles <= run.cycles
    plan = found.plan
    return Outcome("", found.cycles, run.cycles, len(plan.prefetched), len(plan.holders))


def quantised(made: Any, given: Mapping[str, NDArray[np.float32]]) -> Outcome:
    """Quantise a model, as `macaw quantise` does, and compare its results with the definition."""
    try:
        found, run = compared(quantise_model(made, dict(given), Plan()).model, given)
    except (macaw.InputError, LowerError) as error:
        return Outcome(str(error))
    return Outcome("", found.cycles, run.cycles)


def compare_with_onnxruntime(
    graph: Graph, made: Any, given: Mapping[str, NDArray[np.float32]]
) -> None:
    """Check that a graph of tasks, in float64, computes what onnxruntime does."""
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    matrices = {
        tensor.name: array.reshape(tensor.rows, tensor.columns)
        for tensor, array in zip(graph.inputs, given.values(), strict=True)
    }
    values = graph.evaluate(matrices)
    for tensor, wanted in zip(graph.results, session.run(None, dict(given)), strict=True):
        found = values[tensor.name].reshape(wanted.shape)
        # onnxruntime's Sigmoid of a number below -18 is 0, so that a quotient may be infinite there.
        known = np.isfinite(wanted)
        most = max(1e-3, float(np.abs(wanted[known]).max(initial=0)))
        # constants are rounded to fp16
        np.testing.assert_allclose(found[known], wanted[known], rtol=0, atol=0.05 * most)


def main() -> None:
    """Check many models, and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=FORMAT_NAMES, default=FORMAT_NAMES[0])
    parser.add_argument("--resident", default="50%", help="as of macaw compile --core fim")
    options = parser.parse_args()
    form = FORMATS[FORMAT_NAMES.index(options.format)]
    whys: Counter[str] = Counter()
    early = held = 0
    off: list[tuple[float, int, int]] = []
    for seed in range(options.seed, options.seed + options.count):
        try:
            outcome = checked(seed, form, budget(options.resident))
        except Exception as error:  # every one of them is a finding
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        if outcome.refusal:
            whys[outcome.refusal.split("(", 1)[-1]] += 1
        else:
            off.append((outcome.off, outcome.cycles, seed))
            early, held = early + (outcome.early > 0), held + (outcome.held > 0)
    for why, count in whys.most_common(20):
        print(f"{count} refused: ({why}")
    off.sort()
    print(f"{len(off)} exact, {sum(whys.values())} refused, of {options.count}")
    print(f"{early} programs copy constants in advance, {held} use them again")
    if off:
        print(
            f"predictions off: {off[len(off) // 2][0]:.2%} in the middle, at most {off[-1][0]:.2%};"
            f" {sum(share > 0.02 for share, _, _ in off)} by more than 2%"
        )
        print(
            "the largest:",
            *(f"{share:.2%} of {cycles} (seed {seed})" for share, cycles, seed in off[-8:]),
        )


if __name__ == "__main__":
    main()
