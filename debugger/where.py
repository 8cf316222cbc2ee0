"""Finds where each core is in the source, and what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.stops import Wait, Where
from macaw.emu.copies import original

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.emu.core import Core
    from macaw.emu.device import Device


def where_of(program: Program, core: Core, address: int | None = None) -> Where:
    """Return where `core` is in the source of a program.

    `address` is the instruction's address; None stands for the core's next instruction.
    """
    address = core.next_address if address is None else address
    if address is None:
        return Where(core.name)
    place = original(program, core, address)
    line, near = program.line_at(place), program.symbol_at(place)
    symbol = None
    if near is not None:
        symbol = near[0].name + (f"+{near[1]}" if near[1] else "")
    file, number = (line.file, line.line) if line is not None else (None, None)
    layer = program.layer_at(place)
    return Where(core.name, address, file, number, symbol, None if layer is None else layer.name)


def waits_of(device: Device) -> tuple[Wait, ...]:
    """Return the waits of all cores that wait now, one record for each core."""
    waits = []
    for core in device.order:
        if core.running and core.waiting is not None:
            on, since, mask = core.waiting
            names = tuple(x.name for x in device.order if mask >> x.number & 1)
            waits.append(Wait(core.name, on, since, names, core.next_address))
    return tuple(waits)
