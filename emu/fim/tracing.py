"""Tracing of islands: their reports to the trace block and to listeners (docs/timing-fim.md).

For the trace, an instruction is a word of any block. Words are numbered in the order in which they
start. The uses of a word are the difference between the island's counters before and after the
word. The fast engine may do repeats of a `fim` although other blocks have yet to do words of
earlier cycles. It reports these repeats only when the other blocks have done those words.
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.emu.fim.island import Island
from macaw.emu.fim.progress import Act, Values
from macaw.emu.fim.repeats import UNKNOWN, PendingRepeats, Use, repeat_uses
from macaw.emu.fim.state import Block
from macaw.emu.tallies import ARRAY, INDEX, UNIT
from macaw.emu.trace import BEFORE
from macaw.isa.codec import Decoded
from macaw.isa.fim_circuit import IOSA, OPERATIONS, Operation

_READS, _WRITES, _READS_BLOCKED, _WRITES_BLOCKED, _PULLED, _PUSHED = (
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


def do_word(island: Island, block: Block, word: Decoded, act: Act, limit: int) -> bool:
    """Do a word of a block with `act`, and report what it uses. Return the result of `act`.

    For a `fim`, `act` does only the repeats that are requested before cycle `limit`.
    """
    marks, starts = word.row.writes == "trace", not block.repeat
    tallies = starts or island.tally_block is block
    if island.is_single and tallies and not marks and not island.listeners:
        if block.pending is not None:
            report_until(island, block.time, block.index)
            if not island.tracing:
                return act(island, block, word.values, limit)
        return _do_single(island, block, word.values, act, limit)
    if island.tally_end != UNKNOWN:
        flush_tally(island)
    time, address = block.time, block.pc
    for other in island.blocks:
        if other.pending is not None:
            report_until(island, time, block.index, marks)
            break
    number = island.start_count if starts else UNKNOWN
    counts, dram = island.counts, island.dram
    bank_waits, pushed, pulled = dram.bank_waits, counts["pushed"], counts["pulled"]
    island.batch = None
    ended = act(island, block, word.values, limit)
    if block.waiting:
        return ended
    if marks:  # `Core.mark` has reported this word to the trace block
        if island.listeners:
            island.announce("done", address=address, block=block.index, until=block.time)
        return ended
    begun = BEFORE
    if starts and island.tracing:
        block.number, begun = number, time
    bank_waits = dram.bank_waits - bank_waits
    batch = island.batch
    if batch is not None:
        operation = OPERATIONS[word.values["n"]]
        if batch.count > 1 and not island.is_single:
            block.pending = _pending_repeats(island, block, operation, time, bank_waits)
            if begun != BEFORE:
                island.trace.begin(begun, number)
        else:
            operation_uses = _batch_uses(island, block, operation, time, bank_waits)
            until = 0 if block.repeat else block.time
            _report(island, block, operation_uses, until, address, begun)
        return ended
    pushed, pulled = counts["pushed"] - pushed, counts["pulled"] - pulled
    uses: Sequence[Use] = ()
    if pushed or pulled or bank_waits:
        uses = _transfer_uses(block, time, dram.data_end, pushed, pulled, bank_waits)
    until = block.time if block.running else time + island.divider
    _report(island, block, uses, until, address, begun)
    return ended


def _transfer_uses(
    block: Block, time: int, data_end: int, pushed: int, pulled: int, bank_waits: int
) -> Sequence[Use]:
    """Return the uses of a word of a block that pushes or pulls columns, for the trace.

    The word starts in cycle `time`, and its last data end before cycle `data_end`. `pushed` and
    `pulled` are the numbers of columns. `bank_waits` is the sum of the word's waits in cycles, each
    times the number of banks that waited.
    """
    return (
        ("external_reads", time, data_end, pulled),
        ("external_writes", time, data_end, pushed),
        ("writes_blocked" if pushed else "reads_blocked", time, block.time, bank_waits),
    )


# --- one block runs: a tally adds up what its words use ---


def _do_single(island: Island, block: Block, values: Values, act: Act, limit: int) -> bool:
    """Do a word with `act` as `do_word` does, while only one block runs.

    `values` are the operands of the word. What the word uses is only added to the island's tally.
    `flush_tally` reports the tally later, when a register group of the trace next starts or stops
    recording.
    """
    trace, tally, counts, dram = island.trace, island.tally, island.counts, island.dram
    time, starts = block.time, not block.repeat
    bank_waits, pushed, pulled = dram.bank_waits, counts["pushed"], counts["pulled"]
    island.batch = None
    number = island.retired if starts else block.number
    ended = act(island, block, values, limit)
    if block.waiting:
        return ended
    if starts:
        if number >= trace.open_at:
            flush_tally(island)
            trace.open(number)
        if island.tally_end == UNKNOWN:
            trace.executed = number
        block.number, island.tally_block = number, block
        tally.begin_instruction(time)
    island.tally_end = number + 1
    bank_waits = dram.bank_waits - bank_waits
    batch = island.batch
    if batch is not None:
        operation, banks = OPERATIONS[values["n"]], len(block.banks)
        writes = operation.to == IOSA
        if operation.has_column:
            tally.count_occurrence(
                _WRITES if writes else _READS, batch.at, batch.at, batch.count * banks
            )
        if operation.computes:
            latency, each = batch.latency, batch.count * banks
            until = batch.at + (batch.count - 1) * batch.period + latency.result * island.divider
            tally.count_occurrence(UNIT, batch.at, until, each * latency.products)
            tally.count_occurrence(ARRAY, batch.at, until, each * latency.passes)
    else:
        writes = counts["pushed"] > pushed
        if writes:
            tally.count_occurrence(_PUSHED, time, dram.data_end, counts["pushed"] - pushed)
        elif counts["pulled"] > pulled:
            tally.count_occurrence(_PULLED, time, dram.data_end, counts["pulled"] - pulled)
    if bank_waits:
        tally.count_occurrence(
            _WRITES_BLOCKED if writes else _READS_BLOCKED, time, time, bank_waits
        )
    if not block.repeat:
        island.tally_block, block.number = None, UNKNOWN
        tally.end_instruction(block.time if block.running else time + island.divider)
        if number + 1 >= trace.close_at:
            flush_tally(island)
            trace.close(number + 1)
    return ended


def flush_tally(island: Island) -> None:
    """Report the tally to the trace block, if it contains any instruction."""
    if island.tally_end != UNKNOWN:
        executed, island.tally_end = island.tally_end, UNKNOWN
        island.trace.absorb(island.tally, executed, int(island.tally_block is not None))


# --- several blocks run: each word has a report of its own ---


def _batch_uses(
    island: Island, block: Block, operation: Operation, time: int, bank_waits: int
) -> list[Use]:
    """Return the uses of the repeats of `operation` that a block has just done, for the trace.

    The repeats were requested from cycle `time` on. `bank_waits` is the sum of their waits in
    cycles, each times the number of banks that waited.
    """
    batch, banks = island.batch, len(block.banks)
    assert batch is not None
    each, last = batch.count * banks, batch.at + (batch.count - 1) * batch.period
    latency = batch.latency
    return repeat_uses(
        "writes" if operation.to == IOSA else "reads",
        (time, batch.at, last, last + latency.result * island.divider),
        each if operation.has_column else 0,
        each * latency.products if operation.computes else 0,
        each * latency.passes if operation.computes else 0,
        bank_waits,
    )


def _pending_repeats(
    island: Island, block: Block, operation: Operation, time: int, bank_waits: int
) -> PendingRepeats:
    """Return a record of the repeats of `operation` that a block has just done.

    The record is reported later. The repeats were requested from cycle `time` on. `bank_waits` is
    the sum of their waits in cycles, each times the number of banks that waited.
    """
    batch, banks = island.batch, len(block.banks)
    assert batch is not None
    waits, latency = batch.waits * banks, batch.latency
    writes = operation.to == IOSA
    return PendingRepeats(
        time,
        batch.at,
        batch.period,
        batch.count,
        island.divider,
        bank_waits - (batch.count - 1) * waits,
        waits,
        banks if operation.has_column and not writes else 0,
        banks if writes else 0,
        latency.products * banks if operation.computes else 0,
        latency.passes * banks if operation.computes else 0,
        latency.result * island.divider,
        0 if block.repeat else block.time,
    )


def report_until(island: Island, time: int, index: int = 0, exactly: bool = True) -> None:
    """Report pending repeats that were requested before cycle `time`.

    For blocks with numbers below `index`, also report the repeats requested in cycle `time`.
    Without `exactly`, report a block's pending repeats only if all of them can be reported now.
    """
    waiting = [block for block in island.blocks if block.pending is not None]
    if not waiting:
        return
    if len(waiting) > 1:
        waiting.sort(
            key=lambda block: (block.pending.last_requested if block.pending else 0, block.index)
        )
    for block in waiting:
        pending = block.pending
        assert pending is not None
        until = time + (block.index < index)
        if pending.last_requested < until:
            block.pending = None
            _report(island, block, pending.uses(), pending.until)
        elif exactly and pending.requested < until:
            first, block.pending = pending.split(pending.count_before(until))
            _report(island, block, first.uses(), 0)


def _report(
    island: Island,
    block: Block,
    uses: Sequence[Use],
    until: int,
    address: int = 0,
    begun: int = BEFORE,
) -> None:
    """Report the uses of a block's present word to the trace and to listeners.

    `address` is the address of the word, for the listeners. `until` is the cycle in which the word
    is done, or 0 if it is not done yet. `begun` is the cycle in which the word began, or `BEFORE`
    if an earlier report contained this cycle.
    """
    if island.tracing:
        island.trace.report(block.number, uses, until, begun)
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
