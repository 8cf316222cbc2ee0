"""Draws a row of a timeline with characters that show the busy share of each column."""

from __future__ import annotations

from collections.abc import Iterable

from macaw.profiling.model import Interval

BLOCKS = " ▁▂▃▄▅▆▇█"
ASCII = " .:-=+*%#"


def column_shares(busy: Iterable[Interval], cycles: int, columns: int) -> list[float]:
    """Return for each of `columns` columns the share of its cycles that are busy, from 0 to 1.

    The columns divide the cycles 0 to `cycles` evenly. `busy` are sorted intervals that do not
    touch. Their parts outside of these cycles are ignored.
    """
    columns_busy = [0.0] * columns
    if cycles <= 0:
        return columns_busy
    for begin, end in busy:
        left, right = max(begin, 0) * columns / cycles, min(end, cycles) * columns / cycles
        if right <= left:
            continue
        first, last = int(left), min(int(right), columns - 1)
        if first == last:
            columns_busy[first] += right - left
            continue
        columns_busy[first] += first + 1 - left
        for column in range(first + 1, last):
            columns_busy[column] = 1.0
        columns_busy[last] += right - last
    return [min(share, 1.0) for share in columns_busy]


def bar_text(shares: Iterable[float], ascii_only: bool) -> str:
    """Return a character for each share, from a blank for 0 to a full block for 1.

    A share between 0 and 1 never gives a blank or a full block. With `ascii_only`, the characters
    are ASCII.
    """
    levels = ASCII if ascii_only else BLOCKS
    full = len(levels) - 1
    text = []
    for share in shares:
        if share <= 0:
            level = 0
        elif share >= 1 - 1e-9:
            level = full
        else:
            level = 1 + int(share * (full - 1))
        text.append(levels[level])
    return "".join(text)


def round_step(step: float) -> int:
    """Return the smallest of the numbers 1, 2, 5, 10, 20, ... that is at least `step`."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= step:
                return factor * power
        power *= 10


def axis_text(cycles: int, columns: int) -> str:
    """Return the axis of cycles as text: `columns` characters that stand for `cycles` cycles.

    It has some labels, such as 0, 100 and 200, each beginning in the column of its cycle.
    """
    widest = len(f"{cycles:,}") + 2
    step = round_step(max(cycles, 1) * widest / max(columns, 1))
    text = [" "] * columns
    for cycle in range(0, max(cycles, 1), step):
        at, label = cycle * columns // max(cycles, 1), f"{cycle:,}"
        if at + len(label) <= columns:
            text[at : at + len(label)] = label
    return "".join(text)
