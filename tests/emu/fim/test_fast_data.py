"""The products that the fast engine computes together have the bits of the reference engine's."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from macaw.emu.bfloat16 import element_type
from macaw.emu.engines import ENGINES
from macaw.emu.fim import deferred_data
from macaw.emu.fim.arithmetic import Mode, accumulate, results
from macaw.emu.fim.circuit_data import CircuitData
from macaw.emu.fim.deferred_data import DeferredData
from macaw.emu.fim.fast_arithmetic import dots, round_significands, running_sums, widened
from macaw.emu.floats import to_host
from macaw.isa import config
from macaw.isa.fim_circuit import DOT, FORMATS, MUL
from tests.emu.fim.machine import Machine

pytestmark = pytest.mark.once
_EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
_FINITE = _EVERY[np.isfinite(_EVERY)]


def bits(numbers):
    return np.asarray(numbers, np.float16).view(np.uint16)


def test_every_finite_number_is_widened():
    assert (widened(_FINITE) == _FINITE.astype(np.float32)).all()


@pytest.mark.parametrize("power", [-30, 0, 15])
def test_every_significand_is_rounded_half_to_even(power):
    whole = np.arange(1 << 23, 1 << 24, dtype=np.int64)
    numbers = np.ldexp(whole.astype(np.float32), power - 23)
    numbers[::3] *= -1
    rounded = numbers.copy()
    round_significands(rounded)
    kept, rest = whole >> 13, whole & 0x1FFF
    kept += (rest > 0x1000) | ((rest == 0x1000) & (kept & 1 == 1))
    exact = np.ldexp(kept.astype(np.float64), power - 10)
    assert (np.abs(rounded) == exact).all()
    assert (np.signbit(rounded) == np.signbit(numbers)).all()


@pytest.mark.parametrize(
    "factor", [0.0, -0.0, 1.0, -1.5, 1 + 2**-10, 2**-14, 2**-24, 3 * 2**-24, 0.3, -0.0007]
)
def test_every_product_of_a_factor_is_rounded_as_in_the_alu(factor):
    numbers = _FINITE[np.abs(_FINITE) < 16384][:, None]
    factors = np.full(1, factor, np.float16)
    products = dots(factors, numbers)
    assert products is not None
    with np.errstate(all="ignore"):
        exact = (numbers[:, 0].astype(np.float64) * np.float64(factors[0])).astype(np.float16)
    assert (bits(products) == bits(exact)).all()


@pytest.mark.parametrize("scale", [1e-6, 3e-4, 0.01, 1.0, 6.0])
def test_dot_products_have_the_bits_of_the_alu(scale):
    random = np.random.default_rng(int(scale * 1e6))
    left, right = (
        (random.standard_normal((3, 200, 16)) * scale).astype(np.float16) for _ in range(2)
    )
    left[random.random(left.shape) < 0.1] = 0
    products = dots(left, right)
    assert products is not None
    mode = Mode(op=MUL, arrange=DOT)
    exact = results(mode, left.view(np.uint8), right.view(np.uint8))[..., 0]
    assert (bits(products) == bits(exact)).all()
    sums = running_sums(exact[0], widened(exact[1:]), [True, False])
    assert sums is not None
    assert (bits(sums) == bits(exact[2])).all()
    sums = running_sums(exact[0], widened(exact[1:]), [True, True])
    assert sums is not None
    assert (bits(sums) == bits(accumulate(accumulate(exact[0], exact[1]), exact[2]))).all()


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 6e4])
def test_numbers_that_the_fast_functions_do_not_take(number):
    one = np.ones(16, np.float16)
    other = one.copy()
    other[3] = number
    assert dots(one, other) is None
    assert dots(other, one) is None
    assert (dots(other, 0 * one) is None) == (number != 6e4)
    assert (running_sums(other, widened(one)[None], [True]) is None) == (number != 6e4)


def test_sums_that_the_fast_functions_do_not_take():
    """The fast functions refuse a sum that becomes infinite, such as 6e4 + 6e4 in fp16."""
    large = np.full(2, 6e4, np.float16)
    terms = widened(np.array([large, -large]))
    assert running_sums(large, terms, [True, True]) is None
    assert running_sums(large, terms[1:], [True]) is not None


PROGRAM = """
mmr op, mul
mmr arrange, {arrange}
mmr format, {form}
{words}
iosa[1] <- rz
rop <- iosa[1]
act 0
rz <- rop * iosa[0]
end
"""


def words(chance: Random) -> str:
    """Lines that open rows, load Rop and multiply, sometimes with another operation between."""
    lines = []
    for step in range(20):
        lines.append(f"act {chance.randrange(6)}")
        if chance.random() < 0.8:
            lines.append(f"rop <- iosa[{chance.randrange(4)}]")
        if step < 3 or chance.random() < 0.2:
            lines.append(f"mmr accumulate, {chance.choice([0, 1, 1, 1])}")
        first = chance.choice([16, 16, 16, 20, 8])
        lines.append(f"rz <- rop * iosa[{first}:{first + chance.choice([1, 8, 12])}]")
        if chance.random() < 0.3:
            lines.append(
                chance.choice(["gio <- iosa[5]", "rz <- iosa[3] * gio", "rop <- gio", "rop <- rz",
                               "iosa[6] <- gio", "iosa[2] <- rz", "rz <- rop * gio", "pre",
                               "fim 6, 31, -1, 5"])
            )  # fmt: skip
            if lines[-1] == "pre":
                lines.append("act 1")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("arrange", "form", "scale"),
    [
        ("dot", "fp16", 0.1),
        ("dot", "fp16", 30.0),
        ("dot", "fp16", 3e-4),
        ("dot", "fp32", 1.0),
        ("dot", "bf16", 1.0),
        ("tensor", "bf16", 1.0),
        ("elementwise", "fp16", 1.0),
        ("outer", "fp16", 1.0),
        ("tensor", "fp16", 1.0),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_deferred_products_leave_the_state_of_the_reference(
    arrange, form, scale, seed, monkeypatch
):
    used = []
    together = DeferredData._add_dots

    def add_dots(*items):
        used.append(together(*items))
        return used[-1]

    monkeypatch.setattr(DeferredData, "_add_dots", add_dots)
    if seed:  # compute the products of each word at once, because the record is full
        monkeypatch.setattr(deferred_data, "_MOST_RESULTS", 1)
    text = PROGRAM.format(arrange=arrange, form=form, words=words(Random(seed)))
    lines = [".block banks=(0, 2)", *text.split("\n")]
    lines += [
        ".block banks=1",
        "mmr op, mul",
        "act 1",
        "rop <- iosa[0]",
        "rz <- rop * iosa[16:32]",
        "end",
    ]
    random = np.random.default_rng(seed)
    own = element_type(next(row.dtype for row in FORMATS if row.name == form))
    kind = own if form == "bf16" else np.float16
    data = to_host(random.standard_normal((4, 6, 512)) * scale, kind)
    device = config.load("tiny").changed({"fim.island.0.formats": "bf16 fp16 fp32"})
    devices = []
    for engine in ENGINES:
        machine = Machine(lines, device, engine)
        for bank in range(4):
            for row in range(6):
                machine.put(bank, row, 0, data[bank, row])
        machine.done()
        devices.append(machine.device)
    assert devices[0].cycle == devices[1].cycle
    assert devices[0].diff(devices[1].snapshot()) == []
    assert any(used) or (arrange, form) != ("dot", "fp16") or scale == 30.0


FAULT_OF_A_SECOND_BLOCK = [
    ".block banks=0", "mmr op, mul", "mmr arrange, dot", "act 0", "rop <- iosa[0]",
    "fim 6, 1, 1, 4", "act 1", "end",
    ".block banks=1", "mmr row3, 63", "act row3, inc=1", *["mmr accumulate, 0"] * 30, "act row3",
    "end",
]  # fmt: skip


@pytest.mark.parametrize("is_observed", [False, True])
def test_nothing_is_deferred_after_a_fault(is_observed):
    """When a block faults, the fast engine has computed all data of the operations before.

    This holds with a listener and without.
    """
    states = []
    for engine in ENGINES:
        machine = Machine(FAULT_OF_A_SECOND_BLOCK, engine=engine)
        for bank in (0, 1):
            machine.put(bank, 0, 0, np.ones((8, 16), np.float16))
            machine.put(bank, 1, 0, np.full((8, 16), 2, np.float16))
        if is_observed:
            machine.island.listeners.append(lambda event: None)
        machine.start()
        stop = machine.run()
        assert stop.reason == "fault"
        state = machine.island.state
        states.append((stop.cycle, state.rz.tobytes(), state.rop.tobytes(), state.iosa.tobytes()))
        assert type(machine.island.data) is CircuitData
    assert states[0] == states[1]
