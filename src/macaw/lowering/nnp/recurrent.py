"""Reads RNN, GRU and LSTM nodes as time loops (seed 003 writes an LSTM with these equations).

The products of the inputs need no state. They are computed for all steps before the loop, unless
they take more than half of the register file AddSubVrf0. Both directions of a layer share one loop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.dense_layers import Rule
from macaw.lowering.nnp.layouts import PADDING, Groups, Indices, Value, pattern
from macaw.lowering.nnp.operations import Operation, Place
from macaw.lowering.nnp.reading import Array, Builder, rows_of_groups
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.recurrent_nodes import GATES, check, directions, functions

ACTIVATIONS = {"Sigmoid": ops.SIGMOID, "Tanh": ops.TANH, "Relu": ops.RELU}


@dataclass(frozen=True)
class Layer:
    """A recurrent node: its sizes, and the rows of its input.

    There are `steps` time steps, `items` items of the batch, and `hidden` elements of a state.
    `directions` says whether each direction is reversed. `time` is the distance, in rows of the
    input `x`, from one time step to the next. `batch` is the distance from one item of the batch to
    the next. `keys` has the index of the hidden element in each place of a state's row, or -1 for
    padding.
    """

    node: Node
    steps: int
    items: int
    hidden: int
    directions: Sequence[bool]  # whether each direction is reversed
    x: Groups
    time: int
    batch: int
    keys: Indices


@dataclass
class Cell:
    """Makes the operations of one direction, forward or reverse, of a recurrent layer.

    `number` is the index of the direction, and `prefix` the first part of the names of its tensors
    and matrices. By gate, `sums` has the place of W · x plus biases, and `recurrent` the name of
    the matrix R. `body` has the operations of a time step so far.
    """

    builder: Builder
    layer: Layer
    number: int  # the index of the direction
    prefix: str  # the first part of the names of tensors and matrices
    activations: Sequence[str]  # the kinds of the activation functions
    # by gate: the sum for the input, W · x plus biases
    sums: dict[str, Place] = field(default_factory=dict)
    recurrent: dict[str, str] = field(default_factory=dict)  # by gate: the name of its matrix R
    body: list[Operation] = field(default_factory=list)  # the operations of a time step

    @property
    def vectors(self) -> int:
        """The number of native vectors of a state."""
        return len(self.layer.keys) // self.builder.native

    def new(self, name: str) -> Place:
        """Add a tensor for a value of the time step, a row for each item; return its place."""
        items, vectors = self.layer.items, self.vectors
        tensor = self.builder.tensor(f"{self.prefix}_{name}", items * vectors)
        return Place(tensor, items, vectors, 0, vectors)

    def state(self, name: str) -> Place:
        """Add a state of the time loop; return the place from which a time step reads it."""
        items, vectors = self.layer.items, self.vectors
        tensor = self.builder.tensor(f"{self.prefix}_{name}", items * vectors, slots=2)
        return Place(tensor, items, vectors, 0, vectors)

    def put(self, kind: str, name: str, *inputs: Place, matrix: str = "") -> Place:
        """Append operation `kind` to the time step, and return the place of its result.

        `name` is part of the result's name, `matrix` the matrix of a product.
        """
        output = self.new(name)
        self.body.append(Operation(self.layer.node.label, kind, inputs, output, matrix=matrix))
        return output

    def copy(self, source: Place, target: Place) -> None:
        """Append to the time step an operation that copies `source` to `target`."""
        self.body.append(Operation(self.layer.node.label, ops.COPY, (source,), target))

    def activate(self, at: int, name: str, value: Place) -> Place:
        """Append activation function number `at` of this direction, applied to `value`."""
        return self.put(self.activations[at], name, value)

    def gate(self, gate: str, h: Place) -> Place:
        """Append R · h + the gate's sum for the input (`sums`), and return the place of the result.

        R is the recurrent matrix of `gate`.
        """
        product = self.put(ops.PRODUCT, f"{gate}_h", h, matrix=self.recurrent[gate])
        return self.put(ops.ADD, f"{gate}_sum", product, self.sums[gate])


# --- the equations of ONNX's operators, for one step ---


def _rnn(cell: Cell, h: Place, _c: Place | None, _peepholes: Mapping[str, Place]) -> list[Place]:
    return [cell.activate(0, "h_new", cell.gate("h", h))]


def _lstm(cell: Cell, h: Place, c: Place | None, peepholes: Mapping[str, Place]) -> list[Place]:
    assert c is not None

    def gate(name: str, state: Place) -> Place:
        total = cell.gate(name, h)
        if name in peepholes:
            part = cell.put(ops.MULTIPLY, f"{name}_peephole", state, peepholes[name])
            total = cell.put(ops.ADD, f"{name}_total", total, part)
        return cell.activate(0, name, total)

    i = gate("i", c)
    f = gate("f", c)
    kept = cell.put(ops.MULTIPLY, "kept", f, c)
    g = cell.activate(1, "g", cell.gate("c", h))
    added = cell.put(ops.MULTIPLY, "added", g, i)
    c_new = cell.put(ops.ADD, "c_new", added, kept)
    o = gate("o", c_new)
    return [cell.put(ops.MULTIPLY, "h_new", cell.activate(2, "c_out", c_new), o), c_new]


def _gru(cell: Cell, h: Place, _c: Place | None, _peepholes: Mapping[str, Place]) -> list[Place]:
    r = cell.activate(0, "r", cell.gate("r", h))
    if cell.layer.node.attributes.get("linear_before_reset", 0):
        product = cell.put(ops.PRODUCT, "h_h", h, matrix=cell.recurrent["h"])
        if "Rb" in cell.sums:
            product = cell.put(ops.ADD, "h_Rb", product, cell.sums["Rb"])
        product = cell.put(ops.MULTIPLY, "h_reset", product, r)
        n = cell.put(ops.ADD, "h_sum", product, cell.sums["h"])
    else:
        n = cell.gate("h", cell.put(ops.MULTIPLY, "reset", r, h))
    n = cell.activate(1, "n", n)
    z = cell.activate(0, "z", cell.gate("z", h))
    away = cell.put(ops.SUBTRACT, "away", h, n)
    return [cell.put(ops.ADD, "h_new", cell.put(ops.MULTIPLY, "part", away, z), n)]


_STEPS = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}


# --- the node ---


def _recurrent(builder: Builder, node: Node) -> list[Value]:
    layer = _layer(builder, node)
    names = [*node.inputs, *[""] * 8][:8]
    arrays = [builder.array(name) for name in names]
    weights, recurrent, bias = arrays[1:4]
    if weights is None or recurrent is None or (names[3] and bias is None):
        raise LowerError("its weights are no constants")
    y = _output(builder, layer) if node.outputs[0] else None
    inits = _initial(builder, layer, names)
    cells, finals = [], []
    for number, own in enumerate(functions(node)):
        prefix = node.label if len(layer.directions) == 1 else f"{node.label}_{'fb'[number]}"
        cell = Cell(builder, layer, number, prefix, [ACTIVATIONS[name] for name in own])
        peepholes = _peepholes(cell, arrays[7]) if names[7] else {}
        _weights(cell, weights[number], recurrent[number], None if bias is None else bias[number])
        states = [cell.state("h"), *([cell.state("c")] if node.operator == "LSTM" else [])]
        for state, init in zip(states, inits, strict=True):
            first = init.first + number * layer.items * init.stride
            source = Place(init.tensor, init.count, init.vectors, first, init.stride)
            builder.emit(Operation(node.label, ops.COPY, (source,), state))
        results = _STEPS[node.operator](cell, states[0], states[-1], peepholes)
        if y is not None:
            cell.copy(results[0], _of_step(layer, y, number))
        for result, state in zip(results, states, strict=True):
            cell.copy(result, _slot(state, 1))
        cells.append(cell)
        finals.append([_slot(state, layer.steps % 2) for state in states])
    builder.loop([operation for cell in cells for operation in cell.body], layer.steps)
    values = [] if y is None else [y]
    for at, name in enumerate(node.outputs[1:]):
        if name:
            values.append(_final(builder, layer, name, [states[at] for states in finals]))
    return values


def _slot(place: Place, slot: int) -> Place:
    return Place(place.tensor, place.count, place.vectors, place.first, place.stride, 0, slot)


def _layer(builder: Builder, node: Node) -> Layer:
    """Return the sizes of a node. Raises `LowerError` for a node that is not supported."""
    if node.attributes.get("layout", 0):
        raise LowerError("layout=1 is not supported", "layout=0, and Transpose nodes around it")
    check(node, [builder.shape(name) if name else None for name in node.inputs])
    if len(node.inputs) > 4 and node.inputs[4]:
        lengths, steps = builder.array(node.inputs[4]), builder.shape(node.inputs[0])[0]
        if lengths is None or np.any(lengths != steps):
            raise LowerError("sequence_lens is not supported: all items have all steps")
    x = builder.value(node.inputs[0])
    steps, items, width = x.shape
    flat = np.arange(math.prod(x.shape), dtype=np.int64)
    rows = rows_of_groups(builder, node.label, x, flat // width, flat % width)
    order = np.empty(steps * items, np.int64)
    order[rows.leads] = np.arange(len(rows.leads))
    at = order.reshape(steps, items)
    time = int(at[1, 0] - at[0, 0]) if steps > 1 else 0
    batch = int(at[0, 1] - at[0, 0]) if items > 1 else 0
    affine = at[0, 0] + time * np.arange(steps)[:, None] + batch * np.arange(items)
    if at[0, 0] or min(time, batch) < 0 or not np.array_equal(at, affine):
        raise LowerError("the steps of its input are not evenly spaced on the device")
    hidden = builder.shape(node.inputs[2])[-1]
    keys = pattern(hidden, hidden, builder.native)
    return Layer(node, steps, items, hidden, directions(node), rows, time, batch, keys)


def _output(builder: Builder, layer: Layer) -> Value:
    """Add the output Y: a row for each step and item, with the directions side by side."""
    count, hidden = len(layer.directions), layer.hidden
    lanes = np.concatenate([
        np.where(layer.keys >= 0, number * layer.items * hidden + layer.keys, PADDING)
        for number in range(count)
    ])  # fmt: skip
    step, item = np.divmod(np.arange(layer.steps * layer.items), layer.items)
    starts = (step * count * layer.items + item) * hidden
    table = np.where(lanes >= 0, starts[:, None] + lanes, PADDING)
    shape = (layer.steps, count, layer.items, hidden)
    return builder.result(layer.node.outputs[0], shape, table, zeros=False)


def _of_step(layer: Layer, y: Value, number: int) -> Place:
    """Return where in Y, the tensor of all states, each time step of a direction writes its rows.

    `number` is the index of the direction.
    """
    vectors = y.vectors // len(layer.directions)
    step = layer.items * y.vectors
    first, sign = number * vectors, 1
    if layer.directions[number]:
        first, sign = first + (layer.steps - 1) * step, -1
    return Place(y.tensor, layer.items, vectors, first, y.vectors, sign * step)


def _initial(builder: Builder, layer: Layer, names: Sequence[str]) -> list[Place]:
    """Return the places of the initial states of the first direction: h, and c for an LSTM.

    Each place has a row for each item. The rows of the second direction follow them, with the same
    stride. `names` has the node's inputs.
    """
    count, lanes = len(layer.directions) * layer.items, len(layer.keys)
    vectors = lanes // builder.native
    places = []
    for name in names[5:7] if layer.node.operator == "LSTM" else names[5:6]:
        array = builder.array(name) if name else np.zeros((count, layer.hidden))
        if array is not None:
            rows = np.zeros((count, lanes))
            rows[:, : layer.hidden] = array.reshape(count, layer.hidden)
            places.append(builder.constant(f"{layer.node.label}_start", rows, layer.hidden))
            continue
        value = builder.value(name)
        flat = np.arange(math.prod(value.shape), dtype=np.int64)
        label = layer.node.label
        rows_of = rows_of_groups(builder, label, value, flat // layer.hidden, flat % layer.hidden)
        same = np.array_equal(rows_of.keys, layer.keys)
        if not same or not np.array_equal(rows_of.leads, np.arange(count)):
            raise LowerError("its initial state lies in other vectors than it needs")
        place = rows_of.value.place
        places.append(Place(place.tensor, count, vectors, place.first, place.stride or vectors))
    return [
        Place(place.tensor, layer.items, place.vectors, place.first, place.stride)
        for place in places
    ]


def _final(builder: Builder, layer: Layer, name: str, states: Sequence[Place]) -> Value:
    """Copy the last states of all directions to one value `name`, and return this value."""
    count = len(states) * layer.items
    starts = np.arange(count)[:, None] * layer.hidden
    table = np.where(layer.keys >= 0, starts + layer.keys, PADDING)
    value = builder.result(name, (len(states), layer.items, layer.hidden), table, zeros=False)
    for number, state in enumerate(states):
        first = number * layer.items * value.stride
        target = Place(value.tensor, layer.items, value.vectors, first, value.stride)
        builder.emit(Operation(layer.node.label, ops.COPY, (state,), target))
    return value


def _peepholes(cell: Cell, array: Array | None) -> dict[str, Place]:
    if array is None:
        raise LowerError("its peephole weights are no constants")
    hidden, items = cell.layer.hidden, cell.layer.items
    places = {}
    for at, gate in enumerate("iof"):
        rows = np.zeros((1, len(cell.layer.keys)))
        rows[0, :hidden] = array[cell.number, at * hidden : (at + 1) * hidden]
        place = cell.builder.constant(f"{cell.prefix}_P{gate}", rows, hidden)
        places[gate] = Place(place.tensor, items, place.vectors)
    return places


def _weights(cell: Cell, weights: Array, recurrent: Array, bias: Array | None) -> None:
    """Add to a cell the matrices of its direction, and for each gate the sum W · x plus biases.

    `weights` has W of all gates, for the input; `recurrent` has R of all gates, for the state.
    """
    builder, layer, hidden = cell.builder, cell.layer, cell.layer.hidden
    gates = GATES[layer.node.operator]
    biases = np.zeros(2 * len(gates) * hidden) if bias is None else np.asarray(bias, np.float64)
    reset = layer.node.operator == "GRU" and layer.node.attributes.get("linear_before_reset", 0)
    rows = len(layer.x.leads)
    needed = len(gates) * len(layer.directions) * rows * cell.vectors
    before = needed <= int(builder.config["nnp.add_sub_vrf0"]) // 2
    x = layer.x.value.place
    for at, gate in enumerate(gates):
        part = slice(at * hidden, (at + 1) * hidden)
        matrix = builder.matrix(f"{cell.prefix}_W{gate}", weights[part], layer.keys, layer.x.keys)
        own = builder.matrix(f"{cell.prefix}_R{gate}", recurrent[part], layer.keys, layer.keys)
        cell.recurrent[gate] = own
        total = biases[part].copy()
        other = biases[len(gates) * hidden :][part]
        if gate == "h" and reset:
            if np.any(other):
                cell.sums["Rb"] = _bias(cell, "Rbh", other, layer.items)
        else:
            total += other
        count = rows if before else layer.items
        place = _bias(cell, f"b{gate}", total, count)
        if before:
            name = builder.tensor(f"{cell.prefix}_x{gate}", rows * cell.vectors)
            whole = Place(name, rows, cell.vectors, 0, cell.vectors)
            raw = builder.tensor(f"{cell.prefix}_W{gate}_x", rows * cell.vectors)
            product = Place(raw, rows, cell.vectors, 0, cell.vectors)
            label = layer.node.label
            builder.emit(Operation(label, ops.PRODUCT, (x,), product, matrix=matrix))
            builder.emit(Operation(label, ops.ADD, (product, place), whole))
            cell.sums[gate] = _step(cell, whole)
        else:
            product = cell.put(ops.PRODUCT, f"W{gate}_x", _step(cell, x), matrix=matrix)
            cell.sums[gate] = cell.put(ops.ADD, f"x{gate}", product, place)


def _bias(cell: Cell, name: str, numbers: Array, count: int) -> Place:
    rows = np.zeros((1, len(cell.layer.keys)))
    rows[0, : cell.layer.hidden] = numbers
    place = cell.builder.constant(f"{cell.prefix}_{name}", rows, cell.layer.hidden)
    return Place(place.tensor, count, place.vectors)


def _step(cell: Cell, place: Place) -> Place:
    """Return the rows that a time step of the cell reads. `place` has the rows of all steps."""
    layer = cell.layer
    stride = place.stride
    step, first = layer.time * stride, place.first
    if layer.directions[cell.number]:
        first, step = first + (layer.steps - 1) * step, -step
    return Place(place.tensor, layer.items, place.vectors, first, layer.batch * stride, step)


RULES: Mapping[str, Rule] = dict.fromkeys(GATES, _recurrent)
