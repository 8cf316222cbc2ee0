"""vc: words in external memory. The default program starts it and waits until it is done."""

from __future__ import annotations

from asm.forms import Startup
from asm.forms.scalar import ScalarForm
from asm.layout import EXTERNAL, Area, Plan
from asm.output import entry_of


class CoreForm(ScalarForm):
    """A vc part; it begins at `_start` or with its first instruction."""

    def plan(self) -> Plan:
        name = self.core.section
        return Plan(name, EXTERNAL, "ax", [Area(name, align=4)], self.core.name, None)

    def startup(self) -> Startup:
        entry = entry_of(self.assembly, self.plan().name)
        if entry is None:
            return Startup()
        return Startup(starts=[(self.core.number, entry)], waits=1 << self.core.number)
