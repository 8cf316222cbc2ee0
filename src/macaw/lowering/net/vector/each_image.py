"""Describes an operation of the SIMD core vc on each image of a batch; writes the loop of cp.

The code of vc reads the inputs of one image, and writes its result, at fixed addresses. So for each
image the dma first copies the inputs to these addresses. After the code has run, the dma copies the
result to its place in the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macaw.isa.dma import TRANSFER
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.listing import Listing
from macaw.lowering.net.vector.boxes import Copies, copy_cycles
from macaw.lowering.net.vector.operations import Shape, VectorOperation, elements
from macaw.lowering.operation import Types
from macaw.lowering.processor_cycles import ProcessorCycles

_RECORDS = "vc_images"  # label of the transfers of an image
_LOOP = 9  # label of the loop, which no copy inside of it has
_INSTRUCTIONS = 9  # of cp for each image, besides the jump back and the wait for vc


@dataclass(frozen=True)
class EachImage(VectorOperation):
    """`operation` on each image of a batch: the tensors have a first axis of `count` images."""

    operation: VectorOperation
    count: int

    @property
    def input_dtypes(self) -> tuple[str, ...]:
        """The element types of the inputs."""
        return self.operation.input_dtypes

    @property
    def result_dtype(self) -> str:
        """The element type of the result."""
        return self.operation.result_dtype

    @property
    def title(self) -> str:
        """The name of the operation of an image."""
        return self.operation.title

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return tuple((self.count, *shape) for shape in self.operation.inputs)

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return (self.count, *self.operation.result)

    def check(self) -> None:
        """Raise `LowerError` if the operation of an image cannot be computed."""
        self.operation.check()


def each_image(operation: VectorOperation, count: int) -> VectorOperation:
    """Return the operation that does `operation` on each of `count` images of a batch.

    If `count` is 0, there is no batch, and the result is `operation` itself.
    """
    return EachImage(operation.dtype, operation, count) if count else operation


@dataclass(frozen=True)
class ImageLoop:
    """The loop of cp that moves each image: its inputs to the addresses that vc's code reads, and
    its result from the address that vc's code writes.

    `sizes` has the bytes of each input of an image, and then the bytes of its result.
    """

    count: int
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, operation: EachImage) -> ImageLoop:
        """Return the loop of cp for an operation on each image of a batch."""
        one = operation.operation
        shapes, dtypes = (*one.inputs, one.result), (*one.input_dtypes, one.result_dtype)
        sizes = zip(shapes, dtypes, strict=True)
        return cls(
            operation.count, tuple(elements(shape) * Types.size(dtype) for shape, dtype in sizes)
        )

    def write_begin(self, out: Listing, symbols: Sequence[str]) -> None:
        """Write the start of the loop, up to the end of the transfers of the inputs.

        `symbols` has the symbol of each input's batch, then the symbol of the result's batch.
        """
        out.put(f"la a0, {_RECORDS}")
        for number, symbol in enumerate(symbols):
            out.put(f"la t1, {symbol}", "its first image")
            out.put(f"sw t1, {self._moving(number)}(a0)")
        out.put(f"li a1, {self.count}", "images")
        out.put("mv t0, a0", label=str(_LOOP))
        for _ in self.sizes[:-1]:
            out.put("dma.copy zero, t0")
            out.put(f"addi t0, t0, {TRANSFER.size}")
        out.put("dma.wait zero")

    def write_end(self, out: Listing) -> None:
        """Write the transfer of the result, and the end of the loop."""
        out.put(f"la t0, {_RECORDS} + {TRANSFER.size * (len(self.sizes) - 1)}")
        out.put("dma.copy zero, t0")
        for number, size in enumerate(self.sizes):
            out.put(f"lw t1, {self._moving(number)}(a0)")
            out.put(f"li t2, {size}", "bytes of an image")
            out.put("add t1, t1, t2")
            out.put(f"sw t1, {self._moving(number)}(a0)")
        out.put("dma.wait zero")
        out.put("addi a1, a1, -1")
        out.put(f"bnez a1, {_LOOP}b")

    def tables(self) -> dict[str, list[str]]:
        """Return the words that describe the transfers, by their label."""
        words = []
        for number, size in enumerate(self.sizes[:-1]):
            words += [f"vc_x{number}", "0", str(size), "1", "0", "0"]
        return {_RECORDS: [*words, "0", "y", str(self.sizes[-1]), "1", "0", "0"]}

    def cycles(self, config: Mapping[str, Any]) -> int:
        """Predict the device cycles of the transfers and of the loop, for all images."""
        copies = (Copies(("", 0), ("", 0), size, (1, 0, 0), ()) for size in self.sizes)
        *inputs, result = (copy_cycles(item, config) for item in copies)
        cp, tensors = ProcessorCycles.of(config), len(self.sizes)
        # During the transfer of the result, cp loads, adds to and stores the addresses.
        updates = tensors * (2 * cp.instruction + 2 * cp.cycle)
        moving = sum(inputs) + max(result, updates)
        image = moving + _INSTRUCTIONS * cp.instruction + cp.jump + cp.cycle
        # By default, the estimates of the transfers include the instructions before the loop.
        before = (3 + 2 * tensors) * (cp.instruction - 1)
        return before + self.count * image

    def _moving(self, number: int) -> int:
        """Return the byte offset, in `tables`, of the address that changes from image to image.

        `number` is the number of the transfer: first those of the inputs, then that of the result.
        For an input the source address changes, for the result the destination address.
        """
        moving = "src" if number < len(self.sizes) - 1 else "dst"
        return TRANSFER.size * number + TRANSFER.offsets[moving]
