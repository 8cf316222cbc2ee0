"""A memory's bytes in pages, so that a snapshot copies only what was written since the last one."""

from __future__ import annotations

import gc
import mmap
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Protocol
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import DeviceError

SHIFT = 12
PAGE = 1 << SHIFT  # bytes of a page
WRITTEN = 1  # a page's mark: written since the last snapshot, and nobody holds it
SHARED = 2  # the same, but somebody holds words of it, those that `held` marks
_WORDS = SHIFT - 2  # words of a page, as a shift

_ZEROS = bytes(PAGE)


class Rooms:
    """Address space of this process that memories of devices have.

    Cores, ports and memory of a device know each other, so a dead device waits for Python's search
    for such circles. That search is started by the number of objects and sees no bytes: here it is
    started by bytes.
    """

    MOST = 2 << 30  # bytes of memories, living or dead, before a search for dead ones

    def __init__(self) -> None:
        self.bytes = 0
        self._limit = self.MOST

    def room(self, size: int) -> NDArray[np.uint8]:
        """`size` zero bytes of which untouched pages take no memory. Raises `DeviceError`.

        Not `np.zeros`: once the C library has seen large blocks come and go it takes them from its
        heap and clears them, so that a tenth device would take all of its memories.
        """
        if self.bytes + size > self._limit:
            self._search()
        try:
            made = mmap.mmap(-1, size)
        except OSError:
            self._search()
            try:
                made = mmap.mmap(-1, size)
            except OSError as error:
                raise DeviceError(
                    f"no address space for a memory of {size:,} bytes: {error.strerror}; devices"
                    f" have {self.bytes:,} bytes in this process"
                ) from None
        self.bytes += size
        finalize(made, self._returned, size).atexit = False
        return np.frombuffer(made, np.uint8)

    def _returned(self, size: int) -> None:
        self.bytes -= size

    def _search(self) -> None:
        """Return what dead devices have; the next search comes when what lives has doubled."""
        gc.collect()
        self._limit = max(self.MOST, 2 * self.bytes)


ROOMS = Rooms()  # one a process, as the address space is


class Sleeper(Protocol):
    """Who has left out what nobody could notice, and does it when somebody could."""

    def shared(self, time: int) -> None:
        """Somebody looks at, or takes, in cycle `time` something that the sleeper uses."""

    def disturbed(self, time: int) -> None:
        """The same, and from now on the sleeper acts in each of its cycles again."""

    def sync(self) -> None:
        """The same, in the device's present."""


class Pages:
    """`size` bytes, zero at first; untouched ones take no room.

    `bytes`, `halves` and `words` are views of the same little-endian memory for
    the hot paths of an engine. Whoever writes through a view must do, for each page
    written, `if marks[page] != WRITTEN: touch(page)`, unless the mark is SHARED and `held`
    is 0 for each word (of 4 bytes) that was written. Nothing here checks an offset:
    `Memory.locate` and the ports do.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        rounded = -(-size // PAGE) * PAGE
        self.array = ROOMS.room(rounded)
        self.bytes = self.array.data
        self.halves = self.bytes.cast("H")
        self.words = self.bytes.cast("I")
        self.marks = bytearray(rounded >> SHIFT)
        self._written: set[int] = set()
        # Contents at the last snapshot of the pages that are not all zero, and their digests.
        self._saved: dict[int, bytes] = {}
        self._digests: dict[int, bytes] = {}
        self.held = ROOMS.room(rounded >> 2).data  # by word: whether it is held
        self._held: set[int] = set()
        self._holders: list[Callable[[int], None]] = []
        self.sleeper: Sleeper | None = None  # who has yet to write what was written before now

    def read(self, offset: int, length: int) -> bytes:
        """A copy of `length` bytes."""
        return self.bytes[offset : offset + length].tobytes()

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Replace bytes from `offset` on."""
        length = len(data)
        if not length:
            return
        self.bytes[offset : offset + length] = data
        self._mark(offset, length)

    def mark_rows(self, offset: int, length: int, rows: int, stride: int) -> None:
        """Note that `length` bytes of each row were written through a view."""
        if abs(stride) <= PAGE:
            low = min(offset, offset + (rows - 1) * stride)
            self._mark(low, (rows - 1) * abs(stride) + length)
            return
        for row in range(rows):
            self._mark(offset + row * stride, length)

    def mark_at(self, offsets: NDArray[np.int64], length: int) -> None:
        """Note that `length` bytes, at most a page, at each offset were written through a view."""
        ends = offsets + (length - 1)
        for page in {*(offsets >> SHIFT).tolist(), *(ends >> SHIFT).tolist()}:
            if self.marks[page] != WRITTEN:
                self.touch(page)

    def _mark(self, offset: int, length: int) -> None:
        page, last = offset >> SHIFT, offset + length - 1 >> SHIFT
        while page <= last:
            if self.marks[page] != WRITTEN:
                self._note(page, offset, offset + length)
            page += 1

    def _note(self, page: int, start: int, end: int) -> None:
        """Note that bytes of a page are written; holders are told if they hold one of them."""
        first, last = page << _WORDS, page + 1 << _WORDS
        if page in self._held and not any(
            self.held[max(first, start >> 2) : min(last, end + 3 >> 2)]
        ):
            self.marks[page] = SHARED
            self._written.add(page)
        else:
            self.touch(page)

    def touch(self, page: int) -> None:
        """Note that a page is written anywhere; whoever holds words of it is told."""
        self.marks[page] = WRITTEN
        self._written.add(page)
        if page in self._held:
            self._held.discard(page)
            self.held[page << _WORDS : page + 1 << _WORDS] = bytes(1 << _WORDS)
            for forget in self._holders:
                forget(page)

    def is_written(self, page: int) -> bool:
        """Whether a page was written since the last snapshot."""
        return page in self._written

    def on_change(self, forget: Callable[[int], None]) -> None:
        """Call `forget(page)` when held bytes of a page change; then nothing of it is held."""
        self._holders.append(forget)

    def hold(self, offset: int, length: int) -> None:
        """Somebody keeps something derived of bytes of one page (decoded instructions)."""
        page = offset >> SHIFT
        self._held.add(page)
        first, end = offset >> 2, offset + length + 3 >> 2
        self.held[first:end] = b"\1" * (end - first)
        self.marks[page] = SHARED if page in self._written else 0

    def holds(self, offset: int = 0, end: int | None = None) -> bool:
        """Whether somebody holds words of the pages from one offset to another."""
        first, last = offset >> SHIFT, (self.size if end is None else end) - 1 >> SHIFT
        return any(first <= page <= last for page in self._held)

    def reset(self) -> None:
        """All zeros again."""
        self._replace({})

    def snapshot(self) -> dict[int, bytes]:
        """Contents of the pages that are not all zero, by number; snapshots share them."""
        for page in self._written:
            start = page << SHIFT
            data = self.bytes[start : start + PAGE].tobytes()
            self.marks[page] = 0
            if data == _ZEROS:
                self._saved.pop(page, None)
                self._digests.pop(page, None)
            elif self._saved.get(page) != data:
                self._saved[page] = data
                self._digests.pop(page, None)
        self._written.clear()
        return dict(self._saved)

    def restore(self, snapshot: Mapping[int, bytes]) -> None:
        """Back to what `snapshot` returned, here or at another memory of the same size."""
        self._replace(snapshot)

    def _replace(self, contents: Mapping[int, bytes]) -> None:
        for page in self._written | self._saved.keys() | contents.keys():
            wanted = contents.get(page, _ZEROS)
            if page not in self._written and self._saved.get(page, _ZEROS) is wanted:
                continue
            start = page << SHIFT
            self.bytes[start : start + PAGE] = wanted
            self.touch(page)
            self._digests.pop(page, None)
        for page in self._written:
            self.marks[page] = 0
        self._written.clear()
        self._saved = dict(contents)

    def digest(self) -> bytes:
        """A hash of the contents."""
        whole = blake2b(digest_size=32)
        for page, data in sorted(self.snapshot().items()):
            if page not in self._digests:
                self._digests[page] = blake2b(data, digest_size=32).digest()
            whole.update(page.to_bytes(8, "little") + self._digests[page])
        return whole.digest()


def differences(
    old: Mapping[int, bytes], new: Mapping[int, bytes]
) -> list[tuple[int, bytes, bytes]]:
    """Runs of bytes that differ between two snapshots: (offset, old, new), ascending."""
    runs: list[tuple[int, bytes, bytes]] = []
    for page in sorted(old.keys() | new.keys()):
        before, after = old.get(page, _ZEROS), new.get(page, _ZEROS)
        if before == after:
            continue
        differ = np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)
        edges = np.flatnonzero(np.diff(differ, prepend=False, append=False))
        for start, end in edges.reshape(-1, 2).tolist():
            runs.append(((page << SHIFT) + start, before[start:end], after[start:end]))
    return runs
