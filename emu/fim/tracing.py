"""Tracing of islands: their reports to the trace block and to listeners (docs/timing-fim.md).

For the trace, an instruction is a word of any block. Words are numbered in the order in which they
start. The uses of a word are the difference between the island's counters before and after the
word. The fast engine may do repeats of a `fim` although other blocks have yet to do words of
earlier cycles. It reports these repeats only when the other blocks have done those words.
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.emu.fim.island import Island
from macaw.emu.fim.progress import Act
from macaw.emu.fim.repeats import UNKNOWN, Use
from macaw.emu.fim.state import Block
from macaw.emu.recordings import add_uses
from macaw.emu.trace import BEFORE
from macaw.isa.codec import Decoded


def do_word(island: Island, block: Block, word: Decoded, act: Act, limit: int) -> bool:
    """Do a word of a block with `act`, and report what it uses. Return the result of `act`.

    For a `fim`, `act` does only the repeats that are requested before cycle `limit`.
    """
    time, address, starts = block.time, block.pc, not block.repeat
    marks = word.row.writes == "trace"
    tallies = island.is_single and not (marks or island.listeners)
    tallies = tallies and (starts or island.tally_block is block)
    number, waits = island.retired, False  # the number as in `Island.start_count`
    for other in island.blocks:
        if other.repeat:
            number += 1
        if other.pending is not None:
            tallies, waits = False, waits or marks or other.due <= time
    if not tallies and island.tally_end != UNKNOWN:
        flush_tally(island)
    if waits:
        report_until(island, time, block.index, marks)
    bank_waits = island.dram.bank_waits
    island.batch, island.moved = None, 0
    ended = act(island, block, word.values, limit)
    if block.waiting:
        return ended
    if marks:  # `Core.mark` has reported this word to the trace block
        if island.listeners:
            island.announce("done", address=address, block=block.index, until=block.time)
        return ended
    begun = time if starts and island.tracing else BEFORE
    if begun != BEFORE:
        block.number = number
    batch = island.batch
    uses: Sequence[Use] = ()
    if batch is None:
        until = block.time if block.running else time + island.divider
        bank_waits = island.dram.bank_waits - bank_waits
        if island.moved or bank_waits:
            uses = _transfer_uses(island, word, time, block.time, bank_waits)
    elif batch.number > 1 and not island.is_single:
        block.put_off(batch)
        if begun != BEFORE:
            island.trace.begin(begun, number)
        return ended
    else:
        uses, until = batch.uses(), batch.until
    if tallies:
        _tally(island, block, begun, uses, until)
    else:
        island.trace.report(block.number, uses, until, begun)
        if island.listeners:
            _announce(island, block, uses, until, address)
    return ended


def _transfer_uses(
    island: Island, word: Decoded, begin: int, until: int, bank_waits: int
) -> Sequence[Use]:
    """Return the uses of a `word` that opens or closes a row, or that pushes or pulls columns.

    The word lasts from cycle `begin` up to (excluding) `until`. `bank_waits` is the sum of the
    word's waits in cycles, each times the number of banks that waited.
    """
    uses, writes = [], word.row.mnemonic == "push"
    if island.moved:
        moves = "external_writes" if writes else "external_reads"
        uses.append((moves, begin, island.dram.data_end, island.moved))
    if bank_waits:
        uses.append(("writes_blocked" if writes else "reads_blocked", begin, until, bank_waits))
    return uses


# --- one block runs: a tally adds up what its words use ---


def _tally(island: Island, block: Block, begun: int, uses: Sequence[Use], until: int) -> None:
    """Add the uses of the present word of `block`, the only block that runs, to the tally.

    `begun` is the cycle in which the word began, or `BEFORE` if it began in an earlier call.
    `until` is the cycle in which the word is done, or 0 if it is not done yet. `flush_tally`
    reports the tally later, when a register group of the trace next starts or stops recording.
    """
    trace, tally, number = island.trace, island.tally, block.number
    if begun != BEFORE:
        if number >= trace.open_at:
            flush_tally(island)
            trace.open(number)
        if island.tally_end == UNKNOWN:
            trace.executed = number
        island.tally_block = block
        tally.begin_instruction(begun)
    island.tally_end = number + 1
    add_uses(tally.values, uses, 0)
    if until:
        island.tally_block = None
        tally.end_instruction(until)
        if number + 1 >= trace.close_at:
            flush_tally(island)
            trace.close(number + 1)


def flush_tally(island: Island) -> None:
    """Report the tally to the trace block, if it contains any instruction."""
    if island.tally_end != UNKNOWN:
        executed, island.tally_end = island.tally_end, UNKNOWN
        island.trace.absorb(island.tally, executed, int(island.tally_block is not None))


# --- several blocks run: each word has a report of its own ---


def report_until(island: Island, time: int, index: int, exactly: bool) -> None:
    """Report to the trace those pending repeats that were requested before cycle `time`.

    Pending repeats are done, but not reported yet. For blocks with numbers below `index`, also
    report the repeats requested in cycle `time`. Without `exactly`, report the pending repeats of a
    block only if all of them were requested early enough.
    """
    due = []
    for block in island.blocks:
        pending = block.pending
        if pending is not None:
            until = time + (block.index < index)
            if block.due < until or (exactly and pending.requested < until):
                due.append((block.due, block.index, until, pending, block))
    due.sort()
    for last, _, until, pending, block in due:
        if last < until:
            block.pending = None
        else:
            pending, rest = pending.split(pending.count_before(until))
            block.put_off(rest)
        uses = pending.uses()
        island.trace.report(block.number, uses, pending.until)
        if island.listeners:
            _announce(island, block, uses, pending.until, 0)


def _announce(island: Island, block: Block, uses: Sequence[Use], until: int, address: int) -> None:
    """Announce the uses of a block's present word to listeners.

    `address` is the address of the word. `until` is the cycle in which the word is done, or 0 if it
    is not done yet.
    """
    for of, begin, end, times in uses:
        if times:
            own: dict[str, int | str]
            own = {"address": address, "block": block.index, "of": of}
            island.announce("used", **own, begin=begin, until=end, times=times)
    if until:
        island.announce("done", address=address, block=block.index, until=until)
