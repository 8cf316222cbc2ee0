"""Each activation of the special-function unit against a witness in exact numbers.

A witness gets the sum as a fraction and returns the exact value, or enough digits of it. For a
curve of integers, the sum is divided by 2**shift before.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from macaw.emu.pe.arithmetic import activated
from macaw.isa.pe import ACTIVATIONS, FIXED_POINT
from tests.emu.pe_builder import NAMES, SUMS, Unit

DIGITS = 40
SHIFTS = (0, 3, 7)


def exponential(x: Fraction) -> Fraction:
    with localcontext(Context(prec=DIGITS)):
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def sigmoid(x: Fraction) -> Fraction:
    small = exponential(-abs(x))
    return (1 if x >= 0 else small) / (1 + small)


def tanh(x: Fraction) -> Fraction:
    small = exponential(-2 * abs(x))
    return (1 if x >= 0 else -1) * (1 - small) / (1 + small)


WITNESSES: dict[str, Callable[[Fraction], Fraction]] = {
    "none": lambda x: x,
    "relu": lambda x: max(x, Fraction(0)),
    "sigmoid": sigmoid,
    "tanh": tanh,
}


COMPUTED = tuple(name for name in ACTIVATIONS if name != "table")  # tests/emu/test_pe_scales.py


def wanted(name: str, value: int, shift: int, element: str) -> int:
    """The result for an integer sum; curves give a number in the element's fixed point."""
    if name not in FIXED_POINT:
        return int(WITNESSES[name](Fraction(value)))
    one = 1 << (8 * np.dtype(NAMES[element]).itemsize - 1)
    exact = WITNESSES[name](Fraction(value, 1 << shift)) * one
    return max(-one, min(round(exact), one - 1))  # Python rounds a tie to even


def test_every_activation_has_a_witness() -> None:
    """Each activation has a witness here, so a new row of ACTIVATIONS needs one."""
    assert sorted(WITNESSES) == sorted(COMPUTED)


@pytest.mark.once
@pytest.mark.parametrize("element", ["int8", "int16"])
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("name", COMPUTED)
def test_all_sums_of_eleven_bits(name: str, shift: int, element: str) -> None:
    sums = np.arange(-1024, 1024, dtype=SUMS[element])
    got = activated(sums, ACTIVATIONS.index(name), shift, NAMES[element])
    assert got.dtype == sums.dtype
    assert got.tolist() == [wanted(name, value, shift, element) for value in sums.tolist()]


@pytest.mark.parametrize("element", ["fp16", "fp32"])
@pytest.mark.parametrize("name", COMPUTED)
def test_real_sums(name: str, element: str) -> None:
    """Results for floating sums are right to a unit in the last place."""
    sums = np.linspace(-8, 8, 1025).astype(SUMS[element])
    got = activated(sums, ACTIVATIONS.index(name), 0, NAMES[element])
    exact = np.array([float(WITNESSES[name](Fraction(value))) for value in sums.tolist()])
    assert got.dtype == sums.dtype
    assert np.all(np.abs(got - exact) <= np.spacing(np.abs(exact).astype(np.float32)))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", COMPUTED)
def test_in_the_array(name: str, engine: str) -> None:
    """`spu activation` of an engine gives the witness's results, for 16 sums in each of 8 PEs."""
    shift = 5
    sums = np.arange(-640, 640, 10)
    unit = Unit()
    lines = ("ld psums base=0", "spu nonsf src=0 dst=0", "spu activation src=0 dst=1", "st base=1")
    unit.config_packet(0, *lines, activation=ACTIVATIONS.index(name), shift=shift)
    outs = []
    for some in sums.reshape(-1, 8):
        outs.append(unit.out(4 * 8, "int32"))
        unit.exe(0, unit.psums(some), out=outs[-1], last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    got = np.concatenate([machine.read(out, 8) for out in outs])
    assert got.tolist() == [wanted(name, value, shift, "int8") for value in sums.tolist()]
