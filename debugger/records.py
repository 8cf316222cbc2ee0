"""What can be said of a session's present: where cores are, who waits, what a stop was about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from macaw.debugger.expressions import compiled
from macaw.debugger.points import formed
from macaw.debugger.stops import Wait, Where
from macaw.emu.copies import original

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.debugger.places import Place
    from macaw.debugger.points import Point
    from macaw.debugger.session import Session
    from macaw.emu.core import Core
    from macaw.emu.device import Device
    from macaw.emu.faults import Stop


def where_of(program: Program, core: Core, address: int | None = None) -> Where:
    """A core at an address, or (None) at the one that comes next."""
    address = core.next_address if address is None else address
    if address is None:
        return Where(core.name)
    place = original(program, core, address)
    line, found = program.line_at(place), program.symbol_at(place)
    symbol = None
    if found is not None:
        symbol = found[0].name + (f"+{found[1]}" if found[1] else "")
    file, number = (line.file, line.line) if line is not None else (None, None)
    return Where(core.name, address, file, number, symbol)


def waits_of(device: Device) -> tuple[Wait, ...]:
    """What each core that waits waits for."""
    found = []
    for core in device.order:
        if core.running and core.waiting is not None:
            on, since, mask = core.waiting
            names = tuple(x.name for x in device.order if mask >> x.number & 1)
            found.append(Wait(core.name, on, since, names, core.next_address))
    return tuple(found)


def details(session: Session, raw: Stop) -> dict[str, Any]:
    """What a record of a stop of the device holds beside its reason: fields of `Stopped`."""
    core = session.device.cores.get(raw.core)
    where = session.where(core, raw.address) if core is not None else session.where()
    more: dict[str, Any] = {"where": where, "exit_code": raw.exit_code}
    if raw.fault is not None:
        fault = raw.fault
        more["fault"] = {"kind": fault.kind, "message": fault.message, "values": fault.values}
    if raw.reason == "deadlock":
        more["waits"] = session.waits()
    if session.watching.met:
        more["hits"] = tuple(session.watching.met)
    return more


def printed(session: Session, point: Point, place: Place | None) -> str:
    """What a dprintf says of the present, as seen from a place (None: from the focus)."""
    focus = (place,) if place is not None else None
    try:
        return formed(point.form, [compiled(session, x, focus).value() for x in point.values])
    except ValueError as error:
        return f"{point.form}: {error}"
