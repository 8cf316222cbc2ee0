"""Every fault of the PE rows: its kind, where it happened, and what its message says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from emu.faults import Fault
from isa.common import FAULTS as COMMON
from isa.pe import FAULTS
from tests.emu.pe_builder import Steps, Unit, record, sequence

LAYER = (
    "ld activations base=0",
    "ld weights",
    "mac base=0 acc=0",
    "spu nonsf src=0 dst=0",
    "st base=0",
)
BASE = 0x1000_0000
SEQ = BASE + 0x2000  # where the first sequence lies
WORDS = SEQ + 16  # its instructions
EIGHT = np.ones((8, 1), int)


def fault_of(unit: Unit) -> Fault:
    """The fault that ends the run."""
    stop = unit.machine().device.run()
    assert stop.fault is not None, stop
    assert stop.reason == "fault"
    assert stop.fault.core == "pe[0]"
    assert str(stop.fault) == stop.message
    return stop.fault


def layer(
    config: dict[str, object] | None = None, *lines: str, steps: Steps = (), **header: int
) -> Unit:
    """A unit with LAYER, or other lines, in buffer 0."""
    unit = Unit(dict(config or {}))
    unit.config_packet(0, *(lines or LAYER), steps=steps, **header)
    return unit


# Each case: what the unit holds, the fault's kind, its address, a part of its message.
Case = tuple[Callable[[], Unit], str, int, str]
CASES: dict[str, Case] = {}


def case(kind: str, address: int, text: str) -> Callable[[Callable[[], Unit]], Callable[[], Unit]]:
    def keep(make: Callable[[], Unit]) -> Callable[[], Unit]:
        CASES[make.__name__] = (make, kind, address, text)
        return make

    return keep


# Packets

SECOND = BASE + 20  # the packet after a config: 8 + 12 bytes


@case(
    "uninitialised instruction buffer", SECOND, "exe ib=5: cluster 0 has no sequence in this buffer"
)
def buffer_that_nothing_filled() -> Unit:
    unit = layer()
    unit.exe(5)
    return unit


@case("uninitialised instruction buffer", SECOND, "exe ib=0: cluster 1 has no sequence")
def buffer_that_one_cluster_lacks() -> Unit:
    unit = Unit()
    unit.config_packet(0, *LAYER, clusters=1)
    unit.exe(0, unit.dense([1]), unit.weights(EIGHT))
    return unit


@case("reserved bit set", BASE, "bits 0x20 of config must be zero")
def config_with_its_third_bit_set() -> Unit:
    unit = Unit()
    unit.packet(0x25, [("sequence", "broadcast", sequence("ld weights"))])
    return unit


@case("malformed packet", BASE, "the cluster mask is 0x4, the row has 2 clusters")
def cluster_that_the_row_lacks() -> Unit:
    unit = Unit()
    unit.packet(0x60, (), clusters=4)
    return unit


@case("malformed packet", BASE, "the cluster mask is 0x0")
def no_cluster() -> Unit:
    unit = Unit()
    unit.packet(0x60, (), clusters=0)
    return unit


@case("malformed packet", BASE, "a config has one segment, a sequence; the segments are: none")
def config_without_a_sequence() -> Unit:
    unit = Unit()
    unit.packet(0x00, ())
    return unit


@case("malformed packet", SECOND, "an exe has no sequence; the segments are: sequence")
def exe_with_a_sequence() -> Unit:
    unit = layer()
    unit.packet(0x80, [("sequence", "broadcast", sequence("ld weights"))], None, {})
    return unit


@case("malformed packet", BASE, "trace_begin has no segments; the segments are: psums")
def marker_with_a_segment() -> Unit:
    unit = Unit()
    unit.packet(0x60, [("psums", "broadcast", b"1234")])
    return unit


@case("malformed packet", SECOND, "segment 0 has no bytes")
def segment_without_bytes() -> Unit:
    unit = layer()
    unit.exe(0, ("activations", "broadcast", b""))
    return unit


@case("malformed packet", BASE, "segment: type")
def segment_of_no_type() -> Unit:
    unit = Unit()
    unit.config_packet(0, *LAYER)
    unit.packets[8] = 9
    return unit


@case("malformed packet", BASE, "packet: reserved must be zero")
def packet_with_a_reserved_member() -> Unit:
    unit = Unit()
    unit.config_packet(0, *LAYER)
    unit.packets[2] = 1
    return unit


@case(
    "out-of-range access",
    BASE,
    "segment 0 is at offsets 0x2000 to 0x8200f, half a unit has 0x80000",
)
def segment_past_the_half() -> Unit:
    unit = Unit()
    unit.config_packet(0, *LAYER)
    unit.packets[16:20] = (0x80010).to_bytes(4, "little")
    return unit


@case("misaligned access", BASE, "a sequence at offset 0x2001, which is no multiple of 2")
def sequence_at_an_odd_offset() -> Unit:
    unit = Unit()
    unit.data.append(0)
    unit.config_packet(0, *LAYER)
    unit.packets[12:16] = (0x2001).to_bytes(4, "little")
    return unit


@case("out-of-range access", SECOND, "results of cluster 0 go to offsets 0x7fffe to 0x8000d")
def results_past_the_half() -> Unit:
    unit = layer()
    out = unit.out(4, "int32") | {"offset": 0x7FFFE}
    unit.exe(0, unit.dense([1]), unit.weights(EIGHT), out=out, last=1)
    return unit


@case("malformed packet", SECOND, "segment 0: compress makes weights, it holds activations")
def compressed_activations() -> Unit:
    unit = layer()
    unit.exe(0, unit.dense([1]))
    unit.packets[20 + 8 + 2] = 1
    return unit


@case("segment mismatch", WORDS, "a sliding window takes dense data, not compressed")
def compressed_window() -> Unit:
    unit = layer(None, "ld weights", state=2, window=1)
    unit.exe(0, unit.compressed(EIGHT))
    return unit


@case("slice mismatch", WORDS, "7 bytes are no whole number of int8 elements for each of 8 slices")
def compressed_segment_that_does_not_divide() -> Unit:
    unit = layer(None, "ld weights")
    unit.exe(0, ("weights", "sliced compress", bytes(7)))
    return unit


@case("index out of range", WORDS, "65537 elements a slice, an index has 16 bits")
def compressed_slice_that_is_too_long() -> Unit:
    unit = layer(None, "ld weights")
    unit.exe(0, ("weights", "broadcast compress", bytes(65537)))
    return unit


@case("queue overflow", WORDS, "17 weights, the queue holds 16")
def compressed_segment_past_the_queue() -> Unit:
    unit = layer({"pe.weight_queue": 16}, "ld weights")
    unit.exe(0, ("weights", "broadcast compress", b"\1" * 17))
    return unit


# Sequences


def bad_sequence(
    name: str, kind: str, address: int, text: str, data: bytes, **config: object
) -> None:
    def make() -> Unit:
        unit = Unit({key.replace("__", "."): value for key, value in config.items()})
        unit.config_bytes(0, data)
        return unit

    CASES[name] = (make, kind, address, text)


bad_sequence(
    "instruction_of_13_bits", "illegal instruction", WORDS, "0x1000", sequence(words=[0x1000])
)
bad_sequence(
    "mac_with_a_reserved_bit",
    "reserved bit set",
    WORDS + 2,
    "bits 0x1 of mac",
    sequence(words=[0x400, 0x001]),
)
bad_sequence(
    "accumulator_5",
    "illegal instruction",
    WORDS,
    "spu nonsf, src=5: accumulators are 0 to 3",
    sequence("spu nonsf src=5 dst=0"),
)
bad_sequence(
    "sequence_that_is_cut_off",
    "malformed packet",
    SEQ,
    "a sequence of 2 instructions and 0 steps has 20 bytes, the segment 18",
    sequence("ld weights", "mac base=0 acc=0")[:-2],
)
bad_sequence(
    "header_that_is_cut_off",
    "malformed packet",
    SEQ,
    "sequence at offset 0x0 is cut off",
    sequence("ld weights")[:10],
)
bad_sequence(
    "sequence_of_no_instructions",
    "malformed packet",
    SEQ,
    "sequence: count: 0 is out of range",
    bytes(16),
)
bad_sequence(
    "window_of_nothing",
    "malformed packet",
    SEQ,
    "a sliding window of no entries",
    sequence("ld weights", state=2),
)
bad_sequence(
    "trigger_of_no_buffer",
    "malformed packet",
    SEQ,
    "then is 160, neither 0 nor 128 to 159",
    sequence("ld weights", then=160),
)
bad_sequence(
    "steps_of_two_stages",
    "malformed packet",
    SEQ,
    "1 steps need the stages SU and WB, pipeline=4",
    sequence("mac base=0 acc=0", steps=[(0, 0, 1, 0)]),
)
bad_sequence(
    "step_of_no_operand",
    "malformed packet",
    SEQ + 16 + 8,
    "step 1, of operand 1 of instruction 0: there is no such operand",
    sequence("st base=0", steps=[(0, 0, 1, 0), (0, 1, 1, 0)], pipeline=4),
)
bad_sequence(
    "step_of_no_instruction",
    "malformed packet",
    SEQ + 16,
    "step 0, of operand 0 of instruction 1: there is no such operand",
    sequence("st base=0", steps=[(1, 0, 1, 0)], pipeline=4),
)
bad_sequence(
    "two_steps_of_an_operand",
    "malformed packet",
    SEQ + 16 + 8,
    "step 1, of operand 0 of instruction 0: it has a step already",
    sequence("st base=0", steps=[(0, 0, 1, 0)] * 2, pipeline=4),
)
bad_sequence(
    "reduction_of_no_kind",
    "illegal instruction",
    WORDS,
    "spu reduce in a sequence with reduction=none",
    sequence("spu reduce src=0 dst=0"),
)
bad_sequence(
    "reduction_past_the_scalar_accumulators",
    "illegal instruction",
    WORDS,
    "spu reduce, dst=8: the scalar unit has accumulators 0 to 7",
    sequence("spu reduce src=0 dst=8", reduction=3),
)
bad_sequence(
    "balance_in_design_5a",
    "not available",
    WORDS,
    "a cluster of design 5a has no load queues to balance",
    sequence("mac base=0 acc=0 balance"),
    pe__design="5a",
)


# Segments and lds


@case("segment mismatch", WORDS, "ld takes activations, next in the exe is weights (segment 0)")
def segments_in_another_order() -> Unit:
    unit = layer()
    unit.exe(0, unit.weights(EIGHT), unit.dense([1]))
    return unit


@case("segment mismatch", WORDS + 2, "ld takes weights, next in the exe is no segment left")
def too_few_segments() -> Unit:
    unit = layer()
    unit.exe(0, unit.dense([1]))
    return unit


@case("segment mismatch", WORDS + 8, "no ld takes segment 2 (psums) of the exe")
def too_many_segments() -> Unit:
    unit = layer()
    unit.exe(0, unit.dense([1]), unit.weights(EIGHT), unit.psums(EIGHT))
    return unit


@case(
    "slice mismatch",
    WORDS,
    "segment 0: 12 bytes are no whole number of int8 elements for each of 8 slices",
)
def uneven_slices() -> Unit:
    unit = layer()
    unit.exe(0, unit.dense(np.ones(12), "sliced"), unit.weights(EIGHT))
    return unit


@case("slice mismatch", SECOND, "segment 1 has more than 8 weights records, a slice each")
def too_many_records() -> Unit:
    unit = layer()
    unit.exe(0, unit.dense([1]), unit.weights(np.ones((9, 1))))
    return unit


@case("malformed packet", SECOND, "segment 1: weights record 1 at byte 5 is cut off")
def record_that_is_cut_off() -> Unit:
    unit = layer()
    data = record([0], [1], "int8") + record([0, 1], [1, 2], "int8")[:-1]
    unit.exe(0, unit.dense([1]), ("weights", "sliced", data))
    return unit


@case("queue overflow", WORDS, "300 activations from element 0 on, the input buffer holds 256")
def activations_that_the_buffer_cannot_hold() -> Unit:
    unit = layer({"pe.input_buffer": 256})
    unit.exe(0, unit.dense(np.ones(300)), unit.weights(EIGHT))
    return unit


@case("queue overflow", WORDS + 2, "cluster 1, PE 1: 20 weights, the queue holds 16")
def weights_that_the_queue_cannot_hold() -> Unit:
    unit = layer({"pe.weight_queue": 16})
    rows = np.zeros((8, 20), int)
    rows[5] = 1
    unit.exe(0, unit.dense(np.ones(20)), unit.weights(rows))
    return unit


@case("queue overflow", WORDS, "5 partial sums a PE, a block takes 4")
def five_partial_sums() -> Unit:
    unit = layer(None, "ld psums base=0")
    unit.exe(0, unit.psums(np.ones((8, 5))))
    return unit


@case("queue overflow", WORDS + 8, "20 results from place 240 on, the output queue holds 256")
def results_past_the_output_queue() -> Unit:
    unit = layer(None, *LAYER[:4], "st base=15")
    unit.exe(0, unit.dense([1]), unit.weights(EIGHT), out=unit.out(640, "int32", count=20), last=1)
    return unit


@case("queue underflow", WORDS, "mac without weights: no ld of its sequence has loaded any")
def mac_without_weights() -> Unit:
    unit = layer(None, "mac base=0 acc=0")
    unit.exe(0)
    return unit


@case(
    "queue underflow",
    WORDS,
    "ld psums: nothing was written to block 3 of the output queue of cluster 0",
)
def partial_sums_that_nobody_wrote() -> Unit:
    unit = layer(None, "ld psums base=3")
    unit.exe(0)
    return unit


@case(
    "queue underflow",
    WORDS,
    "spu: nothing was written to place 32 (block 2) of cluster 0's output queue",
)
def special_function_of_nothing() -> Unit:
    unit = layer(None, "spu activation src=2 dst=0", activation=1)
    unit.exe(0, last=1)
    return unit


@case("queue underflow", WORDS, "spu: nothing was written to place 32")
def special_function_that_is_passed_by() -> Unit:
    unit = layer(None, "spu activation src=2 dst=0", activation=1)
    unit.exe(0, shift=1)
    return unit


@case("queue underflow", WORDS + 8, "st: nothing was written to place 1 (block 0)")
def store_of_more_than_there_is() -> Unit:
    unit = layer()
    unit.exe(0, unit.dense([1]), unit.weights(EIGHT), out=unit.out(64, "int32", count=2), last=1)
    return unit


@case(
    "index out of range",
    WORDS + 4,
    "cluster 0, PE 3: weight index 2 + base 0 = 2, activations end before 2",
)
def index_past_the_activations() -> Unit:
    unit = layer()
    rows = np.zeros((8, 3), int)
    rows[3, 2] = 1
    unit.exe(0, unit.dense([1, 2]), unit.weights(rows))
    return unit


@case("index out of range", WORDS + 4, "weight index 0 + base 512 = 512, nothing is loaded there")
def activations_that_nobody_loaded() -> Unit:
    unit = layer(None, "ld activations base=0", "ld weights", "mac base=2 acc=0")
    unit.exe(0, unit.dense([1, 2]), unit.weights(EIGHT))
    return unit


@case("index out of range", WORDS + 4, "weight index 1 + base 0 = 1, activations end before 1")
def activations_of_a_longer_load_before() -> Unit:
    # The load fills whole blocks: what an earlier one left behind its end is gone.
    unit = layer()
    unit.exe(0, unit.dense([1, 2]), unit.weights(EIGHT))
    unit.exe(0, unit.dense([1]), unit.weights(np.ones((8, 2))))
    return unit


# Arithmetic


@case(
    "accumulator overflow",
    WORDS + 4,
    "cluster 1, PE 2: accumulator 0 holds 2147483640, to be added: 4 * 2",
)
def accumulator_past_its_range() -> Unit:
    unit = layer(None, "ld psums base=1", "ld weights", "mac base=0 acc=0")
    unit.config_packet(1, "ld activations base=0")
    sums = np.zeros((8, 1), int)
    sums[6] = 2**31 - 8
    unit.exe(1, unit.dense([2]))
    unit.exe(0, unit.psums(sums), unit.weights(np.full((8, 1), 4)))
    return unit


@case(
    "accumulator overflow",
    WORDS + 2,
    "cluster 0, PE 0: accumulator 0 holds 2000000000, and the partial sum 2000000000",
)
def partial_sums_past_the_range() -> Unit:
    unit = layer(None, "ld psums base=1", "ld psums base=1")
    unit.exe(0, unit.psums([2_000_000_000], "broadcast"))
    return unit


@case("accumulator overflow", WORDS + 4, "accumulator 0 holds 0.0, to be added: 3e+38 * 2.0")
def floating_product_past_the_range() -> Unit:
    unit = layer({"pe.element": "fp32"})
    unit.exe(0, unit.dense([2]), unit.weights(np.full((8, 1), np.float32(3e38))))
    return unit


@case("store overflow", WORDS + 8, "cluster 0, PE 1: the result 200 does not fit int8")
def result_that_does_not_fit() -> Unit:
    unit = layer()
    rows = np.array([[1], [2], [0], [0], [0], [0], [0], [0]])
    unit.exe(0, unit.dense([100]), unit.weights(rows), out=unit.out(8, "int8"), last=1)
    return unit


# Loops and triggers


@case("index out of range", WORDS + 8 + 2, "mac: its operand has become 4, not 0 to 3")
def step_that_leaves_the_accumulators() -> Unit:
    lines = ("ld both base=0", "mac base=0 acc=2")
    unit = layer(None, *lines, pipeline=4, inner=3, state=1, steps=[(1, 1, 1, 0)])
    unit.exe(0, unit.weights(EIGHT), unit.dense([1]))
    return unit


@case("queue underflow", WORDS + 2, "the loopback pops 2 entries of the sliding window, 1 are left")
def window_that_runs_out_at_a_loopback() -> Unit:
    lines = ("ld both base=0", "mac base=0 acc=0")
    unit = layer(None, *lines, state=2, window=1, pop=2, inner=2)
    unit.exe(0, ("weights", "broadcast", b"\1"), unit.dense([1]))
    return unit


@case("queue underflow", WORDS + 2, "a window of 3 entries, the weight queue holds 2")
def window_that_is_not_full() -> Unit:
    unit = layer(None, "ld both base=0", "mac base=0 acc=0", state=2, window=3)
    unit.exe(0, ("weights", "broadcast", b"\1\2"), unit.dense([1, 2, 3]))
    return unit


@case("queue underflow", WORDS + 2, "mac without weights")
def weights_that_left_at_the_loopback() -> Unit:
    unit = layer(None, "ld both base=0", "mac base=0 acc=0", inner=2)
    unit.exe(0, unit.weights(EIGHT), unit.dense([1]))
    return unit


@case("malformed packet", BASE + 40, "the buffers 0, 1 trigger each other without end")
def triggers_without_end() -> Unit:
    unit = layer(None, "mac base=0 acc=0", then=129)
    unit.config_packet(1, "mac base=0 acc=0", then=128)
    unit.exe(0)
    return unit


@case("uninitialised instruction buffer", SECOND, "exe ib=0, then ib=1: cluster 0 has no sequence")
def trigger_of_an_empty_buffer() -> Unit:
    unit = layer(None, "mac base=0 acc=0", then=129)
    unit.exe(0)
    return unit


@case("segment mismatch", WORDS, "no ld takes segment 2 (activations) of the exe")
def segment_that_no_iteration_takes() -> Unit:
    unit = layer(None, "ld weights", inner=2, state=1)
    unit.exe(0, unit.weights(EIGHT), unit.weights(EIGHT), unit.dense([1]))
    return unit


@case("queue underflow", WORDS + 8, "the 3 elements of its block before it are not all loaded")
def activations_behind_a_gap() -> Unit:
    unit = layer(None, "ld activations base=0", pipeline=4, inner=2, steps=[(0, 0, 3, 0)])
    unit.exe(0, unit.dense([1, 2]), unit.dense([3]))
    return unit


@case("store overflow", WORDS + 8, "the result 70000.0 does not fit fp16")
def floating_result_that_does_not_fit() -> Unit:
    unit = layer({"pe.element": "fp32"})
    unit.exe(0, unit.dense([7e4]), unit.weights(EIGHT), out=unit.out(16, "fp16"), last=1)
    return unit


@case("not available", WORDS + 8, "results of int8 cannot be stored as fp32")
def integer_results_as_floating_elements() -> Unit:
    unit = layer()
    unit.exe(0, unit.dense([1]), unit.weights(EIGHT), out=unit.out(32, "fp32"), last=1)
    return unit


@pytest.mark.parametrize("name", CASES)
def test_fault(name: str) -> None:
    make, kind, address, text = CASES[name]
    fault = fault_of(make())
    assert fault.kind == kind
    assert text in fault.message
    assert fault.address == address, hex(fault.address or 0)
    assert fault.cycle is not None
    assert fault.cycle >= 4


def test_a_case_for_every_kind() -> None:
    kinds = {kind for _, kind, _, _ in CASES.values()}
    declared = {row.name for row in (*FAULTS, *COMMON)}
    assert {row.name for row in FAULTS} <= kinds <= declared


def test_a_list_that_leaves_the_half() -> None:
    machine = Unit().machine()
    machine.device.memory.poke(machine.half, bytes(0x80000))
    machine.device.reset()
    machine.device.memory.poke(machine.half + 0x7FFFC, b"\x00\x00\x00\x00")
    machine.device.dispatch(1, 0x7FFFC, 0)
    fault = machine.device.run().fault
    assert fault is not None
    assert fault.kind == "out-of-range access"
    machine.device.reset()
    machine.device.dispatch(1, 2, 0)
    fault = machine.device.run().fault
    assert fault is not None
    assert fault.kind == "misaligned access"
    assert fault.address == BASE + 2
