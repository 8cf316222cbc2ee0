"""The events for which `catch` can wait on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.point import PointError
from macaw.isa.common import EVENTS

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.isa.model import Event


def events_of(device: Device) -> dict[str, Event]:
    """Return the events that any core can have, and those of the device's cores, by name."""
    rows = [row for core in device.order for row in core.table.events]
    return {row.name: row for row in (*EVENTS, *rows)}


def event_of(device: Device, name: str) -> Event:
    """Return the event with a name. Raises `PointError`."""
    events = events_of(device)
    if name not in events:
        raise PointError(f"no event is called '{name}', there are {', '.join(events)}")
    return events[name]
