"""Windows: runs of addresses behind which a core takes bytes or gives them, and who asks waits.

The bytes pass in the order of the accesses; an address only says which window is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.isa.model import Window as Row


class Later(Exception):
    """A window cannot let bytes pass yet.

    Try again when one of `cores` (a mask) has changed, or in cycle `time` at the latest (NEVER:
    nothing is known of it). `Core.postpone` does so. So does memory that cannot be reached yet;
    then (`ordered`) no later access may pass.
    """

    def __init__(self, on: str, cores: int, time: int, ordered: bool = False) -> None:
        super().__init__(on)
        self.ordered = ordered
        self.on = on
        self.cores = cores
        self.time = time


class Window:
    """A window of a core of a device."""

    def __init__(self, row: Row, core: Core) -> None:
        instance = core.number - core.table.number
        self.row = row
        self.core = core
        self.start = row.start(instance)
        self.end = self.start + row.size

    def room(self, time: int, address: int, what: str) -> int:
        """How many bytes may pass at cycle `time`, at least 1. Raises `Later`, `Fault`."""
        self._check(address, what)
        count, again = self.core.window_room(self.row.name, time, 1)
        if count:
            return count
        wanted = "room in" if self.row.direction == "in" else "bytes of"
        raise Later(f"{wanted} {self.name}", 1 << self.core.number, again)

    def whole(self, time: int, address: int, size: int, what: str) -> None:
        """Raise `Later` unless `size` bytes may pass at once at cycle `time`. Raises `Fault`."""
        self._check(address, what)
        count, again = self.core.window_room(self.row.name, time, size)
        if count < size:
            wanted = "room for " if self.row.direction == "in" else ""
            raise Later(f"{wanted}{size} bytes in {self.name}", 1 << self.core.number, again)

    @property
    def name(self) -> str:
        """`netin of nnp`."""
        return f"{self.row.name} of {self.core.name}"

    def _check(self, address: int, what: str) -> None:
        way = "in" if what in ("store", "write") else "out"
        if way != self.row.direction:
            does = "takes bytes" if self.row.direction == "in" else "gives bytes"
            raise Fault(
                "out-of-range access",
                f"{what} at {address:#010x}: {self.name} only {does}",
                {"address": address},
            )
