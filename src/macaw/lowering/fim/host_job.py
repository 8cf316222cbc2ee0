"""Does gather and scatter on the host, by copies of the dma.

The dma makes the result in pieces of up to `PIECE` bytes, which pass through cp's local memory. It
makes one copy after the other, so all results that need more than one piece share the same bytes of
local memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import FORMATS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.dma_timing import EXTERNAL, LOCAL, Copy, Location
from macaw.lowering.fim.graph import GATHER, Task, Tensor
from macaw.lowering.fim.island_job import Phase
from macaw.lowering.fim.number_arrays import rounded
from macaw.lowering.fim.routes import Bytes, Route, external, runs

PIECE = 1 << 20  # the greatest number of bytes of a result that are in local memory at a time
MOST = 100_000  # the greatest number of copies of a task
SHARED, ZEROS = "_moved", "_zeros"  # labels of local memory: for all large results; for zeros


@dataclass(frozen=True)
class HostJob:
    """A gather or scatter as copies of the dma through cp's local memory."""

    task: Task
    form: int

    def phases(self) -> list[Phase]:
        """Return one phase with all copies. Raises `LowerError` if there are too many copies."""
        return [self._phase]

    @cached_property
    def _phase(self) -> Phase:
        total = self.task.output.numbers * self.size
        whole = total <= PIECE
        symbol = f"{self.task.output.name}.c" if whole else SHARED
        scratch = {symbol: min(total, PIECE)}
        if not whole and self.task.kind != GATHER and len(self.task.inputs) == 1:
            scratch[ZEROS] = PIECE
        copies: list[Copy] = []
        for copy in self._copies(Location(LOCAL, symbol), total):
            copies.append(copy)
            if len(copies) > MOST:
                raise LowerError(f"its numbers go by more than {MOST:,} copies of the dma")
        return Phase((Route(tuple(copies), scratch),), ())

    @property
    def size(self) -> int:
        """The size of a number in bytes."""
        return FORMATS[self.form].size

    def _copies(self, place: Location, total: int) -> Iterator[Copy]:
        """Yield the copies of each piece of the result, through address `place` in local memory.

        `total` is the size of the result in bytes; a piece has up to `PIECE` bytes. For each piece,
        a scatter into a tensor first copies the old data of this tensor. Then come the segments,
        and the last copy moves the piece to the result. Other scatters need zeros around their
        segments: if there are several pieces, a copy of zeros comes first; if there is one, the
        bytes at `place` are zero already.
        """
        out = external(self.task.output, self.size)
        here = self._place(self.task.inputs[0])
        for first in range(0, total, PIECE):
            length = min(PIECE, total - first)
            if len(self.task.inputs) > 1:
                yield Copy(place, self._place(self.task.inputs[1]).at(first), length)
            elif self.task.kind != GATHER and total > PIECE:
                yield Copy(place, Location(LOCAL, ZEROS), length)
            for dst, src, form in runs(*self._segments(first, length)):
                yield Copy(place.at(dst - first), here.at(src), *form)
            yield Copy(out.at(first), place, length)

    def _segments(self, first: int, length: int) -> tuple[Bytes, Bytes, Bytes]:
        """Return where the bytes of a piece of the result come from, for each segment in it.

        The piece has `length` bytes, starting at byte `first` of the result. Of a segment that is
        only partly in the piece, only this part counts. The three arrays have one element for each
        segment: its byte offset in the result, its byte offset in the first input, and its length
        in bytes.
        """
        width = self.task.width * self.size
        if self.task.kind == GATHER:
            numbers = np.arange(first // width, -(-(first + length) // width))
            to, at = numbers * width, self.task.places[numbers].astype(np.int64) * self.size
        else:
            numbers = self._scatter(first, length)
            to, at = self.task.places[numbers].astype(np.int64) * self.size, numbers * width
        less = np.maximum(first - to, 0)  # bytes that are in an earlier piece
        ends = np.minimum(to + width, first + length)
        return to + less, at + less, ends - to - less

    def _scatter(self, first: int, length: int) -> Bytes:
        """Return the indices of the scatter's segments of which a part is in a piece of the result.

        The piece begins at byte `first` of the result and has `length` bytes.
        """
        places, width = self.task.places, self.task.width
        if self.task.output.numbers * self.size <= PIECE:
            return np.arange(len(places))
        low, high = first // self.size, (first + length) // self.size
        begin = np.searchsorted(places, low - width, "right", sorter=self._order)
        return self._order[begin : np.searchsorted(places, high, sorter=self._order)]

    @cached_property
    def _order(self) -> Bytes:
        """The indices of the scatter's segments, sorted by destination."""
        return np.argsort(self.task.places)

    def _place(self, tensor: Tensor) -> Location:
        if tensor.data is not None:
            return Location(EXTERNAL, "a.tiles" if tensor is self.task.inputs[0] else "b.tiles")
        return external(tensor, self.size)

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands by their symbol in the copies: `a.tiles` for the first,
        `b.tiles` for the second.
        """
        form = FORMATS[self.form]
        return {
            f"{'ab'[side]}.tiles": rounded(tensor.data, form)
            for side, tensor in enumerate(self.task.inputs)
            if tensor.data is not None
        }
