"""Draws random permutations of the lanes of a block by their rank.

The rank of a permutation of n lanes is a number below n!. Each step of a Fisher-Yates shuffle takes
one mixed-radix digit of the rank; rank 0 is the identity. A random rank from 1 to n! - 1 therefore
gives all other permutations with the same probability, without retries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import factorial

import numpy as np
from numpy.typing import NDArray

# Returns the given number of random bytes: `os.urandom`, or the `bytes` of a seeded NumPy
# generator.
Source = Callable[[int], bytes]

_PARTS = 8  # words of 16 bits: 128 random bits for each number


def uniform(count: int, below: int, source: Source) -> NDArray[np.int64]:
    """Return `count` random numbers from 0 to `below` - 1; `below` is at most 2**47.

    Each number is the remainder of a number of 128 random bits. So the probabilities of two numbers
    differ at most by a factor of 1 + 2**-81.
    """
    parts = np.frombuffer(source(2 * _PARTS * count), ">u2").reshape(count, _PARTS)
    numbers = np.zeros(count, np.int64)
    for part in parts.T:
        numbers = ((numbers << 16) + part) % below
    return numbers


def permutations(ranks: NDArray[np.int64], lanes: int) -> NDArray[np.uint8]:
    """Return the permutations with the given ranks, in an array of shape (count, lanes).

    `ranks` has shape (count,) and numbers from 0 to lanes! - 1. Rank 0 is the identity.
    """
    orders = np.tile(np.arange(lanes, dtype=np.uint8), (len(ranks), 1))
    each = np.arange(len(ranks))
    for last in range(lanes - 1, 0, -1):
        ranks, back = np.divmod(ranks, last + 1)
        other = last - back
        orders[each, last], orders[each, other] = orders[each, other], orders[:, last].copy()
    return orders


def draw(count: int, lanes: int, filled: Collection[int], source: Source) -> NDArray[np.uint8]:
    """Return random permutations for a block of `lanes` lanes, in an array of shape (count, lanes).

    `filled` says how many of the block's first lanes have weights; the others have zeros. It has
    several numbers if layers of different fan-in share the block. Only the first max(`filled`)
    lanes are permuted. A permutation is valid if the function `moves` returns True for it and each
    number of `filled`; an invalid one is drawn again. So all valid permutations have the same
    probability. If the block has a single weight, it changes places with a random zero. The random
    bits come from `source`.
    """
    most = max(filled)
    orders = np.tile(np.arange(lanes, dtype=np.uint8), (count, 1))
    if most == 1:
        to = 1 + uniform(count, lanes - 1, source)
        orders[:, 0] = to
        orders[np.arange(count), to] = 0
        return orders
    missing = np.arange(count)
    while missing.size:
        ranks = 1 + uniform(missing.size, factorial(most) - 1, source)
        orders[missing, :most] = permutations(ranks, most)
        good = np.all([moves(orders[missing], each) for each in filled], axis=0)
        missing = missing[~good]
    return orders


def moves(orders: NDArray[np.uint8], filled: int) -> NDArray[np.bool_]:
    """Return whether each order moves a block's weights, in an array of shape (count,).

    `orders` has shape (count, lanes); the weights are in the first `filled` lanes. All weights are
    assumed to differ. An order moves them if their sequence changes and at least two of them leave
    their lanes. One is not enough: it may be zero, and then it only changes places with a zero of
    the padding. If `filled` is 1, it is enough that the weight leaves its lane.
    """
    front = orders[:, :filled].astype(np.int16)
    away = (front != np.arange(filled)).sum(axis=1)
    if filled == 1:
        return np.asarray(away == 1)
    return np.asarray((away >= 2) & (np.diff(front, axis=1) < 0).any(axis=1))
