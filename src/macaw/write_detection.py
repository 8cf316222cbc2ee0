"""Finds outputs to which a run has certainly written nothing.

The module may take an output for written that was not written, because it only learns in which page
of memory a write was. An output of at most `_MOST_TRACKED` bytes counts as written after a write to
the output itself, or to another such output in the same page. A larger output counts as written
after any write to one of its pages, even to other data there, and also if the program file has data
in one of its pages.
"""

from __future__ import annotations

from functools import partial

from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.pages import PAGE, SHIFT, Pages

_MOST_TRACKED = 1 << 14  # bytes of an output; tracking slows down transfers to it


class WriteDetector:
    """Tracks writes to the outputs in external memory. It must be created before the run."""

    def __init__(self, program: Program, device: Device) -> None:
        self._unwritten = {tensor.name for tensor in program.outputs if not tensor.at}
        self._tracked: dict[Pages, dict[int, set[str]]] = {}
        self._large: dict[str, tuple[Pages, range]] = {}
        for tensor in program.outputs:
            if tensor.name not in self._unwritten:
                continue
            pages, offset = device.memory.locate(tensor.address, tensor.size)
            if tensor.size <= _MOST_TRACKED:
                self._track(tensor.name, pages, offset, offset + tensor.size)
                continue
            inside = range(offset >> SHIFT, (offset + tensor.size - 1 >> SHIFT) + 1)
            if any(map(pages.is_written, inside)):
                self._unwritten.discard(tensor.name)  # the program was loaded there: unknown
            else:
                self._large[tensor.name] = pages, inside
        for pages in self._tracked:
            pages.on_change(partial(self._note_write, pages))

    def _track(self, name: str, pages: Pages, offset: int, end: int) -> None:
        names = self._tracked.setdefault(pages, {})
        while offset < end:
            stop = min(end, (offset // PAGE + 1) * PAGE)
            pages.watch(offset, stop - offset)
            names.setdefault(offset >> SHIFT, set()).add(name)
            offset = stop

    def _note_write(self, pages: Pages, page: int) -> None:
        self._unwritten -= self._tracked[pages].get(page, set())

    def unwritten(self) -> set[str]:
        """Return the names of the outputs to which the run has certainly not written."""
        for name, (pages, inside) in self._large.items():
            if any(map(pages.is_written, inside)):
                self._unwritten.discard(name)
        return set(self._unwritten)
