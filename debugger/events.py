"""The events for which `catch` can wait on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.point import PointError
from macaw.isa.common import EVENTS
from macaw.isa.model import Event

if TYPE_CHECKING:
    from macaw.emu.device import Device

# The event that only compiled networks have: breaks of the first core notice it.
LAYER = Event("layer", "A layer of a compiled network begins.")


def events_of(device: Device) -> dict[str, Event]:
    """Return the events for which `catch` can wait on a device, by name.

    An event that only one kind of core has is included if the device has such a core.
    """
    rows = [row for core in device.order for row in core.table.events]
    return {row.name: row for row in (*EVENTS, LAYER, *rows)}


def event_of(device: Device, name: str) -> Event:
    """Return the event with the name `name`. Raises `PointError` if the device has none."""
    events = events_of(device)
    if name not in events:
        raise PointError(f"no event is called '{name}', there are {', '.join(events)}")
    return events[name]
