"""Steps by lines of the source, forward and back; also over calls, and out of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from macaw.debugger.history import START, Position
from macaw.debugger.reverse import InstructionEnd, instruction_ends
from macaw.debugger.source_code import WORD, SourceCode, same_line
from macaw.emu.faults import Stop

if TYPE_CHECKING:
    from macaw.asm.program import Line
    from macaw.debugger.runner import Runner
    from macaw.debugger.stop_positions import StopPositions
    from macaw.emu.core import Core

_FEW = 2  # instructions that the first search back examines


class LineStepper:
    """Steps one core by source lines, forward and back."""

    def __init__(self, runner: Runner, stops: StopPositions, core: Core) -> None:
        self.runner = runner
        self.stops = stops
        self.core = core
        self.code = SourceCode(runner.debuggee, core)

    # Forward

    def step(self, over: bool) -> tuple[Stop, bool]:
        """Run to another line's start; if `over`, lines of called functions do not count.

        Return the stop, and whether the core has reached such a line; a point may stop it earlier.
        """
        code, runner, core = self.code, self.runner, self.core
        first, retired = code.line(core.next_address), core.retired
        while True:
            at = core.next_address
            if over and at is not None and code.calls(at):
                stop, is_back = self._step_over(at)
                if not is_back:
                    return stop, False
            else:
                stop = runner.live(partial(runner.step, core.name, 1))
            is_other = core.retired > retired and self._is_other(first)
            if is_other or stop.reason != "step":
                return stop, is_other

    def step_instruction(self) -> tuple[Stop, bool]:
        """Execute one instruction; for a call, run until the call returns.

        Return the stop, and whether the core has completed the instruction.
        """
        at = self.core.next_address
        if at is not None and self.code.calls(at):
            return self._step_over(at)
        stop = self.runner.live(partial(self.runner.step, self.core.name, 1))
        return stop, stop.reason == "step"

    def _is_other(self, first: Line | None) -> bool:
        """Return whether the core has left the line `first`, or is at the start of `first` again.

        An instruction without a line counts as a part of `first`. If `first` is None or the core
        is idle, the result is True.
        """
        at = self.core.next_address
        line = self.code.line(at)
        if at is None or first is None:
            return True
        return line is not None and (not same_line(line, first) or self.code.starts_line(at))

    def step_range(self, begin: int, end: int, over: bool) -> tuple[Stop, bool]:
        """Run until the core leaves the addresses from `begin` up to (excluding) `end`.

        Return the stop, and whether the last instruction was a call out of the range. If `over` is
        true, called functions count as part of the range.
        """
        core, runner, calls = self.core, self.runner, cache(self.code.calls)
        last = core.next_address

        def goes_on() -> bool:
            nonlocal last
            if not self._is_inside(begin, end) or (over and calls(core.next_address or 0)):
                return False
            last = core.next_address
            return True

        while True:
            at = last = core.next_address
            if over and at is not None and calls(at):
                stop, is_back = self._step_over(at)
                if not is_back:
                    return stop, False
            else:
                stop = runner.live(partial(runner.step_while, core.name, goes_on))
            if stop.reason != "step" or not self._is_inside(begin, end):
                is_call = last is not None and stop.reason == "step" and calls(last)
                return stop, is_call and not self._is_inside(begin, end)

    def _is_inside(self, begin: int, end: int) -> bool:
        """Return whether the core's next instruction is at an address from `begin` up to `end`."""
        at = self.core.next_address
        return at is not None and begin <= at < end

    def _step_over(self, call: int) -> tuple[Stop, bool]:
        """Run over the call at address `call`; return the stop, and whether the call returned."""
        core, runner, is_back = self.core, self.runner, self.code.stack_test()
        stop = runner.live(runner.forward, goals={core.name: {call + WORD: is_back}})
        if core.next_address != call + WORD or not is_back():
            return stop, False
        if self.is_goal(stop):
            stop = Stop("step", stop.cycle, core=core.name, address=call + WORD)
        return stop, True

    def finish(self) -> Stop:
        """Run until the present function returns to its caller; return the stop."""
        code, runner, name = self.code, self.runner, self.core.name
        section = runner.debuggee.program.section_at(self.core.next_address or 0)
        if section is None:
            return runner.live(runner.forward)
        addresses = range(section.address, section.end - WORD + 1, WORD)
        ends = {at: _always for at in addresses if code.returns(at) or code.calls(at)}
        while True:
            at = self.core.next_address
            if at is None:
                return runner.live(runner.forward)
            if code.returns(at):
                return runner.live(partial(runner.step, name, 1))
            goals = {at + WORD: code.stack_test()} if code.calls(at) else ends
            stop = runner.live(runner.forward, goals={name: goals})
            if not self.is_goal(stop):
                return stop

    def is_goal(self, stop: Stop) -> bool:
        """Return whether a run with this stop has ended at its goal, and not at a point."""
        return stop.before and not self.runner.monitor.hits

    # Back

    def back(self, over: bool) -> tuple[Position, int]:
        """Return the position at which the core's previous line starts.

        The second result is how many instructions the core had completed at this position. If there
        is no previous line, the position is the start of the run. If `over` is true, lines of
        called functions do not count. Raises `Interruption`.
        """
        return self._search_back(partial(self._line_start, over=over))

    def back_instruction(self) -> tuple[Position, int]:
        """Return the position before the previous instruction outside of called functions.

        The second result is how many instructions the core had completed at this position. If there
        is no such instruction, the position is the start of the run. Raises `Interruption`.
        """
        return self._search_back(lambda ends: next(self._outside(ends), None))

    def back_call(self) -> tuple[Position, int]:
        """Return the position before the call of the present function.

        The second result is how many instructions the core had completed at this position. If there
        was no call, the position is the start of the run. Raises `Interruption`.
        """
        return self._search_back(self._last_call)

    def _search_back(
        self, find: Callable[[list[InstructionEnd]], int | None]
    ) -> tuple[Position, int]:
        """Return the position of the earlier instruction that `find` finds.

        The second result is how many instructions the core had completed there. The method calls
        `find(ends)` with the ends of the core's last instructions. `find` returns the index of the
        instruction in `ends`, or None if the instruction is earlier. After None the method tries
        again with a longer list, until the list begins at the start of the run.
        """
        runner, name = self.runner, self.core.name
        now, retired = runner.debuggee.device.position, self.core.retired
        count = _FEW
        while True:
            ends = instruction_ends(runner, name, count, now, retired)
            goal = find(ends)
            if goal is not None:
                end = ends[goal + 1].position if goal + 1 < len(ends) else now
                return self.stops.last(ends[goal].position, end), ends[goal].retired
            if ends[0].position == START:
                return START, ends[0].retired
            count *= 8

    def _last_call(self, ends: list[InstructionEnd]) -> int | None:
        """Return the index in `ends` of the call of the present function; None without one."""
        depth = 0
        for at in range(len(ends) - 1, -1, -1):
            address = ends[at].address
            if address is not None and self.code.returns(address):
                depth += 1
            elif address is not None and self.code.calls(address):
                if depth == 0:
                    return at
                depth -= 1
        return None

    def _line_start(self, ends: list[InstructionEnd], over: bool) -> int | None:
        """Return the index in `ends` of the position where the core's last line starts.

        If `over` is true, lines of called functions do not count. The result is None if no line
        starts in `ends`.
        """
        last: Line | None = None
        inner: int | None = None
        for at in self._outside(ends) if over else range(len(ends) - 1, -1, -1):
            line = self.code.line(ends[at].address)
            if last is not None and (line is None or not same_line(line, last)):
                return inner
            if line is not None:
                last, inner = line, at
                if self.code.starts_line(ends[at].address):
                    return at
        return None

    def _outside(self, ends: list[InstructionEnd]) -> Iterator[int]:
        """Yield indices in `ends` of instructions outside of called functions, the last first."""
        depth = 0
        last_first = ((at, ends[at].address) for at in reversed(range(len(ends))))
        for at, address in last_first:
            if address is None:
                pass
            elif depth == 0 and not self.code.returns(address):
                yield at
            elif self.code.returns(address):
                depth += 1
            elif self.code.calls(address):
                depth -= 1
                if depth == 0:
                    yield at


def _always() -> bool:
    return True
