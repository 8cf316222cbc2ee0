"""The cycles that lines and instructions of a program have on the critical path of a run.

The cycles come from a run of the program from reset to its end, on another device. The position of
the session does not change, and the run does not repeat the user's edits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from macaw.debugger.debuggee import Debuggee
from macaw.emu import accounting
from macaw.emu.copies import original
from macaw.emu.critical_path import critical_path, heat_of
from macaw.emu.device import Device


@dataclass(frozen=True)
class LineCosts:
    """The cycles of lines and instructions of a program on the critical path of a run.

    `cycles` is the length of the run, `reason` a sentence that says why the run stopped, and
    `is_complete` whether the program ended by itself. `instructions` has the cycles by address in
    the program: the cycles of instructions in copies of a section are added to those of the
    original. `lines` has the cycles by (file, line number). Both leave out cycles that belong to
    no instruction.
    """

    cycles: int  # of the run
    reason: str  # why it stopped, as a sentence
    is_complete: bool  # whether the program ended by itself
    instructions: Counter[int]
    lines: Counter[tuple[str, int]]

    def part(self, begin: int, end: int) -> int:
        """Return the cycles of the instructions from address `begin` up to `end`."""
        return sum(self.instructions[address] for address in range(begin, end))

    def share_text(self, cycles: int) -> str:
        """Return `cycles` as a share of all cycles of the run, as text; empty for 0."""
        return f"{100 * cycles / self.cycles:.1f}%" if cycles else ""

    def heat(self, cycles: int) -> int:
        """Return the heat of a line with `cycles` cycles: 0 for none, up to 4 for 20% of the run.

        `macaw.emu.critical_path.heat_of` computes it.
        """
        return heat_of(cycles, self.cycles)


def line_costs(debuggee: Debuggee, max_cycles: int) -> LineCosts:
    """Run the program for at most `max_cycles` cycles, and return the cycles of its lines.

    A request to stop, which would end a run of the session, also ends this run.
    """
    device, interrupts = Device(debuggee.config), debuggee.interrupts
    device.load(debuggee.program)
    for name, array in debuggee.inputs.items():
        device.write_tensor(name, array)

    device.pause = lambda: interrupts.pending
    interrupts.running = True
    try:
        stop, accountants = accounting.run(device, max_cycles)
    finally:
        interrupts.running = False
        interrupts.take()  # a request has ended this run, or came too late for it
    instructions: Counter[int] = Counter()
    lines: Counter[tuple[str, int]] = Counter()
    logs = {core.number: accountants[core.name].log for core in device.order}
    cores = {core.number: core for core in device.order}
    for (number, charge), cycles in critical_path(logs, device.cycle).items():
        if charge is None or charge.address is None:
            continue
        address = original(debuggee.program, cores[number], charge.address)
        instructions[address] += cycles
        line = debuggee.program.line_at(address)
        if line is not None:
            lines[line.file, line.line] += cycles
    return LineCosts(device.cycle, str(stop), stop.reason == "exit", instructions, lines)
