"""Answers the requests of an editor about a loaded program, with one function for each request.

A request for a run does not run the program itself, but stores the planned run in `run`. The
adapter does the run after it has sent the response.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.debugger.causes.record import CauseError
from macaw.debugger.commands.text import answer_text
from macaw.debugger.dap import memory, own_requests, sources
from macaw.debugger.dap.arguments import address, flag, record, records, text, texts, whole
from macaw.debugger.dap.breakpoints import (
    DATA,
    EVENTS,
    FUNCTIONS,
    INSTRUCTIONS,
    KINDS,
    Breakpoints,
    Spec,
    break_spec,
    ignore_of,
)
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.inspection import Inspection
from macaw.debugger.dap.stop_events import exception_body
from macaw.debugger.dap.threads import Threads
from macaw.debugger.dap.variables import VALUE, Container
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.heat_map import HeatMap
from macaw.debugger.places import Place, PlaceError, places
from macaw.debugger.point import Point, PointError
from macaw.debugger.stops import EditRecord, SessionError, StopRecord

if TYPE_CHECKING:
    from macaw.debugger.commands.interpreter import Interpreter
    from macaw.emu.core import Core

MOST_COMPLETIONS = 1000
Body = dict[str, Any]
Notify = Callable[[str, Mapping[str, Any]], object]


class Run(NamedTuple):
    """A run that a request has planned; if `can_resume`, it can continue after an interruption.

    `act` does the run. If `reason` is not empty, it replaces the stop's own reason in the `stopped`
    event. `is_printed` says whether the user already has the text of the stop.
    """

    act: Callable[[], StopRecord]
    can_resume: bool = False
    reason: str = ""
    is_printed: bool = False


class Target:
    """A loaded program, with the state of the editor's work on it.

    `run` is the run that the last request has planned, or None. `notify` sends an event to the
    editor.
    """

    def __init__(self, interpreter: Interpreter, breakpoints: Breakpoints, notify: Notify) -> None:
        self.interpreter = interpreter
        self.session = session = interpreter.session
        self.breakpoints = breakpoints
        self.notify = notify
        self.threads = Threads(session)
        self.inspection = Inspection(session)
        self.run: Run | None = None
        self.leaves = False  # whether a command has ended the debugger
        heat = HeatMap(session)
        self._moved: list[StopRecord | EditRecord] = []  # moves since the present request began
        self._focus_before = session.focus
        session.on_moved.append(self._moved.append)
        self.requests: Mapping[str, Callable[[Mapping[str, Any]], Body | None]] = {
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": self._set_function_breakpoints,
            "setInstructionBreakpoints": self._set_instruction_breakpoints,
            "setExceptionBreakpoints": self._set_exception_breakpoints,
            "dataBreakpointInfo": self._data_breakpoint_info,
            "setDataBreakpoints": self._set_data_breakpoints,
            "breakpointLocations": lambda x: sources.locations(session, x),
            "threads": lambda _: {"threads": self.threads.rows()},
            "stackTrace": self.threads.stack,
            "scopes": self._scopes,
            "variables": self._variables,
            "setVariable": self._set_variable,
            "setExpression": self._set_expression,
            "evaluate": self._evaluate,
            "completions": self._completions,
            "continue": self._continue,
            "next": lambda x: self._step(x, lambda: session.step(over=True), session.nexti),
            "stepIn": lambda x: self._step(x, session.step, lambda: session.stepi(only=True)),
            "stepOut": lambda x: self._step(x, session.finish, session.finish),
            "stepBack": lambda x: self._step(
                x, lambda: session.back(over=True), session.nexti_back
            ),
            "reverseContinue": self._reverse_continue,
            "gotoTargets": lambda x: sources.goto_targets(session, x),
            "goto": self._goto,
            "readMemory": lambda x: memory.read_memory(session, x),
            "writeMemory": self._write_memory,
            "disassemble": lambda x: memory.disassemble(session, x),
            "source": lambda x: sources.content(session, x),
            "loadedSources": lambda _: sources.all_sources(session),
            "exceptionInfo": self._exception_info,
            "macaw/queues": lambda x: own_requests.queues(session, self._place(x), x),
            "macaw/grid": lambda x: own_requests.grid(heat, x),
            "macaw/why": lambda x: own_requests.why(session, self._place(x), x),
        }

    def answer(self, command: str, arguments: Mapping[str, Any]) -> Body | None:
        """Return the body of the response to the request `command`. Raises `RequestError`."""
        self._moved.clear()
        self._focus_before = self.session.focus
        try:
            return self.requests[command](arguments)
        except (SessionError, ExpressionError, PlaceError, PointError, CauseError) as error:
            raise RequestError(str(error)) from None

    def forget(self) -> None:
        """Drop the numbers of frames and variables, which a run makes invalid."""
        self.threads.forget()
        self.inspection.references.forget()

    def has_changed(self) -> bool:
        """Return whether the last request has changed the focus or has edited the state."""
        is_edited = any(isinstance(item, EditRecord) for item in self._moved)
        return is_edited or self.session.focus != self._focus_before

    # Breakpoints

    def _set_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        wanted = records(arguments, "breakpoints") or [
            {"line": line} for line in arguments.get("lines") or ()
        ]
        path = text(record(arguments, "source"), "path", "")
        try:
            file = sources.file_of(self.session, arguments)
        except RequestError as error:
            specs = [Spec("break", str(whole(x, "line")), error=str(error)) for x in wanted]
            return {"breakpoints": self.breakpoints.replace(f"source:{path}", specs)}
        specs = [self._break(f"{file}:{whole(x, 'line')}", x) for x in wanted]
        return {"breakpoints": self.breakpoints.replace(f"source:{file}", specs)}

    def _break(self, location: str, wanted: Mapping[str, Any]) -> Spec:
        names = ("condition", "hitCondition", "logMessage")
        return break_spec(location, *(text(wanted, name, "") for name in names))

    def _set_function_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        wanted = records(arguments, "breakpoints")
        specs = [self._break(text(x, "name"), x) for x in wanted]
        return {"breakpoints": self.breakpoints.replace(FUNCTIONS, specs)}

    def _set_instruction_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        specs = []
        for wanted in records(arguments, "breakpoints"):
            place = address(wanted, "instructionReference") + whole(wanted, "offset", 0, -(1 << 32))
            specs.append(self._break(f"*{place:#x}", wanted))
        return {"breakpoints": self.breakpoints.replace(INSTRUCTIONS, specs)}

    def _set_exception_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        specs = [Spec("catch", name) for name in texts(arguments, "filters")]
        for wanted in records(arguments, "filterOptions"):
            specs.append(Spec("catch", text(wanted, "filterId"), text(wanted, "condition", "")))
        return {"breakpoints": self.breakpoints.replace(EVENTS, specs)}

    def _data_breakpoint_info(self, arguments: Mapping[str, Any]) -> Body:
        """Return the expression to watch, as `dataId`, and the possible kinds of access."""
        name = text(arguments, "name")
        if flag(arguments, "asAddress"):
            size = whole(arguments, "bytes", 4, 1, 1 << 16)
            name = f"mem[{address({'name': name}, 'name'):#x}].u8[0:{size}]"
            place = self.session.focus[0]
        elif arguments.get("variablesReference"):
            container = self._child(arguments)
            name, place = self.inspection.name(container), container.place
        else:
            place = self._place(arguments)
        errors = []
        accesses = []
        for access, kind in KINDS.items():
            try:
                self.session.check_point(Point(1, kind, name, focus=(place,)))
                accesses.append(access)
            except (PointError, ExpressionError) as error:
                errors.append(str(error))
        if not accesses:
            return {"dataId": None, "description": errors[0]}
        identity = f"{place}|{name}"
        return {
            "dataId": identity, "description": name, "accessTypes": accesses, "canPersist": True
        }  # fmt: skip

    def _set_data_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        specs = []
        for wanted in records(arguments, "breakpoints"):
            place, _, name = text(wanted, "dataId").partition("|")
            access = text(wanted, "accessType", "write")
            condition = text(wanted, "condition", "")
            try:
                if access not in KINDS:
                    raise RequestError(f"an accessType is {', '.join(KINDS)}, not {access[:40]}")
                places(self.session.device, place)
                ignore = ignore_of(text(wanted, "hitCondition", ""))
                specs.append(Spec(KINDS[access], name, condition, ignore, focus=place))
            except (RequestError, PlaceError) as error:
                specs.append(Spec("watch", name, condition, error=str(error)))
        return {"breakpoints": self.breakpoints.replace(DATA, specs)}

    # Values

    def _place(self, arguments: Mapping[str, Any]) -> Place:
        """Return the place at which an expression is evaluated.

        The place is in the core of the frame that the request names. If the request names no frame,
        the place is the focus.
        """
        if arguments.get("frameId") is None:
            return self.session.focus[0]
        return self.inspection.place(self._core_of_frame(arguments))

    def _core_of_frame(self, arguments: Mapping[str, Any]) -> Core:
        frame = self.threads.frame(whole(arguments, "frameId", most=1 << 53))
        return self.session.device.cores[frame.core]

    def _child(self, arguments: Mapping[str, Any]) -> Container:
        """Return the child that a request names in a container. Raises `RequestError`."""
        name = text(arguments, "name")
        container = self.inspection.references.get(whole(arguments, "variablesReference"))
        for item in self.inspection.items(container):
            if item.name == name:
                return item.container
        raise RequestError(f"there is no variable {name[:80]}")

    def _scopes(self, arguments: Mapping[str, Any]) -> Body:
        return {"scopes": self.inspection.scopes(self._core_of_frame(arguments))}

    def _variables(self, arguments: Mapping[str, Any]) -> Body:
        number = whole(arguments, "variablesReference")
        first, most = whole(arguments, "start", 0), whole(arguments, "count", 0)
        wanted = text(arguments, "filter", "")
        is_hexadecimal = self._is_hexadecimal(arguments)
        rows = self.inspection.children(number, first, most, wanted, is_hexadecimal)
        return {"variables": rows}

    def _is_hexadecimal(self, arguments: Mapping[str, Any]) -> bool:
        return flag(record(arguments, "format"), "hex")

    def _set_variable(self, arguments: Mapping[str, Any]) -> Body:
        value = text(arguments, "value")
        container = self._child(arguments)
        if container.kind != VALUE:
            raise RequestError("this value cannot be set")
        return self._assign(container, value, arguments)

    def _set_expression(self, arguments: Mapping[str, Any]) -> Body:
        expression, value = text(arguments, "expression"), text(arguments, "value")
        return self._assign(Container(VALUE, self._place(arguments), expression), value, arguments)

    def _assign(self, container: Container, value: str, arguments: Mapping[str, Any]) -> Body:
        name = self.inspection.name(container)
        self.inspection.assign(container.place, name, value)
        return self.inspection.record(container, self._is_hexadecimal(arguments))

    def _evaluate(self, arguments: Mapping[str, Any]) -> Body:
        line, context = text(arguments, "expression"), text(arguments, "context", "")
        if context == "repl":
            return self._execute(line, arguments)
        container = Container(VALUE, self._place(arguments), line)
        body = self.inspection.record(container, self._is_hexadecimal(arguments))
        if context == "clipboard":
            body["value"] = self.inspection.full_text(self.inspection.value(container))
        body["result"] = body.pop("value")
        return body

    def _execute(self, line: str, arguments: Mapping[str, Any]) -> Body:
        """Execute `line`, a command of the debugger.

        Raises `RequestError` if the command fails.
        """
        if arguments.get("frameId") is not None:
            self._focus(self._core_of_frame(arguments))
        answer = self.interpreter.execute(line)
        printed = answer_text(answer, line)
        self.leaves |= answer.leaves
        for row in self.breakpoints.drop_deleted():
            self.notify("breakpoint", {"reason": "removed", "breakpoint": row})
        stops = [item for item in self._moved if isinstance(item, StopRecord)]
        if stops:
            self.notify(
                "continued",
                {"threadId": self.threads.stopped_thread(), "allThreadsContinued": True},
            )
            self.run = Run(lambda: stops[-1], is_printed=True)
        if answer.kind == "error":
            raise RequestError(printed)
        return {"result": printed, "variablesReference": 0}

    def _completions(self, arguments: Mapping[str, Any]) -> Body:
        line = text(arguments, "text")
        before = line[: max(0, whole(arguments, "column") - 1)]
        length = 0 if not before or before[-1].isspace() else len(before.split()[-1])
        start = len(before) - length + 1  # columns are counted from 1
        words = self.interpreter.complete(before)[:MOST_COMPLETIONS]
        return {"targets": [{"label": x, "start": start, "length": length} for x in words]}

    # Runs

    def _focus(self, core: Core) -> None:
        """Set the focus to `core`, unless the focus already contains a place in `core`."""
        if all(place.core != core.name for place in self.session.focus):
            self.session.set_focus(core.name)

    def start(self, stop_on_entry: bool) -> None:
        """Plan the first run after the program was loaded.

        If `stop_on_entry` is true, this run executes nothing: it only reports to the editor that
        the program has stopped at its start.
        """
        if stop_on_entry:
            self.run = Run(lambda: self.session.last_stop, reason="entry")
        else:
            self.run = Run(self.session.cont, can_resume=True)

    def _continue(self, arguments: Mapping[str, Any]) -> Body:
        self.threads.core(arguments)
        self.run = Run(self.session.cont, can_resume=True)
        return {"allThreadsContinued": True}

    def _reverse_continue(self, arguments: Mapping[str, Any]) -> None:
        self.threads.core(arguments)
        self.run = Run(self.session.cont_back)

    def _step(
        self,
        arguments: Mapping[str, Any],
        line: Callable[[], StopRecord],
        instruction: Callable[[], StopRecord],
    ) -> None:
        """Plan a step of a thread; call `line` for a step by lines, else `instruction`.

        Raises `RequestError`.
        """
        core = self.threads.core(arguments)
        granularity = text(arguments, "granularity", "statement")
        if granularity not in ("statement", "line", "instruction"):
            raise RequestError(
                f"a granularity is statement, line or instruction, not {granularity[:40]}"
            )
        self._focus(core)
        self.run = Run(instruction if granularity == "instruction" else line)

    def _goto(self, arguments: Mapping[str, Any]) -> None:
        """Set the next instruction of a thread. Raises `RequestError`."""
        core = self.threads.core(arguments)
        place = whole(arguments, "targetId", most=(1 << 32) - 1)
        cores = {target.core.name for target in self.session.targets(place)}
        if core.name not in cores:
            raise RequestError(f"{core.name} executes nothing at {place:#010x}")
        self.session.write_register(core.name, "pc", 0, place)
        where = self.session.where(core)
        stop = self.session.record("arrived", where=where)
        self.run = Run(lambda: stop, reason="goto")

    def _exception_info(self, arguments: Mapping[str, Any]) -> Body:
        self.threads.core(arguments)
        stop = self.session.last_stop
        if stop.reason not in ("fault", "deadlock", "event"):
            raise RequestError(f"the program has not stopped by an exception, but by {stop.reason}")
        return exception_body(stop)

    # Memory

    def _write_memory(self, arguments: Mapping[str, Any]) -> Body:
        place, size = memory.write_memory(self.session, arguments)
        self.notify("memory", {"memoryReference": f"{place:#010x}", "offset": 0, "count": size})
        return {"bytesWritten": size}
