"""Writes the packets that add the partial sums of clusters and of rows.

First cluster 0 of each row adds the sums of the row's clusters. Then row 0 adds the sums of all
rows (seed 000 ¶85). One exe computes one total in each PE. This module is for plans whose sums wait
in the output queues of the PEs. A queue has one entry for each position of the tile, that is, for
each group of rows of activations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from macaw.lowering.finishing import Finish, finish
from macaw.lowering.operation import Types
from macaw.lowering.plan import ProductPlan
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


def most_summands(plan: ProductPlan) -> int:
    """Return the largest number of partial sums that a PE adds to one total."""
    clusters = plan.partition.clusters + plan.has_start_sums if plan.reduces_clusters else 1
    return max(clusters, plan.partition.rows if plan.reduces_rows else 1)


def reduction_arrays(plan: ProductPlan) -> list[Array]:
    """Return the arrays in the on-chip unit in which clusters and rows store their raw sums."""
    part, positions, arrays = plan.partition, plan.positions, list[Array]()
    if plan.reduces_clusters:
        shape: tuple[int, ...] = (positions, part.clusters, plan.pes)
        arrays.append(Array("chain", plan.types.sum, shape, "raw sums: (position, cluster, PE)"))
    if plan.reduces_rows:
        shape = (part.rows, positions, plan.summing_clusters * plan.pes)
        arrays.append(Array("gathered", plan.types.sum, shape, "raw sums of all rows"))
    return arrays


def reduction_sequences(plan: ProductPlan, steps: Finish) -> list[Sequence]:
    """Return the sequences that add sums, and the sequence that moves the sums out.

    `steps` says what the last sequence does with the sums before it stores them.
    """
    parts = {
        "add_clusters": (JOIN, plan.partition.clusters + plan.has_start_sums, plan.reduces_clusters)
    }
    parts["add_rows"] = (MERGE, plan.partition.rows, plan.reduces_rows)
    sequences = []
    for name, (buffer, count, needs) in parts.items():
        if needs:
            what = f"adds what {'clusters' if buffer == JOIN else 'rows'} have of a position"
            options = (f".loop inner={count}",)
            sequences.append(Sequence(name, buffer, ["ld psums"], what=what, options=options))
    if sequences:
        body = ["spu nonsf, src=0, dst=0", *steps.body, "st base=0"]
        what = "moves the sums of a position out"
        sequences.append(Sequence("row", ROW, body, steps.header, what, steps.options, steps.data))
    return sequences


def final_sequences(plan: ProductPlan, what: str, raw: str) -> list[Sequence]:
    """Return the sequences that activate, requantise and store the sums of all positions.

    If clusters or rows have to add their sums, the first sequence only stores raw sums. `what` is
    the comment of the final sequence, `raw` the comment of a sequence that stores raw sums.
    """
    steps = finish(plan, [0])
    body = [*steps.body, "st base=0"]
    if plan.reduces_sums:
        store = Sequence("final", FINAL, body[-1:], what=raw)
        return [store, *reduction_sequences(plan, steps)]
    return [Sequence("final", FINAL, body, steps.header, what, steps.options, steps.data)]


def finishing_lists_by_position(plan: ProductPlan) -> tuple[str, ...]:
    """Return the names of the packet lists that execute the sequence that finishes sums.

    These are the lists of the iterations, unless only rows add their sums. If rows add their sums,
    the list `merge`, in which row 0 adds them, is the last one.
    """
    names = list_names(plan) if plan.reduces_clusters or not plan.reduces_rows else ()
    return (*names, "merge") if plan.reduces_rows else names


def iteration_sizes(plan: ProductPlan, own: int) -> list[int]:
    """Return the numbers of bytes of the lists of `iteration_lists`, without their end marks.

    `own` is the number of bytes of a list without the exes that add sums of clusters.
    """
    more, last = list_names(plan)
    raws = {more: True, last: plan.reduces_rows}
    sizes = []
    for raw in raws.values():
        size = own
        if plan.reduces_clusters:
            size += plan.positions * sum(exe.size for exe in _cluster_exes(plan, 0, raw))
        sizes.append(size)
    if plan.reduces_rows:
        sizes.append(plan.positions * sum(exe.size for exe in _row_exes(plan, 0)))
    return sizes


def iteration_lists(
    plan: ProductPlan, exes: Callable[[str, bool], Iterable[Exe]], what: str
) -> list[Packets]:
    """Return the packet lists of the iterations.

    If the plan adds over rows, also return the list in which row 0 adds the rows' sums. `exes`
    takes a list's name and whether its sums are stored as raw sums, and returns the list's exes.
    `what` is the comment of the iterations' list if all iterations have the same list.
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
    """Yield the exes with which cluster 0 adds the sums of all clusters of its row.

    With `raw`, the total is stored as a raw sum, else as a result.
    """
    for place in range(plan.positions):
        yield from _cluster_exes(plan, place, raw)


def _cluster_exes(plan: ProductPlan, place: int, raw: bool) -> Iterator[Exe]:
    """Yield the exes with which cluster 0 adds the clusters' sums of position `place`.

    With `raw`, the total is stored as a raw sum, else as a result.
    """
    start = (
        [f"psums start[{min(place, plan.start_positions - 1)}] sliced"]
        if plan.has_start_sums
        else []
    )
    clusters = range(plan.partition.clusters)
    parts = [f"psums chain[{place}, {q}] sliced" for q in clusters]
    yield Exe(JOIN, (*start, *parts), to=to_clusters(plan, range(1)))
    yield _out(plan, place, raw)


def row_reduction_exes(plan: ProductPlan) -> Iterator[Exe]:
    """Yield the exes with which row 0 adds the sums of all rows."""
    for place in range(plan.positions):
        yield from _row_exes(plan, place)


def _row_exes(plan: ProductPlan, place: int) -> Iterator[Exe]:
    """Yield the exes with which row 0 adds the rows' sums of position `place`."""
    to = to_clusters(plan, range(plan.summing_clusters))
    parts = [f"psums gathered[{p}, {place}] sliced" for p in range(plan.partition.rows)]
    yield Exe(MERGE, tuple(parts), to=to)
    yield _out(plan, place, raw=False)


def _out(plan: ProductPlan, place: int, raw: bool) -> Exe:
    """Return the exe that stores the sums of position `place`: as raw sums, or as results."""
    flag = "shift" if raw else "last"
    size = Types.size(plan.types.sum if raw else plan.types.result)
    out = f"{'partial' if raw else 'result'}[{place}], stride={size}, step={size}"
    if plan.by_columns and not raw:
        out = f"result[0, {place}], stride={plan.positions * size}, step={size}"
    return Exe(ROW, out=out, to=to_clusters(plan, range(plan.summing_clusters)), flag=flag)
