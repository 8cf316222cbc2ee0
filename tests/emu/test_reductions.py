"""Many pmac computed at once equal single pmac instructions; engines agree on loops of pmac."""

from __future__ import annotations

import random

import numpy as np
import pytest

from macaw.emu.breaks import Break
from macaw.emu.engines import ENGINES
from macaw.emu.vector import pmac
from macaw.emu.vector.fast import reductions
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.vector import PMAC_FORMATS
from tests.emu.scalar_devices import device_with_code, stop_summary
from tests.emu.traced_programs import (
    configure_trace,
    execution_log,
    expected_auto_records,
    random_parameters,
    record_key,
    spilled_records,
)
from tests.emu.vc_machine import code
from tests.fuzzing import tries

pytestmark = pytest.mark.once

DATA = EXTERNAL + 0x8000
# Bytes that make extreme integers, and floats that are large, infinite or no numbers.
EXTREMES = (0, 1, 0x7F, 0x80, 0xFF, 0x7C, 0xFC, 0x3C)


def _bytes(chance: random.Random, count: int) -> bytes:
    if chance.random() < 0.5:
        return chance.randbytes(count)
    return bytes(chance.choice(EXTREMES) for _ in range(count))


@pytest.mark.parametrize("name", PMAC_FORMATS)
def test_many_products_are_as_one_after_the_other(name: str) -> None:
    form = PMAC_FORMATS[name]
    for seed in range(tries(12)):
        chance = random.Random(f"{name} {seed}")
        count = chance.choice((1, 2, 7, 300))
        firsts, seconds = (
            np.frombuffer(_bytes(chance, 16 * count), np.uint8).reshape(count, 16) for _ in range(2)
        )
        order = [chance.randrange(form.lanes) for _ in range(form.lanes)]
        old = _bytes(chance, 16)
        single = pmac.FUNCTIONS[name]
        with np.errstate(all="ignore"):
            if name[0] == "f":  # the numbers above a sum are zero in a result
                old = bytes(single(firsts[0].data, seconds[0].data, order, None))
            wanted = old
            for first, second in zip(firsts, seconds, strict=True):
                wanted = bytes(single(first.data, second.data, order, memoryview(wanted)))
            assert pmac.REDUCTIONS[name](firsts, seconds, order, old) == wanted


# A loop of each seed


def _loop(chance: random.Random) -> str:
    """A program with a hot loop of loads and products inside another loop."""
    lines, steps = [], {}
    count = chance.choice((1, 2, 3))
    name = chance.choice(list(PMAC_FORMATS))
    pointers = [f"a{number}" for number in range(count)]
    for pointer in pointers:
        steps[pointer] = chance.choice((16, 16, 32, -16, 0, 48) if chance.random() < 0.95 else (4,))
    counter, by = "t2", chance.choice((-1, -1, -1, -3, 2))
    trips = chance.choice((1, 5, 8, 30, 100))
    branch = chance.choice(("bnez t2", "bne t2, t3", "blt t3, t2", "bgtu t2, t3"))
    if by > 0:
        branch = chance.choice(("bne t2, t3", "blt t2, t3", "bltu t2, t3"))
    end = chance.choice((0, 0, 7)) if branch != "bnez t2" else 0
    loads = [f"vld vr{number}, {chance.choice((0, 0, 16))}({pointer})"
             for number, pointer in enumerate(pointers)]  # fmt: skip
    products = []
    for _ in range(chance.choice((1, 1, 2))):
        sources = [chance.choice((*range(count), 4, 5)) for _ in range(2)]
        order = "vr6" if chance.random() < 0.85 else "s2"
        acc = ", acc" if chance.random() < 0.95 else ""
        result = chance.choice((8, 9))
        kind = name if chance.random() < 0.9 else chance.choice(list(PMAC_FORMATS))
        products.append(f"pmac.{kind} vr{result}, vr{sources[0]}, vr{sources[1]}, {order}{acc}")
    body = [*loads, *products, *(f"addi {x}, {x}, {step}" for x, step in steps.items())]
    if chance.random() < 0.25:
        chance.shuffle(body)
    if chance.random() < 0.15:
        other = chance.choice(("addi a0, a0, 16", "add t4, t4, t5", "vadd.w vr10, vr8, vr10"))
        body.insert(chance.randrange(len(body)), other)
    start = end - by * trips if chance.random() < 0.9 else end - by * trips + 1
    lines = [
        "li s0, 40",
        "li s2, 0x2d87",
        "li s3, 0x1b4e" if chance.random() < 0.9 else "li s3, -1",
        "lui a6, 0x80008",
        *(f"vld vr{number}, {16 * number}(a6)" for number in range(12)),
        f"li t3, {end}",
        "outer:",
        *(f"lui {x}, 0x80009" if step >= 0 else f"lui {x}, 0x8000a" for x, step in steps.items()),
        f"li {counter}, {start}",
        "loop:",
        *body,
        f"addi {counter}, {counter}, {by}",
        f"{branch}, loop",
        "addi s0, s0, -1",
        "bnez s0, outer",
        "ebreak",
    ]
    return "\n".join(lines) + "\n"


def _content(chance: random.Random) -> bytes:
    """Return the data of a program; mostly, vector register 6 gets a valid order from them."""
    data = bytearray(_bytes(chance, 0x3000))
    data[16 * 6 : 16 * 7] = bytes(chance.randrange(4) for _ in range(16))
    if chance.random() < 0.1:
        data[16 * 6 + chance.randrange(4)] = 99
    return bytes(data)


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(40))
def test_loops_of_products_stop_in_the_same_state(seed: int) -> None:
    chance = random.Random(seed)
    program, content = code(_loop(chance)), _content(chance)
    changes = {"vc__divider": chance.choice((1, 1, 1, 2))}
    devices = [
        device_with_code("vc", engine, EXTERNAL, program, [(DATA, content)], **changes)
        for engine in ENGINES
    ]
    spans = chance.choice(((100_000,), (900, 333, 4097), (50, 60, 5000)))
    for _ in range(60):
        until = devices[0].cycle + chance.choice(spans)
        stops = [device.run(until=until) for device in devices]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert devices[0].hash() == devices[1].hash()
        assert devices[0].counters() == devices[1].counters()
        if stops[0].reason != "cycle limit":
            break


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(20))
def test_loops_of_products_are_recorded(seed: int) -> None:
    """Records of passes that are done at once equal those of single instructions."""
    chance = random.Random(seed)
    program, content = code(_loop(chance)), _content(chance)
    made = [
        device_with_code("vc", engine, EXTERNAL, program, [(DATA, content)], trace__recording=on)
        for engine, on in ((ENGINES[0], True), (ENGINES[1], True), (ENGINES[0], False))
    ]
    parameters = random_parameters(chance)
    for device in made[:2]:
        device.cores["vc"].trace.start(0)
        configure_trace(device, "vc", 1, parameters)
    spans = chance.choice(((100_000,), (900, 333, 4097), (50, 60, 5000)))
    for _ in range(60):
        until = made[0].cycle + chance.choice(spans)
        stops = [device.run(until=until) for device in made[:2]]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert made[0].hash() == made[1].hash()
        if stops[0].reason != "cycle limit":
            break
    log, _ = execution_log(made[2], "vc")
    groups = made[0].cores["vc"].trace.groups
    expected = {record_key(x): x for x in expected_auto_records("vc", log, parameters, groups)}
    found = spilled_records(made[0], "vc")
    assert found == [expected[record_key(x)] for x in found]


@pytest.mark.parametrize("parameters", [None, {"num": 50, "step": 50, "overhead": 200}])
def test_most_of_these_loops_do_many_passes_at_once(
    parameters: dict[str, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    call = reductions.Reduction.__call__

    def counted(self: reductions.Reduction, passes: int, x: list[int]) -> int:
        done.append(call(self, passes, x))
        return done[-1]

    monkeypatch.setattr(reductions.Reduction, "__call__", counted)
    found = 0
    for seed in range(20):
        chance = random.Random(seed)
        program = code(_loop(chance))
        device = device_with_code("vc", "fast", EXTERNAL, program, [(DATA, _content(chance))])
        if parameters is not None:
            device.cores["vc"].trace.start(0)
            configure_trace(device, "vc", 1, parameters)
        done.clear()
        device.run(max_cycles=100_000)
        found += any(done)
    assert found >= 7


WALK = """
        lui   a0, 0x80009
        lui   a1, 0x8000a
        li    t2, 200
loop:   vld   vr0, (a0)
        vld   vr1, (a1)
        pmac.u8 vr3, vr0, vr1, vr2, acc
        addi  a0, a0, 16
        addi  a1, a1, -16
        addi  t2, t2, -1
        bnez  t2, loop
        ebreak
"""


@pytest.mark.parametrize("place", [5, 8])
def test_a_breakpoint_in_the_loop_stops_each_pass(place: int) -> None:
    """A breakpoint that is set in a hot loop stops both engines in each pass.

    The loop was translated before without the breakpoint.
    """
    program = code(WALK)
    devices = [device_with_code("vc", engine, EXTERNAL, program) for engine in ENGINES]
    for device in devices:
        device.run(max_cycles=1500)
    assert devices[0].cores["vc"].plain.blocks
    for device in devices:
        device.cores["vc"].set_breaks({EXTERNAL + 4 * place: Break()})
    addresses = []
    for _ in range(6):
        stops = [device.run() for device in devices]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert devices[0].hash() == devices[1].hash()
        addresses.append(stops[0].address)
    assert addresses == [EXTERNAL + 4 * place] * 6
