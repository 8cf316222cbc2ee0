"""Writes maximum pools as code of the SIMD core vc.

Rows of a window that are outside the image are replaced by the nearest row inside, which changes no
maximum. Interior elements use the maxima of the columns that they share with the previous element,
and load the columns of the next elements while they compute. A large window is computed in two
passes: the maxima along the rows, then the maxima of these along the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from macaw.lowering.net.vector.kernel import Kernel, place
from macaw.lowering.net.vector.operations import MaxPool, Pool, elements
from macaw.lowering.net.vector.windows import Windows
from macaw.lowering.operation import Types

_REGISTERS = tuple(f"vr{number}" for number in range(16))
_BATCH = 12  # number of registers that are loaded before the first maximum of a separate element
_LARGE = 16  # the greatest number of elements of a window that is computed in one pass


def maximum_kernel(pool: MaxPool, limits: Sequence[int]) -> Kernel:
    """Return the code of a maximum pool. The image is at `vc_x0`, the result at `y`.

    If the array still computes the image, `limits` says when each row is complete (`Windows`).
    """
    k = Kernel()
    rows, columns = pool.kernel
    if rows == 1 or columns == 1 or rows * columns <= _LARGE:
        _Maximum(k, pool, ("vc_x0", "y", "vc_rows"), limits).write()
        return k
    along = replace(
        pool,
        kernel=(1, columns),
        strides=(1, pool.strides[1]),
        pads=(0, pool.pads[1], 0, pool.pads[3]),
        sizes=(pool.image[0], pool.result[1]),
    )
    down = replace(
        pool,
        image=along.result,
        kernel=(rows, 1),
        strides=(pool.strides[0], 1),
        pads=(pool.pads[0], 0, pool.pads[2], 0),
        sizes=(pool.result[0], pool.result[1]),
    )
    k.spaces["vc_scratch"] = elements(along.result) * Types.size(pool.dtype)
    _Maximum(k, along, ("vc_x0", "vc_scratch", "vc_rows"), limits).write()
    _Maximum(k, down, ("vc_scratch", "y", "vc_rows_2")).write()
    return k


class _Maximum(Windows):
    """Writes the code of a maximum pool."""

    def __init__(
        self, k: Kernel, pool: Pool, names: tuple[str, str, str], limits: Sequence[int] = ()
    ) -> None:
        super().__init__(k, pool, names, limits)
        self.vmax = "vmax.b" if pool.dtype == "int8" else "vmax.h"
        rows, stride = pool.kernel[0], pool.strides[1]
        # the columns that the windows of an element and of the next one share
        self.shared = max(pool.kernel[1] - stride, 0)
        self.new = pool.kernel[1] - self.shared
        per_element = rows * self.new
        # Besides the loaded registers: maxima of shared and new columns, and a result.
        spare = len(_REGISTERS) - self.shared - self.new - 1
        self.unroll = 0 if self.many_rows else min(spare // per_element, 2)

    def outside(self, row: int) -> str:
        nearest = min(max(row, 0), self.pool.image[0] - 1)
        return place(self.source, nearest * self.pool.image[1] * self.pitch)

    def separate(self, j: int, offsets: Sequence[int]) -> None:
        places = [(row, offset) for offset in offsets for row in range(self.pool.kernel[0])]
        result = _REGISTERS[_BATCH]
        for start in range(0, len(places), _BATCH):
            some = places[start : start + _BATCH]
            registers = list(_REGISTERS[: len(some)])
            for register, (row, offset) in zip(registers, some, strict=True):
                self.load(register, row, offset)
            if start:
                registers.append(result)
            while len(registers) > 1:
                pairs = list(zip(registers[::2], registers[1::2], strict=False))
                for first, second in pairs:
                    self.k.put(f"{self.vmax} {first}, {first}, {second}")
                rest = registers[len(pairs) * 2 :]
                registers = [first for first, _ in pairs] + rest
            if start + _BATCH < len(places):
                self.k.put(f"vmov {result}, {registers[0]}")
        self.store(registers)

    def repeated(self, count: int) -> int:
        unroll = self.unroll if count >= self.unroll else 1
        if not self.unroll:
            return self._plain(count)
        rows, stride = self.pool.kernel[0], self.pool.strides[1]
        shared, spare = list(_REGISTERS[: self.shared]), list(_REGISTERS[self.shared :])
        loaded = [
            [[spare.pop(0) for _ in range(rows)] for _ in range(self.new)] for _ in range(unroll)
        ]
        offsets = [
            [(element * stride + self.shared + column) * self.pitch for column in range(self.new)]
            for element in range(unroll)
        ]
        for column, register in enumerate(shared):
            for row in range(rows):
                self.load(spare[0] if row else register, row, column * self.pitch)
                if row:
                    self.k.put(f"{self.vmax} {register}, {register}, {spare[0]}")
        for registers, places in zip(loaded, offsets, strict=True):
            self._load(registers, places)
        passes = count // unroll

        def body() -> None:
            self.advance(unroll * stride)
            self._consume(shared, loaded, offsets, spare, reload=True)

        self.repeat(passes - 1, unroll * stride, body)
        self._consume(shared, loaded, offsets, spare, reload=False)
        self.advance(unroll * stride)
        return passes * unroll

    def _load(self, registers: Sequence[Sequence[str]], offsets: Sequence[int]) -> None:
        for column, offset in zip(registers, offsets, strict=True):
            for row, register in enumerate(column):
                self.load(register, row, offset)

    def _consume(
        self,
        shared: list[str],
        loaded: list[list[list[str]]],
        offsets: list[list[int]],
        spare: list[str],
        reload: bool,
    ) -> None:
        """Write a pass of the loop; it computes several elements from columns in registers.

        `loaded` has, for each element, the registers of each new column, and `offsets` the byte
        offsets of these columns. `shared` has the registers with the maxima of the columns that the
        first element shares with the element before it. `spare` are registers for further maxima.
        If `reload`, the code also loads the columns of the next pass.
        """
        k, current, free = self.k, list(shared), list(spare)
        for registers, places in zip(loaded, offsets, strict=True):
            new = []
            for column, offset in zip(registers, places, strict=True):
                target = free.pop(0)
                if len(column) == 1:
                    k.put(f"vmov {target}, {column[0]}")
                else:
                    k.put(f"{self.vmax} {target}, {column[0]}, {column[1]}")
                for row, register in enumerate(column):
                    if row > 1:
                        k.put(f"{self.vmax} {target}, {target}, {register}")
                    if reload:
                        self.load(register, row, offset)
                new.append(target)
            values = current + new
            result = values[0]
            if len(values) > 1:
                result = free[0]
                k.put(f"{self.vmax} {result}, {values[0]}, {values[1]}")
                for value in values[2:]:
                    k.put(f"{self.vmax} {result}, {result}, {value}")
            self.store([result])
            current = values[len(values) - self.shared :]
            free += [value for value in values if value not in current]
        for register, value in zip(shared, current, strict=True):
            if register != value:
                k.put(f"vmov {register}, {value}")

    def _plain(self, count: int) -> int:
        """Write code that computes `count` elements and loads the whole window of each.

        The windows are inside the image. Return `count`.
        """
        columns = [column * self.pitch for column in range(self.pool.kernel[1])]

        def body() -> None:
            self.separate(-1, columns)
            self.advance(self.pool.strides[1])

        self.repeat(count, self.pool.strides[1], body)
        return count
