"""Runs the program as gdb requests, forward and back, and reports to gdb where it has stopped.

gdb expects that a watch stops before the access; gdb then executes the instruction to see the new
value. But the session stops after the access. So after a run forward, `Motion` goes back by one
step. After a run backward it does not, because gdb itself then goes back by one step.

The end of the program (exit, fault, deadlock) is reported as the end of gdb's replay log, so that
the user can still go back. While gdb steps over a breakpoint, such an answer would make gdb hang;
then the end is reported as a signal. Facts that a stop reply cannot contain are printed on gdb's
console.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.commands.text import answer_text, stop_lines
from macaw.debugger.gdb.packets import parse_number
from macaw.debugger.gdb.points import reason_of
from macaw.debugger.stops import ENDS, SessionError, StopRecord

if TYPE_CHECKING:
    from macaw.debugger.commands.answers import Answer
    from macaw.debugger.gdb.machine import Machine
    from macaw.debugger.gdb.points import GdbPoint, GdbPoints
    from macaw.debugger.session import Session
    from macaw.debugger.stops import Hit

ALL, ANY = -1, 0  # values that stand for all threads, or for any thread
ACTIONS = ("c", "C", "s", "S", "r")
TRAP, INTERRUPTED = 5, 2  # numbers of signals


class Action(NamedTuple):
    """One action of `vCont`: the kind of motion, and the thread that moves."""

    kind: str  # "c", "s", or "r" with a range of addresses
    thread: int
    begin: int = 0
    end: int = 0


def parse_actions(text: str) -> list[Action]:
    """Return the actions in a `vCont` packet such as `s:1;c` or `r10000,10010:1`.

    Raises `SessionError`.
    """
    actions = []
    for part in text.split(";"):
        what, _, thread = part.partition(":")
        if not what or what[0] not in ACTIONS:
            raise SessionError(f"there is no action {part[:20]!r}")
        begin, _, end = what[1:].partition(",") if what[0] == "r" else ("0", "", "0")
        number = parse_thread(thread) if thread else ALL
        actions.append(Action(what[0].lower(), number, parse_number(begin), parse_number(end)))
    return actions


def parse_thread(text: str) -> int:
    """Return the thread number in `text`: -1 means all threads, 0 any. Raises `SessionError`."""
    return ALL if text == "-1" else parse_number(text)


class Motion:
    """Does the runs that gdb requests.

    `say` prints text on gdb's console before the stop reply. `execute_point_commands` executes the
    commands of the points that caused a stop (`Interpreter.execute_point_commands`).
    """

    def __init__(
        self,
        session: Session,
        machine: Machine,
        points: GdbPoints,
        say: Callable[[str], object],
        execute_point_commands: Callable[[StopRecord], Sequence[Answer]],
    ) -> None:
        self.session = session
        self.execute_point_commands = execute_point_commands
        self.machine = machine
        self.points = points
        self.say = say
        self.thread = machine.stopped_thread()  # the thread of the last stop
        self._is_alone = False  # whether gdb runs only one thread, to step it over a breakpoint
        self.reply = self._reply(session.last_stop, None, is_back=False)

    # Runs; each method returns a stop reply

    def resume(self, actions: list[Action]) -> str:
        """Do the actions of `vCont`: step the thread that should step, or else let all threads run.

        Return the stop reply.
        """
        self._is_alone = all(action.thread not in (ALL, ANY) for action in actions)
        steps = [action for action in actions if action.kind != "c"]
        # For `stepi 10`, gdb goes on after the end of the program, which is printed once.
        is_over = self.session.last_stop.reason in ENDS and not self._is_alone
        if not steps:
            return self._after(self.session.cont(), is_over=is_over)
        action = steps[0]
        thread = self.thread if action.thread in (ALL, ANY) else action.thread
        with self.session.focused(self.machine.name(thread)):
            if action.kind == "r":
                stop = self.session.step_range(action.begin, action.end)
            else:
                stop = self.session.stepi(only=True)
        return self._after(stop, is_over=is_over)

    def go_back(self, thread: int, is_step: bool) -> str:
        """Go back by one instruction of a thread if `is_step`, else to the last stop at a point.

        Return the stop reply.
        """
        self._is_alone = False
        with self.session.focused(self.machine.name(thread)):
            stop = self.session.stepi_back() if is_step else self.session.cont_back()
        return self._after(stop, is_back=True)

    def restart(self) -> str:
        """Load the program again, without a run, and return the stop reply."""
        return self._after(self.session.restart_program())

    # Stops

    def _after(self, stop: StopRecord, is_back: bool = False, is_over: bool = False) -> str:
        found = self.points.point_hit(stop)
        text = "" if is_over and stop.reason in ENDS else self._words(stop, found)
        if self._execute_commands(stop, text):
            stop, text = self.session.last_stop, ""
            found = self.points.point_hit(stop)
        if found is not None and found[0].size and reason_of(found[0]).count("watch"):
            stop = self._before_access(stop, found[1]) if not is_back else stop
        self.thread = self._thread_of(stop)
        self.reply = self._reply(stop, None if found is None else found[0], is_back)
        if text:
            self.say(text)
        return self.reply

    def _execute_commands(self, stop: StopRecord, text: str) -> bool:
        """Execute the commands that the user has given, by `monitor`, to the points of a stop.

        Print `text`, which is about the stop, and the answers. Return whether there were answers.
        The commands may have run the program.
        """
        replies = self.execute_point_commands(stop)
        printed = [text.rstrip("\n"), *(answer_text(reply, "") for reply in replies)]
        if replies:
            self.say("".join(f"{one}\n" for one in printed if one))
        return bool(replies)

    def _before_access(self, stop: StopRecord, hit: Hit) -> StopRecord:
        """Go back to before the instruction whose access a watch has reported.

        Return the stop there.
        """
        if stop.reason in ENDS or self.machine.thread(hit.by) is None:
            return stop
        with self.session.focused(hit.by):
            before = self.session.stepi_back()
        return before if before.reason != "interrupt" else stop

    def _thread_of(self, stop: StopRecord) -> int:
        thread = None if stop.where is None else self.machine.thread(stop.where.core)
        is_there = thread in self.machine.threads()
        return thread if thread is not None and is_there else self.machine.stopped_thread()

    def _reply(self, stop: StopRecord, point: GdbPoint | None, is_back: bool) -> str:
        signal, reason = TRAP, ""
        if stop.reason in ENDS and not self._is_alone:
            reason = "replaylog:end;"
        elif is_back and stop.at_start and not stop.done:
            reason = "replaylog:begin;"
        elif stop.reason == "interrupt":
            signal = INTERRUPTED
        elif point is not None:
            reason = f"{reason_of(point)};"
        return f"T{signal:02x}thread:{self.thread:x};{reason}"

    def _words(self, stop: StopRecord, found: tuple[GdbPoint, Hit] | None) -> str:
        """Return a text about a stop for gdb's console; empty if the stop reply says everything.

        The text names an end of the program, points that `monitor` has set, and accesses by cores
        without a thread.
        """
        if stop.reason in ENDS:
            return "\n".join(stop_lines(stop)) + "\n"
        others = [hit for hit in stop.hits if not self.points.has(hit.number)]
        if others and found is None:
            return "\n".join(stop_lines(stop)) + "\n"
        if found is not None and self.machine.thread(found[1].by) is None and found[1].by:
            address = f"{found[0].address:#x}"
            return f"{found[1].by} has accessed {address} at cycle {stop.cycle:,}\n"
        return ""
