"""Remembers at which instruction each core has arrived, and which points have stopped it there.

A core arrives at an instruction each time it comes to it. Each breakpoint is tested once for each
arrival. `Inspectable.moment` returns a value that differs between any two arrivals of a core.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device

NONE = 1 << 62  # no point has so high a number


@dataclass
class Arrival:
    """One arrival of a core at an instruction, and the points that must not stop it there again."""

    moment: object  # `Inspectable.moment`
    points: set[int] = field(default_factory=set)  # numbers of points that were counted here
    newest: int = NONE  # points with a higher number were set while a stop showed the instruction


class Arrivals:
    """The last arrival of each core at each address."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, int], Arrival] = {}  # by core and address

    def clear(self) -> None:
        """Drop all arrivals, before another run or after a change of position."""
        self._at.clear()

    def show(self, core: Core, newest: int) -> None:
        """Record that a stop shows a core before its next instructions.

        In these arrivals, points with a number above `newest` do not stop the core, because the
        user has set them after this stop.
        """
        for address in core.next_addresses:
            arrival = self._arrival(core, address)
            arrival.newest = min(arrival.newest, newest)

    def report(self, core: Core, address: int, numbers: Iterable[int]) -> None:
        """Record that a stop has reported points, by number, at a core's instruction.

        In this arrival the points do not stop the core again.
        """
        self._arrival(core, address).points.update(numbers)

    def is_new(self, core: Core, number: int, address: int) -> bool:
        """Return whether a point may still stop a core in its present arrival at `address`."""
        arrival = self._at.get((core.name, address))
        if arrival is None or arrival.moment != core.moment(address):
            return True
        return number not in arrival.points and number <= arrival.newest

    def is_shown(self, core: Core, address: int) -> bool:
        """Return whether the last stop showed a core in its present arrival at `address`."""
        arrival = self._at.get((core.name, address))
        return (
            arrival is not None and arrival.moment == core.moment(address) and arrival.newest < NONE
        )

    def transfer(self, old: Device, new: Device) -> None:
        """Keep the arrivals when a new device in the same state replaces the old one."""
        for (name, address), arrival in self._at.items():
            if old.cores[name].moment(address) == arrival.moment:
                arrival.moment = new.cores[name].moment(address)

    def _arrival(self, core: Core, address: int) -> Arrival:
        moment = core.moment(address)
        arrival = self._at.get((core.name, address))
        if arrival is None or arrival.moment != moment:
            arrival = self._at[core.name, address] = Arrival(moment)
        return arrival
