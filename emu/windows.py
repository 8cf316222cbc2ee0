"""Windows: address ranges through which a core takes or gives a stream of bytes.

The bytes pass in the order of the accesses, whatever their addresses within the window. A requester
may have to wait.
"""

from __future__ import annotations

from abc import abstractmethod

from macaw.emu.agents import Agent
from macaw.emu.faults import Fault, amount
from macaw.isa.model import Window as Row


class WindowNotReady(Exception):
    """Raised if a window cannot take or give bytes yet, or if a memory cannot be accessed yet.

    The requester tries again when one of `cores` (a mask) has changed, or at the latest in cycle
    `time` (NEVER: no such cycle is known). `Waiter.postpone` does so. If `ordered` is set, no later
    access of the requester may overtake this one.
    """

    def __init__(self, on: str, cores: int, time: int, ordered: bool = False) -> None:
        super().__init__(on)
        self.ordered = ordered
        self.on = on
        self.cores = cores
        self.time = time


class Windowed(Agent):
    """A core with windows (`macaw.isa.model.Window`), which other cores read and write.

    The device calls `push` and `pull` for their accesses. If the core itself waits for such an
    access, `push` or `pull` sets `self.time`. After the core itself has taken or supplied bytes, it
    calls the device's `changed`, so that waiting cores try again.
    """

    @abstractmethod
    def window_room(self, window: str, time: int, wanted: int) -> tuple[int, int]:
        """Return how many bytes may pass `window` in cycle `time`, and when `wanted` bytes may.

        The second result is a cycle, which matters only if fewer than `wanted` bytes may pass now.
        It is NEVER if it depends on a change that the core will announce.
        """

    @abstractmethod
    def push(self, window: str, data: bytes, time: int) -> None:
        """Take bytes that arrive through a window. The window has room for them in cycle `time`."""

    @abstractmethod
    def pull(self, window: str, length: int, time: int) -> bytes:
        """Return `length` bytes that leave through a window in cycle `time`.

        The window has that many bytes in this cycle.
        """


class Window:
    """A window of one core in the memory map."""

    def __init__(self, row: Row, core: Windowed) -> None:
        instance = core.number - core.table.number
        self.row = row
        self.core = core
        self.start = row.start(instance)
        self.end = self.start + row.size

    def room(self, time: int, address: int, what: str) -> int:
        """Return how many bytes may pass the window in cycle `time`: 1 or more.

        The access is at `address`; `what` is "read" or "write". Raises `WindowNotReady` if no byte
        may pass, and `Fault` if the window has the other direction.
        """
        self._check(address, what)
        count, again = self.core.window_room(self.row.name, time, 1)
        if count:
            return count
        wanted = "room in" if self.row.direction == "in" else "bytes of"
        raise WindowNotReady(f"{wanted} {self.name}", 1 << self.core.number, again)

    def whole(self, time: int, address: int, size: int, what: str) -> None:
        """Raise `WindowNotReady` unless `size` bytes may pass the window in cycle `time`.

        The access is at `address`; `what` is "load" or "store". Raises `Fault` if the window has
        the other direction.
        """
        self._check(address, what)
        count, again = self.core.window_room(self.row.name, time, size)
        if count < size:
            wanted = "room for " if self.row.direction == "in" else ""
            on = f"{wanted}{amount(size, 'byte')} in {self.name}"
            raise WindowNotReady(on, 1 << self.core.number, again)

    @property
    def name(self) -> str:
        """The name of the window and its core, such as `netin of nnp`."""
        return f"{self.row.name} of {self.core.name}"

    def _check(self, address: int, what: str) -> None:
        """Raise `Fault` unless the window has the direction of the access `what` at `address`."""
        direction = "in" if what in ("store", "write") else "out"
        if direction != self.row.direction:
            does = "takes bytes" if self.row.direction == "in" else "gives bytes"
            raise Fault(
                "out-of-range access",
                f"{what} at {address:#010x}: {self.name} only {does}",
                {"address": address},
            )
