"""RNN, LSTM and GRU, step by step; each operation rounds to the type of the input."""

from __future__ import annotations

from collections.abc import Callable

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

Cell = Callable[[Array, tuple[Array, ...]], tuple[Array, ...]]


def _rounded(function: Callable[[Array], Array], x: Array) -> Array:
    return np.asarray(function(x.astype(np.float64))).astype(x.dtype)


def _checked(node: Node, arrays: Arrays, default: list[str]) -> tuple[str, bool]:
    """Return the direction, and whether the batch is the first axis.

    Raises `LowerError` for other activation functions than `default`, and for other variants.
    """
    attributes = node.attributes
    names = [
        name.decode(errors="replace") if isinstance(name, bytes) else name
        for name in attributes.get("activations", [])
    ]
    direction = attributes.get("direction", "forward")
    count = 2 if direction == "bidirectional" else 1
    if names not in ([], default * count):
        raise LowerError(f"the functions {' '.join(names)}", f"{' '.join(default)} are supported")
    if "clip" in attributes or attributes.get("input_forget", 0):
        raise LowerError("clip and input_forget are not supported")
    lengths = optional(arrays, 4)
    steps = first(arrays).shape[1 if attributes.get("layout", 0) else 0]
    if lengths is not None and not np.all(lengths == steps):
        raise LowerError("sequences of different lengths are not supported")
    return direction, bool(attributes.get("layout", 0))


def _run(
    node: Node, arrays: Arrays, states: int, default: list[str], cell: Callable[[int], Cell]
) -> list[Array]:
    """Compute an RNN, LSTM or GRU in all its directions; return Y and the last states.

    `cell(direction)` returns the function that computes one time step. `direction` is 0, or 1 for
    the second direction of a bidirectional node. `states` is the number of states of a cell; the
    first one is its output h. `default` has the names of the activation functions that are
    supported.
    """
    direction, batch_first = _checked(node, arrays, default)
    x = first(arrays)
    x = x.swapaxes(0, 1) if batch_first else x
    hidden = first(arrays, 2).shape[-1]
    count = 2 if direction == "bidirectional" else 1
    results, lasts = [], []
    for number in range(count):
        backward = direction == "reverse" or number == 1
        state = []
        for place in range(5, 5 + states):
            start = optional(arrays, place)
            if start is None:
                state.append(np.zeros((x.shape[1], hidden), x.dtype))
            else:
                state.append((start.swapaxes(0, 1) if batch_first else start)[number])
        now = tuple(state)
        step, rows = cell(number), []
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


def _biases(arrays: Arrays, number: int, gates: int) -> tuple[Array, Array]:
    """Return the biases of direction `number` for input and state, both (gates · hidden,)."""
    w = first(arrays, 1)
    bias = optional(arrays, 3)
    if bias is None:
        zeros = np.zeros(w.shape[1], w.dtype)
        return zeros, zeros
    half = bias.shape[1] // 2
    assert half == w.shape[1], gates
    return bias[number, :half], bias[number, half:]


def _lstm(node: Node, arrays: Arrays) -> list[Array]:
    w, r, peepholes = first(arrays, 1), first(arrays, 2), optional(arrays, 7)
    hidden = r.shape[-1]

    def cell(number: int) -> Cell:
        both = np.add(*_biases(arrays, number, 4))
        holes = np.zeros((3, hidden), w.dtype)
        if peepholes is not None:
            holes = peepholes[number].reshape(3, hidden)

        def step(x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
            h, c = state
            sums = x @ w[number].T + h @ r[number].T + both
            i, o, f, g = np.split(sums, 4, axis=1)
            i = _rounded(sigmoid, i + holes[0] * c)
            f = _rounded(sigmoid, f + holes[2] * c)
            c = f * c + i * _rounded(np.tanh, g)
            o = _rounded(sigmoid, o + holes[1] * c)
            return o * _rounded(np.tanh, c), c

        return step

    return _run(node, arrays, 2, ["Sigmoid", "Tanh", "Tanh"], cell)


def _gru(node: Node, arrays: Arrays) -> list[Array]:
    w, r = first(arrays, 1), first(arrays, 2)
    late = bool(node.attributes.get("linear_before_reset", 0))

    def cell(number: int) -> Cell:
        of_x, of_h = _biases(arrays, number, 3)
        hidden = r.shape[-1]

        def step(x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
            (h,) = state
            a = x @ w[number].T + of_x
            sums = a[:, : 2 * hidden] + h @ r[number, : 2 * hidden].T + of_h[: 2 * hidden]
            z, reset = np.split(_rounded(sigmoid, sums), 2, axis=1)
            rows, bias = r[number, 2 * hidden :], of_h[2 * hidden :]
            inner = reset * (h @ rows.T + bias) if late else (reset * h) @ rows.T + bias
            n = _rounded(np.tanh, a[:, 2 * hidden :] + inner)
            return ((x.dtype.type(1) - z) * n + z * h,)

        return step

    return _run(node, arrays, 1, ["Sigmoid", "Tanh"], cell)


def _rnn(node: Node, arrays: Arrays) -> list[Array]:
    w, r = first(arrays, 1), first(arrays, 2)

    def cell(number: int) -> Cell:
        both = np.add(*_biases(arrays, number, 1))

        def step(x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
            return (_rounded(np.tanh, x @ w[number].T + state[0] @ r[number].T + both),)

        return step

    return _run(node, arrays, 1, ["Tanh"], cell)


RECURRENT: dict[str, Operator] = {"RNN": _rnn, "LSTM": _lstm, "GRU": _gru}
