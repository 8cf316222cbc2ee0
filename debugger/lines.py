"""Steps by lines of the source, over calls and out of functions, both ways.

What calls and what returns is told by the tables (`Instruction.flow`): a jump that writes a
link is a call, a jump to a register that writes none is a return. A call is over where it
comes back with the stack as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from macaw.debugger.backwards import Landing, landings
from macaw.debugger.history import START, Position
from macaw.debugger.watching import Test
from macaw.emu.copies import original
from macaw.emu.faults import Fault, Stop
from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.kinds import Register

if TYPE_CHECKING:
    from macaw.asm.program import Line
    from macaw.debugger.session import Session
    from macaw.emu.core import Core

STACK, WORD = "sp", 4
_FEW = 2  # instructions that are looked at first on the way back


class Lines:
    """Where a core is in its source, and how it goes on there."""

    def __init__(self, session: Session, core: Core) -> None:
        self.session = session
        self.core = core

    def line(self, address: int | None) -> Line | None:
        """The line of an instruction."""
        if address is None:
            return None
        return self.session.program.line_at(original(self.session.program, self.core, address))

    def begins(self, address: int | None) -> bool:
        """Whether the instruction is the first one of its line."""
        here, before = self.line(address), self.line((address or 0) - WORD)
        return here is not None and (before is None or not _same(here, before))

    def decoded(self, address: int) -> Decoded | None:
        """The instruction at an address; None where there is none."""
        try:
            data = self.session.device.memory.peek(address, WORD)
            return decode(self.core.table, int.from_bytes(data, "little"), 8 * WORD, address)
        except (Fault, DecodeError):
            return None

    def calls(self, address: int) -> bool:
        """Whether the instruction there is a call."""
        found = self.decoded(address)
        return found is not None and found.row.flow in ("call", "jump") and _links(found)

    def returns(self, address: int) -> bool:
        """Whether the instruction there goes back to where a register says."""
        found = self.decoded(address)
        if found is None or found.row.flow != "jump" or _links(found):
            return False
        return any(
            isinstance(operand.kind, Register) and operand.name not in found.row.writes.split()
            for operand in found.row.operands
        )

    def stack_is_back(self) -> Test:
        """Whether the stack is where it is now, or has fewer on it."""
        core = self.core
        for file in core.table.files:
            for number, names in enumerate(file.names):
                if STACK in names and core.inlines == file.name:
                    values = getattr(core, core.inlines)
                    now = values[number]
                    return lambda: bool(values[number] >= now)
        return lambda: True

    # Forward

    def step(self, over: bool) -> tuple[Stop, bool]:
        """Go to the begin of another line; with `over`, of no line of what is called.

        The second value: whether it is there (a point may stop it there, too).
        """
        first, begun = self.line(self.core.next_address), self.core.retired
        runner = self.session.runner
        while True:
            at = self.core.next_address
            if over and at is not None and self.calls(at):
                is_back = self.stack_is_back()
                goals = {self.core.name: {at + WORD: is_back}}
                stop = runner.live(runner.forward, goals=goals)
                if self.core.next_address != at + WORD or not is_back():
                    return stop, False
                if self.is_goal(stop):
                    stop = Stop("step", stop.cycle, core=self.core.name, address=at + WORD)
            else:
                stop = runner.live(partial(runner.step, self.core.name, 1))
            is_other = self.core.retired > begun and self._is_other(first)
            if is_other or stop.reason != "step":
                return stop, is_other

    def _is_other(self, first: Line | None) -> bool:
        """Whether the core is before another line, before one again, or where no lines are."""
        at = self.core.next_address
        line = self.line(at)
        if at is None or first is None:
            return True
        return line is not None and (not _same(line, first) or self.begins(at))

    def finish(self) -> Stop:
        """Run until the function returns to who has called it."""
        runner, name = self.session.runner, self.core.name
        section = self.session.program.section_at(self.core.next_address or 0)
        if section is None:
            return runner.live(runner.forward)
        places = range(section.address, section.end - WORD + 1, WORD)
        ends = {at: _always for at in places if self.returns(at) or self.calls(at)}
        while True:
            at = self.core.next_address
            if at is None:
                return runner.live(runner.forward)
            if self.returns(at):
                return runner.live(partial(runner.step, name, 1))
            goals = {at + WORD: self.stack_is_back()} if self.calls(at) else ends
            stop = runner.live(runner.forward, goals={name: goals})
            if not self.is_goal(stop):
                return stop

    def is_goal(self, stop: Stop) -> bool:
        """Whether a run has ended where it was to end, and at no point."""
        return stop.before and not self.session.watching.met

    # Back

    def back(self, over: bool) -> tuple[Position, int]:
        """Where the line before begins, and how many instructions were done there.

        The begin of the run if there is none.
        """
        session, device = self.session, self.session.device
        now, done = device.position, self.core.retired
        wanted = _FEW
        while True:
            found = landings(session, self.core.name, wanted, now, done)
            self.core = session.device.cores[self.core.name]
            goal = self._begin(found, over)
            if goal is not None:
                end = found[goal + 1].position if goal + 1 < len(found) else now
                return session.landing(found[goal].position, end), found[goal].retired
            if found[0].position == START:
                return START, found[0].retired
            wanted *= 8

    def _begin(self, found: list[Landing], over: bool) -> int | None:
        """The place of the landing at which the last line begins."""
        last: Line | None = None
        inner: int | None = None
        for at in self._outside(found) if over else range(len(found) - 1, -1, -1):
            line = self.line(found[at].address)
            if last is not None and (line is None or not _same(line, last)):
                return inner
            if line is not None:
                last, inner = line, at
                if self.begins(found[at].address):
                    return at
        return None

    def _outside(self, found: list[Landing]) -> Iterator[int]:
        """The places of instructions that no call on the way has done, from the last on."""
        depth = 0
        for at in range(len(found) - 1, -1, -1):
            address = found[at].address
            if address is None:
                continue
            if depth == 0 and not self.returns(address):
                yield at
            elif self.returns(address):
                depth += 1
            elif self.calls(address):
                depth -= 1
                if depth == 0:
                    yield at


def _always() -> bool:
    return True


def _links(found: Decoded) -> bool:
    """Whether an instruction writes a link into a register."""
    return any(found.values.get(name) for name in found.row.writes.split())


def _same(one: Line, other: Line) -> bool:
    return one.line == other.line and one.file == other.file
