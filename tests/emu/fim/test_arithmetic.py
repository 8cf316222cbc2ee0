"""The ALU in every function, arrangement and format, against exact fractions and NumPy."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.bfloat16 import numbers
from macaw.emu.fim.arithmetic import Mode, accumulate, results
from macaw.emu.floats import to_host
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES, FORMATS, FUNCTION_NAMES

FLOATS = [form for form, row in enumerate(FORMATS) if not row.is_integer]  # test_int8.py has int8

DIGITS = {  # of a number, exponents
    "float16": (11, -14, 15),
    "float32": (24, -126, 127),
    "bfloat16": (8, -126, 127),
}


def rounded(value: Fraction, dtype: str, sign_of_zero: bool = False) -> float:
    """The number of the format nearest to a fraction: half to even, subnormals, infinity."""
    digits, low, high = DIGITS[dtype]
    if value == 0:
        return -0.0 if sign_of_zero else 0.0
    size, top = abs(value), 0
    while size >= Fraction(2) ** (top + 1):
        top += 1
    while size < Fraction(2) ** top:
        top -= 1
    step = Fraction(2) ** (max(top, low) - digits + 1)
    whole = round(size / step) * step
    found = float(whole) if whole < Fraction(2) ** (high + 1) else math.inf
    return math.copysign(found, value)


def special(x: float, y: float) -> bool:
    return not (math.isfinite(x) and math.isfinite(y))


def exact_add(x: float, y: float, dtype: str) -> float:
    if special(x, y):
        return x + y
    total = Fraction(x) + Fraction(y)
    both = math.copysign(1, x) < 0 and math.copysign(1, y) < 0
    return rounded(total, dtype, both and x == y == 0)


def exact_mul(x: float, y: float, dtype: str) -> float:
    if special(x, y):
        return x * y
    sign = math.copysign(1, x) * math.copysign(1, y)
    return math.copysign(abs(rounded(Fraction(x) * Fraction(y), dtype)), sign)


def exact_div(x: float, y: float, dtype: str) -> float:
    sign = math.copysign(1, x) * math.copysign(1, y)
    if math.isnan(x) or math.isnan(y) or (x == y == 0) or (math.isinf(x) and math.isinf(y)):
        return math.nan
    if math.isinf(x) or y == 0:
        return math.copysign(math.inf, sign)
    if math.isinf(y):
        return math.copysign(0.0, sign)
    return math.copysign(abs(rounded(Fraction(x) / Fraction(y), dtype)), sign)


def exact_sqrt(x: float, dtype: str) -> float:
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0 or math.isinf(x):
        return x
    # Half way between two numbers is no square root of a number: a few more digits decide.
    scale = 1 << 400
    root = Fraction(math.isqrt(int(Fraction(x) * scale * scale) * 4), 2 * scale)
    return rounded(root if root * root == Fraction(x) else root + Fraction(1, 4 * scale), dtype)


def exact_curve(name: str, x: float, dtype: str) -> float:
    if math.isnan(x):
        return math.nan
    if abs(x) > 200:  # the curve is nearer to its limit than any number
        return {"sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0)}[name][x > 0]
    getcontext().prec = 60
    getcontext().Emin, getcontext().Emax = -(10**9), 10**9
    if name == "sigmoid":
        return rounded(Fraction(1 / (1 + (-Decimal(x)).exp())), dtype)
    if x == 0:
        return x
    small = (-2 * abs(Decimal(x))).exp()
    return math.copysign(rounded(Fraction((1 - small) / (1 + small)), dtype), x)


def tree(terms, dtype):
    while len(terms) > 1:
        terms = [exact_add(terms[i], terms[i + 1], dtype) for i in range(0, len(terms), 2)]
    return terms[0]


def model(mode: Mode, left, right):
    """The results of the operation, number by number, as docs/timing-fim.md defines it."""
    dtype = FORMATS[mode.format].dtype
    x, y = numbers(left).tolist(), numbers(right).tolist()
    name = FUNCTION_NAMES[mode.op]
    match ARRANGEMENT_NAMES[mode.arrange]:
        case "dot":
            return [tree([exact_mul(a, b, dtype) for a, b in zip(x, y, strict=True)], dtype)]
        case "outer":
            return [exact_mul(a, b, dtype) for a, b in product(x, y)]
        case "tensor":
            a = lambda i, k: x[4 * k + i] if mode.transpose == 1 else x[4 * i + k]  # noqa: E731
            b = lambda k, j: y[4 * j + k] if mode.transpose == 2 else y[4 * k + j]  # noqa: E731
            return [
                tree([exact_mul(a(i, k), b(k, j), dtype) for k in range(4)], dtype)
                for i in range(4)
                for j in range(4)
            ]
    two = {
        "add": exact_add,
        "sub": lambda p, q, d: exact_add(p, -q, d),
        "mul": exact_mul,
        "div": exact_div,
    }
    if name in two:
        return [two[name](a, b, dtype) for a, b in zip(x, y, strict=True)]
    one = {
        "relu": lambda v: v if v > 0 or math.isnan(v) else 0.0,
        "vssqr": lambda v: exact_mul(v, v, dtype),
        "vssqrt": lambda v: exact_sqrt(v, dtype),
        "sigmoid": lambda v: exact_curve(name, v, dtype),
        "tanh": lambda v: exact_curve(name, v, dtype),
    }
    return [one[name](v) for v in x]


def same(found, expected):
    """Assert equal bits, with one bit pattern for NaN."""
    wide = np.array(expected)
    wide[np.isnan(wide)] = np.nan
    expected = to_host(wide, found.dtype)  # exact
    np.testing.assert_array_equal(
        found.view(f"u{found.itemsize}"), expected.view(f"u{found.itemsize}")
    )


def modes():
    for form, arrange in product(FLOATS, range(4)):
        for op, name in enumerate(FUNCTION_NAMES):
            if name in ("and", "or", "xor", "not") or (arrange and name != "mul"):
                continue
            for transpose in range(3 if arrange == 3 else 1):
                if arrange < 3 or FORMATS[form].name in ("fp16", "bf16"):
                    yield Mode(op, arrange, transpose, 0, form)


def label(mode):
    names = FUNCTION_NAMES[mode.op], ARRANGEMENT_NAMES[mode.arrange]
    return f"{'-'.join(names)}-{mode.transpose}-{FORMATS[mode.format].dtype}"


def columns(draw, mode, count):
    """Draw columns of any bits, or of numbers of similar size."""
    lanes = FORMATS[mode.format].lanes
    seed = draw(st.integers(0, 1 << 32))
    random = np.random.default_rng(seed)
    if draw(st.booleans()):
        data = random.integers(0, 256, (count, 32), dtype=np.uint8)
        return data.view(mode.dtype)
    scale = 2.0 ** draw(st.integers(-9, 7))
    return to_host(random.normal(size=(count, lanes)) * scale, mode.dtype)


@pytest.mark.once
@pytest.mark.few(20)
@pytest.mark.parametrize("mode", list(modes()), ids=label)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_exact(mode, data):
    """Each function, arrangement and format equals the model (seed 004 ¶42-43, ¶47, ¶58, ¶52)."""
    left, right = columns(data.draw, mode, 2), columns(data.draw, mode, 2)
    found = results(mode, left.view(np.uint8), right.view(np.uint8))
    for one, x, y in zip(found, left, right, strict=True):
        with np.errstate(all="ignore"):
            same(one, model(mode, x, y))


@pytest.mark.parametrize("form", range(len(FORMATS)))
@pytest.mark.parametrize("name", ["and", "or", "xor", "not"])
def test_bits(name, form):
    """and, or, xor and not work bit by bit (seed 004 ¶47)."""
    mode = Mode(FUNCTION_NAMES.index(name), 0, 0, 0, form)
    data = np.random.default_rng(1).integers(0, 256, (2, 5, 32), dtype=np.uint8)
    expected = {
        "and": data[0] & data[1],
        "or": data[0] | data[1],
        "xor": data[0] ^ data[1],
        "not": ~data[0],
    }
    found = results(mode, data[0], data[1])
    if FORMATS[form].is_integer:
        found = found.astype(np.int8)
    np.testing.assert_array_equal(found.view(np.uint8), expected[name])


@pytest.mark.parametrize("name", ["div", "vssqrt", "mul", "add"])
def test_fp16_is_rounded_once(name):
    """A function of fp16 is rounded once, from float64, for each number (seed 004 ¶47, ¶52)."""
    mode = Mode(FUNCTION_NAMES.index(name))
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    y = np.random.default_rng(7).permutation(x)
    with np.errstate(all="ignore"):
        wide, other = x.astype(np.float64), y.astype(np.float64)
        exact = {
            "div": lambda: wide / other,
            "vssqrt": lambda: np.sqrt(wide),
            "mul": lambda: wide * other,
            "add": lambda: wide + other,
        }[name]()
        expected = exact.astype(np.float16)
    expected[np.isnan(expected)] = np.nan
    found = results(mode, x.view(np.uint8), y.view(np.uint8))
    np.testing.assert_array_equal(found.view(np.uint16), expected.view(np.uint16))


def test_the_tree_rounds_each_sum():
    """The tree of adders rounds each sum of a pair (seed 004 ¶56).

    1 + d with d = 2^-11 is rounded to 1. So (1 + d) + (d + d) is 1 + 2^-10, but adding one number
    after another gives 1.
    """
    d = 2.0**-11
    left = np.array([1, d, d, d] + [0] * 12, np.float16)
    found = results(Mode(2, 1), left.view(np.uint8), np.ones(16, np.float16).view(np.uint8))
    assert found.tolist() == [1 + 2 * d]


def test_accumulating_is_a_last_sum():
    """With `accumulate`, the old value is added last, and the sum is rounded (seed 004 ¶55)."""
    old = np.array([1.0], np.float16)
    assert accumulate(old, np.array([2.0**-11], np.float16)).tolist() == [1.0]
    assert accumulate(old, np.array([2.0**-10], np.float16)).tolist() == [1 + 2.0**-10]
    assert Mode(0, accumulate=1).accumulates is False
    assert Mode(2, accumulate=1).accumulates is True


@pytest.mark.parametrize(
    ("mode", "slot", "place"),
    [
        (Mode(2, 0), 3, (96, 32)),
        (Mode(2, 1), 3, (6, 2)),
        (Mode(2, 1, format=1), 9, (36, 4)),
        (Mode(2, 1, format=2), 3, (6, 2)),
        (Mode(2, 3, format=2), 15, (480, 32)),
        (Mode(2, 2), 5, (0, 512)),
        (Mode(2, 2, format=1), 5, (0, 256)),
        (Mode(2, 3), 15, (480, 32)),
    ],
)
def test_places_in_rz(mode, slot, place):
    """A result's place in Rz follows from its slot and arrangement (seed 004 ¶42)."""
    assert mode.place(slot) == place
