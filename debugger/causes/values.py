"""What made a value: the step that wrote it, what that step read, and so on back to the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macaw.debugger.causes.finding import Cause, Finder
from macaw.debugger.causes.record import CauseError, Record, key_of
from macaw.emu.origins import Place

if TYPE_CHECKING:
    from macaw.debugger.session import Session


def why(session: Session, text: str) -> list[Cause]:
    """What made the value of an expression: of memory, a tensor's elements, a core's state.

    Raises `CauseError`, `ExpressionError`.
    """
    expression = session.expression(text)
    if expression.target is None:
        raise CauseError(f"{text} is no place in memory and no register")
    access, indices = expression.target
    value = expression.value()
    shown = value if isinstance(value, int | float | np.generic) else None
    if access.extent is not None:
        address, size = access.extent(*indices())
        if not size:
            raise CauseError(f"{text} has no bytes")
        record = _record(session)
        return list(Finder(record).memory(text, address, size, record.count, shown))
    if access.stands is None:
        raise CauseError(f"{text} is no single place in memory or in the state of a core")
    (core,) = access.cores
    place = Place(*access.stands(*indices()))
    record = _record(session)
    told = _told(record, core)
    if place.field not in told:
        names = f", of {core} only {', '.join(sorted(told))}" if told else ""
        raise CauseError(f"what made {text} is not recorded{names}")
    return list(Finder(record).state(text, core, place, record.count, shown))


def _told(record: Record, core: str) -> frozenset[str]:
    """The fields of a core's state of which it can tell."""
    origins = record.device.cores[core].origins
    return frozenset() if origins is None else origins.fields


def _record(session: Session) -> Record:
    debuggee, history = session.debuggee, session.history
    record = session.run_record
    if record is None or record.key != key_of(debuggee, history):
        session.run_record = record = Record(debuggee, history, debuggee.interrupts.take)
    return record
