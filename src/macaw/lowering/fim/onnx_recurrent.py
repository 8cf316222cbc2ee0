"""Expresses RNN, GRU and LSTM as tasks, for each time step and direction (seed 004 ¶53, ¶63)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Tensor
from macaw.lowering.fim.onnx_values import Inputs, TaskValue, Values, optional, places_of
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.recurrent_nodes import check, directions, functions

_INITIAL, _PEEPHOLES = 5, 7  # inputs: the first of the initial states, and the peepholes


def recurrent(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add the tasks of an RNN, GRU or LSTM node, in one or both directions; return its outputs.

    Raises `LowerError` if weights, biases or peepholes depend on an input of the model, if a shape
    is not as ONNX defines it, or if islands do not support an attribute.
    """
    if node.attributes.get("layout", 0) or optional(inputs, 4) is not None:
        raise LowerError("layout=1 and sequence_lens are not supported")
    x, w, r = (inputs[place] for place in range(3))
    assert x is not None
    if w is None or r is None or w.array is None or r.array is None:
        raise LowerError("its weights depend on an input")
    check(node, [None if value is None else value.shape for value in inputs])
    ways, (steps, batch, _) = directions(node), x.shape
    kind = _KINDS[node.operator]
    hidden, count = r.array.shape[-1], len(kind.gates)
    names = [str(name) for name in (*node.outputs, "") if name]
    states = inputs[_INITIAL : _INITIAL + kind.states]
    shape = len(ways), batch, hidden
    if not math.prod(x.shape):
        raise LowerError("its input has no elements")
    bias = optional(inputs, 3)
    if bias is not None and bias.array is None:
        raise LowerError("its bias depends on an input")
    peepholes = optional(inputs, _PEEPHOLES)
    if peepholes is not None and peepholes.array is None:
        raise LowerError("its peepholes depend on an input")
    runs = []
    for way, (backwards, own) in enumerate(zip(ways, functions(node), strict=True)):
        name = names[0] if len(ways) == 1 else f"{names[0]}_{'fb'[way]}"
        cell = kind(values, name, w.array[way], r.array[way], hidden, batch)
        if bias is not None and bias.array is not None:
            cell.biases = bias.array[way].reshape(2, count, hidden)
        if peepholes is not None and peepholes.array is not None:
            cell.peepholes = dict(zip("iof", peepholes.array[way].reshape(3, hidden), strict=True))
        cell.functions = [name.lower() for name in own]
        cell.late = bool(node.attributes.get("linear_before_reset", 0))
        begin = way * batch * hidden
        first = [_first(values, value, begin, (batch, hidden), name) for value in states]
        first += [values.array(np.zeros((batch, hidden)))] * (kind.states - len(first))
        runs.append(_run(values, cell, x, first, backwards))
    return _outputs(values, node, runs, (steps, *shape), names[0])


def _first(
    values: Values, value: TaskValue | None, begin: int, shape: tuple[int, int], name: str
) -> TaskValue:
    """Return an initial state of one direction: numbers of `value` from index `begin` on.

    The state has shape `shape`, and is zero if `value` is None.
    """
    if value is None:
        return values.array(np.zeros(shape))
    return values.part(value, begin, shape, f"{name}_initial")


def _run(
    values: Values, cell: _Cell, x: TaskValue, first: list[TaskValue], backwards: bool
) -> tuple[list[TaskValue], list[TaskValue]]:
    """Add the tasks of one direction; return the state h of each time step, and the last states.

    `x` is the input sequence and `first` has the initial states. If `backwards`, the cell reads
    the sequence from its end; the states h are in the order of the sequence in either case.
    """
    steps, batch, size = x.shape
    found: dict[int, TaskValue] = {}
    states = first
    for step in reversed(range(steps)) if backwards else range(steps):
        now = values.part(x, step * batch * size, (batch, size), f"{cell.name}_x{step}")
        states = cell.step(now, states, step)
        found[step] = states[0]
        values.check_tasks()
    return [found[step] for step in range(steps)], states


def _outputs(
    values: Values,
    node: Node,
    runs: list[tuple[list[TaskValue], list[TaskValue]]],
    shape: tuple[int, int, int, int],
    name: str,
) -> list[TaskValue]:
    """Return the node's outputs: all states h, then those last states that are outputs.

    `runs` has a pair for each direction: the states h of all time steps, and the last states.
    `shape` is the shape of all states h: (time steps, directions, batch, hidden).
    """
    steps, ways, batch, hidden = shape
    lasts = []
    for number, output in enumerate(node.outputs[1:]):
        ends = [states[number] for _, states in runs]
        whole = ways, batch, hidden
        if ways == 1:
            lasts.append(values.of_tensor(_tensor(ends[0]), whole))
        else:
            lasts.append(values.join(ends, list(places_of(whole)), whole, output or name))
    if not node.outputs[0]:
        return [runs[0][0][0], *lasts]
    if (steps, ways) == (1, 1):
        return [values.of_tensor(_tensor(runs[0][0][0]), shape), *lasts]
    places = places_of(shape)
    parts = [
        (run[0][step], places[step, way]) for step in range(steps) for way, run in enumerate(runs)
    ]
    states, where = zip(*parts, strict=True)
    return [values.join(states, where, shape, name), *lasts]


def _tensor(value: TaskValue) -> Tensor:
    assert value.tensor is not None
    return value.tensor


class _Cell(ABC):
    """The weights and biases of one direction of an RNN, GRU or LSTM node.

    `gates` has the letters by which ONNX names the gates, in ONNX's order.
    """

    gates = ""
    states = 1  # the number of states, of which the first one is h

    def __init__(
        self,
        values: Values,
        name: str,
        w: NDArray[Any],
        r: NDArray[Any],
        hidden: int,
        batch: int,
    ) -> None:
        self.values, self.name, self.shape = values, name, (batch, hidden)
        self.biases = np.zeros((2, len(self.gates), hidden))
        self.late = False  # whether the reset gate follows the product with H
        self.functions: list[str] = []  # of the gates, then of the new state, then of the output
        self.peepholes: dict[str, NDArray[Any]] = {}  # of an LSTM, by gate
        self.w = self._sides(w, hidden, "w")
        self.r = self._sides(r, hidden, "r")
        self.added: dict[str, Tensor] = {}

    def _sides(self, matrices: NDArray[Any], hidden: int, side: str) -> dict[str, Tensor]:
        return {
            gate: self.values.tensor(
                self.values.array(matrices[place * hidden : (place + 1) * hidden].T),
                f"{self.name}_{side}{gate}",
            )
            for place, gate in enumerate(self.gates)
        }

    @abstractmethod
    def step(self, x: TaskValue, states: list[TaskValue], number: int) -> list[TaskValue]:
        """Add the tasks of time step `number`, whose input is `x`, and return the next states."""

    def sums(self, gate: str, x: Tensor, h: Tensor, number: int) -> Tensor:
        """Add the tasks of x · W + h · R + bias of a gate at time step `number`; return the sum."""
        values, graph = self.values, self.values.graph

        def named(part: str) -> str:
            return values.name(f"{self.name}_{part}{number}")

        of_x = graph.product(x, self.w[gate], named(f"x{gate}"))
        of_h = graph.product(h, self.r[gate], named(f"h{gate}"))
        both = graph.pointwise("add", of_x, of_h, name=named(f"sum_{gate}"))
        return self._add_bias(both, gate, (0, 1), number)

    def _add_bias(self, tensor: Tensor, gate: str, which: tuple[int, ...], number: int) -> Tensor:
        bias = self.biases[list(which), self.gates.index(gate)].sum(axis=0)
        if not bias.any():
            return tensor
        name = f"{self.name}_b{gate}{''.join(map(str, which))}"
        if name not in self.added:
            wide = self.values.array(np.broadcast_to(bias, self.shape))
            self.added[name] = self.values.tensor(wide, name)
        last = self.values.name(f"{name}_sum{number}")
        return self.values.graph.pointwise("add", tensor, self.added[name], name=last)

    def add_peephole(self, tensor: Tensor, gate: str, state: Tensor, number: int) -> Tensor:
        """Add the tasks of `tensor` plus a gate's peepholes times a state; return the sum.

        `number` is the time step. Without peepholes for the gate, the sum is `tensor` itself.
        """
        if gate not in self.peepholes:
            return tensor
        name = f"{self.name}_p{gate}"
        if name not in self.added:
            wide = self.values.array(np.broadcast_to(self.peepholes[gate], self.shape))
            self.added[name] = self.values.tensor(wide, name)
        graph = self.values.graph
        seen = self.values.name(f"{name}_seen{number}")
        part = graph.pointwise("mul", self.added[name], state, name=seen)
        return graph.pointwise("add", tensor, part, name=self.values.name(f"{name}_sum{number}"))


class _Rnn(_Cell):
    """An RNN cell, whose next state is a function of one sum."""

    gates = "h"

    def step(self, x: TaskValue, states: list[TaskValue], number: int) -> list[TaskValue]:
        """Add the tasks of time step `number`, whose input is `x`, and return the next states."""
        values = self.values
        inputs = values.tensor(x, f"{self.name}_x{number}")
        total = self.sums("h", inputs, values.tensor(states[0], f"{self.name}_h{number}"), number)
        name = values.name(f"{self.name}_state{number}")
        state = values.graph.pointwise(self.functions[0], total, name=name)
        return [values.of_tensor(state, self.shape)]


class _Gru(_Cell):
    """A GRU cell, whose next state is (1 - z) * n + z * H.

    z is the update gate, H the state, and n a function of the input and the state.
    """

    gates = "zrh"

    def step(self, x: TaskValue, states: list[TaskValue], number: int) -> list[TaskValue]:
        """Add the tasks of time step `number`, whose input is `x`, and return the next states."""
        values, graph = self.values, self.values.graph
        inputs = values.tensor(x, f"{self.name}_x{number}")
        old_state = values.tensor(states[0], f"{self.name}_h{number}")

        def named(part: str) -> str:
            return values.name(f"{self.name}_{part}{number}")

        def sums(gate: str, h: Tensor) -> Tensor:
            return self.sums(gate, inputs, h, number)

        of_gates, of_state = self.functions
        update = graph.pointwise(of_gates, sums("z", old_state), name=named("z"))
        reset = graph.pointwise(of_gates, sums("r", old_state), name=named("r"))
        if self.late:
            of_h = graph.product(old_state, self.r["h"], named("hh"))
            of_h = self._add_bias(of_h, "h", (1,), number)
            part = graph.pointwise("mul", reset, of_h, name=named("reset"))
            of_x = graph.product(inputs, self.w["h"], named("xh"))
            of_x = self._add_bias(of_x, "h", (0,), number)
            total = graph.pointwise("add", of_x, part, name=named("sum_h"))
        else:
            total = sums("h", graph.pointwise("mul", reset, old_state, name=named("reset")))
        new = graph.pointwise(of_state, total, name=named("n"))
        left = graph.pointwise("sub", self._one(), update, name=named("left"))
        fresh = graph.pointwise("mul", left, new, name=named("fresh"))
        old = graph.pointwise("mul", update, old_state, name=named("kept"))
        last = graph.pointwise("add", fresh, old, name=named("state"))
        return [values.of_tensor(last, self.shape)]

    def _one(self) -> Tensor:
        """Return the constant of ones, from which the update gate is subtracted."""
        if "one" not in self.added:
            ones = self.values.array(np.ones(self.shape))
            self.added["one"] = self.values.tensor(ones, f"{self.name}_one")
        return self.added["one"]


class _Lstm(_Cell):
    """An LSTM cell, with the next states c = f * C + i * g and h = o * tanh(c).

    C is the state of the previous time step; f, i and o are gates. ONNX calls g the gate c. Other
    functions can replace tanh.
    """

    gates, states = "iofc", 2

    def step(self, x: TaskValue, states: list[TaskValue], number: int) -> list[TaskValue]:
        """Add the tasks of time step `number`, whose input is `x`, and return the next states."""
        values, graph = self.values, self.values.graph
        now = values.tensor(x, f"{self.name}_x{number}")
        h, c = (values.tensor(state, f"{self.name}_h{number}") for state in states)

        def named(part: str) -> str:
            return values.name(f"{self.name}_{part}{number}")

        def function(name: str, tensor: Tensor, part: str) -> Tensor:
            return graph.pointwise(name, tensor, name=named(part))

        of_gates, of_cell, of_output = self.functions

        def opened(letter: str, state: Tensor) -> Tensor:
            total = self.add_peephole(self.sums(letter, now, h, number), letter, state, number)
            return function(of_cell if letter == "c" else of_gates, total, letter)

        late = "o" if self.peepholes else ""  # its peepholes see the new state
        gate = {letter: opened(letter, c) for letter in self.gates if letter not in late}
        kept = graph.pointwise("mul", gate["f"], c, name=named("kept"))
        fresh = graph.pointwise("mul", gate["i"], gate["c"], name=named("fresh"))
        cell = graph.pointwise("add", kept, fresh, name=named("cell"))
        gate |= {letter: opened(letter, cell) for letter in late}
        wide = function(of_output, cell, "wide")
        state = graph.pointwise("mul", gate["o"], wide, name=named("state"))
        return [values.of_tensor(state, self.shape), values.of_tensor(cell, self.shape)]


_KINDS: Mapping[str, type[_Cell]] = {"RNN": _Rnn, "GRU": _Gru, "LSTM": _Lstm}
