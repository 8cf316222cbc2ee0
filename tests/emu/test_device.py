"""The clock, services between cores, loading and tensors of a device."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.asm.program import Line, Program, Section, Tensor
from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.emu.faults import DeviceError, Stop
from macaw.emu.waits import NEVER
from tests.emu.toys import EXTERNAL, HALF, UNIT, Step, describe, make, times, toy

REGISTERS = 0x2000_0000


# The clock


def test_cores_of_a_cycle_act_by_number() -> None:
    # Each stores to the same word at 0 and at 2; the higher number comes later and wins.
    script = [("store", 0x100, 1, 1), ("work", 1), ("store", 0x101, 1, 1), ("end",)]
    other = [("store", 0x100, 1, 2), ("work", 1), ("store", 0x101, 1, 2), ("end",)]
    device = make(toy(2, other), toy(0, script))
    device.run()
    assert device.memory.peek(0x100, 2) == b"\2\2"


def test_an_exit_ends_the_run_in_its_place() -> None:
    # toy0 exits at 5; toy2 (later in the cycle) has marked at 0 to 4, not at 5.
    device = make(
        toy(0, [("work", 5), ("exit", 3), ("mark",)]), toy(2, [("mark",), ("jump", 0)], divider=1)
    )
    stop = device.run()
    assert (stop.reason, stop.exit_code, stop.cycle, stop.core) == ("exit", 3, 6, "toy0")
    assert device.cycle == 6
    assert [time for time, _ in times(device, "toy2")] == [0, 2, 4]
    # It stays ended.
    assert device.run() is stop
    assert device.step_core("toy2") is stop
    assert times(device) == []


def test_a_cycle_limit_stops_before_the_cycle() -> None:
    device = make(toy(0, [("mark",), ("jump", 0)]))
    stop = device.run(max_cycles=10)
    assert (stop.reason, stop.cycle, device.cycle) == ("cycle limit", 10, 10)
    assert str(stop) == ("cycle limit: 10 cycles are over; running: toy0 at 0x00000000")
    assert [time for time, _ in times(device)] == [0, 2, 4, 6, 8]
    assert device.run(max_cycles=10).cycle == 20
    assert device.run(until=25).cycle == 25
    assert device.position == (25, 0)
    assert times(device)[-1][0] == 24
    # A limit that is over already lets nothing act.
    assert device.run(until=5).reason == "cycle limit"
    assert times(device)[-1][0] == 24


def test_limits_are_whole_numbers_of_python_or_numpy() -> None:
    device, other = (make(toy(0, [("mark",), ("jump", 0)])) for _ in range(2))
    cycle: Any = np.uint8(200)
    count: Any = np.uint8(100)
    device.run(until=cycle)
    device.run(max_cycles=count)
    other.run(until=200)
    other.run(max_cycles=100)
    assert device.cycle == 300
    assert device.hash() == other.hash()
    wrong: Any
    for wrong in (1.5, "a", -1):
        with pytest.raises(DeviceError, match=r"^until is a whole number from 0, not "):
            device.run(until=wrong)


def test_a_core_that_waits_for_no_other_core_is_not_woken() -> None:
    device = make(toy(0, [("end",)]), toy(2, [("end",)]))
    waiting = device.cores["toy0"]
    waiting.wait("an answer of memory")
    for core in device.order:
        device.changed(core, 5)
    assert waiting.time == NEVER
    waiting.wait("toy2", 1 << 2)
    device.changed(device.cores["toy2"], 5)
    assert waiting.time == waiting.aligned(6)


def test_a_breakpoint_stops_and_the_run_goes_on() -> None:
    device = make(toy(0, [("work", 3), ("break",), ("exit", 0)]))
    stop = device.run()
    assert (stop.reason, stop.core, stop.address, stop.cycle) == ("breakpoint", "toy0", 4, 4)
    assert str(stop) == "breakpoint at cycle 4"
    assert device.run().reason == "exit"


def test_without_a_running_core_there_is_nothing_to_do() -> None:
    device = make(toy(0, [("work", 3), ("end",)]))
    stop = device.run()
    assert (stop.reason, stop.exit_code, str(stop)) == ("exit", 0, "no core runs")


def test_a_step_is_an_instruction_of_one_core() -> None:
    device = make(
        toy(0, [("work", 10), ("load", EXTERNAL, 4), ("exit", 0)]), toy(2, [("mark",), ("jump", 0)])
    )
    stop = device.step_core("toy0")
    assert (stop.reason, stop.core, stop.address) == ("step", "toy0", 4)
    assert device.cores["toy0"].time == 10
    assert device.step_core("toy2").reason == "step"
    assert device.cores["toy2"].retired == 1
    device.step_core("toy0")
    # toy2 came along to cycle 10, where toy0's load was.
    assert [time for time, _ in times(device, "toy2")] == [0, 2, 4, 6, 8]
    assert device.step_core("toy0").reason == "exit"
    idle = make(toy(0, [("jump", 0)]), toy(2, [("end",)], idle=True))
    assert idle.step_core("toy2", max_cycles=50).reason == "cycle limit"


def test_an_interrupt_stops_soon() -> None:
    device = make(toy(0, [("jump", 0)]))

    def listener(event: Event) -> None:
        if event.time == 7:
            device.interrupt()

    device.listen(listener)
    stop = device.run()
    assert (stop.reason, str(stop), device.cycle) == ("interrupt", "interrupted", 7)
    assert device.cores["toy0"].time == 8
    # A request from before the run does not count.
    device.unlisten(listener)
    device.interrupt(Stop("event", 0))
    assert device.run(until=20).reason == "cycle limit"


def test_listeners_hear_every_instruction_and_access() -> None:
    script = [("work", 3), ("load", UNIT + 8, 4), ("store", EXTERNAL, 4, 7), ("end",)]
    device = make(toy(0, script), toy(2, [("work", 3), ("load", UNIT + 8, 4), ("end",)]))
    heard: list[tuple[str, str, int, dict[str, Any]]] = []
    device.listen(lambda e: heard.append((e.core.name, e.kind, e.time, dict(e.values))), ["toy2"])
    device.listen(lambda e: heard.append((e.core.name, e.kind, e.time, dict(e.values))), ["toy0"])
    device.run()
    assert heard == [
        ("toy0", "instruction", 0, {"address": 0, "name": "work"}),
        ("toy2", "instruction", 0, {"address": 0, "name": "work"}),
        ("toy0", "instruction", 3, {"address": 0, "name": "load"}),
        ("toy2", "instruction", 3, {"address": 0, "name": "load"}),
        ("toy2", "blocked", 3, {"address": UNIT + 8, "of": "reads_blocked"}),
        ("toy0", "read", 3, {"address": UNIT + 8, "size": 4}),
        ("toy2", "read", 4, {"address": UNIT + 8, "size": 4}),
        ("toy0", "instruction", 5, {"address": 0, "name": "store"}),
        ("toy0", "write", 5, {"address": EXTERNAL, "size": 4}),
        ("toy0", "beats", 5, {"of": "external_writes", "begin": 5, "until": 26, "count": 1}),
        ("toy0", "beats", 5, {"of": "external_partial", "begin": 5, "until": 26, "count": 1}),
        ("toy2", "instruction", 6, {"address": 0, "name": "end"}),
        ("toy0", "instruction", 26, {"address": 0, "name": "end"}),
    ]


def test_listening_changes_no_cycle_and_no_state() -> None:
    def run(listening: bool) -> str:
        device = make(toy(0, SHARING[0]), toy(2, SHARING[1], unit=0, idle=True))
        device.memory.poke(0x8000, describe(UNIT, EXTERNAL, 500))
        if listening:
            device.listen(lambda event: None)
        device.run(until=2000)
        return device.hash()

    assert run(True) == run(False)


SHARING: tuple[list[Step], list[Step]] = (
    [
        ("copy", 0x8000),
        ("await", 0),
        ("swap", 1),
        ("dispatch", 1, 0),
        ("copy", 0x8000),
        ("join", 6),
        ("jump", 0),
    ],
    [("beat", ((UNIT, 64), (UNIT + 128, 4))), ("work", 5), ("store", UNIT + HALF, 4, 3), ("end",)],
)


# Services


def test_swap_exchanges_halves_and_waits_for_their_core() -> None:
    # Dispatched at 0, the core begins at 4, works to 14, ends at 14: the swap goes through at 15.
    device = make(
        toy(0, [("dispatch", 1, 0), ("swap", 2), ("swap", 3), ("end",)]),
        toy(2, [("work", 10), ("end",)], idle=True, unit=0),
    )
    assert device.memory.feeding == [1, 1]
    assert device.memory.feeding_address(0) == UNIT + HALF
    device.run()
    assert times(device) == [(0, "dispatched"), (1, "swapped"), (15, "swapped")]
    # Unit 1 was swapped twice, unit 0 once.
    assert device.memory.feeding == [0, 1]
    assert device.memory.feeding_address(0) == UNIT
    assert device.cores["toy0"].waited == 13


def test_dispatch_takes_a_place_in_the_half() -> None:
    # The half and unit of an address do not count; the list is at offset 1: the second step.
    device = make(
        toy(0, [("dispatch", 1, UNIT + HALF + 1), ("join", 4), ("dispatch", 1, 0), ("end",)]),
        toy(2, [("work", 100), ("mark",), ("end",)], idle=True, unit=0),
    )
    device.run()
    # Begins at 4, marks, ends at 5; join at 6, the next dispatch at 7; 7+4+100.
    assert times(device) == [(0, "dispatched"), (6, "joined"), (7, "dispatched")]
    assert [time for time, _ in times(device, "toy2")] == [4, 111]


def test_dispatch_to_a_busy_row_waits_and_starts_none_before() -> None:
    device = make(
        toy(0, [("dispatch", 1, 0), ("dispatch", 3, 0), ("end",)]),
        toy(2, [("work", 10), ("end",)], idle=True, unit=0),
        toy(3, [("mark",), ("end",)], idle=True, unit=1),
    )
    device.run()
    # The first ends at 14, the second dispatch goes through at 15, toy3 begins at 19.
    assert times(device) == [(0, "dispatched"), (15, "dispatched")]
    assert times(device, "toy3") == [(19, "mark")]


def test_start_and_join() -> None:
    device = make(
        toy(0, [("start", 2, 1), ("start", 2, 1), ("join", 0b100), ("join", 0), ("end",)]),
        toy(2, [("fault",), ("work", 9), ("end",)], idle=True),
    )
    device.run()
    # Started at 0, works to 9, ends at 9; again at 10, ends at 19, joined at 20.
    assert times(device) == [(0, "started"), (10, "started"), (20, "joined"), (21, "joined")]


def test_a_waiter_with_a_higher_number_goes_on_in_the_next_cycle_too() -> None:
    device = make(toy(2, [("work", 3), ("end",)]), toy(5, [("join", 4), ("end",)], divider=4))
    device.run()
    # toy2 ends at 3, so toy5 may go on at 4, which is a cycle of its clock.
    assert times(device, "toy5") == [(4, "joined")]


def test_a_deadlock_says_who_waits_for_what() -> None:
    device = make(
        toy(0, [("work", 3), ("join", 0b101)]),
        toy(2, [("work", 5), ("join", 0b100)]),
        toy(3, [("join", 0b100)], idle=True),
    )
    stop = device.run()
    assert stop.reason == "deadlock"
    assert str(stop) == (
        "deadlock: toy0 at 0x00000004 waits for core.wait 0x5 since cycle 3"
        " (toy0 is the one that waits, toy2 waits too);"
        " toy2 at 0x00000004 waits for core.wait 0x4 since cycle 5 (toy2 is the one that waits)"
    )
    assert device.cycle == 5
    # Nothing is lost: the device can be looked at, and says the same again.
    assert str(device.run()) == str(stop)


def test_registers_tell_of_the_cores() -> None:
    def register(number: int, offset: int) -> Step:
        return ("load", REGISTERS + (number << 12) + offset, 4)

    script = [register(0, 0), register(2, 4), register(2, 8), register(3, 4), register(3, 8)]
    device = make(
        toy(0, [*script, ("work", 0x1_0000_0000), register(0, 12), register(0, 16), ("end",)]),
        toy(2, [("work", 1), ("join", 0b100)]),
        toy(3, [("end",)], idle=True),
    )
    device.run()
    # Each takes 2 cycles. Core 2 waits (bits 0 and 1) at address 4; core 3 idles.
    assert [value for _, (value, _ready) in times(device)] == [0, 3, 4, 0, 0, 10, 1]


def test_cycles_are_of_the_cores_own_clock() -> None:
    device = make(toy(0, [("work", 10), ("load", REGISTERS + 12, 4), ("end",)], divider=3))
    device.run()
    assert times(device)[0] == (30, (10, 32))


# Fairness


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from((((UNIT, 8),), ((UNIT, 24),), ((UNIT + 4, 8),))), min_size=2, max_size=6
    )
)
def test_nobody_is_served_twice_before_all_were_served(
    beats: list[tuple[tuple[int, int], ...]],
) -> None:
    """Cores that need the same bank in each cycle are served in turn."""
    cores = [toy(n, [("beat", ranges), ("jump", 0)]) for n, ranges in enumerate(beats, 2)]
    device = make(*cores, dma=False)
    served: list[str] = []
    device.listen(
        lambda event: (
            served.append(event.core.name)
            if event.kind == "read" and event.values["address"] in (UNIT, UNIT + 4)
            else None
        )
    )
    device.run(until=60)
    count = len(beats)
    assert len(served) >= 20
    for place in range(len(served) - count):
        assert len(set(served[place : place + count])) == count
    counts = [served.count(f"toy{n}") for n in range(2, 2 + count)]
    assert max(counts) - min(counts) <= 1


# Programs and tensors


def program(**changes: Any) -> Program:
    sections = (
        Section(".text.cp", "cp", None, 0x10000, 0x10000, b"code", 4, 4, "ax"),
        Section(".data", None, None, EXTERNAL, EXTERNAL, b"data", 4, 4, "aw"),
        Section(".bss", None, None, EXTERNAL + 64, EXTERNAL + 64, b"", 64, 64, "aw"),
        Section(".pe.0", "pe", 0, UNIT, EXTERNAL + 128, b"row", 3, 4, "a"),
    )
    tensors = (
        Tensor("image", "input", "int8", (2, 3), EXTERNAL + 64),
        Tensor("result", "output", "float32", (4,), EXTERNAL + 96),
        Tensor("q", "input", "float16", (), EXTERNAL + 112),
    )
    values: dict[str, Any] = {"sections": sections, "tensors": tensors, "entry": 1} | changes
    return Program(**values)


def loaded(**changes: Any) -> Device:
    device = make(toy(0, [("fault",), ("work", 3), ("mark",), ("exit", 0)], idle=True))
    device.load(program(**changes))
    return device


def test_loading_places_sections_and_starts_core_0() -> None:
    """Loading puts sections at their addresses and starts core 0 (seed 000 ¶73-80)."""
    device = loaded()
    peek = device.memory.peek
    assert peek(0x10000, 4) == b"code"
    assert peek(EXTERNAL, 4) == b"data"
    assert peek(EXTERNAL + 128, 3) == b"row"
    assert peek(UNIT, 3) == bytes(3)
    assert device.run().reason == "exit"
    # Loading again is a new beginning: same state, whatever was there before.
    fresh = loaded().hash()
    device.memory.poke(EXTERNAL + 64, b"old")
    device.load(program())
    assert device.hash() == fresh
    assert device.cycle == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entry": None}, "the program has no entry"),
        (
            {"sections": (Section(".x", None, None, 0, 0x3000_0000, b"", 8, 1, "a"),)},
            "the program does not fit this device: section .x of 8 bytes at 0x30000000:"
            " the device has no memory there",
        ),
        (
            {"tensors": (Tensor("y", "output", "int8", (9,), EXTERNAL + (1 << 20) - 8),)},
            "the program does not fit this device: tensor y of 9 bytes at 0x800ffff8:"
            " external memory is 0x80000000 to 0x800fffff",
        ),
    ],
)
def test_programs_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DeviceError, match=f"^{re.escape(message)}$"):
        loaded(**changes)


def test_tensors_go_in_and_out() -> None:
    """Tensors are written as inputs and read as outputs (seed 000 ¶73)."""
    device = loaded()
    image = np.arange(-3, 3, dtype=np.int8).reshape(2, 3)
    device.write_tensor("image", image)
    assert device.memory.peek(EXTERNAL + 64, 6) == image.tobytes()
    # Any layout and byte order of the array will do.
    device.write_tensor("image", np.asfortranarray(image))
    assert (device.read_tensor("image") == image).all()
    device.write_tensor("result", np.arange(4, dtype=">f4"))
    result = device.read_tensor("result")
    assert (result.dtype, result.tolist()) == (np.dtype(np.float32), [0, 1, 2, 3])
    result[0] = 9  # a copy
    assert device.read_tensor("result")[0] == 0
    device.write_tensor("q", np.float16(0.5))
    assert device.read_tensor("q").shape == ()


def test_wrong_tensors() -> None:
    device = loaded()
    masked = np.ma.masked_array(np.zeros((2, 3), np.int8), mask=True)
    for name, array, message in (
        ("image", masked, "tensor image: array.filled(...) makes an array without a mask"),
        (
            "imgae",
            np.zeros(1),
            "no tensor is called 'imgae', there are image, result, q; did you mean 'image'?",
        ),
        ("image", np.zeros((2, 3)), "tensor image is int8, the array is float64"),
        ("image", np.zeros((3, 2), np.int8), "tensor image has the shape 2×3, the array has 3×2"),
        ("q", np.zeros(1, np.float16), "tensor q has the shape (), the array has 1"),
    ):
        with pytest.raises(DeviceError, match=f"^{re.escape(message)}$"):
            device.write_tensor(name, array)
    with pytest.raises(DeviceError, match=r"^tensor image: no array can be made of it: "):
        device.write_tensor("image", [[1], [2, 3]])
    device.load(program(tensors=()))
    with pytest.raises(DeviceError, match=r"^no tensor is called 'x', the program declares none$"):
        device.read_tensor("x")
    device.reset()
    with pytest.raises(DeviceError, match=r"^no program is loaded$"):
        device.read_tensor("x")


def test_counters_are_the_tables_and_the_ports() -> None:
    device = make(toy(0, [("load", EXTERNAL, 4), ("end",)]))
    device.run()
    counters = device.counters()
    assert counters["toy0"]["steps"] == 1
    assert counters["toy0"]["external_reads"] == 1
    assert list(counters) == ["toy0", "dma", "toy30", "toy31"]
    assert set(counters["dma"]) >= {"transfers", "beats", "bytes", "cycles_busy", "reads_blocked"}


@pytest.mark.parametrize("wrong", [5, "toy0", ["toy0"], [None]])
def test_counters_are_of_cores_only(wrong: Any) -> None:
    device = make(toy(0, [("end",)]))
    assert device.counters(device.cores.values()) == device.counters()
    with pytest.raises(DeviceError, match=r"^cores are values of device\.cores, not "):
        device.counters(wrong)


def test_lines_are_found_for_faults() -> None:
    device = make(toy(0, [("work", 1), ("fault",)], idle=True))
    sections = (Section(".text.cp", "cp", None, 0, 0, bytes(8), 8, 4, "ax"),)
    lines = (Line(".text.cp", 0, "a.s", 3, 9), Line(".text.cp", 4, "a.s", 4, 9))
    device.load(Program(sections=sections, lines=lines, entry=0))
    stop = device.run()
    assert (
        str(stop) == "a.s:4:9: toy0: illegal instruction at 0x00000004, cycle 1: the script says so"
    )
    assert stop.fault is not None
    assert stop.fault.place == ("a.s", 4, 9)
    assert (stop.core, stop.address, stop.fault.values) == ("toy0", 4, {"word": 1})
    deadlocked = make(toy(0, [("join", 1)], idle=True))
    deadlocked.load(Program(sections=sections, lines=lines, entry=0))
    assert str(deadlocked.run()).startswith(
        "deadlock: toy0 at 0x00000000 (a.s:3) waits for core.wait"
    )


def test_two_cores_of_one_number_are_refused() -> None:
    with pytest.raises(ValueError, match="two cores have the same number or name"):
        make(toy(0, []), toy(0, []))
    with pytest.raises(ValueError, match="unit 5 comes after 0 units"):
        make(toy(0, [], unit=5))
    assert NEVER > 1 << 60
