"""Runs two programs side by side up to the first difference between their observations.

An observation is an action of a run, such as a write, a packet or a transfer. Observations of the
same kind by one core form a stream, for example all packets of a row. Items of a stream are
compared in their order, even if the two runs make them in different cycles. In memory, each byte is
a stream: the k-th value that one run writes to the byte is compared with the k-th value that the
other run writes to it. So two runs may differ in time, in the order of their cores and in the width
of their writes, and still be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from macaw.debugger.comparison.observations import Observation, ObservedRun, Write, registers
from macaw.debugger.comparison.subjects import REGISTERS, CompareError, Subject
from macaw.emu.engines import ENGINES

if TYPE_CHECKING:
    from macaw.debugger.session import Session

FIRST_CHUNK = 1000  # cycles of the first chunk; each following chunk is twice as long
MOST = 3_000_000  # the greatest number of items that are observed in one run
MOST_CYCLES = 1 << 40


@dataclass(frozen=True)
class Difference:
    """The first difference of two runs. A side is None if its run has no more items.

    `stream` is the stream with the difference, `number` the number of equal items before it in this
    stream. For memory, `stream` is the name of the area with the byte that differs, `offset` the
    offset of the byte in the area, and `number` counts equal values of this byte. For registers,
    `fields` has the fields that were compared.
    """

    subject: Subject
    stream: Any
    number: int
    sides: tuple[Observation | None, Observation | None]
    offset: int = 0
    fields: tuple[str, ...] = ()  # for registers: the compared fields of the core's state


@dataclass(frozen=True)
class Equal:
    """The result if two runs do not differ: `count` items were equal up to the runs' ends.

    `ends` says how each run ended, `cycles` in which cycle.
    """

    subject: Subject
    count: int
    ends: tuple[str, str]
    cycles: tuple[int, int]


class Matcher:
    """Compares the items of one run with those of the other run, in the order of the first run.

    An item is an observed action of a run, such as a write.
    """

    def __init__(self, this: ObservedRun, other: ObservedRun) -> None:
        self.this, self.other = this, other
        self.at = 0  # number of items of this run that are compared
        self._read = 0  # number of items of the other run that are in `_streams`
        self._streams: dict[Any, list[Any]] = {}  # items of the other run, by stream
        self._counts: dict[Any, int] = {}  # by stream: number of items that are compared

    def match(self) -> Difference | None:
        """Compare the items that both runs have so far; return the first difference, or None."""
        self._read_other()
        while self.at < len(self.this.items):
            item = self.this.items[self.at]
            if isinstance(item, Write):
                known, difference = self._match_write(item)
            else:
                known, difference = self._match_item(item)
            if difference is not None:
                return difference
            if not known:
                return None
            self.at += 1
        return None

    def _match_item(self, item: Observation) -> tuple[bool, Difference | None]:
        number = self._counts.get(item.stream, 0)
        others = self._streams.get(item.stream, [])
        if number >= len(others):
            return False, self._missing(item, number, 0) if self.other.over else None
        if others[number].item != item.item:
            sides = item, others[number]
            return True, Difference(self.this.subject, item.stream, number, sides)
        self._counts[item.stream] = number + 1
        return True, None

    def _match_write(self, item: Write) -> tuple[bool, Difference | None]:
        keys = [(item.stream, at) for at in range(item.first, item.first + len(item.item))]
        if not self.other.over and any(
            self._counts.get(key, 0) >= len(self._streams.get(key, ())) for key in keys
        ):
            return False, None
        for at, value in enumerate(item.item, item.first):
            key = item.stream, at
            number = self._counts.get(key, 0)
            others = self._streams.get(key, [])
            if number >= len(others):
                return True, self._missing(item, number, at)
            other: Write = others[number]
            if other.item[at - other.first] != value:
                sides = item, other
                return True, Difference(self.this.subject, item.stream, number, sides, at)
            self._counts[key] = number + 1
        return True, None

    def _missing(self, item: Observation, number: int, at: int) -> Difference:
        return Difference(self.this.subject, item.stream, number, (item, None), at)

    def _read_other(self) -> None:
        items = self.other.items
        for item in items[self._read :]:
            if isinstance(item, Write):
                for at in range(item.first, item.first + len(item.item)):
                    self._streams.setdefault((item.stream, at), []).append(item)
            else:
                self._streams.setdefault(item.stream, []).append(item)
        self._read = len(items)

    def extra(self) -> Difference | None:
        """Return the difference for the first item that only the second run has, or None.

        Both runs must have ended.
        """
        counts = dict(self._counts)
        for item in self.other.items:
            if isinstance(item, Write):
                keys = [(item.stream, at) for at in range(item.first, item.first + len(item.item))]
            else:
                keys = [item.stream]
            for key in keys:
                left = counts.get(key, 0)
                if not left:
                    number = self._counts.get(key, 0)
                    offset = key[1] if isinstance(item, Write) else 0
                    sides = None, item
                    return Difference(self.this.subject, item.stream, number, sides, offset)
                counts[key] = left - 1
        return None


def first_difference(this: Session, other: Session, subjects: list[Subject]) -> Difference | Equal:
    """Run both programs from their present positions to the first difference, or to their ends.

    `subjects` has for each run the data to compare. The positions of the sessions do not change.
    Raises `CompareError` if both runs have already ended, or if the comparison is interrupted or
    takes too long.
    """
    if this.device.stopped is not None and other.device.stopped is not None:
        raise CompareError("both runs have ended; `goto 0` goes back to their start")
    engines = [run.engine for run in (this, other)]
    if engines[0] == engines[1]:
        engines = [ENGINES[-1]] * 2
    fields = _fields((this, other), engines) if subjects[0].kind == REGISTERS else {}
    runs = [
        ObservedRun(one, subject, this.interrupts.take, engine, fields)
        for one, subject, engine in zip((this, other), subjects, engines, strict=True)
    ]
    matcher = Matcher(*runs)
    chunk = FIRST_CHUNK
    goals = [run.device.cycle for run in runs]
    while True:
        for place, run in enumerate(runs):
            goals[place] += chunk
            run.advance(goals[place])
            if run.interrupted:
                raise CompareError("the comparison was interrupted")
        difference = matcher.match()
        if difference is not None:
            return replace(difference, fields=fields.get(difference.stream, ()))
        if all(run.over for run in runs):
            difference = matcher.extra()
            if difference is not None:
                return difference
            ends = [run.stop.reason if run.stop else "" for run in runs]
            cycles = [run.device.cycle for run in runs]
            both = (ends[0], ends[1]), (cycles[0], cycles[1])
            return Equal(runs[0].subject, matcher.at, *both)
        if max(len(run.items) for run in runs) > MOST:
            raise CompareError(
                f"no difference in the first {MOST:,} items; go on from a later cycle"
            )
        chunk = min(chunk * 2, MOST_CYCLES)


def _fields(runs: Sequence[Session], engines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return, by core name, the fields of state that are registers or queues in both runs."""
    one, two = (
        registers(run.device.config, engine) for run, engine in zip(runs, engines, strict=True)
    )
    return {name: tuple(x for x in one[name] if x in two[name]) for name in one if name in two}
