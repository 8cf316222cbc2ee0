"""Cycles of memory accesses against calculations by hand.

The numbers of `toys.CONFIG`: on-chip latency 2, 16 banks of 8 bytes; external
latency 20, 32 bytes a beat. Every script begins at cycle 0.
"""

from __future__ import annotations

from tests.emu.toys import EXTERNAL, HALF, UNIT, make, times, toy


def test_external_load_takes_latency_and_a_beat() -> None:
    # Begins at 0; 20 cycles of latency and 1 beat: the value is there at 21.
    device = make(toy(0, [("load", EXTERNAL, 4), ("exit", 0)]))
    device.run()
    assert times(device) == [(0, (0, 21))]
    # exit executes at 21 and costs a cycle.
    assert device.cycle == 22


def test_external_accesses_of_one_cycle_share_the_channel() -> None:
    # Both ask at 0; core 0 comes first: channel 0..0, ready 0+20+1 = 21. Core 2's beat takes
    # the channel in cycle 1: ready 1+20+1 = 22, and one cycle blocked.
    load = [("load", EXTERNAL, 4), ("end",)]
    device = make(toy(0, load), toy(2, load))
    device.run()
    assert times(device, "toy0") == [(0, (0, 21))]
    assert times(device, "toy2") == [(0, (0, 22))]
    assert device.counters()["toy0"]["external_blocked"] == 0
    assert device.counters()["toy2"]["external_blocked"] == 1
    assert device.counters()["toy2"]["external_reads"] == 1


def test_external_store_counts_a_partial_beat() -> None:
    # A store of 4 bytes is a beat narrower than 32 (seed 001 ¶96): latency and beat as a load, 0+20+1.
    device = make(toy(0, [("store", EXTERNAL + 28, 4, 7), ("end",)]))
    device.run()
    assert times(device) == [(0, ("stored", 21))]
    counts = device.counters()["toy0"]
    assert (counts["external_writes"], counts["external_partial"]) == (1, 1)
    assert device.memory.peek(EXTERNAL + 28, 4) == b"\7\0\0\0"


def test_a_wide_unaligned_read_takes_the_lines_it_touches() -> None:
    # 40 bytes from offset 28: lines 0 (28..31), 1 (32..63), 2 (64..67): 3 beats, 0+20+3.
    device = make(toy(0, [("end",)]))
    device.memory.poke(EXTERNAL + 28, bytes(range(40)))
    port = device.memory.ports[0]
    assert port.read(0, EXTERNAL + 28, 40) == (bytes(range(40)), 23)
    # The next access finds the channel taken until cycle 3: 3+20+1.
    assert port.read(1, EXTERNAL, 1) == (b"\0", 24)
    assert (port.external_reads, port.external_blocked) == (4, 2)
    # A write of the same bytes: 3 beats, the first and the last of them partial; it begins at 4.
    assert port.write(2, EXTERNAL + 28, bytes(40)) == 4 + 20 + 3
    assert (port.external_writes, port.external_partial) == (3, 2)
    # Whole lines are not partial; bytes within one line are one partial beat.
    port.write(100, EXTERNAL, bytes(64))
    port.write(200, EXTERNAL + 1, bytes(31))
    assert (port.external_writes, port.external_partial) == (6, 3)


def test_onchip_load_takes_two_cycles() -> None:
    # Granted at the end of cycle 0, data 2 cycles later; the store (at 2) is there at 3.
    script = [("load", UNIT, 4), ("store", UNIT + 4, 4, 5), ("mark",), ("end",)]
    device = make(toy(0, script))
    device.run()
    assert times(device) == [(0, ("00000000", 2)), (2, ("stored", 3)), (3, "mark")]


def test_a_bank_serves_one_requester_a_cycle() -> None:
    """A bank serves one core in a cycle; another core waits (seed 001 ¶98)."""
    # Bank 0 (bytes 0..7, and again 128..135): core 0 is granted in cycle 0, core 2
    # waits a cycle, granted in 1: ready 3.
    device = make(
        toy(0, [("load", UNIT, 4), ("end",)]), toy(2, [("load", UNIT + 128, 4), ("end",)])
    )
    device.run()
    assert times(device, "toy0") == [(0, ("00000000", 2))]
    assert times(device, "toy2") == [(0, ("00000000", 3))]
    assert device.counters()["toy0"]["reads_blocked"] == 0
    assert device.counters()["toy2"]["reads_blocked"] == 1


def test_banks_halves_and_units_are_apart() -> None:
    """Accesses to different banks, halves or units do not wait for each other (seed 001 ¶98)."""
    # Bank 1 of the same half, bank 0 of the other half, bank 0 of the other unit: nobody waits.
    device = make(
        toy(0, [("load", UNIT, 4), ("end",)]),
        toy(2, [("load", UNIT + 8, 4), ("end",)]),
        toy(3, [("store", UNIT + HALF, 4, 1), ("end",)]),
        toy(4, [("load", UNIT + 2 * HALF, 4), ("end",)]),
    )
    device.run()
    for name in ("toy0", "toy2", "toy4"):
        assert times(device, name) == [(0, ("00000000", 2))]
    assert times(device, "toy3") == [(0, ("stored", 1))]


def test_requesters_of_a_bank_are_served_in_turn() -> None:
    # Three cores load from bank 0 twice.
    # Cycle 0: nobody was served yet, so by number: core 0, ready at 2.
    # Cycle 1: core 2, ready at 3.
    # Cycle 2: core 3, ready at 4; core 0 asks again, but it was served in cycle 0.
    # Cycle 3: core 0 (served in 0) before core 2 (asks again, served in 1): ready at 5.
    # Cycle 4: core 2 (served in 1) before core 3 (asks again, served in 2): ready at 6.
    # Cycle 5: core 3, ready at 7.
    twice = [("load", UNIT, 4), ("load", UNIT, 4), ("end",)]
    device = make(toy(0, twice), toy(2, twice), toy(3, twice))
    device.run()
    ready = {f"toy{n}": [x[1][1] for x in times(device, f"toy{n}")] for n in (0, 2, 3)}
    assert ready["toy0"] == [2, 5]
    assert ready["toy2"] == [3, 6]
    assert ready["toy3"] == [4, 7]
    # toy0: second asked at 2, granted at 3: 1. toy2: 1 and (asked 3, granted 4) 1. toy3: 2 and 1.
    blocked = [device.counters()[f"toy{n}"]["reads_blocked"] for n in (0, 2, 3)]
    assert blocked == [1, 2, 3]


def test_a_beat_waits_for_all_its_banks() -> None:
    # Core 0's beat of 32 bytes takes banks 0 to 3 in cycle 0; core 2's of 16 bytes from
    # byte 24 on needs banks 3 and 4: bank 4 is free, but it waits for both, granted in 1.
    device = make(
        toy(0, [("beat", ((UNIT, 32),)), ("end",)]),
        toy(2, [("beat", ((UNIT + 24, 16),)), ("end",)]),
        toy(3, [("beat", ((UNIT + 40, 8),)), ("end",)]),
    )
    device.run()
    assert times(device, "toy0")[0][1][1] == 2
    assert times(device, "toy2")[0][1][1] == 3
    assert times(device, "toy3")[0][1][1] == 2  # bank 5 was free in cycle 0


def test_a_beat_of_two_words_in_a_bank_takes_two_cycles() -> None:
    # Bytes 0..7 and 128..135 are both in bank 0: pieces in cycles 0 and 1, ready 1+2.
    # Nobody else took the bank, so nothing counts as blocked (seed 001 ¶98-99).
    device = make(toy(0, [("beat", ((UNIT, 8), (UNIT + 128, 8))), ("end",)]))
    device.memory.poke(UNIT, bytes(range(8)))
    device.memory.poke(UNIT + 128, bytes(range(8, 16)))
    device.run()
    assert times(device) == [(0, (bytes(range(16)).hex(), 3))]
    assert device.counters()["toy0"]["reads_blocked"] == 0


def test_a_beat_longer_than_a_row_of_banks_is_cut() -> None:
    # 16 banks of 8 bytes are 128 bytes; 300 bytes from byte 4 on are the words 0..37: 16, 16
    # and 6 of them, cycles 0, 1, 2; ready 2+2.
    device = make(toy(0, [("beat", ((UNIT + 4, 300),)), ("end",)]))
    data = bytes(i % 251 for i in range(300))
    device.memory.poke(UNIT + 4, data)
    device.run()
    assert times(device) == [(0, (data.hex(), 4))]


def test_scattered_writes_of_a_beat() -> None:
    # Four ranges in banks 0, 1, 1 (the same word), 2: one cycle, there at 1.
    ranges = ((UNIT, 2), (UNIT + 8, 1), (UNIT + 12, 1), (UNIT + 16, 4))
    device = make(toy(0, [("beat", ranges, b"abcdefgh"), ("end",)]))
    device.run()
    assert times(device) == [(0, ("stored", 1))]
    assert device.memory.peek(UNIT, 20) == b"ab\0\0\0\0\0\0c\0\0\0d\0\0\0efgh"
    assert device.counters()["toy0"]["writes"] == 1


def test_local_memory_and_registers_take_the_onchip_latency() -> None:
    registers = 0x2000_0000
    script = [("load", 0, 4), ("store", 4, 4, 9), ("load", registers + (2 << 12), 4), ("end",)]
    device = make(toy(2, script))
    device.run()
    # load 0..2, store 2..3, register 3..5: its id is 2.
    assert times(device, "toy2") == [(0, (0, 2)), (2, ("stored", 3)), (3, (2, 5))]


def test_a_divided_clock_acts_on_its_own_cycles() -> None:
    # Divider 4: load at 0, value at 21, next act at the core's next cycle, 24; work of one cycle
    # ends at 28; the on-chip load of 28 is granted in 28, its data are there at 30, next act 32.
    script = [("load", EXTERNAL, 4), ("work", 1), ("load", UNIT, 4), ("mark",), ("end",)]
    device = make(toy(0, script, divider=4))
    device.run()
    assert times(device) == [(0, (0, 21)), (28, ("00000000", 30)), (32, "mark")]
