"""Events that no announcement tells: what changes in a core's state says them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.debugger.hearing import inside
from macaw.debugger.moves import is_given
from macaw.debugger.places import Place, counts

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device

Bools = NDArray[np.bool_]


class Change(ABC):
    """Something of one core that is looked at after each of its acts."""

    given = False  # acts of other cores may bring it about

    def __init__(self, device: Device, core: Core, where: list[Place]) -> None:
        self.device = device
        self.core = core
        self.where = where  # places in the core; none: all of it

    @abstractmethod
    def begin(self) -> None:
        """A run begins: note how it is."""

    @abstractmethod
    def look(self) -> Iterator[dict[str, Any]]:
        """What has come about since the last look, as values of an event."""

    @property
    def lacks(self) -> str:
        """What the core lacks for this ever to come about; empty: it may come about."""
        return ""


class Waits(Change):
    """The core, or a part of it that has waits of its own, begins to wait."""

    def begin(self) -> None:
        self.before = self._found()

    def _found(self) -> dict[str, tuple[str, int]]:
        """By part: what for, since when."""
        core = self.core
        if core.asks:  # it has no parts, and is asked after each of its instructions
            return {} if core.waiting is None else {"": (core.waiting.on, core.waiting.since)}
        core.sync()
        return {x.part: (x.on, x.since) for x in core.stalls() if x.on}

    def look(self) -> Iterator[dict[str, Any]]:
        now, before = self._found(), self.before
        self.before = now
        for part, (on, since) in now.items():
            if part not in before or before[part][1] != since:
                where = f"{self.core.name} {part}".rstrip()
                yield {"place": where, "on": on, "since": since}


class Marks(Change):
    """Something comes to be so at places: of arrays by name, each tells where it is."""

    of = ""  # what such arrays are

    @property
    def lacks(self) -> str:
        return "" if next(self._found(), None) is not None else self.of

    def begin(self) -> None:
        self.before = dict(self._found())

    @abstractmethod
    def _found(self) -> Iterator[tuple[str, Bools]]:
        """By name, where it is so now."""

    def look(self) -> Iterator[dict[str, Any]]:
        for name, now in self._found():
            new = now & ~self.before[name]
            self.before[name] = now
            if new.any():
                yield from self._places(new, name)

    def _places(self, new: Bools, name: str) -> Iterator[dict[str, Any]]:
        """An event for each place at which something is new."""
        levels = len(counts(self.core))
        for index in np.argwhere(new).tolist():
            place = Place(self.core.name, tuple(index[:levels]))
            if inside(place, self.where):
                yield {"place": str(place), "of": name, "element": index[levels:]}


class Levels(Marks):
    """A queue becomes full, or empty."""

    of = "queues"
    full = True

    def begin(self) -> None:
        self.given = is_given(self.core)
        super().begin()

    def _found(self) -> Iterator[tuple[str, Bools]]:
        self.core.sync()
        rows = {row.name: row for row in self.core.state.fields}
        for queue in self.core.table.queues:
            value = getattr(self.core.state, queue.held)
            levels = np.array(len(value) if isinstance(value, list) else value)
            depth = len(counts(self.core)) if rows[queue.held].levels is None else 1
            if levels.ndim > depth:
                levels = levels.sum(axis=tuple(range(depth, levels.ndim)))
            limit = int(self.device.config[queue.capacity])
            yield queue.name, np.asarray(levels >= limit if self.full else levels == 0)


class Emptied(Levels):
    """A queue becomes empty."""

    full = False


class Numbers(Marks):
    """Registers come to hold something that a value can be told by."""

    def _found(self) -> Iterator[tuple[str, Bools]]:
        self.core.sync()
        for file in self.core.table.files:
            value = getattr(self.core.state, file.name)
            if isinstance(value, np.ndarray):
                found = self.told(value)
                if found is not None:
                    yield file.name, found
        yield from self.more()

    @abstractmethod
    def told(self, value: NDArray[Any]) -> Bools | None:
        """Where it is so; None for arrays of which it is never said."""

    def more(self) -> Iterator[tuple[str, Bools]]:
        """The same of what is in no register file."""
        return iter(())


class NotNumbers(Numbers):
    """A real number is none any more."""

    of = "registers of real numbers"

    def told(self, value: NDArray[Any]) -> Bools | None:
        return np.isnan(value) if value.dtype.kind == "f" else None

    def more(self) -> Iterator[tuple[str, Bools]]:
        yield from self.core.not_numbers().items()


class Limits(Numbers):
    """A whole number is at the end of its range."""

    of = "registers of whole numbers with a type that ends"

    def told(self, value: NDArray[Any]) -> Bools | None:
        if value.dtype.kind != "i":
            return None
        ends = np.iinfo(value.dtype)
        found: Bools = (value == ends.max) | (value == ends.min)
        return found


CHANGES: dict[str, type[Change]] = {
    "stall": Waits,
    "queue-full": Levels,
    "queue-empty": Emptied,
    "nan": NotNumbers,
    "saturate": Limits,
}


def change_of(event: str, device: Device, core: Core, where: list[Place]) -> Change | None:
    """What tells an event of `macaw.isa.common.EVENTS` on a core; None: the run tells it itself."""
    found = CHANGES.get(event)
    return None if found is None else found(device, core, where)
