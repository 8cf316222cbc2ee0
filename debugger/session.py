"""The debugging session: the public class through which every front end debugs a program.

Each call that moves the program returns a record of the stop. One thread makes all calls except
`interrupt`, which stops a run within some milliseconds. The program's output is in `output`; the
session calls `on_output` with each new piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.call_stack import call_stack
from macaw.debugger.causes.stalls import StallReport, why_stalled
from macaw.debugger.causes.why import Causes
from macaw.debugger.debuggee import Debuggee
from macaw.debugger.expressions import Expression, compile_expression
from macaw.debugger.frame import visible
from macaw.debugger.history import Checkpoint, Edit, Position
from macaw.debugger.interrupts import Interrupts
from macaw.debugger.layers import LayerState, TensorState, layer_states, tensor_states
from macaw.debugger.line_costs import LineCosts, line_costs
from macaw.debugger.locations import Location, Target, locate, targets
from macaw.debugger.motion import Motion
from macaw.debugger.places import Place, compact, places
from macaw.debugger.point import Point
from macaw.debugger.point_checks import check_point, point_targets
from macaw.debugger.raw_state import memory_commands, raw_register, register_commands
from macaw.debugger.source_code import SourceCode
from macaw.debugger.stops import EditRecord, SessionError, Wait, Where
from macaw.debugger.user_values import UserValues
from macaw.debugger.where import waits_of
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.debugger.causes.finder import Cause
    from macaw.emu.core import Core

_ACCESSES = {"write": "watch", "read": "rwatch", "access": "awatch"}  # kinds of watches


class Session(Motion):
    """One program with its inputs on one device, which a user debugs.

    `device` is the present device; a call may replace the object. `focus` has the places to which
    steps and short names refer. `points` are the breakpoints, watches and caught events.
    `last_stop` is the record of the last stop. The session calls each function in `on_moved` with
    each new record.
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

        `config` has the settings of the device. `inputs` has an array of the declared shape for all
        or some of the named inputs. `engine` is the name of the engine that runs unless a point
        needs the reference engine. The session calls `on_output(stream, data)` with the program's
        output. During a run, it calls `on_progress(what, cycle)` repeatedly; `what` is "running",
        "replaying" or "going back".
        """
        super().__init__(Debuggee(program, config, inputs or {}, engine, on_output))
        self.on_progress = on_progress
        self._causes = Causes(self._debuggee, self._history)

    def __repr__(self) -> str:
        files = ", ".join(PurePath(name).name for name in self.program.source_files)
        text = f"session of {files or 'a program'}: cycle {self.device.cycle:,}"
        where = self.last_stop.where
        text += f", {self.last_stop.reason}"
        if where is not None and where.file is not None:
            text += f", {where.core} at {PurePath(where.file).name}:{where.line}"
        return f"<{visible(text)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Raise `TypeError`, as Python does for objects that `pickle` and `copy` cannot copy."""
        raise TypeError("a session cannot be copied; session.device can")

    @property
    def program(self) -> Program:
        """The program that is debugged."""
        return self._debuggee.program

    @property
    def engine(self) -> str:
        """The name of the engine that runs unless a point needs the reference engine."""
        return self._debuggee.engine

    @property
    def output(self) -> list[tuple[Position, str, bytes]]:
        """The output of the program so far, as (position, stream, bytes) for each piece."""
        return self._debuggee.output.pieces

    @property
    def on_output(self) -> Callable[[str, bytes], object] | None:
        """The function that gets each piece of output, as (stream, bytes), or None."""
        return self._debuggee.output.on_write

    @on_output.setter
    def on_output(self, call: Callable[[str, bytes], object] | None) -> None:
        self._debuggee.output.on_write = call

    @property
    def on_progress(self) -> Callable[[str, int], object] | None:
        """The function to which a run repeatedly reports its progress, or None.

        It is called with a text, such as "running", and the present cycle.
        """
        return self._runner.on_progress

    @on_progress.setter
    def on_progress(self, call: Callable[[str, int], object] | None) -> None:
        self._runner.on_progress = call

    @property
    def on_moment(self) -> Callable[[], int] | None:
        """A function that the session calls between acts of cores, in runs and replays, or None.

        The function returns the first device cycle in which the session should call it again. It
        must not change the state of the device.
        """
        return self._runner.on_moment

    @on_moment.setter
    def on_moment(self, call: Callable[[], int] | None) -> None:
        self._runner.on_moment = call

    # Requests from other threads

    @property
    def interrupts(self) -> Interrupts:
        """The requests to stop the present run or command."""
        return self._debuggee.interrupts

    def share_interrupts(self, other: Session) -> None:
        """Use the interrupts of `other` from now on: a request stops whichever session runs."""
        self._debuggee.interrupts = other._debuggee.interrupts

    def interrupt(self) -> None:
        """Request that the present run stops soon. Any thread may call this."""
        self.interrupts.request()

    # Checkpoints

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """All checkpoints, the earliest first; the user's checkpoints have a number."""
        return tuple(self._history.points)

    @property
    def checkpoint_bytes(self) -> int:
        """The size of all checkpoints in bytes. Data that several checkpoints share count once."""
        return self._history.bytes

    # Points

    def break_(
        self,
        location: str,
        condition: str = "",
        *,
        at: str = "",
        ignore: int = 0,
        temporary: bool = False,
    ) -> Point:
        """Set a breakpoint: runs stop before the instruction at a location. Raises `PointError`.

        `location` is a line (`layer.s:12`), a symbol (`loop+8`) or an address (`*0x10000`).
        `condition` is an expression that must be true, `at` limits the stops to some places,
        `ignore` is the number of hits that do not stop. A `temporary` breakpoint stops once.
        """
        kind = "tbreak" if temporary else "break"
        return self.points.add(kind, location, condition=condition, place=at, ignore=ignore)

    def watch(
        self, text: str, access: str = "write", condition: str = "", *, by: str = ""
    ) -> Point:
        """Set a watch of the expression `text`. Raises `PointError`.

        With the `access` "write", runs stop after the value has changed; with "read", after it was
        read; with "access", after a read or a write. `condition` is an expression that must be true
        for a stop. `by` names places: accesses by other places do not count.
        """
        return self.points.add(self._watch_kind(access), text, condition=condition, by=by)

    def watch_range(self, address: int, size: int, access: str = "write") -> Point:
        """Set a watch of the `size` bytes at `address`. Raises `PointError` outside of memories.

        With the `access` "write", runs stop after the bytes have changed; with "read", after a
        read; with "access", after a read or a write.
        """
        text = f"mem[{address:#x}].u8[0:{size}]"
        if size in (1, 2, 4, 8):
            text = f"mem[{address:#x}].u{8 * size}"
        return self.points.add(self._watch_kind(access), text)

    def _watch_kind(self, access: str) -> str:
        if access not in _ACCESSES:
            raise SessionError(f"an access is {', '.join(_ACCESSES)}, not {access!r:.40}")
        return _ACCESSES[access]

    def catch(self, event: str, condition: str = "", *, at: str = "") -> Point:
        """Set a point that stops runs at an event (`queue-full`, `fault`, ...).

        `condition` is an expression that must be true. `at` names places: the event counts there
        and nowhere else; by default it counts everywhere. Raises `PointError`.
        """
        return self.points.add("catch", event, condition=condition, place=at)

    def check_point(self, point: Point) -> None:
        """Raise `PointError` unless all texts of a point have a meaning on the present device.

        A point is a breakpoint, watch or caught event; its texts are the location, condition, ...
        """
        check_point(self._debuggee, point)

    def point_targets(self, point: Point) -> list[Target]:
        """Return the cores and addresses at which a breakpoint stops."""
        return point_targets(self._debuggee, point)

    # Values

    def expression(self, text: str, focus: tuple[Place, ...] | None = None) -> Expression:
        """Compile an expression for the present device.

        Short names in the expression refer to `focus`, by default to the present focus. Raises
        `ExpressionError`.
        """
        return compile_expression(self._debuggee, text, focus)

    def read(self, text: str) -> Any:
        """Return the present value of an expression: a number or an array.

        Raises `ExpressionError`.
        """
        value = self.expression(text).value()
        return value.copy() if isinstance(value, np.ndarray) else value

    def set(self, text: str, value: Any) -> Any:
        """Assign a value to what the expression `text` denotes, and return the new value there.

        Raises `ExpressionError`. `value` is a number, an array, or the text of a second expression.
        The call drops the checkpoints after the present.
        """
        target = self.expression(text)
        target.set(self.read(value) if isinstance(value, str) else value)
        repeatable = isinstance(value, str | int | np.number)
        self.note_edit(*([f"set {text} = {value}"] if repeatable else []))
        return target.value()

    @property
    def user_values(self) -> UserValues:
        """The values that commands store: printed values and convenience variables."""
        return self._debuggee.user_values

    def note_edit(self, *commands: str) -> None:
        """Record that the user has changed the state, and drop the checkpoints after the present.

        `commands` are the commands with which a user can repeat the change; none if none can.
        """
        position = self.device.position
        focus = compact(self.device, self.focus)
        self._history.forget_after(position)
        self._debuggee.forget_layers_after(position)
        self._runner.checkpoint(tuple(Edit(command, focus) for command in commands or ("",)))
        self._stop_positions.drop_from(position)
        self._add_stop_position()
        self._tell(EditRecord(*position, tuple(commands)))

    def registers(self, place: str = "") -> dict[str, Any]:
        """Return the registers of a core or unit, by name, with the same values as in expressions.

        The default is the first focused place. A core that executes a program also has its `pc`,
        the address of its next instruction. Raises `ExpressionError` and `PlaceError`.
        """
        where = places(self.device, place)[0] if place else self.focus[0]
        core = self.device.cores[where.core]
        names = [aliases[0] for file in core.table.files for aliases in file.names]
        values = {name: self.read(f"{where}.{name}") for name in names}
        return values if core.next_address is None else {**values, "pc": core.next_address}

    def read_register(self, core: str, file: str, number: int) -> int | None:
        """Return the bits of a register of a core as an unsigned number, without side effects.

        `file` is the name of a register file of the core's table, "pc", or "csr". For "csr",
        `number` is the address of a control and status register. The result is None for a register
        without a value now: the pc of an idle core, or a register of a trace group that the core
        does not have. Raises `SessionError`.
        """
        return raw_register(self._core(core), file, number)

    def write_register(self, core: str, file: str, number: int, bits: int) -> None:
        """Set the bits of a register of a core. The call is an edit.

        The register is number `number` of the core's register file `file`, or the pc if `file` is
        "pc". Control and status registers cannot be set. Raises `SessionError` and
        `ExpressionError`.
        """
        owner = self._core(core)
        commands = register_commands(owner, file, number, bits)
        for name, value in commands.items():
            self.expression(name).set(value)
        self.note_edit(*(f"set {name} = {value}" for name, value in commands.items()))

    def _core(self, name: str) -> Core:
        if name not in self.device.cores:
            raise SessionError(f"no core is called '{name}', {', '.join(self.device.cores)} are")
        return self.device.cores[name]

    def read_memory(self, address: int, size: int) -> bytes:
        """Return `size` bytes of memory, without side effects and without simulated time.

        One memory must contain all these bytes; registers and windows of cores do not count as
        memory. Raises `SessionError`.
        """
        try:
            return self.device.memory.peek(address, size)
        except Fault as fault:
            raise SessionError(fault.message) from None

    def read_memory_part(self, address: int, most: int) -> bytes:
        """Return the `most` bytes at an address; fewer bytes if the memory ends before.

        Raises `SessionError` if there is no memory at the address.
        """
        low, high = 0, most  # `low` bytes can be read; more than `high` bytes cannot
        data = b""
        while low < high:
            middle = most if low == 0 and high == most else (low + high + 1) // 2
            try:
                data = self.read_memory(address, middle)
                low = middle
            except SessionError:
                high = middle - 1
        if not data and most:
            self.read_memory(address, 1)  # this raises the error
        return data

    def write_memory(self, address: int, data: bytes) -> None:
        """Replace the bytes at `address` by `data`. The call is an edit.

        Raises the errors of `read_memory`.
        """
        try:
            self.device.memory.poke(address, data)
        except Fault as fault:
            raise SessionError(fault.message) from None
        self.note_edit(*memory_commands(address, data))

    # Causes

    def why(self, text: str) -> list[Cause]:
        """Return the steps that made the value of an expression.

        `macaw.debugger.causes.cause_text.lines` writes them as text. Raises `CauseError` and
        `ExpressionError`.
        """
        return self._causes.why(text)

    @property
    def causes(self) -> Causes:
        """The search for causes, with the record of the run that `why` has made."""
        return self._causes

    def line_costs(self, max_cycles: int) -> LineCosts:
        """Run the program from reset on another device, and return the cycles of its lines.

        That run takes at most `max_cycles` cycles, does not change this session, and does not
        repeat the user's edits.
        """
        return line_costs(self._debuggee, max_cycles)

    def why_stalled(self, cores: Iterable[Core] = ()) -> StallReport:
        """Return the stall trees of `cores`; without `cores`, the trees of all cores that run."""
        return why_stalled(self._debuggee, self.last_stop, cores)

    # Places

    def set_focus(self, text: str) -> tuple[Place, ...]:
        """Set the focus to the places in `text`, such as `pe[1,0].3`. Raises `PlaceError`."""
        self._debuggee.focus = places(self.device, text)
        self._monitor.show(self.core)
        return self.focus

    @contextmanager
    def focused(self, text: str) -> Iterator[None]:
        """Set the focus to the places of `text` within the `with` block. Raises `PlaceError`."""
        before = self.focus
        self.set_focus(text)
        try:
            yield
        finally:
            self._debuggee.focus = before

    @property
    def threads(self) -> tuple[str, ...]:
        """The names of the cores that run now, in the order of their numbers."""
        return tuple(core.name for core in self.device.order if core.running)

    # Code

    def locate(self, text: str) -> Location:
        """Return the addresses that a location denotes. Raises `LocationError`."""
        return locate(self._debuggee, text)

    def targets(self, address: int) -> list[Target]:
        """Return (core, address) targets for the cores that may execute the code at an address."""
        return targets(self._debuggee, address)

    def source_code(self, core: Core) -> SourceCode:
        """Return the object that reads a core's code: instructions, lines, calls and returns."""
        return SourceCode(self._debuggee, core)

    def call_stack(self, core: Core | None = None) -> list[Where]:
        """Return where `core` is, then where each open call returns to, the innermost first.

        By default, `core` is the first focused core. The result is empty if the core is idle.
        """
        return call_stack(self._debuggee, core or self.core)

    def layers(self) -> list[LayerState]:
        """Return the present states of a compiled network's layers; empty for other programs."""
        return layer_states(self._debuggee)

    def model_tensors(self) -> list[TensorState]:
        """Return the present states of a compiled network's tensors; empty for other programs."""
        return tensor_states(self._debuggee)

    def waits(self) -> tuple[Wait, ...]:
        """Return the waits of all cores that wait now, one record for each core."""
        return waits_of(self.device)
