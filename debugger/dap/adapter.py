"""One connection to an editor: answers requests that need no program, loads the program, runs it.

The reading thread calls `_notice` with each request. A `pause` stops the present run at once, and
so does a request of `ENDINGS`. Any other request that comes during a run after `continue`
interrupts the run; the adapter answers the request and continues the run. If such a request comes
during a step, the adapter answers it after the step.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands.text import answer_text, stop_lines
from macaw.debugger.dap.arguments import flag, record, text
from macaw.debugger.dap.breakpoints import Breakpoints
from macaw.debugger.dap.capabilities import capabilities
from macaw.debugger.dap.connection import Connection, Request, RequestError
from macaw.debugger.dap.launch import Launch, read_launch
from macaw.debugger.dap.output import Output
from macaw.debugger.dap.progress import Progress
from macaw.debugger.dap.stop_events import stopped_body
from macaw.debugger.dap.target import Run, Target
from macaw.debugger.stops import SessionError
from macaw.isa.errors import MacawError

if TYPE_CHECKING:
    from macaw.debugger.commands.interpreter import Interpreter
    from macaw.debugger.stops import StopRecord

Say = Callable[[str], object]  # is called with lines about the program while it is loaded
Load = Callable[[Launch, Say], "Interpreter"]
RUNS = ("continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto")
MOVES = ("configurationDone", *RUNS, "restart", "evaluate")
ENDINGS = ("disconnect", "terminate", "restart")  # requests that first end the present run
CHANGES = ("setVariable", "setExpression", "writeMemory")
# reasons of stops for which one line is not enough
PRINTED = ("fault", "deadlock", "watch", "event", "exit")
FAILED = 1  # the exit code of a program that has not ended by itself


class Adapter:
    """The debugger's side of one connection."""

    def __init__(self, connection: Connection, load: Load) -> None:
        """Serve a connection; `load` is a function that loads a program."""
        self.connection = connection
        self.target: Target | None = None
        self._load = load
        self._launch: Launch | None = None
        self._breakpoints = Breakpoints()
        self._output = Output(connection.notify)
        self._progress = Progress(connection.notify)
        self._client: Mapping[str, Any] | None = None  # the arguments of `initialize`
        self._running_threads: set[str] = set()
        self._has_left = self._is_configured = self._has_run = False
        self._is_over = False  # whether the editor knows that the program has ended
        self._lock = threading.Lock()  # protects the next four attributes, which both threads use
        self._moves = 0  # number of requests of `MOVES` that are not completed
        self._can_resume = False  # whether the present run may be interrupted for other requests
        self._is_paused = False  # whether the user has stopped the present run
        self._is_noticed = False  # whether the present run was interrupted for other requests
        connection.on_request = self._notice
        connection.on_end = self._end_run
        self._requests: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any] | None]] = {
            "initialize": self._initialize,
            "launch": self._launch_program,
            "attach": self._attach,
            "configurationDone": self._configuration_done,
            "restart": self._restart,
            "pause": self._pause,
            "terminate": self._terminate,
            "disconnect": self._disconnect,
        }

    def serve(self) -> None:
        """Answer requests until the editor ends the connection."""
        self.connection.start()
        while not self._has_left and not self.connection.is_closed:
            request = self.connection.receive()
            if request is None:
                break
            self._handle(request)

    # In the reading thread

    def _notice(self, request: Request) -> bool:
        """Stop the present run if `request` demands it; return whether the request is answered."""
        with self._lock:
            command = request.command
            moving = self.target if self._moves else None
            if command in MOVES:
                self._moves += 1
            if moving is not None and command in ("pause", *ENDINGS):
                if command == "pause":
                    self.connection.respond(request)
                self._is_paused = True
                moving.session.interrupt()
                return command == "pause"
            if moving is not None and self._can_resume:
                self._is_noticed = True
                moving.session.interrupt()
            return False

    def _end_run(self) -> None:
        with self._lock:
            if self._moves > 0 and self.target is not None:
                self._is_paused = True
                self.target.session.interrupt()

    # In the thread that uses the session

    def _handle(self, request: Request) -> None:
        """Answer a request; if it is a request for a run, then do the run."""
        self._answer(request)
        target = self.target
        if target is not None and target.run is not None:
            with self._progress:
                self._run(target)
        if request.command in MOVES:
            with self._lock:
                self._moves -= 1
                self._is_paused = False
                if self.target is not None:
                    self.target.session.interrupts.take()

    def _answer(self, request: Request) -> None:
        try:
            if request.error:
                raise RequestError(request.error)
            body = self._answer_to(request.command, request.arguments)
        except RequestError as error:
            self.connection.refuse(request, str(error))
        except MemoryError:
            self.connection.refuse(request, "there is not enough memory for that")
        except Exception as error:  # an error of the debugger must not end the user's session
            message = f"internal error: {type(error).__name__}: {error}"
            print(f"macaw dap: {request.command}: {message}", file=sys.stderr)
            self.connection.refuse(request, message)
        else:
            self.connection.respond(request, body)
            self._after(request.command)

    def _answer_to(self, command: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if command != "initialize" and self._client is None:
            raise RequestError("the first request is initialize")
        if command in self._requests:
            return self._requests[command](arguments)
        target = self.target
        if target is None:
            raise RequestError(f"no program is loaded for {command[:80]}: launch comes first")
        if command not in target.requests:
            raise RequestError(f"there is no request '{command[:80]}'")
        if self._is_over and command in RUNS:
            raise RequestError("the program has ended: restart runs it again")
        return target.answer(command, arguments)

    def _after(self, command: str) -> None:
        """Send the events that follow the response to the request `command`."""
        target = self.target
        if command == "launch":
            self.connection.notify("initialized")
        if target is None or command not in (*CHANGES, "evaluate"):
            return
        if target.leaves:
            self._has_left = True
            self.connection.notify("terminated")
        elif target.has_changed() and self._supports("supportsInvalidatedEvent"):
            self.connection.notify("invalidated", {"areas": ["stacks", "variables"]})

    def _supports(self, name: str) -> bool:
        return self._client is not None and self._client.get(name) is True

    # Requests

    def _initialize(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._client is not None:
            raise RequestError("the adapter is initialized already")
        for name in ("linesStartAt1", "columnsStartAt1"):
            if not flag(arguments, name, True):
                raise RequestError(f"{name} must be true")
        if text(arguments, "pathFormat", "path") != "path":
            raise RequestError("pathFormat must be path")
        self._client = arguments
        return capabilities()

    def _launch_program(self, arguments: Mapping[str, Any]) -> None:
        if self.target is not None:
            raise RequestError("a program is loaded already")
        self._load_program(read_launch(arguments))

    def _attach(self, _arguments: Mapping[str, Any]) -> None:
        raise RequestError("there is no request 'attach': launch loads a program")

    def _load_program(self, launch: Launch) -> None:
        """Load the program that `launch` names, in place of the present one.

        Raises `RequestError`.
        """

        def say(line: str) -> None:
            self.connection.notify("output", {"category": "console", "output": f"{line}\n"})

        try:
            interpreter = self._load(launch, say)
        except MacawError as error:
            hint = f" ({error.hint})" if error.hint else ""
            raise RequestError(f"{error.message}{hint}") from None
        except OSError as error:
            raise RequestError(f"{error.filename or 'a file'}: {error.strerror}") from None
        target = Target(interpreter, self._breakpoints, self._notify)
        interpreter.session.on_output = self._output.write
        if self._supports("supportsProgressReporting"):
            interpreter.session.on_progress = self._progress.update
        self._breakpoints.is_off = launch.no_debug
        self._breakpoints.connect(interpreter.session)
        with self._lock:
            self.target, self._launch = target, launch
        self._running_threads = set(target.threads.names())

    def _notify(self, event: str, body: Mapping[str, Any]) -> None:
        if event != "memory" or self._supports("supportsMemoryEvent"):
            self.connection.notify(event, body)

    def _loaded(self) -> tuple[Target, Launch]:
        if self.target is None or self._launch is None:
            raise RequestError("no program is loaded: launch comes first")
        return self.target, self._launch

    def _configuration_done(self, _arguments: Mapping[str, Any]) -> None:
        target, launch = self._loaded()
        if self._is_configured:
            raise RequestError("the configuration is done already")
        self._is_configured = True
        if not self._has_run:  # an earlier request may have run the program
            target.start(launch.stop_on_entry and not launch.no_debug)

    def _restart(self, arguments: Mapping[str, Any]) -> None:
        """Load the program again, from its files as they are now, and run it."""
        _, launch = self._loaded()
        changed = record(arguments, "arguments")
        self._load_program(read_launch(changed) if changed.get("program") else launch)
        for point in self._breakpoints:
            row = self._breakpoints.record(point)
            self.connection.notify("breakpoint", {"reason": "changed", "breakpoint": row})
        target, launch = self._loaded()
        self._is_over = False
        # Without this event VS Code would still show the reason of the earlier stop.
        body = {"threadId": target.threads.stopped_thread(), "allThreadsContinued": True}
        self.connection.notify("continued", body)
        target.start(launch.stop_on_entry and not launch.no_debug)

    def _pause(self, _arguments: Mapping[str, Any]) -> None:
        self._loaded()  # no program runs: otherwise `_notice` answers

    def _terminate(self, _arguments: Mapping[str, Any]) -> None:
        self._loaded()
        self.connection.notify("terminated")

    def _disconnect(self, _arguments: Mapping[str, Any]) -> None:
        self._has_left = True

    # Runs

    def _run(self, target: Target) -> None:
        """Do the run for which the last request has asked; answer new requests during the run."""
        self._has_run = True
        while target.run is not None and not self._has_left:
            run, target.run = target.run, None
            with self._lock:
                self._can_resume, self._is_noticed = run.can_resume, False
                if run.can_resume and self.connection.has_request:
                    self._is_noticed = True
                    target.session.interrupt()
            try:
                stop = run.act()
                if not run.is_printed:
                    stop = self._follow(target, stop)
            except (SessionError, ValueError) as error:
                self._fail(target, str(error))
                return
            except Exception as error:  # an error of the debugger must not end the session
                print(f"macaw dap: {type(error).__name__}: {error}", file=sys.stderr)
                self._fail(target, f"internal error: {type(error).__name__}: {error}")
                return
            finally:
                with self._lock:
                    self._can_resume = False
                    is_noticed = self._is_noticed and not self._is_paused
                self._output.flush()
            if stop.reason == "interrupt" and is_noticed:
                self._answer_waiting(target, run)
            else:
                target.forget()
                if not self._has_left:
                    self._report(target, stop, run)
                return

    def _follow(self, target: Target, stop: StopRecord) -> StopRecord:
        """Print a stop, and execute the commands that the user has given to its points.

        Return the last stop; the commands may have run the program.
        """
        if stop.reason in PRINTED:
            category = "stderr" if stop.reason in ("fault", "deadlock") else "console"
            self._print("\n".join(stop_lines(stop)), category)
        if not stop.hits:
            return stop
        with self._lock:
            self._can_resume = False
        replies = target.interpreter.execute_point_commands(stop)
        for reply in replies:
            self._print(answer_text(reply, ""))
        if any(reply.leaves for reply in replies):
            self._has_left = True
            self.connection.notify("terminated")
        return target.session.last_stop

    def _print(self, text: str, category: str = "console") -> None:
        if text:
            self.connection.notify("output", {"category": category, "output": f"{text}\n"})

    def _answer_waiting(self, target: Target, run: Run) -> None:
        """Answer the requests that have come during `run`, then plan to continue this run."""
        target.session.interrupts.take()
        target.run = run
        while self.connection.has_request and not self._has_left:
            request = self.connection.receive()
            if request is None:
                self._has_left = True
                return
            self._answer(request)
            if request.command in MOVES:
                with self._lock:
                    self._moves -= 1
            if self.target is not target or target.run is not run:
                return

    def _fail(self, target: Target, message: str) -> None:
        """Tell the editor, with `message`, that a run was impossible and nothing has changed."""
        target.forget()
        self.connection.notify("output", {"category": "stderr", "output": f"{message}\n"})
        body = stopped_body(target.session.last_stop, target.threads.stopped_thread(), [], "pause")
        self.connection.notify("stopped", {**body, "description": message, "text": ""})

    def _report(self, target: Target, stop: StopRecord, run: Run) -> None:
        """Send the events that tell the editor of a stop after `run`."""
        self._report_threads(target)
        launch = self._launch
        is_fault = stop.reason in ("fault", "deadlock")
        if launch is not None and launch.no_debug and is_fault:
            self._end_program(FAILED)
        elif stop.reason == "exit" and not (launch is not None and launch.stop_on_exit):
            self._end_program(stop.exit_code or 0)
        else:
            hits = self._breakpoints.points_hit(stop)
            body = stopped_body(stop, target.threads.stopped_thread(), hits, run.reason)
            self._is_over = False
            self.connection.notify("stopped", body)

    def _end_program(self, code: int) -> None:
        if self._is_over:
            return
        self._is_over = True
        self.connection.notify("exited", {"exitCode": code})
        self.connection.notify("terminated")

    def _report_threads(self, target: Target) -> None:
        """Send an event for each thread that has started or ended."""
        now = set(target.threads.names())
        for reason, names in (
            ("started", now - self._running_threads), ("exited", self._running_threads - now),
        ):  # fmt: skip
            for name in sorted(names):
                body = {"reason": reason, "threadId": target.threads.number(name)}
                self.connection.notify("thread", body)
        self._running_threads = now
