"""Windows: address ranges through which a core takes or gives bytes; a requester may have to wait.

The bytes pass in the order of the accesses; an address only says which window is meant.
"""

from __future__ import annotations

from abc import abstractmethod

from macaw.emu.agents import Agent
from macaw.emu.faults import Fault
from macaw.isa.model import Window as Row


class WindowNotReady(Exception):
    """A window cannot let bytes pass yet, or a memory cannot be accessed yet.

    The requester tries again when one of `cores` (a mask) has changed, or in cycle `time` at the
    latest (NEVER: no such cycle is known). `Core.postpone` does so. If `ordered`, no later access
    may overtake this one.
    """

    def __init__(self, on: str, cores: int, time: int, ordered: bool = False) -> None:
        super().__init__(on)
        self.ordered = ordered
        self.on = on
        self.cores = cores
        self.time = time


class Windowed(Agent):
    """An agent with windows, which are rows of its table (`macaw.isa.model.Window`).

    It calls `changed` of the device when it took or gave bytes. While it waits for its own window
    it sets its time in `push` or `pull`.
    """

    @abstractmethod
    def window_room(self, window: str, time: int, wanted: int) -> tuple[int, int]:
        """Return how many bytes may pass the window of this name at cycle `time`.

        If these are fewer than `wanted`, the second number is the first cycle in which so many
        may pass (NEVER: not before the core announces a change); it is after `time`.
        """

    @abstractmethod
    def push(self, window: str, data: bytes, time: int) -> None:
        """Take bytes that came through a window, at most as many as it has room for at `time`."""

    @abstractmethod
    def pull(self, window: str, length: int, time: int) -> bytes:
        """Give bytes through a window, at most as many as it has at `time`."""


class Window:
    """A window of a core of a device."""

    def __init__(self, row: Row, core: Windowed) -> None:
        instance = core.number - core.table.number
        self.row = row
        self.core = core
        self.start = row.start(instance)
        self.end = self.start + row.size

    def room(self, time: int, address: int, what: str) -> int:
        """Return how many bytes may pass at cycle `time`, at least 1.

        Raises `WindowNotReady`, `Fault`.
        """
        self._check(address, what)
        count, again = self.core.window_room(self.row.name, time, 1)
        if count:
            return count
        wanted = "room in" if self.row.direction == "in" else "bytes of"
        raise WindowNotReady(f"{wanted} {self.name}", 1 << self.core.number, again)

    def whole(self, time: int, address: int, size: int, what: str) -> None:
        """Raise `WindowNotReady` unless `size` bytes may pass at cycle `time`. Raises `Fault`."""
        self._check(address, what)
        count, again = self.core.window_room(self.row.name, time, size)
        if count < size:
            wanted = "room for " if self.row.direction == "in" else ""
            on = f"{wanted}{size} bytes in {self.name}"
            raise WindowNotReady(on, 1 << self.core.number, again)

    @property
    def name(self) -> str:
        """The window's name and its core's: `netin of nnp`."""
        return f"{self.row.name} of {self.core.name}"

    def _check(self, address: int, what: str) -> None:
        """Raise `Fault` if bytes do not pass in the direction of the access."""
        direction = "in" if what in ("store", "write") else "out"
        if direction != self.row.direction:
            does = "takes bytes" if self.row.direction == "in" else "gives bytes"
            raise Fault(
                "out-of-range access",
                f"{what} at {address:#010x}: {self.name} only {does}",
                {"address": address},
            )
