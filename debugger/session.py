"""The debugging session: runs a program on a device, forward and back.

Each call that moves the program returns a record. One thread makes all calls but `interrupt`, which
stops a run within some milliseconds. The program's output is in `output`, and `on_output` gets each
piece when it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.causes.record import RunRecord
from macaw.debugger.debuggee import Debuggee
from macaw.debugger.expressions import Expression, compile_expression
from macaw.debugger.history import START, Edit, History, Position
from macaw.debugger.interrupts import Interrupts
from macaw.debugger.line_steps import LineStepper
from macaw.debugger.locations import locate, targets
from macaw.debugger.monitor import Monitor
from macaw.debugger.places import Place, compact, places
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
from macaw.debugger.stops import ENDS, Hit, SessionError, StopRecord, Wait, Where, reason_of
from macaw.debugger.where import waits_of, where_of
from macaw.emu.breaks import Breakable
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.emu.core import Core
    from macaw.emu.faults import Stop


class Session:
    """One program with its inputs on one device, which a user debugs.

    `device` is the present device; a call may replace the object. `focus` contains the places that
    steps and short names refer to. `last_stop` is the last record.
    """

    def __init__(
        self,
        program: Program,
        config: Mapping[str, Any],
        inputs: Mapping[str, object] | None = None,
        engine: str = ENGINES[0],
        on_output: Callable[[str, bytes], object] | None = None,
        on_progress: Callable[[str, int], object] | None = None,
    ) -> None:
        """Load the program and its inputs. Raises `DeviceError`.

        `inputs` has an array of the declared shape for all or some of the named inputs.
        `on_output(stream, data)` gets the program's output. During a run, the session calls
        `on_progress(what, cycle)` now and then.
        """
        self.debuggee = Debuggee(program, config, inputs or {}, engine, on_output)
        self.history = History()
        self.points = Points(self.debuggee)
        self.monitor = Monitor(self.debuggee, self.points)
        self.runner = Runner(self.debuggee, self.history, self.monitor, on_progress)
        self._stop_positions = StopPositions()
        self._load()
        self.last_stop = self._stop(self.record("start"))
        self.run_record: RunRecord | None = None  # of the last `why`, for the next one

    @property
    def program(self) -> Program:
        """The program that is debugged."""
        return self.debuggee.program

    @property
    def device(self) -> Device:
        """The present device."""
        return self.debuggee.device

    @property
    def focus(self) -> tuple[Place, ...]:
        """The places that steps and short names refer to."""
        return self.debuggee.focus

    @property
    def core(self) -> Core:
        """The first of the focused cores."""
        return self.debuggee.core

    @property
    def output(self) -> list[tuple[Position, str, bytes]]:
        """The output of the program so far, as (position, stream, bytes) for each piece."""
        return self.debuggee.output.pieces

    @property
    def on_output(self) -> Callable[[str, bytes], object] | None:
        """The function that gets each piece of output (stream, bytes) when it is written."""
        return self.debuggee.output.on_write

    @on_output.setter
    def on_output(self, call: Callable[[str, bytes], object] | None) -> None:
        self.debuggee.output.on_write = call

    @property
    def interrupts(self) -> Interrupts:
        """The requests to stop."""
        return self.debuggee.interrupts

    def _load(self) -> None:
        self.debuggee.load()
        self._stop_positions.clear()
        self.monitor.forget_arrivals()
        self.history.clear()
        self.history.take(self.device)

    # Forward

    def restart_program(self) -> StopRecord:
        """Load the program again, with the same inputs; points stay."""
        self._load()
        return self._stop(self.record("start"))

    def run(self) -> StopRecord:
        """Load the program again and run it."""
        self._load()
        return self.proceed()

    def proceed(self, until: Position | None = None) -> StopRecord:
        """Run until something stops the run (`continue`), or to a position."""
        return self._finish(self.runner.live(lambda: self.runner.forward(until)))

    def stepc(self, count: int = 1) -> StopRecord:
        """Run to the start of the cycle that is `count` cycles later."""
        self._check_count(count)
        goal = self.device.cycle + count
        raw = self.runner.live(lambda: self.runner.forward((goal, 0)))
        reason = "step" if raw.reason == "cycle limit" else None
        done = count if reason else self.device.cycle - goal + count
        return self._finish(raw, done, reason)

    def stepi(self, count: int = 1, only: bool = False, every: bool = False) -> StopRecord:
        """Run until each focused core that runs has executed `count` more instructions.

        With `only`, only the first of the focused cores counts; with `every`, all cores that run.
        If units of a core are focused, such as PEs, the instructions of these units are counted.
        """
        self._check_count(count)
        units = [place for place in self.focus if place.units]
        if units and not every and not isinstance(self.core, Breakable):
            where = units[:1] if only else units
            return self._finish(*step_announcements(self.runner, where, INSTRUCTION, count))
        cores = cores_to_step(self.debuggee, only, every)
        return self._finish(*step_cores(self.runner, cores, count))

    def stepx(self, count: int = 1) -> StopRecord:
        """Run to the end of `count` pieces: exe commands, chains, blocks, transfers.

        If cores of the focused places work on pieces, only their pieces count, else those of all
        cores.
        """
        self._check_count(count)
        where = piece_places(self.debuggee)
        return self._finish(*step_announcements(self.runner, where, PIECE, count))

    def step(self, count: int = 1, over: bool = False) -> StopRecord:
        """Run until the first focused core has reached `count` other lines of its source.

        With `over`, lines of the functions that it calls do not count (`next`).
        """
        self._check_count(count)
        self._check_runs()
        for done in range(1, count + 1):
            raw, is_done = self._line_stepper().step(over)
            self._add_stop_position()
            if raw.reason != "step" or not self.core.running:
                return self._finish(raw, done if is_done else done - 1)
        return self._finish(raw, count)

    def finish(self) -> StopRecord:
        """Run until the present function of the first focused core returns."""
        self._check_runs()
        raw = self._line_stepper().finish()
        return self._finish(raw, reason="arrived" if raw.reason == "step" else None)

    def advance(self, location: str) -> StopRecord:
        """Run until a core reaches a location. Raises `LocationError`.

        If focused cores may execute the location, only they count.
        """
        self.runner.choose_engine()
        addresses = locate(self.debuggee, location).addresses
        goals = [target for address in addresses for target in targets(self.debuggee, address)]
        names = {place.core for place in self.focus}
        mine = [target for target in goals if target.core.name in names]
        raw = run_to(self.runner, mine or goals)
        is_goal = raw.before and not self.monitor.hits
        return self._finish(raw, reason="arrived" if is_goal else None)

    def _check_runs(self) -> None:
        """Choose the engine; raise `SessionError` unless the first focused core runs."""
        self.runner.choose_engine()
        if self.device.stopped is None and not self.core.running:
            raise SessionError(f"{self.core.name}: nothing runs there to be stepped")

    def _line_stepper(self) -> LineStepper:
        return LineStepper(self.runner, self._stop_positions, self.core)

    def _check_count(self, count: int) -> None:
        if count < 1:
            raise SessionError(f"{count} steps cannot be taken, 1 is the least")

    # Back

    def goto(self, cycle: int, turn: int = 0) -> StopRecord:
        """Go to the start of a cycle, before or after the present; points do not stop the run.

        `turn` is the number of a core: in that cycle, go to the moment before this core acts.
        """
        if cycle < 0:
            raise SessionError("the first cycle is 0")
        raw = self.runner.travel((cycle, turn))
        if raw is not None and raw.reason not in ("cycle limit", "step"):
            return self._finish(raw)
        at_start = self.device.position == START
        return self._stop(self.record("arrived", at_start=at_start))

    def stepc_back(self, count: int = 1) -> StopRecord:
        """Go back `count` cycles; a point on the way stops it."""
        self._check_count(count)
        cycle, turn = now = self.device.position
        goal = self._stop_positions.last((cycle - count, 0), (cycle - count + 1, 0))
        done = min(count, cycle + (turn > 0))
        return self._go_back(now, goal, done, lambda: cycle - self.device.cycle)

    def stepi_back(self, count: int = 1) -> StopRecord:
        """Go back `count` instructions of the first focused core; a point on the way stops it.

        If units of the core are focused, such as PEs, the instructions of these units are counted.
        """
        self._check_count(count)
        now, name, retired = self.device.position, self.core.name, self.core.retired
        units = [place for place in self.focus if place.units]
        if units and not isinstance(self.core, Breakable):
            return self._step_announcements_back(units, INSTRUCTION, count)
        if now == START:
            return self._go_back(now, START, 0)
        try:
            ends = instruction_ends(self.runner, name, count + 1, now, retired)
        except Interruption as interruption:
            return self._finish(interruption.stop)
        goal, done = START, len(ends)
        if len(ends) >= count:
            at = len(ends) - count
            following = [*(item.position for item in ends[1:]), now][at]
            goal, done = self._stop_positions.last(ends[at].position, following), count
        return self._go_back(now, goal, done, lambda: retired - self.device.cores[name].retired)

    def stepx_back(self, count: int = 1) -> StopRecord:
        """Go back to the moment before the last `count` ends of pieces, as `stepx` counts them.

        A point on the way stops it.
        """
        self._check_count(count)
        return self._step_announcements_back(piece_places(self.debuggee), PIECE, count)

    def _step_announcements_back(self, where: Sequence[Place], kind: str, count: int) -> StopRecord:
        now = self.device.position
        try:
            goal, positions = step_announcements_back(
                self.runner, self._stop_positions, where, kind, count
            )
        except Interruption as interruption:
            return self._finish(interruption.stop)
        return self._go_back(
            now, goal, len(positions), lambda: sum(x >= self.device.position for x in positions)
        )

    def step_back(self, count: int = 1, over: bool = False) -> StopRecord:
        """Go back to the starts of the last `count` lines that the first focused core has executed.

        With `over`, lines of the functions that it called do not count. A point on the way stops
        it.
        """
        self._check_count(count)
        record, name = self.last_stop, self.core.name
        for done in range(1, count + 1):
            now = self.device.position
            try:
                goal, retired = self._line_stepper().back(over)
            except Interruption as interruption:
                return self._finish(interruption.stop)
            less = partial(self._lines_back, name, retired, done)
            record = self._go_back(now, goal, done, less)
            if record.at_start or record.reason != "step":
                break
        return record

    def _lines_back(self, name: str, retired: int, done: int) -> int:
        """Return the number of lines that a step back has gone, `done` at most.

        The last line does not count unless the core is at its start, where it had completed
        `retired` instructions. A point may have stopped it before.
        """
        return done if self.device.cores[name].retired == retired else done - 1

    def proceed_back(self) -> StopRecord:
        """Go back to the last stop of a breakpoint, watch or event (`reverse-continue`)."""
        return self._go_back(self.device.position, START, 0)

    def _go_back(
        self, now: Position, goal: Position, done: int, less: Callable[[], int] = lambda: 0
    ) -> StopRecord:
        """Go from `now` back to a goal, or to the last stop of a point on the way there.

        The record has `done` steps if the goal is reached, and `less()` steps if a point stops.
        """
        try:
            hit = last_hit(self.runner, now, goal) if self.points.can_stop else None
        except Interruption as interruption:
            return self._finish(interruption.stop)
        raw = self.runner.travel(goal if hit is None else hit.position)
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
            self.monitor.report(core, hit.address, [item.number for item in hit.hits])
        self._delete_temporary(hit.hits)
        return self._stop(stop)

    def checkpoint(self, number: int = 0) -> int:
        """Make a checkpoint of the present and return its number; 0 means the next free number.

        Raises `SessionError` if the number belongs to another position.
        """
        other = self.history.user_checkpoint(number) if number else None
        if other is not None and other.position != self.device.position:
            raise SessionError(f"checkpoint {number} is at cycle {other.position[0]:,}")
        return self.runner.checkpoint(number=number)

    def restart(self, number: int) -> StopRecord:
        """Go to the checkpoint of this number. Raises `SessionError`."""
        point = self.history.user_checkpoint(number)
        if point is None:
            raise SessionError(f"there is no checkpoint {number}")
        return self.goto(*point.position)

    # Values

    def expression(self, text: str) -> Expression:
        """Return an expression compiled for the present device and focus.

        Raises `ExpressionError`.
        """
        return compile_expression(self.debuggee, text)

    def evaluate(self, text: str) -> Any:
        """Return the value of an expression, a number or an array. Raises `ExpressionError`."""
        value = self.expression(text).value()
        return value.copy() if isinstance(value, np.ndarray) else value

    def set(self, text: str, value: Any) -> Any:
        """Set what an expression names, and return its new value. Raises `ExpressionError`.

        `value` is a number, an array, or the text of a second expression. Drops the checkpoints
        after the present.
        """
        target = self.expression(text)
        target.set(self.evaluate(value) if isinstance(value, str) else value)
        self.note_edit(f"set {text} = {value}" if isinstance(value, str | int) else "")
        return target.value()

    def note_edit(self, command: str = "") -> None:
        """Record that the user has changed state; drop the checkpoints after the present.

        `command` is the command that changed it, empty if it was no command.
        """
        position = self.device.position
        self.history.forget_after(position)
        self.runner.checkpoint(Edit(command, compact(self.device, self.focus)))
        self._stop_positions.drop_from(position)
        self._add_stop_position()

    # Other threads

    def interrupt(self) -> None:
        """Request that the present run stops soon. Any thread may call this."""
        self.interrupts.request()

    # Places

    def set_focus(self, text: str) -> tuple[Place, ...]:
        """Set the focus: `vc`, `pe[1,0].3`, `pe[*,0].*`. Raises `PlaceError`."""
        self.debuggee.focus = places(self.device, text)
        self.monitor.show(self.core)
        return self.focus

    # Records

    def where(self, core: Core | None = None, address: int | None = None) -> Where:
        """Return where a core is in the source; None means the focused core, its next address."""
        return where_of(self.program, core or self.core, address)

    def waits(self) -> tuple[Wait, ...]:
        """Return for each waiting core what it waits for."""
        return waits_of(self.device)

    def record(self, reason: str, message: str = "", **more: Any) -> StopRecord:
        """Return a record of the present; `more` are fields of `StopRecord`."""
        cycle, turn = self.device.position
        more.setdefault("where", self.where())
        return StopRecord(reason, cycle, turn, message, **more)

    def _finish(self, raw: Stop, done: int = 0, reason: str | None = None) -> StopRecord:
        """Return the record of a stop of the device after `done` steps; store it in `last_stop`."""
        if raw.reason in ("step", "cycle limit") or self.monitor.ends_step:
            self.monitor.check_next(self.device.cores.get(raw.core, self.core))
        more = {"done": done, **self._details(raw)}
        if "hits" in more:
            if raw.reason not in ENDS:
                reason = reason_of(more["hits"])
            self._delete_temporary(more["hits"])
        reasons = {"cycle limit": "limit"}.get(raw.reason, raw.reason)
        return self._stop(self.record(reason or reasons, raw.message, **more))

    def _details(self, raw: Stop) -> dict[str, Any]:
        """Return the fields of `StopRecord`, without the reason, that a stop determines."""
        core = self.device.cores.get(raw.core)
        where = self.where(core, raw.address) if core is not None else self.where()
        more: dict[str, Any] = {"where": where, "exit_code": raw.exit_code}
        if raw.fault is not None:
            fault = raw.fault
            more["fault"] = {"kind": fault.kind, "message": fault.message, "values": fault.values}
        if raw.reason == "deadlock":
            more["waits"] = self.waits()
        if self.monitor.hits:
            more["hits"] = tuple(self.monitor.hits)
        return more

    def _delete_temporary(self, hits: Iterable[Hit]) -> None:
        for hit in hits:
            point = self.points.all.get(hit.number)
            if point is not None and point.temporary:
                self.points.delete(hit.number)

    def _add_stop_position(self) -> None:
        """Remember the present as a position to which steps back may return."""
        self._stop_positions.add(self.device.position)

    def _stop(self, record: StopRecord) -> StopRecord:
        self._add_stop_position()
        if record.where is not None:
            self.monitor.show(self.device.cores[record.where.core])
        self.last_stop = record
        return record
