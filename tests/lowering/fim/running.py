"""Runs products on islands in the emulator."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np

import macaw
from macaw.isa import config
from macaw.isa.fim_circuit import DOT, ELEMENTWISE, FORMATS, OUTER, TENSOR
from macaw.lowering.fim.graph import GATHER, PRODUCT, SCATTER, Graph, Task
from macaw.lowering.fim.plan import BRING, FETCH, START, Action, GraphPlan, Step
from macaw.lowering.fim.program import emit

FORMAT_OF = {row.dtype: number for number, row in enumerate(FORMATS)}
TINY, BASE = config.load("tiny"), config.load("base")


def numpy_type(form):
    """The NumPy type with a format's numbers and arithmetic; for bf16 that of ml_dtypes."""
    return np.dtype(ml_dtypes.bfloat16 if form.name == "bf16" else form.numbers)


def with_bf16(device=BASE):
    """The device, whose circuits compute in bf16 alone."""
    return device.changed({f"fim.island.{island}.formats": "bf16" for island in range(8)})


def rounded(a, b, layout, total=None):
    """Return A · B, rounded as an island rounds it in this layout.

    A tree of pairs adds the products of each tile along k; the tiles are added one after another.
    `total` is the sum of the products before A · B.
    """
    lanes = 32 // a.dtype.itemsize
    size = {DOT: lanes, TENSOR: 4, OUTER: 1, ELEMENTWISE: 1}[layout]
    for k in range(0, a.shape[1], size):
        terms = a[:, k : k + size, None] * b[None, k : k + size, :]
        terms = np.pad(terms, ((0, 0), (0, size - terms.shape[1]), (0, 0)))
        while terms.shape[1] > 1:
            terms = terms[:, ::2] + terms[:, 1::2]
        total = terms[:, 0] if total is None else total + terms[:, 0]
    return total


def operands(shape, seed=0):
    """Random matrices A and B of this shape."""
    random = np.random.default_rng(seed)
    dtype = numpy_type(shape.numbers)
    a, b = random.standard_normal((shape.m, shape.k)), random.standard_normal((shape.k, shape.n))
    return a.astype(dtype), b.astype(dtype)


def product(a, b, known="b"):
    """The graph of a product; `known` has the names of constant operands."""
    graph = Graph(FORMAT_OF[a.dtype.name])
    left, right = [
        graph.constant(name, x) if name in known else graph.tensor(name, *x.shape)
        for name, x in (("a", a), ("b", b))
    ]
    graph.product(left, right, name="c")
    return graph


def alone(graph, option):
    """A plan with this option as its only step."""
    actions = tuple(Action(kind, 0) for kind in (BRING, START, FETCH))
    return GraphPlan(graph, (Step(0, option),), actions, option.total)


def run(plan, graph, device, name, engine="fast", **inputs):
    """Run a plan's program; without `name`, its device is read from a file beside the source."""
    program = emit(plan, graph, device, name or '"p.device.toml"')
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.device.toml").write_text(device.to_toml())
        for file, array in program.files.items():
            np.save(Path(folder) / file, array)
        (Path(folder) / "p.s").write_text(program.source)
        made = macaw.assemble(Path(folder) / "p.s")
    assert not made.warnings
    return macaw.run(made, engine=engine, **inputs)


def applied(function, *x):
    """A function as an island computes it: rounded once to the operands' type."""
    with np.errstate(all="ignore"):
        wide = [np.asarray(value, np.float64) for value in x]
        match function:
            case "relu":
                return np.where(x[0] > 0, x[0], np.where(np.isnan(x[0]), x[0], 0)).astype(
                    x[0].dtype
                )
            case "sigmoid":
                return (1 / (1 + np.exp(-wide[0]))).astype(x[0].dtype)
            case "tanh":
                return np.tanh(wide[0]).astype(x[0].dtype)
            case "max" | "min":  # +0 is above -0
                zeros = np.signbit(x[0]) < np.signbit(x[1])
                left = (x[0] > x[1]) | ((x[0] == x[1]) & zeros)
                return np.where(left == (function == "max"), *x)
            case "vssqr":
                return x[0] * x[0]
            case "vssqrt":
                return np.sqrt(x[0])
        what = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
        return what[function](*x)


def _products_of_sums(
    tasks: Sequence[Task],
) -> tuple[dict[Task, list[Task]], set[Task]]:
    """Return the products of each sum that an island computes in Rz, and all tasks inside sums.

    A sum is given by its last addition.
    """
    parts: dict[str, tuple[list[Task], list[Task]]] = {}
    inside: set[Task] = set()
    summed: dict[Task, list[Task]] = {}
    for task in tasks:
        sides = [parts[tensor.name] for tensor in task.inputs if tensor.name in parts]
        if task.kind == PRODUCT:
            parts[task.output.name] = [task], [task]
        elif task.function == "add" and len(sides) == len(task.inputs):
            (left, left_tasks), (right, right_tasks) = sides
            products, before = left + right, left_tasks + right_tasks
            parts[task.output.name] = products, [*before, task]
            summed = {key: value for key, value in summed.items() if key not in before}
            summed[task] = products
            inside.update(before)
    return summed, inside


def modelled(plan, graph, inputs):
    """All tensors of a plan, rounded as its islands round them."""
    dtype = numpy_type(FORMATS[graph.form])
    found = {}

    def numbers(tensor):
        if tensor.base is not None:
            flat = numbers(tensor.base).reshape(-1)[tensor.offset :][: tensor.numbers]
            return flat.reshape(tensor.rows, tensor.columns)
        if tensor.name not in found:
            given = inputs[tensor.name] if tensor.data is None else tensor.data
            found[tensor.name] = (
                np.asarray(given).astype(dtype).reshape(tensor.rows, tensor.columns)
            )
        return found[tensor.name]

    for step in plan.steps:
        summed, inside = _products_of_sums(step.tasks)
        for task in step.tasks:
            if task in inside:
                continue
            joint = 1  # results side by side
            x = [] if task in summed else [numbers(tensor) for tensor in task.inputs]
            shape = task.output.rows, task.output.columns
            places = np.asarray(task.places, int)[:, None] + np.arange(task.width)
            if task in summed:
                total = None
                for product in summed[task]:
                    a, b = (numbers(tensor) for tensor in product.inputs)
                    total = rounded(a, b, step.option.layout, total)
                made = np.asarray(total)
                joint = summed[task][0].joint
            elif task.kind == PRODUCT:
                made, joint = rounded(x[0], x[1], step.option.layout), task.joint
            elif task.kind == GATHER:
                made = x[0].reshape(-1)[places].reshape(shape)
            elif task.kind == SCATTER:
                made = x[1].copy() if len(x) > 1 else np.zeros(shape, dtype)
                made.reshape(-1)[places] = x[0].reshape(places.shape)
            else:
                made = applied(task.function, *x)
            region = getattr(step.option.job, "region", None)
            region = None if task.kind == GATHER else region  # it has whole windows
            memory = task.output.memory
            if region is not None or memory is not task.output:  # other steps compute the rest
                whole = found.setdefault(
                    memory.name, np.zeros((memory.rows, memory.columns), dtype)
                )
                mine = whole.reshape(-1)[task.output.offset :][: task.output.numbers].reshape(shape)
                part = (slice(None),) if region is None else (region.row_range, region.column_range)
                ours = np.zeros(made.shape, bool)
                ours[part] = True
                made, ours = (np.concatenate(np.split(x, joint, axis=1)) for x in (made, ours))
                mine[ours] = made[ours]
                made = whole
            elif joint > 1:
                made = np.concatenate(np.split(made, joint, axis=1))
            found[memory.name] = made
    kind = FORMATS[graph.form].numbers
    return {
        tensor.name: numbers(tensor).reshape(graph.shape(tensor)).astype(kind)
        for tensor in graph.results
    }
