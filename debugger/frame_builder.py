"""Builds frames for the screen: the data of the visible panels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.both_runs import both_runs
from macaw.debugger.causes.stalls import rows
from macaw.debugger.code_part import code_part
from macaw.debugger.commands.displays import display_answers
from macaw.debugger.commands.introduction import introduction
from macaw.debugger.commands.operands import symbol_at
from macaw.debugger.commands.points import point_text
from macaw.debugger.commands.text import answer_text, counted, stop_lines, value_text
from macaw.debugger.counters import counter_units, read_counters
from macaw.debugger.frame import (
    OLD,
    Against,
    Code,
    Counter,
    Frame,
    Grid,
    MemoryRow,
    Output,
    OutputLine,
    Queue,
    Register,
    Stall,
    Timeline,
    Track,
    WatchRow,
    visible,
)
from macaw.debugger.heat_map import HeatMap
from macaw.debugger.moments import Moment, Moments
from macaw.debugger.places import Place, compact
from macaw.debugger.register_numbers import as_numbers
from macaw.debugger.state_paths import Members, count_items
from macaw.debugger.values import AccessError
from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.debugger.commands.answers import Answer
    from macaw.debugger.commands.interpreter import Interpreter
    from macaw.debugger.layout import Arrangement
    from macaw.emu.core import Core

LINES = 2000  # the greatest number of lines of output that the panel keeps
ROW = 16  # bytes in a row of memory
ROWS = 64
REGISTERS = 256
ELEMENTS = 64  # the greatest number of elements shown of a register that is an array
MOST_PLACES = 8  # the greatest number of places whose queues are shown


class FrameBuilder:
    """Builds frames from an interpreter, in the thread that executes the interpreter's commands."""

    def __init__(self, interpreter: Interpreter, arrangement: Arrangement) -> None:
        self.interpreter = interpreter
        self.arrangement = arrangement
        self.log: deque[OutputLine] = deque(maxlen=LINES)
        self.version = 0
        self._lines = 0  # the number of lines that the log ever had
        self._open_stream = ""  # the stream whose last line is not complete yet
        self._command = -1  # number of the last line with a command
        self._answer = 0  # number of the first line of the last answer
        self._stops = 0
        self._changes: dict[
            Hashable, tuple[Any, int, int]
            # value, number of the stop at which it changed, number of the stop at which it was last
            # read
        ] = {}
        self._past = Moments()
        self._before: dict[str, dict[str, int]] = {}
        self._now: dict[str, dict[str, int]] = {}
        self._heat = HeatMap(interpreter.session)
        interpreter.session.on_moment = self._note_states
        lines = introduction(interpreter.session)
        self.add_text("answer", [self._short(line) for line in lines])

    # The output panel

    def add_output(self, stream: str, data: bytes) -> None:
        """Add a piece of the program's output to the output panel.

        If the last line of the panel is an incomplete line of the same stream, the piece continues
        this line.
        """
        text = data.decode("utf-8", "replace")
        lines = text.splitlines()
        if lines and self._open_stream == stream and self.log and self.log[-1].kind == stream:
            self.log[-1] = OutputLine(stream, self.log[-1].text + visible(lines.pop(0)))
        self._add(stream, lines)
        self._open_stream = "" if text.endswith("\n") else stream

    def add_command(self, line: str) -> None:
        """Add a command to the output panel, before it is executed."""
        self._command = self._lines
        self._add("command", [line])
        self._answer = self._lines

    def add_answer(self, line: str, answer: Answer) -> None:
        """Add the answer to a command to the output panel."""
        kind = "error" if answer.kind == "error" else "answer"
        self.add_text(kind, [self._short(text) for text in answer_text(answer, line).splitlines()])

    def add_text(self, kind: str, lines: Sequence[str]) -> None:
        """Add lines of the kind `kind` to the output panel, which shows them from the first one.

        The panel keeps at most the first `LINES` lines.
        """
        is_next = self._command == self._lines - 1  # the command has no output or answer
        self._answer = self._command if is_next else self._lines
        more = len(lines) - LINES + 2
        if more > 0:
            lines = [*lines[: LINES - 2], f"... {more:,} more lines are not shown"]
        self._add(kind, lines)

    def _add(self, kind: str, lines: Iterable[str]) -> None:
        """Add lines of the kind `kind` at the end of the log of the output panel."""
        for line in lines:
            self.log.append(OutputLine(kind, visible(line)))
            self._lines += 1

    def _short(self, text: str) -> str:
        """Return `text` with the names of source files shortened: without their folders."""
        for path in self.interpreter.session.program.source_files:
            text = text.replace(f"{path}:", f"{PurePath(path).name}:")
        return text

    # Moments

    def note_moment(self) -> None:
        """Record the present levels of queues and states of cores, for sparklines and timeline.

        First drop the records of this cycle and of later cycles.
        """
        device = self.interpreter.session.device
        self._past.drop_from(device.cycle)
        levels = {(str(place), name): level for place, name, level, _, _ in self._levels()}
        self._past.add(Moment(device.cycle, self._states(), levels))

    def _states(self) -> dict[str, str]:
        return {core.name: _state(core) for core in self.interpreter.session.device.order}

    def _note_states(self) -> int:
        """Record the present states of cores, while a run or replay goes on.

        Return the cycle at which the next record is due.
        """
        cycle = self.interpreter.session.device.cycle
        self._past.add(Moment(cycle, self._states(), {}))
        return cycle + self._past.apart

    def note_stop(self) -> None:
        """React to a stop, for which the next frames are built.

        In these frames, the age of a value is the number of stops from its change to this stop.
        The change of a counter is its growth from the previous stop to this stop.
        """
        self._stops += 1
        self._before, self._now = self._now, read_counters(self.interpreter.session.device)
        self.note_moment()

    def frame(self, panels: Iterable[str]) -> Frame:
        """Return a frame of the present state, with the parts of these panels."""
        session = self.interpreter.session
        self.version += 1
        lines = [line.strip() for line in stop_lines(session.last_stop)]
        parts = {panel: _PARTS[panel](self) for panel in panels if panel in _PARTS}
        return Frame(
            self.version,
            visible(self._short(" | ".join(lines))),
            session.last_stop.reason,
            session.device.cycle,
            compact(session.device, session.focus),
            MappingProxyType(parts),
        )

    def update(self, frame: Frame, panels: Iterable[str]) -> Frame:
        """Return a copy of `frame` with new data for some `panels`, while the program runs.

        The copy has the present cycle. All other panels keep their data from `frame`.
        """
        self.version += 1
        parts = {x: _PARTS[x](self) for x in panels if x in frame.parts}
        cycle = self.interpreter.session.device.cycle
        return replace(frame, version=self.version, cycle=cycle,
                       parts=MappingProxyType({**frame.parts, **parts}))  # fmt: skip

    def age(self, key: Hashable, value: Any) -> int:
        """Return how many stops ago the value of the item `key` has changed, at most `OLD`.

        `value` is the present value. The method knows when the value has changed only if it was
        called for this item at each stop. So the result is `OLD` at the first call for an item. It
        is also `OLD` if the value differs from that of the last call, and the method was not called
        at the previous stop.
        """
        last = self._changes.get(key)
        since = self._stops - OLD
        if last is not None and last[0] == value:
            since = last[1]
        elif last is not None and last[2] >= self._stops - 1:
            # the value was read at the last stop, so the change is new; otherwise it may be older
            since = self._stops
        self._changes[key] = value, since, self._stops
        return min(OLD, self._stops - since)

    # Parts

    def code(self) -> Code:
        """Return the instructions around the next one of the focused core, with source lines."""
        return code_part(self.interpreter.session, self.interpreter.context.costs)

    def registers(self) -> tuple[Register, ...]:
        """Return the registers with a value at the first focused place, at most `REGISTERS`.

        A register with several names appears under the first name. If the core declares the type of
        the numbers in a register of bytes, the result has these numbers.
        """
        session = self.interpreter.session
        place = session.focus[0]
        members = Members(session.device, place)
        registers: list[Register] = []
        for file in members.table.files:
            for names in file.names:
                if len(registers) >= REGISTERS:
                    break
                try:
                    value = members.find((names[0],)).read()
                except AccessError:
                    continue
                for name, part in as_numbers(members, names[0], value):
                    text = _value(part, file.width)
                    registers.append(Register(name, text, self.age((str(place), name), text)))
        return tuple(registers)

    def _levels(self) -> list[tuple[Place, str, int, int, str]]:
        session = self.interpreter.session
        levels: list[tuple[Place, str, int, int, str]] = []
        chosen = list(session.focus[:MOST_PLACES])
        if not any(session.device.cores[place.core].table.queues for place in chosen):
            chosen = [Place(core.name) for core in session.device.order if not core.table.levels]
        for place in chosen:
            members = Members(session.device, place)
            for queue in members.table.queues:
                level = count_items(members.find((queue.name, "level")).read())
                capacity = int(members.find((queue.name, "capacity")).read())
                levels.append((place, queue.name, level, capacity, queue.high))
        return levels

    def queues(self) -> tuple[Queue, ...]:
        """Return the queues of the first `MOST_PLACES` focused places.

        If the cores of these places have no queues, return the queues of every core that is not
        divided into units.
        """
        session = self.interpreter.session
        rows = self._levels()
        several = {place for place, *_ in rows} != {session.focus[0]}
        queues = []
        for place, name, level, capacity, high in rows:
            key = str(place), name
            past = tuple(x.levels[key] for x in self._past if key in x.levels)
            mark = None
            if high:
                mark = count_items(Members(session.device, place).find((high,)).read())
            label = f"{place}.{name}" if several else name
            queues.append(
                Queue(label, level, capacity, mark, past, self.age(("queue", *key), level))
            )
        return tuple(queues)

    def output(self) -> Output:
        """Return the last `LINES` lines of the output panel."""
        first = max(0, self._answer - (self._lines - len(self.log)))
        return Output(tuple(self.log), first, self.arrangement.pages)

    def memory(self) -> tuple[MemoryRow, ...]:
        """Return rows of memory, beginning with the last bytes that the command `x` has shown.

        Before the first `x`, the rows begin at the program's first output tensor or, without
        tensors, at its first section. They end where the memory ends.
        """
        session = self.interpreter.session
        session.device.sync()
        begin = self._memory_start() // ROW * ROW
        memory_rows = []
        for address in range(begin, begin + ROWS * ROW, ROW):
            try:
                data: tuple[int | None, ...] = tuple(session.device.memory.peek(address, ROW))
            except Fault:
                break
            ages = tuple(self.age(("memory", address + at), x) for at, x in enumerate(data))
            memory_rows.append(MemoryRow(address, symbol_at(session, address), data, ages))
        return tuple(memory_rows)

    def _memory_start(self) -> int:
        program = self.interpreter.session.program
        cursor = self.interpreter.context.cursor.next
        if cursor is not None:
            return max(0, cursor - ROW)
        tensors = [*program.outputs, *program.tensors]
        sections = [x.address for x in program.sections if x.size]
        return tensors[0].address if tensors else min(sections, default=0)

    def grid(self) -> Grid:
        """Return the values of one expression in all units of a kind.

        The command `heat` chooses the expression; by default, it is the first counter of the units.
        """
        return self._heat.grid(self.arrangement.heat)

    def counters(self) -> tuple[Counter, ...]:
        """Return the counters that are not 0, including the counters of the trace.

        The counters of the focused cores come first.
        """
        session = self.interpreter.session
        focus_cores = {place.core for place in session.focus}
        counter_rows = []
        counters = read_counters(session.device)
        for core in session.device.order:
            units = counter_units(core)
            before = self._before.get(core.name, {})
            for name, value in counters[core.name].items():
                if value:
                    change = value - before.get(name, 0)
                    counter_rows.append(
                        Counter(core.name, name, value, change, units.get(name, ""))
                    )
        return tuple(sorted(counter_rows, key=lambda row: row.core not in focus_cores))

    def stalls(self) -> tuple[Stall, ...]:
        """Return the rows of the stall trees.

        If a wait never ends, rows follow with sentences about the causes (`StallReport.causes`).
        """
        session = self.interpreter.session
        stall_rows = rows(session.why_stalled(), session.device.cycle)
        return tuple(
            Stall(who, visible(text), deep, never) for who, text, deep, never in stall_rows
        )

    def timeline(self) -> Timeline:
        """Return the past states of the cores that were not always idle."""
        tracks = []
        for core in self.interpreter.session.device.order:
            past = tuple(x.states.get(core.name, "idle") for x in self._past)
            if any(state != "idle" for state in past):
                tracks.append(Track(core.name, past))
        return Timeline(tuple(x.cycle for x in self._past), tuple(tracks))

    def watches(self) -> tuple[WatchRow, ...]:
        """Return the displays with their values, followed by the points."""
        watch_rows = []
        for answer in display_answers(self.interpreter.context):
            for number, text, value in answer.rows:
                value_line = visible(value_text(value))
                age = self.age(("display", number), value_line)
                watch_rows.append(WatchRow(f"display {number}", text, value_line, age))
        for point in self.interpreter.session.points:
            state = counted(point.hits, "hit") if point.enabled else "off"
            age = self.age(("point", point.number), point.hits)
            watch_rows.append(
                WatchRow(f"{point.kind} {point.number}", point_text(point), state, age)
            )
        return tuple(watch_rows)

    def against(self) -> Against:
        """Return the positions of both runs, and the registers and queues in which they differ."""
        context = self.interpreter.context
        return both_runs(context.session, context.other)


_PARTS: Mapping[str, Callable[[FrameBuilder], Any]] = {
    "code": FrameBuilder.code,
    "registers": FrameBuilder.registers,
    "queues": FrameBuilder.queues,
    "output": FrameBuilder.output,
    "memory": FrameBuilder.memory,
    "grid": FrameBuilder.grid,
    "counters": FrameBuilder.counters,
    "stalls": FrameBuilder.stalls,
    "timeline": FrameBuilder.timeline,
    "watches": FrameBuilder.watches,
    "against": FrameBuilder.against,
}


def _state(core: Core) -> str:
    if not core.running:
        return "idle"
    return "wait" if core.waiting is not None else "run"


def _value(value: Any, width: int) -> str:
    """Return a register's value as text; a whole number of `width` bits is in hexadecimal."""
    if isinstance(value, np.ndarray):
        if value.dtype == np.uint8:
            return value.tobytes().hex()
        numbers = value.reshape(-1)
        shown = numbers[:ELEMENTS] if value.dtype.kind == "f" else numbers[:ELEMENTS].tolist()
        more = f" ... {numbers.size - ELEMENTS} more" if numbers.size > ELEMENTS else ""
        return (
            " ".join(str(x) if isinstance(x, np.floating) else value_text(x) for x in shown) + more
        )
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool) and 0 < width <= 64:
        return f"{value & (1 << width) - 1:0{-(-width // 4)}x}"
    return visible(value_text(value))
