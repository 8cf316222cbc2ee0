"""The fast engine of a scalar core while its trace records.

Code runs as at other times, in an edition that counts (`Code.counts`), up to the next border:
the instruction with which a register group opens or behind which one closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.faults import Stop
from macaw.emu.scalar.semantics import Leave
from macaw.emu.tallies import ARRAY, UNIT

if TYPE_CHECKING:
    from macaw.emu.scalar.code import Run
    from macaw.emu.scalar.hart import Hart
    from macaw.emu.scalar.translation import Block


def advance(hart: Hart, limit: int) -> Stop | None:
    """As `Hart.advance`, to where nothing is recorded any more. Raises `Fault`."""
    trace, blocks = hart.trace, hart.traced.blocks
    while hart.tracing and hart.time < limit:
        before = hart.retired
        if before >= trace.open_at:
            hart.open_groups()
        border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
        pc, room = hart.pc, border - before
        block = blocks.get(pc)
        if block is not None and room < block.length:
            block = hart.traced.cut(pc)
        if block is None or hart.time + block.lead >= limit:
            is_plain = _run(hart, pc, room, limit)
            if hart._shared:
                return None
        else:
            is_plain = ran(hart, block, limit, room)
        if hart.retired >= trace.close_at:
            hart.close_groups()
        elif is_plain and hart.time < limit:
            stop = hart._one()
            if stop is not None:
                return stop
        if hart._shared:
            return None
    return None


def ran(hart: Hart, block: Block, limit: int, room: int) -> bool:
    """Run a block; whether the next instruction is for the plain way. Raises `Fault`.

    The next border comes after `room` instructions. A block that crosses none ends before it.
    """
    pc, before = hart.pc, hart.retired
    is_plain = block.function(hart, limit, room - block.length)
    if hart.refused is not None:
        fault, hart.refused = hart.refused, None
        raise fault
    done = hart.retired - before
    if not is_plain or (not block.crosses and room - done < block.length):
        return False
    hart.traced.left(pc, done)
    trace = hart.trace
    return hart.retired < trace.open_at and hart.retired < trace.close_at  # else a border is first


def _run(hart: Hart, pc: int, room: int, limit: int) -> bool:
    """A run, or as much of it as may be; whether the next instruction is for the plain way."""
    code = hart.traced
    run = code.runs.get(pc)
    if run is None:
        run = code.run(pc)
        if hart._shared:
            return False
    time = hart.time
    if run.length > room or time + run.lead >= limit:
        count = min(room, len(run.acts))
        while time + run.costs[count - 1] >= limit:
            count -= 1
        acts = run.acts[:count]
    else:
        count, acts = run.length, run.acts
    try:
        for act in acts:
            act()
        if count == run.length:
            following, cost = run.end()
        else:
            following, cost = pc + 4 * count, run.costs[count]
    except Leave as leave:
        _done(hart, run, leave.place, run.costs[leave.place])
        hart.pc = pc + 4 * leave.place
        return True
    if following != pc + 4 * count:
        code.arrived(following)
    _done(hart, run, count, cost)
    hart.pc = following
    return False


def _done(hart: Hart, run: Run, count: int, cost: int) -> None:
    """The first `count` instructions of a run are done, at a cost."""
    if not count:
        return
    tally, begin = hart.tally, hart.time
    if tally.begin < 0:
        tally.begin = begin
    uses = run.uses.counts[count]
    if uses:
        first, until = begin + run.uses.first, begin + run.uses.until[count]
        tally.occurred(UNIT, first, until, uses)
        tally.occurred(ARRAY, first, until, uses)
    hart.time = tally.until = begin + cost
    hart.retired += count
