"""RNN, LSTM and GRU, step by step; each operation rounds to the type of the input."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.operators.elementwise import (
    Array,
    Arrays,
    Operator,
    first,
    optional,
    sigmoid,
)
from macaw.lowering.onnx.recurrent_nodes import check, directions, functions

Function = Callable[[Array], Array]
Step = Callable[[Array, tuple[Array, ...]], tuple[Array, ...]]
Cell = Callable[[int, Sequence[Function]], Step]


def _rounded(function: Function) -> Function:
    return lambda x: np.asarray(function(x.astype(np.float64))).astype(x.dtype)


_CURVES: dict[str, Function] = {
    "Sigmoid": _rounded(sigmoid),
    "Tanh": _rounded(np.tanh),
    "Relu": lambda x: np.fmax(x, x.dtype.type(0)),
}


def _run(node: Node, arrays: Arrays, states: int, cell: Cell) -> list[Array]:
    """Compute an RNN, LSTM or GRU in all its directions; return Y and the last states.

    `cell(direction, functions)` returns the function that computes one time step. `direction` is 0,
    or 1 for the second direction of a bidirectional node; `functions` are its activation functions.
    `states` is the number of states of a cell; the first one is its output h.
    """
    x, lengths = first(arrays), optional(arrays, 4)
    check(node, [None if array is None else array.shape for array in arrays])
    batch_first = bool(node.attributes.get("layout", 0))
    x = x.swapaxes(0, 1) if batch_first else x
    if lengths is not None and not np.all(lengths == len(x)):
        raise LowerError("sequences of different lengths are not supported")
    hidden = first(arrays, 2).shape[-1]
    results, lasts = [], []
    for number, (backward, names) in enumerate(zip(directions(node), functions(node), strict=True)):
        state = []
        for place in range(5, 5 + states):
            start = optional(arrays, place)
            if start is None:
                state.append(np.zeros((x.shape[1], hidden), x.dtype))
            else:
                state.append((start.swapaxes(0, 1) if batch_first else start)[number])
        now = tuple(state)
        step, rows = cell(number, [_CURVES[name] for name in names]), []
        for moment in reversed(range(len(x))) if backward else range(len(x)):
            now = step(x[moment], now)
            rows.append(now[0])
        results.append(np.stack(rows[::-1] if backward else rows))
        lasts.append(now)
    y = np.stack(results, axis=1)  # (steps, directions, batch, hidden)
    ends = [np.stack([last[place] for last in lasts]) for place in range(states)]
    if batch_first:
        y, ends = y.transpose(2, 0, 1, 3), [end.swapaxes(0, 1) for end in ends]
    return [y, *ends][: len(node.outputs)]


def _biases(arrays: Arrays, number: int) -> tuple[Array, Array]:
    """Return the biases of direction `number` for input and state, both (gates · hidden,)."""
    w = first(arrays, 1)
    bias = optional(arrays, 3)
    if bias is None:
        zeros = np.zeros(w.shape[1], w.dtype)
        return zeros, zeros
    of_x, of_h = np.split(bias[number], 2)
    return of_x, of_h


def _lstm(node: Node, arrays: Arrays) -> list[Array]:
    w, r, peepholes = first(arrays, 1), first(arrays, 2), optional(arrays, 7)
    hidden = r.shape[-1]

    def cell(number: int, curves: Sequence[Function]) -> Step:
        gate, new, shown = curves
        both = np.add(*_biases(arrays, number))
        holes = np.zeros((3, hidden), w.dtype)
        if peepholes is not None:
            holes = peepholes[number].reshape(3, hidden)

        def step(x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
            h, c = state
            sums = x @ w[number].T + h @ r[number].T + both
            i, o, f, g = np.split(sums, 4, axis=1)
            i, f = gate(i + holes[0] * c), gate(f + holes[2] * c)
            c = f * c + i * new(g)
            o = gate(o + holes[1] * c)
            return o * shown(c), c

        return step

    return _run(node, arrays, 2, cell)


def _gru(node: Node, arrays: Arrays) -> list[Array]:
    w, r = first(arrays, 1), first(arrays, 2)
    late = bool(node.attributes.get("linear_before_reset", 0))

    def cell(number: int, curves: Sequence[Function]) -> Step:
        gate, new = curves
        of_x, of_h = _biases(arrays, number)
        hidden = r.shape[-1]

        def step(x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
            (h,) = state
            a = x @ w[number].T + of_x
            sums = a[:, : 2 * hidden] + h @ r[number, : 2 * hidden].T + of_h[: 2 * hidden]
            z, reset = np.split(gate(sums), 2, axis=1)
            rows, bias = r[number, 2 * hidden :], of_h[2 * hidden :]
            inner = reset * (h @ rows.T + bias) if late else (reset * h) @ rows.T + bias
            n = new(a[:, 2 * hidden :] + inner)
            return ((x.dtype.type(1) - z) * n + z * h,)

        return step

    return _run(node, arrays, 1, cell)


def _rnn(node: Node, arrays: Arrays) -> list[Array]:
    w, r = first(arrays, 1), first(arrays, 2)

    def cell(number: int, curves: Sequence[Function]) -> Step:
        both = np.add(*_biases(arrays, number))

        def step(x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
            return (curves[0](x @ w[number].T + state[0] @ r[number].T + both),)

        return step

    return _run(node, arrays, 1, cell)


RECURRENT: dict[str, Operator] = {"RNN": _rnn, "LSTM": _lstm, "GRU": _gru}
