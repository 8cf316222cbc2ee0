"""A debugging session: a program on a device, forward and back; each call returns a record.

Calls come from one thread. `interrupt` may come from any, and stops a run within some
milliseconds. What a program writes is in `output`, and given to `on_output` as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.backwards import Interrupted, landings, last_hit
from macaw.debugger.expressions import Expression, compiled
from macaw.debugger.history import START, Edit, History, Position
from macaw.debugger.lines import Lines
from macaw.debugger.locations import locate, targets
from macaw.debugger.places import Place, compact, places
from macaw.debugger.points import Point, Points
from macaw.debugger.records import details, printed, waits_of, where_of
from macaw.debugger.runner import Runner
from macaw.debugger.stepping import (
    INSTRUCTION,
    PIECE,
    arrived,
    heard,
    heard_back,
    step_cores,
    stepped,
    workplaces,
)
from macaw.debugger.stops import ENDS, Hit, SessionError, Stopped, Wait, Where, reason_of
from macaw.debugger.watching import Watching
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.emu.core import Core
    from macaw.emu.faults import Stop

_STEPS_KEPT = 2000  # positions that steps back may return to


class Session:
    """One program with its inputs on one device.

    `device` is the machine as it is now (another object after some calls: ask again). `focus`
    are the places that steps and short names are about. `stopped` is the last record.
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
        """`inputs`: an array of the declared shape for each named input (or some).

        `on_output(stream, data)` gets what the program writes, `on_progress(what, cycle)` is
        called while a run goes on. Raises `DeviceError`.
        """
        self.program = program
        self.config = config
        self.inputs = dict(inputs or {})
        self.engine = engine
        self.on_output = on_output
        self.output: list[tuple[Position, str, bytes]] = []
        self.history = History()
        self.points = Points(self)
        self.watching = Watching(self)
        self.runner = Runner(self, on_progress)
        self.device = self._made(engine)
        self._landings: list[Position] = []  # where forward steps have stopped
        self._load()
        self.focus: tuple[Place, ...] = (Place(self.device.order[0].name),)
        self.stopped = self._stop(self.record("start"))
        self.recorded: object = None  # a run that was recorded for `why`, for the next question

    def _made(self, engine: str) -> Device:
        device = Device(self.config, engine=engine)
        device.load(self.program)
        device.stdout = lambda data: self._wrote("stdout", data)
        device.stderr = lambda data: self._wrote("stderr", data)
        return device

    def _load(self) -> None:
        self.device.load(self.program)
        for name, array in self.inputs.items():
            self.device.write_tensor(name, array)
        self.output.clear()
        self._landings.clear()
        self.watching.forget_arrivals()
        self.history.clear()
        self.history.take(self.device)

    def _wrote(self, stream: str, data: bytes) -> None:
        self.output.append((self.device.position, stream, data))
        if self.on_output is not None and not self.runner.replays:
            self.on_output(stream, data)

    def printed(self, point: Point, place: Place | None) -> None:
        """A dprintf is met: print what it says."""
        text = printed(self, point, place)
        self._wrote("dprintf", text.encode("utf-8", "replace") + b"\n")

    def choose_engine(self) -> None:
        """Let the device be of the engine that can tell all that is asked for."""
        wanted = ENGINES[-1] if self.watching.needs_reference() else self.engine
        if self.device.engine != wanted:
            other = self._made(wanted)
            other.restore(self.device.snapshot())
            self.watching.take_over(self.device, other)
            self.device = other

    # Forward

    def restart_program(self) -> Stopped:
        """Load the program again, with the same inputs; points stay."""
        self._load()
        return self._stop(self.record("start"))

    def run(self) -> Stopped:
        """Run the program from its begin."""
        self._load()
        return self.proceed()

    def proceed(self, until: Position | None = None) -> Stopped:
        """Go on until something stops the run (`continue`), or to a position."""
        return self._finish(self.runner.live(lambda: self.runner.forward(until)))

    def stepc(self, count: int = 1) -> Stopped:
        """Go on to the begin of the cycle so many cycles later."""
        self._check_count(count)
        goal = self.device.cycle + count
        raw = self.runner.live(lambda: self.runner.forward((goal, 0)))
        reason = "step" if raw.reason == "cycle limit" else None
        done = count if reason else self.device.cycle - goal + count
        return self._finish(raw, done, reason)

    def stepi(self, count: int = 1, only: bool = False, every: bool = False) -> Stopped:
        """Step instructions: until each focused core that runs has done so many more.

        With `only` the first of the focused cores alone counts, with `every` all that run.
        """
        self._check_count(count)
        units = [place for place in self.focus if place.units]
        if units and not every and not self.core.halts:
            return self._finish(*heard(self, units[:1] if only else units, INSTRUCTION, count))
        return self._finish(*step_cores(self, stepped(self, only, every), count))

    def stepx(self, count: int = 1) -> Stopped:
        """Step to the end of what is more than an instruction: an exe command, chain, transfer.

        Of the focused places, if their core works on such; else of any core.
        """
        self._check_count(count)
        return self._finish(*heard(self, workplaces(self), PIECE, count))

    def step(self, count: int = 1, over: bool = False) -> Stopped:
        """Step to other lines of the source of the first focused core; `over` calls (`next`)."""
        self._check_count(count)
        self._check_runs()
        for done in range(1, count + 1):
            raw, is_done = Lines(self, self.core).step(over)
            self._landed()
            if raw.reason != "step" or not self.core.running:
                return self._finish(raw, done if is_done else done - 1)
        return self._finish(raw, count)

    def finish(self) -> Stopped:
        """Run until the function of the first focused core returns."""
        self._check_runs()
        raw = Lines(self, self.core).finish()
        return self._finish(raw, reason="arrived" if raw.reason == "step" else None)

    def advance(self, location: str) -> Stopped:
        """Run until a core comes to a location (`until`): of the focus, if one may.

        Raises `LocationError`.
        """
        self.choose_engine()
        addresses = locate(self, location).addresses
        goals = [target for address in addresses for target in targets(self, address)]
        focused = {place.core for place in self.focus}
        mine = [target for target in goals if target.core.name in focused]
        raw = arrived(self, mine or goals)
        is_goal = raw.before and not self.watching.met
        return self._finish(raw, reason="arrived" if is_goal else None)

    def _check_runs(self) -> None:
        """Raise `SessionError` unless the first focused core runs, on the device to come."""
        self.choose_engine()
        if self.device.stopped is None and not self.core.running:
            raise SessionError(f"{self.core.name}: nothing runs there to be stepped")

    def _check_count(self, count: int) -> None:
        if count < 1:
            raise SessionError(f"{count} steps cannot be taken, 1 is the least")

    # Back

    def goto(self, cycle: int, turn: int = 0) -> Stopped:
        """Go to the begin of a cycle, before or behind the present; points are not looked at."""
        if cycle < 0:
            raise SessionError("the first cycle is 0")
        raw = self.runner.travel((cycle, turn))
        if raw is not None and raw.reason not in ("cycle limit", "step"):
            return self._finish(raw)
        at_start = self.device.position == START
        return self._stop(self.record("arrived", at_start=at_start))

    def stepc_back(self, count: int = 1) -> Stopped:
        """Go back so many cycles."""
        self._check_count(count)
        cycle, turn = now = self.device.position
        goal = self.landing((cycle - count, 0), (cycle - count + 1, 0))
        done = min(count, cycle + (turn > 0))
        return self._go_back(now, goal, done, lambda: cycle - self.device.cycle)

    def landing(self, low: Position, end: Position) -> Position:
        """The position from `low` on where a step forward has stopped before `end`, or `low`."""
        known = [place for place in self._landings if low <= place < end]
        return max(known, default=max(low, START))

    def stepi_back(self, count: int = 1) -> Stopped:
        """Go back so many instructions of the first focused core."""
        self._check_count(count)
        now, name, retired = self.device.position, self.core.name, self.core.retired
        units = [place for place in self.focus if place.units]
        if units and not self.core.halts:
            return self._heard_back(units, INSTRUCTION, count)
        if now == START:
            return self._go_back(now, START, 0)
        try:
            found = landings(self, name, count + 1, now, retired)
        except Interrupted as interrupted:
            return self._finish(interrupted.stop)
        goal, done = START, len(found)
        if len(found) >= count:
            ends = [*(item.position for item in found[1:]), now]
            at = len(found) - count
            goal, done = self.landing(found[at].position, ends[at]), count
        return self._go_back(now, goal, done, lambda: retired - self.device.cores[name].retired)

    def stepx_back(self, count: int = 1) -> Stopped:
        """Go back so many ends of what `stepx` steps to."""
        self._check_count(count)
        return self._heard_back(workplaces(self), PIECE, count)

    def _heard_back(self, where: Sequence[Place], kind: str, count: int) -> Stopped:
        now = self.device.position
        try:
            goal, found = heard_back(self, where, kind, count)
        except Interrupted as interrupted:
            return self._finish(interrupted.stop)
        return self._go_back(
            now, goal, len(found), lambda: sum(x >= self.device.position for x in found)
        )

    def step_back(self, count: int = 1, over: bool = False) -> Stopped:
        """Go back to where lines begin that the first focused core has done; `over` calls."""
        self._check_count(count)
        stopped, name = self.stopped, self.core.name
        for done in range(1, count + 1):
            now = self.device.position
            try:
                goal, retired = Lines(self, self.core).back(over)
            except Interrupted as interrupted:
                return self._finish(interrupted.stop)
            less = partial(self._lines_back, name, retired, done)
            stopped = self._go_back(now, goal, done, less)
            if stopped.at_start or stopped.reason != "step":
                break
        return stopped

    def _lines_back(self, name: str, retired: int, done: int) -> int:
        """The lines that are gone back where a core has come back to so many instructions."""
        return done if self.device.cores[name].retired == retired else done - 1

    def proceed_back(self) -> Stopped:
        """Go back to the last stop of a breakpoint, watch or event (`reverse-continue`)."""
        return self._go_back(self.device.position, START, 0)

    def _go_back(
        self, now: Position, goal: Position, done: int, less: Callable[[], int] = lambda: 0
    ) -> Stopped:
        """Go from `now` back to a goal, or to the last stop of a point on the way there.

        `done` steps are done at the goal, elsewhere as many as `less` says.
        """
        try:
            found = last_hit(self, now, goal) if self.points.stopping else None
        except Interrupted as interrupted:
            return self._finish(interrupted.stop)
        raw = self.runner.travel(goal if found is None else found.position)
        if raw is not None and raw.reason == "interrupt":
            return self._finish(raw)
        at_start = self.device.position == START
        if found is None:
            reason = "start" if at_start else "step"
            return self._stop(self.record(reason, done=done, at_start=at_start))
        core = self.device.cores.get(found.core)
        where = self.where() if core is None else self.where(core, found.address)
        stop = self.record(reason_of(found.hits), hits=found.hits, where=where, done=less())
        if core is not None and found.address is not None:
            self.watching.tell(core, found.address, [hit.number for hit in found.hits])
        self._drop_temporary(found.hits)
        return self._stop(stop)

    def checkpoint(self, number: int = 0) -> int:
        """Keep the present under a number, the next one if it is 0. Raises `SessionError`."""
        known = self.history.named(number) if number else None
        if known is not None and known.position != self.device.position:
            raise SessionError(f"checkpoint {number} is at cycle {known.position[0]:,}")
        return self.runner.checkpoint(name=number)

    def restart(self, number: int) -> Stopped:
        """Go to a checkpoint. Raises `SessionError`."""
        point = self.history.named(number)
        if point is None:
            raise SessionError(f"there is no checkpoint {number}")
        return self.goto(*point.position)

    # Values

    def expression(self, text: str) -> Expression:
        """An expression, compiled for the device and focus of now. Raises `ExpressionError`."""
        return compiled(self, text)

    def evaluate(self, text: str) -> Any:
        """The value of an expression: a number, or an array. Raises `ExpressionError`."""
        value = self.expression(text).value()
        return value.copy() if isinstance(value, np.ndarray) else value

    def set(self, text: str, value: Any) -> Any:
        """Set what an expression names to a value, or to that of an expression's text.

        The future that was known is forgotten. Returns what it is then. Raises `ExpressionError`.
        """
        target = self.expression(text)
        target.set(self.evaluate(value) if isinstance(value, str) else value)
        self.edited(f"set {text} = {value}" if isinstance(value, str | int) else "")
        return target.value()

    def edited(self, command: str = "") -> None:
        """Somebody has changed the state, by a command: from here on the run is another one."""
        position = self.device.position
        self.history.forget_after(position)
        self.runner.checkpoint(Edit(command, compact(self.device, self.focus)))
        self._landings = [place for place in self._landings if place < position]
        self._landed()

    # Other threads

    def interrupt(self) -> None:
        """Stop what runs, soon. May be called from any thread."""
        self.runner.interrupt()

    # Places

    def set_focus(self, text: str) -> tuple[Place, ...]:
        """Set the focus: `vc`, `pe[1,0].3`, `pe[*,0].*`. Raises `PlaceError`."""
        self.focus = places(self.device, text)
        self.watching.show(self.core)
        return self.focus

    @property
    def core(self) -> Core:
        """The first of the focused cores."""
        return self.device.cores[self.focus[0].core]

    # Records

    def where(self, core: Core | None = None, address: int | None = None) -> Where:
        """Where a core is (None: the focused one)."""
        return where_of(self.program, core or self.core, address)

    def waits(self) -> tuple[Wait, ...]:
        """What each core that waits waits for."""
        return waits_of(self.device)

    def record(self, reason: str, message: str = "", **more: Any) -> Stopped:
        """A record of the present."""
        cycle, turn = self.device.position
        more.setdefault("where", self.where())
        return Stopped(reason, cycle, turn, message, **more)

    def _finish(self, raw: Stop, done: int = 0, reason: str | None = None) -> Stopped:
        """The record of a stop of the device."""
        if raw.reason in ("step", "cycle limit") or self.watching.steps_done:
            self.watching.look(self.device.cores.get(raw.core, self.core))
        more = {"done": done, **details(self, raw)}
        if "hits" in more:
            if raw.reason not in ENDS:
                reason = reason_of(more["hits"])
            self._drop_temporary(more["hits"])
        named = {"cycle limit": "limit"}.get(raw.reason, raw.reason)
        return self._stop(self.record(reason or named, raw.message, **more))

    def _drop_temporary(self, hits: Iterable[Hit]) -> None:
        for hit in hits:
            point = self.points.all.get(hit.number)
            if point is not None and point.temporary:
                self.points.delete(hit.number)

    def _landed(self) -> None:
        """A step back may return to here."""
        position = self.device.position
        if position not in self._landings:
            self._landings.append(position)
            del self._landings[:-_STEPS_KEPT]

    def _stop(self, stopped: Stopped) -> Stopped:
        self._landed()
        if stopped.where is not None:
            self.watching.show(self.device.cores[stopped.where.core])
        self.stopped = stopped
        return stopped
