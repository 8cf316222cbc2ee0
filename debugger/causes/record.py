"""The record of how values were made: repeats a run with all edits up to the present.

The recording uses a separate device with the reference engine, so the session's device does not
change. The record contains all reads and writes of memory, and the origins that the cores record
(`macaw.emu.origins`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.causes.edits import Edits
from macaw.emu.address_space import REGION_SHIFT
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Fault
from macaw.emu.origins import Origin, WindowPart

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.history import Checkpoint, History, Position
    from macaw.emu.core import Event
    from macaw.emu.snapshot import Snapshot

MOST = 6_000_000  # the greatest number of announcements, and of steps that cores record
_LINE = 6  # accesses are indexed by lines of 2 ** so many bytes
_REACH = 64  # so many lines are searched for neighbours of unwritten bytes


class CauseError(ValueError):
    """Raised if a cause cannot be found; the message is for the user."""


class Access(NamedTuple):
    """Bytes that a core has written or read."""

    number: int  # number of the announcement
    time: int
    core: str
    address: int
    size: int
    instruction: int | None  # the address of the instruction that the core was executing
    by_hand: bool = False  # whether the user has set the bytes; `core` is then the command


class RunRecord:
    """The accesses and origins of a debuggee's run, from its start up to the present."""

    def __init__(
        self, debuggee: Debuggee, history: History, pause: Callable[[], bool] | None = None
    ) -> None:
        """Record the run up to the present. Raises `CauseError`.

        The device calls `pause` now and then; the recording fails if it returns True.
        """
        self.debuggee = debuggee
        self.history = history
        self.key = key_of(debuggee, history)
        self.count = 0
        self._writes: dict[int, list[Access]] = {}
        self._reads: dict[tuple[str, int], list[Access]] = {}
        self._at: dict[str, int] = {}
        self._window_accesses: dict[int, Access] = {}  # accesses to windows, by announcement number
        self._written: dict[int, bytes] = {}  # the bytes of each write, by announcement number
        self._announced: list[Access] = []  # writes whose bytes may not be in memory yet
        self._window_regions = (
            debuggee.device.memory.windowed
        )  # regions of the address space that have windows
        self.edits = Edits()
        self.by_hand: dict[int, bytes] = {}  # values that the user has set, by number
        points = history.points
        self.device = Device(debuggee.config, engine=ENGINES[-1])
        self.device.load(debuggee.program)
        for core in self.device.order:
            core.remember(self._number).on_move = partial(self._add_access, core.name)
        self.device.listen(self._hear)
        self._pause = pause
        self.device.pause = self._stops
        here = debuggee.device.position
        if not points[0].has_edits:
            self.device.restore(points[0].snapshot)
        for point in points:
            if point.has_edits and point.position <= here:
                if point is not points[0]:
                    self._run(point.position)
                self._edit(point)
        self._run(here)
        self._read_written()
        self.device.pause = None
        self.device.unlisten(self._hear)
        self._first: Device | None = None

    def _run(self, position: Position) -> None:
        """Run to a position. Raises `CauseError`."""
        cycle, turn = position
        stop = self.device.run(until=cycle, turn=turn)
        if stop.reason == "interrupt":
            what = (
                f"it has more than {MOST:,} accesses and steps" if self._full() else "interrupted"
            )
            raise CauseError(f"the run up to here could not be recorded: {what}")

    def _edit(self, point: Checkpoint) -> None:
        """Apply the edits of a checkpoint at the present position."""
        before = self.device.snapshot()
        self.device.restore(point.snapshot)
        commands = "; ".join(edit.command for edit in point.edits if edit.command)
        number, cycle = self.count, point.position[0]
        # The first checkpoint also contains the inputs, which are not edits.
        bound = self.debuggee.program.inputs if point is self.history.points[0] else ()
        for name, change in self.device.diff(before):
            if name == "memory" and isinstance(change.new, bytes) and change.at:
                address = self.device.memory.address(change.field, change.at[0])
                if not any(x.address <= address < x.address + x.size for x in bound):
                    self.by_hand[self.count] = change.new
                    self._add_access(
                        commands, "write", cycle, address, len(change.new), by_hand=True
                    )
            elif name in self.device.cores:
                self.edits.add(self.device.cores[name], change, number, cycle, commands)
        self.count += 1

    @property
    def first(self) -> Device:
        """A device in the state at the start of the run."""
        if self._first is None:
            self._first = Device(self.debuggee.config, engine=ENGINES[-1])
            self._first.load(self.debuggee.program)
            self._first.restore(self.history.points[0].snapshot)
        return self._first

    def _number(self) -> int:
        return self.count

    def _hear(self, event: Event) -> None:
        self._read_written()
        core, kind, values = event.core, event.kind, event.values
        if core.origins is not None:
            core.origins.observe(kind, event.time, dict(values))
        if kind == "instruction":
            self._at[core.name] = int(values["address"])
        elif kind in ("write", "read"):
            self._add_access(
                core.name, kind, event.time, int(values["address"]), int(values["size"])
            )
            return
        self.count += 1

    def _add_access(
        self, core: str, kind: str, time: int, address: int, size: int, *, by_hand: bool = False
    ) -> None:
        access = Access(self.count, time, core, address, size, self._at.get(core), by_hand)
        for line in range(address >> _LINE, (address + size - 1 >> _LINE) + 1):
            if kind == "write":
                self._writes.setdefault(line, []).append(access)
            else:
                self._reads.setdefault((core, line), []).append(access)
        if address >> REGION_SHIFT in self._window_regions:
            self._window_accesses[self.count] = access
        if kind == "write":
            self._read_written()
            self._announced.append(access)
        self.count += 1

    def _read_written(self) -> None:
        """Read the bytes of the writes announced so far, and store them: memory has them by now.

        A write is announced before its bytes move. The next announcement comes after that.
        """
        for access in self._announced:
            with suppress(Fault):  # a window has no bytes that could be read
                data = self.device.memory.peek(access.address, access.size)
                self._written[access.number] = data
        self._announced.clear()

    def _full(self) -> bool:
        sizes = (
            0 if core.origins is None else core.origins.step_count for core in self.device.order
        )
        return self.count + sum(sizes) >= MOST

    def _stops(self) -> bool:
        return self._full() or (self._pause is not None and self._pause())

    # Questions

    def writer(self, address: int, before: int) -> Access | None:
        """Return the last write of a byte before announcement number `before`, or None."""
        return _last(self._writes.get(address >> _LINE, []), address, before)

    def neighbours(self, address: int, size: int) -> list[Access]:
        """Return the last writes of the nearest written bytes on both sides of unwritten bytes.

        A write that is more than `_REACH` lines away does not count.
        """
        found = []
        for lines in (range(0, -_REACH, -1), range(_REACH)):
            forward = lines.step > 0
            for line in lines:
                begin = (address + size - 1 if forward else address) >> _LINE
                near = [
                    x
                    for x in self._writes.get(begin + line, ())
                    if (x.address >= address + size if forward else x.address + x.size <= address)
                ]
                if near:
                    found.append(near[-1])
                    break
        return found

    def writes_of(self, core: str) -> list[Access]:
        """Return all writes of a core in their order."""
        known = {x.number: x for x in self._window_accesses.values()}
        known |= {x.number: x for line in self._writes.values() for x in line}
        return [x for _, x in sorted(known.items()) if x.core == core]

    def read(self, core: str, address: int, before: int) -> Access | None:
        """Return the last read of a byte by a core up to announcement number `before`, or None."""
        return _last(self._reads.get((core, address >> _LINE), []), address, before + 1)

    def data(self, address: int, size: int, before: int) -> bytes | None:
        """Return bytes of memory as they were before announcement number `before`.

        The result is None if some of them have passed a window, which does not store them.
        """
        result = b""
        for begin, length, write in self.pieces(address, size, before):
            if write is None:
                try:
                    result += self.first.memory.peek(begin, length)
                except Fault:
                    return None
            elif write.number in self._written:
                first = begin - write.address
                result += self._written[write.number][first : first + length]
            else:
                return None
        return result

    def window_position(self, number: int) -> tuple[str, int] | None:
        """Return the window of an access, and how many bytes had passed it before the access.

        `number` is the access's announcement number. The result is None if it was not to a window.
        """
        access = self._window_accesses.get(number)
        if access is None:
            return None
        window = self.device.memory.window(access.address, access.size)
        if window is None:
            return None
        before = 0
        for other in self._window_accesses.values():
            if other.number < number:
                same = self.device.memory.window(other.address, other.size)
                before += other.size if same is window else 0
        return window.name, before

    def window_access(self, number: int) -> Access | None:
        """Return the access to a window with this announcement number, or None."""
        return self._window_accesses.get(number)

    def pieces(
        self, address: int, size: int, before: int
    ) -> Iterator[tuple[int, int, Access | None]]:
        """Yield groups of adjacent bytes with the same last write before announcement `before`.

        Each item is (address, number of bytes, write); the write is None for bytes that were never
        written.
        """
        begin, last = address, self.writer(address, before)
        for at in range(address + 1, address + size):
            here = self.writer(at, before)
            if here is not last:
                yield begin, at - begin, last
                begin, last = at, here
        yield begin, address + size - begin, last

    def window_origins(self, access: Access, address: int, size: int) -> list[Origin]:
        """Return the origins of bytes that an access read from a window.

        The window's core has recorded them.
        """
        window = self.device.memory.window(address, size)
        if window is None:
            return []
        origins = self.device.by_number[window.core.number].origins
        if origins is None:
            return []
        access_range = WindowPart(access.number, address - access.address, size)
        return list(origins.outgoing(access_range))

    def origins(self, access: Access, address: int, size: int) -> list[Origin]:
        """Return the origins of bytes of a write, which the writing core has recorded."""
        if access.by_hand:
            return []
        origins = self.device.cores[access.core].origins
        assert origins is not None
        return list(origins.writers(access.number, address, size))


@dataclass(frozen=True, eq=False)
class RecordKey:
    """Identifies the run for which a record is valid, with its edits and its end."""

    position: Position
    edits: tuple[int, ...]  # ids of the snapshots of checkpoints with edits
    begin: Snapshot

    def __eq__(self, other: object) -> bool:
        """Return whether both keys have the same run, edits and position.

        Two runs are the same if their first snapshots are.
        """
        return (
            isinstance(other, RecordKey)
            and self.begin is other.begin
            and (self.position, self.edits) == (other.position, other.edits)
        )

    def __hash__(self) -> int:
        return hash((self.position, self.edits, id(self.begin)))


def key_of(debuggee: Debuggee, history: History) -> RecordKey:
    """Return the key of a `RunRecord` that ends at the debuggee's present position.

    An older record with the same key is still valid.
    """
    points = history.points
    edits = tuple(id(point.snapshot) for point in points if point.has_edits)
    return RecordKey(debuggee.device.position, edits, points[0].snapshot)


def _last(accesses: list[Access], address: int, before: int) -> Access | None:
    for access in reversed(accesses):
        if access.number < before and access.address <= address < access.address + access.size:
            return access
    return None
