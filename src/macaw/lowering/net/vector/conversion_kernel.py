"""Writes conversions between integers, sums and binary32 as code of the SIMD core vc.

One iteration of the loop converts 16 elements and loads the next 16. Factors of channels are stored
in external memory. They are repeated until their number is a multiple of 16, so that all accesses
are aligned. After the result, the code writes up to the next multiple of 64 bytes. After the input,
it reads up to the next multiple and at most 64 bytes more.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import numpy as np
from numpy.typing import NDArray

from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.arithmetic import (
    FIRST,
    HIGH,
    LOW,
    SECOND,
    each,
    splat,
    widen_halves,
    widen_pair,
    widen_quarters,
)
from macaw.lowering.net.vector.columns import GROUP
from macaw.lowering.net.vector.conversion import Convert
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.operations import elements
from macaw.lowering.operation import Types

_LOADED = ("vr0", "vr1", "vr2", "vr3")
_ZERO, _RESULT_ZERO = "vr14", "vr15"
_SCALE, _MASKS = SECOND[0], SECOND[1:]


def float_words(numbers: NDArray[np.float32]) -> list[str]:
    """Return binary32 numbers as words of the source."""
    return [f"{int(word):#x}" for word in np.asarray(numbers, "<f4").view("<u4")]


def convert_kernel(operation: Convert) -> Kernel:
    """Return the code of a conversion; the input is at `vc_x0`, the result at `y`."""
    k = Kernel()
    _Conversion(k, operation).write()
    return k


class _Conversion:
    """Writes the code for a conversion."""

    def __init__(self, k: Kernel, operation: Convert) -> None:
        self.k, self.operation = k, operation
        self.step = GROUP * Types.size(operation.dtype)
        self.result_step = GROUP * Types.size(operation.to)
        self.loaded = _LOADED[: self.step // VECTOR_BYTES]
        self.by_channel = len(operation.multipliers) > 1

    def write(self) -> None:
        """Write the code of the whole conversion: its start, and the loop over all elements."""
        k, operation = self.k, self.operation
        k.block("la a0, vc_x0", "la a2, y")
        self._begin()
        self._load(0)
        count = elements(operation.shape)
        if not self.by_channel:
            with k.loop(-(-count // GROUP), "a0", self.step, "t6", "16 elements"):
                self._group()
            return
        channels = operation.shape[-1]
        period = lcm(channels, GROUP) if count > channels else -(-channels // GROUP) * GROUP
        factors = np.resize(np.asarray(operation.multipliers, np.float32), period)
        k.constants["vc_factors"] = float_words(factors)
        whole, rest = divmod(count, period)
        if whole:
            comment = f"{period} elements"
            with k.loop(whole, "a0", period // GROUP * self.step, "s0", comment):
                self._groups(period // GROUP)
        if rest:
            self._groups(-(-rest // GROUP))

    def _groups(self, count: int) -> None:
        self.k.put("la a1, vc_factors")
        with self.k.loop(count, "a1", GROUP * 4, "t6", "16 elements"):
            self._group()

    def _begin(self) -> None:
        k, operation = self.k, self.operation
        if not self.by_channel:
            splat(k, _SCALE, float(np.float32(operation.multipliers[0])))
        letter = "h" if operation.dtype == "int8" else "w"
        if operation.zero or operation.is_real:  # of binary32: 0 replaces NaN
            k.put(f"li t0, {operation.zero}", "the input's zero point")
            k.put(f"vsplat.{letter} {_ZERO}, t0")
        if operation.to == "float32":
            for register, bound in zip((LOW, HIGH), operation.clip or (), strict=False):
                if np.isfinite(bound):
                    splat(k, register, float(bound))
            return
        letter = "h" if operation.to == "int8" else "w"
        if operation.result_zero:
            k.put(f"li t0, {operation.result_zero}", "the result's zero point")
            k.put(f"vsplat.{letter} {_RESULT_ZERO}, t0")
        for register, limit in zip((LOW, HIGH), operation.range, strict=True):
            k.put(f"li t0, {int(limit) - operation.result_zero}")
            k.put(f"vsplat.{letter} {register}, t0")

    def _load(self, offset: int) -> None:
        for number, register in enumerate(self.loaded):
            self.k.put(f"vld {register}, {offset + VECTOR_BYTES * number}(a0)")

    def _group(self) -> None:
        """Write code that converts 16 elements and loads the next ones."""
        k = self.k
        self._widen()
        self._load(self.step)
        k.put(f"addi a0, a0, {self.step}")
        self._scale()
        results: Sequence[str] = FIRST
        if self.operation.to == "float32":
            self._clip_real()
        else:
            results = self._round()
        for number, register in enumerate(results):
            k.put(f"vst {register}, {VECTOR_BYTES * number}(a2)")
        k.put(f"addi a2, a2, {self.result_step}")

    def _widen(self) -> None:
        """Write code that converts the elements minus the zero point to binary32."""
        k, operation = self.k, self.operation
        if operation.dtype == "int8":
            widen_halves(k, self.loaded, FIRST)
            if operation.zero:
                each(k, "vsub.h", FIRST[::2], _ZERO)
            widen_quarters(k, FIRST)
        elif operation.dtype == "int16":
            widen_pair(k, self.loaded, FIRST)
            if operation.zero:
                each(k, "vsub.w", FIRST, _ZERO)
        else:
            word = "vmov" if operation.is_real else "vcvt.f32.w"
            for target, source in zip(FIRST, self.loaded, strict=True):
                k.put(f"{word} {target}, {source}")
            return
        each(k, "vcvt.f32.w", FIRST)

    def _scale(self) -> None:
        k, operation = self.k, self.operation
        word = "vdiv.f32" if operation.divides else "vmul.f32"
        if self.by_channel:
            for number, register in enumerate(SECOND):
                k.put(f"vld {register}, {VECTOR_BYTES * number}(a1)")
            k.put(f"addi a1, a1, {GROUP * 4}")
            each(k, word, FIRST, SECOND)
        elif operation.multipliers[0] != 1:
            each(k, word, FIRST, _SCALE)

    def _clip_real(self) -> None:
        for word, register, bound in zip(
            ("vmax.f32", "vmin.f32"), (LOW, HIGH), self.operation.clip or (), strict=False
        ):
            if np.isfinite(bound):
                each(self.k, word, FIRST, register)

    def _round(self) -> Sequence[str]:
        """Write code that rounds, saturates and adds the zero point; return result registers."""
        k, operation = self.k, self.operation
        if operation.is_real:  # 0 replaces NaN
            for number, quarter in enumerate(FIRST):
                mask = _MASKS[number % len(_MASKS)]
                k.put(f"vceq.f32 {mask}, {quarter}, {quarter}")
                k.put(f"vsel {quarter}, {quarter}, {_ZERO}, {mask}")
        each(k, "vcvt.w.f32", FIRST)
        if operation.to == "int16":
            self._bound("w", FIRST)
        for low, high in ((0, 1), (2, 3)):
            k.put(f"vnarrow.w {FIRST[low]}, {FIRST[low]}, {FIRST[high]}, 0")
        if operation.to == "int16":
            return FIRST[::2]
        self._bound("h", FIRST[::2])
        k.put(f"vnarrow.h {FIRST[0]}, {FIRST[0]}, {FIRST[2]}, 0")
        return FIRST[:1]

    def _bound(self, letter: str, registers: Sequence[str]) -> None:
        each(self.k, f"vmax.{letter}", registers, LOW)
        each(self.k, f"vmin.{letter}", registers, HIGH)
        if self.operation.result_zero:
            each(self.k, f"vadd.{letter}", registers, _RESULT_ZERO)
