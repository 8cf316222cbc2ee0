"""Windows that make a transfer or cp wait; a core's own memories and registers, shown by a toy."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw.emu.cp
import macaw.emu.dma
from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.emu.device import Builder, Device
from macaw.isa import config
from macaw.isa.memory_map import EXTERNAL, REGISTERS
from tests.emu.toys import describe, times
from tests.emu.window_pipe import (
    INBOX,
    OUTBOX,
    OWN,
    pipe,
    pipe_device,
    write_descriptions,
)


@pytest.mark.parametrize("width", [1, 3, 32])
@pytest.mark.parametrize("divider", [1, 3])
def test_a_transfer_that_waits_lets_another_pass(width: int, divider: int) -> None:
    """A transfer that waits for a window lets another transfer pass.

    One transfer fills the pipe, the other drains it. 100 bytes go through 4 places of the pipe, so
    neither transfer could end without the other.
    """
    data = bytes(range(100))
    script = (("copy", 0x8000), ("copy", 0x8020), ("await", 0), ("exit", 0))
    device = pipe_device(*script, dma__width=width, dma__divider=divider)
    write_descriptions(
        device,
        describe(EXTERNAL + 4096, OUTBOX, 20, 5, 20, 0),
        describe(INBOX, EXTERNAL, 100),
    )
    device.memory.poke(EXTERNAL, data)
    assert device.run(100_000).reason == "exit"
    assert device.memory.peek(EXTERNAL + 4096, 100) == bytes(x + 1 & 0xFF for x in data)
    counters = device.counters()["dma"]
    assert (counters["transfers"], counters["bytes"]) == (2, 200)


def test_two_through_one_window_keep_their_order() -> None:
    script = (*(("copy", 0x8000 + 32 * place) for place in range(4)), ("await", 0), ("exit", 0))
    device = pipe_device(*script)
    write_descriptions(
        device,
        describe(INBOX, EXTERNAL, 10),
        describe(INBOX, EXTERNAL + 10, 10),
        describe(EXTERNAL + 100, OUTBOX, 12),
        describe(EXTERNAL + 112, OUTBOX, 8),
    )
    device.memory.poke(EXTERNAL, bytes(range(20)))
    assert device.run(100_000).reason == "exit"
    assert device.memory.peek(EXTERNAL + 100, 20) == bytes(range(1, 21))


def test_a_slow_reader_by_hand() -> None:
    """A transfer waits for a slow window in the cycles calculated here.

    dma.copy is in cycle 0, the first read in cycle 4. The toy core's store in cycle 40 wakes the
    pipe in cycle 41, and the pipe announces the change. The dma tries in cycle 42 and gets the
    answer that the byte is ready in 44. It reads the byte in 44, has it in 46, and writes it then;
    the write ends in cycle 46 + 21.
    """
    script = (("copy", 0x8000), ("work", 40), ("store", INBOX, 1, 7), ("await", 0), ("exit", 0))
    device = pipe_device(*script)
    write_descriptions(device, describe(EXTERNAL, OUTBOX, 1))
    assert device.run(1000).reason == "exit"
    log = [time for time, result in times(device) if result == "done"]
    (stored,) = [time for time, result in times(device) if isinstance(result, tuple)]
    assert log[0] - stored == 67 - 40
    assert device.memory.peek(EXTERNAL, 1) == b"\x08"


def test_runs_cut_anywhere_are_the_same() -> None:
    def made() -> Device:
        device = pipe_device(("copy", 0x8000), ("copy", 0x8020), ("await", 0), ("exit", 0))
        write_descriptions(
            device, describe(EXTERNAL + 64, OUTBOX, 30), describe(INBOX, EXTERNAL, 30)
        )
        device.memory.poke(EXTERNAL, bytes(range(30)))
        return device

    whole = made()
    end = whole.run().cycle
    for cut in range(0, end, 3):
        device, other = made(), made()
        device.run(until=cut)
        other.restore(device.snapshot())
        assert other.run().cycle == end
        assert other.hash() == whole.hash()


def test_deadlocks_say_who_waits_for_what() -> None:
    device = pipe_device(("copy", 0x8000), ("await", 0), ("exit", 0))
    write_descriptions(device, describe(EXTERNAL, OUTBOX, 1))
    stop = device.run()
    assert stop.reason == "deadlock"
    assert "dma waits for bytes of outbox of pipe since cycle 4 (pipe waits too)" in stop.message
    assert "pipe waits for a byte since cycle" in stop.message
    device = pipe_device(("copy", 0x8000), ("await", 0), ("exit", 0))
    write_descriptions(device, describe(INBOX, EXTERNAL, 20))
    assert "dma waits for room in inbox of pipe" in device.run().message


CP = """
        .core   cp
_start: li      s0, 0x30580000          # inbox
        li      s1, 0x305c0000          # outbox
        li      s2, 0x20005000          # registers
        li      a0, {step}
        sw      a0, 0x100(s2)
        lw      s3, 0x100(s2)
        li      a0, 0x40302010
        sw      a0, 0(s0)
        sw      a0, 8(s0)
        lw      a1, 4(s1)
        lbu     a2, 0(s1)
        li      t0, 0x30500000
        lw      a3, 0(t0)
        addi    a3, a3, 1
        sw      a3, 0(t0)
        lw      a4, 0(t0)
        {more}
        li      a0, 0
        li      a7, 93
        ecall
"""


def with_cp(step: int = 1, more: str = "", engine: str = "fast") -> Device:
    builders: list[Builder] = [macaw.emu.cp.build, macaw.emu.dma.build, pipe]
    device = Device(config.load("tiny"), builders, engine)
    device.load(assemble([Source(CP.format(step=step, more=more), "t.s")]))
    device.cores["pipe"].running = True
    return device


@pytest.mark.parametrize("step", [1, 50])
def test_loads_and_stores_wait(step: int) -> None:
    ends = []
    for engine in ("fast", "reference"):
        device = with_cp(step, engine=engine)
        device.memory.poke(OWN, struct.pack("<I", 41))
        stop = device.run(10_000)
        assert stop.reason == "exit", stop
        device.sync()
        x = device.cores["cp"].state.x
        assert int(x[11]) == 0x41312111
        assert int(x[12]) == 0x11
        assert int(x[14]) == 42
        assert int(x[19]) == step
        ends.append((stop.cycle, device.hash()))
    assert ends[0] == ends[1]
    assert (ends[0][0] > 200) == (step == 50)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("lw a0, 0(s0)", "load at 0x30580000: inbox of pipe only takes bytes"),
        ("sw a0, 0(s1)", "store at 0x305c0000: outbox of pipe only gives bytes"),
        ("lw a0, 0x104(s2)", "pipe has no register at offset 0x104"),
        ("sw a0, 0x104(s2)", "pipe has no register at offset 0x104"),
        ("sb a0, 0x100(s2)", "the register step of pipe is written as a whole word of 4 bytes"),
        ("lb a0, 0x100(s2)", "the register step of pipe is read as a whole word of 4 bytes"),
        ("sw a0, 4(s2)", "the register status of pipe is read-only"),
        ("lw a0, 8(t0)", "pages of pipe is 0x30500000 to 0x30500007"),
        ("li t0, 0x30581000\n lw a0, 0(t0)", "inbox of pipe is 0x30580000 to 0x30580fff, a window"),
    ],
)
def test_what_cannot_be_accessed(more: str, message: str) -> None:
    stop = with_cp(more=more).run(10_000)
    assert stop.reason == "fault"
    assert message in stop.message


@pytest.mark.parametrize(
    ("more", "bytes_"),
    [
        ("lw a0, 0(s1)", "4 bytes"),  # only 3 bytes are left
        ("lb a0, 0(s1)\n" * 4, "a byte"),
    ],
)
def test_a_load_that_nothing_answers_is_a_deadlock(more: str, bytes_: str) -> None:
    device = with_cp(more=more)
    message = device.run(10_000).message
    assert "cp at" in message
    assert f"waits for {bytes_} in outbox of pipe" in message


def test_the_loader_reaches_a_memory_of_a_core() -> None:
    device = with_cp()
    device.memory.poke(OWN + 4, b"abcd")
    before = device.snapshot()
    assert device.memory.peek(OWN, 8) == bytes(4) + b"abcd"
    device.memory.poke(OWN, b"wxyz")
    assert [(name, change.field) for name, change in device.diff(before)] == [("memory", "pages5")]
    device.restore(before)
    assert device.memory.peek(OWN, 8) == bytes(4) + b"abcd"
    assert device.memory.describe(REGISTERS) == "registers of the cores are there, no memory"


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_copies_through_windows(data: st.DataObject) -> None:
    """Bytes leave the pipe in the order of their transfers, while other copies pass."""
    count = data.draw(st.integers(1, 60))

    def parts() -> list[int]:
        cuts = data.draw(st.lists(st.integers(0, count), max_size=3))
        edges = [0, *sorted(cuts), count]
        return [high - low for low, high in pairwise(edges)]

    ins, outs, at = parts(), parts(), 0
    plans: list[list[bytes]] = [[], [], []]
    for size in ins:
        plans[0].append(describe(INBOX, EXTERNAL + at, size))
        at += size
    at = 0
    for size in outs:
        plans[1].append(describe(EXTERNAL + 4096 + at, OUTBOX, 1, size, 1, 0))
        at += size
    for place in range(data.draw(st.integers(0, 3))):
        plans[2].append(describe(EXTERNAL + 8192 + 64 * place, EXTERNAL + 7, 33))
    order = data.draw(st.permutations([k for k, plan in enumerate(plans) for _ in plan]))
    descriptions = [plans[k].pop(0) for k in order]
    script = (
        *(("copy", 0x8000 + 32 * k) for k in range(len(descriptions))),
        ("await", 0),
        ("exit", 0),
    )
    device = pipe_device(
        *script,
        dma__width=data.draw(st.sampled_from([1, 5, 32])),
        dma__buffer=data.draw(st.integers(1, 4)),
        dma__divider=data.draw(st.sampled_from([1, 2])),
    )
    write_descriptions(device, *descriptions)
    sent = bytes(range(count))
    device.memory.poke(EXTERNAL, sent + bytes([9] * 40))
    stop = device.run(100_000)
    assert stop.reason == "exit", stop
    assert device.memory.peek(EXTERNAL + 4096, count) == bytes(x + 1 for x in sent)
    copied = device.memory.peek(EXTERNAL + 7, 33)
    for place in range(order.count(2)):
        assert device.memory.peek(EXTERNAL + 8192 + 64 * place, 33) == copied
    counters = device.counters()["dma"]
    assert counters["transfers"] == len(order)
    assert counters["bytes"] == 2 * count + 33 * order.count(2)
