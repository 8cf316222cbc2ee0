"""The origins that cores record, compared with the values themselves."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from macaw.emu.origins import Place
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.pe.product_log import COLUMNS, ProductLog
from tests.emu.pe_builder import Unit


def remembered(weights, x, design="5b", flag=" balance"):
    unit = Unit(
        {"pe.clusters": 1, "pe.pes": len(weights), "pe.design": design, "pe.balance_threshold": 1}
    )
    unit.config_packet(0, "ld both base=0", f"mac base=0 acc=1{flag}")
    unit.exe(0, unit.weights(weights), unit.dense(x))
    machine = unit.machine(engine="reference")
    numbers = count()
    origins = machine.row.remember(lambda: next(numbers))
    machine.run()
    return machine, origins


@pytest.mark.parametrize(("design", "flag"), [("5b", " balance"), ("5b", ""), ("5a", "")])
def test_each_accumulator_is_the_sum_of_its_products(design, flag):
    """An accumulator is the sum of its recorded products, also of those by a neighbouring PE.

    The recorded addresses hold the recorded values.
    """
    rng = np.random.default_rng(7)
    share = np.array([[0.1], [0.9], [0.2], [0.8]])
    weights = rng.integers(-100, 100, (4, 50)) * (rng.random((4, 50)) < share)
    x = rng.integers(-100, 100, 50) * (rng.random(50) < 0.7)
    machine, origins = remembered(weights, x, design, flag)
    assert bool(machine.row.counters()["loads_given"]) == bool(flag)
    for pe, row in enumerate(weights):
        place = Place("accumulators", 4 * (4 * pe + 1), 4)
        (made,) = origins.makers(place, origins.number())
        assert (made.what, made.value) == ("mac", machine.row.state.accumulators[0, pe, 1])
        held = list(made.sources())
        assert sum(item.value for item in held) == machine.row.state.accumulators[0, pe, 1]
        pairs = [tuple(part.value for part in item.origin.sources()) for item in held]
        wanted = [(int(w), int(a)) for w, a in zip(row, x, strict=True) if w and a]
        assert sorted(pairs) == sorted(wanted)
        for item in held:
            for part in item.origin.sources():
                data = machine.device.memory.peek(*part.memory)
                assert np.frombuffer(data, np.int8)[0] == part.value


def test_a_floating_product_is_rounded_as_in_the_mac() -> None:
    """The value of a product is what the MAC adds: a float32, not a product of Python's floats."""
    log = ProductLog(lambda number, address: 4, Adder("float32", "fault"))
    factors = np.array([0.1, 0.3], np.float32)
    found = log.product([0] * COLUMNS, factors.tolist()).value
    assert found == float(factors[0] * factors[1]) != 0.1 * 0.3
