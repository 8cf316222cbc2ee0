"""The uses of chains: what iterations report to the trace and to listeners (docs/timing-nnp.md).

For the trace, an instruction is a chain with all its iterations. It starts when its first vector is
read, and ends when everything that it wrote can be read. The core reports what an iteration uses
after it has executed the iteration. After the last iteration it reports the end of the chain, and
only then can another chain start. So the trace block assigns every use to the chain that started
last, even if chains overlap in time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.schedule import Schedule
from macaw.emu.nnp.schedules.timing import Timing
from macaw.emu.nnp.state import NnpState
from macaw.emu.nnp.traffic import Traffic
from macaw.isa.typed_records import NamedTuple


class Use(NamedTuple):
    """`times` occurrences of one kind, in the cycles `begin` to `until` - 1.

    `of` is the kind, a name in `macaw.isa.trace.OCCURRENCES`.
    """

    of: str
    begin: int
    until: int
    times: int


def uses(
    state: NnpState,
    timing: Timing,
    traffic: Traffic,
    chain: Chain,
    schedule: Schedule,
    first: int,
    count: int,
) -> Iterator[Use]:
    """Yield all uses of `count` iterations of a chain, from number `first` on.

    `schedule` has the times of the iterations, `traffic` counts their beats. The `times` of a use
    may be 0.
    """
    begin = int(schedule.reads[0, 0])
    end = int(schedule.reads[-1, -1] + schedule.read_rates[-1, -1])
    if chain.source.memory.setting:
        yield Use("reads", begin, end, _source_reads(timing, chain, first, count))
    else:
        begin, end = _read_span(chain, schedule, first, count)
        beats = traffic.beats(chain, chain.source, first, count)
        yield Use("external_reads", begin, end + timing.latency, beats)
    yield Use("reads", begin, end, count * _operand_count(chain))
    yield Use("reads_blocked", begin, end, schedule.read_waits + state.starved)
    begin, end = int(schedule.writes[0, 0]), int(schedule.readable[-1].max())
    for access in chain.writes:
        if access.memory.setting:
            yield Use("writes", begin, end, schedule.readable.size)
            continue
        stored = schedule.stored
        yield Use("external_writes", begin, stored, traffic.beats(chain, access, first, count))
        partial = traffic.partial_beats(chain, access, first, count)
        yield Use("external_partial", begin, stored, partial)
    yield Use("writes_blocked", begin, end, schedule.write_waits + state.full)
    if schedule.product_ends is not None:
        cycles = timing.product(chain)
        begin, end = int(schedule.product_ends[0]) - cycles, int(schedule.product_ends[-1])
        tiles = chain.scalars["rows"] * chain.scalars["cols"]
        yield Use("unit", begin, end, count * tiles * timing.native)
        yield Use("array", begin, end, count * cycles // timing.divider)


def _operand_count(chain: Chain) -> int:
    """Return how many vectors and tiles one iteration of a chain reads besides its source."""
    count = sum(item.operand.count for item in chain.operations if item.operand is not None)
    return count + (chain.product.count if chain.product is not None else 0)


def _source_reads(timing: Timing, chain: Chain, first: int, count: int) -> int:
    """Return how many reads of a register file or of NetInQ the source of a chain takes.

    The result is for `count` iterations from number `first` on. Padding is not read. From NetInQ
    each vector is one read, even if it is a part of a tile.
    """
    if chain.source.memory.queue:
        return count * chain.input_count * (timing.native if chain.is_tiles else 1)
    return int(np.count_nonzero(chain.addresses(chain.source, first, count) >= 0))


def _read_span(chain: Chain, schedule: Schedule, first: int, count: int) -> tuple[int, int]:
    """Return the first cycle in which the source is read, and the cycle after the last read.

    The result is for the source of `chain` in `count` iterations from number `first` on; `schedule`
    has their times. Padding does not count. Return (0, 0) if nothing is read.
    """
    times, rates = schedule.reads, schedule.read_rates
    inside = (chain.addresses(chain.source, first, count) >= 0).reshape(times.shape)
    times, rates = times[inside], rates[inside]
    return (int(times[0]), int(times[-1] + rates[-1])) if times.size else (0, 0)
