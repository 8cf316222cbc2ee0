"""Describes products of two real matrices, which the SIMD core vc computes in binary32."""

from __future__ import annotations

from typing import ClassVar

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.operations import Shape, VectorOperation


@dataclass(frozen=True)
class MatrixProduct(VectorOperation):
    """Products of matrices: y[p, i, j, h] = the sum over k of a[p, i, k, h] · b[p, k, j, h].

    `a` is (products, rows, inner, heads) and `b` is (products, inner, columns, heads). If `a` or
    `b` has only one matrix, all products use it. Each sum starts at 0 and is computed in binary32:
    the products are added in the order of k, and each product and each sum is rounded.
    """

    a: Shape
    b: Shape

    DTYPES: ClassVar[tuple[str, ...]] = ("float32",)

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return (self.a, self.b)

    @property
    def result(self) -> Shape:
        """The shape of the result, (products, rows, columns, heads)."""
        return (max(self.a[0], self.b[0]), self.a[1], *self.b[2:])

    @property
    def title(self) -> str:
        """The operation's name in reports and sources."""
        return "matmul"

    def check(self) -> None:
        """Raise `LowerError` if the shapes do not fit together."""
        fits = len(self.a) == len(self.b) == 4 and self.a[2:] == (self.b[1], self.b[3])
        if not fits or (self.a[0] != self.b[0] and 1 not in (self.a[0], self.b[0])):
            raise LowerError(f"a product of matrices {self.a} and {self.b}")
        super().check()
