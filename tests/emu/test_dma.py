"""The transfer engine: cycles by hand, bytes against NumPy, overlaps, queue, faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.device import Device
from tests.emu.toys import EXTERNAL, HALF, MULTICAST, UNIT, describe, make, times, toy

AT = 0x8000  # of the first description, in local memory


def one(description: bytes, **changes: Any) -> Device:
    """A device whose core 0 copies once, waits, and ends."""
    device = make(toy(0, [("copy", AT), ("await", 0), ("end",)]), **changes)
    device.memory.poke(AT, description)
    return device


def waited_until(device: Device) -> int:
    """The cycle in which the wait for the transfer ended."""
    device.run()
    return max(time for time, result in times(device) if result == "done")


# dma.copy executes at 0, the transfer begins at 0, its first beat is read at 4.


def test_external_to_onchip() -> None:
    """A transfer from external to on-chip memory takes the calculated cycles (seed 000 ¶83)."""
    # 64 bytes, beats of 32: read at 4 and 5, each ready 20+1 later, 25 and 26; written in the
    # cycles that they are ready, granted at once; the end is in 26, the waiter goes on at 27.
    device = one(describe(UNIT, EXTERNAL, 64))
    device.memory.poke(EXTERNAL, bytes(range(64)))
    assert waited_until(device) == 27
    assert device.memory.peek(UNIT, 64) == bytes(range(64))
    counters = device.counters()["dma"]
    assert counters["transfers"] == 1
    assert (counters["beats"], counters["bytes"], counters["cycles_busy"]) == (2, 64, 27)
    assert (counters["external_reads"], counters["writes"]) == (2, 2)


def test_onchip_to_external() -> None:
    # Read at 4 and 5, granted at once, ready at 6 and 7; written then: begin 6 and 7, there at
    # 6+21 and 7+21 = 28: the end is in 27, the waiter goes on at 28.
    device = one(describe(EXTERNAL, UNIT, 64))
    assert waited_until(device) == 28
    counters = device.counters()["dma"]
    assert (counters["external_writes"], counters["external_partial"]) == (2, 0)


def test_external_to_external() -> None:
    # Read at 4 and 5; ready at 25 and 26; written then, there at 26+21 = 47.
    assert waited_until(one(describe(EXTERNAL, EXTERNAL + 4096, 64))) == 47


def test_external_to_external_shares_its_channel() -> None:
    # 32 beats. Reads 0 to 20 take the channel in 4 to 24; the first is ready at 25. From then
    # on write and read alternate: write k takes the channel in 25+2k, read 21+k in 26+2k, to
    # read 31 in 46. The writes go on, one a cycle: write 11 in 47, write 31 in 67, where read
    # 31 is just ready (46+21). It is there at 67+21 = 88.
    assert waited_until(one(describe(EXTERNAL, EXTERNAL + 4096, 32 * 32))) == 88


def test_onchip_to_onchip_and_local() -> None:
    # Read at 4, ready at 6, written and granted in 6, the waiter goes on at 7. From the other half, the
    # other unit, local memory, and to local memory alike.
    for dst, src in (
        (UNIT, UNIT + HALF),
        (UNIT + 2 * HALF, UNIT),
        (UNIT, 0x100),
        (0x100, UNIT),
        (0x100, 0x200),
    ):
        assert waited_until(one(describe(dst, src, 32))) == 7


def test_onchip_to_onchip_in_one_half_shares_banks() -> None:
    # Three beats from bank 0 on to bank 0 on: 128 bytes apart. Reads granted in 4 and 5; in
    # 6 beat 0 is written and beat 2 read, banks 0..3 and 8..11: both granted. In 7 beat 1 is
    # written, in 8 beat 2: the end is in 8, the waiter goes on at 9.
    assert waited_until(one(describe(UNIT + 1024, UNIT, 96))) == 9
    # 64 bytes on: beat 0 goes to banks 8..11, which beat 2 is read from in the same cycle 6. Neither port
    # was served last: the reader in 5, the writer never: the writer goes first. The read
    # is granted in 7 (with beat 1's write, banks 12..15), ready at 9, written in 9: 10.
    device = one(describe(UNIT + 1024 + 64, UNIT, 96))
    assert waited_until(device) == 10
    assert device.counters()["dma"]["reads_blocked"] == 1


def test_an_unaligned_destination_is_cut_at_its_lines() -> None:
    # 64 bytes to external offset 16: beats of 16, 32, 16 bytes: the first and the last are partial
    # (seed 001 ¶96-97).
    # Read at 4, 5, 6, ready at 6, 7, 8, written then: there at 8+21 = 29.
    device = one(describe(EXTERNAL + 16, UNIT, 64))
    assert waited_until(device) == 29
    counters = device.counters()["dma"]
    assert (counters["external_writes"], counters["external_partial"]) == (3, 2)


def test_an_unaligned_source_is_cut_at_its_lines() -> None:
    # The same from external memory: 3 beats read at 4, 5, 6; the last is ready at 27, granted
    # then; the waiter goes on at 28.
    device = one(describe(UNIT, EXTERNAL + 16, 64))
    assert waited_until(device) == 28
    assert device.counters()["dma"]["external_reads"] == 3


def test_rows_follow_each_other_without_a_gap() -> None:
    # 4 rows of 8 bytes are 4 beats: as 4 beats of one row, read at 4..7, ready at 25..28.
    device = one(describe(UNIT, EXTERNAL, 8, 4, 16, 32))
    assert waited_until(device) == 29
    assert device.counters()["dma"]["beats"] == 4


def test_nothing_to_move_takes_the_setup() -> None:
    # Begins at 0, ends in 4, the waiter goes on at 5.
    assert waited_until(one(describe(UNIT, EXTERNAL, 0, 5))) == 5
    assert waited_until(one(describe(0xFFFF_FFFF, 0xFFFF_FFFF, 5, 0))) == 5


def test_a_buffer_of_one_beat() -> None:
    # A beat is read when the one before was written: read at 4, ready and written at 25; in the
    # same cycle the next is read (the write goes first), written at 46; the end is in 46.
    assert waited_until(one(describe(UNIT, EXTERNAL, 64), dma__buffer=1)) == 47


def test_a_divided_clock() -> None:
    # Divider 4: begins at 0, first read at 16, ready at 37; the next cycle of the engine is 40,
    # the second read is at 20, ready at 41, written at 44: the waiter goes on at 45.
    assert waited_until(one(describe(UNIT, EXTERNAL, 64), dma__divider=4)) == 45


def test_a_loser_of_a_bank_delays_the_engine() -> None:
    # Core 2 begins beats over banks 0..15 at 25 and at 27 (ready 2 later). At 25 the dma's first
    # write of banks 0..3 competes: core 2's port and the dma's were never served, the lower
    # number goes first: the dma (1) in 25, core 2 in 26. The dma's second write, at 26, banks 4..7:
    # it was served in 25, core 2 never: core 2 in 26, the dma in 27. The end is in 27.
    wide = ("beat", ((UNIT, 128),))
    device = make(
        toy(0, [("copy", AT), ("await", 0), ("end",)]), toy(2, [("work", 25), wide, ("end",)])
    )
    device.memory.poke(AT, describe(UNIT, EXTERNAL, 64))
    assert waited_until(device) == 28
    assert times(device, "toy2")[0][1][1] == 28  # granted in 26
    assert device.counters()["dma"]["writes_blocked"] == 1
    assert device.counters()["toy2"]["reads_blocked"] == 1


def test_transfers_queue_and_tickets_count() -> None:
    # Three copies at 0, 1, 2 of 32 bytes to on-chip memory. The first: read at 4, ready at 25, the
    # end in 25. The second begins at 26, first read at 30, ready and the end at 51. The third begins
    # at 52, ends at 77. A waiter goes on a cycle later.
    script = [("copy", AT), ("copy", AT), ("copy", AT), ("await", 1), ("await", 2), ("await", 0)]
    device = make(toy(0, [*script, ("end",)]))
    device.memory.poke(AT, describe(UNIT, EXTERNAL, 32))
    device.run()
    assert times(device) == [
        (0, 1), (1, 2), (2, 3), (26, "done"), (52, "done"), (78, "done"),
    ]  # fmt: skip


def test_a_full_queue_makes_the_core_wait() -> None:
    # dma.queue 2: the third copy (at 2) waits until the first ended in 25, and goes through at 26.
    script = [("copy", AT), ("copy", AT), ("copy", AT), ("await", 3), ("end",)]
    device = make(toy(0, script), dma__queue=2)
    device.memory.poke(AT, describe(UNIT, EXTERNAL, 32))
    device.run()
    assert times(device) == [(0, 1), (1, 2), (26, 3), (78, "done")]
    # Waited: 2..26 and from 27 to 78.
    assert device.cores["toy0"].waited == 24 + 51


def test_a_description_may_lie_in_any_memory() -> None:
    for place in (0x100, UNIT + 64, UNIT + HALF, EXTERNAL + 4):
        device = make(toy(0, [("copy", place), ("await", 0), ("end",)]))
        device.memory.poke(place, describe(UNIT + 512, EXTERNAL + 512, 8))
        device.memory.poke(EXTERNAL + 512, b"whatever")
        device.run()
        assert device.memory.peek(UNIT + 512, 8) == b"whatever"


# Bytes

REGIONS = ((0x1000, 4096), (UNIT, 4096), (UNIT + HALF, 4096), (EXTERNAL, 4096))


@st.composite
def descriptions(draw: st.DrawFn) -> tuple[int, int, int, int, int, int]:
    """dst, src, row_bytes, rows and strides of a transfer that stays within two regions."""
    row_bytes, rows = draw(st.integers(0, 150)), draw(st.integers(0, 6))

    def side() -> tuple[int, int]:
        base, size = draw(st.sampled_from(REGIONS))
        stride = draw(st.integers(-300, 300))
        span = abs(stride) * max(0, rows - 1)
        low = draw(st.integers(0, size - span - row_bytes))
        return base + low + (span if stride < 0 else 0), stride

    (dst, dst_stride), (src, src_stride) = side(), side()
    return dst, src, row_bytes, rows, dst_stride, src_stride


def expected(device: Device, transfer: tuple[int, int, int, int, int, int]) -> dict[int, bytes]:
    """Memory after a transfer, by region, from NumPy slices: each row is copied as a whole."""
    arrays = {
        base: np.frombuffer(device.memory.peek(base, size), np.uint8).copy()
        for base, size in REGIONS
    }

    def row(address: int, length: int) -> np.ndarray[Any, Any]:
        base = max(base for base, _ in REGIONS if base <= address)
        return arrays[base][address - base : address - base + length]

    dst, src, row_bytes, rows, dst_stride, src_stride = transfer
    for i in range(rows if row_bytes else 0):
        held = row(src + i * src_stride, row_bytes).copy()
        row(dst + i * dst_stride, row_bytes)[:] = held
    return {base: array.tobytes() for base, array in arrays.items()}


@pytest.mark.once
@settings(max_examples=150, deadline=None)
@given(
    descriptions(),
    st.integers(0, 2**32 - 1),
    st.sampled_from((1, 5, 32, 200)),
    st.sampled_from((1, 3, 64)),
)
def test_transfers_equal_numpy_slices(
    transfer: tuple[int, int, int, int, int, int], seed: int, width: int, depth: int
) -> None:
    """Random transfers leave the bytes that NumPy slices give (seed 000 ¶83)."""
    device = one(describe(*transfer), dma__width=width, dma__buffer=depth)
    random = np.random.default_rng(seed)
    for base, size in REGIONS:
        device.memory.poke(base, random.integers(0, 256, size, np.uint8).tobytes())
    want = expected(device, transfer)
    device.run()
    for base, size in REGIONS:
        assert device.memory.peek(base, size) == want[base]
    assert device.counters()["dma"]["bytes"] == transfer[2] * transfer[3]


@pytest.mark.once
@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(REGIONS),
    st.integers(-40, 40),
    st.integers(1, 120),
    st.integers(1, 5),
    st.integers(-60, 60),
    st.integers(-60, 60),
    st.sampled_from((1, 8, 32)),
)
def test_overlapping_rows_move_as_by_memmove(
    region: tuple[int, int],
    apart: int,
    row_bytes: int,
    rows: int,
    first: int,
    second: int,
    width: int,
) -> None:
    middle = region[0] + 2048
    transfer = (middle + apart, middle, row_bytes, rows, first, second)
    device = one(describe(*transfer), dma__width=width)
    device.memory.poke(region[0], bytes(i * 7 % 251 for i in range(region[1])))
    want = expected(device, transfer)
    device.run()
    assert device.memory.peek(*region) == want[region[0]]


def test_rows_may_go_to_several_units() -> None:
    device = one(describe(UNIT, EXTERNAL, 16, 2, 2 * HALF, 16))
    device.memory.poke(EXTERNAL, bytes(range(32)))
    device.run()
    assert device.memory.peek(UNIT, 16) == bytes(range(16))
    assert device.memory.peek(UNIT + 2 * HALF, 16) == bytes(range(16, 32))


# Multicasts


def test_a_multicast_takes_the_time_of_one_copy() -> None:
    # As the first test of this file: 64 bytes arrive in 26, in both units.
    device = one(describe(UNIT + 96 + MULTICAST, EXTERNAL, 64))
    device.memory.poke(EXTERNAL, bytes(range(64)))
    assert waited_until(device) == 27
    for unit in (UNIT, UNIT + 2 * HALF):
        assert device.memory.peek(unit, 224) == bytes(96) + bytes(range(64)) + bytes(64)
    counters = device.counters()["dma"]
    assert (counters["beats"], counters["bytes"], counters["cycles_busy"]) == (2, 64, 27)
    assert (counters["external_reads"], counters["writes"]) == (2, 4)


def test_a_multicast_waits_for_its_slowest_unit() -> None:
    # As `test_a_loser_of_a_bank_delays_the_engine`, in unit 1: its second write waits for a cycle.
    wide = ("beat", ((UNIT + 2 * HALF, 128),))
    device = make(
        toy(0, [("copy", AT), ("await", 0), ("end",)]), toy(2, [("work", 25), wide, ("end",)])
    )
    device.memory.poke(AT, describe(UNIT + MULTICAST, EXTERNAL, 64))
    assert waited_until(device) == 28
    assert device.counters()["dma"]["writes_blocked"] == 1


@pytest.mark.parametrize("unit", [0, 1])
@pytest.mark.parametrize("apart", [-40, -1, 0, 5, 64])
def test_a_multicast_over_its_source_moves_as_by_memmove(unit: int, apart: int) -> None:
    """A multicast that overlaps its source in one of two units moves bytes as memmove does."""
    source = UNIT + 2 * HALF * unit + 200
    target = UNIT + 200 + apart
    device = one(describe(target + MULTICAST, source, 150))
    data = bytes(i * 7 % 251 for i in range(150))
    device.memory.poke(source, data)
    device.run()
    for copy in (target, target + 2 * HALF):
        assert device.memory.peek(copy, 150) == data


def test_rows_of_a_multicast_are_in_one_half() -> None:
    transfer = (UNIT + MULTICAST, EXTERNAL, 4, 2, HALF, 4)
    stop = one(describe(*transfer)).run()
    assert stop.fault is not None
    assert stop.fault.kind == "out-of-range access"
    message = "the rows of a multicast are in several halves of units"
    assert stop.fault.message == f"{message}; {VALUES.format(*transfer)}"


# Faults

VALUES = (
    "transfer 1 of toy0: dst={:#010x}, src={:#010x}, row_bytes={}, rows={}, dst_stride={},"
    " src_stride={}"
)


@pytest.mark.parametrize(
    ("transfer", "message"),
    [
        (
            (0x0200_0000, EXTERNAL, 4, 1, 0, 0),
            "destination of row 0, of 4 bytes at 0x02000000: local memory is 0x00000000 to 0x000fffff",
        ),
        (
            (UNIT, EXTERNAL, 4, 9000, 1, 0),
            "destination of row 8189, of 4 bytes at 0x10001ffd: half 0 of unit 0 is 0x10000000 to 0x10001fff",
        ),
        (
            (UNIT, EXTERNAL, 32, 1 << 20, 0, 32),
            "source of row 32768, of 32 bytes at 0x80100000: external memory is 0x80000000 to 0x800fffff",
        ),
        (
            (UNIT, 64, 32, 4, 0, -32),
            "source of row 3, of 32 bytes at -0x0000020: the device has no memory there",
        ),
        (
            (UNIT + (2 << 20), EXTERNAL, 1, 1, 0, 0),
            "destination of row 0, of a byte at 0x10200000: there is no on-chip unit 2, units are 0 to 1",
        ),
        (
            (UNIT + 2 * MULTICAST, EXTERNAL, 1, 1, 0, 0),
            "destination of row 0, of a byte at 0x10200000: there is no on-chip unit 2, units are 0 to 1",
        ),
        (
            (UNIT, UNIT + MULTICAST, 1, 1, 0, 0),
            "source of row 0, of a byte at 0x11000000: there is no on-chip unit 16, units are 0 to 1",
        ),
        (
            (UNIT, 0x2000_0000, 4, 1, 0, 0),
            "source of row 0, of 4 bytes at 0x20000000: registers of the cores are there, no memory",
        ),
        (
            (0xFFFF_FFF0, EXTERNAL, 32, 1, 0, 0),
            "destination of row 0, of 32 bytes at 0xfffffff0: external memory is 0x80000000 to 0x800fffff",
        ),
    ],
)
def test_rows_outside_of_memory(
    transfer: tuple[int, int, int, int, int, int], message: str
) -> None:
    device = one(describe(*transfer))
    stop = device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "out-of-range access"
    assert stop.fault.message == f"{message}; {VALUES.format(*transfer)}"
    assert (stop.fault.core, stop.fault.address, stop.fault.cycle) == ("toy0", 0, 0)
    assert stop.fault.values["rows"] == transfer[3]


def test_a_misaligned_description() -> None:
    device = make(toy(0, [("copy", 0x102), ("end",)]))
    assert str(device.run().fault) == (
        "toy0: misaligned access at 0x00000000, cycle 0: description of a transfer at 0x00000102,"
        " which is no multiple of 4"
    )


def test_a_description_outside_of_memory() -> None:
    device = make(toy(0, [("copy", 0x3000_0000), ("end",)]))
    assert str(device.run().fault) == (
        "toy0: out-of-range access at 0x00000000, cycle 0: description of a transfer, of 24 bytes"
        " at 0x30000000: the device has no memory there"
    )


@pytest.mark.parametrize("writes", [True, False])
def test_the_half_of_a_running_core_is_out_of_bounds(writes: bool) -> None:
    """A transfer to the feeding half of a running row is a fault (seed 000 ¶47)."""
    # Core 2 feeds from half 1 of unit 0 and runs from cycle 1+4 on for 100 cycles. A transfer to
    # half 0 is good; one to half 1 (from it) faults at its first beat there.
    feeding = UNIT + HALF
    script = [("dispatch", 1, 0), ("copy", AT), ("await", 0), ("copy", AT + 24), ("await", 0)]
    device = make(toy(0, [*script, ("end",)]), toy(2, [("work", 100), ("end",)], idle=True, unit=0))
    device.memory.poke(AT, describe(UNIT, EXTERNAL, 32))
    bad = (feeding, EXTERNAL, 32) if writes else (EXTERNAL, feeding, 32)
    device.memory.poke(AT + 24, describe(*bad))
    stop = device.run()
    assert stop.fault is not None
    what = "write" if writes else "read"
    assert stop.fault.message == (
        f"{what} at 0x10080000, in the half from which toy2 feeds and runs;"
        f" transfer 2 of toy0: dst={bad[0]:#010x}, src={bad[1]:#010x}, row_bytes=32, rows=1,"
        " dst_stride=0, src_stride=0"
    )
    # The first is asked for at 1, read at 5, its end is in 26; dma.wait goes through at 27. The
    # second is asked for at 28, read at 32, where it faults, or ready and written at 53. The
    # instruction at fault is its copy.
    assert stop.fault.cycle == (53 if writes else 32)
    assert (stop.fault.core, stop.fault.address) == ("dma", 12)
    assert stop.fault.kind == "isolation violation"
    assert stop.fault.values["holder"] == "toy2"
