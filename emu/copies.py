"""Copied parts: a core that executes a copy of another instance's part, as rows of the array may.

Each instance of a core has its own place for a part, a power of two after that of the one before:
a row its unit, an island its instruction memory. An address of one instance gets the symbol and the
source line of the same offset in another instance's part if the bytes there are equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from macaw.asm.program import Program, Section
from macaw.emu.core import Core
from macaw.emu.faults import Fault
from macaw.isa.memory_map import HALF_SHIFT, UNIT_SHIFT

COMPARED = 64  # bytes around an instruction that identify a copy; cp may have patched some


def index_of(core: Core) -> int:
    """Return the index of a core among the instances of its table."""
    return core.number - core.table.number


def same_offset(core: Core, address: int, index: int, to: int) -> int:
    """Return the address in instance `to` with the offset that `address` has in `index`."""
    memory = core.table.instruction_memory
    return address + ((to - index) << (UNIT_SHIFT if memory is None else memory.shift))


def original(program: Program, core: Core, address: int) -> int:
    """Return the program's address of what a core executes at `address`, by default `address`."""
    if program.section_at(address) is not None:
        return address
    scores = [
        (_equal(core, address, section, at), at)
        for section, at in candidates(program, core, address)
    ]
    score, at = max(scores, key=lambda item: item[0], default=(0.0, address))
    return at if score > 0.5 else address


def candidates(program: Program, core: Core, address: int) -> Iterator[tuple[Section, int]]:
    """Yield the parts of which the code at an address may be a copy, and the address there."""
    for section in program.parts(core.table.name):
        if section.index is not None:
            at = same_offset(core, address, index_of(core), section.index)
            if section.holds(at):
                yield section, at


def _equal(core: Core, address: int, section: Section, at: int) -> float:
    """Return the fraction of bytes around `address` that equal those of a part around `at`."""
    begin = max(section.address, at - COMPARED // 2)
    data = section.data[begin - section.address :][:COMPARED]
    if not section.address <= at < section.address + len(section.data):
        return 0.0
    best = 0.0
    for present in _present(core, address - (at - begin), len(data)):
        some = [a == b for a, b in zip(present, data, strict=True) if a or b]  # zeros are common
        best = max(best, sum(some) / max(1, len(some)))
    return best


def _present(core: Core, address: int, length: int) -> Iterator[bytes]:
    """Yield the bytes that a core may execute at an address: in both halves of its unit."""
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
