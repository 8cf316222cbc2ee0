"""Copied code: finds the program's symbols and lines for a copy of code that a core executes.

A core may execute a copy of code that the program has for another core of the same kind. The rows
of the array of PEs often do. Each row or island has its own address range for code: a row
has its unit, an island its instruction memory. The starts of neighbouring ranges differ by a power
of two. An address in one range gets the symbol and source line of the same offset in another range,
if more than half of the bytes around both offsets are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from macaw.asm.program import Program, Section
from macaw.emu.core import Core
from macaw.emu.faults import Fault
from macaw.isa.memory_map import HALF_SHIFT, UNIT_SHIFT

# the number of bytes around an instruction that identify a copy; cp may have changed a few
COMPARED = 64


def index_of(core: Core) -> int:
    """Return the index of a core among the cores of its table, such as 2 for `pe[2]`."""
    return core.number - core.table.number


def same_offset(core: Core, address: int, index: int, to: int) -> int:
    """Return the address in the code range of core `to` that has the same offset as `address`.

    `address` is in the code range of core `index`. `index` and `to` are indices of cores of the
    same table (`index_of`).
    """
    memory = core.table.instruction_memory
    return address + ((to - index) << (UNIT_SHIFT if memory is None else memory.shift))


def original(program: Program, core: Core, address: int) -> int:
    """Return the address in `program` of the code that `core` executes at `address`.

    The core may execute a copy; then the result is the address in a section of the program from
    which the code was copied. The result is `address` itself if a section contains it, or if no
    section resembles the code.
    """
    if program.section_at(address) is not None:
        return address
    scores = [
        (_equal(core, address, section, at), at)
        for section, at in candidates(program, core, address)
    ]
    score, at = max(scores, key=lambda item: item[0], default=(0.0, address))
    return at if score > 0.5 else address


def candidates(program: Program, core: Core, address: int) -> Iterator[tuple[Section, int]]:
    """Yield the sections of other cores that may contain the original of the code at `address`.

    The sections are those of `program`. Each item is a pair: the section, and the address in it
    with the same offset as `address`.
    """
    for section in program.parts(core.table.name):
        if section.index is not None:
            at = same_offset(core, address, index_of(core), section.index)
            if section.holds(at):
                yield section, at


def _equal(core: Core, address: int, section: Section, at: int) -> float:
    """Return which share of the core's bytes around `address` equals those of a section.

    The bytes of the section are those around its address `at`. The result is from 0 (no byte is
    equal) to 1 (all bytes are equal). Bytes that are 0 on both sides do not count.
    """
    begin = max(section.address, at - COMPARED // 2)
    data = section.data[begin - section.address :][:COMPARED]
    if not section.address <= at < section.address + len(section.data):
        return 0.0
    best = 0.0
    for present in _present(core, address - (at - begin), len(data)):
        some = [a == b for a, b in zip(present, data, strict=True) if a or b]  # without equal zeros
        best = max(best, sum(some) / max(1, len(some)))
    return best


def _present(core: Core, address: int, length: int) -> Iterator[bytes]:
    """Yield the `length` bytes that the core would execute at `address`.

    A core that an on-chip unit feeds may execute code from either half of the unit, so there are
    two items, one for each half. A place that is outside of memory gives no item.
    """
    memory = core.device.memory
    places = [address]
    if core in memory.users:
        halves = 2 * memory.users.index(core), 2 * memory.users.index(core) + 1
        offset = address & (1 << HALF_SHIFT) - 1
        places = [memory.half_address(half) + offset for half in halves]
    for place in places:
        with suppress(Fault):
            yield memory.peek(place, length)
