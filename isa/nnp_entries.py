"""Computes which memory entries an nnp chain reads and writes, and checks the rules for them.

`scalars` has the values of s_wr's registers by name. The emulator knows all values, the assembler
only some; a register that is not in the mapping has an unknown value. The functions then assume the
smallest set of entries that is possible, so that every reported error is certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from macaw.isa.codec import Decoded
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import BEGIN, RESET, WINDOW, WRITE
from macaw.isa.nnp_chains import ChainError, memory, name, step
from macaw.isa.nnp_layouts import TILE, VECTOR, Memory

Scalars = Mapping[str, int]
_MOST = 0xFFFF  # vectors of a chain at most: the greatest value of cols


@dataclass(frozen=True)
class Volume:
    """A volume [y][x][depth] of native vectors, and the windows of a convolution over it.

    A window has `kernel` x `kernel_y` positions. `dilation` (in x direction) and `dilation_y` are
    the distances from a position of a window to the next position of the same window; `stride` and
    `stride_y` are the distances from a window to the next window. All are counted in positions of
    the volume. `pad` is the number of positions of zeros to the left and to the right of the
    volume, and `pad_y` the number above and below it.
    """

    width: int
    height: int
    kernel: int
    stride: int
    pad: int
    depth: int
    kernel_y: int
    stride_y: int
    pad_y: int
    dilation: int
    dilation_y: int

    @property
    def reach(self) -> tuple[int, int]:
        """The number of positions that a window spans, including gaps, in x and in y direction."""
        return (self.kernel - 1) * self.dilation + 1, (self.kernel_y - 1) * self.dilation_y + 1

    @property
    def across(self) -> int:
        """The number of windows side by side in x direction; less than 1 if no window fits."""
        return (self.width + 2 * self.pad - self.reach[0]) // self.stride + 1

    @property
    def down(self) -> int:
        """The number of windows below each other in y direction; less than 1 if no window fits."""
        return (self.height + 2 * self.pad_y - self.reach[1]) // self.stride_y + 1

    @property
    def vectors(self) -> int:
        """The number of native vectors in a window."""
        return self.kernel * self.kernel_y * self.depth

    def misfit(self) -> str:
        """Return the error message for a window that is larger than the volume."""
        around = ""
        if self.pad == self.pad_y != 0:
            around = f" with {self.pad} of padding around it"
        elif self.pad or self.pad_y:
            around = f" with {self.pad} of padding at its sides, {self.pad_y} above and below it"
        x, y = self.reach
        return (
            f"a window of {x} x {y} positions"
            f" is larger than the volume, {self.width} x {self.height}{around}"
        )

    def window_start(self, iteration: int) -> int:
        """Return the position at which an iteration's window begins if there is no padding.

        The position is y * width + x. Padding does not change it, although the window then begins
        further left and further up. The address of an instruction with `_inc` advances by this
        number times its inc.
        """
        y, x = divmod(iteration, self.across)
        return y * self.stride_y * self.width + x * self.stride

    def window(self, iteration: int) -> tuple[int | None, ...]:
        """Return the offsets of the vectors that the window of an iteration covers.

        An offset is counted in native vectors from the start of the volume. None stands for a
        vector of the padding.
        """
        down, over = divmod(iteration, self.across)
        left = over * self.stride - self.pad
        return tuple(
            (y * self.width + x) * self.depth + d
            if 0 <= y < self.height and 0 <= x < self.width
            else None
            for y in self._lines(down)
            for x in range(left, left + self.reach[0], self.dilation)
            for d in range(self.depth)
        )

    def _lines(self, down: int) -> range:
        """Return the y coordinates of the volume's lines that the windows in row `down` cover.

        Windows that are side by side form a row; rows are counted from 0.
        """
        top = down * self.stride_y - self.pad_y
        return range(top, top + self.reach[1], self.dilation_y)

    def spans(self, iterations: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of all vectors that the windows of iterations 0 to `iterations` - 1 read.

        A range (first, end) has offsets in the volume, without `end`. The ranges may overlap.
        """
        for first in range(0, iterations, self.across):
            row = range(min(self.across, iterations - first))
            # A line of a window is one run of positions, or single positions at a distance.
            run = self.kernel if self.dilation == 1 else 1
            joined = self.stride <= run
            lefts = (0,) if joined else row
            reach = (len(row) - 1) * self.stride + run if joined else run
            for y in self._lines(first // self.across):
                for over, x in product(lefts, range(0, self.reach[0], run * self.dilation)):
                    left = over * self.stride - self.pad + x
                    begin, end = max(left, 0), min(left + reach, self.width)
                    if begin < end and 0 <= y < self.height:
                        line = y * self.width
                        yield (line + begin) * self.depth, (line + end) * self.depth


@dataclass(frozen=True)
class Access:
    """The entries of a memory that one instruction of a chain reads or writes in each iteration.

    `at` is the index of the instruction in the chain; `writes` is true if it writes the entries.

    Normally, iteration i accesses `count` entries, beginning at address `base` + `inc` * i. Here
    `inc` is the operand times the register `unit`.

    If `sliding`, the address is `base` + `inc` * p. Here p is oy * stride_y * width + ox * stride,
    and (oy, ox) is the output position of iteration i: without padding, the window of the iteration
    begins at position p of the volume.

    If `window`, the instruction is a v_rd without `_inc` and the registers describe a volume. Then
    each iteration reads all vectors of its window; `inc` and `count` have no effect.
    """

    at: int  # the index of the instruction in its chain
    memory: Memory
    writes: bool
    base: int
    inc: int
    count: int
    sliding: bool = False
    window: bool = False

    def begin(self, iteration: int, vectors: Volume | None) -> int:
        """Return the address of the first entry that the instruction accesses in an iteration.

        `vectors` is the volume that the registers describe; None if they describe none.
        """
        if self.sliding and vectors is not None:
            return self.base + self.inc * vectors.window_start(iteration)
        return self.base + self.inc * iteration

    def addresses(self, iteration: int, vectors: Volume | None) -> tuple[int | None, ...]:
        """Return the addresses of an iteration's entries, in the order of the chain's vectors.

        None in the result means a vector of zeros (padding).
        """
        if self.window and vectors is not None:
            window = vectors.window(iteration)
            return tuple(None if far is None else self.base + far for far in window)
        begin = self.begin(iteration, vectors)
        return tuple(range(begin, begin + self.count))


def volume(scalars: Scalars) -> Volume | None:
    """Return the volume that the values `scalars` describe; None if they are the reset values.

    Raises `KeyError` if the value of a register is unknown.
    """
    values = [scalars[name] for name in WINDOW]
    return None if values == [RESET[name] for name in WINDOW] else Volume(*values)


def flow(rows: Sequence[Decoded], scalars: Scalars) -> tuple[int | None, ...]:
    """Return how many native vectors each instruction of a chain takes from the one before it.

    The result has one number for each instruction of `rows`; the first instruction takes the
    vectors that it reads. None means that the number is unknown.
    """
    counts: list[int | None] = []
    count = _read(rows[0], scalars)
    for item in rows:
        counts.append(count)
        if step(item).block == "product":
            count = scalars.get("rows")
    return tuple(counts)


def _read(first: Decoded, scalars: Scalars) -> int | None:
    """Return how many vectors the first instruction of a chain reads; None if that is unknown."""
    if not _is_plain(first):
        return scalars.get("cols")
    if any(name not in scalars for name in WINDOW):
        return None
    vectors = volume(scalars)
    return scalars.get("cols") if vectors is None else vectors.vectors


def _is_plain(instruction: Decoded) -> bool:
    """Return whether an instruction is a v_rd without `_inc`, which begins a chain of vectors.

    If the registers describe a volume, each iteration of such a v_rd reads one of its windows.
    """
    this = step(instruction)
    return this.role == BEGIN and this.elements == VECTOR and "inc" not in instruction.values


def accesses(rows: Sequence[Decoded], scalars: Scalars) -> tuple[Access, ...]:
    """Return which memory entries the instructions of a chain read and write in each iteration.

    If the number of entries depends on unknown registers, assume the least possible number.
    """
    has_window = all(name in scalars for name in WINDOW)
    slides = has_window and volume(scalars) is not None
    matrix = scalars.get("rows", 1) * scalars.get("cols", 1)
    result = []
    for at, (item, vectors) in enumerate(zip(rows, flow(rows, scalars), strict=True)):
        this, place = step(item), memory(item)
        if place is None:
            continue
        tiles = this.elements == TILE or this.block == "product"
        least = 0 if _is_plain(item) and not has_window else 1
        inc, writes = item.values.get("inc"), this.role == WRITE
        result.append(
            Access(
                at,
                place,
                writes,
                base=item.values.get("a", item.values.get("m", 0)),
                inc=(inc or 0) * scalars.get("unit", 0),
                count=matrix if tiles else vectors if vectors is not None else least,
                sliding=slides and inc is not None and not writes and not tiles,
                window=slides and _is_plain(item),
            )
        )
    return tuple(result)


def runs(access: Access, scalars: Scalars) -> list[tuple[int, int]]:
    """Return the entries that an access uses in all iterations of a chain, as sorted ranges.

    A range is a pair (first, end), without the entry `end`.
    """
    iterations = scalars.get("iterations", 1)
    has_window = all(name in scalars for name in WINDOW)
    vectors = volume(scalars) if has_window else None
    if access.count == 0:
        return []
    if access.window:
        assert vectors is not None
        ranges = [(access.base + x, access.base + y) for x, y in vectors.spans(iterations)]
    elif not has_window and not access.writes:  # it is unknown what further iterations read
        ranges = [(access.base, access.base + access.count)]
    elif access.inc <= access.count and not access.sliding:
        ranges = [(access.base, access.begin(iterations - 1, None) + access.count)]
    else:
        begins = [access.begin(i, vectors) for i in range(iterations)]
        ranges = [(begin, begin + access.count) for begin in begins]
    return _joined(sorted(ranges))


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for begin, end in ranges:
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


def _common(first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]) -> int | None:
    """Return the first entry that is in a range of `first` and in a range of `second`.

    The result is None if there is no such entry. Both sequences are sorted.
    """
    one = two = 0
    while one < len(first) and two < len(second):
        begin = max(first[one][0], second[two][0])
        if begin < min(first[one][1], second[two][1]):
            return begin
        if first[one][1] < second[two][1]:
            one += 1
        else:
            two += 1
    return None


def check(rows: Sequence[Decoded], scalars: Scalars, sizes: Mapping[str, int]) -> None:
    """Check the rules for the entries that a complete chain reads and writes. Raises `ChainError`.

    `sizes` are the values of settings by name.
    """
    _check_windows(rows, scalars)
    all_accesses = accesses(rows, scalars)
    entries = {
        access.at: runs(access, scalars) for access in all_accesses if not access.memory.queue
    }
    for access in all_accesses:
        if access.memory.setting and not access.memory.queue and entries[access.at]:
            _check_size(rows, access, entries[access.at][-1][1], sizes[access.memory.setting])
    for write in all_accesses:
        for read in all_accesses:
            if write.writes and not read.writes and write.memory is read.memory:
                _check_apart(rows, read, write, entries)
    _check_valid(rows, flow(rows, scalars), scalars, sizes["nnp.native"])


def _check_apart(
    rows: Sequence[Decoded],
    read: Access,
    write: Access,
    entries: Mapping[int, Sequence[tuple[int, int]]],
) -> None:
    where = write.memory
    if where.queue or not where.setting:  # queues and external memory
        return
    entry = _common(entries[read.at], entries[write.at])
    if entry is None:
        return
    if where.name == "InitialVrf":
        text = f"the chain reads entry {entry} of {where.name} and writes it: no update in place"
        raise ChainError("in place", write.at, text)
    text = f"{name(rows[write.at])} writes entry {entry} of {where.name}, which"
    raise ChainError("entries", write.at, f"{text} {name(rows[read.at])} of the chain reads")


def _check_size(rows: Sequence[Decoded], access: Access, end: int, size: int) -> None:
    if end > size:
        text = f"{name(rows[access.at])} needs entry {end - 1} of {access.memory.name}, which has"
        raise ChainError("range", access.at, f"{text} {size} ({access.memory.setting})")


def _check_windows(rows: Sequence[Decoded], scalars: Scalars) -> None:
    """Raise `ChainError` if a chain breaks the rule for windows.

    The volume must have a window for each iteration. If the chain has a product, the register cols
    must be the number of vectors in a window."""
    if step(rows[0]).elements == TILE or any(name not in scalars for name in WINDOW):
        return
    vectors, place = volume(scalars), memory(rows[0])
    if vectors is None:
        return
    assert place is not None
    plain = "inc" not in rows[0].values
    if plain and place.queue:
        text = f"{place.name} holds no volume; while windows are set, v_rd_inc reads cols vectors"
        raise ChainError("windows", 0, text)
    if plain and vectors.vectors > _MOST:
        text = f"a window has {vectors.vectors} vectors, of which a chain takes {_MOST} at most"
        raise ChainError("windows", 0, text)
    windows = max(vectors.across, 0) * max(vectors.down, 0)
    iterations = scalars.get("iterations", 1)
    if iterations > windows:
        text = f"the volume has {windows} windows, iterations is {iterations}"
        if not windows:
            text = vectors.misfit()
        raise ChainError("windows", 0, text)
    for at, row in enumerate(rows):
        if plain and step(row).block == "product" and "cols" in scalars:
            cols = scalars["cols"]
            if cols != vectors.vectors:
                text = f"cols is {cols}, a window has {vectors.vectors} vectors (kernel * kernel_y"
                raise ChainError("windows", at, f"{text} * depth)")


def _check_valid(
    rows: Sequence[Decoded], vectors: Sequence[int | None], scalars: Scalars, native: int
) -> None:
    """Raise `ChainError` if the register `valid` tells v_softmax to cover too many elements.

    v_softmax must not cover more elements than the native vectors that it takes have together; each
    has `native` elements. `vectors` has the number of vectors that each instruction in `rows`
    takes, or None if that is unknown.
    """
    for at, count in enumerate(vectors):
        if step(rows[at]).does == "v_softmax" and count is not None:
            valid, have = scalars.get("valid", 1), count * native
            if valid > have:
                text = f"valid is {valid}, the chain has {have} elements"
                raise ChainError("valid", at, text)
