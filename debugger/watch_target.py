"""The data for one watch: the watched value, where the value is, and how accesses are noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.event_fields import reaches, registers
from macaw.debugger.expressions import Expression, ExpressionError, compile_expression
from macaw.debugger.places import Place, places
from macaw.emu.breaks import Instrumented, Probe

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.point import Point
    from macaw.emu.core import Core

ACCESSES = {"rwatch": ("read",), "awatch": ("read", "write")}
QUEUE_ACCESSES = {"rwatch": ("pop",), "awatch": ("pop", "push")}
OnProbe = Callable[["WatchTarget", str, int], object]  # access, address of the instruction


class WatchTarget:
    """One watch, prepared for the present device of the session."""

    def __init__(self, debuggee: Debuggee, point: Point) -> None:
        device = debuggee.device
        self.point = point
        self.device = device
        self.expression: Expression = compile_expression(debuggee, point.text, point.focus or None)
        self.cores = self.expression.cores
        self.by = {place.core for place in places(device, point.by)} if point.by else None
        self.cell: list[Any] = [None]  # the last value, in a list that the code of probes refers to
        self.extents: list[tuple[int, int]] = []  # in memory: address, number of bytes
        self.registers: dict[str, set[tuple[Place, str, int]]] = {}  # by core: place, file, number
        self.queues: dict[str, set[tuple[Place, str]]] = {}  # by core: (place, name of the queue)
        others: set[str] = set()  # cores of values that are not registers
        for access, _ in self.expression.accesses:
            for place, file, number in access.registers:
                self.registers.setdefault(place.core, set()).add((place, file, number))
            for place, queue in access.queues:
                self.queues.setdefault(place.core, set()).add((place, queue))
            if not access.registers:
                others |= access.cores
        self.probe_cores = {
            x for x in self.registers if isinstance(device.cores[x], Instrumented)
        } - others
        self.act_cores = self.cores - self.probe_cores  # cores to be examined after each act

    def begin(self) -> None:
        """Prepare for a run: store the present value as the old one."""
        self.extents = self.expression.extents()
        self.cell[0] = self.value()

    def value(self) -> Any:
        """Return a copy of the present value, or None if the expression has no value."""
        try:
            value = self.expression.value()
        except ExpressionError:
            return None
        if isinstance(value, np.generic):
            return value.item()
        return value.copy() if isinstance(value, np.ndarray) else value

    def change(self) -> tuple[Any, Any] | None:
        """Return the old and the new value if they differ, else None.

        The new value becomes the old one for the next call.
        """
        old, new = self.cell[0], self.value()
        if same(old, new):
            return None
        self.cell[0] = new
        return old, new

    def touches(self, address: int, size: int) -> bool:
        """Return whether an access of `size` bytes at `address` overlaps the watched memory."""
        return any(at < address + size and address < at + length for at, length in self.extents)

    def counts(self, core: str) -> bool:
        """Return whether the watch counts accesses by the core with this name."""
        return self.by is None or core in self.by

    def has_queue(self, place: Place, queue: str) -> bool:
        """Return whether the watch is for the queue `queue` of `place`."""
        return (place, queue) in self.queues.get(place.core, ())

    # Registers

    def accesses(self, core: Core, values: Mapping[str, Any]) -> list[str]:
        """Return how an instruction that `core` has announced accesses the watched registers.

        The list has "read", "write", or both, as far as the watch looks for such accesses; it is
        empty if the instruction uses none of the registers. `values` are the announcement's fields.
        """
        used = registers(self.device, core, values)
        return [
            access
            for access in ACCESSES[self.point.kind]
            if any(
                (file, number) in used[access] and reaches(core, values, place)
                for place, file, number in self.registers.get(core.name, ())
            )
        ]

    def probes(
        self, core: Core, condition: Expression | None, on_probe: OnProbe
    ) -> Iterator[Probe]:
        """Yield the probes that a core needs, so that it reports accesses to watched registers.

        A probe is a test that the core makes by itself after instructions that access these
        registers. It reports an access by `on_probe(self, access, address)`. `condition` is the
        compiled condition of the watch, or None.
        """
        about = frozenset((file, at) for _, file, at in self.registers.get(core.name, ()))
        if core.name not in self.probe_cores:
            return
        live = "" if condition is None else _live(condition, core)
        names = {} if condition is None else dict(condition.names)
        for access in ACCESSES.get(self.point.kind, ()):
            call = partial(on_probe, self, access)
            reads = access == "read"
            yield Probe(about, reads, not reads, call, None, live, names)
        if self.point.kind == "watch":
            text = self._change_text(core, live, condition is not None)
            names |= self.expression.names
            names |= {f"cell{self.point.number}": self.cell, f"keep{self.point.number}": self._keep}
            test = self._differs if text else None
            call = partial(on_probe, self, "write")
            yield Probe(about, False, True, call, test, text, names)

    def _change_text(self, core: Core, live: str, has_condition: bool) -> str:
        """Return a Python expression, as text, that is true if the watched value has changed.

        A fast engine puts it into the code to which it translates the program of `core`. The
        result is empty if this code cannot compute the watched value. `has_condition` says whether
        the watch has a condition. `live` is the condition as text for this code; if it is not
        empty, the result is true only if the condition is true, too.
        """
        value, number = _live(self.expression, core), self.point.number
        if not value:
            return ""
        if not has_condition or not live:
            return f"({value}) != cell{number}[0]"
        return f"(seen := ({value})) != cell{number}[0] and (({live}) or keep{number}(seen))"

    def _differs(self) -> bool:
        return not same(self.cell[0], self.value())

    def _keep(self, value: int) -> bool:
        """Make `value` the old value with which the next test compares. Return False.

        The test from `_change_text` calls this method if the value has changed, but the condition
        of the watch is false. The result makes the test false, so the probe does not report the
        change.
        """
        self.cell[0] = value
        return False


def _live(expression: Expression, core: Core) -> str:
    """Return an expression as text for the translated code of a core.

    The result is empty if there is no such text, or if the text could use a value that is out of
    date (`Expression.guards`).
    """
    if not expression.live or expression.live_core not in ("", core.name):
        return ""
    return expression.live if not expression.guards else ""


def same(old: Any, new: Any) -> bool:
    """Return whether two values are equal; NaN equals NaN."""
    if isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
        first, second = np.asarray(old), np.asarray(new)
        if first.dtype.kind == second.dtype.kind == "f":
            return bool(np.array_equal(first, second, equal_nan=True))
        return bool(np.array_equal(first, second))
    return bool(old == new) or (old != old and new != new)
