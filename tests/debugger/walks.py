"""Random walks of a session; each stop is compared with the oracle's (`tests.debugger.oracle`).

A walk sets points at random and goes forward and back. Its focus is always one core of one program.
At each stop, the reason, the points, their counts of hits, the device's position and its values
must be the oracle's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from macaw.debugger.point_checks import point_targets
from macaw.debugger.session import Session
from macaw.emu.breaks import Breakable
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.oracle import BREAKS, Oracle, Point, Trace
from tests.debugger.transcripts import program_and_inputs


@dataclass(frozen=True)
class Course:
    """A core to walk in: its program, values to watch or test, events, and whether it has calls."""

    folder: str
    focus: str
    values: tuple  # expressions, and functions that read them from a device
    events: tuple = ()  # the caught event, its announcement, the core
    lines: bool = False  # it has calls and lines to step by


def register(core, number):
    """A function that reads a register of cp or vc as a signed number."""
    return lambda device: int(device.cores[core].state.x[number].astype("int32"))


def word(symbol, dtype="<i4"):
    """A function that reads the first number of a tensor."""

    def value(device):
        tensor = next(x for x in device.program.tensors if x.name == symbol)
        size = int(dtype[-1])
        return int.from_bytes(device.memory.peek(tensor.address, size), "little", signed=True)

    return value


def field(core, name, *place):
    """A function that reads a number of a core's state."""

    def value(device):
        found = getattr(device.cores[core].state, name)
        return int(found[place] if place else found)

    return value


COURSES = (
    Course("calls.s", "cp", (
        ("cp.s0", register("cp", 8)), ("cp.a0", register("cp", 10)), ("cp.sp", register("cp", 2)),
        ("y[0, 1]", lambda device: int(device.read_tensor("y")[0, 1])),
        ("copied[1, 0]", lambda device: int(device.read_tensor("copied")[1, 0])),
        ("cp.retired", field("cp", "retired")),
    ), (("dma-done", "end", "dma"),), lines=True),
    Course("layer", "cp", (
        ("cp.a0", register("cp", 10)), ("pe[0,1].2.acc0", field("pe[0]", "accumulators", 1, 2, 0)),
        ("pe[0,0].0.q1.level", field("pe[0]", "q1_count", 0, 0)),
        ("dma.retired", field("dma", "retired")),
    ), (("dma-done", "end", "dma"), ("exe", "begin", "pe[0]"), ("swap", "swap", "cp")), lines=True),
    Course("vector_dot", "vc", (
        ("vc.t1", register("vc", 6)), ("vc.t0", register("vc", 5)), ("vc.a0", register("vc", 10)),
        ("y[0]", lambda device: int(device.read_tensor("y")[0])),
    ), lines=True),
    Course("nnp_mlp", "nnp", (
        ("nnp.retired", field("nnp", "retired")),
        ("nnp.chain.iteration", field("nnp", "iteration")),
    ), (("dma-done", "end", "dma"),)),
    Course("fim_dot", "fim[0]", (
        ("fim[0].retired", field("fim[0]", "retired")),
        ("fim[0].bank[0].rz.u8[0]", field("fim[0]", "rz", 0, 0)),
    ), (("dma-done", "end", "dma"),)),
)  # fmt: skip


@cache
def trace(course):
    """The acts of the reference device on a course."""
    loads, inputs = program_and_inputs(course.folder)
    return Trace(loads, inputs, course.focus, [value for _, value in course.values])


class Walk:
    """One walk; `log` has its commands and the answers."""

    def __init__(self, seed):
        self.rng = rng = Random(f"walk {seed}")
        self.course = rng.choice(COURSES)
        self.engine = rng.choice(ENGINES)
        self.trace = trace(self.course)
        self.oracle = Oracle(self.trace)
        loads, inputs = program_and_inputs(self.course.folder)
        self.debug = Session(loads, configuration_of(loads), inputs, self.engine)
        self.debug.set_focus(self.course.focus)
        self.oracle.show(self.debug.device.order[0].name)
        self.oracle.show(self.course.focus)
        self.log = [f"{self.course.folder} {self.course.focus} {self.engine}"]
        self.stops = self.met = 0

    def go(self, moves):
        """Set some points, then make `moves` moves."""
        for _ in range(self.rng.randrange(1, 5)):
            self.set_point()
        for _ in range(moves):
            if self.rng.random() < 0.2:
                self.change_points()
            self.move()

    # Points

    def set_point(self):
        rng, course, debug = self.rng, self.course, self.debug
        number = debug.points._last_number + 1
        condition, said = None, ""
        if rng.random() < 0.4:
            mask = rng.choice((1, 3, 7))
            condition = rng.randrange(len(course.values)), mask, rng.randrange(mask + 1)
            said = f"({course.values[condition[0]][0]} & {mask}) == {condition[2]}"
        ignore = rng.choice((0, 0, 0, 1, 2, 5))
        more: dict[str, Any] = {"condition": condition, "ignore": ignore}
        kind = rng.choice(("break", "break", "tbreak", "watch", "watch", "catch"))
        if kind in BREAKS:
            cores = [
                name for name, core in debug.device.cores.items() if isinstance(core, Breakable)
            ]
            acts = [x for x in self.trace.acts if x.begins and x.core in cores]
            act = rng.choice(
                [x for x in acts if x.core == course.focus] if rng.random() < 0.8 else acts
            )
            address = rng.choice(act.begins)
            point = debug.points.add(kind, f"*{address:#x}", condition=said, ignore=ignore)
            names = tuple(target.core.name for target in point_targets(debug._debuggee, point))
            assert act.core in names
            made = Point(number, kind, address, names, **more)
        elif kind == "watch":
            value = rng.randrange(len(course.values))
            debug.points.add(kind, course.values[value][0], condition=said, ignore=ignore)
            made = Point(number, kind, value=value, **more)
        elif course.events:
            event, announced, core = rng.choice(course.events)
            place = core if rng.random() < 0.5 or event == "exe" else ""
            debug.points.add(kind, event, place=place, condition=said, ignore=ignore)
            made = Point(number, kind, event=(announced, core), **more)
        else:
            return
        self.oracle.points[number] = made
        self.log.append(f"{made} {said}")

    def change_points(self):
        if self.oracle.points and (len(self.oracle.points) > 5 or self.rng.random() < 0.4):
            number = self.rng.choice(list(self.oracle.points))
            self.debug.points.delete(number)
            del self.oracle.points[number]
            self.log.append(f"delete {number}")
        else:
            self.set_point()

    # Moves

    def move(self):
        rng = self.rng
        forth = ["stepi", "stepi", "stepc", "continue", "continue", "run"]
        back = ["reverse-stepi", "reverse-stepc", "reverse-continue", "goto"]
        if self.course.lines:
            forth += ["step", "step", "next", "next", "finish", "until", "advance"]
            back += ["reverse-step", "reverse-next"]
        focus_runs = self.debug.core.running and self.debug.device.stopped is None
        if not focus_runs:
            forth = ["continue", "run", "stepc"]
            back = ["reverse-stepc", "reverse-continue", "goto"]
        if rng.random() < 0.05:
            forth = back = ["run"]
        name = rng.choice(forth if rng.random() < 0.65 else back)
        count = rng.choice((1, 1, 2, 3, 5, 13))
        self.log.append(f"{name} {count} from {self.debug.device.position}")
        ended = self.debug.device.stopped is not None
        getattr(self, "_" + name.replace("-", "_"))(count, ended)

    def _forth(self, stop, expected, reason="step", core=None):
        """Compare a stop of a forward run with the oracle's."""
        why, position, met = expected
        if why in ("step", "limit") and core is not None:
            met = self.oracle.look(core)
        wanted = {"goal": "arrived", "limit": reason, "step": reason}.get(why, why)
        if met and why != "exit":
            wanted = self._kind(met)
        self._held(stop, wanted, position, met)

    def _kind(self, met):
        kind = self.oracle.points[met[0]].kind
        return {"watch": "watch", "catch": "event"}.get(kind, "breakpoint")

    def _held(self, stop, reason, position, met):
        debug, oracle = self.debug, self.oracle
        numbers = [hit.number for hit in stop.hits if hit.number]
        here = debug.device.position
        self.log.append(
            f"  {stop.reason} {numbers} at {here}; oracle: {reason} {met} at {position}"
        )
        self.stops += 1
        self.met += len(numbers)
        assert (stop.reason, sorted(numbers)) == (reason, sorted(met)), self.text()
        assert position is None or here == position, self.text()
        for number in dict.fromkeys(met):
            if oracle.points[number].kind == "tbreak":
                del oracle.points[number]
        hits = {number: (point.hits, point.ignore) for number, point in oracle.points.items()}
        found = {point.number: (point.hits, point.ignore) for point in debug.points}
        self.log.append(f"  hits {found}")
        assert found == hits, f"{hits}\n{self.text()}"
        oracle.move(here)
        state = self.trace.state(oracle.done)
        values = [int(debug.read(text)) for text, _ in self.course.values]
        assert values == list(state.values), self.text()
        assert {core.name: core.retired for core in debug.device.order} == state.retired, (
            self.text()
        )
        oracle.show(stop.where.core)

    def text(self):
        """The whole log as a text."""
        return "\n".join(self.log)

    # Forth

    def _continue(self, count, ended):
        expected = ("exit", None, []) if ended else self.oracle.forward(lambda at: False)
        self._forth(self.debug.cont(), expected)

    def _run(self, count, ended):
        self.oracle.restart()
        self._forth(self.debug.run(), self.oracle.forward(lambda at: False))

    def _stepc(self, count, ended):
        limit = self.debug.device.cycle + count * count, 0
        expected = (
            ("exit", None, []) if ended else self.oracle.forward(lambda at: False, limit=limit)
        )
        self._forth(self.debug.stepc(count * count), expected, "step", self.course.focus)

    def _retired(self):
        return self.trace.state(self.oracle.done).retired[self.course.focus]

    def _stepped(self, count=1):
        goal, acts = self._retired() + count, self.trace.acts
        return self.oracle.forward(lambda at: acts[at].retired[self.course.focus] >= goal)

    def _stepi(self, count, ended):
        self._forth(self.debug.stepi(count), self._stepped(count), core=self.course.focus)

    def _address(self):
        """The number of the next instruction of the focus, and its address or None."""
        number = self._retired()
        return number, self.trace.own[number][1] if number < len(self.trace.own) else None

    def _until_back(self, number):
        """Run from a call to the instruction after it."""
        later = self.trace.over(number)
        goal = None if later is None else self.trace.own[later][0]
        return self.oracle.forward(lambda at: False, lambda at: at == goal)

    def _one_line(self, over):
        number, address = self._address()
        line = self.trace.line(address)
        while True:
            number, at = self._address()
            if over and self.trace.flow(at) == "call":
                expected = self._until_back(number)
                if expected[0] == "goal":
                    expected = "step", expected[1], []
            else:
                expected = self._stepped()
            if expected[0] != "step":
                return expected
            _, at = self._address()
            if at is None or self.trace.line(at) != line or self.trace.begins_line(at):
                return expected

    def _lines(self, count, over):
        for _ in range(count):
            expected = self._one_line(over)
            if expected[0] != "step":
                break
            self.oracle.known.append(expected[1])
            if self._address()[1] is None:
                break
        self._forth(self.debug.step(count, over=over), expected, core=self.course.focus)

    def _step(self, count, ended):
        self._lines(count, over=False)

    def _next(self, count, ended):
        self._lines(count, over=True)

    def _finish(self, count, ended):
        while True:
            number, at = self._address()
            if at is None:
                expected = self.oracle.forward(lambda at: False)
            elif self.trace.flow(at) == "call":
                expected = self._until_back(number)
            else:
                is_return = self.trace.flow(at) == "return"
                expected = self._stepped()
                if is_return:
                    break
                # A function is left by its return alone: what ends in between is no stop.
            if expected[0] not in ("goal", "step"):
                break
        self._forth(self.debug.finish(), expected, "arrived", self.course.focus)

    def _until(self, count, ended):
        address = self.rng.choice(self.trace.own)[1]
        acts, focus = self.trace.acts, self.course.focus
        oracle = self.oracle

        def goal(at):
            return (
                acts[at].core == focus
                and address in acts[at].begins
                and (focus, at) not in oracle.shown
            )

        expected = oracle.forward(lambda at: False, goal)
        self.log.append(f"  *{address:#x}")
        self._forth(self.debug.advance(f"*{address:#x}"), expected)

    _advance = _until

    # Back

    def _back(self, stop, goal):
        why, position, met = self.oracle.back(goal)
        self.oracle.forget()
        self._held(stop, self._kind(met) if met else why, position, met)
        at = self.oracle.done
        if met and at < len(self.trace.acts) and self.trace.acts[at].before == position:
            core = self.trace.acts[at].core
            numbers = self.oracle.before(at, counts=False)
            self.oracle.told |= {(core, at, number) for number in numbers}

    def _reverse_continue(self, count, ended):
        self._back(self.debug.cont_back(), (0, 0))

    def _goto(self, count, ended):
        cycle = self.rng.randrange(self.trace.position[0])
        stop = self.debug.goto(cycle)
        self.oracle.forget()
        self._held(stop, "arrived", (cycle, 0), [])

    def _reverse_stepc(self, count, ended):
        cycle = self.debug.device.cycle
        low = cycle - count * count
        goal = self.oracle.landing((low, 0), (low + 1, 0))
        self._back(self.debug.stepc_back(count * count), goal)

    def _reverse_stepi(self, count, ended):
        retired = self._retired()
        goal = self._before(retired - count) if retired >= count else (0, 0)
        self._back(self.debug.stepi_back(count), goal)

    def _before(self, retired):
        """The position of a step back that leaves `retired` instructions complete."""
        low = self.trace.landed(retired)
        end = self.oracle.position
        if retired + 1 <= self._retired():
            end = min(end, self.trace.landed(retired + 1)) if retired + 1 < self._retired() else end
        return self.oracle.landing(low, end)

    def _lines_back(self, count, over):
        stop = self.debug.back(count, over=over)
        for _ in range(count):
            goal = self._line_back(over)
            why, position, met = self.oracle.back(goal)
            if why == "step":
                self.oracle.move(goal)
            if why != "step":
                break
        self.oracle.forget()
        self._held(stop, self._kind(met) if met else why, position, met)
        at = self.oracle.done
        if met and at < len(self.trace.acts) and self.trace.acts[at].before == position:
            numbers = self.oracle.before(at, counts=False)
            core = self.trace.acts[at].core
            self.oracle.told |= {(core, at, number) for number in numbers}

    def _line_back(self, over):
        """The position of a step back by a line; with `over`, calls are passed as one step."""
        trace, number = self.trace, self._retired() - 1
        first = line = None
        calls = self._calls() if over else {}
        while number >= 0:
            number = calls.get(number, number)
            at = trace.own[number][1]
            if line is not None and trace.line(at) != line:
                break
            line, first = trace.line(at), number
            if trace.begins_line(at):
                break
            number -= 1
        return (0, 0) if first is None else self._before(first)

    def _calls(self):
        """For the last instruction of each completed call, the number of the call instruction."""
        found: dict[Any, Any] = {}
        for number, (_, address) in enumerate(self.trace.own[: self._retired()]):
            later = self.trace.over(number) if self.trace.flow(address) == "call" else None
            if later is not None and later <= self._retired():
                found.setdefault(later - 1, number)
        return found

    def _reverse_step(self, count, ended):
        self._lines_back(count, over=False)

    def _reverse_next(self, count, ended):
        self._lines_back(count, over=True)
