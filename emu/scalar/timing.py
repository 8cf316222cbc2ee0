"""The cost of instructions of the scalar base, by the family of the row, in device cycles.

Instructions do not overlap. `of_family` has the cost of a branch that is not taken (`taken`: of
one that is) and of accesses to local memory; other memory decides the cost of its accesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.isa import registry
from macaw.isa.rows import Instruction


class Timing:
    """The costs of the core `name`, from the settings `name.alu_cycles` and so on.

    Of a family of the core's own the cost is the setting with which the `cycles` of its rows begin.
    """

    def __init__(self, config: Mapping[str, Any], name: str) -> None:
        self.divider = int(config[f"{name}.divider"])  # device cycles to a cycle of the core

        def cost(field: str) -> int:
            return int(config[f"{name}.{field}"]) * self.divider

        alu = cost("alu_cycles")
        self.alu = alu
        self.taken = cost("branch_taken_cycles")
        self.local = cost("local_cycles")
        self.store = self.divider
        self.of_family = {
            "register": alu,
            "immediate": alu,
            "upper": alu,
            "multiply": cost("mul_cycles"),
            "divide": cost("div_cycles"),
            "load": self.local,
            "store": self.store,
            "branch": alu,
            "jump": self.taken,
            "csr": cost("csr_cycles"),
            "system": alu,
        }
        for row in registry.core(name).instructions:
            if row.family not in self.of_family and f"{name}.{_setting(row)}" in config:
                self.of_family[row.family] = cost(_setting(row))


def _setting(row: Instruction) -> str:
    """Return `alu_cycles` for a row with `alu_cycles, and the wait`."""
    return row.cycles.partition(",")[0]
