"""Finds the steps that made the value of an expression (`why`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from macaw.debugger.causes.finder import Cause, CauseFinder
from macaw.debugger.causes.record import CauseError, RunRecord, key_of, run_of
from macaw.debugger.expressions import Expression, compile_expression
from macaw.emu.origins import Place, UnrecordedError

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.history import History


@dataclass
class Question:
    """A question for the causes of a value.

    `find` searches for the causes in `record`, the record of a part of the run. If `is_asked` is
    true, it has already found them there, but the record starts too late to find the causes of
    these causes.
    """

    record: RunRecord
    find: Callable[[CauseFinder], Iterator[Cause]]
    is_asked: bool = False

    def ask(self) -> list[Cause]:
        """Return the causes that `find` finds in `record` or in a record that starts earlier.

        The method first searches `record`, unless `is_asked` is true. Then it searches records of
        the run that start earlier and earlier, until one of them contains the causes.
        """
        record = self.record.wider() if self.is_asked else self.record
        while True:
            try:
                causes = list(self.find(CauseFinder(record)))
                break
            except UnrecordedError:
                record = record.wider()
        following = Question(record, self.find, is_asked=True).ask
        for number, cause in enumerate(causes):
            cause._question = following, number
        return causes


class Causes:
    """Finds causes in one session, and keeps the record of the run for the next question."""

    def __init__(self, debuggee: Debuggee, history: History) -> None:
        self.debuggee = debuggee
        self.history = history
        self._record: RunRecord | None = None

    def why(self, text: str) -> list[Cause]:
        """Return the causes of the value of `text`. Raises `CauseError`, `ExpressionError`.

        `text` is an expression that names memory, elements of a tensor, or a core's state.
        """
        return self.causes_of(text)

    def causes_of(self, text: str, finder: CauseFinder | None = None) -> list[Cause]:
        """Return the causes of the value of the expression `text`: the steps that made the value.

        If `finder` is given, the method searches with it, so that the caller can continue the
        search from these causes with the same finder.
        """
        find = _search(compile_expression(self.debuggee, text), text)
        if finder is not None:
            return list(find(finder))
        return Question(self.record(whole=False), find).ask()

    def finder(self) -> CauseFinder:
        """Return a finder for the record of the whole run up to the present.

        Raises `CauseError`.
        """
        return CauseFinder(self.record(whole=True))

    def record(self, whole: bool) -> RunRecord:
        """Return the record of the run up to the present. Raises `CauseError`.

        If `whole` is true, the record begins at the start of the run, else perhaps later.
        """
        debuggee, history, record = self.debuggee, self.history, self._record
        if record is not None:
            record = record.widest()
        is_other = record is None or record.run.key != key_of(debuggee, history)
        if record is None or is_other or (whole and record.is_partial):
            run = run_of(debuggee, history, whole)
            record = RunRecord(debuggee, run, debuggee.interrupts.take)
        self._record = record
        return record


def _search(expression: Expression, text: str) -> Callable[[CauseFinder], Iterator[Cause]]:
    """Return a function that finds the causes of an expression's value; `text` is its text.

    Raises `CauseError`.
    """
    if expression.target is None:
        raise CauseError(f"{text} is no place in memory and no register")
    access, indices = expression.target
    value = expression.value()
    number = value if isinstance(value, int | float | np.generic) else None
    if access.extent is not None:
        address, size = access.extent(*indices())
        if not size:
            raise CauseError(f"{text} has no bytes")
        return lambda finder: finder.memory(text, address, size, finder.record.count, number)
    if access.field_range is None:
        raise CauseError(f"{text} is no single place in memory or in the state of a core")
    (core,) = access.cores
    place = Place(*access.field_range(*indices()))

    def find(finder: CauseFinder) -> Iterator[Cause]:
        fields = _recorded_fields(finder.record, core)
        if place.field not in fields:
            names = f", of {core} only {', '.join(sorted(fields))}" if fields else ""
            raise CauseError(f"what made {text} is not recorded{names}")
        origins = finder.record.device.cores[core].origins
        is_code = origins is not None and place.field in origins.codes
        value = None if is_code else number
        return finder.state(text, core, place, finder.record.count, value)

    return find


def _recorded_fields(record: RunRecord, core: str) -> frozenset[str]:
    """Return the names of those fields of a core's state whose origins the core records.

    The origins are the steps that made the values in a field.
    """
    origins = record.device.cores[core].origins
    return frozenset() if origins is None else origins.fields
