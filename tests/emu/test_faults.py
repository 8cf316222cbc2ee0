"""Each fault of memory and of the services between cores, with its whole text."""

from __future__ import annotations

import pytest

from macaw.emu.faults import Fault, Stop
from macaw.isa import common
from tests.emu.toys import EXTERNAL, HALF, UNIT, Step, make, toy

KINDS = {row.name for row in common.FAULTS}
MMIO = 0x2000_0000
CORES = "there is no such core, only 0 toy0, 1 dma, 30 toy30, 31 toy31"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            ("load", EXTERNAL + 1, 4),
            "misaligned access: load of 4 bytes at 0x80000001, which is no multiple of 4",
        ),
        (
            ("store", UNIT + 1, 2, 0),
            "misaligned access: store of 2 bytes at 0x10000001, which is no multiple of 2",
        ),
        (
            ("load", 0x0010_0000, 1),
            "out-of-range access: load of a byte at 0x00100000: local memory is 0x00000000 to 0x000fffff",
        ),
        (
            ("store", EXTERNAL + (1 << 20), 4, 0),
            "out-of-range access: store of 4 bytes at 0x80100000: external memory is 0x80000000 to 0x800fffff",
        ),
        (
            ("load", UNIT + HALF + 8192, 4),
            "out-of-range access: read of 4 bytes at 0x10082000: half 1 of unit 0 is 0x10080000 to 0x10081fff",
        ),
        (
            ("store", UNIT + (7 << 20), 4, 0),
            "out-of-range access: write of 4 bytes at 0x10700000: there is no on-chip unit 7, units are 0 to 1",
        ),
        (
            ("load", 0x4000_0000, 4),
            "out-of-range access: load of 4 bytes at 0x40000000: the device has no memory there",
        ),
        (
            ("beat", ((UNIT, 4), (UNIT + HALF, 4))),
            "out-of-range access: a beat touches two halves of on-chip memory, one at 0x10080000",
        ),
        (
            ("beat", ((UNIT + 8190, 4),)),
            "out-of-range access: read of 4 bytes at 0x10001ffe: half 0 of unit 0 is 0x10000000 to 0x10001fff",
        ),
        (
            ("beat", ((EXTERNAL, 4),)),
            "out-of-range access: read of 4 bytes at 0x80000000: external memory is 0x80000000 to 0x800fffff",
        ),
        (
            ("load", MMIO + (9 << 12), 4),
            "out-of-range access: load of 4 bytes at 0x20009000: there is no core 9",
        ),
        (
            ("load", MMIO + 0x40, 4),
            "out-of-range access: load of 4 bytes at 0x20000040: toy0 has no register at offset 0x40",
        ),
        (
            ("load", MMIO + 4, 2),
            "out-of-range access: load of 2 bytes at 0x20000004: the register status of toy0 is read as a whole word of 4 bytes",
        ),
        (
            ("load", MMIO + 0x701, 1),
            "out-of-range access: load of a byte at 0x20000701: the register trace_mode of toy0 is read as a whole word of 4 bytes",
        ),
        (
            ("store", MMIO + 0x700, 2, 1),
            "out-of-range access: store of 2 bytes at 0x20000700: the register trace_mode of toy0 is written as a whole word of 4 bytes",
        ),
        (
            ("store", MMIO + 0x800, 2, 1),
            "out-of-range access: store of 2 bytes at 0x20000800: the register t_begin0 of toy0 is read-only",
        ),
        (
            ("store", MMIO + 4, 4, 1),
            "out-of-range access: store of 4 bytes at 0x20000004: the register status of toy0 is read-only",
        ),
        (
            ("store", MMIO + 4, 2, 1),
            "out-of-range access: store of 2 bytes at 0x20000004: the register status of toy0 is read-only",
        ),
        (
            ("swap", 4),
            "bad mask: mem.swap with the mask 0x4: there is no unit 2, the device has 2",
        ),
        (
            ("dispatch", 0xFFFF, 0),
            "bad mask: dispatch with the mask 0xffff: there is no unit 15, the device has 2",
        ),
        (
            ("dispatch", 1, 0x2000),
            "out-of-range access: dispatch of the list at offset 0x2000: half a unit has 0x2000 bytes",
        ),
        (("start", 5, 0), f"bad mask: core.start of core 5: {CORES}"),
        (("start", 1, 0), "bad mask: core 1, dma, has no program of its own to start"),
        (("join", 0x8000_0005), f"bad mask: the mask 0x80000005 has bit 2 set: {CORES}"),
    ],
)
def test_faults(step: Step, message: str) -> None:
    device = make(toy(0, [("work", 7), step, ("end",)]))
    before = device.cores["toy0"]
    stop = device.run()
    assert stop.fault is not None
    assert f"{stop.fault.kind}: {stop.fault.message}" == message
    assert stop.fault.kind in KINDS
    # The stop has core, address and cycle; the instruction was not executed.
    assert (stop.reason, stop.core, stop.address, stop.cycle) == ("fault", "toy0", 4, 7)
    assert (before.time, before.retired) == (7, 1)
    kind, _, rest = message.partition(": ")
    assert str(stop) == f"toy0: {kind} at 0x00000004, cycle 7: {rest}"
    assert stop.fault.values


def test_a_core_that_takes_no_list() -> None:
    device = make(toy(0, [("end",)]))
    device.memory.users[0] = device.cores["dma"]
    with pytest.raises(Fault, match=r"core 1, dma, takes no packet list") as caught:
        device.dispatch(1, 0, 0)
    assert caught.value.kind == "bad mask"
    with pytest.raises(NotImplementedError, match="toy30 takes no answer from memory"):
        super(type(device.cores["toy30"]), device.cores["toy30"]).granted(  # type: ignore[safe-super]
            device.memory.ports[0], b"", 0, 0
        )


def test_no_units() -> None:
    device = make(toy(0, [("load", UNIT, 4), ("end",)]), units=0)
    assert device.run().message.endswith("there is no on-chip unit 0, the device has none")


@pytest.mark.parametrize(
    "ranges", [(), ((UNIT, 0),), ((UNIT + 5, 0),), ((UNIT + 5, 0), (UNIT + 7, 0))]
)
def test_a_beat_of_no_bytes_is_a_mistake_of_the_core(ranges: tuple[tuple[int, int], ...]) -> None:
    device = make(toy(0, [("end",)]))
    with pytest.raises(ValueError, match="a beat of no bytes"):
        device.memory.ports[0].beat(0, ranges)


def test_the_text_of_a_fault() -> None:
    assert str(Fault("kind", "why")) == "kind: why"
    full = Fault("kind", "why", core="cp", address=0x10, cycle=9, place=("a.s", 1, 2))
    assert str(full) == "a.s:1:2: cp: kind at 0x00000010, cycle 9: why"
    again = Fault.from_plain(full.plain())
    assert str(again) == str(full)
    stop = Stop("fault", 9, "text", None, full, "cp", 0x10)
    back = Stop.from_plain(stop.plain())
    assert (back.reason, back.cycle, str(back), str(back.fault)) == ("fault", 9, "text", str(full))
    assert Stop.from_plain(Stop("exit", 3, exit_code=1).plain()) == Stop("exit", 3, exit_code=1)
    assert str(Stop("step", 3)) == "step at cycle 3"
