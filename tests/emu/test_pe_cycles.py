"""Cycles of the PE rows calculated by hand, on one row of `tiny`: two clusters of four PEs.

Each test says what happens in which cycle; "in cycle t" means the state after t. The list is
dispatched in cycle 0, so the first beat of its first packet is on the bus in cycle 4
(dist.dispatch_latency). The sequence of `LAYER` has five instructions. Its config packet has a byte
of command, 16 of header and 10 of instructions: one beat, in cycle 4. The instructions are stored
in cycles 5 to 9. The first beat of the exe is in cycle 10 (`EXE`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from macaw.isa.pe import PACKET, SEGMENT
from tests.emu.pe_builder import Machine, Unit, int_ones, record
from tests.emu.pe_rows import field_reader, instruction_starts, states_after
from tests.emu.toys import HALF, UNIT, toy

LAYER = (
    "ld activations base=0",
    "ld weights",
    "mac base=0 acc=0",
    "spu nonsf src=0 dst=0",
    "st base=0",
)
EXE = 10  # the exe's first beat after a config of LAYER in buffer 0
ONES = np.ones(8, int)


def layer(
    config: dict[str, Any], weights: Any, x: Any, **flags: int
) -> tuple[Machine, dict[str, int]]:
    """A config of LAYER and one exe of it; the 32-bit results of the eight PEs are adjacent."""
    unit = Unit(config)
    unit.config_packet(0, *LAYER)
    out = unit.out(32, "int32")
    unit.exe(0, unit.dense(x), unit.weights(weights), out=out, **({"last": 1} | flags))
    return unit.machine(), out


def classes(machine: Machine, cluster: int, pe: int) -> dict[str, int]:
    """The number of a PE's cycles in each class, without zeros; the sum is the row's cycles."""
    state = machine.row.state
    machine.row.sync()
    names = [row.name for row in machine.row.table.counters if row.name.startswith("cycles_")]
    found = {name[7:]: int(getattr(state, name)[cluster, pe]) for name in names}
    assert sum(found.values()) == state.cycles
    return {name: cycles for name, cycles in found.items() if cycles}


def test_config_stores_an_instruction_a_cycle() -> None:
    """After its beat, a config stores one instruction in each cycle (seed 000 ¶105-106, ¶114)."""
    unit = Unit()
    unit.config_packet(0, *LAYER)
    machine = unit.machine()
    # Cycle 4: the beat. Cycles 5 to 9: instructions 0 to 4.
    parsed = states_after(
        machine, 3, 9, lambda s: None if s.parsers[0] is None else s.parsers[0]["parsed"]
    )
    assert parsed == [None, 0, 1, 2, 3, 4, None]
    assert machine.row.state.headers[:, 0, 0].tolist() == [5, 5]
    # Instruction 2, mac base=0 acc=0; all of it for each of 4 PEs.
    assert machine.row.state.words[0, 0].tolist()[:5] == [0x500, 0x400, 0x000, 0xC00, 0x800]
    machine.run()
    assert machine.row.counters()["cycles"] == 6  # 4 to 9
    assert machine.row.state.bus_beats == 1


def test_config_over_a_narrow_bus() -> None:
    unit = Unit({"dist.bus_bytes": 4})
    unit.config_packet(0, *LAYER)
    machine = unit.machine()
    # 27 bytes: 7 beats, cycles 4 to 10. Of the sequence, 3, 7, 11, 15, 19, 23, 26 bytes are there
    # after them. Instruction i needs 18 + 2i bytes: there after cycle 8, 9, 9, 10, 10. An instruction
    # is stored in the cycle after at the earliest, and one a cycle: 9, 10, 11, 12, 13.
    parsed = states_after(machine, 7, 13, lambda s: s.parsers[0] and s.parsers[0]["parsed"])
    assert parsed == [0, 0, 1, 2, 3, 4, None]
    machine.run()
    assert machine.row.counters()["cycles"] == 10
    assert machine.row.counters()["bus_beats"] == 7
    assert machine.row.counters()["bus_bytes"] == 27


def test_a_layer_from_first_to_last_beat() -> None:
    """Loads, mac, move and store of a layer come in the cycles calculated here.

    See seed 000 ¶90, ¶107-109, ¶114, ¶124-130.
    """
    # Each PE has weights at 0 and 1; x has no zeros. The exe is 1 byte of command, 4 of x, and
    # 8 records of 2 + 2 * 3 bytes: 69 bytes, three beats, 10 to 12.
    weights = np.zeros((8, 4), int)
    weights[:, 0], weights[:, 1] = np.arange(1, 9), 10
    machine, out = layer({}, weights, [1, 2, 3, 4])
    # ID in 11, FO in 12, so the first ld starts in 13 (its data are there) and is over in it;
    # ld weights: 14, last beat in 12, over in 14. mac: 15.
    # 15: the comparator finds two loads. 16: one goes to queue 2. 17: it goes to the MAC, and the
    # second to queue 2. 18: the second goes to the MAC, and the mac ends.
    # PE 2: 3 * 1 in cycle 17, + 10 * 2 in cycle 18; moved out, and cleared, in 19.
    seen = states_after(
        machine, 14, 19, field_reader("computing q1_count q2_count accumulators", 0, 2)
    )
    assert seen == [
        (False, 0, 0, 0),  # 14
        (True, 2, 0, 0),
        (True, 1, 1, 0),
        (True, 0, 1, 3),
        (False, 0, 0, 23),  # 18
        (False, 0, 0, 0),
    ]
    assert machine.row.state.output[0, 2, 0] == 23
    # st: 20. The clusters' beats of 16 bytes are on the return bus in cycles 20 and 21.
    assert states_after(machine, 19, 21, lambda s: s.beat is None and s.returning) == [-1, 0, 1]
    machine.run()
    assert machine.read(out, 8).tolist() == [21, 22, 23, 24, 25, 26, 27, 28]
    counters = machine.row.counters()
    assert counters["cycles"] == 18  # 4 to 21
    assert (counters["bus_beats"], counters["return_beats"]) == (1 + 3, 2)
    assert counters["bus_waits"] == 5  # the exe waits for its buffer in cycles 5 to 9
    # Idle 4 to 10, waiting 11 to 14 and 19 to its store's end.
    assert classes(machine, 0, 0) == {"idle": 7 + 1, "queue": 4 + 2, "filling": 2, "mac": 2}
    assert classes(machine, 1, 3) == {"idle": 7, "queue": 4 + 3, "filling": 2, "mac": 2}


def test_zeros_of_the_bitmask_are_skipped_two_a_cycle() -> None:
    """The comparator examines two weights a cycle and skips weights whose activation is zero.

    See seed 000 ¶90, ¶93-94, ¶98-99.
    """
    # All weights of six inputs, and 8 * (2 + 18) + 6 + 1 = 167 bytes: six beats, 10 to 15.
    # ld activations: 13, last beat 10. ld weights: starts 14, ends 16. mac: 17.
    machine, out = layer({}, np.full((8, 6), 3), [1, 0, 0, 0, 2, 3])
    first = 17
    # 17: looks at 0, 1: one load. 18: at 2, 3: none; load 0 to queue 2. 19: at 4, 5: two; the MAC
    # takes 0. 20: load 4 to queue 2, nothing for the MAC. 21: MAC takes 4. 22: MAC takes 5: end.
    seen = states_after(machine, first, first + 5, field_reader("mac_left accumulators"))
    assert seen == [(4, 0), (2, 0), (0, 3), (0, 3), (0, 9), (0, 18)]
    machine.run()
    assert machine.read(out, 8).tolist() == [18] * 8
    found = classes(machine, 0, 0)
    assert (found["filling"], found["mac"], found["no_load"]) == (2, 3, 1)
    counters = machine.row.counters()
    assert (counters["weights_examined"], counters["effectual_loads"]) == (48, 24)
    assert counters["macs"] == 24


def test_queues_that_are_too_short_make_the_comparator_wait() -> None:
    """The comparator waits when the load queues are full (seed 000 ¶100)."""
    # As above the mac starts in 17. Queue 1 has four places, queue 2 has one:
    machine, _ = layer({"pe.load_queue_1": 4, "pe.load_queue_2": 1}, np.ones((8, 6), int), ONES[:6])
    # cycle          17 18 19 20 21 22 23 24 25 26 27 28 29
    left = [4, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]  # waits in 19 and 20: fewer than 2 places free
    q1 = [2, 3, 3, 2, 4, 3, 3, 2, 2, 1, 1, 0, 0]  # 18: one to queue 2 and two new
    q2 = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]  # filled only when it was empty
    looked = states_after(machine, 17, 29, field_reader("mac_left q1_count q2_count"))
    assert looked == list(zip(left, q1, q2, strict=True))
    machine.run()
    found = classes(machine, 0, 0)
    assert (found["filling"], found["mac"], found["no_load"]) == (2, 6, 5)
    assert machine.row.counters()["q1_high"] == 4
    assert machine.row.counters()["q2_high"] == 1


def test_pes_with_less_to_do_are_done_early() -> None:
    # PE n of each cluster has n weights: 8 records of 2 bytes and 2 * (0 + 1 + 2 + 3) entries of 3.
    weights = np.tril(np.ones((4, 4), int), -1)
    machine, out = layer({}, np.vstack([weights, weights]), [1, 2, 3, 4])
    # 1 + 4 + 16 + 36 = 57 bytes, two beats (10, 11); ld weights 14, mac from 15 on.
    # PE n: filling 15 and 16, products from 17 on; the last of PE 3 in 19.
    assert states_after(machine, 15, 19, field_reader("computing")) == [1, 1, 1, 1, 0]
    machine.run()
    assert machine.read(out, 8).tolist() == [0, 1, 3, 6] * 2
    for pe in range(4):
        found = classes(machine, 0, pe)
        wanted = {"mac": pe, "filling": 2 if pe else 0, "early": 3 - pe if pe else 5}
        assert {name: found.get(name, 0) for name in wanted} == wanted


def test_an_empty_mac_takes_a_cycle() -> None:
    machine, _out = layer({}, np.zeros((8, 4), int), [1, 2, 3, 4])
    # 1 + 4 + 8 * 2 = 21 bytes, one beat. ld 13, ld 14, mac 15, nonsf 16, st 17 and 18.
    assert states_after(machine, 14, 16, field_reader("doing")) == [1, 1, 1]
    machine.run()
    assert machine.row.counters()["cycles"] == 15  # 4 to 18
    assert classes(machine, 0, 0) == {"idle": 7 + 1, "queue": 4 + 2, "early": 1}


SPMM = (
    "ld activations base=0",
    "ld activations base=1",
    "ld weights",
    "mac base=0 acc=0",
    "mac base=1 acc=1",
)


def test_two_macs_share_a_segment_and_results_leave_without_spu() -> None:
    """Two macs use one segment of weights; st stores sums without spu (seed 000 ¶95-96, ¶131)."""
    unit = Unit()
    unit.config_packet(0, *SPMM, "st base=0", "st base=1")
    out = unit.out(64, "int32", stride=4, step=32)
    rows = np.tile([[1, 2, 0, 0]], (8, 1))
    unit.exe(
        0, unit.dense([1, 1, 1, 1]), unit.dense([2, 0, 2, 2]), unit.weights(rows), out=out, last=1
    )
    machine = unit.machine()
    # Config of seven instructions: 31 bytes, cycle 4; stored 5 to 11. Exe: 12.
    # 1 + 4 + 4 + 64 = 73 bytes: beats 12 to 14. lds start in 15, 16, 17; the weights are
    # complete in 14, so the third ends in 17. First mac 18: 18, 19 filling, products in 20, 21.
    # Second mac from 22: loads of x1 = [2, 0]: one load found in 22, its product in 24.
    sums = states_after(machine, 19, 27, lambda s: s.accumulators[0, 0, :2].tolist())
    assert sums == [
        [0, 0],
        [1, 0],
        [3, 0],  # 19 to 21
        [3, 0],
        [3, 0],
        [3, 2],  # 22 to 24
        [0, 2],
        [0, 0],
        [0, 0],  # 25 and 26: accumulators 0 and 1 move to blocks 0 and 1
    ]
    # The segment leaves the weight queue at the loopback, after the last mac.
    machine = unit.machine()
    assert states_after(machine, 23, 25, field_reader("weight_count")) == [2, 2, 0]
    # st base=0 waits for the spus before it: 27, 28; st base=1: 29, 30 (cluster 0 has ended
    # its first store in 27, so its second one is ready in 28, but clusters go in turn: 27 c0, 28 c1,
    # 29 c0, 30 c1).
    machine.run()
    assert machine.read(out, 16).tolist() == [3] * 8 + [2] * 8
    assert machine.row.counters()["cycles"] == 27  # 4 to 30
    assert machine.row.counters()["return_beats"] == 4


def test_stores_take_turns_on_a_narrow_return_bus() -> None:
    machine, out = layer({"dist.bus_bytes": 8}, np.eye(8, dtype=int), ONES)
    # config: 27 bytes, beats 4 to 7; 7, 15, 23, 26 bytes of the sequence are there after them, so
    # instructions are stored in 7 (18 bytes by 6), 8, 9, 10, 11 and the exe begins in 12.
    # 1 + 8 + 8 * 5 = 49 bytes: beats 12 to 18. ld activations: last beat 13. ld weights: first
    # beat 13, last beat 18, ends 19. mac: 20 to 22 (one load). nonsf: 23. st from 24: 16 bytes a
    # cluster are two beats; in turn: 24 c0, 25 c1, 26 c0, 27 c1.
    assert states_after(machine, 23, 28, lambda s: s.returning) == [-1, 0, 1, 0, 1, -1]
    machine.run()
    assert machine.read(out, 8).tolist() == [1] * 8
    assert machine.row.counters()["cycles"] == 24  # 4 to 27
    assert machine.row.counters()["return_beats"] == 4


def test_stream_writes_each_result_as_soon_as_it_is_there() -> None:
    """With `shift`, each result is stored as soon as it is complete (seed 000 ¶115-117)."""
    unit = Unit()
    unit.config_packet(0, *SPMM)
    out = unit.out(64, "int32", stride=4, step=32)
    rows = np.tile([[1, 2, 0, 0]], (8, 1))
    unit.exe(
        0,
        unit.dense([1, 1, 1, 1]),
        unit.dense([2, 0, 2, 2]),
        unit.weights(rows),
        out=out,
        last=1,
        shift=1,
    )
    machine = unit.machine()
    # Config of five: exe in 10, three beats. lds 13, 14, 15; macs 16 to 19 and 20 to 22.
    # Accumulator 0 moves in 23, 1 in 24. Block 0 streams from 24 on: 24 c0, 25 c1; block 1, ready
    # in 25: 26 c0, 27 c1 (cluster 0 is done with its first in 24; the turn is c1's in 25).
    assert states_after(machine, 23, 28, lambda s: s.returning) == [-1, 0, 1, 0, 1, -1]
    machine.run()
    assert machine.read(out, 16).tolist() == [3] * 8 + [2] * 8
    assert machine.row.counters()["cycles"] == 24  # 4 to 27


def test_sfu_takes_four_results_a_cycle_and_three_cycles() -> None:
    """The SFU starts four results a cycle; each takes three cycles (seed 000 ¶97)."""
    unit = Unit({"pe.pes": 6})
    unit.config_packet(
        0,
        *LAYER[:4],
        "spu activation src=0 dst=1",
        "spu requantise src=1 dst=1",
        "st base=1",
        activation=1,
        shift=1,
    )
    out = unit.out(12, "int8")
    unit.exe(0, unit.dense([1]), unit.weights(np.arange(-5, 7)[:, None]), out=out, last=1)
    machine = unit.machine()
    # Config of 7: exe in 12. 1 + 1 + 12 * 2 + 11 * 3 = 59 bytes: beats 12, 13 (PE 5 has no weight).
    # ld 15, ld 16, mac 17 to 19, nonsf 20.
    # activation from 21: four of six results enter, two in 22; they leave in 23 and 24.
    # requantise: 25 to 28. st: 29 (c0), 30 (c1).
    place = 16
    seen = states_after(machine, 22, 28, lambda s: s.output[1, :, place].tolist())
    assert seen == [
        [0, 0, 0, 0, 0, 0],  # 22
        [1, 2, 3, 4, 0, 0],  # 23: of PEs 0 to 3
        [1, 2, 3, 4, 5, 6],  # 24
        [1, 2, 3, 4, 5, 6],
        [1, 2, 3, 4, 5, 6],
        [0, 1, 2, 2, 5, 6],  # 27: halves to the even number
        [0, 1, 2, 2, 2, 3],  # 28
    ]
    machine.run()
    assert machine.read(out, 12).tolist() == [0] * 6 + [0, 1, 2, 2, 2, 3]
    assert machine.row.counters()["cycles"] == 27  # 4 to 30
    assert machine.row.counters()["sfu_results"] == 24


def test_loads_for_one_buffer_overlap_the_mac_of_another() -> None:
    """Loads for one buffer overlap the mac of another buffer (seed 000 ¶104)."""
    unit = Unit()
    unit.config_packet(0, *LAYER)
    unit.config_packet(
        1,
        "ld activations base=8",
        "ld weights",
        "mac base=8 acc=1",
        "spu nonsf src=1 dst=1",
        "st base=1",
    )
    first, second = unit.out(32, "int32"), unit.out(32, "int32")
    dense = np.ones((8, 20), int)
    unit.exe(0, unit.dense(np.ones(20)), unit.weights(dense), out=first, last=1)
    unit.exe(1, unit.dense(np.full(20, 2)), unit.weights(dense), out=second, last=1)
    machine = unit.machine()
    # Configs: beat 4, stored 5 to 9; the parser is busy until then: beat 10, stored 11 to 15. The
    # exe of buffer 0 may come at once: 11. 1 + 20 + 8 * 62 = 517 bytes: 17 beats, 11 to 27.
    # ld weights ends in 28, mac from 29: 20 products, two cycles of filling: 29 to 50.
    # Exe of buffer 1: beats 28 to 44, ends 45, long before that mac: its mac follows at once, 51 to
    # 72. nonsf 51, st 52 and 53 of buffer 0; nonsf 73, st 74, 75 of buffer 1.
    assert states_after(machine, 27, 29, field_reader("computing")) == [0, 0, 1]
    assert states_after(machine, 44, 45, field_reader("weight_count")) == [20, 40]
    assert states_after(machine, 49, 51, field_reader("mac_base")) == [0, 0, 8 * 256]
    assert states_after(machine, 51, 54, lambda s: s.returning) == [-1, 0, 1, -1]
    machine.run()
    assert machine.read(first, 8).tolist() == [20] * 8
    assert machine.read(second, 8).tolist() == [40] * 8
    assert machine.row.counters()["cycles"] == 72  # 4 to 75
    assert classes(machine, 1, 0) == {
        "idle": 8,
        "queue": (28 - 11) + (75 - 72),
        "filling": 4,
        "mac": 40,
    }


def test_the_same_buffer_twice_waits_for_its_end() -> None:
    """A second exe of a buffer waits until the first one has ended (seed 000 ¶86)."""
    unit = Unit()
    unit.config_packet(0, *LAYER)
    first, second = unit.out(32, "int32"), unit.out(32, "int32")
    for out in (first, second):
        unit.exe(0, unit.dense([3]), unit.weights(np.ones((8, 1), int)), out=out, last=1)
    machine = unit.machine()
    # 1 + 1 + 8 * 5 = 42 bytes: beats 10, 11. ld 13, 14; mac 15 to 17; nonsf 18; st 19 and 20.
    # Cluster 0 is free from 20 on, cluster 1 from 21: the second exe's beats are 21, 22.
    # So everything repeats 11 cycles later, to 31.
    machine.run()
    assert machine.read(first, 8).tolist() == machine.read(second, 8).tolist() == [3] * 8
    assert machine.row.counters()["cycles"] == 28  # 4 to 31
    assert machine.row.counters()["bus_waits"] == 5 + 9  # 5 to 9, and 12 to 20


def test_kept_sums_go_on_in_the_next_exe() -> None:
    """A sum that an exe does not move out is continued by the next exe (seed 000 ¶86, ¶108)."""
    unit = Unit()
    unit.config_packet(0, *LAYER)
    out = unit.out(32, "int32")
    unit.exe(0, unit.dense([3]), unit.weights(np.ones((8, 1), int)), out=out)
    unit.exe(0, unit.dense([4]), unit.weights(np.ones((8, 1), int)), out=out, last=1)
    machine = unit.machine()
    # As above, but spu and st are skipped: the first run ends with its mac in 17, the second exe's beats
    # are 18, 19; ld 21, 22; mac 23 to 25; nonsf 26; st 27, 28.
    assert states_after(machine, 16, 18, field_reader("accumulators")) == [0, 3, 3]
    machine.run()
    assert machine.read(out, 8).tolist() == [7] * 8
    assert machine.row.counters()["cycles"] == 25  # 4 to 28


def test_partial_sums_from_a_segment_and_from_the_output_queue() -> None:
    """Partial sums come from a segment or from the output queue (seed 000 ¶96, ¶124-130)."""
    unit = Unit()
    unit.config_packet(0, "ld psums base=2", "ld psums base=2", "st base=0")
    out = unit.out(32, "int32")
    sums = np.arange(16).reshape(8, 2)
    unit.exe(0, unit.psums(sums), out=out, last=1)
    machine = unit.machine()
    # Config of three: stored 5 to 7, exe 8. 1 + 64 = 65 bytes: beats 8, 9, 10. The first ld starts in
    # 11, its last beat was 10: it ends in 11. The second, of the queue, takes 12 to 15.
    assert states_after(machine, 10, 11, lambda s: s.accumulators[1, 0, :2].tolist()) == [
        [0, 0],
        [8, 9],
    ]
    assert states_after(machine, 12, 12, lambda s: s.accumulators[1, 0, :2].tolist()) == [[16, 18]]
    # The st waits only for the order of issue: 13. It stores a block to which nothing was written.
    stop = machine.device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "queue underflow"
    assert stop.fault.cycle == 13  # one after the second ld: no spu stands before it
    assert stop.fault.address == 0x1000_0000 + 0x2000 + 16 + 4


def test_partial_sums_are_moved_out_again() -> None:
    """Partial sums that were loaded into accumulators are moved out again (seed 000 ¶96)."""
    unit = Unit()
    unit.config_packet(
        0, "ld psums base=2", "ld psums base=2", "spu nonsf src=1 dst=0", "st base=0"
    )
    out = unit.out(32, "int32")
    unit.exe(0, unit.psums(np.arange(16).reshape(8, 2)), out=out, last=1)
    machine = unit.machine()
    # Config of four: exe in 9, beats 9 to 11; ld 12; the second ld 13 to 16; nonsf uses accumulator
    # 1 too, so it waits: 17; st 18, 19.
    machine.run()
    assert machine.read(out, 8).tolist() == [2 * x for x in range(1, 16, 2)]
    assert machine.row.counters()["cycles"] == 16  # 4 to 19


def test_weights_and_activations_with_one_ld() -> None:
    """One `ld both` loads weights and activations (seed 000 ¶90)."""
    unit = Unit()
    unit.config_packet(0, "ld both base=3", "mac base=3 acc=2", "st base=2")
    out = unit.out(32, "int32")
    x = np.arange(8)[:, None]
    unit.exe(
        0, unit.weights(np.ones((1, 1)), "broadcast"), unit.dense(x, "sliced"), out=out, last=1
    )
    machine = unit.machine()
    # Config of three: exe in 8: 1 + 5 + 8 = 14 bytes, one beat. ld 11, mac 12 to 14 (PE 0 has no
    # load: it is done after 12), accumulator 2 moves to block 2 in 15, st 16 and 17.
    machine.run()
    assert machine.read(out, 8).tolist() == list(range(8))
    assert machine.row.counters()["cycles"] == 14  # 4 to 17
    assert classes(machine, 0, 0) == {"idle": 5 + 1, "queue": 3 + 2, "filling": 1, "early": 2}


def test_design_5a_examines_one_weight_a_cycle() -> None:
    """Design 5a examines one weight a cycle (seed 000 ¶98-99)."""
    machine, out = layer({"pe.design": "5a"}, np.full((8, 6), 3), [1, 0, 0, 0, 2, 3])
    # As with 5b the mac starts in 17; a weight is looked at in each of 17 to 22, and each load is in
    # the MAC a cycle later: 18, 22, 23.
    sums = states_after(machine, 17, 23, field_reader("accumulators"))
    assert sums == [0, 3, 3, 3, 3, 9, 18]
    machine.run()
    assert machine.read(out, 8).tolist() == [18] * 8
    found = classes(machine, 0, 0)
    assert (found["filling"], found["mac"], found["no_load"]) == (1, 3, 3)


def test_a_divider_stretches_every_cycle() -> None:
    weights = np.tile([[1, 1, 0, 0]], (8, 1))
    machine, out = layer({"pe.divider": 3}, weights, [1, 2, 3, 4])
    # Dispatched at 0, at the earliest in device cycle 4: the row's cycle 2, device cycle 6. From
    # there all is as in the first layer, two cycles of the row earlier: cycles 2 to 19.
    assert states_after(machine, 16 * 3 - 1, 16 * 3, field_reader("accumulators")) == [1, 3]
    machine.run()
    assert machine.read(out, 8).tolist() == [3] * 8
    assert machine.row.counters()["cycles"] == 18
    assert machine.device.cycle == 20 * 3


def test_a_strided_store_needs_a_cycle_for_each_word_of_a_bank() -> None:
    unit = Unit({"pe.clusters": 1})
    unit.config_packet(0, *LAYER)
    out = unit.out(4 * 256, "int32", stride=256)  # 16 banks of 8 bytes: all four in one bank
    unit.exe(0, unit.dense([1]), unit.weights(np.array([[1], [2], [3], [4]])), out=out, last=1)
    machine = unit.machine()
    # 1 + 1 + 4 * 5 = 22 bytes: beat 10; ld 13, 14; mac 15 to 17; nonsf 18; st: one beat of
    # 16 bytes, but four words of one bank: 19 to 22.
    machine.run()
    assert machine.read(out, 193)[::64].tolist() == [1, 2, 3, 4]
    assert machine.row.counters()["cycles"] == 19  # 4 to 22


def test_markers_cost_a_beat_and_do_nothing() -> None:
    unit = Unit()
    unit.packet(0x60, ())
    unit.packet(0x40, ())
    machine = unit.machine()
    machine.run()
    assert machine.row.counters()["bus_beats"] == 2
    assert machine.row.counters()["cycles"] == 2


def test_a_segment_waits_for_the_results_that_it_reads() -> None:
    unit = Unit({"pe.clusters": 1})
    unit.config_packet(0, *LAYER)
    unit.config_packet(1, "ld activations base=8", "ld weights", "mac base=8 acc=1", "st base=1")
    hidden, out = unit.out(4, "int8"), unit.out(16, "int32")
    unit.exe(0, unit.dense([2]), unit.weights(np.array([[1], [2], [3], [4]])), out=hidden, last=1)
    unit.exe(1, unit.dense(np.zeros(4)), unit.weights(np.eye(4, dtype=int)), out=out, last=1)
    # The second layer's activations are the first one's results: point its segment there.
    at = unit.packets.rindex((4).to_bytes(4, "little"), 0, len(unit.packets) - 32) - 4
    unit.packets[at : at + 4] = hidden["offset"].to_bytes(4, "little")
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 4).tolist() == [2, 4, 6, 8]


def test_records_of_weights_are_what_the_comparator_sees() -> None:
    """The comparator takes a record's entries in their order, which may be any (seed 000 ¶91)."""
    # A record need not be in the order of its indices, and an index may come twice.
    unit = Unit({"pe.clusters": 1})
    unit.config_packet(0, *LAYER)
    out = unit.out(16, "int32")
    rows = [record([3, 0, 3], [1, 10, 100], "int8"), b"\0\0", record([1], [-1], "int8")]
    unit.exe(0, unit.dense([1, 2, 3, 4]), ("weights", "sliced", b"".join(rows)), out=out, last=1)
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 4).tolist() == [4 * 101 + 10, 0, -2, 0]


def test_a_beat_that_loses_its_banks_goes_later() -> None:
    weights = np.zeros((8, 4), int)
    weights[:, :2] = 1
    unit = Unit()
    unit.config_packet(0, *LAYER)
    out = unit.out(32, "int32")
    unit.exe(0, unit.dense([1, 2, 3, 4]), unit.weights(weights), out=out, last=1)
    # Another core writes all 16 banks of the feeding half in three beats, the first in cycle 10.
    write = ("beat", ((UNIT + HALF + 0x8000, 128),), bytes(128))
    machine = unit.machine(toy(2, [("work", 10), write, write, write, ("end",)]))
    # Who was served longest ago goes first. 10: the other core (the row was served in 4).
    # 11: the row, 12: the other, 13: the row, 14: the other, 15: the row. So the exe's three beats
    # are in 11, 13, 15 and not in 10, 11, 12. ld weights ends in 16, mac 17 to 20, nonsf 21, st 22, 23.
    assert states_after(machine, 15, 20, field_reader("computing")) == [0, 0, 1, 1, 1, 0]
    machine.run()
    assert machine.read(out, 8).tolist() == [3] * 8
    counters = machine.device.counters()["pe[0]"]
    assert counters["cycles"] == 20  # 4 to 23
    assert counters["bus_waits"] == 6 + 1 + 1  # 5 to 10, 12, 14
    assert counters["reads_blocked"] == 3  # 10, 12, 14


def test_what_listeners_hear() -> None:
    machine, _out = layer({}, np.ones((8, 2), int), [1, 2])
    heard: list[tuple[Any, ...]] = []
    packets: list[tuple[int, int, int, int]] = []

    def listen(event: Any) -> None:
        if event.kind == "packet":
            values = event.values
            packets.append((event.time, values["address"], values["order"], values["clusters"]))
        elif event.kind not in ("read", "write"):
            if event.kind == "end":  # cluster 0 is done first
                assert event.values["left"] == (event.values["cluster"] == 0)
            heard.append(
                (event.time, event.kind, event.values["cluster"], event.values.get("address"))
            )

    machine.device.listen(listen)
    machine.run()
    first = 0x1000_0000 + 0x2000 + 16  # of the sequence, without the half bit
    # 1 + 2 + 64 = 67 bytes: beats 10 to 12, as in the first layer.
    starts = [(13, 0), (14, 2), (15, 4), (19, 6), (20, 8)]
    for cluster in (0, 1):
        mine = [(time, kind, place) for time, kind, at, place in heard if at == cluster]
        wanted = [(time, "instruction", first + offset) for time, offset in starts]
        # Known in the cycle after: the command byte (10), the end of the store (20, 21).
        assert mine == [(11, "begin", None), *wanted, (21 + cluster, "end", None)]
    # The config is the first thing on the bus; the exe lies behind its header and one segment.
    exe = 0x1000_0000 + PACKET.size + SEGMENT.size
    assert packets == [(4, 0x1000_0000, 0, 0b11), (10, exe, 1, 0b11)]


def test_two_segments_of_weights_in_one_beat_count_together() -> None:
    unit = Unit({"pe.clusters": 1, "pe.weight_queue": 16})
    unit.config_packet(0, *LAYER)
    unit.config_packet(
        1, "ld activations base=8", *["ld weights"] * 2, "mac base=8 acc=0", *LAYER[3:]
    )
    outs = [unit.out(16, "int32") for _ in range(2)]
    # Ten entries are in the queue; 3 + 4 more have no room together, but 3 have, and 4 have.
    unit.exe(0, unit.dense(np.ones(10)), unit.weights(np.ones((4, 10))), out=outs[0], last=1)
    three, four = (unit.weights(np.ones((1, n)), "broadcast") for n in (3, 4))
    unit.exe(1, unit.dense(np.ones(10)), three, four, out=outs[1], last=1)
    machine = unit.machine()
    machine.run()
    assert [machine.read(out, 4).tolist() for out in outs] == [[10] * 4, [7] * 4]
    assert machine.row.counters()["weights_high"] == 13


def test_an_ld_starts_in_the_cycle_after_its_first_beat() -> None:
    """The next instruction, which needs nothing of the ld, starts one cycle later."""
    unit = Unit({"dist.bus_bytes": 1, "pe.clusters": 1, "pe.pes": 1})
    unit.config_packet(0, "ld weights", "ld activations", "spu nonsf src=0 dst=0")
    unit.exe(0, unit.weights(int_ones(1, 3)), unit.dense([1, 2, 3, 4]), last=1)
    # Config: 1 + 16 + 6 bytes, 4 to 26, last instruction in 27; exe 28, ID 29, FO 30. Weights: 11
    # beats, 29 to 39; activations: 4 beats, 40 to 43. The ld ends in 44.
    machine = unit.machine()
    assert instruction_starts(machine) == [(31, "ld"), (41, "ld"), (42, "spu")]
    assert machine.row.counters()["cycles"] == 45 - 4
