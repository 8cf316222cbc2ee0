"""Finds the best option of each island and layout for the tasks of one start, with its cycles.

The tilings of an island and layout are ranked by an estimate. The first few are simulated cycle by
cycle (`macaw.lowering.fim.job_timing.predict`), and the fastest tiling becomes the option.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from heapq import nsmallest

from macaw.emu.rules.fim_circuits import AluTimings
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import (
    ARRANGEMENTS,
    COLUMN_BYTES,
    COLUMNS,
    DOT,
    ELEMENTWISE,
    OUTER,
    TENSOR,
)
from macaw.isa.fim_islands import abilities, geometry, timings
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.bank_images import BankRows, placed_constants
from macaw.lowering.fim.depthwise_job import depthwise_job
from macaw.lowering.fim.dma_timing import DmaTiming
from macaw.lowering.fim.fused_task import (
    CannotError,
    FusedTask,
    MemoryExceededError,
    Traits,
    check,
    fuse,
)
from macaw.lowering.fim.graph import GATHER, MANY_STEPS, POINTWISE, SCATTER, Task, Tensor
from macaw.lowering.fim.host_job import HostJob
from macaw.lowering.fim.island_job import Job, ProductJob, copies
from macaw.lowering.fim.job_timing import Cycles, predict, queue_wait
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.pointwise import EXCEEDS_MEMORY, pointwise
from macaw.lowering.fim.producer_consumer import chain
from macaw.lowering.fim.shape import Region
from macaw.lowering.fim.split import TRIED, TRIED_OF_WINDOWS, split_options
from macaw.lowering.fim.stream import StreamTiling
from macaw.lowering.fim.stream_candidates import streams

FOLLOWED = 3  # the most tilings that are simulated cycle by cycle
NEAR = 1.05  # their estimates are at most this factor times the lowest estimate
SMALL = 100_000  # for a product with a higher estimate, only the first tiling is simulated
# Planning should take only seconds. So a pair of island and layout is not simulated if its estimate
# is LARGE cycles or more and at least FAR times the lowest estimate, or if it is HUGE or more.
FAR, LARGE = 5, 500_000
HUGE = 2_000_000
# instructions of cp that queue the first of several copies, and that start blocks
ISSUE_COPIES, ISSUE_START = 4, 3


def options(
    tasks: Sequence[Task],
    config: Configuration,
    form: int = 0,
    place: BankRows | None = None,
    together: bool = False,
    results: Sequence[Tensor] = (),
) -> list[Option | Refusal]:
    """Return the best option of each island and layout for the tasks of one start.

    If an island cannot do the tasks in a layout, the list has a refusal instead. A single
    gather or scatter has only an option of the host. Tasks without a product have only the layout
    elementwise. `place` says which rows the options may use, and whether their constants stay in
    the banks; by default all rows, and no constant stays. For tasks without constants, the options
    are the same as if no constants stayed. With `together`, there are also options in which several
    islands share a product. `results` are the outputs of functions that are to be stored; by
    default only the last output.
    """
    place = place or BankRows(geometry(config).rows)
    if place.resident and not has_constants(tasks):
        place = replace(place, resident=False)
    answers: list[Option | Refusal] = []
    tasks = tuple(tasks)
    if len(tasks) == 1 and tasks[0].kind in (GATHER, SCATTER):
        return [_host(tasks, config, form)]
    if all(task.kind == POINTWISE for task in tasks):
        stored = tuple(results) or (tasks[-1].output,)
        islands = range(config["fim.islands"])
        return [_pointwise(tasks, stored, config, island, form, place) for island in islands]
    if tasks[-1].kind == POINTWISE and all(task.kind in (GATHER, POINTWISE) for task in tasks):
        islands = range(config["fim.islands"])
        return [_depthwise(tasks, config, island, form, place) for island in islands]
    layouts = range(len(ARRANGEMENTS))
    least = _least_rough(tasks, config, form, place)
    for island in range(config["fim.islands"]):
        for layout in layouts:
            answers.append(_option(tasks, config, island, layout, form, least, place))
    if together:
        answers += _split(tasks, config, form, place, answers)
    return answers


def _split(
    tasks: tuple[Task, ...],
    config: Configuration,
    form: int,
    place: BankRows,
    answers: Sequence[Option | Refusal],
) -> Iterator[Option]:
    """Yield the options in which several islands share the tasks.

    There are none unless `tasks` are a product or a sum of products, with functions of the result.
    `answers` has an item for each island and layout: the option in which this island does the tasks
    alone, or a refusal.
    """
    try:
        (part,) = fuse(tasks)
    except (CannotError, ValueError):
        return

    def ask(island: int, layout: int, region: Region) -> Option | None:
        own = part.traits(form, layout).of_region(region)
        query = _Query(own, config, island, layout, place, tasks, part)
        best = _least(query, True)
        if best is None:
            return None
        job = ProductJob(
            tasks, part.products, best[0], part.rows, place.resident, region, part.gather
        )
        return option_of(tasks, layout, job, best[1], place)

    single = [row for row in answers if isinstance(row, Option)]
    if not single and place.resident:  # the whole product exceeds the rows of each island
        others = options(tasks, config, form)
        single = [row for row in others if isinstance(row, Option)]
    tried = TRIED if part.gather is None else TRIED_OF_WINDOWS
    yield from split_options(part.traits(form, DOT).shape, single, ask, tried)


def has_constants(tasks: Sequence[Task]) -> bool:
    """Return whether a product or function of `tasks` needs a constant.

    A maximum or minimum always does, because it is composed of functions with constants. Gathers
    and scatters do not count.
    """
    kinds = (GATHER, SCATTER)
    return any(
        task.function in MANY_STEPS or any(x.data is not None for x in task.inputs)
        for task in tasks
        if task.kind not in kinds
    )


def _host(tasks: tuple[Task, ...], config: Configuration, form: int) -> Option | Refusal:
    """Return the host's option for a gather or scatter, or a refusal if it has too many copies."""
    job = HostJob(tasks[0], form)
    try:
        several = copies(job.phases()[0].bring)
    except LowerError as error:
        return Refusal(tasks, None, ELEMENTWISE, str(error))
    ends = DmaTiming(config, {}).ends(several, 0)
    return Option(
        tasks, None, ELEMENTWISE, ends[-1], 0, 0,
        bring_queue_wait=queue_wait(ends, config), issue_copies=ISSUE_COPIES, job=job,
    )  # fmt: skip


def _pointwise(
    tasks: tuple[Task, ...],
    results: tuple[Tensor, ...],
    config: Configuration,
    island: int,
    form: int,
    place: BankRows,
) -> Option | Refusal:
    job = pointwise(tasks, results, config, island, form, place)
    if isinstance(job, str):
        return Refusal(tasks, island, ELEMENTWISE, job, job == EXCEEDS_MEMORY)
    option = option_of(tasks, ELEMENTWISE, job, predict(job, config), place)
    return replace(option, outputs=results)


def _depthwise(
    tasks: tuple[Task, ...], config: Configuration, island: int, form: int, place: BankRows
) -> Option | Refusal:
    if tasks[-1].shift is not None:
        why = "in int8 each product of a sum is rounded before the addition"
        return Refusal(tasks, island, ELEMENTWISE, why)
    try:
        job, cycles = depthwise_job(tasks, config, island, form, place)
    except CannotError as error:
        exceeds = isinstance(error, MemoryExceededError)
        return Refusal(tasks, island, ELEMENTWISE, str(error), exceeds)
    return option_of(tasks, ELEMENTWISE, job, cycles, place)


def option_of(
    tasks: tuple[Task, ...],
    layout: int,
    job: Job,
    cycles: Cycles,
    place: BankRows,
) -> Option:
    """Return the option of a job that takes the cycles in `cycles`.

    `place` says whether the job's constants stay in the banks.
    """
    constants = placed_constants(job.island, job.key)
    placed = constants if cycles.constants else None
    return Option(
        tasks, job.island, layout, cycles.bring, cycles.compute, cycles.fetch, cycles.reorder,
        banks=job.mask, bring_queue_wait=cycles.bring_queue_wait,
        fetch_queue_wait=cycles.fetch_queue_wait, constants=cycles.constants,
        constants_queue_wait=cycles.constants_queue_wait, placed=placed,
        until_last_start=cycles.until_last_start, issue_copies=ISSUE_COPIES,
        issue_start=ISSUE_START, reopen=cycles.reopen, slack=cycles.slack,
        residency=place.residency(constants, job.rows), job=job,
    )  # fmt: skip


def _option(
    tasks: tuple[Task, ...],
    config: Configuration,
    island: int,
    layout: int,
    form: int,
    least: int,
    place: BankRows,
) -> Option | Refusal:
    try:
        parts = fuse(tasks)
        if len(parts) > 1:
            job, cycles = chain(parts, config, island, layout, form, place)
            option = option_of(tasks, layout, job, cycles, place)
            return replace(option, buffer=job.columns)
        return _product(tasks, parts[0], config, layout, island, form, least, place)
    except CannotError as error:
        exceeds = isinstance(error, MemoryExceededError)
        return Refusal(tasks, island, layout, str(error), exceeds)


def _product(
    tasks: tuple[Task, ...],
    part: FusedTask,
    config: Configuration,
    layout: int,
    island: int,
    form: int,
    least: int,
    place: BankRows,
) -> Option:
    check(part, config, island, layout, form)
    query = _Query(part.traits(form, layout), config, island, layout, place, tasks, part)
    most = min(HUGE, max(LARGE, FAR * least))
    best = _least(query, all(cycles < most for cycles, _, _ in _rank(query)[:1]))
    if best is None:
        raise MemoryExceededError(
            "its tiles and results take more rows (fim.rows) or words (fim.instructions)"
        )
    stream, cycles = best
    job = ProductJob(tasks, part.products, stream, part.rows, place.resident, gather=part.gather)
    return option_of(tasks, layout, job, cycles, place)


@dataclass(frozen=True)
class _Query:
    """Asks for the tilings by which an island can do a product with its functions, in one layout.

    It is the key of caches. Queries with equal traits have the same tilings and estimates. Their
    simulated cycles can differ in the beats of the copies, because the traits do not have the index
    at which the result begins in its memory. The times of the chosen plan are exact nevertheless.
    `part` has the `tasks` as one fused task, `place` says which rows of the banks it may use.
    """

    traits: Traits
    config: Configuration
    island: int
    layout: int
    place: BankRows
    tasks: tuple[Task, ...] = field(compare=False)
    part: FusedTask = field(compare=False)


def _rank(query: _Query) -> list[tuple[int, int, StreamTiling]]:
    """Return the tilings with the lowest estimates, as (cycles, number, tiling), the best first.

    The list has at most `FOLLOWED` items. `number` is the tiling's index among all tilings.
    """
    # The estimates do not depend on where the operands begin.
    return _ranked(replace(query, traits=query.traits._replace(offsets=(), depths=())))


@lru_cache(maxsize=4096)
def _ranked(query: _Query) -> list[tuple[int, int, StreamTiling]]:
    traits, config = query.traits, query.config
    rows, resident = query.place.limit, query.place.resident
    shape, after, windows = traits.shape, traits.after, traits.windows
    ways = streams(shape, config, query.island, query.layout, after, rows, windows, traits.integers)
    if traits.shape.part and traits.region is not None:
        # Otherwise the columns of one bank could belong to two results.
        first = traits.region.column
        ways = (way for way in ways if first % (way.wide * way.tile[2]) == 0)
    return nsmallest(
        FOLLOWED,
        (
            (sum(rough(way, config, *traits.constants, resident)), number, way)
            for number, way in enumerate(ways)
        ),
    )


@lru_cache(maxsize=4096)
def _least(query: _Query, follow: bool) -> tuple[StreamTiling, Cycles] | None:
    """Return the fastest tiling and its cycles, or None if there is no tiling.

    With `follow`, the tilings with nearly the lowest estimate (`_rank`) are simulated, and the
    result is the one with the fewest simulated cycles. If the estimate is more than `SMALL` cycles,
    only tilings with the very lowest estimate are simulated, because a simulation takes long.
    Without `follow`, the result is the tiling with the lowest estimate, and this estimate.
    """
    candidates = _rank(query)
    if not candidates:
        return None
    if not follow:
        cycles = rough(
            candidates[0][-1], query.config, *query.traits.constants, query.place.resident
        )
        constants = rough_constants(
            candidates[0][-1], query.config, *query.traits.constants, query.place.resident
        )
        return candidates[0][-1], Cycles(
            *cycles,
            constants=constants,
            bring_queue_wait=cycles[0],
            fetch_queue_wait=cycles[2],
            constants_queue_wait=constants,
        )
    least = candidates[0][0]
    most = least * NEAR if least <= SMALL else least
    ways = [way for cycles, _, way in candidates if cycles <= most]
    stays, part, region = query.place.resident, query.part, query.traits.region
    jobs = (
        ProductJob(query.tasks, part.products, way, part.rows, stays, region, part.gather)
        for way in ways
    )
    timings = ((job.stream, predict(job, query.config)) for job in jobs)
    return min(timings, key=lambda pair: pair[1].total)


def _least_rough(tasks: tuple[Task, ...], config: Configuration, form: int, place: BankRows) -> int:
    """Return the lowest estimate of any tiling over all islands and layouts, in cycles.

    `tasks` are a product or a sum of products, with functions of the result. For other tasks, and
    if no island can do the tasks, the result is 0.
    """
    try:
        (part,) = fuse(tasks)
    except (CannotError, ValueError):
        return 0
    totals = []
    for island in range(config["fim.islands"]):
        for layout in range(len(ARRANGEMENTS)):
            try:
                check(part, config, island, layout, form)
            except CannotError:
                continue
            query = _Query(part.traits(form, layout), config, island, layout, place, tasks, part)
            totals += [cycles for cycles, _, _ in _rank(query)[:1]]
    return min(totals, default=0)


def rough(
    stream: StreamTiling,
    config: Configuration,
    known_a: bool,
    known_b: bool,
    resident: bool,
) -> tuple[int, int, int]:
    """Return an estimate of a stream's cycles, as (copy in, compute, copy out).

    `known_a` and `known_b` say whether A and B are constants, `resident` whether constants stay in
    the banks, so that no copies bring them.
    """
    return (
        _rough_bring_a(stream, config, known_a, resident)
        + _rough_bring_b(stream, config, known_b, resident),
        stream.starts * _rough_compute(stream, config),
        _rough_fetch(stream, config),
    )


def rough_constants(
    stream: StreamTiling,
    config: Configuration,
    known_a: bool,
    known_b: bool,
    resident: bool,
) -> int:
    """Return an estimate of the cycles that copies of constants take before the first start.

    `known_a` and `known_b` say whether A and B are constants. If `resident`, constants stay in the
    banks, and no copies bring them.
    """
    of_a = _rough_bring_a(stream, config, True, resident) if stream.starts == 1 else 0
    return known_a * of_a + known_b * _rough_bring_b(stream, config, True, resident)


def _times(config: Configuration) -> tuple[int, int, int]:
    """Return rough cycles to (move a column over the channel, start a copy, open a row)."""
    column = int(config["fim.t_ccdl"])
    copy = int(config["dma.setup"]) + int(config["mem.external_latency"]) + 10
    row = sum(int(config[f"fim.{name}"]) for name in ("wl", "burst", "t_wr", "t_rp", "t_rcdwr"))
    return column, copy, row


def _rough_bring_a(stream: StreamTiling, config: Configuration, known: bool, resident: bool) -> int:
    if known and resident and stream.starts == 1:
        return 0
    column, copy, row = _times(config)
    shape = stream.shape
    columns = stream.strips * stream.steps
    cycles = columns * column + columns * row // COLUMNS + stream.blocks * copy
    high, deep, _ = stream.tile
    if stream.windows is not None:
        tiles = sum(len(stream.tiles_of(block).keys) for block in range(stream.blocks))
        lines = tiles * high if deep < shape.numbers.lanes else 0
        grouped = 2 * tiles + (stream.windows.numbers + tiles) // deep
        pieces = min(lines, grouped) * shape.numbers.lanes // (high * deep)
        copies = max(stream.blocks, tiles * deep // stream.windows.width) * max(1, high)
        return tiles * column + tiles * row // COLUMNS + pieces + copies * (10 if lines else copy)
    if not known and (deep > 1 == high == stream.high):
        cycles += 0 if shape.k % deep == 0 else copy + shape.m * (stream.steps + 1)
    elif not known:
        lanes = shape.numbers.lanes // (high * deep)
        pieces = shape.m * stream.steps
        cycles += lanes * (pieces + copy * min(shape.m, stream.steps * high * stream.high))
    return cycles


def _rough_bring_b(stream: StreamTiling, config: Configuration, known: bool, resident: bool) -> int:
    if known and resident:
        return 0
    column, copy, _ = _times(config)
    columns_used = min(COLUMNS, stream.steps * stream.wide)
    copies = 1 if stream.banks == 1 else stream.blocks
    cycles = stream.result_row * (
        copies * copy + stream.banks * stream.blocks * columns_used * column
    )
    if not known:
        cycles += stream.across * stream.tile[1] * (copy + stream.steps)
    return cycles


def _rough_compute(stream: StreamTiling, config: Configuration) -> int:
    able = abilities(config, stream.island)
    step = able.divider
    column, _, _ = _times(config)
    column = -(-column // step) * step
    busy = AluTimings.of(config, able).latency(0, stream.layout, stream.shape.form, True).busy
    tile = 2 * step + (stream.wide - 1) * max(column, busy * step) + column
    wait = int(config["fim.rl"]) + timings(config)["burst"] + 2 * step
    tile = max(tile, wait, stream.blocks * column, stream.wide * busy * step)
    rows = int(config["fim.t_rp"]) + int(config["fim.t_rcdrd"]) + step
    store = rows + 30 + stream.slices * column
    item = stream.steps * stream.high * tile + stream.depth * rows + store
    item += len(stream.after) * stream.slices * 10 * step + rows * (stream.operands > 0)
    item += stream.integers.bias * (step + stream.slices * column)
    return stream.rounds * stream.items * item


def _rough_fetch(stream: StreamTiling, config: Configuration) -> int:
    column, copy, _ = _times(config)
    shape, size = stream.shape, stream.shape.numbers.size
    banks = stream.blocks * stream.banks
    places = stream.starts * banks * stream.rounds
    columns = places * stream.items * stream.slices
    if stream.layout == TENSOR:
        lines = places * stream.tile[0] * stream.high * stream.wide
        by_rows = places // stream.banks * stream.items * stream.high + shape.m
        lines = min(lines, lines * stream.items // stream.banks, by_rows)
        pieces = shape.m * stream.across
        return columns * column + lines * copy + pieces
    pieces = places * stream.items * (stream.tile[0] if stream.layout == OUTER else stream.high)
    copies = places * (1 if stream.layout == OUTER else stream.high)
    by_rows = stream.starts * stream.blocks * stream.rounds * stream.share * stream.tile[0]
    copies = min(copies, by_rows)  # one for each row of C, or for each bank
    length = stream.wide * stream.tile[2] * size
    cycles = pieces * -(-length // COLUMN_BYTES) * column + copies * copy * 3 // 2
    if shape.n * size % COLUMN_BYTES:
        cycles += shape.m * (shape.n * size // COLUMN_BYTES + 2)
    return cycles
