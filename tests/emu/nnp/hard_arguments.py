"""Finds the fp32 arguments of sigmoid, tanh and softmax's exp that are hard to round.

An argument is hard if the relative distance of its true result from a tie is below 2**-49, so that
binary64 may round to the wrong host number. `python -m tests.emu.nnp.hard_arguments` counts them
(docs/numbers-nnp.md has the counts) and compares macaw.emu.curves with fifty digits at each. It
takes about 15 s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from macaw.emu import curves
from tests.emu.exact_floats import SINGLE
from tests.emu.nnp.exact_numbers import bits_of, curve

MARGIN = 2.0**-49
AT_ONCE = 1 << 22

Doubles = NDArray[np.float64]


def arguments(least: float, most: float, sign: int) -> Iterator[NDArray[np.float32]]:
    """Yield all numbers from `least` to `most`, with this sign, in arrays."""
    first, last = (int(np.float32(x).view(np.uint32)) for x in (least, most))
    for begin in range(first, last + 1, AT_ONCE):
        bits = np.arange(begin, min(begin + AT_ONCE, last + 1), dtype=np.uint32)
        yield (bits | np.uint32(sign << 31)).view(np.float32)


def hard(
    exact: Callable[[Doubles], Doubles],
    rounded: Callable[[Doubles], NDArray[np.generic]],
    *ranges: tuple[float, float, int],
) -> NDArray[np.float32]:
    """The arguments whose results, times 1 - MARGIN and 1 + MARGIN, round to different numbers."""
    found = []
    for ends in ranges:
        for x in arguments(*ends):
            values = exact(x.astype(np.float64))
            unsure = rounded(values * (1 - MARGIN)) != rounded(values * (1 + MARGIN))
            found.append(x[unsure])
    return np.concatenate(found)


def single(values: Doubles) -> NDArray[np.float32]:
    return values.astype(np.float32)


def main() -> None:
    """Print how many arguments are hard, and whether the results at them are right."""
    np.seterr(under="ignore", over="ignore")
    whole, negative = (2.0**-32, 128.0, 0), (2.0**-32, 128.0, 1)
    functions = {
        "sigmoid": (hard(curves._sigmoid64, single, whole, negative), curves.sigmoid),
        "tanh": (hard(np.tanh, single, (2.0**-16, 16.0, 0), (2.0**-16, 16.0, 1)), curves.tanh),
    }
    for name, (x, function) in functions.items():
        for value, found in zip(x.tolist(), bits_of(function(x)), strict=True):
            assert found == SINGLE.rounded(curve(name, Decimal(value))), (name, value)
        print(f"{name}: {len(x)} hard arguments")
    grid = hard(np.exp, lambda values: curves._on_grid(values, np.float32), negative)
    for value, units in zip(grid.tolist(), curves._exponentials(grid).tolist(), strict=True):
        true = curve("exp", Decimal(value))
        assert true > Fraction(1, 1 << 16), value
        assert Fraction(units, 1 << 40) == SINGLE.value(SINGLE.rounded(true)), value
    print(f"e**d of the softmax: {len(grid)} hard arguments")


if __name__ == "__main__":
    main()
