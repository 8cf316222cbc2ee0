"""What the words of an island tell its trace block, and listeners (docs/timing-fim.md).

An instruction of the trace is a word of any block; they are numbered in the order in which they
begin. What a word uses is known when it has acted: by differences of counts that the island
keeps anyway. The fast engine does repeats of a `fim` while words of other blocks that come earlier
have yet to be done; these repeats are told when it is their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from isa.fim_circuit import IOSA, OPERATIONS, Operation

if TYPE_CHECKING:
    from emu.fim.processor import Island
    from emu.fim.state import Block
    from isa.codec import Decoded

    Act = Callable[[Island, Block, Mapping[str, int], int], bool]

UNKNOWN = -1  # the number of a word that began when nobody listened


class Use(NamedTuple):
    """So many occurrences, by the name of `isa.trace.OCCURRENCES`, between two cycles."""

    of: str
    begin: int
    until: int
    times: int


@dataclass
class Ahead:
    """Repeats of a fim: the cycle for which the first was asked, when it was, cycles between them.

    The next one is asked for `step` cycles after each. Of reads, writes, products and passes of
    the ALUs (whose results come `result` cycles later) each has the same.
    """

    asked: int
    at: int
    period: int
    count: int
    step: int
    first_waits: int
    waits: int  # of each of the others
    reads: int
    writes: int
    products: int
    passes: int
    result: int
    until: int  # the word is done; 0: there are more repeats

    def plain(self) -> tuple[int, ...]:
        """As a plain value, the arguments of a copy."""
        return astuple(self)

    def before(self, time: int) -> int:
        """How many of them are asked for before a cycle."""
        if self.asked >= time:
            return 0
        later = time - self.at - self.step  # of the second one, from which on they are even
        if self.count == 1 or later <= 0:
            return 1
        return min(self.count, 1 - -later // self.period)

    @property
    def last_asked(self) -> int:
        """The cycle for which the last one is asked."""
        if self.count == 1:
            return self.asked
        return self.at + (self.count - 2) * self.period + self.step

    def split(self, count: int) -> tuple[Ahead, Ahead]:
        """The first `count` of them, and the others."""
        at = self.at + count * self.period
        first = replace(self, count=count, until=0)
        asked = at - self.period + self.step
        rest = replace(self, asked=asked, at=at, count=self.count - count, first_waits=self.waits)
        return first, rest

    def uses(self) -> tuple[Use, ...]:
        """What they use, all together."""
        count, last = self.count, self.at + (self.count - 1) * self.period
        until = last + self.result
        kind = "writes_blocked" if self.writes else "reads_blocked"
        return (
            Use("unit", self.at, until, count * self.products),
            Use("array", self.at, until, count * self.passes),
            Use("reads", self.at, last, count * self.reads),
            Use("writes", self.at, last, count * self.writes),
            Use(kind, self.asked, last, self.first_waits + (count - 1) * self.waits),
        )


def step(island: Island, block: Block, item: Decoded, act: Act, limit: int) -> bool:
    """Do a word of a block, or repeats of a fim, by `act`, and tell of it; as `act` does."""
    marks = item.row.writes == "trace"
    time, index, address = block.time, block.index, block.pc
    catch_up(island, time, index, marks)
    begins = not block.repeat
    if begins:
        block.number = island.begun
    counts, dram = island.counts, island.dram
    held, pushed, pulled = dram.held, counts["pushed"], counts["pulled"]
    island.run = None
    ended = act(island, block, item.values, limit)
    if block.waiting:
        return ended
    if marks:  # the block knows of it
        if island.listeners:
            island.announce("done", address=address, block=index, until=block.time)
        return ended
    if begins and island.tracing:
        island.trace.begin(time, block.number)
    held = dram.held - held
    if island.run is not None:
        ahead = _repeats(island, block, OPERATIONS[item.values["n"]], time, held)
        if ahead.count > 1 and sum(other.running for other in island.blocks) > 1:
            block.ahead = ahead
        else:
            _tell(island, block, ahead.uses(), ahead.until, address)
        return ended
    pushed, pulled = counts["pushed"] - pushed, counts["pulled"] - pulled
    uses = (
        Use("external_reads", time, dram.data_end, pulled),
        Use("external_writes", time, dram.data_end, pushed),
        Use("writes_blocked" if pushed else "reads_blocked", time, block.time, held),
    )
    until = block.time if block.running else time + island.divider
    _tell(island, block, uses, until, address)
    return ended


def _repeats(island: Island, block: Block, operation: Operation, time: int, held: int) -> Ahead:
    """The repeats of a fim that a block has just done."""
    run, banks = island.run, len(block.banks)
    assert run is not None
    waits = run.waits * banks
    latency = island.latencies.of(block.mode)
    writes = operation.to == IOSA
    return Ahead(
        asked=time,
        at=run.at,
        period=run.period,
        count=run.times,
        step=island.divider,
        first_waits=held - (run.times - 1) * waits,
        waits=waits,
        reads=banks if operation.has_column and not writes else 0,
        writes=banks if writes else 0,
        products=latency.products * banks if operation.computes else 0,
        passes=latency.passes * banks if operation.computes else 0,
        result=latency.result * island.divider,
        until=0 if block.repeat else block.time,
    )


def catch_up(island: Island, time: int, index: int = 0, exactly: bool = True) -> None:
    """Tell what is asked for before `time`, or at it by blocks before that of `index`.

    Unless `exactly`, only what is complete then.
    """
    late = [block for block in island.blocks if block.ahead is not None]
    if len(late) > 1:
        late.sort(key=lambda block: (block.ahead.last_asked if block.ahead else 0, block.index))
    for block in late:
        ahead = block.ahead
        assert ahead is not None
        until = time + (block.index < index)
        if ahead.last_asked < until:
            block.ahead = None
            _tell(island, block, ahead.uses(), ahead.until)
        elif exactly and ahead.asked < until:
            first, block.ahead = ahead.split(ahead.before(until))
            _tell(island, block, first.uses(), 0)


def _tell(island: Island, block: Block, uses: Iterable[Use], until: int, address: int = 0) -> None:
    """Tell what the present word of a block uses, and that it is done (`until` is 0: it is not)."""
    number = block.number
    if island.tracing and island.trace.records(number):
        for use in uses:
            if use.times:
                island.trace.occurred(*use, number)
        if until:
            island.trace.end(until, number)
    if island.listeners:
        for use in uses:
            if use.times:
                island.announce("used", address=address, block=block.index, **use._asdict())
        if until:
            island.announce("done", address=address, block=block.index, until=until)
