"""Events that no announcement reports: finds them in a core's state before and after acts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.debugger.event_fields import inside
from macaw.debugger.places import Place, counts
from macaw.debugger.queue_delta import fills_from_outside
from macaw.emu.breaks import Instrumented

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device

Bools = NDArray[np.bool_]


class StateEvent(ABC):
    """An event of one core, found by comparing the core's state before and after acts.

    An act is an instruction or, for some cores, a cycle.
    """

    by_others = False  # whether acts of other cores may cause it

    def __init__(self, device: Device, core: Core, where: list[Place]) -> None:
        self.device = device
        self.core = core
        self.where = where  # places in the core to which it is limited; empty: the whole core

    @abstractmethod
    def begin(self) -> None:
        """Prepare for a run: what holds already at its start, such as a full queue, is no event."""

    @abstractmethod
    def look(self) -> Iterator[dict[str, Any]]:
        """Yield the events since the last call, each as a mapping of names to values.

        Some of the names are "place" (a place as text) and "of" (the name of a queue or register).
        """

    @property
    def missing(self) -> str:
        """What the core lacks if the event can never happen, as a phrase for messages.

        The text is empty if the event can happen.
        """
        return ""


class StallEvent(StateEvent):
    """The event that a core, or a part of a core that waits independently, starts to wait."""

    def begin(self) -> None:
        self.before = self._waits()

    def _waits(self) -> dict[str, tuple[str, int]]:
        """Return {name of the waiting part: (what it waits for, since which cycle)}."""
        core = self.core
        if isinstance(
            core, Instrumented
        ):  # it has no parts, and is examined after each of its instructions
            return {} if core.waiting is None else {"": (core.waiting.on, core.waiting.since)}
        core.sync()
        return {x.part: (x.on, x.since) for x in core.stalls() if x.on}

    def look(self) -> Iterator[dict[str, Any]]:
        now, before = self._waits(), self.before
        self.before = now
        for part, (on, since) in now.items():
            if part not in before or before[part][1] != since:
                where = f"{self.core.name} {part}".rstrip()
                yield {"place": where, "on": on, "since": since}


class FlagEvent(StateEvent):
    """An event of queues or registers: one of them gets into a state that the subclass defines.

    For example, a queue becomes full, or an element of a register becomes NaN. The subclass gives
    the present state as arrays of flags: true for each queue or element that is in this state.
    """

    of = ""  # a noun for messages: what the flags say something about

    @property
    def missing(self) -> str:
        return "" if next(self._flags(), None) is not None else self.of

    def begin(self) -> None:
        self.before = dict(self._flags())

    @abstractmethod
    def _flags(self) -> Iterator[tuple[str, Bools]]:
        """Yield (name, array of flags) for each queue or register file of the core.

        A flag is true if its queue or register element is now in the state of the event, for
        example full or NaN. The first axes of an array are the core's levels of units: for a queue
        of pe, flag [cluster, PE]. For registers, the axes of registers and elements follow.
        """

    def look(self) -> Iterator[dict[str, Any]]:
        for name, now in self._flags():
            new = now & ~self.before[name]
            self.before[name] = now
            if new.any():
                yield from self._events(new, name)

    def _events(self, new: Bools, name: str) -> Iterator[dict[str, Any]]:
        """Yield an event for each true flag in `new`, if its unit is in one of `self.where`.

        `new` has true flags for those queues or elements that got into the event's state since the
        last call of `look`; `name` is the name of the queue or register file.
        """
        levels = len(counts(self.core))
        for index in np.argwhere(new).tolist():
            place = Place(self.core.name, tuple(index[:levels]))
            if inside(place, self.where):
                yield {"place": str(place), "of": name, "element": index[levels:]}


class QueueEvent(FlagEvent):
    """The event that a queue reaches a certain level: full or empty."""

    of = "queues"

    def begin(self) -> None:
        self.by_others = fills_from_outside(self.core)
        super().begin()

    def _flags(self) -> Iterator[tuple[str, Bools]]:
        self.core.sync()
        rows = {row.name: row for row in self.core.state.fields}
        for queue in self.core.table.queues:
            value = getattr(self.core.state, queue.contents)
            levels = np.array(len(value) if isinstance(value, list) else value)
            depth = len(counts(self.core)) if rows[queue.contents].levels is None else 1
            if levels.ndim > depth:
                levels = levels.sum(axis=tuple(range(depth, levels.ndim)))
            limit = int(self.device.config[queue.capacity])
            yield queue.name, np.asarray(self._flag(levels, limit))

    @abstractmethod
    def _flag(self, levels: NDArray[Any], limit: int) -> Any:
        """Return a mask over `levels`: true for each queue that is at the level of the event.

        This level is the capacity `limit` for the event that a queue becomes full, and 0 for the
        event that it becomes empty. `levels` has the number of items in each queue.
        """


class QueueFull(QueueEvent):
    """The event that a queue becomes full."""

    def _flag(self, levels: NDArray[Any], limit: int) -> Any:
        return levels >= limit


class QueueEmpty(QueueEvent):
    """The event that a queue becomes empty."""

    def _flag(self, levels: NDArray[Any], limit: int) -> Any:
        return levels == 0


class ValueEvent(FlagEvent):
    """The event that a register gets a special value, for example NaN."""

    def _flags(self) -> Iterator[tuple[str, Bools]]:
        self.core.sync()
        for file in self.core.table.files:
            value = getattr(self.core.state, file.name)
            if isinstance(value, np.ndarray):
                flags = self.test(value)
                if flags is not None:
                    yield file.name, flags
        yield from self.more()

    @abstractmethod
    def test(self, value: NDArray[Any]) -> Bools | None:
        """Return a mask over an array: true for each element with the event's special value.

        The special value is for example NaN. The result is None if the array's type does not have
        such a value.
        """

    def more(self) -> Iterator[tuple[str, Bools]]:
        """Yield (name, mask) for each array of values outside of register files.

        A mask is true for each element with the event's special value, for example NaN.
        """
        return iter(())


class NotNumber(ValueEvent):
    """The event that a real number becomes NaN."""

    of = "registers of real numbers"

    def test(self, value: NDArray[Any]) -> Bools | None:
        return np.isnan(value) if value.dtype.kind == "f" else None

    def more(self) -> Iterator[tuple[str, Bools]]:
        yield from self.core.not_numbers().items()


class Saturation(ValueEvent):
    """The event that a whole number reaches the least or greatest value of its type."""

    of = "registers of whole numbers with a type that ends"

    def test(self, value: NDArray[Any]) -> Bools | None:
        if value.dtype.kind != "i":
            return None
        ends = np.iinfo(value.dtype)
        flags: Bools = (value == ends.max) | (value == ends.min)
        return flags


STATE_EVENTS: dict[str, type[StateEvent]] = {
    "stall": StallEvent,
    "queue-full": QueueFull,
    "queue-empty": QueueEmpty,
    "nan": NotNumber,
    "saturate": Saturation,
}


def state_event_of(name: str, device: Device, core: Core, where: list[Place]) -> StateEvent | None:
    """Return the event `name` of a core, limited to the places `where`.

    The result is None for a name that is not in `STATE_EVENTS`.
    """
    kind = STATE_EVENTS.get(name)
    return None if kind is None else kind(device, core, where)
