"""Random orders: all permutations except the identity, equally likely."""

import itertools
import os
from math import factorial

import numpy as np
import pytest

from macaw.lowering.permutations import draw, moves, permutations, uniform


@pytest.mark.parametrize("lanes", range(1, 7))
def test_ranks_are_the_permutations(lanes: int) -> None:
    found = permutations(np.arange(factorial(lanes)), lanes)
    assert found[0].tolist() == list(range(lanes))
    assert sorted(map(tuple, found.tolist())) == list(itertools.permutations(range(lanes)))


def test_the_last_rank_of_sixteen_lanes() -> None:
    """The order of the last rank comes from exchanging lane 0 with lanes 15, 14, ..., 1 in turn."""
    wanted = list(range(16))
    for last in range(15, 0, -1):
        wanted[last], wanted[0] = wanted[0], wanted[last]
    assert permutations(np.array([factorial(16) - 1]), 16).tolist() == [wanted]


def test_numbers_are_the_remainders_of_128_bits() -> None:
    rng = np.random.default_rng(1)
    data = rng.bytes(16 * 50)
    whole = [int.from_bytes(data[i : i + 16], "big") for i in range(0, len(data), 16)]
    for below in (1, 2, 23, factorial(16) - 1, 1 << 47):
        found = uniform(50, below, lambda count: data[:count])
        assert found.tolist() == [number % below for number in whole]


def chi_square(counts: np.ndarray) -> float:
    """The distance of counts from equal counts, in standard deviations of chi-square."""
    expected = counts.sum() / len(counts)
    free = len(counts) - 1
    return float((((counts - expected) ** 2 / expected).sum() - free) / np.sqrt(2 * free))


@pytest.mark.parametrize(
    ("lanes", "filled", "orders"),
    [
        (4, {4}, 23),
        (4, {3}, 5),  # the padding stays at the end
        (4, {2}, 1),
        (4, {1}, 3),  # a single weight goes to another lane
        (8, {5}, 119),
        # Two weights may go to lanes (1, 0), (2, 0), (3, 0), (3, 2), the other two as they like.
        (4, {2, 4}, 8),
        (4, {1, 4}, 18),  # six keep lane 0
    ],
)
def test_every_order_is_as_likely_as_any_other(lanes: int, filled: set[int], orders: int) -> None:
    found = draw(400 * orders, lanes, filled, np.random.default_rng(7).bytes)
    different, counts = np.unique(found, axis=0, return_counts=True)
    assert len(different) == orders
    assert orders == 1 or abs(chi_square(counts)) < 4
    assert (np.sort(found) == np.arange(lanes)).all()
    assert (found != np.arange(lanes)).any(axis=1).all()


def test_sixteen_lanes_stand_anywhere() -> None:
    """In random orders of 16 lanes, weights and pairs of neighbours go anywhere equally often.

    There are too many orders, 16!, to count each.
    """
    found = draw(16_000, 16, {16}, np.random.default_rng(3).bytes).astype(int)
    for lane in range(16):
        assert abs(chi_square(np.bincount(found[:, lane], minlength=16))) < 5
    pairs = np.bincount(found[:, 3] * 16 + found[:, 4], minlength=256).reshape(16, 16)
    assert not pairs.diagonal().any()
    assert abs(chi_square(pairs[~np.eye(16, dtype=bool)])) < 5
    # Half of all orders are odd: a shuffle that leaves out a step shows here.
    odd = sum(int(np.linalg.det(np.eye(16)[row]) < 0) for row in found[:2000])
    assert 880 < odd < 1120


def test_the_operating_systems_generator_never_gives_the_identity() -> None:
    found = draw(3000, 4, {4}, os.urandom)
    assert (found != np.arange(4)).any(axis=1).all()
    assert len(np.unique(found, axis=0)) == 23


def test_moves_is_what_can_be_seen() -> None:
    """`moves` is true exactly if the order changes a row of distinct weights (one may be 0)."""
    orders = permutations(np.arange(120), 5)
    for filled in range(1, 6):
        found = moves(orders, filled)
        for order, moved in zip(orders.tolist(), found, strict=True):
            at = order[:filled]
            if filled == 1:
                assert moved == (at != [0])
                continue
            stands = False
            for zero in range(-1, filled):  # which weight is a zero
                values = [0 if i == zero else 9 + i for i in range(filled)]
                stored = [0] * 5
                for value, lane in zip(values, at, strict=True):
                    stored[lane] = value
                stands |= stored == values + [0] * (5 - filled)
            assert moved == (not stands and at != sorted(at))
