"""Tables of index comparator 505 and its load queues, as a finite automaton.

A PE examines two weights at a time, a pair. A weight is effectual if its activation is not zero; it
then becomes a load in a queue. Two things decide when the PE examines the next pair: the number of
loads in its queues, and how many weights of the earlier pairs were effectual. A block is several
pairs. The tables have the effect of each block in each state of the queues. So the engine computes
a mac with one look-up for each block, for all PEs at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass

OUTCOMES = 3  # the outcomes of a pair: none, one or both of its weights are effectual
_MOST_PAIRS = 7  # the greatest number of pairs of a block
_MOST_ROWS = 100_000  # the greatest number of rows of a table


@dataclass(frozen=True)
class Tables:
    """The effect of blocks of pairs, for given depths of the load queues.

    A state is q1 * 2 + q2: the numbers of loads in queue 1 and in queue 2 (at most one) at the
    start of a cycle. A block is a number in base `OUTCOMES`. Each digit is for one pair and says
    how many of its two weights are effectual, that is, have an activation other than zero. The
    first pair is the most significant digit. The row of the tables for a block and a state is block
    * states + state.

    For each row, `length` has the cycles of the block, `following` the state after it, and `most`
    the greatest number of loads in queue 1. `offset` has the cycle of each pair, counted from the
    start of the block, and `after` the state after this cycle. `drain` has, for each state, the
    cycles until both queues are empty. Loads move to queue 2 at least `gap` cycles apart.
    """

    pairs: int  # the number of pairs of a block
    states: int
    gap: int  # the least distance in cycles between two loads that move to queue 2
    following: NDArray[Any]  # (rows,): the state after the block
    length: NDArray[Any]  # (rows,): the cycles of the block
    # (rows, pairs): the cycle of each pair, relative to the start of the block
    offset: NDArray[Any]
    after: NDArray[Any]  # (rows, pairs): the state after the cycle of each pair
    most: NDArray[Any]  # (rows,): the greatest number of loads in queue 1 after a cycle of a pair
    drain: NDArray[Any]  # (states,): cycles until both queues are empty if no load comes


@lru_cache(maxsize=8)
def tables(depth_1: int, depth_2: int) -> Tables:
    """Return the tables for load queues 1 and 2 with room for `depth_1` and `depth_2` loads."""
    states = 2 * (depth_1 + 1)
    pairs = _MOST_PAIRS
    while pairs > 1 and states * OUTCOMES**pairs > _MOST_ROWS:
        pairs -= 1
    next_state, wait = (table.ravel() for table in _single(depth_1, depth_2, states))
    blocks = OUTCOMES**pairs
    # by block and state; the state after the first pairs depends on the block's first digits alone
    state = np.arange(states)[None, :]
    time = np.zeros((1, states), np.int64)
    offset = np.empty((blocks, states, pairs), np.int16)
    after = np.empty((blocks, states, pairs), np.int16)
    most = np.zeros((1, states), np.int64)
    for pair in range(pairs):
        moves = state[:, None, :] * OUTCOMES + np.arange(OUTCOMES)[:, None]
        time = (time[:, None, :] + wait[moves]).reshape(-1, states)
        state = next_state[moves].reshape(-1, states)
        most = np.maximum(most[:, None, :], state.reshape(-1, OUTCOMES, states))
        most = most.reshape(-1, states)
        same = len(offset) // len(state)  # the blocks with the same first digits
        for of, value in ((offset, time), (after, state)):
            of.reshape(-1, same, states, pairs)[..., pair] = value[:, None, :]
        time = time + 1
    drain = np.array([_drain(number, depth_2) for number in range(states)])
    rows = blocks * states
    return Tables(
        pairs=pairs,
        states=states,
        gap=1 if depth_2 > 1 else 2,
        following=state.astype(np.uint16).ravel(),  # narrow types make scattered look-ups faster
        length=time.astype(np.uint16).ravel(),
        offset=offset.reshape(rows, pairs),
        after=after.reshape(rows, pairs),
        most=(most >> 1).astype(np.uint16).ravel(),
        drain=drain,
    )


def _move(state: int, depth_2: int) -> int:
    """Return the state one cycle after `state`, if the comparator finds no load in this cycle.

    A state is the numbers of loads in both queues (`Tables`). Load queue 2 has room for `depth_2`
    loads.
    """
    q1, q2 = divmod(state, 2)
    moves = int(q1 > 0 and q2 < depth_2)
    return (q1 - moves) * 2 + moves


def _drain(state: int, depth_2: int) -> int:
    cycles = 0
    while state:
        state, cycles = _move(state, depth_2), cycles + 1
    return cycles


def _single(depth_1: int, depth_2: int, states: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the effect of one pair of weights as two arrays of shape (states, outcomes).

    An outcome is the number of effectual weights of the pair, 0 to 2. `depth_1` and `depth_2` are
    the depths of the load queues, `states` is the number of states. The first array has the state
    after the cycle in which the pair is examined. The second has the number of cycles that the
    comparator waits before this cycle.
    """
    next_state = np.zeros((states, OUTCOMES), np.int64)
    wait = np.zeros((states, OUTCOMES), np.int64)
    for number in range(states):
        state, waited = number, 0
        while state >> 1 > depth_1 - 2:
            state, waited = _move(state, depth_2), waited + 1
        for effectual in range(OUTCOMES):
            next_state[number, effectual] = _move(state, depth_2) + 2 * effectual
            wait[number, effectual] = waited
    return next_state, wait
