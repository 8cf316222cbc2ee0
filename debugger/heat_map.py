"""The numbers of the grid panel: the value of an expression in each unit of some cores."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macaw.debugger.expressions import Expression, ExpressionError
from macaw.debugger.frame import Grid
from macaw.debugger.places import Place, PlaceError, counts
from macaw.debugger.stops import SessionError
from macaw.debugger.values import AccessError, array_of

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core


class HeatMap:
    """The values of an expression in the units of all cores of one kind.

    The object compiles the expression again only when the expression, the units or the device
    change.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._cache: tuple[Hashable, list[Expression]] | None = None

    def grid(self, heat: str) -> Grid:
        """Return the value of the expression `heat` in each unit of all cores of one kind.

        The kind is that of the focused core or, if that kind has no units, the kind with the most
        levels of units. If `heat` is empty, the expression is the first counter of the units. If
        there are no values, the grid's `message` says why.
        """
        session = self.session
        cores = self._cores()
        if not cores:
            return Grid("", message="the device has no core of several units")
        units = [row for core in cores for row in _units(core.name, counts(core))]
        heat = heat or _first_count(cores[0])
        focus = str(session.focus[0])
        try:
            values = iter(self._values(heat, [place for row in units for place in row.places]))
        except (ExpressionError, PlaceError, AccessError, SessionError) as error:
            return Grid(heat, focus=focus, message=f"heat {heat}: {error}")
        rows = tuple((row.name, tuple(islice(values, len(row.places)))) for row in units)
        return Grid(heat, rows, tuple(row.names for row in units), focus)

    def _cores(self) -> list[Core]:
        session = self.session
        cores = [core for core in session.device.order if core.table.levels]
        kind = session.core.table.name
        if not session.core.table.levels and cores:
            kind = max(cores, key=lambda core: len(core.table.levels)).table.name
        return [core for core in cores if core.table.name == kind]

    def _compile(self, heat: str, places: list[Place]) -> list[Expression]:
        """Return one expression for all places together, or one expression for each place.

        If `heat` is the name of a register, queue or counter of a place, one expression reads it
        for all places together. Any other text is compiled for each place separately: for all
        places together, `sum(macs)`, for example, would give one number instead of one for each.
        """
        self.session.interrupts.check()
        together = self.session.expression(heat, tuple(places))
        if together.target is not None and together.uses_focus:
            return [together]
        return [self.session.expression(heat, (place,)) for place in places]

    def _values(self, heat: str, places: list[Place]) -> list[float | None]:
        key = (id(self.session.device), heat, tuple(places))
        if self._cache is None or self._cache[0] != key:
            self._cache = key, self._compile(heat, places)
        expressions = self._cache[1]
        numbers: list[float | None] = []
        for expression in expressions:
            self.session.interrupts.check()
            value = array_of(expression.value())
            if value.size != len(places) // len(expressions) or value.dtype.kind not in "biuf":
                raise AccessError("a single number for each unit is needed")
            of_places = value.reshape(-1).astype(float)
            numbers += [x if np.isfinite(x) else None for x in of_places.tolist()]
        return numbers


class _Units(NamedTuple):
    """A row of the grid: the units of the deepest level that belong to one unit above, or one core.

    `name` is the name of that unit or core. `places` and `names` are the places and the names of
    the deepest units.
    """

    name: str
    places: tuple[Place, ...]
    names: tuple[str, ...]


@lru_cache(maxsize=64)
def _units(core: str, sizes: tuple[int, ...]) -> tuple[_Units, ...]:
    """Return the units of the core `core`; `sizes` has the number of units at each level."""
    *outer, last = map(range, sizes)
    found = []
    for group in product(*outer):
        places = tuple(Place(core, (*group, at)) for at in last)
        found.append(_Units(str(Place(core, group)), places, tuple(map(str, places))))
    return tuple(found)


def _first_count(core: Core) -> str:
    """Return the path of the first counter that each unit of a core's deepest level has.

    If these units have no counter, return the path of their first 64-bit number. If they have no
    such number, return `retired`, the path of the number of instructions.
    """
    shape = counts(core)
    fields = [row for row in core.state.fields if row.shape == shape and row.dtype == "int64"]
    counters = {row.name for row in core.table.counters}
    chosen = [row for row in fields if row.name in counters] or fields
    return chosen[0].path or chosen[0].name if chosen else "retired"
