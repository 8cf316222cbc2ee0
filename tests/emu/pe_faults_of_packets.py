"""Faults of the PE rows because of wrong packets or sequences."""

from __future__ import annotations

import numpy as np

from tests.emu.pe_builder import Unit, element_types, sequence
from tests.emu.pe_faults import BASE, CASES, EIGHT, LAYER, SECOND, SEQ, WORDS, case, layer

# Packets


@case(
    "type mismatch",
    SEQ + 0x1C,
    "the activations are int8, the sequence in buffer 0 multiplies int16",
)
def activations_of_another_type() -> Unit:
    unit = Unit({"pe.widest": "int16"})
    unit.config_packet(0, *LAYER[:-1], types=element_types("int8", "int16"))
    activations = unit.dense(np.ones(20), "broadcast int8", element="int8")
    unit.exe(0, activations, unit.weights(np.ones((8, 20))))
    return unit


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


@case(
    "malformed packet",
    BASE,
    "a config has a sequence, then scales and a table at most once; the segments are: none",
)
def config_without_a_sequence() -> Unit:
    unit = Unit()
    unit.packet(0x00, ())
    return unit


@case(
    "malformed packet",
    SECOND,
    "an exe has weights, activations and psums; the segments are: sequence",
)
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


@case("malformed packet", SECOND, "segment 0: compress is for weights, it holds activations")
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
    "a sequence of 2 instructions and 0 records has 20 bytes, the segment 18",
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
    SEQ + 16,
    "step 0, of operand 0 of instruction 0: a step needs the stages SU and WB, pipeline=4",
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
    "stride_of_an_accumulator",
    "malformed packet",
    SEQ + 16 + 8,
    "stride 1, of operand 1 of instruction 0: it is the same in all PEs",
    sequence("mac base=0 acc=0", strides=[(0, 0, 1, 0), (0, 1, 1, 0)]),
)
bad_sequence(
    "stride_of_no_instruction",
    "malformed packet",
    SEQ + 16,
    "stride 0, of operand 0 of instruction 1: it is the same in all PEs",
    sequence("st base=0", strides=[(1, 0, 1, 0)]),
)
bad_sequence(
    "two_strides_of_an_operand",
    "malformed packet",
    SEQ + 16 + 8,
    "stride 1, of operand 0 of instruction 0: it has a stride already",
    sequence("st base=0", strides=[(0, 0, 1, 0)] * 2),
)
bad_sequence(
    "stride_with_a_reserved_byte",
    "malformed packet",
    SEQ + 16,
    "stride: reserved must be zero, not 0x1",
    sequence("st base=0", strides=[(0, 0, 1, 0)])[:22]
    + b"\1"
    + sequence("st base=0", strides=[(0, 0, 1, 0)])[23:],
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
