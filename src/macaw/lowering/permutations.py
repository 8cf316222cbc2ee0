"""Random orders of the lanes of a block, drawn by their number.

A permutation of n lanes is a number below n! (its rank): each step of a Fisher-Yates shuffle
takes one mixed-radix digit of it, and the rank 0 swaps nothing. To draw a rank from 1 on is
to draw every order but the identity with the same probability, without trying twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import factorial

import numpy as np
from numpy.typing import NDArray

# Gives that many random bytes: `os.urandom`, or the `bytes` of a seeded NumPy generator.
Source = Callable[[int], bytes]

_PARTS = 8  # of 16 bits: 128 random bits for a number


def uniform(count: int, below: int, source: Source) -> NDArray[np.int64]:
    """`count` numbers from 0 to `below` - 1; `below` is at most 2**47.

    Each is the remainder of 128 random bits, so none is likelier than another by more
    than 2**-81 of its probability.
    """
    parts = np.frombuffer(source(2 * _PARTS * count), ">u2").reshape(count, _PARTS)
    numbers = np.zeros(count, np.int64)
    for part in parts.T:
        numbers = ((numbers << 16) + part) % below
    return numbers


def permutations(ranks: NDArray[np.int64], lanes: int) -> NDArray[np.uint8]:
    """The orders with these ranks, 0 to lanes! - 1: (count,) to (count, lanes).

    Rank 0 is the identity.
    """
    orders = np.tile(np.arange(lanes, dtype=np.uint8), (len(ranks), 1))
    each = np.arange(len(ranks))
    for last in range(lanes - 1, 0, -1):
        ranks, back = np.divmod(ranks, last + 1)
        other = last - back
        orders[each, last], orders[each, other] = orders[each, other], orders[:, last].copy()
    return orders


def draw(count: int, lanes: int, filled: Collection[int], source: Source) -> NDArray[np.uint8]:
    """`count` orders for a block of `lanes`, (count, lanes), of which so many are `filled`.

    The first max(`filled`) lanes change places, zero padding stays behind them; each order
    that `moves` the weights is equally likely. `filled` has several numbers where layers of
    different fan-in share the block: what leaves one of them as it was is drawn again. A single
    weight goes to another lane.
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
    """Whether orders, (count, lanes), move `filled` distinct weights at the front: (count,).

    The weights must not follow each other as before, and two of them must leave their
    lanes, for one may be a zero as the padding is. A single weight must leave its lane.
    """
    front = orders[:, :filled].astype(np.int16)
    away = (front != np.arange(filled)).sum(axis=1)
    if filled == 1:
        return np.asarray(away == 1)
    return np.asarray((away >= 2) & (np.diff(front, axis=1) < 0).any(axis=1))
