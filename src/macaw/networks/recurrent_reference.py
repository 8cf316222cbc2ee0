"""Defines RNN, GRU and LSTM with any activations; ONNX's reference evaluator knows the default."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference.op_run import OpRun

Array = NDArray[Any]
Function = Callable[[Array], Array]

_FUNCTIONS: dict[str, Function] = {
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
}


@dataclass(frozen=True)
class _Direction:
    """What the steps of one direction have in common.

    `r` has a column for each gate and unit, `b` the biases of the state, and `p` the peepholes.
    """

    r: Array
    b: Array
    p: Array
    functions: Sequence[Function]
    linear: bool  # the attribute `linear_before_reset` of a GRU


class _Recurrent(OpRun):
    """A recurrent operator, as ONNX defines it. A subclass computes its steps."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        lengths: Array | None = None,  # the compiler refuses models with them
        h: Array | None = None,
        c: Array | None = None,
        p: Array | None = None,
        **attributes: Any,
    ) -> tuple[Array, ...]:
        directions, rows, hidden = *w.shape[:2], r.shape[-1]

        def known(array: Array | None, *shape: int) -> Array:
            return np.zeros((directions, *shape), x.dtype) if array is None else array

        b, p = known(b, 2 * rows), known(p, 3 * hidden)
        h, c = known(h, x.shape[1], hidden), known(c, x.shape[1], hidden)
        names = attributes["activations"]
        count = len(names) // directions
        linear = bool(attributes.get("linear_before_reset"))
        found = []
        for n in range(directions):
            functions = [_FUNCTIONS[name] for name in names[n * count : (n + 1) * count]]
            way = _Direction(r[n].T, b[n, rows:], p[n], functions, linear)
            order = -1 if n == 1 or attributes["direction"] == "reverse" else 1
            state, outputs = (h[n], c[n]), []
            for item in x[::order]:
                gates = item @ w[n].T + b[n, :rows]
                state = self.step(gates, *state, way)
                outputs.append(state[0])
            found.append((np.stack(outputs[::order]), *state))
        y, last, cell = zip(*found, strict=True)
        results = np.stack(y, 1), np.stack(last), np.stack(cell)
        return results[: len(self.onnx_node.output)]

    @abstractmethod
    def step(self, gates: Array, h: Array, c: Array, way: _Direction) -> tuple[Array, Array]:
        """Return the next state and cell for `h` and `c`.

        `gates` has the sums of the input's products and biases, as columns.
        """


class RNN(_Recurrent):
    """A simple recurrent layer."""

    def step(self, gates: Array, h: Array, c: Array, way: _Direction) -> tuple[Array, Array]:
        return way.functions[0](gates + h @ way.r + way.b), c


class GRU(_Recurrent):
    """A layer of gated recurrent units: gates z, r, h."""

    def step(self, gates: Array, h: Array, c: Array, way: _Direction) -> tuple[Array, Array]:
        gate, new = way.functions
        two = 2 * h.shape[1]
        sums = gates[:, :two] + h @ way.r[:, :two] + way.b[:two]
        update, reset = np.split(gate(sums), 2, axis=1)
        r, b = way.r[:, two:], way.b[two:]
        state = reset * (h @ r + b) if way.linear else (reset * h) @ r + b
        return (1 - update) * new(gates[:, two:] + state) + update * h, c


class LSTM(_Recurrent):
    """A layer of long short-term memory: gates i, o, f, c."""

    def step(self, gates: Array, h: Array, c: Array, way: _Direction) -> tuple[Array, Array]:
        gate, new, shown = way.functions
        i, o, f, values = np.split(gates + h @ way.r + way.b, 4, axis=1)
        p_i, p_o, p_f = np.split(way.p, 3)
        cell = gate(f + p_f * c) * c + gate(i + p_i * c) * new(values)
        return gate(o + p_o * cell) * shown(cell), cell


def operators(model: onnx.ModelProto) -> list[type[OpRun]]:
    """Return the operators that ONNX's reference evaluator must take from here for a model.

    They are those with the attribute `activations`, which the evaluator does not know or ignores.
    """
    names = {
        node.op_type
        for node in model.graph.node
        if any(attribute.name == "activations" for attribute in node.attribute)
    }
    return [kind for kind in (RNN, GRU, LSTM) if kind.__name__ in names]
