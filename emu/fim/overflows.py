"""Overflows of an island: results that are infinite or NaN although their operands were finite.

A result counts if its operands were finite and a rounding made it infinite. The rounding may be of
a product, a sum in the adder tree, the sum with the old number in Rz, a difference, a quotient by a
number other than 0, or a square. A result with an operand that was infinite or NaN already does not
count, so an overflow is counted only where it happens.

In int8 two kinds of results count: sums in Rz that wrap at 32 bits, and numbers that are limited to
the range of int8 when they leave Rz. Quantised networks limit numbers on purpose, so the second
kind is recorded separately, and is no problem of which a run warns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.emu.fim.arithmetic import Bytes, Mode, accumulate, results
from macaw.emu.floats import Host, finites, nans, to_host, widened
from macaw.emu.numerics import sum_overflows
from macaw.isa.fim_circuit import ELEMENTWISE, FUNCTION_NAMES, MUL

Mask = NDArray[np.bool_]
_CAN_OVERFLOW = frozenset(map(FUNCTION_NAMES.index, ("add", "sub", "mul", "div", "vssqr")))
_DIV = FUNCTION_NAMES.index("div")
_SQUARE = FUNCTION_NAMES.index("vssqr")
LIMITED = -1  # in place of a format, for numbers that were limited to int8


class Overflows:
    """The overflows of an island so far, by word and number format."""

    def __init__(self) -> None:
        # by address of the word and number of the format: count of numbers, mask of banks
        self._words: dict[tuple[int, int], tuple[int, int]] = {}

    @property
    def total(self) -> int:
        """The number of results that overflowed."""
        return sum(count for count, _ in self._words.values())

    def plain(self) -> list[list[int]]:
        """Return the record as lists [address of a word, format, count of numbers, mask of banks],
        in the order of the addresses. The format is `LIMITED` for numbers limited to int8.
        """
        return [[*key, *entry] for key, entry in sorted(self._words.items())]

    def take(self, plain: list[list[int]]) -> None:
        """Restore the record from a value that `plain` returned."""
        self._words = {(address, form): (count, banks) for address, form, count, banks in plain}

    def add(
        self, address: int, form: int, places: NDArray[np.intp], counts: NDArray[np.intp]
    ) -> None:
        """Add the overflows in the word at `address`.

        `counts` has their number for each bank in `places`. `form` is the number of the lanes'
        format, or `LIMITED`.
        """
        total = int(counts.sum())
        if total:
            count, banks = self._words.get((address, form), (0, 0))
            for bank in places[counts > 0].tolist():
                banks |= 1 << bank
            self._words[address, form] = count + total, banks


def count_overflows(
    mode: Mode, left: Bytes, right: Bytes, old: Bytes, slots: Sequence[int], new: Host
) -> NDArray[np.intp]:
    """Return the number of overflows in repeats of an operation in `mode`, for each bank.

    `left` and `right` are the operands, of shape (banks, repeats, 32) or broadcastable to it. `new`
    has the results before accumulation, of shape (banks, repeats, n). `old` has the bytes of Rz
    before the repeats, of shape (banks, bytes), `slots` the value of RZ_SLOT in each repeat.
    """
    banks = len(new)
    counts = np.zeros(banks, np.intp)
    if mode.op not in _CAN_OVERFLOW:
        return counts
    excluded = np.broadcast_to(_excluded(mode, left, right), new.shape)
    if not mode.accumulates:
        overflowed: Mask = ~finites(new) & ~excluded
        counts += np.count_nonzero(overflowed.reshape(banks, -1), axis=1)
        return counts
    numbers: Host = old.view(mode.dtype).copy()
    for k, slot in enumerate(slots):
        start, size = (x // mode.dtype.itemsize for x in mode.place(slot))
        before = numbers[:, start : start + size]
        after = accumulate(before, new[:, k])
        overflowed = ~finites(after) & finites(before) & ~excluded[:, k]
        counts += np.count_nonzero(overflowed, axis=1)
        numbers[:, start : start + size] = after
    return counts


def count_wraps(mode: Mode, old: Bytes, slots: Sequence[int], new: Host) -> NDArray[np.intp]:
    """Return the number of sums of int8 products that wrapped in repeats in `mode`, for each bank.

    `old` has the bytes of Rz before the repeats, of shape (banks, bytes), `slots` the value of
    RZ_SLOT in each repeat, and `new` the results before accumulation, of shape (banks, repeats, n).
    """
    counts = np.zeros(len(new), np.intp)
    numbers: Host = old.view(mode.sums).copy()
    most = int(np.abs(new, dtype=np.int64).max(initial=0)) * new.shape[1]
    if most + int(np.abs(numbers, dtype=np.int64).max(initial=0)) <= np.iinfo(mode.sums).max:
        return counts
    for k, slot in enumerate(slots):
        start, size = (x // mode.sums.itemsize for x in mode.place(slot))
        before = numbers[:, start : start + size]
        after = accumulate(before, new[:, k])
        counts += np.count_nonzero(sum_overflows(before, new[:, k], after), axis=1)
        numbers[:, start : start + size] = after
    return counts


def _excluded(mode: Mode, left: Bytes, right: Bytes) -> Mask:
    """Return a mask of the results that cannot be overflows, because an operand excludes them.

    `left` and `right` are the operands, `mode` is the mode of the operation. An operand excludes a
    result if it is infinite or NaN, or if it is a divisor 0. The function finds these results by a
    multiplication of marked operands in the same arrangement: the marks are NaN for operands that
    exclude results, and 0 for all others.
    """
    x, y = left.view(mode.dtype), right.view(mode.dtype)
    bad_x = ~finites(x)
    bad_y = ~finites(y) | (widened(y) == 0) if mode.op == _DIV else ~finites(y)
    marked_x, marked_y = (to_host(np.where(bad, np.nan, 0), mode.dtype) for bad in (bad_x, bad_y))
    if mode.op == _SQUARE:
        marked_y = marked_x
    arrange = mode.arrange if mode.op == MUL else ELEMENTWISE
    same = Mode(MUL, arrange, mode.transpose, 0, mode.format)
    return nans(results(same, marked_x.view(np.uint8), marked_y.view(np.uint8)))
