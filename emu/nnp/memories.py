"""What chains read and write: register files, Dram, and the tiles prepared for products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.nnp.numbers import Quantised
from macaw.emu.nnp.state import BIAS
from macaw.emu.pages import SHIFT, WRITTEN
from macaw.isa.memory_map import EXTERNAL

if TYPE_CHECKING:
    from macaw.emu.nnp.iterations import Iterations
    from macaw.isa.nnp_layouts import Memory

Host = NDArray[np.floating[Any]]
Addresses = NDArray[np.int64]


class Memories:
    """The memories of one core."""

    def __init__(self, core: Iterations, config: Mapping[str, Any]) -> None:
        self.core = core
        self.native = int(config["nnp.native"])
        self.arithmetic = core.arithmetic
        self.dtype = core.arithmetic.dtype

    # Vectors

    def initial(self, addresses: Addresses) -> Quantised:
        """Entries of InitialVrf; vectors of zeros where an address is negative."""
        state = self.core.state
        codes = state.initial_codes[addresses]
        exponents = state.initial_exponents[addresses].astype(np.int8) - BIAS
        padding = addresses < 0
        if padding.any():
            codes[padding] = 0
            exponents[padding] = -BIAS
        return Quantised(codes, exponents)

    def read(self, memory: Memory, addresses: Addresses) -> Host:
        """Host values of a register file or of Dram: (..., N), zeros for negative addresses."""
        if memory.setting:
            values: Host = self.core.state.host_file(memory)[addresses]
        else:
            values = self._dram("read", addresses, self.native)[addresses]
        padding = addresses < 0
        if padding.any():
            values[padding] = 0
        return values

    def write(self, memory: Memory, addresses: Addresses, values: Host) -> None:
        """Host values to a register file of them or to Dram."""
        if memory.setting:
            self.core.state.host_file(memory)[addresses] = values
        else:
            self._dram("write", addresses, self.native)[addresses] = values
            self._touch(addresses, self.native)

    def write_initial(self, addresses: Addresses, values: Quantised) -> None:
        """Entries of InitialVrf."""
        state = self.core.state
        state.initial_codes[addresses] = values.codes
        state.initial_exponents[addresses] = values.exponents + BIAS

    def check_dram(self, what: str, addresses: Addresses, elements: int) -> None:
        """Raise `Fault` unless the elements at these addresses lie in external memory."""
        self._dram(what, addresses, elements)

    # Dram

    def _dram(self, what: str, addresses: Addresses, elements: int) -> Host:
        """External memory from the base register on, in rows of so many host values.

        Raises `Fault` if one of the rows at `addresses` (of those that are not negative) is not
        there.
        """
        memory = self.core.device.memory
        size = elements * self.dtype.itemsize
        base = self.core.state.base
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
        """Note which pages of external memory were written."""
        size = elements * self.dtype.itemsize
        starts = self.core.state.base - EXTERNAL + addresses.ravel() * size
        first, last = starts >> SHIFT, starts + size - 1 >> SHIFT
        pages = self.core.device.memory.external
        for step in range(int((last - first).max()) + 1):
            for page in np.unique(np.minimum(first + step, last)).tolist():
                if pages.marks[page] != WRITTEN:
                    pages.touch(page)

    # Tiles

    def read_tiles(self, memory: Memory, addresses: Addresses) -> Host:
        """Native tiles as host values: (..., N, N)."""
        native = self.native
        if memory.setting:
            state = self.core.state
            exponents = state.tile_exponents[addresses].astype(np.int8) - BIAS
            found = Quantised(state.tile_codes[addresses], exponents)
            return self.arithmetic.host(found, self.arithmetic.matrix)
        rows = self._dram("read", addresses, native * native)[addresses]
        return rows.reshape(*addresses.shape, native, native)

    def write_tiles(self, memory: Memory, addresses: Addresses, values: Host) -> None:
        """Native tiles (k, N, N) to MatrixRf, quantised, or to Dram."""
        native = self.native
        if not memory.setting:
            rows = self._dram("write", addresses, native * native)
            rows[addresses] = values.reshape(len(values), -1)
            self._touch(addresses, native * native)
            return
        state = self.core.state
        found = self.arithmetic.quantise(values, self.arithmetic.matrix)
        state.tile_codes[addresses] = found.codes
        state.tile_exponents[addresses] = found.exponents + BIAS
        sizes = ((state.matrix_codes, 2 * native * native), (state.matrix_exponents, native))
        for pages, size in sizes:
            for start in (addresses * size).tolist():
                for page in range(start >> SHIFT, (start + size - 1 >> SHIFT) + 1):
                    pages.touch(page)
        first = int(addresses.min())
        self.arithmetic.written(first, int(addresses.max()) - first + 1)
