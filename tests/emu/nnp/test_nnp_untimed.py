"""Programs leave the memories and queues that a model without time computes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.nnp.numbers import NotANumber, OutOfRange
from macaw.isa.memory_map import EXTERNAL
from tests.emu.nnp.random_programs import DRAINED, program
from tests.emu.nnp.untimed import Model


def same(found: np.ndarray, wanted: np.ndarray) -> bool:
    return np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(wanted).tobytes()


@pytest.mark.once
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_random_programs(seed: int) -> None:
    case = program(random.Random(seed))
    device, model = case.device("fast"), Model(case)
    stop = device.run(500_000)
    try:
        model.run(case)
    except (NotANumber, OutOfRange) as error:
        assert stop.fault is not None
        kind = "not a number" if isinstance(error, NotANumber) else "accumulator overflow"
        assert stop.fault.kind == kind
    else:
        assert stop.reason == "exit", stop
    state = device.cores["nnp"].state
    for name, field in (
        ("MulVrf", "mul_vrf"),
        ("AddSubVrf0", "add_sub_vrf0"),
        ("AddSubVrf1", "add_sub_vrf1"),
    ):
        assert same(getattr(state, field), np.stack(list(model.files[name].values()))), name
    assert same(state.initial_codes, np.stack([q.codes for q in model.initial.values()]))
    assert same(state.tile_codes, np.stack([q.codes for q in model.tiles.values()]))
    bias = {"bfp": 15, "mx": 127}.get(case.configuration["nnp.quantise"])
    if bias is not None:
        exponents = np.stack([q.exponents for q in model.initial.values()]).astype(int)
        assert same(state.initial_exponents, (exponents + bias).astype(np.uint8))
        exponents = np.stack([q.exponents for q in model.tiles.values()]).astype(int)
        assert same(state.tile_exponents, (exponents + bias).astype(np.uint8))
    assert device.memory.peek(EXTERNAL, model.dram.nbytes) == model.dram.tobytes()
    if stop.reason == "exit":
        sent = b"".join(vector.tobytes() for vector in model.sent)
        assert device.memory.peek(DRAINED, len(sent)) == sent
        assert len(model.sent) == case.pushes
        assert model.queue == [] or case.pops == 0
