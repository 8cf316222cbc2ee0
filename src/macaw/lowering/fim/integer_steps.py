"""How a product of int8 gets its bias, and the powers of two by which results leave Rz.

A bias is added to the sums of 32 bits in Rz, before they become int8. Circuits add only products of
int8 numbers there. So the bias is a sum of such products: b = d0 + 127 · (d1 + d2 + ...). The banks
store the digits as rows, and rows with the factors 1 and 127.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from macaw.lowering.fim.graph import Task, Tensor
from macaw.lowering.fim.graph_checks import FACTOR


class IntegerSteps(NamedTuple):
    """The steps of a product in int8 that a product of floating-point numbers does not have.

    `bias` is the number of rows with the digits of the bias and their factors, or 0. `shifts` has
    the powers of two by which numbers leave Rz: those of the product, then those of each function
    that follows. It is empty for floating-point numbers.
    """

    bias: int = 0
    shifts: tuple[int, ...] = ()

    @property
    def factors(self) -> Iterator[tuple[int, range]]:
        """For each factor: the row with the factor, and the rows with digits to multiply by it."""
        if self.bias:
            yield 0, range(1, 2)
        if self.bias > 2:
            yield 2, range(3, self.bias)


NO_STEPS = IntegerSteps()


def bias_rows(task: Task) -> tuple[Tensor, ...]:
    """Return the rows that the banks store for the bias of a product, in the order of their use."""
    bias = task.bias
    if bias is None:
        return ()
    assert bias.data is not None
    numbers = np.asarray(bias.data, np.int64)
    left = np.rint(numbers / FACTOR).astype(np.int64)
    rows = [np.ones_like(numbers), numbers - FACTOR * left]
    if np.any(left):
        rows.append(np.full_like(numbers, FACTOR))
    while np.any(left):
        digit = np.clip(left, -FACTOR, FACTOR)
        rows.append(digit)
        left = left - digit
    return tuple(
        Tensor(f"{bias.name}.{number}", 1, bias.columns, row.astype(np.int8).reshape(1, -1))
        for number, row in enumerate(rows)
    )
