"""Writes the code that maximum and average pools share: loops over rows, channels and columns.

For each row of the result, the code processes groups of channels. A table in cp's local memory has
the addresses of the rows of each window and of the result's row. Each column whose window reaches
outside the image has separate code. A loop computes the other columns of a row.

If the array still computes the image, the code takes the rows in the order in which their windows
become complete, and waits for each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.columns import Columns
from macaw.lowering.net.vector.kernel import Kernel, place
from macaw.lowering.net.vector.operations import Pool
from macaw.lowering.progress import PROGRESS

RESULT = "s4"  # register with the address of the next element of the result
TABLE = "s2"  # register with the address of the table's row
# registers with the addresses of the rows of a window
_ROWS = tuple(f"a{number}" for number in range(8))
_GROUP, _GROUP_END, _TABLE_END, _COLUMN, _LOOP_END = "s0", "s1", "s3", "s5", "s6"
_PROGRESS, _LIMIT, _LEFT = "s7", "s8", "s9"
_ROW = "t6"


@dataclass(frozen=True)
class Interior:
    """The columns of the result whose windows are inside the image.

    `outputs` has the numbers of these columns. The window of the first of these columns begins in
    column `first` of the image.
    """

    outputs: range
    first: int

    @classmethod
    def of(cls, pool: Pool) -> Interior:
        """Return the columns of a pool's result whose windows are inside the image."""
        inside = [j for j in range(pool.result[1]) if _is_inside(pool, j)]
        if not inside:
            return cls(range(0), 0)
        return cls(range(inside[0], inside[-1] + 1), pool.window(1, inside[0]).start)


def _is_inside(pool: Pool, j: int) -> bool:
    first = j * pool.strides[1] - pool.pads[1]
    return first >= 0 and first + pool.kernel[1] <= pool.image[1]


class Windows(ABC):
    """Writes the code of a pool. Subclasses write the computation of a window."""

    def __init__(
        self, k: Kernel, pool: Pool, names: tuple[str, str, str], limits: Sequence[int] = ()
    ) -> None:
        """Prepare the code; `names` are the symbols of image, result and table.

        `limits` is for a pool that begins while the array still computes the image. It has, for
        each row of the image, how many iterations of the array are left when the row is in memory.
        """
        self.k, self.pool = k, pool
        rows = range(pool.result[0])
        self.limits = [min(limits[row] for row in pool.window(0, i)) for i in rows if limits]
        self.source, self.target, self.table = names
        size = Columns(1, pool.dtype).size
        self.columns = Columns(pool.image[2], pool.dtype, VECTOR_BYTES // size)
        self.interior = Interior.of(pool)
        # more words of each row of the table
        self.extra: list[list[str]] = [[] for _ in range(pool.result[0])]
        self.pitch = self.columns.pitch
        self.many_rows = pool.kernel[0] > len(_ROWS)  # the addresses do not fit into the registers

    @abstractmethod
    def outside(self, row: int) -> str:
        """Return the address that a window uses in place of row `row`, which is outside the image.

        The address is an expression for the assembler.
        """

    def begin_row(self) -> None:  # noqa: B027 - a hook: a maximum needs no code there
        """Write the code that begins a row of the result; it runs for each group of channels."""

    @abstractmethod
    def separate(self, j: int, offsets: Sequence[int]) -> None:
        """Write code for the element in column `j` of the result.

        The element's window has the columns at `offsets` bytes in each row. `j` is -1 for the loop
        over the columns whose windows are inside the image.
        """

    @abstractmethod
    def repeated(self, count: int) -> int:
        """Write code for up to `count` elements whose windows are inside the image.

        Return for how many. The code also advances the addresses of the rows.
        """

    def write(self) -> None:
        """Write the code of the whole pool: the table of addresses, and the loop over its rows."""
        k, columns, pool = self.k, self.columns, self.pool
        columns.begin(k)
        self._write_table()
        if self.limits:
            k.put(f"la {_PROGRESS}, {PROGRESS}")
        k.put(f"la {TABLE}, {self.table}")
        words = 4 * self.row_words
        with k.loop(pool.result[0], TABLE, words, _TABLE_END, "a row of the result"):
            if self.limits:
                k.put(f"lw {_LIMIT}, {words - 4}({TABLE})", local=True)
                k.wait(_PROGRESS, _LEFT, _LIMIT, "until the array has stored these rows")
            if columns.full_groups:
                k.put(f"li {_GROUP}, 0", "the first channel of a group, in bytes")
                groups = columns.full_groups
                with k.loop(groups, _GROUP, VECTOR_BYTES, _GROUP_END, "16 bytes of channels"):
                    self._group()
                    k.add(_GROUP, VECTOR_BYTES)
            if columns.last is not None:
                k.put(f"li {_GROUP}, {columns.last * columns.size}", "the last channels")
                self._group()
            k.add(TABLE, words)

    @property
    def row_words(self) -> int:
        """The number of words that the table has for one row of the result.

        They are the addresses of the window's rows and of the result's row, and further numbers.
        """
        return self.pool.kernel[0] + 1 + len(self.extra[0]) + bool(self.limits)

    def _write_table(self) -> None:
        pool, words = self.pool, []
        row_bytes = pool.image[1] * self.pitch
        order = list(range(pool.result[0]))
        if self.limits:
            order.sort(key=lambda i: -self.limits[i])
        for i in order:
            first = i * pool.strides[0] - pool.pads[0]
            for row in range(first, first + pool.kernel[0]):
                inside = 0 <= row < pool.image[0]
                words.append(place(self.source, row * row_bytes) if inside else self.outside(row))
            words.append(place(self.target, i * pool.result[1] * self.pitch))
            words += self.extra[i]
            if self.limits:
                words.append(str(self.limits[i]))
        self.k.tables[self.table] = words

    def _group(self) -> None:
        k, pool = self.k, self.pool
        k.put(f"lw {RESULT}, {4 * pool.kernel[0]}({TABLE})", local=True)
        k.put(f"add {RESULT}, {RESULT}, {_GROUP}")
        if self.many_rows:
            k.put(f"mv {_COLUMN}, {_GROUP}")
        else:
            for row in range(pool.kernel[0]):
                k.put(f"lw {_ROWS[row]}, {4 * row}({TABLE})", local=True)
            for row in range(pool.kernel[0]):
                k.put(f"add {_ROWS[row]}, {_ROWS[row]}, {_GROUP}")
        self.begin_row()
        self._columns()

    def _columns(self) -> None:
        pool, base, j = self.pool, 0, 0
        while j < pool.result[1]:
            if j == self.interior.outputs.start and self.interior.outputs:
                self.advance(self.interior.first)
                done = self.repeated(len(self.interior.outputs))
                base = self.interior.first + done * pool.strides[1]
                j += done
                if done:
                    continue
            window = pool.window(1, j)
            self.separate(j, [(column - base) * self.pitch for column in window])
            j += 1

    def advance(self, columns: int) -> None:
        """Write code that advances the addresses of the rows by a number of columns."""
        for register in (_COLUMN,) if self.many_rows else _ROWS[: self.pool.kernel[0]]:
            self.k.add(register, columns * self.pitch)

    def load(self, register: str, row: int, offset: int) -> None:
        """Write code that loads the group at byte `offset` of a window's row into a register."""
        if self.many_rows:
            self.k.put(f"lw {_ROW}, {4 * row}({TABLE})", local=True)
            self.k.put(f"add {_ROW}, {_ROW}, {_COLUMN}")
        self.columns.load(self.k, [register], _ROW if self.many_rows else _ROWS[row], offset)

    def repeat(self, count: int, columns: int, body: Callable[[], None]) -> None:
        """Write a loop of `count` passes over the code that `body` writes.

        In each pass, that code must advance the addresses of the rows by `columns` columns.
        """
        pointer = _COLUMN if self.many_rows else _ROWS[0]
        with self.k.loop(count, pointer, columns * self.pitch, _LOOP_END, "columns of the result"):
            body()

    def store(self, registers: Sequence[str]) -> None:
        """Write code that stores a group of results and advances to the next element."""
        self.columns.store(self.k, registers, RESULT, 0)
        self.k.add(RESULT, self.pitch)
