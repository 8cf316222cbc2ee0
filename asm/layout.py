"""Areas and sections: where the bytes of a program are in memory.

Statements append to areas. A section is one area, or several that follow one another in a fixed
order, such as the packets, sequences and data of a PE row. `place` gives every area its address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from macaw.asm.program import Section
from macaw.isa import memory_map
from macaw.isa.lazy_dataclass import dataclass

# The memories that can contain a section; OWN are the memories inside of cores.
LOCAL, EXTERNAL, UNIT, OWN = "local", "external", "unit", "own"
IMAGE_ALIGN = 64  # of tensors and images in external memory, in bytes
DROPPED = ".dropped"  # the section of bytes that no program loads, such as those for debuggers


class LayoutError(ValueError):
    """The error for data that are not zero in an area of zeros; the message names the section."""


@dataclass(eq=False)
class Area:
    """A piece of a section, to which statements append bytes.

    If `zeros` is true, all bytes are zero and the area stores only their number, `reserved`. `name`
    and `number` are the section and subsection of a source that the area contains. After the
    layout, `base` is the address that the core uses, and `load_base` the address that the loader
    uses. If `discarded`, the program does not contain the bytes.
    """

    section: str
    zeros: bool = False
    data: bytearray = field(default_factory=bytearray)
    reserved: int = 0
    align: int = 1
    base: int | None = None  # address as its core sees it, after the layout
    load_base: int = 0  # address at which the loader puts it
    discarded: bool = False  # the program does not contain its bytes
    name: str = ""  # the name of a source's section inside of this section, such as .text.startup
    number: int = 0  # the number of a subsection

    @property
    def is_dropped(self) -> bool:
        """Whether the area discards its bytes because no program loads its section."""
        return self.section == DROPPED

    @property
    def size(self) -> int:
        """The number of bytes in the area so far."""
        return self.reserved if self.zeros else len(self.data)

    def append(self, data: bytes) -> None:
        """Append bytes. Raises `LayoutError` if the area has `zeros` and a byte is not zero."""
        if self.zeros:
            if any(data):
                raise LayoutError(f"{self.section} holds zeros, no data")
            self.reserved += len(data)
        else:
            self.data += data

    def grow(self, count: int) -> None:
        """Append `count` zero bytes."""
        if self.zeros:
            self.reserved += count
        else:
            self.data += bytes(count)

    def align_to(self, step: int, padding: Callable[[int], bytes] | None = None) -> None:
        """Append padding up to a multiple of `step` bytes, a power of two.

        The address of the area itself will be a multiple of `step`, too.
        """
        self.align = max(self.align, step)
        missing = -self.size % step
        if missing:
            self.append(padding(missing)) if padding else self.grow(missing)


@dataclass(eq=False)
class SectionPlan:
    """A section before the layout: its areas in order, its memory, and perhaps a fixed address.

    `limit` is the size of its memory in bytes, and `bound` names the setting of this size. `step`,
    `element` and `direction` restrict the tensors in the section: their size must be a multiple of
    `step`; their type must be `element` and their direction `direction`, unless these are empty.
    `flags` are the flags of a `Section`. If the section contains the tensors of one part of the
    program, `part_section` is the name of the part's own section.
    """

    name: str
    memory: str  # LOCAL, EXTERNAL, UNIT, OWN
    flags: str
    areas: list[Area]
    core: str | None = None
    index: int | None = None
    address: int | None = None  # of a UNIT or OWN section
    limit: int = 0  # bytes of its memory; 0: shared with others, checked together
    bound: str = "mem.unit_half_bytes"  # the setting that gives the limit
    step: int = 1  # bytes; the size of each tensor in it is a multiple of `step`
    element: str = ""  # type of its tensors; empty: any
    direction: str = ""  # of its tensors: "in" or "out"; empty: both are possible
    align: int = 1
    # Of tensors: the section of the part that works with them. In a unit, the tensors follow this
    # section.
    part_section: str = ""

    def area_named(self, name: str, number: int) -> Area:
        """Return the area for the section `name` of a source and its subsection `number`.

        If the area does not exist, add it. The areas follow the order in which sources first name
        their sections; areas of one such section are ordered by subsection.
        """
        first = self.areas[0]
        names = list(dict.fromkeys(area.name for area in self.areas))
        if name not in names:
            names.append(name)
        for area in self.areas:
            if (area.name, area.number) == (name, number):
                return area
        align = first.align if "x" in self.flags else 1
        area = Area(self.name, first.zeros, align=align, name=name, number=number)
        self.areas.append(area)
        self.areas.sort(key=lambda item: (names.index(item.name), item.number))
        return area

    @property
    def size(self) -> int:
        """The size of the section in bytes. Valid after the layout."""
        first, last = self.areas[0], self.areas[-1]
        assert first.base is not None
        assert last.base is not None
        return last.base + last.size - first.base


@dataclass(eq=False)
class Layout:
    """The sections of a program, in the order in which the source first uses them."""

    plans: dict[str, SectionPlan] = field(default_factory=dict)

    def plan(self, plan: SectionPlan) -> SectionPlan:
        """Return the section with the name of `plan`. If there is none yet, add `plan` itself."""
        return self.plans.setdefault(plan.name, plan)

    def area(self, plan: SectionPlan) -> Area:
        """Return the first area of the section `plan`; add the section if it is new."""
        return self.plan(plan).areas[0]

    def external_size(self) -> int:
        """Return how many of the bytes assembled so far the loader puts into external memory."""
        plans = (
            plan
            for plan in self.plans.values()
            if plan.memory == EXTERNAL or (plan.memory == UNIT and not plan.part_section)
        )
        return sum(area.size for plan in plans for area in plan.areas)

    def place(self, config: Mapping[str, Any]) -> list[tuple[SectionPlan | None, str]]:
        """Give every area its address.

        Return (section, message) for each section that does not fit into its memory; the section is
        None if the message is about several.
        """
        problems: list[tuple[SectionPlan | None, str]] = []
        local = self._place_memory(LOCAL, memory_map.TEXT)
        if local > config["mem.local_bytes"]:
            text = f"the parts in local memory end at {local:#x}, the memory at"
            problems.append((None, f"{text} {config['mem.local_bytes']:#x} (mem.local_bytes)"))
        units = [plan for plan in self.plans.values() if plan.memory == UNIT]
        for plan in sorted(units, key=lambda plan: bool(plan.part_section)):
            assert plan.address is not None
            before = self.plans.get(plan.part_section)
            end = _place_areas(plan, plan.address + (before.size if before is not None else 0))
            if plan.size and end - plan.address > plan.limit:
                text = f"the image takes {plan.size} bytes"
                if plan.part_section:
                    text = f"the image and the tensors after it take {end - plan.address} bytes"
                text += f", half of a unit has {plan.limit}"
                problems.append((plan, f"{text} (mem.unit_half_bytes)"))
        for plan in self.plans.values():
            if plan.memory == OWN:
                assert plan.address is not None
                end = _place_areas(plan, plan.address)
                if end - plan.address > plan.limit:
                    text = f"{plan.name} takes {end - plan.address} bytes, its memory has"
                    problems.append((plan, f"{text} {plan.limit} ({plan.bound})"))
        external = self._place_memory(EXTERNAL, memory_map.EXTERNAL) - memory_map.EXTERNAL
        if external > config["mem.external_bytes"]:
            text = f"the program takes {external} bytes of external memory, which has"
            problems.append((None, f"{text} {config['mem.external_bytes']} (mem.external_bytes)"))
        return problems

    def _place_memory(self, memory: str, position: int) -> int:
        """Place the sections of one memory after each other, beginning at `position`.

        Return the end of the last section. In external memory, the images of PE rows get their load
        addresses after the sections with data and before the sections of zeros. Sections of zeros
        come last, in the order of their names. A disassembly declares all tensors at the top of the
        source; because of the order by name, the tensors get the same addresses again.
        """
        inside = [plan for plan in self.plans.values() if plan.memory == memory]
        units = (plan for plan in self.plans.values() if plan.memory == UNIT)
        images = [plan for plan in units if not plan.part_section]
        filled = [plan for plan in inside if not plan.areas[0].zeros]
        for plan in filled:
            position = _place_areas(plan, position)
        if memory == EXTERNAL:
            for plan in images:
                if plan.size:  # an empty part leaves no trace
                    position += -position % IMAGE_ALIGN
                assert plan.address is not None
                for area in plan.areas:
                    assert area.base is not None
                    area.load_base = position + area.base - plan.address
                position += plan.size
        zeros = [plan for plan in inside if plan.areas[0].zeros]
        for plan in sorted(zeros, key=lambda plan: plan.name):
            position = _place_areas(plan, position)
        return position

    def area_at(self, address: int) -> Area | None:
        """Return the area that contains an address, or else an area that ends at the address.

        Return None if there is no such area.
        """
        last = None
        for plan in self.plans.values():
            for area in plan.areas:
                assert area.base is not None
                if area.base <= address < area.base + area.size:
                    return area
                if address == area.base + area.size:
                    last = last or area
        return last

    def sections(self) -> tuple[Section, ...]:
        """Return the sections that are not empty, by load address."""
        sections = []
        for plan in self.plans.values():
            if not plan.size:
                continue
            data, start = bytearray(), plan.areas[0].base
            assert start is not None
            for area in plan.areas:
                if not area.zeros:
                    assert area.base is not None
                    data += bytes(area.base - start - len(data)) + area.data
            if not all(area.zeros for area in plan.areas):
                data += bytes(plan.size - len(data))
            sections.append(
                Section(
                    name=plan.name,
                    core=plan.core,
                    index=plan.index,
                    address=start,
                    load_address=plan.areas[0].load_base,
                    data=bytes(data),
                    size=plan.size,
                    align=max(plan.align, *(area.align for area in plan.areas)),
                    flags=plan.flags,
                )
            )
        return tuple(sorted(sections, key=lambda section: section.load_address))


def _place_areas(plan: SectionPlan, position: int) -> int:
    """Place a section's areas after each other, beginning at `position`; return their end.

    A section without bytes takes no place: it ends at `position`.
    """
    plan.align = max(plan.align, *(area.align for area in plan.areas))
    begin = position
    position += -position % plan.align
    for area in plan.areas:
        if area.size:
            position += -position % area.align
        area.base = area.load_base = position
        position += area.size
    return position if any(area.size for area in plan.areas) else begin
