"""Parts that a core runs as a copy: rows of the array that were given another row's image.

Instances of a core have places of their own for their parts, which lie a power of two apart: a
row its unit, an island its instruction memory. What stands at an address of one of them has the
name and the line of the same place in the part of another, if the bytes there are those of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from macaw.emu.faults import Fault
from macaw.isa.memory_map import HALF_SHIFT, UNIT_SHIFT

if TYPE_CHECKING:
    from macaw.asm.program import Program, Section
    from macaw.emu.core import Core

COMPARED = 64  # bytes around an instruction that tell a copy; cp may have patched some of them


def index_of(core: Core) -> int:
    """Which of the cores of its kind it is."""
    return core.number - core.table.number


def moved(core: Core, address: int, index: int, to: int) -> int:
    """The address in instance `to` of a core that is what `address` is in instance `index`."""
    memory = core.table.instruction_memory
    return address + ((to - index) << (UNIT_SHIFT if memory is None else memory.shift))


def original(program: Program, core: Core, address: int) -> int:
    """Where the program has what a core executes at an address; the address itself if nowhere."""
    if program.section_at(address) is not None:
        return address
    scores = [
        (_equal(core, address, section, at), at)
        for section, at in candidates(program, core, address)
    ]
    score, at = max(scores, key=lambda item: item[0], default=(0.0, address))
    return at if score > 0.5 else address


def candidates(program: Program, core: Core, address: int) -> Iterator[tuple[Section, int]]:
    """The parts that an address may lie in as a copy, and the place there."""
    for section in program.parts(core.table.name):
        if section.index is not None:
            at = moved(core, address, index_of(core), section.index)
            if section.holds(at):
                yield section, at


def _equal(core: Core, address: int, section: Section, at: int) -> float:
    """How much of the bytes around `address` is as it stands in a part around `at`."""
    begin = max(section.address, at - COMPARED // 2)
    data = section.data[begin - section.address :][:COMPARED]
    if not section.address <= at < section.address + len(section.data):
        return 0.0
    best = 0.0
    for held in _held(core, address - (at - begin), len(data)):
        some = [a == b for a, b in zip(held, data, strict=True) if a or b]  # zeros are everywhere
        best = max(best, sum(some) / max(1, len(some)))
    return best


def _held(core: Core, address: int, length: int) -> Iterator[bytes]:
    """What a core may have at an address: in either half of its unit, or in its own memory."""
    memory = core.device.memory
    places = [address]
    if core in memory.users:
        halves = 2 * memory.users.index(core), 2 * memory.users.index(core) + 1
        offset = address & (1 << HALF_SHIFT) - 1
        places = [memory.half_address(half) + offset for half in halves]
    for place in places:
        try:
            yield memory.peek(place, length)
        except Fault:
            continue
