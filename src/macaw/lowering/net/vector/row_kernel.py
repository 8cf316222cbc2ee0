"""Writes code of the SIMD core vc for functions of rows: Softmax, LayerNormalization, sums ...

The code passes over each row once or several times.

A pass handles 16 places at once, as four groups of 4. If fewer than 4 places remain in a row, the
last group also loads the elements after the row, and a mask replaces these. The results of this
group are stored one by one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from macaw.lowering.net.vector.arithmetic import splat
from macaw.lowering.net.vector.columns import Columns
from macaw.lowering.net.vector.conversion_kernel import float_words
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.real_function import LayerNormalization, Softmax
from macaw.lowering.net.vector.reduction import KINDS, Reduction
from macaw.lowering.onnx.operators.elementwise import STARTS

_LANES = 4
_BYTES = 16  # bytes of a group
_LOADED = ("vr0", "vr1", "vr2", "vr3")
_MASK, _TOTAL, _FIRST, _SECOND = "vr12", "vr13", "vr14", "vr15"
_X, _Y, _FACTORS, _OFFSETS = "a1", "a3", "a4", "a5"
_ROW, _RESULT = "a0", "a2"


def softmax_kernel(operation: Softmax) -> Kernel:
    """Return the code of a Softmax. Its input is `vc_x0`, its result is `y`."""
    k = Kernel()
    _Softmax(k, operation.shape).write()
    return k


def normalization_kernel(operation: LayerNormalization) -> Kernel:
    """Return the code of a LayerNormalization. Its input is `vc_x0`, its result is `y`."""
    k = Kernel()
    places = -(-operation.shape[-1] // _LANES) * _LANES
    tables = [operation.factors, operation.offsets] if operation.offsets else [operation.factors]
    words = np.zeros((len(tables), places), np.float32)
    words[:, : operation.shape[-1]] = np.asarray(tables, np.float32)
    k.constants["vc_factors"] = float_words(words.reshape(-1))
    _Normalization(k, operation.shape, operation).write()
    return k


def row_reduction_kernel(operation: Reduction) -> Kernel:
    """Return the code of a reduction of rows. Its input is `vc_x0`, its result is `y`."""
    k = Kernel()
    _RowReduction(k, operation).write()
    return k


class _Rows(ABC):
    """Writes code that goes over the rows of a tensor; subclasses write the passes over a row."""

    def __init__(self, k: Kernel, shape: tuple[int, ...]) -> None:
        self.k, self.count, self.length = k, prod(shape[:-1]), shape[-1]
        self.columns = Columns(self.length, "float32", _LANES)
        self.whole, self.rest = divmod(self.length, _LANES)
        self.results = self.length  # number of results of a row

    def write(self) -> None:
        """Write the code for all rows: a loop over the passes that `row` writes."""
        k = self.k
        self.columns.begin(k)
        k.block("la a0, vc_x0", "la a2, y")
        if self.rest:
            k.put(f"vsplat.w {_MASK}, zero")
            k.put("li t0, -1")
            for lane in range(self.rest):
                k.put(f"vins.w {_MASK}, t0, {lane}")
        with k.loop(self.count, _ROW, 4 * self.length, "s1", "a row"):
            self.row()
            k.add(_ROW, 4 * self.length)
            k.add(_RESULT, 4 * self.results)

    @abstractmethod
    def row(self) -> None:
        """Write the passes over a row."""

    def over(
        self, source: str, act: Callable[[Sequence[str], bool], None], tables: int = 0
    ) -> None:
        """Write a pass over a row; the pass loads groups of lanes from the address in `source`.

        `act` writes the code for the registers with loaded groups. Its second argument says whether
        this is the incomplete group at the row's end. The pass also advances the pointer of the
        result, and the pointers of the first `tables` tables: factors, then offsets.
        """
        k = self.k
        pointers = [_X, _Y, *(_FACTORS, _OFFSETS)[:tables]]
        k.put(f"mv {_X}, {source}")
        k.put(f"mv {_Y}, {_RESULT}")
        if tables:
            k.put(f"la {_FACTORS}, vc_factors")
        if tables > 1:
            k.put(f"la {_OFFSETS}, vc_factors + {-(-self.length // _LANES) * _BYTES}")

        def some(registers: Sequence[str], last: bool) -> None:
            for number, register in enumerate(registers):
                self.columns.load(k, [register], _X, _BYTES * number)
            act(registers, last)
            for pointer in pointers:
                k.add(pointer, _BYTES * len(registers))

        four, more = divmod(self.whole, len(_LOADED))
        if four:
            with k.loop(four, _X, _BYTES * len(_LOADED), "t6", "16 places"):
                some(_LOADED, False)
        if more:
            some(_LOADED[:more], False)
        if self.rest:
            some(_LOADED[:1], True)

    def masked(self, register: str, other: str) -> None:
        """Write code that replaces a register's lanes after the row's end by those of `other`."""
        self.k.put(f"vsel {register}, {register}, {other}, {_MASK}")

    def store(self, registers: Sequence[str], last: bool) -> None:
        """Write code that stores the groups in `registers` at the pointer of the result.

        If `last`, the code stores only the lanes before the end of the row.
        """
        for number, register in enumerate(registers):
            if not last:
                self.columns.store(self.k, [register], _Y, _BYTES * number)
                continue
            for lane in range(self.rest):
                self.k.put(f"vext.w t0, {register}, {lane}")
                self.k.put(f"sw t0, {4 * lane}({_Y})")

    def add(self, registers: Sequence[str], last: bool) -> None:
        """Write code that adds the groups in `registers` to the four partial sums.

        If `last`, lanes after the row's end count as 0.
        """
        if last:
            self.k.put("vsplat.w vr11, zero")
            self.masked(registers[0], "vr11")
        for register in registers:
            self.k.put(f"vadd.f32 {_TOTAL}, {_TOTAL}, {register}")

    def total(self, target: str) -> None:
        """Write code that puts the total of the four partial sums into all lanes of `target`."""
        k = self.k
        k.put(f"vsum.f32 {_TOTAL}, {_TOTAL}")
        k.put(f"vext.w t0, {_TOTAL}, 0")
        k.put(f"vsplat.w {target}, t0")


class _RowReduction(_Rows):
    """Writes one pass over a row. The four lanes of a register have the partial results."""

    def __init__(self, k: Kernel, operation: Reduction) -> None:
        super().__init__(k, operation.shape[:2])
        self.results = 1
        self.is_mean = operation.kind == "ReduceMean"
        self.word = KINDS[operation.kind]

    def row(self) -> None:
        k = self.k
        splat(k, _SECOND, float(STARTS[self.word]))
        k.put(f"vmov {_TOTAL}, {_SECOND}")
        self.over(_ROW, self._reduce)
        for lane in range(1, _LANES):
            k.put(f"vext.w t0, {_TOTAL}, {lane}")
            k.put(f"vsplat.w {_LOADED[lane]}, t0")
        for register in _LOADED[1:]:
            k.put(f"v{self.word}.f32 {_TOTAL}, {_TOTAL}, {register}")
        if self.is_mean:
            splat(k, _FIRST, float(self.length))
            k.put(f"vdiv.f32 {_TOTAL}, {_TOTAL}, {_FIRST}")
        k.put(f"vext.w t0, {_TOTAL}, 0")
        k.put(f"sw t0, 0({_RESULT})")

    def _reduce(self, registers: Sequence[str], last: bool) -> None:
        if last:
            self.masked(registers[0], _SECOND)
        for register in registers:
            self.k.put(f"v{self.word}.f32 {_TOTAL}, {_TOTAL}, {register}")


class _Softmax(_Rows):
    """Writes the passes of Softmax: the maximum, the exponentials with their sum, the quotients."""

    def row(self) -> None:
        k = self.k
        splat(k, _FIRST, -np.inf, "-infinity")
        k.put(f"vmov {_SECOND}, {_FIRST}")
        self.over(_ROW, self._maximum)
        for lane in range(_LANES):
            k.put(f"vext.w t0, {_FIRST}, {lane}")
            k.put(f"vsplat.w {_LOADED[lane]}, t0")
        k.put(f"vmax.f32 {_LOADED[0]}, {_LOADED[0]}, {_LOADED[1]}")
        k.put(f"vmax.f32 {_LOADED[2]}, {_LOADED[2]}, {_LOADED[3]}")
        k.put(f"vmax.f32 {_FIRST}, {_LOADED[0]}, {_LOADED[2]}")
        k.put(f"vsplat.w {_TOTAL}, zero")
        self.over(_ROW, self._powers)
        self.total(_SECOND)
        self.over(_RESULT, self._quotients)

    def _maximum(self, registers: Sequence[str], last: bool) -> None:
        if last:
            self.masked(registers[0], _SECOND)
        for register in registers:
            self.k.put(f"vmax.f32 {_FIRST}, {_FIRST}, {register}")

    def _powers(self, registers: Sequence[str], last: bool) -> None:
        for register in registers:
            self.k.put(f"vsub.f32 {register}, {register}, {_FIRST}")
        for register in registers:
            self.k.put(f"vexp.f32 {register}, {register}")
        self.store(registers, last)
        self.add(registers, last)

    def _quotients(self, registers: Sequence[str], last: bool) -> None:
        for register in registers:
            self.k.put(f"vdiv.f32 {register}, {register}, {_SECOND}")
        self.store(registers, last)


class _Normalization(_Rows):
    """Writes the passes of LayerNormalization: the mean, the variance, the results."""

    def __init__(self, k: Kernel, shape: tuple[int, ...], operation: LayerNormalization) -> None:
        super().__init__(k, shape)
        self.operation = operation
        self.places = "vr10"

    def row(self) -> None:
        k = self.k
        splat(k, self.places, float(self.length))
        k.put(f"vsplat.w {_TOTAL}, zero")
        self.over(_ROW, self.add)
        self.total(_FIRST)
        k.put(f"vdiv.f32 {_FIRST}, {_FIRST}, {self.places}")
        k.put(f"vsplat.w {_TOTAL}, zero")
        self.over(_ROW, self._squares)
        self.total(_SECOND)
        k.put(f"vdiv.f32 {_SECOND}, {_SECOND}, {self.places}")
        splat(k, "vr11", float(np.float32(self.operation.epsilon)))
        k.put(f"vadd.f32 {_SECOND}, {_SECOND}, vr11")
        k.put(f"vsqrt.f32 {_SECOND}, {_SECOND}")
        self.over(_ROW, self._results, 2 if self.operation.offsets else 1)

    def _less(self, registers: Sequence[str]) -> None:
        for register in registers:
            self.k.put(f"vsub.f32 {register}, {register}, {_FIRST}")

    def _squares(self, registers: Sequence[str], last: bool) -> None:
        self._less(registers)
        for register in registers:
            self.k.put(f"vmul.f32 {register}, {register}, {register}")
        self.add(registers, last)

    def _results(self, registers: Sequence[str], last: bool) -> None:
        k = self.k
        self._less(registers)
        for register in registers:
            k.put(f"vdiv.f32 {register}, {register}, {_SECOND}")
        tables = [("vmul", _FACTORS)]
        tables += [("vadd", _OFFSETS)] if self.operation.offsets else []
        for word, pointer in tables:
            for number, register in enumerate(registers):
                table = f"vr{4 + number}"
                k.put(f"vld {table}, {_BYTES * number}({pointer})")
                k.put(f"{word}.f32 {register}, {register}, {table}")
        self.store(registers, last)
