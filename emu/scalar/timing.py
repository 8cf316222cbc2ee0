"""The cost of instructions of the scalar base in device cycles, by instruction family.

Instructions do not overlap. `of_family` has the cost of each family. For branches this is the cost
of a branch that is not taken; `taken` is the cost of a taken branch. For loads and stores it is the
cost in local memory; for other memory the memory system decides the cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.isa import registry
from macaw.isa.rows import Instruction


class Timing:
    """The costs of the instructions of core `name`, from the settings `name.alu_cycles` and so on.

    For an instruction family that only this core has, the text `cycles` in the instruction table
    begins with the name of the setting.
    """

    def __init__(self, config: Mapping[str, Any], name: str) -> None:
        self.divider = int(config[f"{name}.divider"])  # device cycles in one cycle of the core

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
    """Return the name of the setting with which the text `cycles` of a table row begins.

    For example, the text "alu_cycles, and the wait" gives `alu_cycles`.
    """
    return row.cycles.partition(",")[0]
