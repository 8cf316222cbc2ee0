"""The areas of the image of a PE row's memory unit: packet lists, sequences, data, tensors."""

from __future__ import annotations

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.layout import UNIT, Area, SectionPlan
from macaw.asm.object_symbols import address_of
from macaw.asm.program import tensor_section
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Mistake, Name
from macaw.isa import memory_map
from macaw.isa.config import Configuration
from macaw.isa.pe import CORE, DATA_ALIGN, PACKET_ALIGN, SEQUENCE_ALIGN, SLOT_ALIGN

UNIT_WORD = "unit"  # `unit[a:b]`: bytes of the unit's half; and `at=unitR`


class RowImage:
    """The areas of the image of row `index`, one after the other in half 0 of the row's unit."""

    def __init__(self, state: AssemblyState, index: int) -> None:
        self.state = state
        self.index = index
        self.base = unit_base(index)
        name = CORE.section.format(index)
        self.lists = Area(name, align=PACKET_ALIGN)
        self.sequences = Area(name, align=SEQUENCE_ALIGN)
        self.data = Area(name, align=DATA_ALIGN)
        self.slots = Area(name, zeros=True, align=SLOT_ALIGN)
        areas = [self.lists, self.sequences, self.data, self.slots]
        limit = state.config["mem.unit_half_bytes"]
        self.plan = state.layout.plan(
            SectionPlan(name, UNIT, "a", areas, CORE.name, index, self.base, limit)
        )
        state.tensor_slots.sections[index] = tensor_section(unit_name(index))

    def offset_of(self, symbol: Definition, node: Name) -> int:
        """Return the byte offset of a symbol in the image. Raises `Mistake`.

        Valid after the layout.
        """
        address = address_of(symbol)
        if not self.base <= address <= self.base + self.plan.size:
            hint = f"put it after '.core {CORE.name}, {CORE.index}={self.index}'"
            raise Mistake(f"'{node.text}' does not lie in row {self.index}", node, hint)
        return address - self.base


def unit_name(row: int) -> str:
    """Return the name with which `at=` names a row's memory unit."""
    return f"{UNIT_WORD}{row}"


def unit_base(row: int) -> int:
    """Return the address of half 0 of a row's memory unit."""
    return memory_map.UNITS + (row << memory_map.UNIT_SHIFT)


def tensor_plans(config: Configuration) -> dict[str, SectionPlan]:
    """Return the sections for tensors in units, by the name that `at=` uses (`unit0`, ...).

    Each section follows the image of its row.
    """
    plans = {}
    for row in range(config[f"{CORE.name}.{CORE.index}s"]):
        name = tensor_section(unit_name(row))
        plans[unit_name(row)] = SectionPlan(
            name,
            UNIT,
            "aw",
            [Area(name, zeros=True, align=SLOT_ALIGN)],
            address=unit_base(row),
            limit=config["mem.unit_half_bytes"],
            part_section=CORE.section.format(row),
        )
    return plans
