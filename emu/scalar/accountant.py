"""The accountant of a scalar core whose instructions do not overlap (cp)."""

from __future__ import annotations

from macaw.emu.accountant import Accountant
from macaw.emu.core import Event
from macaw.emu.scalar.core import ScalarCore
from macaw.isa.codec import Decoded

# By family of instructions: the cause of its cycles after the first one.
_REST = {"branch": "branches", "jump": "branches", "load": "latency", "store": "latency"}


class ScalarAccountant(Accountant):
    """Charges the cycles of each instruction to causes, in a fixed order.

    The order is: the waits of the instruction, its first cycle (work), waits for banks and for the
    channel of memory, and the rest of its cycles.
    """

    core: ScalarCore
    mendable: tuple[str, ...] = ("branches", "long", "latency", "transfers")

    def __init__(self, core: ScalarCore) -> None:
        super().__init__(core)
        self.family = ""
        self.blocked, self.channel = self._traffic()

    def _traffic(self) -> tuple[int, int]:
        """Return the cycles that accesses have waited so far: for banks, and for the channel."""
        port = self.core.port
        return port.reads_blocked + port.writes_blocked, port.external_blocked

    def new_traffic(self) -> tuple[int, int]:
        """Return the cycles that the core's accesses have waited since the last call.

        The first number has the waits for banks of memory, the second those for the channel of
        external memory.
        """
        before = self.blocked, self.channel
        self.blocked, self.channel = self._traffic()
        return self.blocked - before[0], self.channel - before[1]

    def note_branch(self, address: int, found: Decoded) -> None:
        """Add the address of the instruction `found` to `needed` if it is a branch forward.

        A branch forward makes a decision, so no change of the program can save it. A branch
        backward can be saved if its loop is unrolled, and a jump if the code at its target is
        moved.
        """
        if found.row.family == "branch" and found.values["target"] > 0:
            self.needed.add(address)

    def hear(self, event: Event) -> None:
        if event.kind == "instruction":
            self.idle(event.time)
            self.keep_charges()
            self.address = int(event.values["address"])
            found = self.core.decoder.fetch(self.address)
            self.family = found.row.family
            self.note_branch(self.address, found)
        elif event.kind == "done":
            begin, until = int(event.values["begin"]), int(event.values["until"])
            self.waits(self.address)
            self.idle(begin)
            banks, channel = self.new_traffic()
            parts = (("work", self.core.divider), ("banks", banks), ("channel", channel))
            self.parts(until, self.address, parts)
            self.span(_REST.get(self.family, "long"), until, self.address)
            self.address = None

    def rest(self, time: int) -> None:
        waiting = self.core.waiting
        if waiting is not None and not waiting.cores and self.core.pending is not None:
            self.span("banks", time, self.address)
        else:
            super().rest(time)
