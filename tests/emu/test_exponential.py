"""`vexp.f32` equals its rule in plain Python; its error against many digits is bounded."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from numpy.typing import NDArray

from macaw.emu.numerics import exponential

NEAR_A_TIE = (  # of 140,692,684 numbers of 0.25 to 88.7 and their negatives, 14 are like these
    "0x1.54f076p-2", "0x1.cce332p+0", "0x1.ddc228p+3", "0x1.060e1ep+6", "0x1.2cebcep+6",
    "-0x1.4da0cp-2", "-0x1.03d5bep+0",
)  # fmt: skip
GREATEST = 0.500001  # units in the last place, as docs/timing-vc.md says


def by_the_rule(x: float) -> float:
    """The rule of docs/timing-vc.md, with one operation of Python's floats after another.

    The result is a binary64 number, not yet rounded to binary32.
    """
    x = min(max(x, -110.0), 90.0)
    k = round(x * float.fromhex("0x1.71547652b82fep+0"))
    r = (x - k * float.fromhex("0x1.62e42fefap-1")) - k * float.fromhex("0x1.cf79abc9e3b3ap-40")
    p = 1 / math.factorial(11)
    for n in range(10, -1, -1):
        p = p * r + 1 / math.factorial(n)
    return math.ldexp(p, k)


def some_numbers() -> NDArray[np.float32]:
    rng = np.random.default_rng(3)
    return np.concatenate(
        [
            rng.uniform(-105, 90, 6000),
            rng.uniform(-1, 1, 3000),
            rng.uniform(-1, 1, 1000) * 2.0 ** rng.uniform(-140, 0, 1000),
            np.arange(-130, 128) * math.log(2),  # where k changes, and powers of two
            (np.arange(-130, 128) + 0.5) * math.log(2),
            [0.0, -0.0, 88.72283, 88.72284, -87.33654, -103.27893, -103.97208, -103.97209],
        ]
    ).astype(np.float32)


def test_the_rule_bit_by_bit() -> None:
    x = some_numbers()
    with np.errstate(over="ignore"):
        wanted = np.array([by_the_rule(value) for value in x.tolist()]).astype(np.float32)
    assert exponential(x).tobytes() == wanted.tobytes()


def test_the_error_of_finite_results() -> None:
    x = some_numbers()
    got = exponential(x)
    finite = np.isfinite(got)
    x, got = x[finite], got[finite]
    units = np.maximum(np.spacing(got), np.float32(2.0**-149))
    with localcontext(Context(prec=40)):
        for value, result, unit in zip(x.tolist(), got.tolist(), units.tolist(), strict=True):
            error = abs(Decimal(value).exp() - Decimal(result)) / Decimal(unit)
            assert error <= Decimal(GREATEST), (value, result)


@pytest.mark.parametrize(
    ("x", "result"),
    [
        (0.0, 1.0), (-0.0, 1.0), (np.inf, np.inf), (-np.inf, 0.0), (3e38, np.inf), (-3e38, 0.0),
        (88.72283, 3.4027985e38), (88.72284, np.inf), (-103.97208, 2.0**-149), (-103.9721, 0.0),
        (2.0**-149, 1.0),
    ],
)  # fmt: skip
def test_ends_of_the_range(x: float, result: float) -> None:
    assert exponential(np.float32(x)) == np.float32(result)


def test_nan_is_the_canonical_one() -> None:
    noisy = np.array([0xFFC12345, 0x7F812345], np.uint32).view(np.float32)
    assert exponential(noisy).view(np.uint32).tolist() == [0x7FC00000] * 2


@pytest.mark.parametrize("x", NEAR_A_TIE)
def test_the_number_of_terms(x: str) -> None:
    """The sum ends with the term of r**11: a term of r**12 would change these results."""
    value = float.fromhex(x)
    wanted = np.float32(by_the_rule(value))
    assert exponential(np.float32(value)) == wanted
    k = round(value * math.log2(math.e))
    more = ((value - k * math.log(2)) ** 12 / math.factorial(11)) * 2.0**k
    assert np.float32(by_the_rule(value) + more) != wanted
