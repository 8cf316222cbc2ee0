"""Expresses ONNX layers as tasks: convolutions as gather and product, a GRU as a chain of cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Tensor
from macaw.lowering.fim.onnx_values import TaskValue, Values, matrix, places_of
from macaw.lowering.onnx.graph import Node

Inputs = list[TaskValue | None]


def _output(node: Node, place: int = 0) -> str:
    return node.outputs[place]


def _optional(inputs: Inputs, place: int) -> TaskValue | None:
    return inputs[place] if place < len(inputs) else None


def _required(inputs: Inputs, place: int) -> TaskValue:
    value = _optional(inputs, place)
    if value is None:
        raise LowerError(f"its input {place} is missing")
    return value


def _matmul(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    a, b = _required(inputs, 0), _required(inputs, 1)
    name = _output(node)
    left = a.shape if len(a.shape) > 1 else (1, *a.shape)
    right = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    if any(size != 1 for size in right[:-2]):
        raise LowerError(f"a right side of the shape {b.shape}", "two dimensions are supported")
    product = values.graph.product(
        values.tensor(a, f"{name}_a", *matrix(left)),
        values.tensor(b, f"{name}_b", *right[-2:]),
        values.name(name),
    )
    whole = np.broadcast_shapes(left[:-2], right[:-2])
    shape = (*whole, *left[-2:-1], *right[-1:])
    if len(a.shape) == 1:
        shape = (*shape[:-2], shape[-1])
    if len(b.shape) == 1:
        shape = shape[:-1]
    return [values.of_tensor(product, shape)]


def _gemm(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    attributes = node.attributes
    name = _output(node)
    a, b = (
        _transpose(
            values, _required(inputs, place), attributes.get(key, 0), f"{name}_{key[-1].lower()}"
        )
        for place, key in enumerate(("transA", "transB"))
    )
    alpha, beta = float(attributes.get("alpha", 1)), float(attributes.get("beta", 1))
    c = _optional(inputs, 2)
    if alpha != 1 and b.array is not None:
        b, alpha = values.array(b.array * alpha), 1
    if alpha != 1 and a.array is not None:
        a, alpha = values.array(a.array * alpha), 1
    more = alpha != 1 or (c is not None and beta != 0)
    product = values.graph.product(
        values.tensor(a, f"{name}_a"),
        values.tensor(b, f"{name}_b"),
        values.name(f"{name}_product" if more else name),
    )
    value = values.of_tensor(product, (product.rows, product.columns))
    if alpha != 1:
        value = _scale(values, value, alpha, name)
    if c is not None and beta != 0:
        value = _add(values, value, _scale(values, c, beta, f"{name}_c"), name)
    return [value]


def _transpose(values: Values, value: TaskValue, turn: int, name: str) -> TaskValue:
    if not turn:
        return value
    if value.array is not None:
        array = value.array
        return values.derive(value, "transposed", lambda: array.T)
    return values.move(value, places_of(value.shape).T, f"{name}_transposed")


def _scale(values: Values, value: TaskValue, factor: float, name: str) -> TaskValue:
    if factor == 1:
        return value
    if value.array is not None:
        return values.array(value.array * factor)
    factors = values.array(np.full(value.shape, factor))
    tensors = values.tensor(value, f"{name}_in"), values.tensor(factors, f"{name}_factor")
    tensor = values.graph.pointwise("mul", *tensors, name=values.name(f"{name}_scaled"))
    return values.of_tensor(tensor, value.shape)


def _add(values: Values, a: TaskValue, b: TaskValue, name: str) -> TaskValue:
    """Add the task a + b and return its output; b is broadcast to the shape of a."""
    wide = values.broadcast(b, a.shape, f"{name}_bias")
    tensors = values.tensor(a, f"{name}_a"), values.tensor(wide, f"{name}_bias")
    return values.of_tensor(
        values.graph.pointwise("add", *tensors, name=values.name(name)), a.shape
    )


# --- convolutions ---


def _conv(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add a convolution: weights times a matrix whose columns are image windows (¶59, ¶63)."""
    attributes = node.attributes
    name, x, weights = _output(node), _required(inputs, 0), _required(inputs, 1)
    if weights.array is None:
        raise LowerError("its weights depend on an input")
    if len(x.shape) not in (3, 4):
        raise LowerError(f"an image of the shape {x.shape}", "one or two dimensions are supported")
    groups = int(attributes.get("group", 1))
    outputs, own, *kernel = weights.array.shape
    batch, channels, *image = x.shape
    if own * groups != channels or outputs % groups:
        raise LowerError(f"weights {weights.shape} in {groups} groups for the image {x.shape}")
    if tuple(attributes.get("kernel_shape", kernel)) != tuple(kernel):
        raise LowerError(f"a kernel_shape of {attributes['kernel_shape']}, weights {weights.shape}")
    values.fits(outputs * channels * math.prod(kernel))
    rows = _expand_groups(weights.array, groups, channels)
    padded, frame = _pad_image(values, x, kernel, attributes, name)
    strides = [int(n) for n in attributes.get("strides", [1] * len(kernel))]
    dilations = [int(n) for n in attributes.get("dilations", [1] * len(kernel))]
    sizes = [
        (size - (k - 1) * dilation - 1) // stride + 1
        for size, k, stride, dilation in zip(frame, kernel, strides, dilations, strict=True)
    ]
    if min(sizes) < 1:
        raise LowerError(f"a kernel {tuple(kernel)} over an image of {tuple(image)}")
    values.fits(batch * math.prod((rows.shape[1], *sizes)), beside=True)
    places = places_of((batch, channels, *frame))
    for axis, (k, size, stride, dilation) in enumerate(
        zip(kernel, sizes, strides, dilations, strict=True)
    ):
        window_places = np.arange(k)[:, None] * dilation + np.arange(size)[None] * stride
        # The image's dimension becomes (..., kernel, size); later the kernels are moved before the
        # batch.
        places = np.take(places, window_places, axis=2 + 2 * axis)
    count = len(kernel)
    order = (1, *(2 + 2 * n for n in range(count)), 0, *(3 + 2 * n for n in range(count)))
    windows = places.transpose(order).reshape(rows.shape[1], -1)
    columns = values.move(padded, windows, f"{name}_windows")
    has_bias = _optional(inputs, 2) is not None
    last = name if batch == 1 else f"{name}_by_channels"
    value = values.of_tensor(
        values.graph.product(
            values.tensor(values.array(rows), f"{name}_weights"),
            values.tensor(columns, f"{name}_windows"),
            values.name(f"{last}_product" if has_bias else last),
        ),
        (outputs, windows.shape[1]),
    )
    if has_bias:
        bias = _required(inputs, 2)
        wide = values.broadcast(_column(values, bias), value.shape, f"{name}_bias")
        value = _add(values, value, wide, last)
    shape = (batch, outputs, *sizes)
    if batch > 1:
        by_batch = places_of((outputs, batch, *sizes)).swapaxes(0, 1)
        return [values.move(value, by_batch, name)]
    return [TaskValue(shape, tensor=value.tensor)]


def _column(values: Values, bias: TaskValue) -> TaskValue:
    if bias.array is not None:
        return values.array(bias.array.reshape(-1, 1))
    return TaskValue((*bias.shape, 1), tensor=values.tensor(bias, "bias", bias.shape[0], 1))


def _expand_groups(weights: NDArray[Any], groups: int, channels: int) -> NDArray[Any]:
    """Return the weights of a grouped convolution for all channels, with zeros for other groups."""
    outputs, own, *kernel = weights.shape
    full = np.zeros((outputs, channels, *kernel), weights.dtype)
    for output in range(outputs):
        first = output // (outputs // groups) * own
        full[output, first : first + own] = weights[output]
    return full.reshape(outputs, -1)


def _pad_image(
    values: Values, x: TaskValue, kernel: list[int], attributes: Mapping[str, Any], name: str
) -> tuple[TaskValue, list[int]]:
    """Return the image with its frame of zeros, and its new [height, width]."""
    image, count = list(x.shape[2:]), len(kernel)
    strides = attributes.get("strides", [1] * count)
    dilations = attributes.get("dilations", [1] * count)
    auto = attributes.get("auto_pad", "NOTSET")
    pads = [int(n) for n in attributes.get("pads", [0] * 2 * count)]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pads = [0] * 2 * count
        for axis, size in enumerate(image):
            reach = (kernel[axis] - 1) * dilations[axis] + 1
            total = max((-(-size // strides[axis]) - 1) * strides[axis] + reach - size, 0)
            less, more = total // 2, total - total // 2
            first, second = (less, more) if auto == "SAME_UPPER" else (more, less)
            pads[axis], pads[count + axis] = first, second
    elif auto not in ("NOTSET", "VALID", ""):
        raise LowerError(f"auto_pad {auto}")
    if not any(pads) or auto == "VALID":
        return x, image
    frame = [size + pads[axis] + pads[count + axis] for axis, size in enumerate(image)]
    shape = (*x.shape[:2], *frame)
    if min(pads) < 0:
        raise LowerError("a negative frame", "Slice takes a part")
    values.fits(math.prod(shape), beside=True)
    places = places_of(shape)
    for axis, size in enumerate(image):
        places = np.take(places, np.arange(pads[axis], pads[axis] + size), axis=2 + axis)
    return values.spread(values.array(np.zeros(shape)), x, places, f"{name}_framed"), frame


# --- recurrent layers ---

_GATES = "zrh"  # in ONNX's order


def _gru(values: Values, node: Node, inputs: Inputs) -> list[TaskValue]:
    """Add a forward GRU over a sequence, with one cell for each step (¶53, ¶63)."""
    attributes = node.attributes
    _plain(attributes, inputs)
    x, w, r = (_required(inputs, place) for place in range(3))
    if w.array is None or r.array is None:
        raise LowerError("its weights depend on an input")
    steps, batch, size = x.shape
    hidden = int(attributes.get("hidden_size", r.array.shape[-1]))
    name = str(node.outputs[0] or node.outputs[1])
    bias, start = _optional(inputs, 3), _optional(inputs, 5)
    expected = (1, 3 * hidden, size), (1, 3 * hidden, hidden), (1, 6 * hidden), (1, batch, hidden)
    for value, shape in zip((w, r, bias, start), expected, strict=True):
        if value is not None and (value.shape != shape or not math.prod(shape)):
            raise LowerError(f"an input of the shape {value.shape}, not {shape}")
    cell = _Cell(values, name, w.array[0], r.array[0], hidden, batch)
    if bias is not None:
        if bias.array is None:
            raise LowerError("its bias depends on an input")
        cell.biases = bias.array[0].reshape(2, 3, hidden)
    cell.late = bool(attributes.get("linear_before_reset", 0))
    state = values.array(np.zeros((batch, hidden)))
    if start is not None:
        state = values.part(start, 0, (batch, hidden), f"{name}_h")
    states = []
    for step in range(steps):
        now = values.part(x, step * batch * size, (batch, size), f"{name}_x{step}")
        state = cell.step(now, state, step)
        states.append(state)
        values.check_tasks()
    last = TaskValue((1, batch, hidden), tensor=state.tensor)
    if not node.outputs[0]:
        return [last, last]
    shape = (steps, 1, batch, hidden)
    if steps == 1:
        return [TaskValue(shape, tensor=state.tensor), last][: len(node.outputs)]
    whole = values.join(states, list(places_of(shape)), shape, name)
    return [whole, last][: len(node.outputs)]


def _plain(attributes: Mapping[str, Any], inputs: Inputs) -> None:
    """Raise `LowerError` for variants of GRU that are not supported."""
    direction = attributes.get("direction", "forward")
    if direction != "forward":
        raise LowerError(f"the direction {direction}", "only forward is supported")
    names = [row.decode(errors="replace") for row in attributes.get("activations", [])]
    if names not in ([], ["Sigmoid", "Tanh"]):
        raise LowerError(f"the functions {' '.join(names)}", "only Sigmoid and Tanh are supported")
    if attributes.get("layout", 0) or "clip" in attributes or _optional(inputs, 4) is not None:
        raise LowerError("layout 1, clip and sequence_lens are not supported")


class _Cell:
    """A GRU cell, whose next state is (1 - z) * n + z * H."""

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
        self.biases = np.zeros((2, 3, hidden))
        self.late = False  # whether the reset gate follows the product with H
        self.w = self._sides(w, hidden, "w")
        self.r = self._sides(r, hidden, "r")
        self.one = values.tensor(values.array(np.ones(self.shape)), f"{name}_one")
        self.added: dict[str, Tensor] = {}

    def _sides(self, matrices: NDArray[Any], hidden: int, side: str) -> dict[str, Tensor]:
        return {
            gate: self.values.tensor(
                self.values.array(matrices[place * hidden : (place + 1) * hidden].T),
                f"{self.name}_{side}{gate}",
            )
            for place, gate in enumerate(_GATES)
        }

    def step(self, x: TaskValue, state: TaskValue, number: int) -> TaskValue:
        """Add the tasks of one time step and return the next state."""
        values, graph = self.values, self.values.graph
        inputs = values.tensor(x, f"{self.name}_x{number}")
        old_state = values.tensor(state, f"{self.name}_h{number}")

        def named(part: str) -> str:
            return values.name(f"{self.name}_{part}{number}")

        def sums(gate: str, h: Tensor) -> Tensor:
            of_x = graph.product(inputs, self.w[gate], named(f"x{gate}"))
            of_h = graph.product(h, self.r[gate], named(f"h{gate}"))
            both = graph.pointwise("add", of_x, of_h, name=named(f"sum_{gate}"))
            return self._add_bias(both, gate, (0, 1), number)

        update = graph.pointwise("sigmoid", sums("z", old_state), name=named("z"))
        reset = graph.pointwise("sigmoid", sums("r", old_state), name=named("r"))
        if self.late:
            of_h = graph.product(old_state, self.r["h"], named("hh"))
            of_h = self._add_bias(of_h, "h", (1,), number)
            part = graph.pointwise("mul", reset, of_h, name=named("reset"))
            of_x = graph.product(inputs, self.w["h"], named("xh"))
            of_x = self._add_bias(of_x, "h", (0,), number)
            total = graph.pointwise("add", of_x, part, name=named("sum_h"))
        else:
            total = sums("h", graph.pointwise("mul", reset, old_state, name=named("reset")))
        new = graph.pointwise("tanh", total, name=named("n"))
        left = graph.pointwise("sub", self.one, update, name=named("left"))
        fresh = graph.pointwise("mul", left, new, name=named("fresh"))
        old = graph.pointwise("mul", update, old_state, name=named("kept"))
        last = graph.pointwise("add", fresh, old, name=named("state"))
        return values.of_tensor(last, self.shape)

    def _add_bias(self, tensor: Tensor, gate: str, which: tuple[int, ...], number: int) -> Tensor:
        bias = self.biases[list(which), _GATES.index(gate)].sum(axis=0)
        if not bias.any():
            return tensor
        name = f"{self.name}_b{gate}{''.join(map(str, which))}"
        if name not in self.added:
            wide = self.values.array(np.broadcast_to(bias, self.shape))
            self.added[name] = self.values.tensor(wide, name)
        last = self.values.name(f"{name}_sum{number}")
        return self.values.graph.pointwise("add", tensor, self.added[name], name=last)


LAYERS: dict[str, Callable[[Values, Node, Inputs], list[TaskValue]]] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "GRU": _gru,
}
