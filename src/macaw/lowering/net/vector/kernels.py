"""Chooses the code of the SIMD core vc for each operation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

from macaw.lowering.net.vector.average import average_kernel, global_average_kernel
from macaw.lowering.net.vector.conversion import Convert
from macaw.lowering.net.vector.conversion_kernel import convert_kernel
from macaw.lowering.net.vector.elementwise import scaled_kernel, write_scaled
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.lookup import table_kernel
from macaw.lowering.net.vector.matrix_kernel import matrix_kernel
from macaw.lowering.net.vector.matrix_product import MatrixProduct
from macaw.lowering.net.vector.maximum import maximum_kernel
from macaw.lowering.net.vector.operations import (
    AveragePool,
    ElementwiseProduct,
    GlobalAveragePool,
    MaxPool,
    Rescale,
    Sum,
    Table,
    VectorOperation,
)
from macaw.lowering.net.vector.real_function import LayerNormalization, RealFunction, Softmax
from macaw.lowering.net.vector.real_kernel import function_kernel
from macaw.lowering.net.vector.reduction import Reduction
from macaw.lowering.net.vector.reduction_kernel import reduction_kernel
from macaw.lowering.net.vector.row_kernel import (
    normalization_kernel,
    row_reduction_kernel,
    softmax_kernel,
)
from macaw.lowering.net.vector.row_lookup import RowLookup, lookup_kernel


@singledispatch
def kernel_of(operation: VectorOperation) -> Kernel:
    """Return the code of vc for an operation. Its inputs are `vc_x0`, `vc_x1`, its result `y`."""
    raise TypeError(f"no code for {type(operation).__name__}")


@kernel_of.register(Sum)
@kernel_of.register(Rescale)
@kernel_of.register(ElementwiseProduct)
def _(operation: Sum | Rescale | ElementwiseProduct) -> Kernel:
    return scaled_kernel(operation, [f"vc_x{number}" for number in range(operation.count)], "y")


@kernel_of.register(MaxPool)
@kernel_of.register(AveragePool)
def pool_kernel(operation: MaxPool | AveragePool, limits: Sequence[int] = ()) -> Kernel:
    """Return the code of vc for a pool.

    If the array still computes the image, `limits` says when each row is complete (`Windows`).
    """
    if isinstance(operation, MaxPool):
        return maximum_kernel(operation, limits)
    return average_kernel(operation, limits)


@kernel_of.register
def _(operation: GlobalAveragePool) -> Kernel:
    return global_average_kernel(operation)


@kernel_of.register
def _(operation: Table) -> Kernel:
    return table_kernel(operation)


@kernel_of.register
def _(operation: Convert) -> Kernel:
    return convert_kernel(operation)


@kernel_of.register
def _(operation: RealFunction) -> Kernel:
    return function_kernel(operation)


@kernel_of.register
def _(operation: Softmax) -> Kernel:
    return softmax_kernel(operation)


@kernel_of.register
def _(operation: LayerNormalization) -> Kernel:
    return normalization_kernel(operation)


@kernel_of.register
def _(operation: MatrixProduct) -> Kernel:
    return matrix_kernel(operation)


@kernel_of.register
def _(operation: Reduction) -> Kernel:
    rows = operation.shape[2] == 1
    return row_reduction_kernel(operation) if rows else reduction_kernel(operation)


@kernel_of.register
def _(operation: RowLookup) -> Kernel:
    return lookup_kernel(operation)


def rescaling_kernel(rescales: Iterable[tuple[Rescale, str, str]]) -> Kernel:
    """Return code that rescales several tensors.

    Each item is (operation, symbol of the input, symbol of the result).
    """
    k = Kernel()
    for operation, source, target in rescales:
        write_scaled(k, operation, [source], target)
    return k
