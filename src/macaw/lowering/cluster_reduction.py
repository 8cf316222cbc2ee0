"""Sums of clusters and rows that are added position by position: one sum a PE each time.

First the clusters of a row are joined, then the rows in row 0 (seed 000 ¶85). Plans whose sums
wait in the output queue, one place a position, do it so.
"""

from __future__ import annotations

from collections.abc import Iterator

from macaw.lowering.operation import Types
from macaw.lowering.plan import Plan
from macaw.lowering.row_program import PRODUCT, Array, Exe, Sequence, to_clusters

JOIN, MERGE, ROW = 1, 2, PRODUCT + 1  # instruction buffers


def most_parts(plan: Plan) -> int:
    """How many sums are added to one."""
    clusters = plan.partition.clusters + plan.begins if plan.joins_clusters else 1
    return max(clusters, plan.partition.rows if plan.joins_rows else 1)


def join_arrays(plan: Plan) -> list[Array]:
    """The raw sums that clusters and rows give."""
    part, positions, arrays = plan.partition, plan.positions, list[Array]()
    if plan.joins_clusters:
        shape: tuple[int, ...] = (positions, part.clusters, plan.pes)
        arrays.append(Array("chain", plan.types.sum, shape, "raw sums: (position, cluster, PE)"))
    if plan.joins_rows:
        shape = (part.rows, positions, plan.summing * plan.pes)
        arrays.append(Array("gathered", plan.types.sum, shape, "raw sums of all rows"))
    return arrays


def join_sequences(plan: Plan, header: str, final: list[str]) -> list[Sequence]:
    """Those that add, and the one that moves what they have added out; `final` finishes it."""
    parts = {"add_clusters": (JOIN, plan.partition.clusters + plan.begins, plan.joins_clusters)}
    parts["add_rows"] = (MERGE, plan.partition.rows, plan.joins_rows)
    sequences = []
    for name, (buffer, count, needs) in parts.items():
        if needs:
            what = f"adds what {'clusters' if buffer == JOIN else 'rows'} have of a position"
            options = (f".loop inner={count}",)
            sequences.append(Sequence(name, buffer, ["ld psums"], what=what, options=options))
    if sequences:
        body = ["spu nonsf, src=0, dst=0", *final]
        sequences.append(Sequence("row", ROW, body, header, "moves the sums of a position out"))
    return sequences


def join_exes(plan: Plan, raw: bool) -> Iterator[Exe]:
    """Cluster 0 adds the sums of all clusters; they leave `raw` or as results."""
    for place in range(plan.positions):
        start = [f"psums start[{min(place, plan.starts - 1)}] sliced"] if plan.begins else []
        clusters = range(plan.partition.clusters)
        parts = [f"psums chain[{place}, {q}] sliced" for q in clusters]
        yield Exe(JOIN, (*start, *parts), to=to_clusters(plan, range(1)))
        yield _out(plan, place, raw)


def merge_exes(plan: Plan) -> Iterator[Exe]:
    """Row 0 adds the sums of all rows."""
    to = to_clusters(plan, range(plan.summing))
    for place in range(plan.positions):
        parts = [f"psums gathered[{p}, {place}] sliced" for p in range(plan.partition.rows)]
        yield Exe(MERGE, tuple(parts), to=to)
        yield _out(plan, place, raw=False)


def _out(plan: Plan, place: int, raw: bool) -> Exe:
    """The sums of a position out of the accumulators, of the clusters that hold sums."""
    flag = "shift" if raw else "last"
    size = Types.size(plan.types.sum if raw else plan.types.result)
    out = f"{'partial' if raw else 'result'}[{place}], stride={size}, step={size}"
    if plan.by_columns and not raw:
        out = f"result[0, {place}], stride={plan.positions * size}, step={size}"
    return Exe(ROW, out=out, to=to_clusters(plan, range(plan.summing)), flag=flag)
