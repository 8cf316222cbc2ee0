"""A watch at work: its value, where it lies, who may change it, what tells of accesses to it.

Registers of cores that can be asked behind their instructions (`Core.probed`) are watched by
probes: the code stays translated. All else is listened to, or looked at after each act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.expressions import Expression, ExpressionError, compiled
from macaw.debugger.hearing import reaches, registers
from macaw.debugger.places import Place, places
from macaw.debugger.points import Point
from macaw.emu.breaks import Probe

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core
    from macaw.emu.pages import Pages

ACCESSES = {"rwatch": ("read",), "awatch": ("read", "write")}
MOVES = {"rwatch": ("pop",), "awatch": ("pop", "push")}  # of queues
Told = Callable[["Watched", str, int], object]  # access, address of the instruction


class Watched:
    """One watch on the device of now."""

    def __init__(self, session: Session, point: Point) -> None:
        self.point = point
        self.device = session.device
        self.expression: Expression = compiled(session, point.text, point.focus or None)
        self.cores = self.expression.cores
        self.by = {place.core for place in places(session.device, point.by)} if point.by else None
        self.cell: list[Any] = [None]  # what it was; probes hold the list
        self.extents: list[tuple[int, int]] = []
        self.registers: dict[str, set[tuple[Place, str, int]]] = {}
        self.queues: dict[str, set[tuple[Place, str]]] = {}
        others: set[str] = set()  # cores of what is neither
        for access, _ in self.expression.accesses:
            for place, file, number in access.registers:
                self.registers.setdefault(place.core, set()).add((place, file, number))
            for place, queue in access.queues:
                self.queues.setdefault(place.core, set()).add((place, queue))
            if not access.registers:
                others |= access.cores
        known = self.device.cores
        self.probed = {name for name in self.registers if known[name].probed} - others
        self.listened = self.cores - self.probed

    def begin(self) -> None:
        """A run begins: what it is now is the old value."""
        self.extents = self.expression.extents()
        self.cell[0] = self.value()

    def value(self) -> Any:
        """What it is now; None if it has no value."""
        try:
            found = self.expression.value()
        except ExpressionError:
            return None
        if isinstance(found, np.generic):
            return found.item()
        return found.copy() if isinstance(found, np.ndarray) else found

    def changed(self) -> tuple[Any, Any] | None:
        """The old value and the new one, if they differ; from now on the new one is the old."""
        old, new = self.cell[0], self.value()
        if same(old, new):
            return None
        self.cell[0] = new
        return old, new

    def touches(self, address: int, size: int) -> bool:
        """Whether an access reaches into what it watches."""
        return any(at < address + size and address < at + length for at, length in self.extents)

    def counts(self, core: str) -> bool:
        """Whether an access of this core is one that was asked for."""
        return self.by is None or core in self.by

    def has(self, place: Place, queue: str) -> bool:
        """Whether it watches a queue."""
        return (place, queue) in self.queues.get(place.core, ())

    # Registers

    def accessed(self, core: Core, values: Mapping[str, Any]) -> list[str]:
        """How an announced instruction accesses registers that are watched: "read", "write"."""
        found = registers(self.device, core, values)
        return [
            access
            for access in ACCESSES[self.point.kind]
            if any(
                (file, number) in found[access] and reaches(core, values, place)
                for place, file, number in self.registers.get(core.name, ())
            )
        ]

    def probes(self, core: Core, condition: Expression | None, told: Told) -> Iterator[Probe]:
        """What a core is asked behind instructions on the registers that are watched."""
        about = frozenset((file, at) for _, file, at in self.registers.get(core.name, ()))
        if core.name not in self.probed:
            return
        live = "" if condition is None else _live(condition, core)
        names = {} if condition is None else dict(condition.names)
        for access in ACCESSES.get(self.point.kind, ()):
            met = partial(told, self, access)
            reads = access == "read"
            yield Probe(about, reads, not reads, met, None, live, names)
        if self.point.kind == "watch":
            text = self._change(core, live, condition is not None)
            names |= self.expression.names
            names |= {f"cell{self.point.number}": self.cell, f"keep{self.point.number}": self._keep}
            test = self._differs if text else None
            met = partial(told, self, "write")
            yield Probe(about, False, True, met, test, text, names)

    def _change(self, core: Core, live: str, has_condition: bool) -> str:
        """A change that counts, as text; empty if a core's code cannot say it."""
        value, number = _live(self.expression, core), self.point.number
        if not value:
            return ""
        if not has_condition or not live:
            return f"({value}) != cell{number}[0]"
        return f"(seen := ({value})) != cell{number}[0] and (({live}) or keep{number}(seen))"

    def _differs(self) -> bool:
        return not same(self.cell[0], self.value())

    def _keep(self, value: int) -> bool:
        """A change that the condition lets pass."""
        self.cell[0] = value
        return False


def _live(expression: Expression, core: Core) -> str:
    """An expression as text for the code of a core, guards first; empty if there is none."""
    if not expression.live or expression.live_core not in ("", core.name):
        return ""
    return expression.live if not expression.guards else ""


def same(old: Any, new: Any) -> bool:
    """Whether two values are one; a NaN is equal to a NaN."""
    if isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
        first, second = np.asarray(old), np.asarray(new)
        if first.dtype.kind == second.dtype.kind == "f":
            return bool(np.array_equal(first, second, equal_nan=True))
        return bool(np.array_equal(first, second))
    return bool(old == new) or (old != old and new != new)


def hold(pages: Pages, offset: int, length: int) -> None:
    """Ask pages to tell of changes to some bytes."""
    from macaw.emu.pages import PAGE

    end = offset + length
    while offset < end:
        stop = min(end, (offset // PAGE + 1) * PAGE)
        pages.hold(offset, stop - offset)
        offset = stop
