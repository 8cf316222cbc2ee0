"""Describes sums, means, maxima and minima of real numbers along one axis of a tensor."""

from __future__ import annotations

from typing import ClassVar

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.operations import Shape, VectorOperation

KINDS = {"ReduceSum": "add", "ReduceMean": "add", "ReduceMax": "max", "ReduceMin": "min"}


@dataclass(frozen=True)
class Reduction(VectorOperation):
    """A reduction of a tensor (parts, length, lanes) along `length`, in binary32.

    `kind` is the name of an operator of ONNX. First the elements whose index along `length` is 0,
    4, 8, ... are reduced to a partial result, and in the same way those from index 1, 2 and 3 on.
    Then these four partial results are reduced, in this order. A mean is the sum divided by
    `length`.
    """

    shape: Shape
    kind: str

    DTYPES: ClassVar[tuple[str, ...]] = ("float32",)

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.shape,)

    @property
    def result(self) -> Shape:
        """The shape of the result, (parts, lanes)."""
        return (self.shape[0], self.shape[2])

    @property
    def title(self) -> str:
        """The name of the operator."""
        return self.kind

    def check(self) -> None:
        """Raise `LowerError` if the kind is not known or there are not three dimensions."""
        if self.kind not in KINDS or len(self.shape) != 3:
            raise LowerError(f"{self.kind} of the shape {self.shape}")
        super().check()
