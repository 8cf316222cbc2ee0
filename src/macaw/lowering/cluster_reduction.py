"""Writes the packets that add the partial sums of clusters and of rows.

First cluster 0 of each row adds the sums of the row's clusters. Then row 0 adds the sums of all
rows (seed 000 ¶85). This module is for plans whose sums wait in the output queues of the PEs. A
queue has one entry for each position of the tile: for a convolution, a position of the output
image, and for a matrix product, a row of activations.

An exe is a packet that starts an instruction sequence in the PEs. The packet has a data segment for
each sum to add. The number of its segments is limited, so one exe computes the totals of only some
positions. Each iteration of the sequence loads the sums of one position, and moves their total
to the output queue. All exes of a list compute the same number of positions. So the last exe may
begin at positions that the one before it has finished already; it stores the same totals there
again. If a sequence has too few instructions for an iteration's loads, an exe computes the total of
one position, and another exe moves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from macaw.isa.pe import BLOCKS, SEQUENCE_LENGTH
from macaw.lowering.finishing import Finish, finish
from macaw.lowering.operation import Types
from macaw.lowering.plan import MOST_SEGMENTS, ProductPlan
from macaw.lowering.row_program import (
    FINAL,
    PRODUCT,
    Array,
    Exe,
    Packets,
    Sequence,
    list_names,
    to_clusters,
)

JOIN, MERGE, ROW = 1, 2, PRODUCT + 1  # numbers of instruction buffers
_MOVE = "spu nonsf, src=0, dst=0"


def cluster_summands(plan: ProductPlan) -> int:
    """Return how many partial sums cluster 0 adds to one total: one for each cluster of its row.

    If sums start with a bias or earlier partial sums, these count as one more. The result is 1 if
    clusters do not compute parts of the same sums.
    """
    return plan.partition.clusters + plan.has_start_sums if plan.reduces_clusters else 1


def row_summands(plan: ProductPlan) -> int:
    """Return how many partial sums row 0 adds to one total: one for each row.

    The result is 1 if rows do not compute parts of the same sums.
    """
    return plan.partition.rows if plan.reduces_rows else 1


def most_summands(plan: ProductPlan) -> int:
    """Return how many partial sums a PE adds to one total at most, for clusters or for rows."""
    return max(cluster_summands(plan), row_summands(plan))


def adds_in_loops(plan: ProductPlan) -> bool:
    """Return whether an exe packet can add the sums of several positions, one in each iteration.

    Each iteration of the sequence needs one instruction for each partial sum, and one that moves
    the total to the output queue. If these are more than a sequence can have, the result is False.
    Then an exe adds the sums of one position, and another exe moves the total.
    """
    return most_summands(plan) < SEQUENCE_LENGTH  # with the instruction that moves the total


def positions_of_exe(plan: ProductPlan, summands: int) -> int:
    """Return the number of positions whose totals one exe packet computes.

    Each total is the sum of `summands` partial sums.
    """
    if not adds_in_loops(plan):
        return 1
    # the last block of the output queue receives the partial sums
    entries = int(plan.config["pe.output_queue"]) // BLOCKS * (BLOCKS - 1)
    most = max(1, min(MOST_SEGMENTS // summands, entries))
    return -(-plan.positions // -(-plan.positions // most))


def _first_positions(plan: ProductPlan, summands: int) -> list[int]:
    """Return the first position of each of the exe packets that add `summands` sums to a total."""
    many = positions_of_exe(plan, summands)
    return [min(first, plan.positions - many) for first in range(0, plan.positions, many)]


def reduction_arrays(plan: ProductPlan) -> list[Array]:
    """Return the on-chip arrays in which clusters and rows store the partial sums to be added."""
    part, positions, arrays = plan.partition, plan.positions, list[Array]()
    if plan.reduces_clusters:
        shape: tuple[int, ...] = (positions, part.clusters, plan.pes)
        arrays.append(Array("chain", plan.types.sum, shape, "raw sums: (position, cluster, PE)"))
    if plan.reduces_rows:
        shape = (part.rows, positions, plan.summing_clusters * plan.pes)
        arrays.append(Array("gathered", plan.types.sum, shape, "raw sums of all rows"))
    return arrays


def reduction_sequences(plan: ProductPlan, steps: Finish) -> list[Sequence]:
    """Return the sequences that add sums, and the sequence that turns the totals into results.

    `steps` has the instructions that turn totals into results; the last sequence executes them
    before it stores the results.
    """
    sequences = []
    if plan.reduces_clusters:
        sequences.append(_adding(plan, "add_clusters", JOIN, cluster_summands(plan)))
    if plan.reduces_rows:
        sequences.append(_adding(plan, "add_rows", MERGE, row_summands(plan)))
    if sequences:
        body, what = [*steps.body, "st base=0"], "the totals of many positions at once"
        if not adds_in_loops(plan):
            body, what = [_MOVE, *body], "moves the sums of a position out"
        sequences.append(Sequence("row", ROW, body, steps.header, what, steps.options, steps.data))
    return sequences


def _adding(plan: ProductPlan, name: str, buffer: int, summands: int) -> Sequence:
    """Return the sequence `name`, which adds `summands` sums to one total.

    `buffer` is the number of the instruction buffer for it: JOIN if the sums are those of the
    clusters, MERGE if they are those of the rows.
    """
    what = f"adds what {'clusters' if buffer == JOIN else 'rows'} have of a position"
    if not adds_in_loops(plan):
        return Sequence(name, buffer, ["ld psums"], what=what, options=(f".loop inner={summands}",))
    body = [f"ld psums, base={BLOCKS - 1}"] * summands  # totals use the earlier blocks
    many = positions_of_exe(plan, summands)
    options = (f".loop inner={many}", ".step spu.dst, inner=1", f".then ib={ROW}")
    return Sequence(name, buffer, [*body, _MOVE], ", pipeline=4", what, options)


def final_sequences(plan: ProductPlan, what: str, raw: str) -> list[Sequence]:
    """Return the sequences that activate, requantise and store the sums of all positions.

    If clusters or rows have to add their sums, the first sequence stores the sums without
    activation and requantisation (raw sums), and further sequences add these. `what` is the comment
    of a sequence that makes results, `raw` the comment of a sequence that stores raw sums.
    """
    steps = finish(plan, [0])
    body = [*steps.body, "st base=0"]
    if plan.reduces_sums:
        store = Sequence("final", FINAL, body[-1:], what=raw)
        return [store, *reduction_sequences(plan, steps)]
    return [Sequence("final", FINAL, body, steps.header, what, steps.options, steps.data)]


def finishing_lists_by_position(plan: ProductPlan) -> tuple[str, ...]:
    """Return the names of the packet lists with the sequence that turns sums into results.

    If neither clusters nor rows add sums, these are the lists of the iterations. If only clusters
    add sums, the result is the same. If only rows do, it is `merge`, the list with which row 0 adds
    the sums of all rows. If both do, it is the lists of the iterations and `merge`.
    """
    names = list_names(plan) if plan.reduces_clusters or not plan.reduces_rows else ()
    return (*names, "merge") if plan.reduces_rows else names


def iteration_sizes(plan: ProductPlan, own: int) -> list[int]:
    """Return the number of bytes of each list that `iteration_lists` returns, without its end mark.

    `own` is the number of bytes of a list without the exe packets that add sums of clusters.
    """
    more, last = list_names(plan)
    raws = {more: True, last: plan.reduces_rows}
    sizes = []
    for raw in raws.values():
        size = own
        if plan.reduces_clusters:
            count = len(_first_positions(plan, cluster_summands(plan)))
            size += count * sum(exe.size for exe in _cluster_exes(plan, 0, raw))
        sizes.append(size)
    if plan.reduces_rows:
        count = len(_first_positions(plan, row_summands(plan)))
        sizes.append(count * sum(exe.size for exe in _row_exes(plan, 0)))
    return sizes


def iteration_lists(
    plan: ProductPlan, exes: Callable[[str, bool], Iterable[Exe]], what: str
) -> list[Packets]:
    """Return the packet lists of the iterations, and the list `merge` if row 0 adds the rows' sums.

    `exes` takes a list's name and whether the list stores raw sums, and returns the list's exe
    packets. `what` is the comment of the iterations' list if all iterations have the same list.
    """
    more, last = list_names(plan)
    result = []
    if more != last:
        result.append(Packets(more, list(exes(more, True)), "before the last k"))
        what = "the last k"
    result.append(Packets(last, list(exes(last, plan.reduces_rows)), what))
    if plan.reduces_rows:
        merge = list(row_reduction_exes(plan))
        result.append(Packets("merge", merge, "row 0, when all rows are done"))
    return result


def cluster_reduction_exes(plan: ProductPlan, raw: bool) -> Iterator[Exe]:
    """Yield the exe packets with which cluster 0 adds the sums of all clusters of its row.

    With `raw`, the packets store the totals as raw sums, else as results.
    """
    for first in _first_positions(plan, cluster_summands(plan)):
        yield from _cluster_exes(plan, first, raw)


def _cluster_exes(plan: ProductPlan, first: int, raw: bool) -> Iterator[Exe]:
    """Yield the exe packets with which cluster 0 adds the clusters' sums, for some positions.

    The positions begin at `first`; `positions_of_exe` says how many there are. With `raw`, the
    packets store the totals as raw sums, else as results.
    """
    data = list[str]()
    for place in range(first, first + positions_of_exe(plan, cluster_summands(plan))):
        if plan.has_start_sums:
            data.append(f"psums start[{min(place, plan.start_positions - 1)}] sliced")
        data += [f"psums chain[{place}, {q}] sliced" for q in range(plan.partition.clusters)]
    yield from _exes(plan, JOIN, first, data, to_clusters(plan, range(1)), raw)


def row_reduction_exes(plan: ProductPlan) -> Iterator[Exe]:
    """Yield the exe packets with which row 0 adds the sums of all rows."""
    for first in _first_positions(plan, row_summands(plan)):
        yield from _row_exes(plan, first)


def _row_exes(plan: ProductPlan, first: int) -> Iterator[Exe]:
    """Yield the exe packets with which row 0 adds the sums of all rows, for some positions.

    The positions begin at `first`; `positions_of_exe` says how many there are.
    """
    places = range(first, first + positions_of_exe(plan, row_summands(plan)))
    rows = range(plan.partition.rows)
    data = [f"psums gathered[{p}, {place}] sliced" for place in places for p in rows]
    to = to_clusters(plan, range(plan.summing_clusters))
    yield from _exes(plan, MERGE, first, data, to, raw=False)


def _exes(
    plan: ProductPlan, buffer: int, first: int, data: Iterable[str], to: str, raw: bool
) -> Iterator[Exe]:
    """Yield the exe packets that add the sums of some positions, from `first` on.

    They start the sequence in instruction buffer `buffer` with the segments `data` (the sums). `to`
    selects the clusters that execute it. With `raw`, the packets store the totals as raw sums, else
    as results. There are two packets, one to add and one to store, if a sequence has no room for a
    loop (`adds_in_loops`).
    """
    flag = "shift" if raw else "last"
    size = Types.size(plan.types.sum if raw else plan.types.result)
    pitch = plan.summing_clusters * plan.pes * size
    out = f"{'partial' if raw else 'result'}[{first}], stride={size}, step={pitch}"
    if plan.by_columns and not raw:
        out = f"result[0, {first}], stride={plan.positions * size}, step={size}"
    if not adds_in_loops(plan):
        yield Exe(buffer, tuple(data), to=to)
        yield Exe(ROW, out=out, to=to, flag=flag)
        return
    summands = cluster_summands(plan) if buffer == JOIN else row_summands(plan)
    out = f"{out}, count={positions_of_exe(plan, summands)}"
    yield Exe(buffer, tuple(data), out, to, flag)
