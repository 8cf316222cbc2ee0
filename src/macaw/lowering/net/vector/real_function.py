"""Describes functions of real numbers that the SIMD core vc computes in binary32, step by step."""

from __future__ import annotations

from typing import ClassVar

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.operations import SameShape, Shape
from macaw.lowering.onnx.formulas import Steps

_TYPES = ("int8", "int16", "float32")
CONSTANTS = 14  # the greatest number of different constants in the steps


@dataclass(frozen=True)
class RealFunction(SameShape):
    """A function of the elements of `count` tensors of one shape, computed by `steps` in binary32.

    An integer q of an input stands for the real number f32(q - zero) · scale. If the result has
    integers, a real number r becomes saturate(rne(r / divisor) + result_zero), where rne rounds
    half to even; a NaN counts as 0.
    """

    steps: Steps
    name: str
    to: str = "float32"
    count: int = 1
    zero: int = 0
    scale: float = 1.0
    divisor: float = 1.0
    result_zero: int = 0

    DTYPES: ClassVar[tuple[str, ...]] = _TYPES

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape,) * self.count

    @property
    def result_dtype(self) -> str:
        """The element type of the result."""
        return self.to

    @property
    def title(self) -> str:
        """The name of the function."""
        return self.name

    @property
    def constants(self) -> tuple[float, ...]:
        """The constants that the steps of the function use."""
        numbers = (x for step in self.steps for x in step.operands if isinstance(x, float))
        return tuple(dict.fromkeys(numbers))

    def check(self) -> None:
        """Raise `LowerError` if a type is not possible or there are too many constants."""
        super().check()
        if self.to not in _TYPES:
            raise LowerError(f"results of type {self.to}", " or ".join(_TYPES))
        if len(self.constants) > CONSTANTS:
            raise LowerError(
                f"a function with {len(self.constants)} constants", f"at most {CONSTANTS}"
            )


@dataclass(frozen=True)
class Softmax(SameShape):
    """exp(x - max) / sum over the last axis, in binary32.

    `macaw.lowering.onnx.operators.elementwise.row_sums` defines the order of additions.
    """

    DTYPES: ClassVar[tuple[str, ...]] = ("float32",)


@dataclass(frozen=True)
class LayerNormalization(SameShape):
    """(x - mean) / sqrt(variance + epsilon) · factors + offsets over the last axis, in binary32.

    `macaw.lowering.onnx.operators.elementwise.row_sums` defines the order of additions. `factors`
    and `offsets` have one number for each place of the last axis; `offsets` may be empty.
    """

    factors: tuple[float, ...]
    offsets: tuple[float, ...]
    epsilon: float

    DTYPES: ClassVar[tuple[str, ...]] = ("float32",)

    def check(self) -> None:
        """Raise `LowerError` if the numbers of factors and offsets do not fit the last axis."""
        super().check()
        if len(self.factors) != self.shape[-1] or len(self.offsets) not in (0, self.shape[-1]):
            raise LowerError(
                f"{len(self.factors)} factors and {len(self.offsets)} offsets for the shape"
                f" {self.shape}"
            )
