"""Reads announcements of cores: the place that acts, and the registers that it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from macaw.debugger.places import Place
from macaw.emu.faults import Fault
from macaw.isa.codec import DecodeError, decode
from macaw.isa.touching import Place as Register
from macaw.isa.touching import touched_registers

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device

Values = Mapping[str, Any]  # the values of an announcement, by name


def place_of(core: Core, values: Values) -> Place:
    """Return the place in `core` to which an announcement refers.

    An announcement is a report of the core on what it does, such as the start of an instruction.
    `values` are its fields. A field with the name of one of the core's levels of units, such as
    `cluster`, is the index of the unit at this level.
    """
    units = []
    for level in core.table.levels:
        if level not in values:
            break
        units.append(int(values[level]))
    return Place(core.name, tuple(units))


def inside(place: Place, where: list[Place]) -> bool:
    """Return whether a place equals, contains or is part of one of the places in `where`.

    The result is also True if `where` is empty.
    """
    return not where or any(
        place.core == other.core
        and all(a == b for a, b in zip(place.units, other.units, strict=False))
        for other in where
    )


def reaches(core: Core, values: Values, where: Place) -> bool:
    """Return whether an announcement of `core` concerns units of the place `where`.

    An announcement is a report of the core on what it does; `values` are its fields.
    """
    if not inside(place_of(core, values), [where]):
        return False
    masks = [values.get(f"{level}s") for level in core.table.levels]
    return all(
        mask is None or mask >> unit & 1 for mask, unit in zip(masks, where.units, strict=False)
    )


def registers(device: Device, core: Core, values: Values) -> Mapping[str, frozenset[Register]]:
    """Return the registers that an announced instruction reads ("read") and writes ("write").

    If the announcement has register masks, the registers follow from these. Otherwise they follow
    from the instruction at the announcement's address. If there is no instruction, both sets are
    empty.
    """
    if "reads" in values:
        (file,) = core.table.files
        numbers = range(len(file.names))
        return {
            access: frozenset((file.name, at) for at in numbers if values[f"{access}s"] >> at & 1)
            for access in ("read", "write")
        }
    address = values["address"]
    try:
        word = int.from_bytes(device.memory.peek(address, 4), "little")
        instruction = decode(core.table, word, 32, address)
    except (Fault, DecodeError):  # the core will report the error
        return {"read": frozenset(), "write": frozenset()}
    reads, writes = touched_registers(core.table, instruction)
    return {"read": reads, "write": writes}
