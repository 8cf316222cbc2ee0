"""The reference engine of vc: it interprets one instruction after the other."""

from __future__ import annotations

import numpy as np

from macaw.emu.faults import Stop
from macaw.emu.vector.interpreter import VectorInterpreter


class ReferenceVectorCore(VectorInterpreter):
    """The reference engine of vc."""

    def advance(self, limit: int) -> Stop | None:
        """Interpret instructions that issue before cycle `limit`. Raises `Fault`."""
        self.shared = False
        with np.errstate(all="ignore"):  # NumPy would warn of results that the instructions define
            while self.time < limit and not self.shared:
                if self.tracing and self.retired >= self.trace.open_at:
                    self.open_groups()
                stop = self.interpret(limit)
                if stop is not None:
                    return stop
        return None
