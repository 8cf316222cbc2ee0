"""Products by islands, run in the emulator."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import macaw
from isa import config
from isa.fim_circuit import DOT, ELEMENTWISE, OUTER, TENSOR
from lower.fim.graph import Graph
from lower.fim.plan import BRING, FETCH, START, Action, Plan, Step
from lower.fim.program import emit

TINY, BASE = config.load("tiny"), config.load("base")


def rounded(a, b, layout):
    """A · B with one rounding a product and sum: tiles along k one after the other, in each a tree of pairs."""
    lanes = 32 // a.dtype.itemsize
    size = {DOT: lanes, TENSOR: 4, OUTER: 1, ELEMENTWISE: 1}[layout]
    total = None
    for k in range(0, a.shape[1], size):
        terms = a[:, k : k + size, None] * b[None, k : k + size, :]
        terms = np.pad(terms, ((0, 0), (0, size - terms.shape[1]), (0, 0)))
        while terms.shape[1] > 1:
            terms = terms[:, ::2] + terms[:, 1::2]
        total = terms[:, 0] if total is None else total + terms[:, 0]
    return total


def operands(shape, seed=0):
    """A and B."""
    random = np.random.default_rng(seed)
    dtype = shape.numbers.dtype
    a, b = random.standard_normal((shape.m, shape.k)), random.standard_normal((shape.k, shape.n))
    return a.astype(dtype), b.astype(dtype)


def product(a, b, known="b"):
    """The graph of a product; `known` are the sides that are constants."""
    graph = Graph()
    sides = [
        graph.constant(name, x) if name in known else graph.tensor(name, *x.shape)
        for name, x in (("a", a), ("b", b))
    ]
    graph.product(*sides, name="c")
    return graph


def alone(graph, option):
    """The plan of an option by itself."""
    actions = tuple(Action(kind, 0) for kind in (BRING, START, FETCH))
    return Plan(graph, (Step(0, option),), actions, option.total)


def run(plan, graph, device, name, form=0, **inputs):
    """What the plan's program did."""
    program = emit(plan, graph, device, name, form)
    with tempfile.TemporaryDirectory() as folder:
        for file, array in program.files.items():
            np.save(Path(folder) / file, array)
        (Path(folder) / "p.s").write_text(program.source)
        made = macaw.assemble(Path(folder) / "p.s")
    assert not made.warnings
    return macaw.run(made, **inputs)
