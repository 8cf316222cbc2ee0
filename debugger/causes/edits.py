"""What of the cores' state somebody set in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macaw.emu.origins import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from macaw.emu.core import Core
    from macaw.emu.state import Change


class Edit(NamedTuple):
    """A part of a field that was set."""

    number: int  # of the announcements that were before it
    cycle: int
    place: Place
    command: str  # that says it, or empty


class Edits:
    """Those of a run, in its order."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], list[Edit]] = {}  # by core and field

    def add(self, core: Core, change: Change, number: int, cycle: int, command: str) -> None:
        """Something of a core was set."""
        place = Place(change.field)
        values = getattr(core.state, change.field)
        if isinstance(values, np.ndarray):
            first = int(np.ravel_multi_index(change.at, values.shape)) * values.itemsize
            place = Place(change.field, first, values.itemsize)
        found = self._of.setdefault((core.name, change.field), [])
        found.append(Edit(number, cycle, place, command))

    def within(self, core: str, place: Place, before: int) -> Iterator[Edit]:
        """The last edit of each part of a place before an announcement."""
        told: set[int] = set()
        for edit in reversed(self._of.get((core, place.field), ())):
            first, size = edit.place.first, edit.place.size
            inside = (
                not size
                or not place.size
                or (first < place.first + place.size and place.first < first + size)
            )
            if edit.number < before and inside and first not in told:
                told.add(first)
                yield edit
