"""Makes frames: looks at the session in the thread that runs it, computes what is visible alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.causes.stalls import rows, why_stalled
from macaw.debugger.commands.code import around, source_lines, standing
from macaw.debugger.commands.displays import display_answers
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.operands import symbol_at
from macaw.debugger.commands.points import point_text
from macaw.debugger.commands.text import shown, stop_lines, value_text
from macaw.debugger.counter_values import counted, units_of
from macaw.debugger.frame import (
    OLD,
    Code,
    CodeRow,
    Counter,
    Frame,
    Grid,
    MemoryRow,
    Queue,
    Register,
    Stall,
    Timeline,
    Track,
    Watched,
    Written,
    visible,
)
from macaw.debugger.heat import Heat
from macaw.debugger.places import Place, compact
from macaw.debugger.point_checks import point_targets
from macaw.debugger.state_paths import Members, count_items
from macaw.debugger.values import AccessError
from macaw.emu.copies import original
from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.debugger.commands.answers import Answer
    from macaw.debugger.commands.interpreter import Interpreter
    from macaw.debugger.layout import Arrangement
    from macaw.emu.core import Core

LINES = 2000  # of output that are kept
MOMENTS = 400  # of the past
BEFORE, BEHIND = 40, 80  # instructions around the present one
ROW = 16  # bytes to a row of memory
ROWS = 64
REGISTERS = 256
MOST_PLACES = 8  # whose queues are shown


class Gatherer:
    """Frames of one interpreter. Calls come from the thread that executes its commands."""

    def __init__(self, interpreter: Interpreter, arrangement: Arrangement) -> None:
        self.interpreter = interpreter
        self.arrangement = arrangement
        self.log: deque[Written] = deque(maxlen=LINES)
        self.version = 0
        self._stops = 0
        self._changes: dict[Hashable, tuple[Any, int, int]] = {}  # value, stops: changed it, saw it
        self._past: deque[tuple[int, Mapping[Any, int], Mapping[str, str]]] = deque(maxlen=MOMENTS)
        self._before: dict[str, dict[str, int]] = {}
        self._now: dict[str, dict[str, int]] = {}
        self._heat = Heat(interpreter.session)

    # The output panel

    def wrote(self, stream: str, data: bytes) -> None:
        """The program has written something."""
        for line in data.decode("utf-8", "replace").splitlines():
            self.log.append(Written(stream, visible(line)))

    def asked(self, line: str) -> None:
        """A command begins."""
        self.log.append(Written("command", visible(line)))

    def answered(self, line: str, answer: Answer) -> None:
        """A command was done."""
        kind = "error" if answer.kind == "error" else "answer"
        for text in shown(answer, line).splitlines():
            self.log.append(Written(kind, visible(self._short(text))))

    def _short(self, text: str) -> str:
        """A text with the names of sources without their folders."""
        for path in self.interpreter.session.program.source_files:
            text = text.replace(f"{path}:", f"{PurePath(path).name}:")
        return text

    # Moments

    def moment(self) -> None:
        """Note the present for sparklines and the timeline; what lies behind it is forgotten."""
        session = self.interpreter.session
        cycle = session.device.cycle
        while self._past and self._past[-1][0] >= cycle:
            self._past.pop()
        states = {core.name: _state(core) for core in session.device.order}
        levels = {(str(place), name): level for place, name, level, _, _ in self._levels()}
        self._past.append((cycle, levels, states))

    def stopped(self) -> None:
        """The program has run and stands again: changes are counted from here."""
        self._stops += 1
        self._before, self._now = self._now, counted(self.interpreter.session.device)
        self.moment()

    def frame(self, panels: Iterable[str]) -> Frame:
        """The present, with the parts of these panels."""
        session = self.interpreter.session
        self.version += 1
        lines = [line.strip() for line in stop_lines(session.stopped)]
        parts = {panel: _PARTS[panel](self) for panel in panels if panel in _PARTS}
        return Frame(
            self.version,
            visible(self._short(" | ".join(lines))),
            session.stopped.reason,
            session.device.cycle,
            compact(session.device, session.focus),
            MappingProxyType(parts),
        )

    def moved(self, frame: Frame, panels: Iterable[str]) -> Frame:
        """A frame of a run that goes on: of these panels as they are now, the rest as it was."""
        self.version += 1
        parts = {x: _PARTS[x](self) for x in panels if x in frame.parts}
        cycle = self.interpreter.session.device.cycle
        return replace(frame, version=self.version, cycle=cycle,
                       parts=MappingProxyType({**frame.parts, **parts}))  # fmt: skip

    def age(self, key: Hashable, value: Any) -> int:
        """How many stops ago the value of a key has changed."""
        known = self._changes.get(key)
        since = self._stops - OLD
        if known is not None and known[0] == value:
            since = known[1]
        elif known is not None and known[2] >= self._stops - 1:
            since = self._stops  # who was not looked at meanwhile may have changed long ago
        self._changes[key] = value, since, self._stops
        return min(OLD, self._stops - since)

    # Parts

    def code(self) -> Code:
        """Instructions around the focused core, each line of source before its first one."""
        session = self.interpreter.session
        place = session.core.next_address
        stood = session.stopped.where
        if not session.core.running:
            place = stood.address if stood is not None and stood.core == session.core.name else None
        if place is None:
            return Code(message=f"{session.core.name} is idle: it stands at no instruction")
        place = original(session.program, session.core, place)
        try:
            rows = around(session, place, BEFORE, BEHIND)
        except (CommandError, Fault) as error:
            return Code(message=str(error))
        points: dict[int, str] = {}
        for point in session.points:
            for target in point_targets(session.debuggee, point):
                at = original(session.program, target.core, target.address)
                points[at] = "on" if point.enabled else "off"
        marks = {at: compact(session.device, places) for at, places in standing(session).items()}
        found: list[CodeRow] = []
        line = None
        for row in rows:
            if row.line is not None and row.line != line:
                line = row.line
                name = f"{PurePath(line[0]).name}:{line[1]}"
                found.append(CodeRow(_source(*line), where=name))
            current = row.address <= place < max(row.next, row.address + 1)
            mark = marks.get(row.address, "")
            found.append(
                CodeRow(
                    visible(row.text),
                    row.address,
                    symbol_at(session, row.address),
                    mark,
                    points.get(row.address, ""),
                    current,
                )
            )
        return Code(tuple(found))

    def registers(self) -> tuple[Register, ...]:
        """Registers of the first focused place, by their most usual name."""
        session = self.interpreter.session
        place = session.focus[0]
        members = Members(session.device, place)
        found: list[Register] = []
        for file in members.table.files:
            for names in file.names:
                if len(found) >= REGISTERS:
                    break
                try:
                    text = _value(members.find((names[0],)).read(), file.width)
                except AccessError:
                    continue
                found.append(Register(names[0], text, self.age((str(place), names[0]), text)))
        return tuple(found)

    def _levels(self) -> list[tuple[Place, str, int, int, str]]:
        session = self.interpreter.session
        found: list[tuple[Place, str, int, int, str]] = []
        chosen = list(session.focus[:MOST_PLACES])
        if not any(session.device.cores[place.core].table.queues for place in chosen):
            chosen = [Place(core.name) for core in session.device.order if not core.table.levels]
        for place in chosen:
            members = Members(session.device, place)
            for queue in members.table.queues:
                if queue.held:
                    level = count_items(members.find((queue.name, "level")).read())
                    capacity = int(members.find((queue.name, "capacity")).read())
                    found.append((place, queue.name, level, capacity, queue.high))
        return found

    def queues(self) -> tuple[Queue, ...]:
        """Queues of the focused places."""
        session = self.interpreter.session
        rows = self._levels()
        several = {place for place, *_ in rows} != {session.focus[0]}
        found = []
        for place, name, level, capacity, high in rows:
            key = str(place), name
            past = tuple(levels[key] for _, levels, _ in self._past if key in levels)
            mark = None
            if high:
                mark = count_items(Members(session.device, place).find((high,)).read())
            label = f"{place}.{name}" if several else name
            found.append(
                Queue(label, level, capacity, mark, past, self.age(("queue", *key), level))
            )
        return tuple(found)

    def output(self) -> tuple[Written, ...]:
        """The last lines."""
        return tuple(self.log)

    def memory(self) -> tuple[MemoryRow, ...]:
        """Bytes from the place on that `x` has looked at last, else of the first output."""
        session = self.interpreter.session
        session.device.sync()
        begin = self._looked() // ROW * ROW
        found = []
        for address in range(begin, begin + ROWS * ROW, ROW):
            try:
                data: tuple[int | None, ...] = tuple(session.device.memory.peek(address, ROW))
            except Fault:
                break
            ages = tuple(self.age(("memory", address + at), x) for at, x in enumerate(data))
            found.append(MemoryRow(address, symbol_at(session, address), data, ages))
        return tuple(found)

    def _looked(self) -> int:
        program = self.interpreter.session.program
        looked = self.interpreter.context.cursor.next
        if looked is not None:
            return max(0, looked - ROW)
        tensors = [*program.outputs, *program.tensors]
        sections = [x.address for x in program.sections if x.size]
        return tensors[0].address if tensors else min(sections, default=0)

    def grid(self) -> Grid:
        """The value of the heat expression of each unit."""
        return self._heat.grid(self.arrangement.heat)

    def counters(self) -> tuple[Counter, ...]:
        """Counters and groups of the trace that are not 0, of the focused cores first."""
        session = self.interpreter.session
        focused = {place.core for place in session.focus}
        found = []
        counters = counted(session.device)
        for core in session.device.order:
            units = units_of(core)
            before = self._before.get(core.name, {})
            for name, value in counters[core.name].items():
                if value:
                    change = value - before.get(name, 0)
                    found.append(Counter(core.name, name, value, change, units.get(name, "")))
        return tuple(sorted(found, key=lambda row: row.core not in focused))

    def stalls(self) -> tuple[Stall, ...]:
        """Who waits for whom, tree below tree (`why-stalled`), then the true causes."""
        session = self.interpreter.session
        found = rows(why_stalled(session), session.device.cycle)
        return tuple(Stall(who, visible(text), deep, never) for who, text, deep, never in found)

    def timeline(self) -> Timeline:
        """What cores that were ever busy were at."""
        tracks = []
        for core in self.interpreter.session.device.order:
            past = tuple(states.get(core.name, "idle") for _, _, states in self._past)
            if any(state != "idle" for state in past):
                tracks.append(Track(core.name, past))
        return Timeline(tuple(cycle for cycle, _, _ in self._past), tuple(tracks))

    def watches(self) -> tuple[Watched, ...]:
        """Displays with their values, then points."""
        found = []
        for answer in display_answers(self.interpreter.context):
            for number, text, value in answer.rows:
                shown_value = visible(value_text(value))
                age = self.age(("display", number), shown_value)
                found.append(Watched(f"display {number}", text, shown_value, age))
        for point in self.interpreter.session.points:
            state = f"{point.hits} hits" if point.enabled else "off"
            age = self.age(("point", point.number), point.hits)
            found.append(Watched(f"{point.kind} {point.number}", point_text(point), state, age))
        return tuple(found)


_PARTS: Mapping[str, Callable[[Gatherer], Any]] = {
    "code": Gatherer.code,
    "registers": Gatherer.registers,
    "queues": Gatherer.queues,
    "output": Gatherer.output,
    "memory": Gatherer.memory,
    "grid": Gatherer.grid,
    "counters": Gatherer.counters,
    "stalls": Gatherer.stalls,
    "timeline": Gatherer.timeline,
    "watches": Gatherer.watches,
}


def _state(core: Core) -> str:
    if not core.running:
        return "idle"
    return "wait" if core.waiting is not None else "run"


def _source(file: str, number: int) -> str:
    try:
        return visible(source_lines(file)[number - 1].strip())
    except (CommandError, IndexError):
        return ""


def _value(value: Any, width: int) -> str:
    """A register's value: whole numbers in hexadecimal digits, arrays from their first on."""
    if isinstance(value, np.ndarray):
        if value.dtype == np.uint8:
            return value.tobytes().hex()
        return " ".join(value_text(x) for x in value.reshape(-1)[:64].tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool) and 0 < width <= 64:
        return f"{value & (1 << width) - 1:0{-(-width // 4)}x}"
    return visible(value_text(value))
