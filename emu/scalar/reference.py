"""The reference engine of cp: it interprets one instruction after the other."""

from __future__ import annotations

from macaw.emu.faults import Stop
from macaw.emu.scalar.hart import Hart


class ReferenceHart(Hart):
    """The reference engine of cp."""

    def advance(self, limit: int) -> Stop | None:
        """Interpret instructions that begin before cycle `limit`. Raises `Fault`."""
        self.shared = False
        while self.time < limit:
            if self.retired >= self.trace.open_at:
                self.open_groups()
            stop = self.interpret()
            if stop is not None or self.shared or self.listeners:
                return stop
        return None
