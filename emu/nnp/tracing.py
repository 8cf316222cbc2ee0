"""What iterations of a chain tell the trace block, and listeners (docs/timing-nnp.md).

An instruction of the trace is a chain with all its iterations. It begins when its first vector is
read and ends when all that it wrote can be read; what an iteration does is told when it is
done, the end of the chain with its last one. Until then no other chain begins, so all is told of
the chain that began last, however much chains overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macaw.emu.nnp.chain import Chain
from macaw.emu.nnp.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from macaw.emu.nnp.iterations import Iterations


class Use(NamedTuple):
    """So many occurrences, by the name of `macaw.isa.trace.OCCURRENCES`, between two cycles."""

    of: str
    begin: int
    until: int
    times: int


def tell(core: Iterations, chain: Chain, way: Flow, count: int) -> None:
    """Tell what the next `count` iterations do, which go this way."""
    first = core.state.iteration
    uses = [use for use in _uses(core, chain, way, first, count) if use.times]
    if core.tracing:
        block = core.trace
        number = core.state.begun - 1
        if not first:
            popped = core.state.popped
            block.begin(popped[0][0] if popped else int(way.reads[0, 0]), number)
        for use in uses:
            block.occurred(*use, number)
        if first + count == chain.iterations and not core.state.unsent:
            block.end(max(int(way.written[-1].max()), way.stored), number)
    if core.listeners:
        for use in uses:
            core.announce("used", **use._asdict())


def tell_rest(core: Iterations, chain: Chain, planned: int, last: int) -> None:
    """Tell how much later than `planned` the last vector of an iteration was pushed: at `last`."""
    use = Use("writes_blocked", planned, last, last - planned)
    if core.tracing:
        number = core.state.begun - 1
        core.trace.occurred(*use, number)
        if core.state.iteration == chain.iterations:
            stores = any(not access.memory.setting for access in chain.writes)
            core.trace.end(max(last, core.state.stored if stores else 0), number)
    if core.listeners and use.times:
        core.announce("used", **use._asdict())


def _uses(core: Iterations, chain: Chain, way: Flow, first: int, count: int) -> Iterator[Use]:
    """What iterations do, all together."""
    state, timing = core.state, core.timing
    begin, end = int(way.reads[0, 0]), int(way.reads[-1, -1] + way.rates[-1, -1])
    if chain.source.memory.setting:
        yield Use("reads", begin, end, _read(core, chain, first, count))
    else:
        begin, end = _reading(chain, way, first, count)
        beats = core.beats(chain, chain.source, first, count)
        yield Use("external_reads", begin, end + timing.latency, beats)
    yield Use("reads", begin, end, count * _operands(chain))
    yield Use("reads_blocked", begin, end, way.read_waits + state.starved)
    begin, end = int(way.writes[0, 0]), int(way.written[-1].max())
    for access in chain.writes:
        if access.memory.setting:
            yield Use("writes", begin, end, way.written.size)
            continue
        yield Use("external_writes", begin, way.stored, core.beats(chain, access, first, count))
        yield Use("external_partial", begin, way.stored, core.partial(chain, access, first, count))
    yield Use("writes_blocked", begin, end, way.write_waits + state.full)
    if way.products is not None:
        cycles = timing.product(chain)
        begin, end = int(way.products[0]) - cycles, int(way.products[-1])
        tiles = chain.scalars["rows"] * chain.scalars["cols"]
        yield Use("unit", begin, end, count * tiles * timing.native)
        yield Use("array", begin, end, count * cycles // timing.divider)


def _operands(chain: Chain) -> int:
    """Vectors and tiles that one iteration reads beside its source."""
    found = sum(item.operand.count for item in chain.operations if item.operand is not None)
    return found + (chain.product.count if chain.product is not None else 0)


def _read(core: Iterations, chain: Chain, first: int, count: int) -> int:
    """Vectors or tiles that come from a register file, or vectors from NetInQ."""
    if chain.source.memory.queue:
        return count * chain.taken * (core.timing.native if chain.is_tiles else 1)
    return int(np.count_nonzero(chain.addresses(chain.source, first, count) >= 0))


def _reading(chain: Chain, way: Flow, first: int, count: int) -> tuple[int, int]:
    """From when to when vectors or tiles that are no padding are read; 0, 0: there are none."""
    times, rates = way.reads, way.rates
    inside = (chain.addresses(chain.source, first, count) >= 0).reshape(times.shape)
    times, rates = times[inside], rates[inside]
    return (int(times[0]), int(times[-1] + rates[-1])) if times.size else (0, 0)
