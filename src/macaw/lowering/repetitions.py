"""Writes nested repetitions (`.irp`) in place of lines whose numbers grow regularly.

A table of transfers often has a line for each row of the array, each cluster, and each run of
results. If the numbers are linear in these three indices, a few lines with `.irp` mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

Level = tuple[int, NDArray[np.int64]]  # how often lines repeat, and what each round adds to numbers

_INDICES = "ijk"  # the parameters of the repetitions, the outermost first
# a number that is a term of a sum, not a factor of a product or a part of a name
_NUMBER = re.compile(r"(?<![\w.\\*])(?<!\* )(?<!- )-?(?:0x[0-9a-f]+|\d+)(?!\w| \*)")
_HEXADECIMAL = 1 << 12  # a step of at least this is hexadecimal if the number is


def repeated(lines: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Divide lines into groups; return, for each group, the index of its first line and its text.

    A group is a single line, or lines that nested `.irp` repetitions express in fewer lines. Its
    text has the lines to write in their place. The given lines are statements without labels and
    comments. They call no macro with a parameter called i, j or k, because the repetitions use
    these names.
    """
    groups, first = [], 0
    texts = [_NUMBER.sub("#", line) for line in lines]
    numbers = [[int(number, 0) for number in _NUMBER.findall(line)] for line in lines]
    while first < len(lines):
        other = (n for n in range(first, len(lines)) if texts[n] != texts[first])
        alike = numbers[first : next(other, len(lines))]
        levels = _levels(np.array(alike, np.int64))
        count = prod(times for times, _ in levels)
        short = 2 * len(levels) + 1 < count
        groups.append((first, _nested(lines[first], levels) if short else [lines[first]]))
        first += count if short else 1
    return groups


def _nested(line: str, levels: Sequence[Level]) -> list[str]:
    """Return the lines of nested `.irp` repetitions with one statement in them, made from `line`.

    For each repetition, each number of the statement gets a term: the step by which it grows, times
    the repetition's parameter.
    """
    column = iter(range(len(levels[0][1])))

    def with_terms(number: re.Match[str]) -> str:
        place = next(column)
        terms = zip((int(steps[place]) for _, steps in levels), _INDICES, strict=False)
        return number[0] + "".join(_term(step, index, number[0]) for step, index in terms if step)

    heads = [
        f".irp {index}, {', '.join(map(str, range(count)))}"
        for (count, _), index in zip(levels, _INDICES, strict=False)
    ]
    return [*heads, _NUMBER.sub(with_terms, line), *[".endr"] * len(levels)]


def _term(step: int, index: str, number: str) -> str:
    """Return a text such as ` + 4 * \\i`, which adds `step` times the parameter `index`.

    If the text `number` before it is hexadecimal, a large step is hexadecimal, too.
    """
    size = abs(step)
    text = f"{size:#x}" if "x" in number and size >= _HEXADECIMAL else str(size)
    return f" {'-' if step < 0 else '+'} {text} * \\{index}"


def _levels(numbers: NDArray[np.int64]) -> list[Level]:
    """Return nested repetitions that express as many of the first lines as possible.

    A repetition is a pair (count, steps): how often it runs, and by how much it increases each
    number of a line. The outermost repetition comes first. The product of the counts is the number
    of lines that they express. `numbers` has the shape (lines, numbers of a line).
    """
    levels: list[Level] = []
    while len(numbers) > 1 and len(levels) < len(_INDICES):
        steps = np.diff(numbers, axis=0)
        count = _leading(steps, steps[0]) + 1
        levels.insert(0, (count, steps[0]))
        blocks = numbers[: len(numbers) // count * count].reshape(-1, count, numbers.shape[1])
        alike = _leading(
            (blocks - blocks[:, :1]).reshape(len(blocks), -1), blocks[0] - blocks[0, 0]
        )
        numbers = blocks[:alike, 0]
    return levels


def _leading(rows: NDArray[np.int64], row: NDArray[np.int64]) -> int:
    """Return how many of `rows` are equal to `row` before the first one that differs from it."""
    other = np.flatnonzero((rows != row.reshape(-1)).any(axis=1))
    return int(other[0]) if other.size else len(rows)
