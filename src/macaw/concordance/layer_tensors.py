"""Converts the tensors of a layer between arrays and the form in which the processor stores them.

The processor stores vectors padded with zeros to native vectors, and matrices in tiles of native ×
native elements. The generated file takes and returns the arrays without padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.asm.program import Program
from macaw.errors import InputError
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.memory_map import EXTERNAL
from macaw.lowering.concord.graph import Tensor
from macaw.lowering.concord.software import Software
from macaw.nnp_data import host_type, quantised_vectors
from macaw.phrases import did_you_mean, shape_text

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class QuantisedTensor:
    """The result of a quantiser, in the form of the processor and in the form of the software.

    `codes` (int16) has shape (rows, native vectors, N), padded with zeros. `exponents` (int8) has
    one exponent for each native vector; in the kind mx, one exponent for each block
    (docs/numbers-nnp.md). `values` are the numbers that codes and exponents represent, rounded to
    the number format of nnp's memory, in the tensor's shape.
    """

    codes: NDArray[np.int16]
    exponents: NDArray[np.int8]
    values: NDArray[Any]


@dataclass(frozen=True)
class LayerTensors:
    """The inputs and outputs of a layer, and where the processor stores them.

    A layer is the computation of one generated file.
    """

    program: Program
    config: Configuration
    software: Software

    @property
    def inputs(self) -> dict[str, Tensor]:
        """The tensors that the layer takes, by the name of the parameter."""
        return self.software.inputs

    @property
    def outputs(self) -> dict[str, Tensor]:
        """The tensors that the layer returns, by name."""
        return {name: output.tensor for name, output in self.software.outputs.items()}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of all tensors: the number format of nnp's memory."""
        return host_type(self.config)

    @property
    def native(self) -> int:
        """The number of elements of a native vector."""
        return int(self.config["nnp.native"])

    def padded_columns(self, tensor: Tensor) -> int:
        """Return the number of elements in a row of a tensor, padded to whole native vectors."""
        return -(-tensor.columns // self.native) * self.native

    def _padded_rows(self, tensor: Tensor) -> int:
        n = self.native
        return -(-tensor.rows // n) * n if tensor.kind == "matrix" else tensor.rows

    def _pad(self, values: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
        """Return a matrix of `rows` × `columns`: `values` from element [0, 0] on, else zeros."""
        padded = np.zeros((rows, columns), self.dtype)
        padded[: values.shape[0], : values.shape[1]] = values
        return padded

    def address(self, tensor: Tensor) -> int:
        """Return the byte address in external memory of a tensor in nnp's memory Dram.

        The address is right while the register with the base of Dram has its value after reset.
        """
        return EXTERNAL + tensor.bytes(self.native, self.dtype.itemsize)[0]

    def stored_form(self, name: str, data: Arrays) -> NDArray[Any]:
        """Return the elements of input `name` as the processor stores them: padded, in tiles.

        The result has one dimension.
        """
        tensor, n = self.inputs[name], self.native
        values = data[name].reshape(tensor.rows, tensor.columns)
        rows, columns = self._padded_rows(tensor), self.padded_columns(tensor)
        padded = self._pad(values, rows, columns)
        if tensor.kind == "matrix":
            padded = padded.reshape(rows // n, n, columns // n, n).transpose(0, 2, 1, 3)
        return padded.ravel()

    def select(self, data: Arrays) -> dict[str, NDArray[Any]]:
        """Return the layer's inputs by name, from `data` or else from the program's data sections.

        Raises `InputError` for an unknown name, a wrong type or shape, or a missing input.
        """
        known = [*self.inputs, *self.outputs, *(item.name for item in self.program.inputs)]
        for name in data:
            if name not in known:
                raise InputError(f"the layer has no tensor '{name}'", did_you_mean(name, known))
        arrays = {}
        for name, tensor in self.inputs.items():
            if name in data:
                arrays[name] = self.check_array(name, tensor, data[name])
                continue
            own = self._section_data(tensor)
            if own is None:
                raise InputError(
                    f"no {name} ({self.dtype}, {shape_text(tensor.shape)}) in the data",
                    "the layer takes "
                    + ", ".join(f"{n} {shape_text(t.shape)}" for n, t in self.inputs.items()),
                )
            arrays[name] = own
        return arrays

    def check_array(self, name: str, tensor: Tensor, values: Any) -> NDArray[Any]:
        """Return `values` as an array in the shape of `tensor`; messages call it `name`.

        `values` must have the type of nnp's memory, in any order of bytes. Their shape must be that
        of `tensor`, or its rows and columns. Otherwise the method raises `InputError`.
        """
        array = np.asarray(values)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        if array.dtype != self.dtype:
            raise InputError(f"{name} is {self.dtype}, the data has {array.dtype}")
        if array.shape not in (tensor.shape, (tensor.rows, tensor.columns)):
            raise InputError(
                f"{name} is {shape_text(tensor.shape)}, the data has {shape_text(array.shape)}"
            )
        return array.reshape(tensor.shape)

    def check_overlaps(self, data: Arrays) -> None:
        """Raise `InputError` if two inputs of `data` have different bytes at the same address."""
        placed: list[tuple[str, int, bytes]] = []
        for name, tensor in self.inputs.items():
            if tensor.memory != "Dram":
                continue
            start, raw = self.address(tensor), self.stored_form(name, data).tobytes()
            for other, begin, there in placed:
                first, last = max(start, begin), min(start + len(raw), begin + len(there))
                if first < last and (
                    raw[first - start : last - start] != there[first - begin : last - begin]
                ):
                    raise InputError(
                        f"{name} and {other} share a place in external memory, and differ there"
                    )
            placed.append((name, start, raw))

    def program_inputs(self, data: Arrays, tensors: Arrays) -> dict[str, NDArray[Any]]:
        """Return the arrays for the inputs that the program declares with `.input`, by name.

        Inputs declared with `at=netin` enter the processor through its queue NetInQ. They get the
        layer's tensors in this queue, with values from `tensors`. An input that is no tensor of the
        layer gets its array in `data`. All other inputs get zeros here, because the caller writes
        these tensors into memory. Raises `InputError` if the tensors do not fit into the inputs at
        netin.
        """
        queue_inputs = [item for item in self.program.inputs if item.at == "netin"]
        stream = np.zeros(sum(item.elements for item in queue_inputs), self.dtype)
        # A tensor may contain places of other tensors, which begin later, and does not use them.
        for name, tensor in sorted(self.inputs.items(), key=lambda item: item[1].address):
            if tensor.memory != "NetInQ":
                continue
            values = self.stored_form(name, tensors)
            start = tensor.address * self.native
            if start + len(values) > len(stream):
                raise InputError(
                    f"the program's inputs at netin hold {len(stream) // self.native} native"
                    f" vectors; {name} ends at {(start + len(values)) // self.native}",
                    ".input NAME, dtype, vectors, elements, at=netin",
                )
            stream[start : start + len(values)] = values
        arrays: dict[str, NDArray[Any]] = {}
        start = 0
        for item in self.program.inputs:
            if item.at == "netin":
                part = stream[start : start + item.elements]
                arrays[item.name] = part.reshape(item.shape).astype(item.dtype)
                start += item.elements
            elif item.name in data and item.name not in self.inputs:
                arrays[item.name] = np.asarray(data[item.name])
            else:
                arrays[item.name] = np.zeros(item.shape, item.dtype)
        return arrays

    def own_data(self) -> dict[str, NDArray[Any]]:
        """Return the layer's inputs that the program's data sections contain, by name."""
        own = {name: self._section_data(tensor) for name, tensor in self.inputs.items()}
        return {name: values for name, values in own.items() if values is not None}

    def quantised(self, name: str, values: Any) -> QuantisedTensor:
        """Return the array `values` for input `name` as the input's quantiser converts it.

        `values` may have any real type. Raises `InputError` for an unknown name, a wrong shape or a
        NaN.
        """
        tensor = self.inputs.get(name)
        if tensor is None:
            raise InputError(f"the layer has no input '{name}'", did_you_mean(name, self.inputs))
        with np.errstate(over="ignore"):  # what is too large becomes infinite, then saturates
            host = np.asarray(values).astype(self.dtype)
        host = self.check_array(name, tensor, host).reshape(tensor.rows, tensor.columns)
        if np.isnan(host).any():
            raise InputError(f"{name} has a NaN, which no quantiser takes")
        padded = self._pad(host, tensor.rows, self.padded_columns(tensor))
        blocks = padded.reshape(tensor.rows, -1, self.native)
        codes, exponents, back = quantised_vectors(self.config, blocks, tensor.kind == "matrix")
        kept = back.reshape(padded.shape)[:, : tensor.columns].reshape(tensor.shape)
        return QuantisedTensor(codes, exponents, kept)

    def check_padding(self) -> None:
        """Raise `InputError` if the padding of a tensor in the program's data is not 0."""
        for tensor in self.inputs.values():
            self._section_data(tensor)

    def _section_data(self, tensor: Tensor) -> NDArray[Any] | None:
        """Return a tensor from the program's data sections; None if part of it is missing there."""
        if tensor.memory != "Dram":
            return None
        address, n = self.address(tensor), self.native
        rows, columns = self._padded_rows(tensor), self.padded_columns(tensor)
        size = rows * columns * self.dtype.itemsize
        section = self.program.section_at(address)
        if section is None or not section.holds(address + size - 1) or section.nobits:
            return None
        offset = address - section.address
        values = np.frombuffer(section.data[offset : offset + size], self.dtype)
        if tensor.kind == "matrix":
            values = values.reshape(rows // n, columns // n, n, n).transpose(0, 2, 1, 3)
        padded = values.reshape(rows, columns)
        if padded[tensor.rows :].any() or padded[:, tensor.columns :].any():
            what = "tiles" if tensor.kind == "matrix" else "vectors"
            raise InputError(
                f"{tensor.name} is {tensor.rows} × {tensor.columns}, and the program's data that"
                f" fill it up to whole {what} at {address:#010x} are not zeros",
                "`.hint tensor` counts tiles of Dram where m_rd reads them, else vectors",
            )
        return padded[: tensor.rows, : tensor.columns].reshape(tensor.shape)
