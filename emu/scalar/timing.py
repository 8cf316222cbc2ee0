"""What an instruction of the scalar base costs, by the family of its row, in device cycles.

One instruction after the other: nothing overlaps. A taken branch costs more than one that
is not, a load as much as its memory says; those are not in `of_family`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.isa import registry
from macaw.isa.rows import Instruction


class Timing:
    """The costs of the core `name`, from the settings `name.alu_cycles` and so on.

    A family that is no family of the base costs what its rows' `cycles` begin with, a setting.
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
    """`alu_cycles` of `alu_cycles, and the wait`."""
    return row.cycles.partition(",")[0]
