"""The user's edits of cores' state in a run: which parts of the state were set, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macaw.emu.origins import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from macaw.emu.core import Core
    from macaw.emu.state import Change


class Edit(NamedTuple):
    """An edit: the command with which the user has set `place`, a part of a core's state.

    `number` is the position of the edit in the run: how many announcements (reports of what a core
    does, such as a write) all cores had made before it.
    """

    number: int
    cycle: int
    place: Place
    command: str  # the command that has made the edit, or empty


class Edits:
    """The edits of a run, in order."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], list[Edit]] = {}  # by core and field

    def add(self, core: Core, change: Change, number: int, cycle: int, command: str) -> None:
        """Add an edit that the user made in `cycle`, after `number` announcements.

        `change` is the change of the state of `core`, `command` the command that made it, or empty.
        """
        place = Place(change.field)
        values = getattr(core.state, change.field)
        if isinstance(values, np.ndarray):
            first = int(np.ravel_multi_index(change.at, values.shape)) * values.itemsize
            place = Place(change.field, first, values.itemsize)
        edits = self._of.setdefault((core.name, change.field), [])
        edits.append(Edit(number, cycle, place, command))

    def within(self, core: str, place: Place, before: int) -> Iterator[Edit]:
        """Yield the last edit of each part of `place`, the latest edit first.

        `place` is in the state of `core`. Edits whose number (`Edit.number`) is `before` or more
        are left out.
        """
        parts: set[int] = set()
        for edit in reversed(self._of.get((core, place.field), ())):
            first, size = edit.place.first, edit.place.size
            inside = (
                not size
                or not place.size
                or (first < place.first + place.size and place.first < first + size)
            )
            if edit.number < before and inside and first not in parts:
                parts.add(first)
                yield edit
