"""The charges of a core over time: a log that needs few bytes, because it stores only changes.

A charge says for what a core used a cycle. The units of a core, such as the PEs of a row, may have
different charges in a cycle, but the log has only one: the charge of most units, or the charge that
`CoreLog.divide` chose. That method divides a span of cycles among the charges of the units.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

from macaw.isa.causes import BY_NAME
from macaw.isa.typed_records import NamedTuple

IDLE = -1  # the number of a charge, for cycles that have no charge


class Charge(NamedTuple):
    """The cause of some cycles of a core, and what the core did or waited for in them.

    `address` is the address of the instruction that took the cycles or waited. For a wait, `whom`
    names the cores, or the unit of the same core, for which the core waits; `cores` is the mask of
    these cores, and `producer` the address of the instruction for whose result it waits.
    """

    cause: str  # a leaf of `macaw.isa.causes.CAUSES`
    address: int | None = None
    whom: str = ""
    producer: int | None = None
    cores: int = 0

    @property
    def is_wait(self) -> bool:
        """Whether the core waited for another core."""
        return BY_NAME[self.cause].parent == "others"

    @property
    def is_idle(self) -> bool:
        """Whether the core had nothing to do."""
        return BY_NAME[self.cause].parent == "idle"


class CoreLog:
    """The charges of a core from cycle 0 on; cycles without a charge are idle.

    `begins` are the cycles in which the charge changes, in their order, from 0 on. `numbers` are
    the indices of the charges in `charges`, or `IDLE`.
    """

    def __init__(self) -> None:
        self.begins, self.numbers = array("q", [0]), array("q", [IDLE])
        self.charges: list[Charge] = []
        self._indices: dict[Charge, int] = {}
        self._due: dict[Charge, float] = {}  # cycles that a charge has yet to get

    def add(self, begin: int, charge: Charge | None) -> None:
        """Let the core have `charge` from cycle `begin` on, until another charge is added.

        `begin` must not be less than in the previous call.
        """
        number = IDLE
        if charge is not None:
            number = self._indices.setdefault(charge, len(self.charges))
            if number == len(self.charges):
                self.charges.append(charge)
        if begin == self.begins[-1]:
            self.begins.pop()
            self.numbers.pop()
        if not self.numbers or self.numbers[-1] != number:
            self.begins.append(begin)
            self.numbers.append(number)

    def divide(self, begin: int, end: int, weights: Mapping[Charge, int]) -> None:
        """Divide the cycles from `begin` to `end` - 1 among charges, in proportion to `weights`.

        So with the weights 3 and 1, eight cycles are divided into 6 and 2. If any of the charges
        have an address, only these get cycles. A fraction of a cycle is carried to the next call.
        """
        some = {charge: weight for charge, weight in weights.items() if charge.address is not None}
        some = some or dict(weights)
        if len(some) == 1:
            self.add(begin, *some)
            return
        left, whole = end - begin, sum(some.values())
        for charge, weight in some.items():
            self._due[charge] = self._due.get(charge, 0.0) + (end - begin) * weight / whole
        while left:
            for charge in sorted(some, key=lambda charge: -self._due[charge]):
                share = min(left, max(int(self._due[charge]), 1))
                if share:
                    self.add(begin, charge)
                    begin, left = begin + share, left - share
                    self._due[charge] -= share

    def spans(self, cycles: int) -> Iterator[tuple[int, int, Charge | None]]:
        """Yield begin, end and charge of each span before cycle `cycles`."""
        ends = [*self.begins[1:], cycles]
        for begin, end, number in zip(self.begins, ends, self.numbers, strict=True):
            if begin < min(end, cycles):
                charge = None if number == IDLE else self.charges[number]
                yield begin, min(end, cycles), charge
