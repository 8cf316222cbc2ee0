"""Both engines count the overflows of islands like loops over single numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from macaw import api
from macaw.emu.engines import ENGINES
from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    DOT,
    FORMAT_NAMES,
    FUNCTION_NAMES,
    FUNCTIONS,
    OUTER,
    TENSOR,
    factors,
)
from tests.emu.fim.machine import Machine

pytestmark = pytest.mark.once
BANKS, COLUMNS = 2, 8
KINDS = {"fp16": np.float16, "fp32": np.float32, "bf16": ml_dtypes.bfloat16}


def sums(numbers, dtype):
    """The sum of 2^n numbers by adjacent pairs, with each sum rounded by NumPy."""
    while len(numbers) > 1:
        numbers = [dtype(x + y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    return numbers[0]


def count_by_loops(function, arrange, left, right, old, dtype):
    """Count the overflows of one operation number by number; put its results into the list `old`.

    `old` is None if the operation does not accumulate.
    """
    lanes, found, new = len(left), 0, []
    count = {DOT: 1, OUTER: lanes * lanes, TENSOR: 16}.get(arrange, lanes)
    for number in range(count):
        pairs = [(left[a], right[b]) for a, b in factors(arrange, number, lanes, 0)]
        match function:
            case "add":
                result = pairs[0][0] + pairs[0][1]
            case "sub":
                result = pairs[0][0] - pairs[0][1]
            case "div":
                result = pairs[0][0] / pairs[0][1]
            case "vssqr":
                result = pairs[0][0] * pairs[0][0]
            case _:
                result = sums([x * y for x, y in pairs], dtype)
        operands = [x for x, _ in pairs] if function == "vssqr" else [y for x in pairs for y in x]
        if function == "div" and pairs[0][1] == 0:
            operands.append(np.inf)
        if old is not None:
            operands.append(old[number])
            result = dtype(old[number] + result)
        found += bool(np.isfinite(operands).all() and not np.isfinite(result))
        new.append(result)
    return found, new


CASES = [
    *(("elementwise", name, form) for name in ("add", "sub", "mul", "div", "vssqr", "relu", "xor")
      for form in ("fp16", "fp32", "bf16")),
    *((name, "mul", "fp16") for name in ("dot", "outer", "tensor")),
    ("dot", "mul", "fp32"),
    ("dot", "mul", "bf16"),
]  # fmt: skip


@pytest.mark.parametrize("accumulates", [False, True])
@pytest.mark.parametrize(("arrange", "function", "form"), CASES)
def test_each_result_that_becomes_infinite_counts_once(arrange, function, form, accumulates):
    dtype = KINDS[form]
    lines = [".block banks=0-1", f"mmr op, {function}", f"mmr arrange, {arrange}",
             f"mmr format, {form}", "act 0", "rop <- iosa[0]",
             "fim 6, 1, 1, 1", f"mmr accumulate, {int(accumulates)}",
             f"fim 6, 2, 1, {COLUMNS - 1}", "end"]  # fmt: skip
    noise = np.random.default_rng(len(arrange) * len(function) + accumulates)
    size = 8 if form == "fp32" else 16
    exponent = 16 if form == "fp16" else 128
    shape = BANKS, COLUMNS + 1, size
    power = noise.uniform(-2, exponent, shape) * (1 if function in ("add", "sub") else 0.56)
    data = (np.exp2(power.astype(np.float64)) * noise.choice([-1, 1], shape)).clip(
        -float(ml_dtypes.finfo(dtype).max), float(ml_dtypes.finfo(dtype).max)
    ).astype(dtype)  # fmt: skip
    data[noise.random(shape) < 0.02] = np.inf
    data[noise.random(shape) < 0.02] = np.nan
    data[noise.random(shape) < 0.02] = 0
    device = api.configuration("tiny").changed(
        {
            "fim.island.0.functions": " ".join(FUNCTION_NAMES),
            "fim.island.0.arrangements": " ".join(ARRANGEMENT_NAMES),
            "fim.island.0.formats": "fp16 fp32 bf16",
            "fim.island.0.rz_slices": 16,
        }
    )
    expected = [0, 0]  # of both words
    can = FUNCTIONS[FUNCTION_NAMES.index(function)].name not in ("relu", "xor")
    for bank in range(BANKS) if can else ():
        left = data[bank, 0]
        old: dict[int, list[np.floating[Any]]] = {}
        for column in range(1, COLUMNS + 1):
            slot = column - 1 if arrange == "dot" else 0
            adds = accumulates and function == "mul" and column > 1
            before = old.get(slot, [dtype(0)] * 256) if adds else None
            with np.errstate(all="ignore"):
                found, old[slot] = count_by_loops(
                    function, ARRANGEMENT_NAMES.index(arrange), left, data[bank, column], before, dtype
                )  # fmt: skip
            expected[column > 1] += found
    states = []
    for engine in ENGINES:
        machine = Machine(lines, device, engine)
        for bank in range(BANKS):
            machine.put(bank, 0, 0, data[bank])
        machine.done()
        machine.island.sync()
        states.append(machine.island.state.overflows)
        assert machine.island.counters()["overflows"] == sum(expected)
    start = machine.program.section(".fim.0").address
    number = FORMAT_NAMES.index(form)
    found = {(address - start) // 4: count for address, _, count, _ in states[0]}
    assert found == {word: count for word, count in zip((6, 8), expected, strict=True) if count}
    assert all(form == number for _, form, _, _ in states[0])
    assert states[0] == states[1]
