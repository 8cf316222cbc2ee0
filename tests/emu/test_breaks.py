"""Both engines stop alike, each time: at breaks, at positions inside a cycle, and at pauses."""

from __future__ import annotations

import random

import pytest

from macaw.emu.breaks import Break
from macaw.emu.engines import ENGINES
from macaw.emu.system import Startable
from tests.emu import cp_machine, vc_machine
from tests.emu.scalar_devices import device_with_code, random_devices, stop_summary
from tests.emu.toys import toy
from tests.macaw.digits import digits_devices

pytestmark = pytest.mark.once


def condition(core, register, mask, value, has_text):
    """A break that stops the core only while the bits `mask` of a register have a value."""
    text = f"x[{register}] & {mask} == {value}" if has_text else ""
    return Break(lambda: core.x[register] & mask == value, text)


@pytest.mark.few(11)
@pytest.mark.parametrize("has_text", [True, False])
@pytest.mark.parametrize("core", ["cp", "vc"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6])
def test_both_engines_stop_before_the_same_instructions(core, seed, has_text):
    both, chance = random_devices(core, seed)
    start = both[0].cores[core].pc
    tested = chance.random() < 0.7
    seen = 0
    for _ in range(12):
        # They come and go while the code is hot.
        chosen = {start + 4 * chance.randrange(60) for _ in range(3)}
        register, value = chance.randrange(5, 24), chance.randrange(4)
        for device in both:
            hart = device.cores[core]
            made_of = condition(hart, register, 3, value, has_text) if tested else Break()
            hart.set_breaks(dict.fromkeys(chosen, made_of))
        limit = both[0].cycle + 3000
        for _ in range(6):
            stops = [device.run(until=limit) for device in both]
            assert stop_summary(stops[0]) == stop_summary(stops[1])
            assert both[0].position == both[1].position
            assert both[0].hash() == both[1].hash()
            if not stops[0].before:
                break
            seen += 1
            hart = both[0].cores[core]
            assert stops[0].address == hart.pc in chosen
            assert not tested or hart.x[register] & 3 == value
        if both[0].stopped:
            break
    assert seen or both[0].stopped


@pytest.mark.parametrize("core", ["cp", "vc"])
def test_a_broken_run_ends_as_an_unbroken_one(core):
    both, chance = random_devices(core, 3)
    fast = both[0]
    start = fast.cores[core].pc
    fast.cores[core].set_breaks({start + 4 * chance.randrange(50): Break() for _ in range(4)})
    before = 0
    while fast.run(until=9000).before:
        before += 1
    both[1].run(until=9000)
    assert before
    assert fast.hash() == both[1].hash()


COUNTS = """
        li    s0, 2000
loop:   addi  a1, a1, 7
        xor   a2, a1, s0
        addi  a3, a3, 1
        addi  s0, s0, -1
        bnez  s0, loop
        ebreak
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_condition_in_translated_code_stops_in_the_one_iteration(engine):
    words = vc_machine.code(COUNTS)
    device = device_with_code("cp", engine, 0x10000, words)
    hart = device.cores["cp"]
    asked = []

    def test():
        asked.append(hart.x[13])
        return hart.x[13] == 1500

    hart.set_breaks({0x10000 + 16: Break(test, "x[13] == 1500")})
    stop = device.run()
    assert stop.before
    assert stop.address == 0x10010
    assert hart.x[13] == 1500
    assert hart.retired == 1 + 5 * 1499 + 3
    if engine == ENGINES[0]:  # translated code tests the condition once the loop is hot
        assert len(asked) < 100
    assert device.run().reason == "breakpoint"  # the program's own
    assert hart.x[13] == 2000


def test_an_instruction_that_waits_is_met_once():
    source = "addi a0, zero, 32\ncore.wait a0\naddi a1, zero, 1\nebreak"
    device = cp_machine.machine(source, toy(5, [("work", 9), ("end",)]))
    other = device.cores["toy5"]
    assert isinstance(other, Startable)
    other.start(0, 0)
    hart = cp_machine.processor(device)
    hart.set_breaks({hart.pc + 4: Break()})
    assert device.run().before
    assert device.run().reason == "breakpoint"
    assert hart.x[11] == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(2))
def test_a_position_within_a_cycle_is_found_again(seed):
    fast, reference = digits_devices()
    pick = random.Random(seed)
    first = fast.snapshot()
    for begin in (1240, 1500):  # the array is at work
        goal = begin + pick.randrange(200), pick.randrange(24)
        fast.restore(first)
        for device in (fast, reference):
            device.run(until=goal[0], turn=goal[1])
            assert device.position == goal
        assert fast.hash() == reference.hash()
        held, wanted = reference.snapshot(), reference.hash()
        fast.restore(held)
        assert fast.position == goal
        assert fast.hash() == wanted
        ends = [device.run(until=goal[0] + 40, turn=3) for device in (fast, reference)]
        assert ends[0] == ends[1]
        assert fast.hash() == reference.hash()


def test_a_pause_leaves_what_a_limit_leaves():
    fast, reference = digits_devices()
    seen = set()
    for often in (3, 40, 2, 11, 30, 1):
        asked = iter([False] * often + [True])
        fast.pause = lambda asked=asked: next(asked)
        stop = fast.run()
        assert stop.reason == "interrupt"
        seen.add(fast.position)
        reference.run(until=fast.position[0], turn=fast.position[1])
        assert fast.position == reference.position
        assert fast.hash() == reference.hash()
    assert len(seen) == 6
