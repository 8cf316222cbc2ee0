"""A cache of a core's runs, by address. It drops runs whose code changes.

A run is a sequence of instructions that are bound to registers (`macaw.emu.scalar.runs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from macaw.emu.faults import Fault
from macaw.emu.pages import PAGE, SHIFT, Pages
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.runs import Run, bind_run
from macaw.isa.codec import Decoded

LONGEST = 64  # the greatest number of instructions in a run


class PageWatch:
    """Calls `forget(address)` for the watched addresses on a page when code on it changes."""

    def __init__(self, forget: Callable[[int], None]) -> None:
        self._forget = forget
        self.changes = 0  # how often code has changed
        # by address of a page: the watched addresses in it
        self._addresses: dict[int, set[int]] = {}
        self._bases: set[int] = set()

    def add(self, address: int, pages: Pages, offset: int, length: int) -> None:
        """Watch the `length` bytes of code at `address`, which are at `offset` in `pages`."""
        base = address - offset
        if base not in self._bases:
            self._bases.add(base)
            pages.on_change(partial(self._page_changed, base))
        page = offset >> SHIFT
        self._addresses.setdefault(base + (page << SHIFT), set()).add(address)
        pages.watch(offset, length)

    def _page_changed(self, base: int, page: int) -> None:
        self.changes += 1
        for address in self._addresses.pop(base + (page << SHIFT), ()):
            self._forget(address)


class RunCache:
    """The cached runs of a core, by address.

    `runs` has, for each address, the longest run from there on. `steps` has runs of one
    instruction.
    """

    def __init__(self, core: ScalarCore) -> None:
        self.core = core
        self.runs: dict[int, Run] = {}
        self.steps: dict[int, Run] = {}  # runs of one instruction, by address
        # by (longest, address): runs whose page has changed
        self._stale: dict[tuple[int, int], Run] = {}
        self._watch = PageWatch(self._forget)

    def run(self, address: int) -> Run:
        """Return the longest run from `address` on, and store it in `runs`. Raises `Fault`.

        A run is a sequence of instructions that are bound to registers.
        """
        return self._prepare(address, self.runs, LONGEST)

    def step(self, address: int) -> Run:
        """Return the run of the one instruction at `address`, and store it in `steps`.

        Raises `Fault`.
        """
        return self.steps.get(address) or self._prepare(address, self.steps, 1)

    def _prepare(self, address: int, cache: dict[int, Run], longest: int) -> Run:
        pages, offset = self.core.decoder.locate(address)
        run = self._stale.pop((longest, address), None)
        if run is None or pages.read(offset, len(run.code)) != run.code:
            instructions = decode_from(self.core, address, pages, offset, longest, inlines=False)
            code = partial(pages.read, offset)
            run = bind_run(self.core, address, instructions, code, longest == 1)
        self._watch.add(address, pages, offset, len(run.code))
        cache[address] = run
        return run

    def clear(self) -> None:
        """Drop all runs."""
        for cache in (self.runs, self.steps, self._stale):
            cache.clear()

    def rebind(self, addresses: Iterable[int]) -> None:
        """Drop the runs that contain these addresses, because breaks were set or removed there."""
        for at in addresses:
            drop_at(self.runs, at)
            drop_at(self.steps, at)
            self._stale = {
                key: run for key, run in self._stale.items() if not _contains(key[1], run.code, at)
            }

    def _forget(self, address: int) -> None:
        """Stop using the runs at `address`, because their page has changed.

        Before the cache uses them again, it compares their code with memory.
        """
        for cache, longest in ((self.runs, LONGEST), (self.steps, 1)):
            run = cache.pop(address, None)
            if run is not None:
                self._stale[longest, address] = run


def decode_from(
    core: ScalarCore, address: int, pages: Pages, offset: int, longest: int, inlines: bool
) -> Iterator[Decoded]:
    """Yield up to `longest` instructions from `address` on, within one page.

    The first instruction is at `offset` in `pages`. The instructions end before a word that is not
    an instruction and, if `longest` is more than 1, before a break. With `inlines`, a break whose
    test is a Python expression does not end them, because a block can contain such a test.
    """
    breaks = core.breaks if longest > 1 else {}
    for place in range(min(longest, (PAGE - (offset & PAGE - 1)) >> 2)):
        break_ = breaks.get(address + 4 * place)
        if break_ is not None and not (inlines and break_.text):
            return
        try:
            found = core.decoder.decode(address + 4 * place, pages.words[(offset >> 2) + place])
        except Fault:
            return
        yield found


def drop_at(cache: dict[int, Any], address: int) -> None:
    """Remove from `cache` the runs or blocks that contain the instruction at an address."""
    for start in [x for x, item in cache.items() if _contains(x, item.code, address)]:
        del cache[start]


def _contains(start: int, code: bytes, address: int) -> bool:
    """Return whether the code of a run or block at `start` contains an address."""
    return start <= address < start + max(len(code), 4)
