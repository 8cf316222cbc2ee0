"""Arrivals: the instruction at which each core is, and the points that have stopped it there.

A core arrives at an instruction each time that it will execute this instruction next. Each
breakpoint is tested once for each arrival. `Inspectable.moment` returns a value that differs
between any two arrivals of a core.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device

NONE = 1 << 62  # greater than the number of any point


@dataclass
class Arrival:
    """One arrival of a core at an instruction, and the points that must not stop it there again.

    The core has come to the instruction, and has not executed it yet. `moment` is the result of
    `Inspectable.moment`. `points` has the numbers of the points whose hits in this arrival were
    already counted. If a stop has shown the user this instruction, `newest` is the greatest number
    of a point at that stop: points with greater numbers were set later and do not stop the core
    in this arrival.
    """

    moment: object
    points: set[int] = field(default_factory=set)
    newest: int = NONE


class Arrivals:
    """The last arrival of each core at each address."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, int], Arrival] = {}  # by core and address

    def clear(self) -> None:
        """Drop all arrivals, before another run or after a change of position."""
        self._at.clear()

    def show(self, core: Core, newest: int) -> None:
        """Record that a stop shows the user which instructions a core will execute next.

        `newest` is the greatest number of a point at this stop. Points with a greater number are
        set later. They do not stop the core in its present arrival at these instructions, but in
        its next one.
        """
        for address in core.next_addresses:
            arrival = self._arrival(core, address)
            arrival.newest = min(arrival.newest, newest)

    def report(self, core: Core, address: int, numbers: Iterable[int]) -> None:
        """Record that a stop has reported points at the instruction of `core` at `address`.

        `numbers` are the numbers of the points. In this arrival they do not stop the core again.
        """
        self._arrival(core, address).points.update(numbers)

    def is_new(self, core: Core, number: int, address: int) -> bool:
        """Return whether point `number` may still stop `core` at `address`.

        In its present arrival, the core does not stop at a point that was hit already, or that the
        user has set after a stop has shown the core there.
        """
        arrival = self._at.get((core.name, address))
        if arrival is None or arrival.moment != core.moment(address):
            return True
        return number not in arrival.points and number <= arrival.newest

    def is_shown(self, core: Core, address: int) -> bool:
        """Return whether a stop has shown the user that `core` is at `address` in this arrival."""
        arrival = self._at.get((core.name, address))
        return (
            arrival is not None and arrival.moment == core.moment(address) and arrival.newest < NONE
        )

    def transfer(self, old: Device, new: Device) -> None:
        """Make the arrivals valid for a new device, which has the same state as the old one."""
        for (name, address), arrival in self._at.items():
            if old.cores[name].moment(address) == arrival.moment:
                arrival.moment = new.cores[name].moment(address)

    def _arrival(self, core: Core, address: int) -> Arrival:
        moment = core.moment(address)
        arrival = self._at.get((core.name, address))
        if arrival is None or arrival.moment != moment:
            arrival = self._at[core.name, address] = Arrival(moment)
        return arrival
