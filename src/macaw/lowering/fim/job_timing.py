"""Predicts the cycles of an island's job from its blocks and copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import lcm

from macaw.emu.rules.fim_dram import Timings
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import COLUMN_BYTES
from macaw.isa.fim_islands import abilities
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.bank_timing import ANY, OTHER, BankTiming
from macaw.lowering.fim.block_program import Block
from macaw.lowering.fim.blocks_timing import blocks_timing
from macaw.lowering.fim.dma_timing import ISLAND, LOCAL, Copy, DmaTiming, Location
from macaw.lowering.fim.island_job import Job, copies


@dataclass(frozen=True)
class Cycles:
    """The cycles of a job.

    `bring` counts the cycles of the copies into banks, `fetch` those of the copies out of banks,
    and `compute` those from the first start of the blocks to their last end. `reorder` is the part
    of `bring` that brings inputs into the order of tiles, and `constants` the part that copies
    constants. `bring` takes `reopen` cycles more if the banks have other rows open. The other
    fields are explained in `macaw.lowering.fim.plan.Option`.
    """

    bring: int
    compute: int
    fetch: int
    reorder: int = 0
    reopen: int = 0  # more cycles to copy in if the banks have other rows open
    constants: int = 0  # part of `bring`: cycles to copy constants
    bring_queue_wait: int = 0  # cycles of waits for the dma's queue, as in `plan.Option`
    fetch_queue_wait: int = 0
    constants_queue_wait: int = 0
    until_last_start: int = (
        0  # part of `compute`: until the last start, while cp and dma serve only this job
    )
    slack: tuple[int, ...] = (0, 0, 0, 0)  # cycles that the parts can save, as in `plan.Option`

    @property
    def total(self) -> int:
        """The sum of `bring`, `compute` and `fetch`."""
        return self.bring + self.compute + self.fetch


_MANY = 4  # `predict` simulates all starts of a job if it has at most so many
_SMALL = 1000  # a job is small if it has at most so many copies and words


def queue_wait(ends: Sequence[int], config: Configuration) -> int:
    """Return for how many cycles cp waits until the queue of the dma has taken all copies.

    `ends` has the cycle in which cp queues the first copy, and the first cycle after each copy
    (`DmaTiming.ends`).
    """
    ahead = len(ends) - 1 - int(config["dma.queue"])
    return ends[max(0, ahead)] - ends[0]


def predict(job: Job, config: Configuration) -> Cycles:
    """Predict the cycles of a job, without cp's instructions, if nothing else uses the device.

    If the job starts the island more than `_MANY` times, only the first two starts and the last are
    simulated. Each start between them is assumed to take as long as the second. A job with the same
    blocks and copies as an earlier job has the same cycles, and is not simulated again. The earlier
    job may be for another island, if its circuits are equally fast.
    """
    blocks, phases, left_out = tuple(job.blocks()), list(job.phases()), 0
    # each start between the second and the last takes as long as the second
    if len(phases) > _MANY:
        phases, left_out = [*phases[:2], phases[-1]], len(phases) - 3
    period = lcm(int(config["dma.width"]), int(config["mem.external_width"]), COLUMN_BYTES)
    island = _first_alike(config, job.island)
    timed = tuple(
        tuple(
            tuple(_without_place(copy, period, island) for copy in copies(routes))
            for routes in (row.early, row.late, row.fetch)
        )
        for row in phases
    )
    size = sum(len(several) for row in timed for several in row) + sum(len(x.items) for x in blocks)
    simulate = _simulated if size <= _SMALL else _simulated_large
    return simulate(blocks, timed, left_out, config, island)


@lru_cache(maxsize=1024)
def _first_alike(config: Configuration, island: int) -> int:
    """Return the first island whose circuits have the same timing as those of `island`."""
    wanted = abilities(config, island)
    every = (abilities(config, number) for number in range(config["fim.islands"]))
    same = (x for x in every if (x.divider, x.lanes) == (wanted.divider, wanted.lanes))
    return next(same).island


def _without_place(copy: Copy, period: int, island: int) -> Copy:
    """Return `copy` with normalised addresses: two copies that become equal take the same cycles.

    An address in an island is moved to island `island`, at the same offset. An address in external
    or local memory loses its symbol, and its offset is reduced modulo `period` bytes, because two
    offsets that differ by a multiple of `period` have the same beats.
    """

    def place(old: Location) -> Location:
        if old.memory == ISLAND:
            return old._replace(island=island)
        return Location(old.memory, "", old.offset % period)

    sizes = copy.row_bytes, copy.rows, copy.dst_stride, copy.src_stride
    return Copy(place(copy.dst), place(copy.src), *sizes)


@lru_cache(maxsize=1024)
def _simulated(
    blocks: tuple[Block, ...],
    phases: tuple[tuple[tuple[Copy, ...], ...], ...],
    left_out: int,
    config: Configuration,
    island: int,
) -> Cycles:
    """Simulate a job, and return its cycles.

    Each of `phases` is a start with three tuples of copies: those that bring constants, the others
    that bring inputs, and those of the results. `left_out` more starts of the job are not in
    `phases`; each counts as long as the second start.
    """
    banks, computing = BankTiming(config), blocks_timing(blocks, config, island)
    islands = {island: banks}
    carrier = DmaTiming(config, islands)
    time = bring = constants = compute = fetch = begin = 0
    queue_waits = [0, 0, 0]
    ends = []
    for number, (early, late, results) in enumerate(phases):
        several = (*early, *late)
        if not number:
            placed = carrier.ends(early, time)
            brought = carrier.ends(late, placed[-1])
            constants, bring = placed[-1], brought[-1]
            begin = there = bring
            queue_waits[0] = queue_wait([*placed, *brought[1:]], config)
            queue_waits[2] = queue_wait(placed, config)
            reordering = [x for x in several if x.dst.memory == LOCAL]
            reorder = DmaTiming(config, {}).copies(reordering, 0)
            open_banks = {island: BankTiming(config, OTHER)}
            reopen = DmaTiming(config, open_banks).copies(several, 0) - bring
        else:
            there = carrier.copies(several, time)
        end = computing.end(banks, there)
        fetched = carrier.ends(results, end + 1)
        if number == len(phases) - 1:
            queue_waits[1] = queue_wait(fetched, config)
            compute, until_last_start = end - begin, there - begin
        time = fetched[-1]
        fetch = time - end
        ends.append(time)
    if left_out:
        more = left_out * (ends[1] - ends[0])
        compute, until_last_start = compute + more, until_last_start + more
    cycles = (bring, compute, fetch, constants)
    first, last = phases[0], phases[-1]
    slack = _slack((first[0], first[1], last[2]), cycles, config, island)
    bring_wait, fetch_wait, constants_wait = queue_waits
    return Cycles(
        bring, compute, fetch, reorder, reopen, constants, bring_wait, fetch_wait, constants_wait,
        until_last_start, slack,
    )  # fmt: skip


# The keys of large jobs take megabytes, so only those of a task's islands stay.
_simulated_large = lru_cache(maxsize=4)(_simulated.__wrapped__)


def _slack(
    parts: tuple[tuple[Copy, ...], ...],
    cycles: tuple[int, ...],
    config: Configuration,
    island: int,
) -> tuple[int, ...]:
    """Return by how many cycles other steps of a plan can shorten each part of a job, at most.

    The parts are all copies of inputs, the blocks, the copies of results, and the copies of
    constants. `cycles` has the cycles of each if the job is alone on the device. `parts` has the
    first start's copies of constants, its copies of other inputs, and the last start's copies of
    results.

    Copies are shorter if earlier steps have left open each row that they need. A fetch also saves
    the setup of the dma if the dma does it while the blocks still run. Blocks save at most the
    delay of their first command by accesses before it: an open row must be closed, at the earliest
    after its data are written, and another row opened.
    """
    # No part waits for the commands of another part, so each has a new model of the banks.
    carriers = [DmaTiming(config, {island: BankTiming(config, ANY)}) for _ in range(3)]
    constants, late, fetch = (
        carrier.copies(several, 0) for carrier, several in zip(carriers, parts, strict=True)
    )
    bring = constants + late
    fetch -= carriers[0].setup
    times = Timings.of(config)
    written = times.data_end(0, True) + times.t_wr
    closed = max(written + times.t_rp, times.t_ras + times.t_rp, times.t_rc)
    delay = closed + max(times.t_rcdrd, times.t_rcdwr) + abilities(config, island).divider
    least = bring, cycles[1] - delay, fetch, constants
    pairs = zip(cycles, least, strict=True)
    return tuple(old - max(0, min(old, new)) for old, new in pairs)
