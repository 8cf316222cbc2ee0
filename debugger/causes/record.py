"""Records how values were made: repeats a run, or the end of the run, up to the present.

The recording uses a separate device with the reference engine, so the session's device does not
change. The record contains all reads and writes of memory, and the origins that the cores record
(`macaw.emu.origins`). If the user has not edited the run, the record starts at a late checkpoint.
If such a record does not contain the step that made a value, another record is made from an earlier
checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.causes.edits import Edits
from macaw.emu.address_space import REGION_SHIFT
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Fault
from macaw.emu.origins import Origin, UnrecordedError, WindowPart
from macaw.emu.pages import SHIFT

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.history import Checkpoint, History, Position
    from macaw.emu.core import Event
    from macaw.emu.snapshot import Snapshot

MOST = 6_000_000  # the greatest number of announcements and of steps that cores record, together
_LINE = 6  # accesses are indexed by lines of memory, which have 2 ** _LINE bytes
_GROWTH = 8  # a partial record is at least this many times as long as the next shorter one
_REACH = 64  # the number of lines, up and down, in which neighbours of unwritten bytes are searched


class CauseError(ValueError):
    """Raised if a cause cannot be found; the message is for the user."""


class Access(NamedTuple):
    """A read or write of bytes in memory by a core, or an edit of memory by the user (`by_hand`).

    For an edit, `core` is the command. `number` is the position in the run: how many
    announcements (reports of cores on what they do) came before. `instruction` is the address of
    the instruction that the core was executing.
    """

    number: int
    time: int
    core: str
    address: int
    size: int
    instruction: int | None
    by_hand: bool


class RunRecord:
    """The memory accesses of a run, and the steps that made values, up to the end of the record.

    A record is partial if it does not start at the start of the run. A method of a partial record
    raises `UnrecordedError` if its result may depend on the time before the record.
    """

    def __init__(
        self, debuggee: Debuggee, run: RecordedRun, pause: Callable[[], bool] | None
    ) -> None:
        """Record `run` from the last checkpoint in `run.starts` on. Raises `CauseError`.

        If a core's record cannot be partial, record the run from its start. The device calls
        `pause` repeatedly; if `pause` returns True, the recording fails.
        """
        self.debuggee = debuggee
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
        self.device = Device(debuggee.config, engine=ENGINES[-1])
        self.device.load(debuggee.program)
        for core in self.device.order:
            core.remember(self._number).on_move = partial(
                self._add_access, core.name, by_hand=False
            )
        self.run = run if self._can_be_partial() else replace(run, starts=run.starts[:1])
        self.is_partial = len(self.run.starts) > 1
        for core in self.device.order if self.is_partial else ():
            assert core.origins is not None
            core.origins.start_within_run()
        self.device.listen(self._hear)
        self._pause = pause
        self.device.pause = self._stops
        first = self.run.starts[0]
        if not first.has_edits:
            self.device.restore(self.run.starts[-1].snapshot)
        for point in run.edits:
            if point is not first:
                self._run(point.position)
            self._edit(point)
        self._run(run.position)
        self._read_written()
        self.device.pause = None
        self.device.unlisten(self._hear)
        self._first: Device | None = None
        self._wider: RunRecord | None = None

    def _can_be_partial(self) -> bool:
        """Return whether all cores that have started an instruction allow a partial record."""
        started = {core.name for core in self.debuggee.device.order if core.start_count}
        return all(
            core.origins is None or core.origins.can_be_partial
            for core in self.device.order
            if core.name in started
        )

    def wider(self) -> RunRecord:
        """Return a record of the same run from an earlier checkpoint on.

        Raises `CauseError`.
        """
        if self._wider is None:
            run = replace(self.run, starts=self.run.starts[:-1])
            self._wider = RunRecord(self.debuggee, run, self._pause)
        return self._wider.widest()

    def widest(self) -> RunRecord:
        """Return that record of the same run which starts earliest, among those made so far.

        `wider` makes them. If it was not called, the result is this record.
        """
        return self if self._wider is None else self._wider.widest()

    def require_whole(self) -> None:
        """Raise `UnrecordedError` if the record is partial."""
        if self.is_partial:
            raise UnrecordedError

    def _run(self, position: Position) -> None:
        """Run the recording device to a position. Raises `CauseError`."""
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
        bound = self.debuggee.program.inputs if point is self.run.starts[0] else ()
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
            self._first.restore(self.run.starts[0].snapshot)
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
            place, size = int(values["address"]), int(values["size"])
            self._add_access(core.name, kind, event.time, place, size, by_hand=False)
            return
        self.count += 1

    def _add_access(
        self, core: str, kind: str, time: int, address: int, size: int, *, by_hand: bool
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
        """Store the bytes of those writes that were announced but not yet stored.

        A core announces a write before the bytes change. At the next announcement, memory has the
        new bytes; the method reads them then.
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
        """Return the last write of the byte at `address` with a number below `before`, or None.

        The numbers are those of announcements, the reports of cores on what they do.
        """
        return _last(self._writes.get(address >> _LINE, []), address, before)

    def neighbours(self, address: int, size: int) -> list[Access]:
        """Return the last writes of the nearest written bytes around `size` unwritten bytes.

        The unwritten bytes begin at `address`. There is at most one write below them and one above
        them. Writes that are `_REACH` or more blocks of 2 ** `_LINE` bytes away do not count.
        """
        self.require_whole()
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
        """Return all writes of a core in the order of their announcements."""
        self.require_whole()
        known = {x.number: x for x in self._window_accesses.values()}
        known |= {x.number: x for line in self._writes.values() for x in line}
        return [x for _, x in sorted(known.items()) if x.core == core]

    def read(self, core: str, address: int, before: int) -> Access | None:
        """Return the last read of the byte at `address` by `core`, or None if there is none.

        A read with a number greater than `before` does not count. The numbers are those of
        announcements, the reports of cores on what they do.
        """
        found = _last(self._reads.get((core, address >> _LINE), []), address, before + 1)
        if found is None:
            self.require_whole()
        return found

    def data(self, address: int, size: int, before: int) -> bytes | None:
        """Return the `size` bytes at `address` as they were before announcement number `before`.

        The result is None if some of the bytes have passed through a window, because a window does
        not store bytes.
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
        """Return the name of the window of an access, and how many bytes had passed it earlier.

        `number` is the announcement number of the access. The result is None if the access was not
        to a window.
        """
        access = self.window_access(number)
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
        """Return the access with announcement number `number` if it was to a window, else None."""
        access = self._window_accesses.get(number)
        if access is not None:
            self.require_whole()
        return access

    def pieces(
        self, address: int, size: int, before: int
    ) -> Iterator[tuple[int, int, Access | None]]:
        """Yield groups of adjacent bytes with the same last write whose number is below `before`.

        Each item is (address, number of bytes, write); the write is None for bytes without such a
        write.
        """
        begin, last = address, self.writer(address, before)
        for at in range(address + 1, address + size):
            here = self.writer(at, before)
            if here is not last:
                self._check_unwritten(begin, at - begin, last)
                yield begin, at - begin, last
                begin, last = at, here
        self._check_unwritten(begin, address + size - begin, last)
        yield begin, address + size - begin, last

    def _check_unwritten(self, address: int, size: int, write: Access | None) -> None:
        """Raise `UnrecordedError` if the last write of some bytes may be before the record.

        The bytes are the `size` bytes at `address`. `write` is their last write in the record. If
        there is one, nothing is raised. Otherwise the method compares the snapshots at the start of
        the run and at the start of the record: if they share the pages of memory that contain the
        bytes, no step wrote to these pages between them.
        """
        if write is not None or not self.is_partial:
            return
        memory = self.device.memory
        try:
            pages, offset = memory.locate(address, size)
        except Fault:
            raise UnrecordedError from None
        names = (row.name for row in memory.state.fields if row.dtype == "memory")
        name = next(x for x in names if getattr(memory.state, x) is pages)
        first, start = (x.snapshot.memory[name] for x in (self.run.starts[0], self.run.starts[-1]))
        for page in range(offset >> SHIFT, (offset + size - 1 >> SHIFT) + 1):
            if page not in first or start.get(page) is not first[page]:
                raise UnrecordedError

    def window_origins(self, access: Access, address: int, size: int) -> list[Origin]:
        """Return the steps that made bytes which an access read from a window.

        The bytes are the `size` bytes at `address`, a part of what `access` read. The core to which
        the window belongs has recorded the steps. The list is empty if no window is at `address`,
        or if this core records nothing.
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
        """Return the steps that made the `size` bytes that `access` has written at `address`."""
        if access.by_hand:
            return []
        origins = self.device.cores[access.core].origins
        assert origins is not None
        found = list(origins.writers(access.number, address, size))
        if not found:
            self.require_whole()
        return found


@dataclass(frozen=True, eq=False)
class RecordKey:
    """Says for which run a record is valid: for one with the same begin, edits and end.

    `begin` is the snapshot at the start of the run, `position` its end. `edits` has the ids of the
    snapshots that were made after edits of the user.
    """

    position: Position
    edits: tuple[int, ...]
    begin: Snapshot

    def __eq__(self, other: object) -> bool:
        """Return whether both keys have the same run, the same edits and the same end.

        Two runs are the same if they start with the same snapshot.
        """
        return (
            isinstance(other, RecordKey)
            and self.begin is other.begin
            and (self.position, self.edits) == (other.position, other.edits)
        )

    def __hash__(self) -> int:
        return hash((self.position, self.edits, id(self.begin)))


@dataclass(frozen=True)
class RecordedRun:
    """A run to record, up to `position`.

    `starts` has the checkpoints at which the record may start; the first one is the start of the
    run. `edits` has the checkpoints at which the user has edited the state.
    """

    key: RecordKey
    position: Position
    starts: tuple[Checkpoint, ...]  # the record starts at the last one
    edits: tuple[Checkpoint, ...]  # a partial record has none


def run_of(debuggee: Debuggee, history: History, whole: bool) -> RecordedRun:
    """Return what a `RunRecord` has to record: the run up to the debuggee's present position.

    If `whole` is true or the user has edited the state in this run, the record has to begin at the
    start of the run. Otherwise it may begin at a late checkpoint.
    """
    here = debuggee.device.position
    edits = tuple(x for x in history.points if x.has_edits and x.position <= here)
    starts = history.points[:1]
    if not whole and not edits:
        starts += _late_starts([x for x in history.points if x.position < here], here[0])
    return RecordedRun(key_of(debuggee, history), here, tuple(starts), edits)


def _late_starts(points: Sequence[Checkpoint], end: int) -> list[Checkpoint]:
    """Return the checkpoints at which partial records may start, the earliest first.

    `end` is the cycle at which the records end. The search for a cause tries the shortest record
    first. It starts at the last checkpoint, or at the one before it if the last one is very near
    the end. Each further record is at least `_GROWTH` times as long as the one before. So all
    shorter records together take little time compared to a record of the whole run.
    """
    whole = sum(point.cost for point in points)
    chosen: list[Checkpoint] = []
    after = goal = 0.0  # the time from a checkpoint to the last one
    for before, point in reversed(list(pairwise(points))):
        begin = point.position[0]
        is_near = not after and 2 * (end - begin) < begin - before.position[0]
        if after >= goal and not is_near and (not chosen or after * _GROWTH <= whole):
            chosen.insert(0, point)
            goal = _GROWTH * max(after, point.cost)
        after += point.cost
    return chosen


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
