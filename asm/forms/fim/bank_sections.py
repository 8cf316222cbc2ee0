"""Sections for data that the loader writes to the banks of an island.

`.section .fim.0.bank3.row12` begins or continues a section of island 0. The section's first byte is
the first byte of row 12 of bank 3. All bytes of a section are in one bank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from macaw.asm.layout import OWN, Area, SectionPlan
from macaw.asm.program import tensor_section
from macaw.isa.fim_circuit import COLUMN_BYTES
from macaw.isa.fim_islands import BANK_SECTION, Geometry, Place, island_address

_NAME = re.compile(r"(.*)\.bank(0|[1-9]\d{0,3})\.row(0|[1-9]\d{0,4})")


class BankSections:
    """The sections of one island's banks, in the order of the source."""

    def __init__(self, part: str, island: int, memory: Geometry) -> None:
        self.part, self.island, self.memory = part, island, memory
        self.plans: list[SectionPlan] = []

    def plan(self, name: str) -> SectionPlan | None:
        """Return a new `SectionPlan` for the section `name`.

        Return None if the name does not denote a row of one of the island's banks.
        """
        match = _NAME.fullmatch(name)
        if match is None or match[1] != self.part:
            return None
        bank, row = int(match[2]), int(match[3])
        if bank >= self.memory.banks or row >= self.memory.rows:
            return None
        address = island_address(self.island) + self.memory.offset(Place(bank, row, 0))
        room = (self.memory.rows - row) * self.memory.row_bytes
        return SectionPlan(
            name, OWN, "aw", [Area(name, align=COLUMN_BYTES)], "fim", self.island, address,
            limit=room, bound="fim.rows",
        )  # fmt: skip

    @property
    def form(self) -> str:
        """A pattern of the sections' names, and the range of each number in it, for messages."""
        name = BANK_SECTION.format(self.part, "B", "R")
        return f"{name} (B 0 to {self.memory.banks - 1}, R 0 to {self.memory.rows - 1})"

    def problems(self, tensors: Area | None) -> Iterator[str]:
        """Yield a sentence for each section that overlaps another section or the tensors.

        `tensors` is the area of the tensors in this island (`at=islandI`), or None.
        """
        ranges = []
        for plan in self.plans:
            assert plan.address is not None
            size = sum(area.size for area in plan.areas)
            if 0 < size <= plan.limit:
                ranges.append((plan.address, plan.address + size, plan.name))
        if tensors is not None and tensors.size:
            start = island_address(self.island)
            ranges.append((start, start + tensors.size, tensor_section(f"island{self.island}")))
        for (_, end, first), (start, _, second) in pairwise(sorted(ranges)):
            if end > start:
                yield f"{first} and {second} overlap at {start:#x}"
