"""Sums, differences, products and multiply-adds of random pairs of bfloat16 numbers.

    python -m tests.emu.bfloat16_pairs --count 10000000

Each result is compared with ml_dtypes, and with binary64 whose results are rounded by `rounded`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from macaw.emu.bfloat16 import BFLOAT16
from macaw.emu.fim.arithmetic import Mode, accumulate, results
from macaw.isa.fim_circuit import FORMAT_NAMES, FUNCTION_NAMES

BF16 = FORMAT_NAMES.index("bf16")
CHUNK = 1 << 16
Bits = NDArray[np.uint16]


def rounded(values: NDArray[np.float64]) -> Bits:
    """The bits of binary64 numbers, rounded to 8 digits by `rint`, and to multiples of 2**-133."""
    with np.errstate(all="ignore"):
        exponents = np.maximum(np.frexp(values)[1] - 8, -133)
        near = np.ldexp(np.rint(np.ldexp(values, -exponents)), exponents)
        single = near.astype(np.float32)
    bits = (single.view(np.uint32) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), bits)


def wide(bits: Bits) -> NDArray[np.float64]:
    """The numbers with these bits in binary64."""
    with np.errstate(invalid="ignore"):
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def one_nan(numbers: NDArray[Any]) -> Bits:
    """The bits of numbers of ml_dtypes, with one pattern for NaN."""
    bits = numbers.view(np.uint16)
    return np.where((bits & 0x7FFF) > 0x7F80, np.uint16(0x7FC0), bits)


OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide
}  # fmt: skip


def island(name: str, x: Bits, y: Bits) -> Bits:
    """The results of an island's lanes, as bits."""
    mode = Mode(FUNCTION_NAMES.index(name), format=BF16)
    return np.asarray(results(mode, x.view(np.uint8), y.view(np.uint8)).view(np.uint16))


def random_pairs(random: np.random.Generator) -> tuple[Bits, Bits, Bits]:
    """Three arrays of bits. In the second half exponents are near each other: sums lose digits."""
    x, y, z = random.integers(0, 1 << 16, (3, CHUNK), dtype=np.uint16)
    half = CHUNK // 2
    for other in (y, z):
        near = (x[half:] & 0x7F80).astype(np.int32) + (random.integers(-10, 11, half) << 7)
        other[half:] = other[half:] & 0x807F | np.clip(near, 0, 0x7F00).astype(np.uint16)
    return x, y, z


def check_pairs(seed: int, count: int) -> int:
    """Compare the results of at least `count` pairs for each operation; return their number."""
    random = np.random.default_rng(seed)
    chunks = -(-count // CHUNK)
    for _ in range(chunks):
        x, y, z = random_pairs(random)
        a, b, c = (bits.view(ml_dtypes.bfloat16) for bits in (x, y, z))
        with np.errstate(all="ignore"):
            for name, operation in OPERATIONS.items():
                found = island(name, x, y)
                np.testing.assert_array_equal(found, one_nan(operation(a, b)), name)
                np.testing.assert_array_equal(found, rounded(operation(wide(x), wide(y))), name)
            product = island("mul", x, y)
            total = accumulate(z.view(BFLOAT16), product.view(BFLOAT16)).view(np.uint16)
            np.testing.assert_array_equal(total, one_nan(c + a * b))
            np.testing.assert_array_equal(total, rounded(wide(z) + wide(product)))
    return chunks * CHUNK


def main() -> None:
    """Check many pairs, and print their number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{check_pairs(options.seed, options.count):,} pairs, all equal")


if __name__ == "__main__":
    main()
