"""What the words of an island tell its trace block, and listeners (docs/timing-fim.md).

An instruction of the trace is a word of any block; they are numbered in the order in which they
begin. What a word uses is known when it has acted: by differences of counts that the island
keeps anyway. The fast engine does repeats of a `fim` while words of other blocks that come earlier
have yet to be done; these repeats are told when it is their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from macaw.emu.tallies import ARRAY, INDEX, UNIT
from macaw.emu.trace import BEFORE
from macaw.isa.fim_circuit import IOSA, OPERATIONS, Operation

if TYPE_CHECKING:
    from macaw.emu.fim.processor import Island
    from macaw.emu.fim.state import Block
    from macaw.isa.codec import Decoded

    Act = Callable[[Island, Block, Mapping[str, int], int], bool]

# So many occurrences (`macaw.isa.trace.OCCURRENCES`) between two cycles: of, begin, until, times.
Uses = tuple[str, int, int, int]

UNKNOWN = -1  # the number of a word that the trace does not know
_READS, _WRITES, _READS_HELD, _WRITES_HELD, _PULLED, _PUSHED = (
    INDEX[name]
    for name in (
        "reads",
        "writes",
        "reads_blocked",
        "writes_blocked",
        "external_reads",
        "external_writes",
    )
)


@dataclass(slots=True)
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

    def uses(self) -> list[Uses]:
        """What they use, all together."""
        count, last = self.count, self.at + (self.count - 1) * self.period
        return _used(
            "writes" if self.writes else "reads",
            (self.asked, self.at, last, last + self.result),
            count * (self.reads + self.writes),
            count * self.products,
            count * self.passes,
            self.first_waits + (count - 1) * self.waits,
        )


def _used(
    kind: str, times: tuple[int, ...], accesses: int, products: int, passes: int, waits: int
) -> list[Uses]:
    """What repeats of a fim use.

    `times` are the cycles for which the first was asked, in which it was, in which the last was,
    and in which that one's result is there.
    """
    asked, at, last, until = times
    found = [(kind, at, last, accesses)] if accesses else []
    if products:
        found.append(("unit", at, until, products))
        found.append(("array", at, until, passes))
    if waits:
        found.append((f"{kind}_blocked", asked, last, waits))
    return found


def step(island: Island, block: Block, item: Decoded, act: Act, limit: int) -> bool:
    """Do a word of a block, or repeats of a fim, by `act`, and tell of it; as `act` does."""
    marks = item.row.writes == "trace"
    fresh = not block.repeat
    if island.alone and not marks and not island.listeners and (fresh or island.tallied is block):
        if block.ahead is not None:
            catch_up(island, block.time, block.index)
            if not island.tracing:
                return act(island, block, item.values, limit)
        return _alone(island, block, item.values, act, limit)
    if island.untold != UNKNOWN:
        absorb(island)
    time, address = block.time, block.pc
    for other in island.blocks:
        if other.ahead is not None:
            catch_up(island, time, block.index, marks)
            break
    number = island.begun if fresh else UNKNOWN
    counts, dram = island.counts, island.dram
    held, pushed, pulled = dram.held, counts["pushed"], counts["pulled"]
    island.run = None
    ended = act(island, block, item.values, limit)
    if block.waiting:
        return ended
    if marks:  # the block knows of it
        if island.listeners:
            island.announce("done", address=address, block=block.index, until=block.time)
        return ended
    begun = BEFORE
    if fresh and island.tracing:
        block.number, begun = number, time
    held = dram.held - held
    run = island.run
    if run is not None:
        operation = OPERATIONS[item.values["n"]]
        if run.times > 1 and not island.alone:
            block.ahead = _repeats(island, block, operation, time, held)
            if begun != BEFORE:
                island.trace.begin(begun, number)
        else:
            until = 0 if block.repeat else block.time
            _tell(island, block, _uses(island, block, operation, time, held), until, address, begun)
        return ended
    pushed, pulled = counts["pushed"] - pushed, counts["pulled"] - pulled
    uses: Sequence[Uses] = ()
    if pushed or pulled or held:
        uses = (
            ("external_reads", time, dram.data_end, pulled),
            ("external_writes", time, dram.data_end, pushed),
            ("writes_blocked" if pushed else "reads_blocked", time, block.time, held),
        )
    until = block.time if block.running else time + island.divider
    _tell(island, block, uses, until, address, begun)
    return ended


# --- an island with one block left: one word after the other ---


def _alone(island: Island, block: Block, values: Mapping[str, int], act: Act, limit: int) -> bool:
    """As `step`, into the tally of what the trace will have at its next border."""
    trace, tally, counts, dram = island.trace, island.tally, island.counts, island.dram
    time, fresh = block.time, not block.repeat
    held, pushed, pulled = dram.held, counts["pushed"], counts["pulled"]
    island.run = None
    number = island.retired if fresh else block.number
    ended = act(island, block, values, limit)
    if block.waiting:
        return ended
    if fresh:
        if number >= trace.open_at:
            absorb(island)
            trace.open(number)
        if island.untold == UNKNOWN:
            trace.executed = number
        block.number, island.tallied = number, block
        tally.began(time)
    island.untold = number + 1
    held = dram.held - held
    run = island.run
    if run is not None:
        operation, banks = OPERATIONS[values["n"]], len(block.banks)
        writes = operation.to == IOSA
        if operation.has_column:
            tally.occurred(_WRITES if writes else _READS, run.at, run.at, run.times * banks)
        if operation.computes:
            latency, each = run.latency, run.times * banks
            until = run.at + (run.times - 1) * run.period + latency.result * island.divider
            tally.occurred(UNIT, run.at, until, each * latency.products)
            tally.occurred(ARRAY, run.at, until, each * latency.passes)
    else:
        writes = counts["pushed"] > pushed
        if writes:
            tally.occurred(_PUSHED, time, dram.data_end, counts["pushed"] - pushed)
        elif counts["pulled"] > pulled:
            tally.occurred(_PULLED, time, dram.data_end, counts["pulled"] - pulled)
    if held:
        tally.occurred(_WRITES_HELD if writes else _READS_HELD, time, time, held)
    if not block.repeat:
        island.tallied, block.number = None, UNKNOWN
        tally.ended(block.time if block.running else time + island.divider)
        if number + 1 >= trace.close_at:
            absorb(island)
            trace.close(number + 1)
    return ended


def absorb(island: Island) -> None:
    """Let the trace have the tally."""
    if island.untold != UNKNOWN:
        executed, island.untold = island.untold, UNKNOWN
        island.trace.absorb(island.tally, executed, int(island.tallied is not None))


# --- several blocks ---


def _uses(island: Island, block: Block, operation: Operation, time: int, held: int) -> list[Uses]:
    """What the repeats of a fim use that a block has just done."""
    run, banks = island.run, len(block.banks)
    assert run is not None
    each, last = run.times * banks, run.at + (run.times - 1) * run.period
    latency = run.latency
    return _used(
        "writes" if operation.to == IOSA else "reads",
        (time, run.at, last, last + latency.result * island.divider),
        each if operation.has_column else 0,
        each * latency.products if operation.computes else 0,
        each * latency.passes if operation.computes else 0,
        held,
    )


def _repeats(island: Island, block: Block, operation: Operation, time: int, held: int) -> Ahead:
    """The repeats of a fim that a block has just done."""
    run, banks = island.run, len(block.banks)
    assert run is not None
    waits, latency = run.waits * banks, run.latency
    writes = operation.to == IOSA
    return Ahead(
        time,
        run.at,
        run.period,
        run.times,
        island.divider,
        held - (run.times - 1) * waits,
        waits,
        banks if operation.has_column and not writes else 0,
        banks if writes else 0,
        latency.products * banks if operation.computes else 0,
        latency.passes * banks if operation.computes else 0,
        latency.result * island.divider,
        0 if block.repeat else block.time,
    )


def catch_up(island: Island, time: int, index: int = 0, exactly: bool = True) -> None:
    """Tell what is asked for before `time`, or at it by blocks before that of `index`.

    Unless `exactly`, only what is complete then.
    """
    late = [block for block in island.blocks if block.ahead is not None]
    if not late:
        return
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


def _tell(
    island: Island,
    block: Block,
    uses: Sequence[Uses],
    until: int,
    address: int = 0,
    begun: int = BEFORE,
) -> None:
    """Tell what the present word of a block uses, and that it is done (`until` is 0: it is not)."""
    if island.tracing:
        island.trace.did(block.number, uses, until, begun)
    if island.listeners:
        for of, begin, end, times in uses:
            if times:
                own: dict[str, int | str]
                own = {"address": address, "block": block.index, "of": of}
                island.announce("used", **own, begin=begin, until=end, times=times)
        if until:
            island.announce("done", address=address, block=block.index, until=until)
    if until:
        block.number = UNKNOWN
