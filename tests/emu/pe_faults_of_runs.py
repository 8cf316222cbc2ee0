"""Faults of the PE rows while a sequence runs: segments, queues, arithmetic, loops."""

from __future__ import annotations

import numpy as np

from tests.emu.pe_builder import Unit, record
from tests.emu.pe_faults import BASE, EIGHT, LAYER, SECOND, WORDS, case, layer

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
