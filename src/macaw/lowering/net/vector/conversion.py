"""Describes conversions of types on the SIMD core vc: between integers, sums and binary32."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.operations import SameShape, check_scale

_RESULTS = ("int8", "int16", "float32")


@dataclass(frozen=True)
class Convert(SameShape):
    """Converts a tensor to another type, scale or zero point.

    An element q becomes a real number r in binary32: f32(q - zero) · multiplier, or with `divides`
    f32(q - zero) / multiplier. There is one multiplier, or one for each channel (the last axis).
    The result is r itself if `to` is binary32, else rne(r) + result_zero; rne rounds half to even.
    It is limited to the range `clip`; an integer is also limited to its type. A NaN becomes
    `result_zero` in integers. In binary32 it becomes the least number of the clip, or stays NaN
    without a clip.
    """

    to: str
    multipliers: tuple[float, ...] = (1.0,)
    divides: bool = False
    zero: int = 0
    result_zero: int = 0
    clip: tuple[float, float] | None = None

    DTYPES: ClassVar[tuple[str, ...]] = ("int8", "int16", "int32", "float32")

    @property
    def result_dtype(self) -> str:
        """The element type of the result."""
        return self.to

    @property
    def is_real(self) -> bool:
        """Whether the elements of the input are binary32 numbers."""
        return self.dtype == "float32"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest result."""
        if self.to == "float32":
            return self.clip or (-inf, inf)
        info = np.iinfo(self.to)
        low, high = self.clip or (info.min, info.max)
        return max(low, info.min), min(high, info.max)

    def check(self) -> None:
        """Raise `LowerError` if a type, a multiplier or a zero point is not possible."""
        super().check()
        if self.to not in _RESULTS:
            raise LowerError(f"results of type {self.to}", " or ".join(_RESULTS))
        if len(self.multipliers) not in (1, self.shape[-1] if self.shape else 1):
            raise LowerError(
                f"{len(self.multipliers)} multipliers for the shape {self.shape}",
                "one, or one for each channel",
            )
        for multiplier in self.multipliers:
            check_scale(multiplier)
        if self.zero and self.dtype not in ("int8", "int16"):
            raise LowerError(f"the zero point {self.zero} of {self.dtype}", "0")
        for zero, dtype in ((self.zero, self.dtype), (self.result_zero, self.to)):
            info = np.iinfo(dtype if dtype in ("int8", "int16") else "int8")
            if not info.min <= zero <= info.max:
                raise LowerError(f"the zero point {zero}, which is no {dtype}")
        low, high = self.range
        if not low <= high:
            raise LowerError(f"results are clipped to {low} to {high}", "a range")
