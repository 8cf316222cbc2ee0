"""Maximum and average pools on vc: values, cycles, padding and refused operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.average import global_average_kernel
from macaw.lowering.net.vector.kernel import Instruction
from macaw.lowering.net.vector.operations import AveragePool, GlobalAveragePool, MaxPool, Pool
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(8, sessions.max_examples // 2))


@st.composite
def pools(draw: Any) -> Pool | GlobalAveragePool:
    """Draw pools of all kinds, with windows inside, at edges, and larger than the image."""
    dtype = draw(st.sampled_from(["int8", "int16"]))
    channels = draw(st.sampled_from([1, 3, 8, 16, 24, 40]))
    image = (draw(st.integers(1, 12)), draw(st.integers(1, 14)), channels)
    kind = draw(st.sampled_from([MaxPool, AveragePool, AveragePool, GlobalAveragePool]))
    scale = draw(st.floats(-4, 4, width=32))
    if kind is GlobalAveragePool:
        return GlobalAveragePool(dtype, (image[0] * 3, *image[1:]), scale)
    kernel = draw(st.tuples(st.integers(1, 10), st.integers(1, 5)))
    strides = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    pads = tuple(draw(st.integers(0, side - 1)) for side in (*kernel, *kernel))
    assume(all(image[a] + pads[a] + pads[a + 2] >= kernel[a] for a in (0, 1)))
    pool = MaxPool(dtype, image, kernel, strides, pads)
    if draw(st.booleans()):  # one more column, as with ceil_mode
        pool = MaxPool(dtype, image, kernel, strides, pads, (pool.result[0], pool.result[1] + 1))
    assume(all(pool.window(axis, i) for axis in (0, 1) for i in range(pool.result[axis])))
    if kind is MaxPool:
        return pool
    return AveragePool(dtype, image, kernel, strides, pads, pool.sizes, scale, draw(st.booleans()))


@few
@given(pools(), st.integers(0, 999), st.sampled_from(["fast", "reference"]))
def test_results_and_cycles(pool, seed, engine):
    inputs = random_inputs(pool, seed)
    found, measured = run(pool, *inputs, engine=engine)
    np.testing.assert_array_equal(found, compute(pool, *inputs))
    assert abs(cycles(pool, load("tiny")) - measured) <= 0.15 * measured


def test_padding_counts_or_does_not():
    """By hand: the mean of an element 6 and three padding zeros is 2 or 6.

    If padding counts, 6 / 4 = 1.5 is rounded to 2; else the mean is 6 / 1.
    """
    image = np.full((1, 1, 1), 6, np.int8)
    corner: Any = {"kernel": (2, 2), "pads": (1, 1, 0, 0)}
    found, _ = run(AveragePool("int8", (1, 1, 1), **corner), image)
    assert found.tolist() == [[[6]]]
    found, _ = run(AveragePool("int8", (1, 1, 1), **corner, counts_pads=True), image)
    assert found.tolist() == [[[2]]]  # 1.5, a tie
    found, _ = run(MaxPool("int8", (1, 1, 1), **corner), -image)
    assert found.tolist() == [[[-6]]]


def test_means_round_ties_to_even_and_saturate():
    image = np.array([[[1, 3, 127, -128]], [[2, 2, 127, -128]]], np.int8)
    found, _ = run(GlobalAveragePool("int8", (2, 1, 4)), image)
    assert found.tolist() == [[[2, 2, 127, -128]]]  # 1.5 and 2.5
    found, _ = run(GlobalAveragePool("int8", (2, 1, 4), 2.0), image)
    assert found.tolist() == [[[3, 5, 127, -128]]]


def test_sums_of_more_than_256_elements_have_32_bits():
    image = np.full((33, 32, 16), -128, np.int8)
    found, _ = run(GlobalAveragePool("int8", (33, 32, 16)), image)
    assert (found == -128).all()


@pytest.mark.parametrize("counts_pads", [False, True])
def test_onnx_computes_the_same(counts_pads):
    """Pools equal onnxruntime's.

    Windows have 2 by 4 elements, so no scale is rounded. Padding is used only where it counts.
    """
    pads = (1, 2, 0, 1) if counts_pads else (0, 0, 0, 0)
    average = AveragePool("int8", (6, 9, 8), (2, 4), (1, 2), pads, counts_pads=counts_pads)
    largest = MaxPool("int8", (6, 9, 8), (2, 4), (1, 2), (1, 2, 0, 1))
    for pool in (average, largest):
        (x,) = random_inputs(pool, 5)
        attributes: Any = {"count_include_pad": 1} if pool is average and counts_pads else {}
        node = onnx.helper.make_node(
            type(pool).__name__, ["x"], ["y"], kernel_shape=pool.kernel, strides=pool.strides,
            pads=pool.pads, **attributes,
        )  # fmt: skip
        batch = x.transpose(2, 0, 1)[None].astype(np.float32)
        (y,) = ReferenceEvaluator(node).run(None, {"x": batch})
        expected = np.clip(np.rint(np.asarray(y)[0].transpose(1, 2, 0)), -128, 127)
        np.testing.assert_array_equal(run(pool, x)[0], expected)


def test_cycles_an_element():
    """Pools take the cycles per input element that docs/lowering.md states."""
    config = load("base")
    largest = MaxPool("int8", (112, 112, 64), (3, 3), (2, 2), (1, 1, 1, 1))
    assert cycles(largest, config) / (112 * 112 * 64) <= 0.33
    assert cycles(GlobalAveragePool("int8", (7, 7, 2048)), config) / (7 * 7 * 2048) <= 0.49


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (MaxPool("int8", (4, 4), (2, 2)), "an image has the shape (4, 4)"),
        (GlobalAveragePool("int8", (4,)), "an image has the shape (4,)"),
        (MaxPool("int8", (4, 4, 1), (0, 2)), "a kernel of (0, 2), strides (1, 1)"),
        (MaxPool("int8", (4, 4, 1), (2, 2), (1, 1), (-1, 0, 0, 0)), "a kernel of (2, 2)"),
        (MaxPool("int8", (4, 4, 1), (2, 2), pads=(2, 0, 0, 0)), "window 0 of axis 0 is outside"),
        (MaxPool("int8", (4, 4, 1), (5, 2)), "a tensor has the shape (0, 3, 1)"),
        (AveragePool("int8", (40, 40, 1), (17, 17)), "a window of 17 by 17"),
        (AveragePool("int8", (4, 4, 1), (2, 2), scale=float("nan")), "a scale is nan"),
        (GlobalAveragePool("int16", (257, 256, 1)), "sums of 65,792 elements of int16"),
    ],
)
def test_refusals(pool, message):
    with pytest.raises(LowerError) as error:
        pool.check()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("shape", [(17, 16, 24), (29, 9, 3), (16, 32, 16)])
def test_a_mean_of_more_positions_than_are_added_in_16_bits(shape):
    """A mean of more than 256 positions is added in groups of 256.

    272 and 261 positions are one group and 16 or 5 positions; 512 positions are two groups.
    """
    pool = GlobalAveragePool("int8", shape)
    inputs = random_inputs(pool, 1)
    found, _ = run(pool, *inputs)
    np.testing.assert_array_equal(found, compute(pool, *inputs))


def test_sums_of_int16_are_two_registers() -> None:
    """16 bytes of int16 give 32 bytes of sums; the code stores nothing after them."""
    kernel = global_average_kernel(GlobalAveragePool("int16", (8, 8, 2)))
    texts = [item.text for item in kernel.items if isinstance(item, Instruction)]
    assert [text for text in texts if text.startswith("vst ")] == [
        "vst vr4, 0(s3)",
        "vst vr5, 16(s3)",
    ]
