"""The oracle of random walks: all acts of a plain device, and where points must stop a session.

A device of the reference engine runs without a session. The clock calls `pause` before each act and
`acted` after it. There the oracle records the instruction that each core reaches with the act, and
the values after the act. The oracle uses no breaks, probes and checkpoints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from macaw.emu.breaks import Breakable
from macaw.emu.device import Device
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.waits import NEVER
from macaw.execution import configuration_of

BREAKS = ("break", "tbreak")


@dataclass
class Act:
    """One act of a core, or of the arbiter of on-chip memory (core None)."""

    core: str | None
    before: tuple[int, int]  # the position right before it
    begins: tuple[int, ...]  # instructions that the core reaches
    waits: bool = False  # the core waits for another one, or for memory
    after: tuple[int, int] = (0, 0)
    retired: dict[str, int] = field(default_factory=dict)
    values: tuple[int, ...] = ()
    running: set[str] = field(default_factory=set)
    stack: int = 0
    events: list[tuple[str, str, dict[str, int]]] = field(default_factory=list)


class Trace:
    """All acts of a program, and its state before the first one."""

    def __init__(self, program, inputs, focus, values):
        self.program, self.focus, self._values = program, focus, values
        device = self.device = Device(configuration_of(program), engine="reference")
        device.load(program)
        for name, array in inputs.items():
            device.write_tensor(name, array)
        self.acts: list[Act] = []
        self._words: dict[
            tuple[str, int], tuple[Any, ...]
        ] = {}  # the words at which islands' blocks are
        self._present: Act | None = None
        self.start = self._noted(Act(None, (0, 0), ()))
        device.pause, device.on_act = self._before, self._after
        device.listen(self._hear)
        self.end = device.run()
        assert self.end.reason == "exit", self.end
        device.pause = device.on_act = None
        self.position = device.position

    def _before(self):
        core = self.device.acting
        assert core is not None
        waits = core.waiting is not None
        self._present = Act(core.name, (self.device.cycle, core.number), (), waits)
        if core.table.name == "fim":
            self._present.begins = tuple(self._words_of(core))
        elif isinstance(core, Breakable) and not waits:
            assert core.next_address is not None
            self._present.begins = (core.next_address,)  # if it announces it
        return False

    def _words_of(self, core):
        """The words that an island's blocks reach in this cycle, each once."""
        for block in core.blocks:
            if block.running and block.time == core.time and not block.repeat and not block.waiting:
                word = core.device.cycle, block.pc, tuple(map(tuple, block.loops))
                known = self._words.get((core.name, block.index))
                if known is None or known[1:] != word[1:]:
                    self._words[core.name, block.index] = word
                    yield block.pc

    def _hear(self, event):
        if self._present is not None:
            self._present.events.append((event.kind, event.core.name, dict(event.values)))

    def _after(self, core):
        act = self._present
        if core is None:
            act = Act(None, (self.device.cycle, NEVER), (), events=act.events if act else [])
            act.after = self.device.cycle + 1, 0
        else:
            assert act is not None
            act.after = self.device.position
            if core.table.name != "fim":
                told = [x for kind, name, x in act.events if kind == "instruction"]
                if not told:
                    act.begins = ()
        self.acts.append(self._noted(act))
        self._present = Act(None, (0, 0), ())  # for the arbiter's announcements

    def _noted(self, act):
        for core in self.device.order:
            core.sync()
        act.retired = {core.name: core.retired for core in self.device.order}
        act.running = {core.name for core in self.device.order if core.running}
        act.values = tuple(value(self.device) for value in self._values)
        core = self.device.cores[self.focus]
        act.stack = int(core.x[2]) if isinstance(core, ScalarCore) else 0
        return act

    # Looking things up

    def state(self, done):
        """The recorded state after the first `done` acts."""
        return self.acts[done - 1] if done else self.start

    def done(self, position):
        """The number of acts before a position."""
        return sum(act.before < position for act in self.acts)

    @cached_property
    def own(self):
        """The instructions of the focus: (number of the act that begins it, address)."""
        return [
            (at, address)
            for at, act in enumerate(self.acts)
            if act.core == self.focus
            for address in act.begins
        ]

    def coming(self, core, done):
        """The number of the act with which a core reaches its next instruction (islands: words).

        None if the core does not run, or has no such act.
        """
        if core not in self.state(done).running:
            return None
        for at in range(done, len(self.acts)):
            act = self.acts[at]
            if act.core == core and (act.begins or act.waits or core != "vc"):
                return at if act.begins else None
        return None  # vc alone has acts that only wait for operands

    def landed(self, retired):
        """The first position at which the focus has completed `retired` instructions."""
        if not retired:
            return 0, 0
        return next(act.after for act in self.acts if act.retired[self.focus] >= retired)

    # Lines and calls of the focus

    def line(self, address):
        found = self.program.line_at(address)
        return None if found is None else (found.file, found.line)

    def begins_line(self, address):
        return self.line(address) is not None and self.line(address) != self.line(address - 4)

    def flow(self, address):
        """ "call", "return" or "", from the bits of a RISC-V jump."""
        section = self.program.section_at(address)
        at = address - section.address
        word = int.from_bytes(section.data[at : at + 4], "little")
        if word & 0x7F not in (0x6F, 0x67):
            return ""
        if word >> 7 & 31:
            return "call"
        return "return" if word & 0x7F == 0x67 else ""

    def over(self, number):
        """The number of the instruction after the call that is instruction `number` of the focus.

        None if the call does not return.
        """
        act, address = self.own[number]
        stack = self.state(act).stack
        for later in range(number + 1, len(self.own)):
            at, there = self.own[later]
            if there == address + 4 and self.state(at).stack >= stack:
                return later
        return None


@dataclass
class Point:
    """A breakpoint, watch or caught event in the oracle."""

    number: int
    kind: str
    address: int = 0
    cores: tuple[str, ...] = ()
    value: int = -1  # of a watch: the place among the values
    event: tuple[str, str] = ("", "")  # announcement, core
    condition: tuple[int, int, int] | None = None  # value, mask, result
    ignore: int = 0
    hits: int = 0


class Oracle:
    """A walk in the oracle: its position, its points, and what the debugger has reported."""

    def __init__(self, trace):
        self.trace = trace
        self.points: dict[int, Point] = {}
        self.restart()

    def restart(self):
        """Start again: the walk is at the start, and the debugger has reported nothing."""
        self.position, self.done = (0, 0), 0
        self.known = [(0, 0)]
        self.forget()

    def forget(self):
        self.told: set[tuple[str, int, int]] = set()
        self.shown: dict[tuple[str, int], int] = {}

    def move(self, position):
        """Move the walk to a position."""
        self.position, self.done = position, self.trace.done(position)
        if position not in self.known:
            self.known.append(position)

    def show(self, core):
        at = self.trace.coming(core, self.done)
        if at is not None:
            self.shown.setdefault((core, at), max(self.points, default=0))

    # Points

    def _holds(self, point, values):
        if point.condition is None:
            return True
        value, mask, result = point.condition
        return values[value] & mask == result

    def _count(self, point):
        """Count a hit of a point; return whether it stops a run."""
        point.hits += 1
        if point.ignore:
            point.ignore -= 1
            return False
        return True

    def _is_new(self, point, core, at):
        return (core, at, point.number) not in self.told and point.number <= self.shown.get(
            (core, at), NEVER
        )

    def before(self, at, counts=True):
        """The breakpoints that stop before an act; each arrival is tested once."""
        act, found = self.trace.acts[at], []
        for address in act.begins:
            for point in self.points.values():
                if point.kind not in BREAKS or point.address != address:
                    continue
                if act.core not in point.cores:
                    continue
                holds = self._holds(point, self.trace.state(at).values)
                if not counts:
                    found += [point.number] * holds
                elif holds and self._is_new(point, act.core, at):
                    self.told.add((act.core, at, point.number))
                    found += [point.number] * self._count(point)
        return found

    def after(self, at, counts=True):
        """The watches and caught events that stop after an act."""
        act, old = self.trace.acts[at], self.trace.state(at).values
        found = []
        for kind, core, _ in act.events:
            for point in self.points.values():
                if point.kind == "catch" and point.event == (kind, core):
                    found += [point.number] * self._met(point, act.values, counts)
        for point in self.points.values():
            if point.kind == "watch" and act.values[point.value] != old[point.value]:
                found += [point.number] * self._met(point, act.values, counts)
        return found

    def _met(self, point, values, counts):
        return self._holds(point, values) and (not counts or self._count(point))

    # Forth

    def forward(self, is_over, goal=lambda at: False, limit=None):
        """Run: return why the run stops, its position and the points.

        `is_over(at)` says whether the command ends after an act.
        """
        acts = self.trace.acts
        for at in range(self.done, len(acts)):
            act = acts[at]
            if limit is not None and act.before >= limit:
                break
            met = self.before(at)
            if met:
                return "breakpoint", act.before, met
            if goal(at):
                return "goal", act.before, []
            self.done = at + 1
            met = self.after(at)
            if at == len(acts) - 1:
                return "exit", None, met
            if met:
                return "event", act.after, met
            if is_over(at):
                return "step", act.after, []
        return "limit", limit, []

    def look(self, core):
        """The breakpoints that stop a step at its end, at the core's next instruction."""
        at = self.trace.coming(core, self.done)
        return [] if at is None else self.before(at)

    # Back

    def back(self, goal):
        """Go back: the last stop of a point that is not before the goal, or the goal."""
        found: dict[Any, Any] = {}
        last = len(self.trace.acts) - 1
        for at, act in enumerate(self.trace.acts):
            places = [(act.before, self.before)]
            if at < last:  # after the last act the program has ended: no stop before the end
                places.append((act.after, self.after))
            for position, met in places:
                if goal <= position < self.position:
                    numbers = met(at, counts=False)
                    if numbers:
                        found.setdefault(position, []).extend(numbers)
        if found:
            position = max(found)
            return "point", position, found[position]
        return ("start" if goal == (0, 0) else "step"), goal, []

    def landing(self, low, end):
        """The last known position of the walk, at least `low` and before `end`; else `low`."""
        return max((x for x in self.known if low <= x < end), default=max(low, (0, 0)))
