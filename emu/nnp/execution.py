"""Computes the results that a chain writes: its vectors pass the multiplier and the MFUs.

MFUs are the multi-function units. The vectors of several iterations are one array of host values of
shape (iterations, vectors, N).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from macaw.emu.faults import Fault
from macaw.emu.nnp.arithmetic import Arithmetic, Host
from macaw.emu.nnp.longs import FRACTION, WHOLE
from macaw.emu.nnp.memories import Memories
from macaw.emu.nnp.numbers import NotANumber, OutOfRange, Quantised
from macaw.emu.nnp.origins import ChainOrigins
from macaw.emu.nnp.schedules.chain import Chain


class IterationFault(Exception):
    """A fault of an iteration; `at` is the number of the instruction in the chain."""

    def __init__(self, at: int, fault: Fault) -> None:
        super().__init__(fault.message)
        self.at, self.fault = at, fault


class Execution:
    """Computes the results that chains write, without a change of state."""

    def __init__(
        self, config: Mapping[str, Any], memories: Memories, arithmetic: Arithmetic
    ) -> None:
        self.memories, self.arithmetic = memories, arithmetic
        self.quantises_products = bool(config["nnp.quantise_mvm_out"])
        self.quantises_operands = bool(config["nnp.quantise_mfu_in"])
        self.origins: ChainOrigins | None = None  # called with the result of each instruction

    def vectors(self, chain: Chain, first: int, count: int, popped: Host | None) -> Host:
        """Return the host values that iterations of a chain write, of shape (count, vectors, N).

        There are `count` iterations, from number `first` on. If NetInQ is the source, `popped` has
        the vectors from it; otherwise it is None. Raises `IterationFault` for a vector of Dram
        outside of external memory, a NaN that is quantised, and an accumulator that overflows.
        """
        values = self._source(chain, first, count, popped)
        is_first = True
        for item in chain.operations:
            if self.quantises_operands and is_first:
                values = self._requantise(item.at, values)
            is_first = False
            operands: list[Host] = []
            if item.does == "v_softmax":
                flat = values.reshape(count, -1)
                flat = self.arithmetic.softmax(flat, chain.scalars["valid"])
                values = flat.reshape(values.shape)
                self._record(item.at, values)
                continue
            if item.operand is not None:
                places = chain.addresses(item.operand, first, count)
                operand = self.memories.read(item.operand.memory, places)
                operands.append(
                    self._requantise(item.at, operand) if self.quantises_operands else operand
                )
            if item.block == "quantise":
                values = self._requantise(item.at, values)
            else:
                values = self.arithmetic.function(item.does, values, *operands)
            self._record(item.at, values, *operands)
        return values

    def _record(self, at: int, values: Host, *operands: Host) -> None:
        if self.origins is not None:
            self.origins.record_result(at, values, *operands)

    def _source(self, chain: Chain, first: int, count: int, popped: Host | None) -> Host:
        """Return the vectors that enter the first multi-function unit (MFU).

        They have shape (count, vectors, N), and are those of `count` iterations from number `first`
        on. They are read from the chain's source, and multiplied if the chain has a product.
        `popped` has the vectors from NetInQ, or is None.
        """
        memories, source = self.memories, chain.source
        places = chain.addresses(source, first, count)
        if source.memory.name == "InitialVrf":
            entries = memories.initial(places)
            if chain.product is None or self.origins is not None:
                values = self.arithmetic.to_host(entries, self.arithmetic.vector)
                self._record(0, values)
                if chain.product is None:
                    return values
            return self._product(chain, first, entries)
        if popped is not None:
            values = popped
        else:
            try:
                values = memories.read(source.memory, places)
            except Fault as fault:
                raise IterationFault(0, fault) from None
        self._record(0, values)
        if chain.product is None:
            return values
        return self._product(chain, first, self.quantise(chain.product.at, values))

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
            raise IterationFault(product.at, fault) from None
        if self.quantises_products:
            values = self._requantise(product.at, values)
        if self.origins is not None:
            self.origins.record_vectors(vectors)
            self._record(product.at, values)
        return values

    def quantise(self, at: int, values: Host) -> Quantised:
        """Quantise the vectors `values` for the multiplier.

        Raises `IterationFault`, with instruction `at` of the chain, if a number is NaN.
        """
        try:
            return self.arithmetic.quantise(values, self.arithmetic.vector)
        except NotANumber as error:
            raise IterationFault(at, nan_fault(error)) from None

    def _requantise(self, at: int, values: Host) -> Host:
        """Quantise host values and convert the result back to host values.

        Raises `IterationFault`, with instruction `at` of the chain, if a number is NaN.
        """
        try:
            blocks = self.arithmetic.quantise(values, self.arithmetic.vector)
        except NotANumber as error:
            raise IterationFault(at, nan_fault(error)) from None
        return self.arithmetic.to_host(blocks, self.arithmetic.vector)


def nan_fault(error: NotANumber) -> Fault:
    """Return the fault for a NaN that reaches a quantiser.

    `error` is the exception that the quantiser has raised. The message names the vector and the
    element.
    """
    _, *inside = (0, 0, *error.index)[-3:]
    vector, element = inside
    return Fault(
        "not a number",
        f"element {element} of vector {vector} is not a number where it is quantised",
        {"vector": vector, "element": element},
    )
