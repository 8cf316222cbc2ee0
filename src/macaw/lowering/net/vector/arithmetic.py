"""Writes the arithmetic on a group of 16 elements: widen, scale, round, saturate.

A group is widened to four vector registers of 32-bit numbers, the quarters. Each operation is
written for all quarters before the next operation, so that no instruction waits for the previous
result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.operations import VectorOperation

FIRST = ("vr4", "vr5", "vr6", "vr7")  # quarters of the first input, and of the result
SECOND = ("vr8", "vr9", "vr10", "vr11")
LOW, HIGH = "vr12", "vr13"  # the least and the greatest result
SCALES = ("vr14", "vr15")


def widen_halves(k: Kernel, sources: Sequence[str], quarters: Sequence[str]) -> None:
    """Write code that widens the 16 int8 numbers in the register `sources[0]` to 16 bits.

    The low eight numbers go to the register `quarters[0]`, the others to `quarters[2]`.
    """
    k.put(f"vwiden.b {quarters[0]}, {sources[0]}, 0")
    k.put(f"vwiden.b {quarters[2]}, {sources[0]}, 1")


def widen_quarters(k: Kernel, quarters: Sequence[str]) -> None:
    """Write code that widens 16-bit numbers in `quarters[0]` and `quarters[2]` to 32 bits.

    The 16 results go to the four registers `quarters`, in their order.
    """
    for low, high in ((0, 1), (2, 3)):
        k.put(f"vwiden.h {quarters[high]}, {quarters[low]}, 1")
        k.put(f"vwiden.h {quarters[low]}, {quarters[low]}, 0")


def widen_pair(
    k: Kernel, sources: Sequence[str], quarters: Sequence[str], letter: str = "h"
) -> None:
    """Write code that widens the numbers in two registers `sources` into four `quarters`.

    The results have twice as many bits. The sources have one group of 16 int16 numbers, or with
    `letter` "b" two groups of int8 numbers.
    """
    for number, quarter in enumerate(quarters):
        k.put(f"vwiden.{letter} {quarter}, {sources[number // 2]}, {number % 2}")


def each(k: Kernel, mnemonic: str, targets: Sequence[str], *others: Sequence[str] | str) -> None:
    """Write the instruction `mnemonic` for each target register, which is also its first source.

    Each of `others` is a further source: one register for all targets, or one for each.
    """
    for number, target in enumerate(targets):
        sources = [other if isinstance(other, str) else other[number] for other in others]
        k.put(", ".join([f"{mnemonic} {target}", target, *sources]))


def splat(k: Kernel, register: str, number: int | float, comment: str = "") -> None:
    """Write code that puts a constant into all 32-bit lanes of a register.

    The constant `number` is an integer, or becomes a binary32 number.
    """
    if isinstance(number, float):
        comment = comment or repr(float(np.float32(number)))
        number = int(np.float32(number).view(np.int32))
    k.put(f"li t0, {number}", comment)
    k.put(f"vsplat.w {register}, t0")


@dataclass(frozen=True)
class Rounding:
    """How integers or binary32 numbers in four registers, the `quarters`, become elements.

    If `floating`, the numbers are converted to integers; otherwise they are integers, and they are
    shifted right by `shift`. Conversion and shift round half to even. Then the numbers are
    saturated to `operation.dtype` and limited to the range `clip`. If `paired`, the registers have
    16-bit numbers of two groups.
    """

    operation: VectorOperation
    clip: tuple[int, int] | None
    floating: bool
    shift: int
    paired: bool  # whether quarters have 16 bits, for two groups of int8
    quarters: tuple[str, ...]

    @property
    def results(self) -> tuple[str, ...]:
        """The registers with the results of a group, or of two groups if `paired`."""
        single = self.operation.dtype == "int8" and not self.paired
        return self.quarters[:1] if single else self.quarters[::2]

    def begin(self, k: Kernel) -> None:
        """Write code that loads the limits of the results; it runs once, before all rounding."""
        letter = "b" if self.operation.dtype == "int8" else "h"
        low, high = self.clip or self.operation.limits
        for register, bound, limit in zip(
            (LOW, HIGH), (low, high), self.operation.limits, strict=True
        ):
            if bound != limit:
                k.put(f"li t0, {bound}", "the least result" if register == LOW else "the greatest")
                k.put(f"vsplat.{letter} {register}, t0")

    def write(self, k: Kernel, between: Sequence[str] = ()) -> None:
        """Write code that rounds the numbers in the registers `quarters` to results.

        `between` are other instructions, which do not depend on the rounding. They come after the
        first `vnarrow` instructions, because the next instruction of the rounding has to wait for
        the results of these.
        """
        quarters = self.quarters
        if self.floating:
            each(k, "vcvt.w.f32", quarters)
        letter = "h" if self.paired else "w"
        for low, high in (quarters[:2], quarters[2:]):
            k.put(f"vnarrow.{letter} {low}, {low}, {high}, {self.shift}")
        k.block(*between)
        if len(self.results) == 1:
            k.put(f"vnarrow.h {quarters[0]}, {quarters[0]}, {quarters[2]}, 0")
        self.write_clip(k)

    def write_clip(self, k: Kernel) -> None:
        """Write code that clips the results."""
        letter = "b" if self.operation.dtype == "int8" else "h"
        low, high = self.clip or self.operation.limits
        if low != self.operation.limits[0]:
            each(k, f"vmax.{letter}", self.results, LOW)
        if high != self.operation.limits[1]:
            each(k, f"vmin.{letter}", self.results, HIGH)
