"""Reorders weights by secret random orders, which are stored separately (seed 002 ¶105-¶113).

A layer's weights have shape (nodes, inputs). The inputs of a node are cut into blocks of as many
lanes as a vector register has, padded with zeros. Each block is stored in its own order: the weight
of input lane i is in lane order[i] of the stored block. `pmac` computes the sum of a[i] *
b[order[i]], so it can use the stored block directly. The scope says which nodes share their orders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property
from math import factorial, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.vector import PMAC_FORMATS
from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering import permutations
from macaw.lowering.errors import LowerError
from macaw.lowering.permutations import Source

SCOPES = ("net", "layer", "group:N", "node")
# Lanes of the formats of pmac by the bytes of their elements.
LANES = {form.bits // 8: form.lanes for form in PMAC_FORMATS.values()}

Orders = NDArray[np.uint8]
Weights = NDArray[Any]


@dataclass(frozen=True)
class Scope:
    """The rule by which nodes share their orders; `size` is the N of `group:N`, else 0."""

    kind: str  # one of `SCOPES`, without N
    size: int = 0

    @classmethod
    def parse(cls, text: str) -> Scope:
        """Return the scope for the user's text: `net`, `layer`, `node`, or `group:N` with a number.

        Raises `LowerError` for any other text.
        """
        kind, _, number = text.partition(":")
        if kind == "group":
            if re.fullmatch("0*[1-9][0-9]{0,8}", number, re.ASCII):
                return cls(kind, int(number))
            raise LowerError(f"'{text}' is no scope", "group:N, N nodes of a layer share an order")
        if text not in SCOPES:
            raise LowerError(f"'{text}' is no scope", "there are " + ", ".join(SCOPES))
        return cls(text)

    def __str__(self) -> str:
        return f"{self.kind}:{self.size}" if self.size else self.kind


@dataclass(frozen=True)
class Layout:
    """Which order each node uses; this depends only on the shapes of the layers' weights.

    The first axis of a shape counts nodes; the product of the other axes' lengths is the fan-in.
    `lanes` is the number of weights in a block. With the scope `net`, all nodes of all layers share
    order 0. With another scope, nodes of different layers never share an order, and orders are
    numbered layer by layer, node by node. The last group of nodes of a layer may be smaller than
    the others.
    """

    shapes: tuple[tuple[int, ...], ...]
    scope: Scope
    lanes: int

    def nodes(self, layer: int) -> int:
        """Return the number of nodes of a layer."""
        return self.shapes[layer][0]

    def fan_in(self, layer: int) -> int:
        """Return the number of weights that each node of a layer has."""
        return prod(self.shapes[layer][1:])

    def blocks_of(self, layer: int) -> int:
        """Return the number of blocks of each of a layer's nodes; the last block may be padded."""
        return -(-self.fan_in(layer) // self.lanes)

    @cached_property
    def order_of(self) -> tuple[NDArray[np.intp], ...]:
        """The number of each node's order: for each layer an array of shape (nodes,)."""
        numbers, first = [], 0
        for layer in range(len(self.shapes)):
            nodes = self.nodes(layer)
            size = self.scope.size or (1 if self.scope.kind == "node" else nodes)
            number = first + np.arange(nodes) // size
            numbers.append(np.zeros(nodes, np.intp) if self.scope.kind == "net" else number)
            first = int(number[-1]) + 1
        return tuple(numbers)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the orders: (orders, largest number of blocks of a layer, lanes)."""
        blocks = max(self.blocks_of(layer) for layer in range(len(self.shapes)))
        return int(self.order_of[-1][-1]) + 1, blocks, self.lanes

    @cached_property
    def shares(self) -> tuple[tuple[slice, tuple[int, ...]], ...]:
        """Pairs (range of order numbers, layers whose nodes use these orders)."""
        layers = tuple(range(len(self.shapes)))
        if self.scope.kind == "net":
            return ((slice(0, 1), layers),)
        numbers = [(int(order[0]), int(order[-1]) + 1) for order in self.order_of]
        return tuple((slice(*span), (layer,)) for layer, span in enumerate(numbers))

    def filled_lanes(self, layers: tuple[int, ...], block: int) -> tuple[int, ...]:
        """Return how many lanes of block `block` contain weights, for the given layers.

        The result has each different number once; layers without this block are left out.
        """
        begin = block * self.lanes
        counts = {min(self.fan_in(layer) - begin, self.lanes) for layer in layers}
        return tuple(sorted(count for count in counts if count > 0))

    @cached_property
    def most(self) -> NDArray[np.intp]:
        """The number of lanes with weights, for each order and block: shape (orders, blocks).

        If several layers use an order, the number is the largest one of these layers.
        """
        counts = np.zeros(self.shape[:2], np.intp)
        for numbers, layers in self.shares:
            for block in range(self.shape[1]):
                counts[numbers, block] = max(self.filled_lanes(layers, block), default=0)
        return counts


def layout(weights: Sequence[Weights], scope: str, lanes: int | None = None) -> Layout:
    """Return which order each node of a network uses. Each array of `weights` is a layer.

    The first axis of an array counts the layer's nodes. `scope` says which nodes share an order:
    one of `SCOPES`. `lanes` is the number of weights in a block; by default it is the number of
    lanes that a vector register has for the widest element type. Raises `LowerError` for weights
    that pmac cannot multiply, and for a wrong scope or number of lanes.
    """
    if not weights:
        raise LowerError("there are no weights")
    for layer, array in enumerate(weights, 1):
        problem, hint = _problem(array)
        if problem:
            where = f"layer {layer}: " if len(weights) > 1 else ""
            raise LowerError(where + problem, hint)
    parsed = Scope.parse(scope)
    widest = max(weights, key=lambda array: array.dtype.itemsize).dtype
    lanes = LANES[widest.itemsize] if lanes is None else lanes
    if lanes not in LANES.values():
        raise LowerError(f"no format of pmac has {lanes} lanes", _known_lanes(LANES.values()))
    if lanes * widest.itemsize > VECTOR_BYTES:
        fit = [each for each in LANES.values() if each * widest.itemsize <= VECTOR_BYTES]
        raise LowerError(f"a register does not hold {lanes} lanes of {widest}", _known_lanes(fit))
    return Layout(tuple(array.shape for array in weights), parsed, lanes)


def _problem(array: Weights) -> tuple[str, str]:
    """Return why weights cannot be stored in another order, and a hint; empty texts if they can."""
    if array.ndim < 2 or not array.size:
        return f"the weights have the shape {array.shape}", "(nodes, inputs)"
    if array.dtype.kind not in "iuf" or array.dtype.itemsize not in LANES:
        hint = "integers of 8, 16 or 32 bits, float16 or float32"
        return f"the weights hold {array.dtype}, which pmac cannot multiply", hint
    if array.size == len(array):
        return "a node of one weight has no order that could be changed", ""
    return "", ""


def stored_layout(
    stored: Sequence[Weights],
    scope: str,
    orders: NDArray[Any],
    shapes: Sequence[Sequence[int]] | None,
) -> Layout:
    """Return which order each node of a network uses, for weights that are already shuffled.

    `scope` says which nodes share an order. The last axis of `orders` is the number of weights in a
    block. `shapes` are the shapes of the original weights; None stands for the shapes of the stored
    arrays. Raises `LowerError` if weights of these shapes could not be stored in such arrays, and
    if `orders` has not the form of orders.
    """
    _check_form(orders)
    plan = layout(stored, scope, orders.shape[-1])
    if shapes is None:
        shapes = plan.shapes
    for array, shape in zip(stored, shapes, strict=True):
        blocks = -(-prod(shape[1:]) // plan.lanes)
        if len(shape) < 2 or min(shape) < 1 or array.shape != (shape[0], blocks * plan.lanes):
            raise LowerError(
                f"shuffled weights of the shape {array.shape} in blocks of {plan.lanes} lanes"
                f" have not been {tuple(shape)}"
            )
    return Layout(tuple(map(tuple, shapes)), plan.scope, plan.lanes)


def _known_lanes(lanes: Sequence[int] | Any) -> str:
    return "lanes: " + ", ".join(map(str, sorted(lanes)))


def draw(plan: Layout, seed: int | None = None) -> Orders:
    """Return random orders, in a uint8 array of shape (orders, blocks, lanes).

    They come from the operating system's generator; a `seed` for NumPy's generator is only for
    tests. The orders depend on the shapes only, so they reveal nothing about the weights. All
    orders have as many blocks as the layer with the most blocks; nodes of other layers use only the
    first blocks of their order.
    """
    source: Source = os.urandom if seed is None else np.random.default_rng(seed).bytes
    orders = np.empty(plan.shape, np.uint8)
    for numbers, layers in plan.shares:
        for block in range(plan.shape[1]):
            filled = plan.filled_lanes(layers, block) or (plan.lanes,)
            count = numbers.stop - numbers.start
            orders[numbers, block] = permutations.draw(count, plan.lanes, filled, source)
    return orders


def _check_form(orders: NDArray[Any]) -> None:
    if orders.dtype != np.uint8 or orders.ndim != 3:
        raise LowerError(
            f"the orders are {orders.dtype} of the shape {orders.shape}",
            "uint8 (orders, blocks, lanes)",
        )


def check(orders: NDArray[Any], plan: Layout) -> Orders:
    """Return `orders` if they are valid orders for a layout. Raises `LowerError` otherwise."""
    _check_form(orders)
    if orders.shape != plan.shape:
        raise LowerError(
            f"the orders have the shape {orders.shape}, these weights with the scope"
            f" {plan.scope} need {plan.shape}",
            "(orders, blocks, lanes)",
        )
    past = np.argwhere(orders >= plan.lanes)
    if past.size:
        order, block, lane = map(int, past[0])
        raise LowerError(
            f"order {order}, block {block} names lane {orders[order, block, lane]} of {plan.lanes}"
        )
    wrong = np.argwhere((np.sort(orders) != np.arange(plan.lanes)).any(axis=-1))
    if wrong.size:
        order, block = map(int, wrong[0])
        values, counts = np.unique(orders[order, block], return_counts=True)
        raise LowerError(f"order {order}, block {block} names lane {values[counts > 1][0]} twice")
    return orders


def shuffle(weights: Sequence[Weights], orders: Orders, plan: Layout) -> list[Weights]:
    """Return the weights in stored order; each array has shape (nodes, blocks * lanes).

    The element types stay the same.
    """
    arrays = []
    for layer, array in enumerate(weights):
        plain = _blocks(array, plan, layer)
        shuffled = np.empty_like(plain)
        np.put_along_axis(shuffled, _of_nodes(orders, plan, layer), plain, axis=-1)
        arrays.append(shuffled.reshape(len(shuffled), -1))
    return arrays


def restore(stored: Sequence[Weights], orders: Orders, plan: Layout) -> list[Weights]:
    """Return the original weights for stored weights, in their original shapes.

    Raises `LowerError` if the padding would contain numbers other than zero, because then the
    orders are not those of these weights.
    """
    arrays = []
    for layer, array in enumerate(stored):
        nodes, blocks = plan.nodes(layer), plan.blocks_of(layer)
        in_blocks = array.reshape(nodes, blocks, plan.lanes)
        plain = np.take_along_axis(in_blocks, _of_nodes(orders, plan, layer), axis=-1)
        plain = plain.reshape(nodes, -1)
        if plain[:, plan.fan_in(layer) :].any():
            raise LowerError(
                "the orders are not those of these weights: there are weights in the padding"
            )
        arrays.append(
            np.ascontiguousarray(plain[:, : plan.fan_in(layer)]).reshape(plan.shapes[layer])
        )
    return arrays


def _blocks(array: Weights, plan: Layout, layer: int) -> Weights:
    """Return a layer's weights, padded with zeros, in an array of shape (nodes, blocks, lanes)."""
    nodes, fan_in, blocks = plan.nodes(layer), plan.fan_in(layer), plan.blocks_of(layer)
    padded = np.zeros((nodes, blocks * plan.lanes), array.dtype)
    padded[:, :fan_in] = array.reshape(nodes, fan_in)
    return padded.reshape(nodes, blocks, plan.lanes)


def _of_nodes(orders: Orders, plan: Layout, layer: int) -> NDArray[np.intp]:
    """Return the orders of a layer's nodes as indices, of shape (nodes, blocks, lanes)."""
    return orders[plan.order_of[layer], : plan.blocks_of(layer)].astype(np.intp)


def log2_orders(plan: Layout) -> float:
    """Return log2 of the number of sets of orders that can be drawn.

    It is the sum over orders and blocks of log2(n! - 1), where n is the number of weights in the
    block. If the fan-in is a multiple of the lanes, this is orders * blocks * log2(lanes! - 1).
    Padding adds nothing, because its zeros are visible, and a single weight adds nothing. If layers
    of different fan-in share a block, n is the number of weights of the layer that has the most.
    Orders that `permutations.draw` rejects are counted, too.
    """
    return float(_bits(plan)[plan.most].sum())


def log2_distinct(weights: Sequence[Weights], plan: Layout) -> float:
    """Return log2 of the number of different results that shuffling these weights can have.

    Two lanes of a block are alike if they contain the same bits in every node that shares the
    order; exchanging them changes nothing. A block of n weights with groups of m, m', ... alike
    lanes has n! / (m! m'! ...) arrangements, and shuffling can result in each of them. Without
    alike lanes it has n! - 1, because the original arrangement is never drawn.
    """
    names, lane = _columns(weights, plan), np.arange(plan.lanes)
    unused = lane >= plan.most[..., None]
    ordered = np.sort(np.where(unused, -1 - lane, names))
    # The k-th of several lanes that are alike divides the number by k.
    turn = np.ones(ordered.shape)
    for at in range(1, plan.lanes):
        same = ordered[..., at] == ordered[..., at - 1]
        turn[..., at] += np.where(same, turn[..., at - 1], 0)
    fewer = np.log2(turn).sum(axis=-1)
    every = np.array([log2(factorial(n)) for n in range(plan.lanes + 1)])
    return float(np.where(fewer > 0, every[plan.most] - fewer, _bits(plan)[plan.most]).sum())


def _bits(plan: Layout) -> NDArray[np.float64]:
    """Return log2 of the number of orders that can be drawn for a block with n weights.

    It is log2(n! - 1), or 0 for n below 2. The result has shape (lanes + 1,), for n from 0 to the
    number of lanes.
    """
    return np.array([log2(max(factorial(n) - 1, 1)) for n in range(plan.lanes + 1)])


def _columns(weights: Sequence[Weights], plan: Layout) -> NDArray[np.int64]:
    """Return a number for the contents of each lane, in an array of shape (orders, blocks, lanes).

    Two lanes of a block have equal numbers if they contain the same bits in all nodes that use the
    order.
    """
    names, below = np.zeros(plan.shape, np.int64), 1  # all names are below this number
    for layer, array in enumerate(weights):
        blocks = _blocks(array, plan, layer)
        bits = blocks.view(blocks.dtype.str.replace(blocks.dtype.kind, "u"))
        order = plan.order_of[layer]
        # Each node that shares an order refines the names. All orders are handled at the same time.
        _, first = np.unique(order, return_index=True)
        place = np.arange(len(order)) - first[order - order[0]]
        for turn in range(int(place.max()) + 1):
            now = place == turn
            values = 256**blocks.itemsize
            if below * values > 2**63:  # after renumbering, the names need fewer bits
                old, new = np.unique(names, return_inverse=True)
                names, below = new.reshape(names.shape).astype(np.int64), len(old)
            where = order[now], slice(0, blocks.shape[1])
            names[where] = names[where] * values + bits[now]
            below *= values
    return names
