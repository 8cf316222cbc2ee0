"""Write an operation as a subroutine of a network's program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from macaw.isa.descriptors.vector import DESCRIPTOR
from macaw.lowering.layer_source import SourceFiles
from macaw.lowering.listing import Listing
from macaw.lowering.net.vector.average import average_kernel, global_average_kernel
from macaw.lowering.net.vector.elementwise import scaled_kernel
from macaw.lowering.net.vector.kernel import Kernel, kernel_cycles, write_kernel
from macaw.lowering.net.vector.maximum import maximum_kernel
from macaw.lowering.net.vector.operations import (
    AveragePool,
    ElementwiseProduct,
    GlobalAveragePool,
    MaxPool,
    Rescale,
    Sum,
    VectorOperation,
)

# Labels and views of all sources; besides these `x` with a number.
VECTOR_LABELS = frozenset("run_vc vc_rows vc_rows_2 vc_zeros vc_scratch y".split())
_LINE = 6  # words of a table in a line of the source
_CALL = 26  # cycles of cp for a call, the start of vc, the wait and the return


@dataclass(frozen=True)
class VectorLinkage:
    """The symbols of a subroutine in a network's program: its entry and its tensors."""

    entry: str
    inputs: tuple[str, ...]
    output: str


def vector_subroutine(operation: VectorOperation, name: str, linkage: VectorLinkage) -> SourceFiles:
    """Return the source NAME.s of a subroutine of cp that computes an operation.

    It is one file of a network's program: the others define the symbols of `linkage`, each at a
    multiple of 64. Up to the next multiple of 64 nothing else may be there. Raises `LowerError`.
    """
    operation.check()
    out = Listing()
    out.extend([f"{name}.s - {describe(operation)}. Written by macaw compile."])
    out.put(f".global {linkage.entry}")
    for number, (symbol, shape) in enumerate(zip(linkage.inputs, operation.inputs, strict=True)):
        out.put(_view(f"x{number}", operation.dtype, shape, symbol))
    out.put(_view("y", operation.dtype, operation.result, linkage.output))
    _vector_part(out, linkage.entry, kernel_of(operation))
    return SourceFiles(out.text())


def cycles(operation: VectorOperation, config: Mapping[str, Any]) -> int:
    """Predict the device cycles from the call of an operation's subroutine to its return."""
    operation.check()
    return _CALL * int(config["cp.divider"]) + kernel_cycles(kernel_of(operation).items, config)


@singledispatch
def kernel_of(operation: VectorOperation) -> Kernel:
    """Return the code of vc that computes an operation."""
    raise TypeError(f"no code for {type(operation).__name__}")


@kernel_of.register(Sum)
@kernel_of.register(Rescale)
@kernel_of.register(ElementwiseProduct)
def _(operation: Sum | Rescale | ElementwiseProduct) -> Kernel:
    return scaled_kernel(operation)


@kernel_of.register
def _(operation: MaxPool) -> Kernel:
    return maximum_kernel(operation)


@kernel_of.register
def _(operation: AveragePool) -> Kernel:
    return average_kernel(operation)


@kernel_of.register
def _(operation: GlobalAveragePool) -> Kernel:
    return global_average_kernel(operation)


def describe(operation: VectorOperation) -> str:
    """Return the name of an operation with its shapes."""
    shapes = " and ".join("x".join(map(str, shape)) for shape in operation.inputs)
    result = "x".join(map(str, operation.result))
    return f"{type(operation).__name__} of {operation.dtype}: {shapes} to {result}"


def _view(name: str, dtype: str, shape: tuple[int, ...], symbol: str) -> str:
    return f".view {name}, {dtype}, {', '.join(map(str, shape))}, at={symbol}"


def _vector_part(out: Listing, entry: str, kernel: Kernel) -> None:
    """Write the subroutine of cp that starts vc, and the code of vc."""
    if kernel.spaces:
        out.put(".bss")
    for label, size in kernel.spaces.items():
        out.put(".balign 64")
        out.put(f".space {size}", label=label)
    out.put(".core cp")
    out.block(
        f"""
{entry}:
        li t0, {DESCRIPTOR.number} # vc
        la t1, run_vc
        core.start t0, t1
        li t0, {1 << DESCRIPTOR.number}
        core.wait t0
        ret
        """
    )
    if kernel.tables:
        out.put(".section .data.cp")
        out.put(".balign 4")
    for label, words in kernel.tables.items():
        for number in range(0, len(words), _LINE):
            some = ", ".join(words[number : number + _LINE])
            out.put(f".word {some}", label="" if number else label)
    out.put(".core vc")
    out.put("", label="run_vc")
    write_kernel(out, kernel.items)
    out.block(
        """
        li a0, 0 # exit
        li a7, 93
        ecall
        """
    )
