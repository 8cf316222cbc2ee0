"""Access to the memories that chains read and write: register files and Dram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.memory import Memory as DeviceMemory
from macaw.emu.nnp.arithmetic import Arithmetic, Host
from macaw.emu.nnp.numbers import Quantised
from macaw.emu.nnp.state import NnpState
from macaw.emu.pages import SHIFT, WRITTEN
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.nnp_layouts import Memory

Addresses = NDArray[np.int64]


class Memories:
    """The register files of nnp, and Dram: external memory from the address in `base` on."""

    def __init__(
        self,
        config: Mapping[str, Any],
        state: NnpState,
        arithmetic: Arithmetic,
        device_memory: DeviceMemory,
    ) -> None:
        self.state, self.arithmetic, self.device_memory = state, arithmetic, device_memory
        self.native = int(config["nnp.native"])
        self.dtype = arithmetic.dtype
        self.bias = arithmetic.vector.bias  # both quantisers have the same kind

    # Vectors

    def initial(self, addresses: Addresses) -> Quantised:
        """Return the entries of InitialVrf at `addresses`, with codes of shape (..., N).

        A negative address stands for a vector of zeros.
        """
        state = self.state
        codes = state.initial_codes[addresses]
        exponents = state.initial_exponents[addresses].astype(np.int8) - self.bias
        padding = addresses < 0
        if padding.any():
            codes[padding] = 0
            exponents[padding] = -self.bias
        return Quantised(codes, exponents)

    def read(self, memory: Memory, addresses: Addresses) -> Host:
        """Return the host values at `addresses` of a register file or Dram, of shape (..., N).

        A negative address stands for a vector of zeros.
        """
        if memory.setting:
            values: Host = self.state.host_file(memory)[addresses]
        else:
            values = self._dram("read", addresses, self.native)[addresses]
        padding = addresses < 0
        if padding.any():
            values[padding] = 0
        return values

    def write(self, memory: Memory, addresses: Addresses, values: Host) -> None:
        """Write `values`, of shape (..., N), to `addresses` of a register file or Dram.

        `memory` is Dram or a register file that stores host values, not quantised numbers.
        """
        if memory.setting:
            self.state.host_file(memory)[addresses] = values
        else:
            self._dram("write", addresses, self.native)[addresses] = values
            self._touch(addresses, self.native)

    def write_initial(self, addresses: Addresses, values: Quantised) -> None:
        """Write the vectors `values` to the entries of InitialVrf at `addresses`."""
        state = self.state
        state.initial_codes[addresses] = values.codes
        state.initial_exponents[addresses] = values.exponents + self.bias

    def check_dram(self, what: str, addresses: Addresses, elements: int) -> None:
        """Raise `Fault` unless external memory contains all these vectors or tiles of Dram.

        A vector or tile has `elements` host values. `addresses` are the numbers of the vectors or
        tiles, counted from the start of Dram. `what` is "read" or "write", for the message.
        """
        self._dram(what, addresses, elements)

    # Dram

    def _dram(self, what: str, addresses: Addresses, elements: int) -> Host:
        """Return external memory from the address in `base` on, in rows of `elements` host values.

        `addresses` are row numbers; negative ones are ignored. `what` is "read" or "write", for the
        message. Raises `Fault` if a row is outside external memory.
        """
        memory = self.device_memory
        size = elements * self.dtype.itemsize
        base = self.state.base
        last = max(0, int(addresses.max()))
        start = base - EXTERNAL
        if start < 0 or start + (last + 1) * size > memory.external_bytes:
            address = base if start < 0 else base + last * size
            raise Fault(
                "out-of-range access",
                f"{what} of {size} bytes at {address:#010x}, Dram {last} from base {base:#010x} on:"
                f" {memory.describe(max(address, EXTERNAL))}",
                {"address": address, "size": size, "entry": last},
            )
        whole = memory.external.array[start : start + (last + 1) * size]
        return whole.view(self.dtype).reshape(last + 1, elements)

    def _touch(self, addresses: Addresses, elements: int) -> None:
        """Mark the pages of external memory that contain written vectors or tiles as written.

        A vector or tile has `elements` host values. `addresses` are the numbers of the written
        ones, counted from the start of Dram.
        """
        size = elements * self.dtype.itemsize
        starts = self.state.base - EXTERNAL + addresses.ravel() * size
        first, last = starts >> SHIFT, starts + size - 1 >> SHIFT
        least = int(first.min())
        is_written = np.zeros(int(last.max()) - least + 1, np.bool_)
        for step in range(int((last - first).max()) + 1):
            is_written[np.minimum(first + step, last) - least] = True
        pages = self.device_memory.external
        for page in (least + np.flatnonzero(is_written)).tolist():
            if pages.marks[page] != WRITTEN:
                pages.touch(page)

    # Tiles

    def read_tiles(self, memory: Memory, addresses: Addresses) -> Host:
        """Return the native tiles at `addresses` of `memory`, as host values (..., N, N)."""
        native = self.native
        if memory.setting:
            state = self.state
            exponents = state.tile_exponents[addresses].astype(np.int8) - self.bias
            tiles = Quantised(state.tile_codes[addresses], exponents)
            return self.arithmetic.to_host(tiles, self.arithmetic.matrix)
        rows = self._dram("read", addresses, native * native)[addresses]
        return rows.reshape(*addresses.shape, native, native)

    def write_tiles(self, memory: Memory, addresses: Addresses, values: Host) -> None:
        """Write native tiles, host values of shape (k, N, N), to `addresses` of `memory`.

        For MatrixRf the tiles are quantised; Dram gets the host values.
        """
        native = self.native
        if not memory.setting:
            rows = self._dram("write", addresses, native * native)
            rows[addresses] = values.reshape(len(values), -1)
            self._touch(addresses, native * native)
            return
        state = self.state
        tiles = self.arithmetic.quantise(values, self.arithmetic.matrix)
        state.tile_codes[addresses] = tiles.codes
        state.tile_exponents[addresses] = tiles.exponents + self.bias
        exponents = tiles.exponents[0].size  # bytes of a tile
        sizes = ((state.matrix_codes, 2 * native * native), (state.matrix_exponents, exponents))
        for pages, size in sizes:
            for start in (addresses * size).tolist():
                for page in range(start >> SHIFT, (start + size - 1 >> SHIFT) + 1):
                    pages.touch(page)
        first = int(addresses.min())
        self.arithmetic.invalidate(first, int(addresses.max()) - first + 1)
