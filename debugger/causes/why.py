"""Finds the steps that made the value of an expression (`why`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from macaw.debugger.causes.finder import Cause, CauseFinder
from macaw.debugger.causes.record import CauseError, RunRecord, key_of
from macaw.debugger.expressions import Expression, compile_expression
from macaw.emu.origins import Place

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.history import History


class Causes:
    """Finds causes in one session. It keeps the record of the run for the next question."""

    def __init__(self, debuggee: Debuggee, history: History) -> None:
        self.debuggee = debuggee
        self.history = history
        self._record: RunRecord | None = None

    def why(self, text: str) -> list[Cause]:
        """Return the causes of an expression's value. Raises `CauseError`, `ExpressionError`.

        The expression must name memory, elements of a tensor, or a core's state.
        """
        return self.causes_of(text)

    def causes_of(self, text: str, finder: CauseFinder | None = None) -> list[Cause]:
        """Return the causes of an expression's value, as `why` does.

        `finder` searches for them, and can continue from them later.
        """
        return _causes_of(compile_expression(self.debuggee, text), text, finder or self.finder)

    def finder(self) -> CauseFinder:
        """Return a finder for the record of the run up to the present. Raises `CauseError`."""
        return CauseFinder(self.record())

    def record(self) -> RunRecord:
        """Return the record of the run up to the present. Raises `CauseError`."""
        debuggee, history, record = self.debuggee, self.history, self._record
        if record is None or record.key != key_of(debuggee, history):
            self._record = record = RunRecord(debuggee, history, debuggee.interrupts.take)
        return record


def _causes_of(
    expression: Expression, text: str, find: CauseFinder | Callable[[], CauseFinder]
) -> list[Cause]:
    if expression.target is None:
        raise CauseError(f"{text} is no place in memory and no register")
    access, indices = expression.target
    value = expression.value()
    number = value if isinstance(value, int | float | np.generic) else None
    if access.extent is not None:
        address, size = access.extent(*indices())
        if not size:
            raise CauseError(f"{text} has no bytes")
        finder = find if isinstance(find, CauseFinder) else find()
        return list(finder.memory(text, address, size, finder.record.count, number))
    if access.field_range is None:
        raise CauseError(f"{text} is no single place in memory or in the state of a core")
    (core,) = access.cores
    place = Place(*access.field_range(*indices()))
    finder = find if isinstance(find, CauseFinder) else find()
    fields = _recorded_fields(finder.record, core)
    if place.field not in fields:
        names = f", of {core} only {', '.join(sorted(fields))}" if fields else ""
        raise CauseError(f"what made {text} is not recorded{names}")
    return list(finder.state(text, core, place, finder.record.count, number))


def _recorded_fields(record: RunRecord, core: str) -> frozenset[str]:
    """Return the names of those fields of a core's state whose origins the core records."""
    origins = record.device.cores[core].origins
    return frozenset() if origins is None else origins.fields
