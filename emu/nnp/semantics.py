"""What a chain does to its vectors: from its source through the multiplier and the MFUs.

Vectors of some iterations at once: host values (iterations, vectors, N). Which function an
instruction is, the arithmetic knows by its plain mnemonic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.nnp.chain import Chain
from macaw.emu.nnp.longs import FRACTION, WHOLE
from macaw.emu.nnp.numbers import NotANumber, OutOfRange, Quantised

if TYPE_CHECKING:
    from macaw.emu.nnp.iterations import Iterations
    from macaw.emu.nnp.origins import ChainOrigins

Host = NDArray[np.floating[Any]]


class Failed(Exception):
    """A chain's iteration cannot be done; `at` is the instruction's place in the chain."""

    def __init__(self, at: int, fault: Fault) -> None:
        super().__init__(fault.message)
        self.at, self.fault = at, fault


class Execution:
    """What chains do to vectors."""

    def __init__(self, core: Iterations) -> None:
        self.memories = core.memories
        self.arithmetic = core.arithmetic
        self.out = bool(core.device.config["nnp.quantise_mvm_out"])
        self.into = bool(core.device.config["nnp.quantise_mfu_in"])
        self.told: ChainOrigins | None = None  # of what comes out of each instruction

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
            operands: list[Host] = []
            if item.does == "v_softmax":
                flat = values.reshape(count, -1)
                flat = self.arithmetic.softmax(flat, chain.scalars["valid"])
                values = flat.reshape(values.shape)
                self._tell(item.at, values)
                continue
            if item.operand is not None:
                places = chain.addresses(item.operand, first, count)
                operand = self.memories.read(item.operand.memory, places)
                operands.append(self._again(item.at, operand) if self.into else operand)
            values = self.arithmetic.function(item.does, values, *operands)
            self._tell(item.at, values, *operands)
        return values

    def _tell(self, at: int, values: Host, *operands: Host) -> None:
        if self.told is not None:
            self.told.came(at, values, *operands)

    def _source(self, chain: Chain, first: int, count: int, popped: Host | None) -> Host:
        """What comes to the MFUs."""
        memories, source = self.memories, chain.source
        places = chain.addresses(source, first, count)
        if source.memory.name == "InitialVrf":
            held = memories.initial(places)
            if chain.product is None or self.told is not None:
                values = self.arithmetic.host(held, self.arithmetic.vector)
                self._tell(0, values)
                if chain.product is None:
                    return values
            return self._product(chain, first, held)
        if popped is not None:
            values = popped
        else:
            try:
                values = memories.read(source.memory, places)
            except Fault as fault:
                raise Failed(0, fault) from None
        self._tell(0, values)
        if chain.product is None:
            return values
        return self._product(chain, first, self.quantised(chain.product.at, values))

    def _product(self, chain: Chain, first: int, vectors: Quantised) -> Host:
        product = chain.product
        assert product is not None
        rows, cols = chain.scalars["rows"], chain.scalars["cols"]
        count = len(vectors.codes)
        try:
            if not product.inc:
                values = self.arithmetic.product(product.base, rows, cols, vectors)
            else:
                parts = []
                for place in range(count):
                    codes, exponents = vectors.codes[place, None], vectors.exponents[place, None]
                    one = Quantised(codes, exponents)
                    begin = product.base + product.inc * (first + place)
                    parts.append(self.arithmetic.product(begin, rows, cols, one))
                values = np.concatenate(parts)
        except OutOfRange as error:
            _, row, element = error.index
            fault = Fault(
                "accumulator overflow",
                f"element {element} of row {row} leaves the accumulator's {WHOLE + FRACTION} bits"
                f" at column {error.column}",
                {"row": row, "element": element, "column": error.column},
            )
            raise Failed(product.at, fault) from None
        if self.out:
            values = self._again(product.at, values)
        if self.told is not None:
            self.told.multiplies(vectors)
            self._tell(product.at, values)
        return values

    def quantised(self, at: int, values: Host) -> Quantised:
        """Vectors as the multiplier takes them. Raises `Failed`."""
        try:
            return self.arithmetic.quantise(values, self.arithmetic.vector)
        except NotANumber as error:
            raise Failed(at, nan_fault(error)) from None

    def _again(self, at: int, values: Host) -> Host:
        """As the two switches do: quantised, and host values again."""
        try:
            found = self.arithmetic.quantise(values, self.arithmetic.vector)
        except NotANumber as error:
            raise Failed(at, nan_fault(error)) from None
        return self.arithmetic.host(found, self.arithmetic.vector)


def nan_fault(error: NotANumber) -> Fault:
    """The fault of a NaN at a quantiser: where in the iteration it is."""
    _, *inside = (0, 0, *error.index)[-3:]
    vector, element = inside
    return Fault(
        "not a number",
        f"element {element} of vector {vector} is not a number where it is quantised",
        {"vector": vector, "element": element},
    )
