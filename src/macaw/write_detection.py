"""Outputs to which a run has written nothing: only where that is certain.

The words of an output of a few pages are held, as those of decoded code are. Of a larger one only
the pages are known that were written since the program was loaded. A write to one output counts as
a write to all outputs in the same page.
"""

from __future__ import annotations

from functools import partial

from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.pages import PAGE, SHIFT, Pages

_MOST_TRACKED = 1 << 14  # bytes of an output; holding it makes transfers to it slower


class WriteDetector:
    """Looks at the outputs in external memory, from before a run to its end."""

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
                self._unwritten.discard(tensor.name)  # it was loaded there: nothing can be said
            else:
                self._large[tensor.name] = pages, inside
        for pages in self._tracked:
            pages.on_change(partial(self._note_write, pages))

    def _track(self, name: str, pages: Pages, offset: int, end: int) -> None:
        names = self._tracked.setdefault(pages, {})
        while offset < end:
            stop = min(end, (offset // PAGE + 1) * PAGE)
            pages.hold(offset, stop - offset)
            names.setdefault(offset >> SHIFT, set()).add(name)
            offset = stop

    def _note_write(self, pages: Pages, page: int) -> None:
        self._unwritten -= self._tracked[pages].get(page, set())

    def unwritten(self) -> set[str]:
        """The outputs to which nothing was written."""
        for name, (pages, inside) in self._large.items():
            if any(map(pages.is_written, inside)):
                self._unwritten.discard(name)
        return set(self._unwritten)
