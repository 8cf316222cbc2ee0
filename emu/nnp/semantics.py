"""What the instructions do: those between chains by their mnemonic, a chain on all its vectors.

A function of an MFU has the plain mnemonic's name; it gets the chain's vectors and, if its row
names one, the operand's, both host values (iterations, vectors, N).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from emu.faults import Fault
from emu.nnp import numbers
from emu.nnp.chain import Chain
from emu.nnp.numbers import NotANumber, OutOfRange, Quantised

if TYPE_CHECKING:
    from emu.nnp.processor import Processor

Host = NDArray[np.floating[Any]]


class Failed(Exception):
    """A chain's iteration cannot be done; `at` is the instruction's place in the chain."""

    def __init__(self, at: int, fault: Fault) -> None:
        super().__init__(fault.message)
        self.at, self.fault = at, fault


# Functions of the MFUs


def vv_add(chain: Host, operand: Host) -> Host:
    return numbers.add(chain, operand)


def vv_a_sub_b(chain: Host, operand: Host) -> Host:
    return numbers.subtract(chain, operand)


def vv_b_sub_a(chain: Host, operand: Host) -> Host:
    return numbers.subtract(operand, chain)


def vv_max(chain: Host, operand: Host) -> Host:
    return numbers.maximum(chain, operand)


def vv_mul(chain: Host, operand: Host) -> Host:
    return numbers.multiply(chain, operand)


def v_sigm(chain: Host) -> Host:
    return numbers.sigmoid(chain)


def v_tanh(chain: Host) -> Host:
    return numbers.tanh(chain)


def v_relu(chain: Host) -> Host:
    return numbers.relu(chain)


FUNCTIONS = {
    function.__name__: function
    for function in (
        vv_add, vv_a_sub_b, vv_b_sub_a, vv_max, vv_mul, v_sigm, v_tanh, v_relu,
    )
}  # fmt: skip


def v_softmax(chain: Host, valid: int) -> Host:
    """Over the first `valid` elements of all vectors of an iteration."""
    count, vectors, native = chain.shape
    return numbers.softmax(chain.reshape(count, -1), valid).reshape(count, vectors, native)


# Chains


class Execution:
    """What chains do to vectors."""

    def __init__(self, core: Processor) -> None:
        self.memories = core.memories
        self.out = bool(core.device.config["nnp.quantise_mvm_out"])
        self.into = bool(core.device.config["nnp.quantise_mfu_in"])

    def vectors(self, chain: Chain, first: int, count: int, popped: Host | None) -> Host:
        """What `count` iterations write: host values (count, vectors, N). Raises `Failed`.

        `popped` are the vectors from NetInQ, if they come from there. Nothing is changed.
        """
        values = self._source(chain, first, count, popped)
        is_first = True
        for item in chain.operations:
            if self.into and is_first:
                values = self._again(item.at, values)
            is_first = False
            if item.does == "v_softmax":
                values = v_softmax(values, chain.scalars["valid"])
                continue
            operands = []
            if item.operand is not None:
                places = chain.addresses(item.operand, first, count)
                operand = self.memories.read(item.operand.memory, places)
                operands.append(self._again(item.at, operand) if self.into else operand)
            values = FUNCTIONS[item.does](values, *operands)
        return values

    def _source(self, chain: Chain, first: int, count: int, popped: Host | None) -> Host:
        """What comes to the MFUs."""
        memories, source = self.memories, chain.source
        places = chain.addresses(source, first, count)
        if source.memory.name == "InitialVrf":
            held = memories.initial(places)
            if chain.product is None:
                return memories.host_values(held, memories.vector)
            return self._product(chain, first, held)
        values = popped
        if values is None:
            try:
                values = memories.read(source.memory, places)
            except Fault as fault:
                raise Failed(0, fault) from None
        if chain.product is None:
            return values
        return self._product(chain, first, self.quantised(chain.product.at, values))

    def _product(self, chain: Chain, first: int, vectors: Quantised) -> Host:
        memories, product = self.memories, chain.product
        assert product is not None
        rows, cols = chain.scalars["rows"], chain.scalars["cols"]
        count = len(vectors.codes)
        try:
            if not product.inc:
                tiles = memories.prepared.tiles(product.base, rows, cols)
                values = tiles.times(vectors, memories.dtype)
            else:
                parts = []
                for place in range(count):
                    tiles = memories.prepared.tiles(product.begin(first + place, None), rows, cols)
                    one = Quantised(
                        vectors.codes[place : place + 1], vectors.exponents[place : place + 1]
                    )
                    parts.append(tiles.times(one, memories.dtype))
                values = np.concatenate(parts)
        except OutOfRange as error:
            fault = Fault("accumulator overflow", f"mv_mul: {error}", {})
            raise Failed(product.at, fault) from None
        if self.out:
            values = self._again(product.at, values)
        return values

    def quantised(self, at: int, values: Host) -> Quantised:
        """Vectors as the multiplier takes them. Raises `Failed`."""
        try:
            return numbers.quantise(values, self.memories.vector)
        except NotANumber as error:
            raise Failed(at, nan_fault(error)) from None

    def _again(self, at: int, values: Host) -> Host:
        """As the two switches do: quantised, and host values again."""
        try:
            return numbers.requantise(values, self.memories.vector)
        except NotANumber as error:
            raise Failed(at, nan_fault(error)) from None


def nan_fault(error: NotANumber) -> Fault:
    """The fault of a NaN at a quantiser: where in the iteration it is."""
    _, *inside = (0, 0, *error.index)[-3:]
    vector, element = inside
    return Fault(
        "not a number",
        f"element {element} of vector {vector} is not a number where it is quantised",
        {"vector": vector, "element": element},
    )
