"""Writes an operation as a subroutine of a network's program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from macaw.isa.descriptors.vector import DESCRIPTOR
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.layer_source import SourceFiles
from macaw.lowering.listing import Listing
from macaw.lowering.net.vector.boxes import Copies, copies
from macaw.lowering.net.vector.copy_program import (
    SETUP,
    cycles_of_copies,
    data_of_copies,
    expanded,
    write_copies,
)
from macaw.lowering.net.vector.each_image import EachImage, ImageLoop
from macaw.lowering.net.vector.kernel import EXIT, Items, Kernel, program_cycles, write_kernel
from macaw.lowering.net.vector.kernels import kernel_of, pool_kernel, rescaling_kernel
from macaw.lowering.net.vector.movement import Moves, moves_of
from macaw.lowering.net.vector.operations import (
    AveragePool,
    Concat,
    MaxPool,
    Movement,
    VectorOperation,
)
from macaw.lowering.net.vector.rearrangement import Rearrange
from macaw.lowering.net.vector.reorder import fastest_order
from macaw.lowering.processor_cycles import ProcessorCycles
from macaw.lowering.progress import ALL_LEFT, PROGRESS

# Labels and views in these sources. There are also `vc_x`, `vc_copy`, `vc_scratch` and `vc_batch`
# with a number.
VECTOR_LABELS = frozenset(
    """
    run_vc vc_rows vc_rows_2 vc_zeros vc_scratch vc_table vc_fill vc_factors vc_images y
    """.split()
)
_LINE = 6  # words of a table on one line of the source
_MARGIN = 64  # bytes that vc may write after the end of a result
_WAIT = 1  # instruction of cp: `core.wait` for vc
_START = 1  # device cycle from `core.start` to vc's first instruction


@dataclass(frozen=True)
class VectorLinkage:
    """The symbols by which a network's program calls a subroutine: its entry and its tensors."""

    entry: str
    inputs: tuple[str, ...]
    output: str


def vector_subroutine(
    operation: VectorOperation, name: str, linkage: VectorLinkage, limits: Sequence[int]
) -> SourceFiles:
    """Return the source NAME.s of a subroutine of cp that computes an operation.

    Only a pool can have `limits`: it then begins while the array still computes its image
    (`Windows`). In this case the source has two subroutines: one starts vc, and the other one waits
    for vc's end.

    Other files of the network's program define the symbols of `linkage`. The address of each tensor
    must be a multiple of 64, and nothing else may be between its end and the next multiple.
    Raises `LowerError` if the operation cannot be computed.
    """
    operation.check()
    out = Listing()
    out.extend([f"{name}.s - {describe(operation)}. Written by macaw compile."])
    out.put(f".global {linkage.entry}")
    tensors = zip(linkage.inputs, operation.input_dtypes, operation.inputs, strict=True)
    own = "vc_batch" if isinstance(operation, EachImage) else "vc_x"
    for number, (symbol, dtype, shape) in enumerate(tensors):
        out.put(_view(f"{own}{number}", dtype, shape, symbol))
    result = f"vc_batch{len(linkage.inputs)}" if isinstance(operation, EachImage) else "y"
    out.put(_view(result, operation.result_dtype, operation.result, linkage.output))
    _write_parts(out, linkage.entry, _parts(operation, limits), waits=bool(limits))
    return SourceFiles(out.text())


def cycles(operation: VectorOperation, config: Mapping[str, Any]) -> int:
    """Predict the device cycles from the call of an operation's subroutine to its return.

    The prediction is for a time in which no other core uses external memory.
    """
    operation.check()
    parts = _parts(operation)
    cp = ProcessorCycles.of(config)
    counted = 0 if parts.kernel or parts.images else SETUP
    result = cycles_of_copies(parts.copies, config, counted)
    if parts.kernel:
        result += _WAIT * cp.instruction + _START + program_cycles(parts.items, config)
    if parts.images is not None:
        result = parts.images.count * result + parts.images.cycles(config)
    # cp has as many instructions before it starts vc as before it starts the first transfer.
    return cp.call + SETUP * cp.instruction + result


@dataclass(frozen=True)
class _Parts:
    """The two parts of a subroutine: code of vc, then copies by the dma.

    `kernel` has the code of vc with its data, and `items` its instructions in their fastest order.
    `moves` has the boxes from which `copies` are made. `images` is the loop around both parts, if
    they compute one image of a batch.
    """

    kernel: Kernel | None  # the code of vc, with its data
    items: Items  # the instructions of `kernel` in their fastest order
    copies: list[Copies]
    moves: Moves  # the boxes from which `copies` are made
    images: ImageLoop | None = None

    @property
    def spaces(self) -> dict[str, int]:
        """The sizes in bytes of the memory for intermediate data in external memory, by label."""
        *inputs, result = self.images.sizes if self.images else (0,)
        places = {f"vc_x{number}": size + _MARGIN for number, size in enumerate(inputs)}
        places |= {"y": result + _MARGIN} if self.images else {}
        return {**self.moves.spaces, **(self.kernel.spaces if self.kernel else {}), **places}

    @property
    def tables(self) -> dict[str, list[str]]:
        """The words in cp's local memory, by label."""
        own = self.kernel.tables if self.kernel else {}
        return data_of_copies(self.copies) | own | (self.images.tables() if self.images else {})


def _parts(operation: VectorOperation, limits: Sequence[int] = ()) -> _Parts:
    if isinstance(operation, EachImage):
        return replace(_parts(operation.operation), images=ImageLoop.of(operation))
    if not isinstance(operation, Movement | Concat | Rearrange):
        if isinstance(operation, MaxPool | AveragePool):
            code = pool_kernel(operation, limits)
        else:
            code = kernel_of(operation)
        return _Parts(code, fastest_order(code.items), [], Moves())
    moves = moves_of(operation)
    kernel = rescaling_kernel(moves.rescales) if moves.rescales else None
    items = fastest_order(kernel.items) if kernel else ()
    return _Parts(
        kernel, items, [item for box in moves.boxes for item in expanded(copies(box))], moves
    )


def describe(operation: VectorOperation) -> str:
    """Return the name of an operation, with its type and shapes."""
    shapes = " and ".join("x".join(map(str, shape)) for shape in operation.inputs)
    result = "x".join(map(str, operation.result))
    return f"{operation.title} of {operation.dtype}: {shapes} to {result}"


def _view(name: str, dtype: str, shape: tuple[int, ...], symbol: str) -> str:
    return f".view {name}, {dtype}, {', '.join(map(str, shape))}, at={symbol}"


def start_entry(entry: str) -> str:
    """Return the name of the subroutine that only starts vc; `entry` waits for vc."""
    return f"{entry}.start"


def _write_parts(out: Listing, entry: str, parts: _Parts, *, waits: bool) -> None:
    """Write the data, the subroutine `entry` of cp, and the code of vc.

    If `waits`, cp has two subroutines: one starts vc, and `entry` waits for vc's end.
    """
    kernel, moves, spaces, images = parts.kernel, parts.moves, parts.spaces, parts.images
    if spaces:
        out.put(".bss")
    for label, size in spaces.items():
        out.put(".balign 64")
        out.put(f".space {size}", label=label)
    for label, (value, count) in moves.fills.items():
        out.put(".data")
        out.put(".balign 64")
        number = int.from_bytes(value, "little")
        out.put(f".fill {count}, {len(value)}, {number:#x}", "what a pad is", label=label)
    for label, words in (kernel.constants if kernel else {}).items():
        out.put(".data")
        out.put(".balign 64")
        _write_words(out, label, words)
    out.put(".core cp")
    if waits:
        out.put(f".global {start_entry(entry)}")
        out.put("", label=start_entry(entry))
        out.block(f"la t0, {PROGRESS}\nli t1, {ALL_LEFT}\nsw t1, 0(t0)")
    else:
        out.put("", label=entry)
    if images:
        images.write_begin(out, [f"vc_batch{number}" for number in range(len(images.sizes))])
    if kernel:
        out.block(
            f"""
        li t0, {DESCRIPTOR.number} # vc
        la t1, run_vc
        core.start t0, t1
            """
        )
        if waits:
            out.put("ret")
            out.put("", label=entry)
        out.block(f"li t0, {1 << DESCRIPTOR.number}\ncore.wait t0")
    if parts.copies:
        write_copies(out, parts.copies)
    if images:
        images.write_end(out)
    out.put("ret")
    if parts.tables:
        out.put(".section .data.cp")
        out.put(".balign 4")
    for label, words in parts.tables.items():
        _write_words(out, label, words)
    if kernel:
        out.put(".core vc")
        out.put("", label="run_vc")
        write_kernel(out, (*parts.items, *EXIT), depth=1)
        out.put("ecall")


def _write_words(out: Listing, label: str, words: Sequence[str]) -> None:
    for number in range(0, len(words), _LINE):
        some = ", ".join(words[number : number + _LINE])
        out.put(f".word {some}", label="" if number else label)
