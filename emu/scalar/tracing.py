"""The fast engine of a scalar core while its trace records.

Code runs as at other times, in an edition that counts (`Code.counts`), up to the next border:
the instruction with which a register group opens or behind which one closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu.faults import Stop
from emu.scalar.semantics import Leave
from emu.tallies import ARRAY, UNIT

if TYPE_CHECKING:
    from emu.scalar.code import Run
    from emu.scalar.hart import Hart
    from emu.scalar.translation import Block


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
        part = None
        if block is None or room < block.length:
            part, start = in_part(hart, block, pc, room)
            if part is not None and part.function(hart, limit, 0, start, start + room):
                part = None
        if part is not None:
            is_plain = False
        elif hart.pc != pc:
            is_plain = True
        elif block is None or room < block.length or hart.time + block.lead >= limit:
            is_plain = _run(hart, pc, room, limit)
            if hart._shared:
                return None
        else:
            is_plain = block.function(hart, limit, room - block.length)
            if is_plain and border - hart.retired < block.length:
                is_plain = False  # it ended because of the border
            elif is_plain:
                hart.traced.left(pc, hart.retired - before)
        if hart.retired >= trace.close_at:
            hart.close_groups()
        elif is_plain and hart.time < limit:
            stop = hart._one()
            if stop is not None or hart._shared:
                return stop
    return None


def in_part(hart: Hart, block: Block | None, pc: int, room: int) -> tuple[Block | None, int]:
    """A block that can run up to the border, or on from it, and the place in it to start from."""
    if block is not None:
        if room >= block.length:
            return None, 0
        head = pc
    elif hart.inside[0] == pc:
        head = hart.inside[1]
    else:
        return None, 0
    whole = hart.traced.blocks.get(head)
    part = None if whole is None else hart.traced.part(head)
    if part is None or pc - head >= 4 * part.length:
        return None, 0
    hart.inside = pc + 4 * room, head  # where it goes on if it comes to the border
    return part, pc - head >> 2


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
