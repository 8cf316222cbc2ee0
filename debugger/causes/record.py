"""A run once more, from the begin and through all edits to now, with all that made its values.

It runs on a device of its own with the reference engine; the session's stays where it is. What is
kept: who wrote and read which bytes when, and what the cores themselves remember
(`macaw.emu.origins`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.causes.edits import Edits
from macaw.emu.address_space import REGION_SHIFT
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.origins import Origin, Passed

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.history import Checkpoint, History, Position
    from macaw.emu.core import Event
    from macaw.emu.device import Snapshot

MOST = 6_000_000  # announcements
_LINE = 6  # accesses are kept by lines of so many bits


class CauseError(ValueError):
    """A cause that cannot be told; the message is fit for a user."""


class Access(NamedTuple):
    """Bytes that a core wrote or read."""

    number: int  # of the announcement
    time: int
    core: str
    address: int
    size: int
    instruction: int | None  # that the core was at, if it has not told of its origin
    by_hand: bool = False  # somebody set them; `core` is the command that says it


class Record:
    """What happened on a debuggee's device up to its present."""

    def __init__(
        self, debuggee: Debuggee, history: History, pause: Callable[[], bool] | None = None
    ) -> None:
        """`pause` is asked from time to time whether to stop. Raises `CauseError`."""
        self.debuggee = debuggee
        self.history = history
        self.key = key_of(debuggee, history)
        self.count = 0
        self._writes: dict[int, list[Access]] = {}
        self._reads: dict[tuple[str, int], list[Access]] = {}
        self._at: dict[str, int] = {}
        self._through: dict[int, Access] = {}  # of windows, by number
        self._windowed = debuggee.device.memory.windowed  # regions that have some
        self.edits = Edits()
        self.by_hand: dict[int, bytes] = {}  # that somebody set, by number
        points = history.points
        self.device = Device(debuggee.config, engine=ENGINES[-1])
        self.device.load(debuggee.program)
        for core in self.device.order:
            core.remember(self._number).told = partial(self._moved, core.name)
        self.device.listen(self._heard)
        self._pause = pause
        self.device.pause = self._stops
        here = debuggee.device.position
        if not points[0].edited:
            self.device.restore(points[0].snapshot)
        for point in points:
            if point.edited and point.position <= here:
                if point is not points[0]:
                    self._run(point.position)
                self._edit(point)
        self._run(here)
        self.device.pause = None
        self.device.unlisten(self._heard)
        self._first: Device | None = None

    def _run(self, position: Position) -> None:
        """Go on to a position. Raises `CauseError`."""
        cycle, turn = position
        stop = self.device.run(until=cycle, turn=turn)
        if stop.reason == "interrupt":
            what = (
                f"it has more than {MOST:,} accesses and steps" if self._full() else "interrupted"
            )
            raise CauseError(f"the run up to here could not be recorded: {what}")

    def _edit(self, point: Checkpoint) -> None:
        """Somebody has set something where the run is."""
        before = self.device.snapshot()
        self.device.restore(point.snapshot)
        said = "; ".join(edit.command for edit in point.edits if edit.command)
        number, cycle = self.count, point.position[0]
        # Before the first cycle inputs are bound, too: that is no edit.
        bound = self.debuggee.program.inputs if point is self.history.points[0] else ()
        for name, change in self.device.diff(before):
            if name == "memory" and isinstance(change.new, bytes) and change.at:
                address = self.device.memory.address(change.field, change.at[0])
                if not any(x.address <= address < x.address + x.size for x in bound):
                    self.by_hand[self.count] = change.new
                    self._moved(said, "write", cycle, address, len(change.new), by_hand=True)
            elif name in self.device.cores:
                self.edits.add(self.device.cores[name], change, number, cycle, said)
        self.count += 1

    @property
    def first(self) -> Device:
        """The device as it was where the record begins."""
        if self._first is None:
            self._first = Device(self.debuggee.config, engine=ENGINES[-1])
            self._first.load(self.debuggee.program)
            self._first.restore(self.history.points[0].snapshot)
        return self._first

    def _number(self) -> int:
        return self.count

    def _heard(self, event: Event) -> None:
        core, kind, values = event.core, event.kind, event.values
        if core.origins is not None:
            core.origins.heard(kind, event.time, dict(values))
        if kind == "instruction":
            self._at[core.name] = int(values["address"])
        elif kind in ("write", "read"):
            self._moved(core.name, kind, event.time, int(values["address"]), int(values["size"]))
            return
        self.count += 1

    def _moved(
        self, core: str, kind: str, time: int, address: int, size: int, *, by_hand: bool = False
    ) -> None:
        access = Access(self.count, time, core, address, size, self._at.get(core), by_hand)
        for line in range(address >> _LINE, (address + size - 1 >> _LINE) + 1):
            if kind == "write":
                self._writes.setdefault(line, []).append(access)
            else:
                self._reads.setdefault((core, line), []).append(access)
        if address >> REGION_SHIFT in self._windowed:
            self._through[self.count] = access
        self.count += 1

    def _full(self) -> bool:
        kept = (0 if core.origins is None else core.origins.kept for core in self.device.order)
        return self.count + sum(kept) >= MOST

    def _stops(self) -> bool:
        return self._full() or (self._pause is not None and self._pause())

    # Questions

    def writer(self, address: int, before: int) -> Access | None:
        """The last write of a byte before the announcement of a number."""
        return _last(self._writes.get(address >> _LINE, []), address, before)

    def read(self, core: str, address: int, before: int) -> Access | None:
        """The last read of a byte by a core up to the announcement `before`."""
        return _last(self._reads.get((core, address >> _LINE), []), address, before + 1)

    def through(self, number: int) -> Access | None:
        """The access to a window that was the announcement of a number."""
        return self._through.get(number)

    def pieces(
        self, address: int, size: int, before: int
    ) -> Iterator[tuple[int, int, Access | None]]:
        """The runs of bytes that were written together: address, bytes, write; None: never."""
        begin, last = address, self.writer(address, before)
        for at in range(address + 1, address + size):
            here = self.writer(at, before)
            if here is not last:
                yield begin, at - begin, last
                begin, last = at, here
        yield begin, address + size - begin, last

    def given(self, access: Access, address: int, size: int) -> list[Origin]:
        """What a window's core says of some of the bytes that came out of it by an access."""
        window = self.device.memory.window(address, size)
        if window is None:
            return []
        origins = self.device.by_number[window.core.number].origins
        if origins is None:
            return []
        passed = Passed(access.number, address - access.address, size)
        return list(origins.given(passed))

    def origins(self, access: Access, address: int, size: int) -> list[Origin]:
        """What the writer says of some of the bytes that it wrote."""
        if access.by_hand:
            return []
        origins = self.device.cores[access.core].origins
        assert origins is not None
        return list(origins.written(access.number, address, size))


@dataclass(frozen=True, eq=False)
class Key:
    """What a record is for: a position of a run, and what that begins with."""

    position: Position
    edits: tuple[int, ...]  # checkpoints at which somebody has set something
    begin: Snapshot

    def __eq__(self, other: object) -> bool:
        """Whether it is the same run, by the snapshot that it begins with, and place."""
        return (
            isinstance(other, Key)
            and self.begin is other.begin
            and (self.position, self.edits) == (other.position, other.edits)
        )

    def __hash__(self) -> int:
        return hash((self.position, self.edits, id(self.begin)))


def key_of(debuggee: Debuggee, history: History) -> Key:
    """The key of a record of now."""
    points = history.points
    edits = tuple(id(point.snapshot) for point in points if point.edited)
    return Key(debuggee.device.position, edits, points[0].snapshot)


def _last(accesses: list[Access], address: int, before: int) -> Access | None:
    for access in reversed(accesses):
        if access.number < before and access.address <= address < access.address + access.size:
            return access
    return None
