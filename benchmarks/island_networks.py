"""Networks that islands compute alone: nine light networks, and five of packages.

    python -m benchmarks.island_networks [--plan] [NAME ...]

A network is read as a graph of tasks in fp16 on `base`, and the copies of its gathers and scatters
are made; a refusal names the node or the task. With `--plan`, the graph is planned, too, which takes
minutes for a large one, and the predicted cycles are printed. The light networks have random
weights from a seed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

import macaw
from benchmarks.measure import table
from benchmarks.models import LIGHT, fetched
from benchmarks.networks import light
from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import GATHER, KINDS, SCATTER
from macaw.lowering.fim.host_job import HostJob
from macaw.lowering.fim.onnx_graph import read

RATE = 16_000  # silero-vad's input `sr`, samples a second
SIZES: Mapping[str, Mapping[str, Sequence[int]]] = {  # shapes of inputs of networks from packages
    "text-direction": {"x": (1, 3, 48, 192)},
    "text-detection": {"x": (1, 3, 96, 160)},
    "text-recognition": {"x": (1, 3, 48, 96)},
    "silero-vad-16k": {"input": (1, 576), "state": (2, 1, 128)},
    "magika": {"bytes": (1, 2048)},
}
NAMES = (*LIGHT, *SIZES)


@dataclass(frozen=True)
class Answer:
    """How islands compute a network: the number of tasks of each kind, or the refusal.

    `cycles` is the predicted number of cycles, `seconds` the time to plan.
    """

    tasks: Mapping[str, int]
    refusal: str = ""
    cycles: int = 0
    seconds: float = 0.0


def model_of(name: str) -> onnx.ModelProto:
    """Return a network with static sizes."""
    if name in LIGHT:
        return light(name, 0.0).model
    model = onnx.load(fetched(name))
    for value in list(model.graph.input):
        if value.name == "sr":
            rate = onnx.numpy_helper.from_array(np.array(RATE, np.int64), "sr")
            model.graph.input.remove(value)
            model.graph.initializer.append(rate)
            continue
        sizes = SIZES[name][value.name]
        for axis, size in zip(value.type.tensor_type.shape.dim, sizes, strict=True):
            axis.dim_value = size
    return model


def answer(model: onnx.ModelProto, plan: bool = False) -> Answer:
    """Read a model as a graph of tasks, and plan the graph if `plan`."""
    room, began = load("base")["mem.external_bytes"], time.process_time()
    tasks: Counter[str] = Counter()
    try:
        graph = read(model, 0, room=room).graph
        tasks = Counter(task.kind for task in graph.tasks)
        for task in graph.tasks:
            if task.kind in (GATHER, SCATTER):
                HostJob(task, graph.form).phases()
    except LowerError as error:
        return Answer(tasks, str(error))
    if not plan:
        return Answer(tasks)
    try:
        cycles = macaw.lower_graph(graph).cycles
    except macaw.InputError as error:
        return Answer(tasks, f"{error} ({error.hint})")
    return Answer(tasks, "", cycles, time.process_time() - began)


def main() -> None:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *NAMES], default=[])
    parser.add_argument("--plan", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in options.names or NAMES:
        found = answer(model_of(name), options.plan)
        counts = [f"{found.tasks[kind]:,}" if found.tasks else "" for kind in KINDS]
        cycles = f"{found.cycles:,}" if found.cycles else ""
        seconds = f"{found.seconds:.0f}" if found.cycles else ""
        rows.append((name, *counts, found.refusal or "islands alone", cycles, seconds))
    head = ("network", *KINDS, "computed by", "cycles", "planned, s CPU")
    print(table(head, rows, ("computed by",)))


if __name__ == "__main__":
    main()
