"""The bytes of a memory, divided into pages, so that a snapshot copies only what has changed."""

from __future__ import annotations

import gc
import mmap
from collections.abc import Callable, Mapping
from typing import Protocol
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import DeviceError
from macaw.emu.hashing import blake2b

SHIFT = 12
PAGE = 1 << SHIFT  # size of a page in bytes
WRITTEN = 1  # the mark of a page that was written since the last snapshot; no word of it is watched
SHARED = 2  # the mark of a written page that has watched words (`watched`)
_WORDS = SHIFT - 2  # an offset shifted right by this is a word's number

_ZEROS = bytes(PAGE)


class AddressBudget:
    """Allocates the memories of all devices, and limits the address space that unused devices keep.

    Cores, ports and memory of a device refer to each other. So Python frees an unused device only
    when it searches for reference cycles. Python starts this search after a certain number of new
    objects, whatever their size. This class starts the search after a certain number of bytes.
    """

    MOST = 2 << 30  # the bytes of all memories, used or unused, at which the first search starts

    def __init__(self) -> None:
        self.bytes = 0
        self._limit = self.MOST

    def allocate(self, size: int) -> NDArray[np.uint8]:
        """Return an array of `size` zero bytes; pages that are never touched take no memory.

        Raises `DeviceError` if there is not enough address space. The method does not use
        `np.zeros`. After some large blocks were freed, the C library takes new blocks from its heap
        and clears them, so that all their bytes would take memory.
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
        finalize(made, self._release, size).atexit = False
        return np.frombuffer(made, np.uint8)

    def _release(self, size: int) -> None:
        self.bytes -= size

    def _search(self) -> None:
        """Free unused devices. The next search comes when the bytes in use have doubled."""
        gc.collect()
        self._limit = max(self.MOST, 2 * self.bytes)


ADDRESS_BUDGET = AddressBudget()  # one for each process, because a process has one address space


class Sleeper(Protocol):
    """A core that skips acts until another core could see their effects, and then does them."""

    def note_use(self, time: int) -> None:
        """Do the skipped acts before cycle `time`, in which another core uses the same memory."""

    def interrupt(self, time: int) -> None:
        """Do the skipped acts before cycle `time`, and skip no acts from then on."""

    def sync(self) -> None:
        """Do all acts that were skipped until now."""


class Pages:
    """The bytes of one memory, zero at first; pages that are never touched take no memory.

    `bytes`, `halves` and `words` are views of the same little-endian memory, for the hot paths of
    an engine. `marks[page]` says whether the page was written since the last snapshot: 0, WRITTEN,
    or SHARED, if it was written and has watched words (`watch`). Code that writes through a view
    must execute `if marks[page] != WRITTEN: touch(page)` for each page that it wrote. The code may
    omit this if the mark is SHARED and `watched` is 0 for each 4-byte word that it wrote. The
    methods here do not check offsets; `Memory.locate` and the ports do.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        rounded = -(-size // PAGE) * PAGE
        self.array = ADDRESS_BUDGET.allocate(rounded)
        self.bytes = self.array.data
        self.halves = self.bytes.cast("H")
        self.words = self.bytes.cast("I")
        self.marks = bytearray(rounded >> SHIFT)
        self._written: set[int] = set()
        # At the last snapshot: the contents and digests of the pages that were not all zero.
        self._saved: dict[int, bytes] = {}
        self._digests: dict[int, bytes] = {}
        self.watched = ADDRESS_BUDGET.allocate(rounded >> 2).data  # by word: whether it is watched
        self._watched_pages: set[int] = set()
        self.watches = 0  # how often `watch` was called
        self._watchers: list[Callable[[int], None]] = []
        self.sleeper: Sleeper | None = None  # a core that may have skipped writes to this memory

    def read(self, offset: int, length: int) -> bytes:
        """Return a copy of the `length` bytes at `offset`."""
        return self.bytes[offset : offset + length].tobytes()

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Replace the bytes from `offset` on."""
        length = len(data)
        if not length:
            return
        self.bytes[offset : offset + length] = data
        page = offset >> SHIFT
        if self.marks[page] != WRITTEN or page != offset + length - 1 >> SHIFT:
            self._mark(offset, length)

    def plain_range(self, offset: int) -> tuple[int, int]:
        """Return a range around `offset` whose bytes may be written through a view without `touch`.

        The result is (first offset, offset after the last one). The range is inside one page. It is
        empty if the word at `offset` may not be written in this way.
        """
        page = offset >> SHIFT
        begin = page << SHIFT
        end = min(begin + PAGE, self.size)
        if self.marks[page] == WRITTEN:
            return begin, end
        watched = bytes(self.watched[page << _WORDS : page + 1 << _WORDS])
        word = (offset >> 2) - (page << _WORDS)
        if self.marks[page] != SHARED or watched[word]:
            return offset, offset
        before, after = watched.rfind(1, 0, word), watched.find(1, word)
        return begin + 4 * (before + 1), end if after < 0 else begin + 4 * after

    def mark_rows(self, offset: int, length: int, rows: int, stride: int) -> None:
        """Record that `rows` rows of `length` bytes were written through a view.

        The first row begins at `offset`. Each row begins `stride` bytes after the start of the
        previous one.
        """
        if abs(stride) <= PAGE:
            low = min(offset, offset + (rows - 1) * stride)
            self._mark(low, (rows - 1) * abs(stride) + length)
            return
        for row in range(rows):
            self._mark(offset + row * stride, length)

    def mark_at(self, offsets: NDArray[np.int64], length: int) -> None:
        """Record that `length` bytes at each of the offsets were written through a view.

        `length` is at most a page.
        """
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
        """Record a write to the offsets `start` to `end` - 1, for one of the pages that it changed.

        If any of the written words of this page are watched, call the functions of `on_change`.
        """
        first, last = page << _WORDS, page + 1 << _WORDS
        if page in self._watched_pages and not any(
            self.watched[max(first, start >> 2) : min(last, end + 3 >> 2)]
        ):
            self.marks[page] = SHARED
            self._written.add(page)
        else:
            self.touch(page)

    def touch(self, page: int) -> None:
        """Record a write anywhere in a page.

        If any word of the page is watched, written or not, call the functions of `on_change`.
        """
        self.marks[page] = WRITTEN
        self._written.add(page)
        if page in self._watched_pages:
            self._watched_pages.discard(page)
            self.watched[page << _WORDS : page + 1 << _WORDS] = bytes(1 << _WORDS)
            for forget in self._watchers:
                forget(page)

    def is_written(self, page: int) -> bool:
        """Return whether the page was written since the last snapshot."""
        return page in self._written

    def on_change(self, forget: Callable[[int], None]) -> None:
        """Register `forget`, a function to call when watched bytes of a page change.

        The argument of the call is the number of the page. After the calls the bytes of that page
        are no longer watched.
        """
        self._watchers.append(forget)

    def watch(self, offset: int, length: int) -> None:
        """Watch `length` bytes of one page from `offset` on.

        A write to these bytes calls the functions of `on_change`. A core watches, for example, the
        bytes from which it has decoded instructions.
        """
        page = offset >> SHIFT
        self._watched_pages.add(page)
        self.watches += 1
        first, end = offset >> 2, offset + length + 3 >> 2
        self.watched[first:end] = b"\1" * (end - first)
        self.marks[page] = SHARED if page in self._written else 0

    def is_watched(self, offset: int, end: int | None = None) -> bool:
        """Return whether any page that overlaps the bytes `offset` to `end` - 1 has watched words.

        The watched words may be outside of the range. Without `end`, the range goes to the end of
        the memory.
        """
        if not self._watched_pages:
            return False
        first, last = offset >> SHIFT, (self.size if end is None else end) - 1 >> SHIFT
        return any(first <= page <= last for page in self._watched_pages)

    def reset(self) -> None:
        """Set all bytes to zero."""
        self._replace({})

    def snapshot(self) -> dict[int, bytes]:
        """Return the contents of all pages that are not all zero, by page number.

        Two snapshots share the contents of exactly the pages that were not written between them.
        """
        for page in self._written:
            start = page << SHIFT
            data = self.bytes[start : start + PAGE].tobytes()
            self.marks[page] = 0
            if data == _ZEROS:
                self._saved.pop(page, None)
                self._digests.pop(page, None)
            else:  # a new object even if the contents are equal, because the page was written
                if self._saved.get(page) != data:
                    self._digests.pop(page, None)
                self._saved[page] = data
        self._written.clear()
        return dict(self._saved)

    def restore(self, snapshot: Mapping[int, bytes]) -> None:
        """Set all contents to `snapshot`, a result of `snapshot` of a memory of this size."""
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
        """Return a hash of the contents, of 32 bytes."""
        whole = blake2b(32)
        for page, data in sorted(self.snapshot().items()):
            if page not in self._digests:
                self._digests[page] = blake2b(32, data).digest()
            whole.update(page.to_bytes(8, "little") + self._digests[page])
        return whole.digest()


def differences(
    old: Mapping[int, bytes], new: Mapping[int, bytes]
) -> list[tuple[int, bytes, bytes]]:
    """Return the ranges of bytes that differ between two snapshots, in ascending order.

    Each item is a triple: offset, old bytes, new bytes.
    """
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
