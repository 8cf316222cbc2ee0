"""Writes products of two matrices as code of the SIMD core vc.

The code computes up to four vectors of a result's row at once, and keeps their sums in registers.
With several heads, the lanes are heads. With one head, the lanes are columns of the result, and
each element of the first matrix is copied to all lanes.
"""

from __future__ import annotations

from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.columns import Columns
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.matrix_product import MatrixProduct

_LANES = 4
_REGISTERS = 16
_BLOCK = 4  # vectors of the result that are computed at once
# Pointers: to the row of the first matrix, the second matrix, and the row of the result; the same
# for a group of lanes, for a block, and for one step of the sums.
_ROW, _MATRIX, _RESULT = "a0", "a2", "a6"
_GROUP_ROW, _GROUP_MATRIX, _GROUP_RESULT = "a7", "s7", "s8"
_BLOCK_MATRIX, _BLOCK_RESULT = "a3", "a5"
_X, _Y = "a1", "a4"
_PITCH = "s5"  # bytes from a row of the second matrix to the next
_SPARE = ("t0", "t1", "t2", "t3")


def matrix_kernel(operation: MatrixProduct) -> Kernel:
    """Return the code of a product; the matrices are at `vc_x0` and `vc_x1`, the result at `y`."""
    k = Kernel()
    _Product(k, operation).write()
    return k


class _Product:
    """Writes the code of a product, from the outermost loop to the innermost one."""

    def __init__(self, k: Kernel, operation: MatrixProduct) -> None:
        self.k = k
        self.products, self.rows, self.columns, heads = operation.result
        self.inner = operation.a[2]
        self.moves_a, self.moves_b = operation.a[0] > 1, operation.b[0] > 1
        self.copies = heads == 1  # whether one element of the first matrix is copied to all lanes
        # the axis whose consecutive elements are the lanes of a register
        self.lanes = Columns(self.columns if self.copies else heads, "float32", _LANES)
        self.element = 4 * heads  # bytes of an element of a matrix, with all heads
        self.pitch = self.columns * self.element

    def write(self) -> None:
        """Write the code of the whole product: the loops over products and rows."""
        k = self.k
        self.lanes.begin(k)
        k.block(f"la {_ROW}, vc_x0", f"la {_MATRIX}, vc_x1", f"la {_RESULT}, y")
        k.put(f"li {_PITCH}, {self.pitch}")
        with k.loop(self.products, _RESULT, self.rows * self.pitch, "s1", "a product"):
            if self.products > 1 and not self.moves_a:
                k.put(f"la {_ROW}, vc_x0")
            with k.loop(self.rows, _ROW, self.inner * self.element, "s2", "a row"):
                self._row()
                k.add(_ROW, self.inner * self.element)
                k.add(_RESULT, self.pitch)
            if self.moves_b:
                k.add(_MATRIX, self.inner * self.pitch)

    def _row(self) -> None:
        """Write the code for a row of the result."""
        full, last = self.lanes.full_groups, self.lanes.last
        if self.copies:
            if full:
                self._begin_group(0)
                self._vectors(full, VECTOR_BYTES)
            if last is not None:
                self._begin_group(4 * last)
                self._vectors(1, VECTOR_BYTES)
            return
        if full:
            self._begin_group(0)
            with self.k.loop(full, _GROUP_ROW, VECTOR_BYTES, "s6", "4 heads"):
                self._vectors(self.columns, self.element)
                for pointer in (_GROUP_ROW, _GROUP_MATRIX, _GROUP_RESULT):
                    self.k.add(pointer, VECTOR_BYTES)
        if last is not None:
            self._begin_group(4 * last)
            self._vectors(self.columns, self.element)

    def _begin_group(self, offset: int) -> None:
        """Write code that sets the pointers for the lanes that begin at an offset in bytes."""
        k = self.k
        k.block(f"mv {_GROUP_ROW}, {_ROW}", f"mv {_GROUP_MATRIX}, {_MATRIX}",
                f"mv {_GROUP_RESULT}, {_RESULT}")  # fmt: skip
        k.add(_GROUP_MATRIX, offset)
        k.add(_GROUP_RESULT, offset)
        if not self.copies:
            k.add(_GROUP_ROW, offset)

    def _vectors(self, count: int, step: int) -> None:
        """Write code for `count` vectors of the result, `step` bytes apart."""
        k = self.k
        k.block(f"mv {_BLOCK_MATRIX}, {_GROUP_MATRIX}", f"mv {_BLOCK_RESULT}, {_GROUP_RESULT}")
        blocks, rest = divmod(count, _BLOCK)
        if blocks:
            with k.loop(blocks, _BLOCK_RESULT, _BLOCK * step, "s3", f"{_BLOCK} vectors"):
                self._block(_BLOCK, step)
                k.add(_BLOCK_MATRIX, _BLOCK * step)
                k.add(_BLOCK_RESULT, _BLOCK * step)
        if rest:
            self._block(rest, step)

    def _block(self, count: int, step: int) -> None:
        """Write code for the sums of `count` vectors, `step` bytes apart.

        The code computes as many products as there are free registers, and then adds them.
        """
        k = self.k
        sums = [f"vr{number}" for number in range(count)]
        together = (_REGISTERS - count) // (count + 1)
        k.block(f"mv {_X}, {_GROUP_ROW}", f"mv {_Y}, {_BLOCK_MATRIX}")
        k.block(*(f"vsplat.w {register}, zero" for register in sums))
        times, rest = divmod(self.inner, together)
        if times:
            with k.loop(times, _X, together * self.element, "s4", f"{together} products a sum"):
                self._products(sums, together, step)
        if rest:
            self._products(sums, rest, step)
        for number, register in enumerate(sums):
            self.lanes.store(k, [register], _BLOCK_RESULT, number * step)

    def _products(self, sums: list[str], count: int, step: int) -> None:
        """Write code that adds `count` products to each of `sums`, one after the other.

        The vectors of the second matrix are `step` bytes apart.
        """
        k, width = self.k, len(sums)
        first = [f"vr{width + number}" for number in range(count)]
        second = [f"vr{width + count + number}" for number in range(count * width)]
        for number, register in enumerate(first):
            if self.copies:
                spare = _SPARE[number % len(_SPARE)]
                k.put(f"lw {spare}, {4 * number}({_X})")
                k.put(f"vsplat.w {register}, {spare}")
            else:
                self.lanes.load(k, [register], _X, number * self.element)
            for place in range(width):
                self.lanes.load(k, [second[number * width + place]], _Y, place * step)
            k.put(f"add {_Y}, {_Y}, {_PITCH}")
        k.add(_X, count * self.element)
        for number, factor in enumerate(first):
            some = second[number * width : (number + 1) * width]
            for register in some:
                k.put(f"vmul.f32 {register}, {factor}, {register}")
            for total, register in zip(sums, some, strict=True):
                k.put(f"vadd.f32 {total}, {total}, {register}")
