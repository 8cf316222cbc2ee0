"""How a product of int8 gets its bias, and by which powers of two its results are divided.

The sums of 32 bits are in the register Rz. The bias is added to them before they become int8. To
the sums in Rz, circuits add only products of int8 numbers. So the bias is a sum of such products: b
= 1 · d0 + 127 · (d1 + d2 + ...). The banks store the digits d0, d1, ... as rows, one number for
each column of the result, and the factors 1 and 127 as two more rows.
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
    exponents of two: the sums of the product are divided by 2 ** `shifts[0]`, the results of the
    function after it by 2 ** `shifts[1]`, and so on. It is empty for floating-point numbers.
    """

    bias: int = 0
    shifts: tuple[int, ...] = ()

    @property
    def factors(self) -> Iterator[tuple[int, range]]:
        """Which row of factors multiplies which rows of digits, as pairs (row, range of rows).

        The bias is the sum of digits times factors. Both are rows that the banks store for the
        bias, and a row is given by its index among these.
        """
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
