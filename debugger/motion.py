"""Runs the program of a session forward and back; each call returns a record of the stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from macaw.debugger.history import START, History, Position
from macaw.debugger.line_steps import LineStepper
from macaw.debugger.locations import locate, targets
from macaw.debugger.monitor import Monitor
from macaw.debugger.places import Place
from macaw.debugger.points import Points
from macaw.debugger.reverse import Interruption, instruction_ends, last_hit
from macaw.debugger.runner import Runner
from macaw.debugger.stepping import (
    INSTRUCTION,
    PIECE,
    cores_to_step,
    piece_places,
    run_to,
    step_announcements,
    step_announcements_back,
    step_cores,
)
from macaw.debugger.stop_positions import StopPositions
from macaw.debugger.stops import ENDS, EditRecord, Hit, SessionError, StopRecord, Where, reason_of
from macaw.debugger.where import waits_of, where_of
from macaw.emu.breaks import Breakable

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.emu.core import Core
    from macaw.emu.device import Device
    from macaw.emu.faults import Stop

OnMoved = Callable[[StopRecord | EditRecord], object]


class Motion:
    """The runs and steps of one debuggee, with the points and checkpoints for them.

    `last_stop` is the record of the last stop. After each stop, and after each change of state by
    the user, there is a new record, and each function in `on_moved` is called with this record.
    """

    def __init__(self, debuggee: Debuggee) -> None:
        """Load the program and its inputs into the device. Raises `DeviceError`."""
        self._debuggee = debuggee
        self._history = History()
        self.points = Points(debuggee)
        self._monitor = Monitor(debuggee, self.points)
        self._runner = Runner(debuggee, self._history, self._monitor)
        self._stop_positions = StopPositions()
        self.on_moved: list[OnMoved] = []
        self._load()
        self.last_stop = self._stop(self.record("start"))

    @property
    def device(self) -> Device:
        """The present device; a call may replace the object."""
        return self._debuggee.device

    @property
    def focus(self) -> tuple[Place, ...]:
        """The places to which steps and short names refer."""
        return self._debuggee.focus

    @property
    def core(self) -> Core:
        """The core of the first focused place."""
        return self._debuggee.core

    def _load(self) -> None:
        self._debuggee.load()
        self._stop_positions.clear()
        self._monitor.forget_arrivals()
        self._history.clear()
        self._history.take(self.device)

    # Forward

    def restart_program(self) -> StopRecord:
        """Load the program again, with the same inputs and the same points."""
        self._load()
        return self._stop(self.record("start"))

    def run(self) -> StopRecord:
        """Load the program again and run it."""
        self._load()
        return self.cont()

    def cont(self, until: Position | None = None) -> StopRecord:
        """Run until something stops the run (`continue`), or to a position."""
        return self._finish(self._runner.live(lambda: self._runner.forward(until)))

    def stepc(self, count: int = 1) -> StopRecord:
        """Run to the start of the cycle that is `count` cycles later."""
        count = _step_count(count)
        goal = self.device.cycle + count
        raw = self._runner.live(lambda: self._runner.forward((goal, 0)))
        reason = "step" if raw.reason == "cycle limit" else None
        done = count if reason else self.device.cycle - goal + count
        return self._finish(raw, done, reason)

    def stepi(self, count: int = 1, only: bool = False, every: bool = False) -> StopRecord:
        """Run until each focused core that runs has executed `count` more instructions.

        If `only` is true, the first focused core counts and no other; if `every` is true, all cores
        that run count. If units of a core are focused, such as PEs, the instructions of these units
        are counted.
        """
        count = _step_count(count)
        units = [place for place in self.focus if place.units]
        if units and not every and not isinstance(self.core, Breakable):
            where = units[:1] if only else units
            return self._finish(*step_announcements(self._runner, where, INSTRUCTION, count))
        cores = cores_to_step(self._debuggee, only, every)
        return self._finish(*step_cores(self._runner, cores, count))

    def stepx(self, count: int = 1) -> StopRecord:
        """Run to the end of `count` pieces of work: exe commands, chains, blocks, transfers.

        A core's table says what its pieces are. If cores of the focused places work on pieces, only
        their pieces count; otherwise the pieces of all cores count.
        """
        count = _step_count(count)
        where = piece_places(self._debuggee)
        return self._finish(*step_announcements(self._runner, where, PIECE, count))

    def step(self, count: int = 1, over: bool = False) -> StopRecord:
        """Run until the first focused core has reached `count` other lines of its source.

        If `over` is true, lines of functions that the core calls do not count (`next`).
        """
        count = _step_count(count)
        self._check_runs()
        for done in range(1, count + 1):
            raw, is_done = self._line_stepper().step(over)
            self._add_stop_position()
            if raw.reason != "step" or not self.core.running:
                return self._finish(raw, done if is_done else done - 1)
        return self._finish(raw, count)

    def nexti(self, count: int = 1) -> StopRecord:
        """Execute `count` instructions of the first focused core; a call counts as one."""
        count = _step_count(count)
        self._check_runs()
        for done in range(1, count + 1):
            raw, is_done = self._line_stepper().step_instruction()
            self._add_stop_position()
            if raw.reason != "step" or not self.core.running:
                return self._finish(raw, done if is_done else done - 1)
        return self._finish(raw, count)

    def step_range(self, begin: int, end: int, over: bool = False) -> StopRecord:
        """Run until the first focused core leaves the addresses `begin` to `end` - 1.

        The core executes at least one instruction. If `over` is true, functions that are called
        from the range count as part of it. The record's `done` is the number of instructions that
        the core has executed; `in_call` is true if the last one was a call that has left the range.
        """
        self._check_runs()
        core, before = self.core, self.core.retired
        raw, in_call = self._line_stepper().step_range(begin, end, over)
        return self._finish(raw, self.device.cores[core.name].retired - before, in_call=in_call)

    def finish(self) -> StopRecord:
        """Run until the present function of the first focused core returns."""
        self._check_runs()
        raw = self._line_stepper().finish()
        return self._finish(raw, reason="arrived" if raw.reason == "step" else None)

    def advance(self, location: str) -> StopRecord:
        """Run until a core reaches a location. Raises `LocationError`.

        If focused cores may execute code at the location, the other cores do not count.
        """
        self._runner.choose_engine()
        addresses = locate(self._debuggee, location).addresses
        goals = [target for address in addresses for target in targets(self._debuggee, address)]
        names = {place.core for place in self.focus}
        mine = [target for target in goals if target.core.name in names]
        raw = run_to(self._runner, mine or goals)
        is_goal = raw.before and not self._monitor.hits
        return self._finish(raw, reason="arrived" if is_goal else None)

    def _check_runs(self) -> None:
        """Choose the engine, and check that the first focused core runs.

        Raises `SessionError` if the core does not run although the program has not ended.
        """
        self._runner.choose_engine()
        if self.device.stopped is None and not self.core.running:
            raise SessionError(f"{self.core.name}: nothing runs there to be stepped")

    def _line_stepper(self) -> LineStepper:
        return LineStepper(self._runner, self._stop_positions, self.core)

    # Back

    def goto(self, cycle: int, turn: int = 0) -> StopRecord:
        """Go to a cycle, before or after the present; no breakpoint or watch stops the run.

        `turn` is the number of a core: the position is in that cycle, before this core acts. With
        0, the position is at the start of the cycle.
        """
        cycle, turn = _whole("a cycle", cycle), _whole("a turn", turn)
        if cycle < 0:
            raise SessionError("the first cycle is 0")
        raw = self._runner.travel((cycle, turn))
        if raw is not None and raw.reason not in ("cycle limit", "step"):
            return self._finish(raw)
        at_start = self.device.position == START
        return self._stop(self.record("arrived", at_start=at_start))

    def stepc_back(self, count: int = 1) -> StopRecord:
        """Go back `count` cycles.

        If a breakpoint, watch or event stops on the way, go back only to the latest such stop.
        """
        count = _step_count(count)
        cycle, turn = now = self.device.position
        goal = self._stop_positions.last((cycle - count, 0), (cycle - count + 1, 0))
        done = min(count, cycle + (turn > 0))
        return self._go_back(now, goal, done, lambda: cycle - self.device.cycle)

    def stepi_back(self, count: int = 1) -> StopRecord:
        """Go back `count` instructions of the first focused core.

        If units of the core are focused, such as PEs, the instructions of these units are counted.
        If a breakpoint, watch or event stops on the way, go back only to the latest such stop.
        """
        count = _step_count(count)
        now, name, retired = self.device.position, self.core.name, self.core.retired
        units = [place for place in self.focus if place.units]
        if units and not isinstance(self.core, Breakable):
            return self._step_announcements_back(units, INSTRUCTION, count)
        if now == START:
            return self._go_back(now, START, 0)
        try:
            ends = instruction_ends(self._runner, name, count + 1, now, retired)
        except Interruption as interruption:
            return self._finish(interruption.stop)
        goal, done = START, len(ends)
        if len(ends) >= count:
            at = len(ends) - count
            following = [*(item.position for item in ends[1:]), now][at]
            goal, done = self._stop_positions.last(ends[at].position, following), count
        return self._go_back(now, goal, done, lambda: retired - self.device.cores[name].retired)

    def stepx_back(self, count: int = 1) -> StopRecord:
        """Go back to the moment when the `count`-th last piece of work, such as a transfer, ended.

        The pieces are those that `stepx` counts. An end exactly at the present position does not
        count. If a breakpoint, watch or event stops on the way, go back only to the latest such
        stop.
        """
        count = _step_count(count)
        return self._step_announcements_back(piece_places(self._debuggee), PIECE, count)

    def _step_announcements_back(self, where: Sequence[Place], kind: str, count: int) -> StopRecord:
        now = self.device.position
        try:
            goal, positions = step_announcements_back(
                self._runner, self._stop_positions, where, kind, count
            )
        except Interruption as interruption:
            return self._finish(interruption.stop)
        return self._go_back(
            now, goal, len(positions), lambda: sum(x >= self.device.position for x in positions)
        )

    def back(self, count: int = 1, over: bool = False) -> StopRecord:
        """Go back `count` times to the start of the line that the first focused core executed last.

        If `over` is true, lines of functions that the core called do not count. If a breakpoint,
        watch or event stops on the way, go back only to the latest such stop.
        """
        return self._step_lines_back(count, lambda stepper: stepper.back(over))

    def nexti_back(self, count: int = 1) -> StopRecord:
        """Go back `count` instructions of the first focused core; a call counts as one.

        If a breakpoint, watch or event stops on the way, go back only to the latest such stop.
        """
        return self._step_lines_back(count, LineStepper.back_instruction)

    def finish_back(self) -> StopRecord:
        """Go back to the call of the present function.

        If a breakpoint, watch or event stops on the way, go back only to the latest such stop.
        """
        return self._step_lines_back(1, LineStepper.back_call)

    def _step_lines_back(
        self, count: int, back: Callable[[LineStepper], tuple[Position, int]]
    ) -> StopRecord:
        """Go back `count` times to the position that `back` returns for a line stepper."""
        count = _step_count(count)
        record, name = self.last_stop, self.core.name
        for done in range(1, count + 1):
            now = self.device.position
            try:
                goal, retired = back(self._line_stepper())
            except Interruption as interruption:
                return self._finish(interruption.stop)
            less = partial(self._lines_back, name, retired, done)
            record = self._go_back(now, goal, done, less)
            if record.at_start or record.reason != "step":
                break
        return record

    def _lines_back(self, name: str, retired: int, done: int) -> int:
        """Return how many whole lines the core `name` has gone back, after a point stopped it.

        The core was to go back to the start of the line that is `done` lines earlier. At this
        start it had completed `retired` instructions. If the core stands exactly there, the result
        is `done`, else `done` - 1.
        """
        return done if self.device.cores[name].retired == retired else done - 1

    def cont_back(self) -> StopRecord:
        """Go back to the latest stop of a breakpoint, watch or event (`reverse-continue`).

        If there is none, go back to the start of the run.
        """
        return self._go_back(self.device.position, START, 0)

    def _go_back(
        self, now: Position, goal: Position, done: int, less: Callable[[], int] = lambda: 0
    ) -> StopRecord:
        """Go back from `now` to `goal`, or to the latest position after `goal` where a point stops.

        A point is a breakpoint, watch or caught event. In the result, the number of steps is `done`
        if the goal is reached, else what `less()` returns.
        """
        try:
            hit = last_hit(self._runner, now, goal) if self.points.can_stop else None
        except Interruption as interruption:
            return self._finish(interruption.stop)
        raw = self._runner.travel(goal if hit is None else hit.position)
        if raw is not None and raw.reason == "interrupt":
            return self._finish(raw)
        at_start = self.device.position == START
        if hit is None:
            reason = "start" if at_start else "step"
            return self._stop(self.record(reason, done=done, at_start=at_start))
        core = self.device.cores.get(hit.core)
        where = self.where() if core is None else self.where(core, hit.address)
        stop = self.record(reason_of(hit.hits), hits=hit.hits, where=where, done=less())
        if core is not None and hit.address is not None:
            self._monitor.report(core, hit.address, [item.number for item in hit.hits])
        self._delete_temporary(hit.hits)
        return self._stop(stop)

    def checkpoint(self, number: int = 0) -> int:
        """Make a checkpoint of the present and return its number; 0 selects the next free number.

        Raises `SessionError` if the number belongs to another position.
        """
        other = self._history.user_checkpoint(number) if number else None
        if other is not None and other.position != self.device.position:
            raise SessionError(f"checkpoint {number} is at cycle {other.position[0]:,}")
        return self._runner.checkpoint(number=number)

    def restart(self, number: int) -> StopRecord:
        """Go to the checkpoint with this number. Raises `SessionError`."""
        point = self._history.user_checkpoint(number)
        if point is None:
            raise SessionError(f"there is no checkpoint {number}")
        return self.goto(*point.position)

    # Records

    def where(self, core: Core | None = None, address: int | None = None) -> Where:
        """Return where `core` is in the source.

        By default, `core` is the first focused core, and `address` is the address of its next
        instruction.
        """
        return where_of(self._debuggee.program, core or self.core, address)

    def record(self, reason: str, message: str = "", **more: Any) -> StopRecord:
        """Return a record of the present position; `more` are fields of `StopRecord`."""
        cycle, turn = self.device.position
        more.setdefault("where", self.where())
        return StopRecord(reason, cycle, turn, message, **more)

    def _finish(
        self, raw: Stop, done: int = 0, reason: str | None = None, **more: Any
    ) -> StopRecord:
        """Return the record of the stop `raw` after `done` steps, and store it in `last_stop`.

        `more` are fields of `StopRecord`.
        """
        if raw.reason in ("step", "cycle limit") or self._monitor.ends_step:
            self._monitor.check_next(self.device.cores.get(raw.core, self.core))
        more |= {"done": done, **self._details(raw)}
        if "hits" in more:
            if raw.reason not in ENDS:
                reason = reason_of(more["hits"])
            self._delete_temporary(more["hits"])
        reasons = {"cycle limit": "limit"}.get(raw.reason, raw.reason)
        return self._stop(self.record(reason or reasons, raw.message, **more))

    def _details(self, raw: Stop) -> dict[str, Any]:
        """Return the fields of `StopRecord`, except the reason, that the stop `raw` determines."""
        core = self.device.cores.get(raw.core)
        where = self.where(core, raw.address) if core is not None else self.where()
        more: dict[str, Any] = {"where": where, "exit_code": raw.exit_code}
        if raw.fault is not None:
            fault = raw.fault
            more["fault"] = {"kind": fault.kind, "message": fault.message, "values": fault.values}
        if raw.reason == "deadlock":
            more["waits"] = waits_of(self.device)
        if self._monitor.hits:
            more["hits"] = tuple(self._monitor.hits)
        return more

    def _delete_temporary(self, hits: Iterable[Hit]) -> None:
        for hit in hits:
            self.points.delete_temporary(hit.number)

    def _add_stop_position(self) -> None:
        """Record the present position as one to which steps back may return."""
        self._stop_positions.add(self.device.position)

    def _stop(self, record: StopRecord) -> StopRecord:
        self._add_stop_position()
        if record.where is not None:
            self._monitor.show(self.device.cores[record.where.core])
        self.last_stop = record
        self._tell(record)
        return record

    def _tell(self, record: StopRecord | EditRecord) -> None:
        for call in tuple(self.on_moved):
            call(record)


def _step_count(count: int) -> int:
    """Return the number of steps as Python's number. Raises `SessionError` if it is below 1."""
    number = _whole("the number of steps", count)
    if number < 1:
        raise SessionError(f"{number} steps cannot be taken, 1 is the least")
    return number


def _whole(what: str, value: int) -> int:
    """Return a whole number of Python or NumPy, which can overflow, as Python's number.

    Raises `SessionError` for another value; `what` is its name in the message.
    """
    if not isinstance(value, Integral):
        raise SessionError(f"{what} is a whole number, not {value!a:.60}")
    return int(value)
