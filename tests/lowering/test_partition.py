"""The nine splits of Fig. 9 for the product of Fig. 8, and properties of any split."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.lowering.partition import SPLITS, partition, start_of
from tests.lowering.figure_9 import CLUSTERS, operand_ranges


@pytest.mark.parametrize("split", SPLITS)
def test_slices_of_figure_9(split: str) -> None:
    """Each split gives the clusters the ranges of Fig. 9 (seed 000 ¶149-170, ¶172-173)."""
    part = partition(split, 2, 2, (4, 8, 8))
    assert (part.rows, part.clusters) == (2, 2)
    for place, (p, q) in enumerate(CLUSTERS):
        for dim, wanted in operand_ranges(split, place).items():
            start = part.start(dim, p, q)
            assert range(start, start + part.length(dim)) == wanted, (dim, p, q)


def test_the_order_of_the_splits() -> None:
    named = {letter: ",".join(dims) for letter, dims in SPLITS.items()}
    assert named == {
        "a": "M,M", "b": "M,N", "c": "M,K",
        "d": "N,M", "e": "N,N", "f": "N,K",
        "g": "K,M", "h": "K,N", "i": "K,K",
    }  # fmt: skip


def test_a_vector_needs_one_cluster_if_m_is_split(  # ¶171
) -> None:
    """If M is split, a vector needs one cluster only (seed 000 ¶171)."""
    part = partition("a", 4, 4, (1, 100, 100))
    assert (part.rows, part.clusters) == (1, 1)


def test_the_last_run_begins_earlier() -> None:
    """Parts have equal sizes, so the last part overlaps the one before it (seed 000 ¶84)."""
    assert [start_of(10, 4, index) for index in range(3)] == [0, 4, 6]


@settings(max_examples=100)
@given(
    split=st.sampled_from(sorted(SPLITS)),
    rows=st.integers(1, 16),
    clusters=st.integers(1, 32),
    extents=st.tuples(*[st.integers(1, 200)] * 3),
)
def test_every_product_has_its_cluster(
    split: str, rows: int, clusters: int, extents: tuple[int, int, int]
) -> None:
    """Clusters' parts are in the product and cover all of it (seed 000 ¶84, ¶147-148, ¶172)."""
    part = partition(split, rows, clusters, extents)
    assert part.rows <= rows
    assert part.clusters <= clusters
    wanted = {
        (m, n, k)
        for m in _marks(extents[0])
        for n in _marks(extents[1])
        for k in _marks(extents[2])
    }
    for p in range(part.rows):
        for q in range(part.clusters):
            ranges = []
            for dim in "MNK":
                start, length = part.start(dim, p, q), part.length(dim)
                assert start >= 0
                assert start + length <= part.extent(dim)
                ranges.append(range(start, start + length))
            wanted -= {
                item for item in wanted if all(x in r for x, r in zip(item, ranges, strict=True))
            }
    assert not wanted


def _marks(extent: int) -> set[int]:
    """Some indices of a dimension, with the first and the last."""
    return {0, extent // 3, extent // 2, 2 * extent // 3, extent - 1}


def test_parts_of_outputs_may_be_multiples_of_a_grain():
    """The sizes of parts may be multiples of a grain.

    200 outputs over 16 clusters: 13 each; or 16 each for 13 clusters, where the last part overlaps.
    """
    plain = partition("e", 4, 4, (10, 200, 7))
    aligned = partition("e", 4, 4, (10, 200, 7), grain=16)
    assert plain.length("N") == 13
    assert aligned.length("N") == 16
    starts = {aligned.start("N", p, q) for p in range(4) for q in range(4)}
    assert starts == {16 * part for part in range(12)} | {184}
    assert partition("a", 4, 4, (10, 200, 7), grain=16).length("N") == 200  # it is not divided
    few = partition("b", 4, 4, (10, 24, 7), grain=16)
    assert (few.clusters, few.length("N"), few.start("N", 0, 1)) == (2, 16, 8)
