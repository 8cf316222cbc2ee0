"""Writes average pools as code of the SIMD core vc.

Sums of int8 have 16 bits for up to 256 elements, sums of int16 have 32 bits. A row of zeros
replaces rows of a window outside the image. The sum is converted to binary32 and multiplied by a
scale, which depends on how many elements count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.arithmetic import FIRST, SCALES, SECOND, each, splat, widen_quarters
from macaw.lowering.net.vector.columns import Columns
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.operations import (
    LARGEST_WINDOW,
    AveragePool,
    GlobalAveragePool,
    VectorOperation,
    mean_scale,
)
from macaw.lowering.net.vector.windows import TABLE, Windows

_WIDENED = ("vr12", "vr13")  # the elements of a loaded register, in twice the bits
_LOADED = ("vr0", "vr1", "vr2", "vr3", *SECOND, "vr15")
_REACH = 2048  # offsets in bytes are below this
_NEAR = 4  # if offsets reach so many positions, they are faster than more loads without offsets
_SUMS = "vc_scratch"  # sums of 32 bits for each channel of several positions


class Mean:
    """Writes the arithmetic of means, for the elements of one vector register."""

    def __init__(self, k: Kernel, operation: VectorOperation) -> None:
        self.k = k
        self.is_byte = operation.dtype == "int8"
        self.narrow, self.wide = ("b", "h") if self.is_byte else ("h", "w")
        self.sums = (FIRST[0], FIRST[2]) if self.is_byte else FIRST[:2]

    def begin(self) -> None:
        """Write code that sets the sums to zero."""
        for register in self.sums:
            self.k.put(f"vsplat.w {register}, zero")

    def add(self, register: str, between: Sequence[str] = ()) -> None:
        """Write code that adds the elements in a register to the sums.

        The instructions `between` follow as soon as the register has been read, so they may load it
        again.
        """
        for half, widened in enumerate(_WIDENED):
            self.k.put(f"vwiden.{self.narrow} {widened}, {register}, {half}")
        self.k.block(*between)
        for total, widened in zip(self.sums, _WIDENED, strict=True):
            self.k.put(f"vadd.{self.wide} {total}, {total}, {widened}")

    def finish(self, scale: str, widened: bool) -> str:
        """Write code that scales and rounds the sums; return the register of the results.

        With `widened`, sums of int8 numbers have 32 bits already, in the four registers `FIRST`.
        """
        quarters = FIRST if self.is_byte else FIRST[:2]
        if self.is_byte and not widened:
            widen_quarters(self.k, FIRST)
        each(self.k, "vcvt.f32.w", quarters)
        each(self.k, "vmul.f32", quarters, scale)
        each(self.k, "vcvt.w.f32", quarters)
        for first, second in zip(quarters[::2], quarters[1::2], strict=True):
            self.k.put(f"vnarrow.w {first}, {first}, {second}, 0")
        if self.is_byte:
            self.k.put(f"vnarrow.h {FIRST[0]}, {FIRST[0]}, {FIRST[2]}, 0")
        return FIRST[0]


def average_kernel(pool: AveragePool, limits: Sequence[int]) -> Kernel:
    """Return the code of an average pool. The image is at `vc_x0`, the result at `y`.

    If the array still computes the image, `limits` says when each row is complete (`Windows`).
    """
    k = Kernel()
    _Average(k, pool, ("vc_x0", "y", "vc_rows"), limits).write()
    return k


class _Average(Windows):
    """Writes the code of an average pool."""

    pool: AveragePool

    def __init__(
        self, k: Kernel, pool: AveragePool, names: tuple[str, str, str], limits: Sequence[int]
    ) -> None:
        super().__init__(k, pool, names, limits)
        self.mean = Mean(k, pool)
        counts = [pool.counted(1, j) for j in range(pool.result[1])]
        # A row of the table has one scale for each number of columns that count.
        self.counts = sorted(set(counts), key=lambda count: (count != pool.kernel[1], count))
        for i, words in enumerate(self.extra):
            for count in self.counts:
                scale = mean_scale(pool.scale, pool.counted(0, i) * count)
                words.append(f"{int(scale.view(np.uint32)):#x}")

    def outside(self, row: int) -> str:
        row_bytes = self.pool.image[1] * self.pitch
        self.k.spaces["vc_zeros"] = row_bytes + VECTOR_BYTES
        return "vc_zeros"

    def begin_row(self) -> None:
        self._load_scale(SCALES[0], self.counts[0])

    def _load_scale(self, register: str, count: int) -> None:
        at = 4 * (self.pool.kernel[0] + 1 + self.counts.index(count))
        self.k.put(f"lw t0, {at}({TABLE})", f"scale / {count} columns", local=True)
        self.k.put(f"vsplat.w {register}, t0")

    def separate(self, j: int, offsets: Sequence[int]) -> None:
        places = [(row, offset) for offset in offsets for row in range(self.pool.kernel[0])]
        self.mean.begin()
        batch = len(_LOADED) - 1
        for start in range(0, len(places), batch):
            some = places[start : start + batch]
            for register, (row, offset) in zip(_LOADED, some, strict=False):
                self.load(register, row, offset)
            for register, _ in zip(_LOADED, some, strict=False):
                self.mean.add(register)
        count = self.pool.counted(1, j) if j >= 0 else self.pool.kernel[1]
        if count != self.counts[0]:
            self._load_scale(SCALES[1], count)
        self.store([self.mean.finish(SCALES[count != self.counts[0]], widened=False)])

    def repeated(self, count: int) -> int:
        rows, columns = self.pool.kernel
        places = [(row, column * self.pitch) for column in range(columns) for row in range(rows)]
        stride = self.pool.strides[1]
        if len(places) > len(_LOADED) or self.many_rows:

            def plain() -> None:
                self.separate(-1, [column * self.pitch for column in range(columns)])
                self.advance(stride)

            self.repeat(count, stride, plain)
            return count
        for register, (row, offset) in zip(_LOADED, places, strict=False):
            self.load(register, row, offset)

        def body(reload: bool = True) -> None:
            self.advance(stride)
            self.mean.begin()
            for register, (row, offset) in zip(_LOADED, places, strict=False):
                self.mean.add(register)
                if reload:
                    self.load(register, row, offset)
            self.store([self.mean.finish(SCALES[0], widened=False)])

        self.repeat(count - 1, stride, body)
        body(reload=False)
        return count


def global_average_kernel(pool: GlobalAveragePool) -> Kernel:
    """Return the code of a global average; the image is at `vc_x0`, the result at `y`."""
    k = Kernel()
    columns = Columns(pool.image[2], pool.dtype, VECTOR_BYTES // Columns(1, pool.dtype).size)
    positions = pool.image[0] * pool.image[1]
    columns.begin(k)
    splat(k, SCALES[0], float(mean_scale(pool.scale, positions)))
    fold = columns.fold(positions)
    if fold == 1:

        def average() -> None:
            widened = _sums(k, Mean(k, pool), columns, positions)
            columns.store(k, [Mean(k, pool).finish(SCALES[0], widened)], "s3", 0)

        _each_group(k, columns, ("vc_x0", columns.group_bytes), ("y", columns.group_bytes), average)
        return k
    # Several positions are treated as one; their sums are added at the end.
    folded = columns.folded(fold)
    sums = Columns(columns.channels, "int32", columns.lanes)
    k.spaces[_SUMS] = fold * sums.pitch + VECTOR_BYTES

    def add() -> None:
        if not _sums(k, Mean(k, pool), folded, positions // fold) and pool.dtype == "int8":
            widen_quarters(k, FIRST)
        folded_sums.store(k, FIRST[: folded_sums.registers], "s3", 0)

    folded_sums = sums.folded(fold)
    parts = (_SUMS, sums.group_bytes)
    _each_group(k, folded, ("vc_x0", folded.group_bytes), parts, add)
    _each_group(
        k,
        columns,
        parts,
        ("y", columns.group_bytes),
        lambda: _average_of_sums(k, pool, columns, sums, fold),
    )
    return k


def _each_group(
    k: Kernel,
    columns: Columns,
    source: tuple[str, int],
    target: tuple[str, int],
    write: Callable[[], None],
) -> None:
    """Write a loop over the groups of channels; `write` writes the code for one group.

    In the loop, s2 points to the group in `source`, and s3 to the group in `target`. `source`
    and `target` are (symbol, bytes of a group).
    """
    pointers = (("s2", *source), ("s3", *target))
    for pointer, symbol, _ in pointers:
        k.put(f"la {pointer}, {symbol}")
    if columns.full_groups:
        with k.loop(columns.full_groups, "s2", source[1], "s6", "16 bytes of channels"):
            write()
            for pointer, _, step in pointers:
                k.add(pointer, step)
    if columns.last is not None:
        if columns.full_groups:
            back = columns.last - columns.full_groups * columns.lanes
            for pointer, _, step in pointers:
                k.add(pointer, back * step // columns.lanes)
        write()


def _average_of_sums(
    k: Kernel, pool: GlobalAveragePool, columns: Columns, sums: Columns, count: int
) -> None:
    """Write code that adds `count` partial sums for each channel of a group, and scales the sums.

    `sums` has the layout of the partial sums, which have 32 bits; `columns` has that of the
    results.
    """
    quarters = FIRST[: sums.registers]
    sums.begin(k)
    sums.load(k, quarters, "s2", 0)
    for number in range(1, count):
        others = (SECOND, _LOADED)[number % 2][: sums.registers]
        sums.load(k, others, "s2", number * sums.pitch)
        each(k, "vadd.w", quarters, others)
    columns.begin(k)
    columns.store(k, [Mean(k, pool).finish(SCALES[0], widened=True)], "s3", 0)


def _sums(k: Kernel, mean: Mean, columns: Columns, count: int) -> bool:
    """Write code that adds a group of channels over `count` positions, the first at address s2.

    A position is a pixel, or several pixels that are treated as one (`Columns.folded`). Return the
    argument `widened` of `Mean.finish`: whether sums of int8 numbers have 32 bits.
    """
    k.put("mv a0, s2")
    k.put(f"li s5, {columns.pitch}", "bytes from a position to the next")
    chunk = LARGEST_WINDOW if mean.is_byte else count
    if count <= chunk:
        _sum(k, mean, columns, count, (*_LOADED[:4], *SECOND))
        return False
    for register in SECOND:
        k.put(f"vsplat.w {register}, zero")
    k.put("li s7, 0")
    with k.loop(count // chunk, "s7", 1, "s8", f"{chunk} positions"):
        _sum(k, mean, columns, chunk, _LOADED[:4])
        _collect(k)
        k.put("addi s7, s7, 1")
    if count % chunk:
        _sum(k, mean, columns, count % chunk, _LOADED[:4])
        _collect(k)
    for register, total in zip(FIRST, SECOND, strict=True):
        k.put(f"vmov {register}, {total}")
    return True


def _collect(k: Kernel) -> None:
    """Write code that adds the sums of 16 bits (in `FIRST`) to those of 32 bits (in `SECOND`)."""
    widen_quarters(k, FIRST)
    each(k, "vadd.w", SECOND, FIRST)


def _sum(k: Kernel, mean: Mean, columns: Columns, count: int, loaded: Sequence[str]) -> None:
    """Write code that adds the elements of `count` positions, the first at the address in a0.

    A position is a pixel, or several pixels that are treated as one. `mean` has the arithmetic.
    Afterwards a0 points to the next position. `loaded` are the registers into which positions are
    loaded ahead.
    """
    reached = -(-_REACH // columns.pitch)  # positions
    near = reached >= min(_NEAR, len(loaded))
    loaded = loaded[:reached] if near else loaded

    def load(number: int) -> None:
        columns.load(k, [loaded[number]], "a0", number * columns.pitch if near else 0)
        if not near:
            k.put("add a0, a0, s5")

    def advance(positions: int) -> None:
        if near:
            k.add("a0", positions * columns.pitch)

    mean.begin()
    passes, rest = divmod(count, len(loaded))
    for number in range(rest):
        load(number)
    for register in loaded[:rest]:
        mean.add(register)
    advance(rest)
    if not passes:
        return
    for number in range(len(loaded)):
        load(number)
    advance(len(loaded))
    step = len(loaded) * columns.pitch
    with k.loop(passes - 1, "a0", step, "s9", f"{len(loaded)} positions"):
        for number, register in enumerate(loaded):
            mean.add(register)
            load(number)
        advance(len(loaded))
    for register in loaded:
        mean.add(register)
