"""Operations that move elements, and tables: values, cycles, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.boxes import Box, copies
from macaw.lowering.net.vector.operations import (
    Concat,
    Pad,
    Resize,
    Slice,
    Table,
    Transpose,
    VectorOperation,
)
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(8, sessions.max_examples // 2))


@st.composite
def operations(draw: Any) -> VectorOperation:
    """Operations of all kinds on tensors of one to four axes."""
    dtype = draw(st.sampled_from(["int8", "int16"]))
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    kind = draw(st.sampled_from([Transpose, Slice, Pad, Resize, Concat]))
    if kind is Transpose:
        return Transpose(dtype, shape, tuple(draw(st.permutations(range(len(shape))))))
    if kind is Slice:
        starts, sizes, steps = [], [], []
        for length in shape:
            start, step = draw(st.integers(0, length - 1)), draw(st.sampled_from([1, 1, 2, 3, -1]))
            room = (length - 1 - start) // step if step > 0 else start
            starts.append(start)
            sizes.append(draw(st.integers(1, room + 1)))
            steps.append(step)
        return Slice(dtype, shape, tuple(starts), tuple(sizes), tuple(steps))
    if kind is Pad:
        frame = st.tuples(*[st.one_of(st.just(0), st.integers(0, 3), st.just(300))] * len(shape))
        before = tuple(min(n, 300 if axis == 0 else 4) for axis, n in enumerate(draw(frame)))
        return Pad(dtype, shape, before, tuple(min(n, 3) for n in draw(frame)), -9)
    if kind is Resize:
        image = (*draw(st.tuples(st.integers(1, 9), st.integers(1, 9))), draw(st.integers(1, 40)))
        return Resize(dtype, image, draw(st.tuples(st.integers(1, 20), st.integers(1, 20))))
    axis = draw(st.integers(0, len(shape) - 1))
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    shapes = tuple((*shape[:axis], length, *shape[axis + 1 :]) for length in lengths)
    scales = tuple(draw(st.sampled_from([1.0, 1.0, 0.5, 0.37])) for _ in lengths)
    return Concat(dtype, shapes, axis, scales)


@few
@given(operations(), st.integers(0, 999), st.sampled_from(["fast", "reference"]))
def test_results_and_cycles(operation, seed, engine):
    inputs = random_inputs(operation, seed)
    found, measured = run(operation, *inputs, engine=engine)
    np.testing.assert_array_equal(found, compute(operation, *inputs))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_table_has_a_result_for_each_element(engine):
    x = np.arange(-128, 128, dtype=np.int16).astype(np.int8)
    entries = tuple(int(n) for n in np.random.default_rng(1).integers(-128, 128, 256))
    operation = Table("int8", (16, 16), entries)
    found, measured = run(operation, x.reshape(16, 16), engine=engine)
    assert found.ravel().tolist() == list(entries)
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured
    assert cycles(Table("int8", (56, 56, 64), entries), load("base")) / (56 * 56 * 64) <= 4.4


@pytest.mark.parametrize("scales", [(2, 3), (1, 2), (3, 1), (1, 1)])
def test_onnx_resizes_the_same(scales):
    operation = Resize("int8", (3, 4, 5), (3 * scales[0], 4 * scales[1]))
    (x,) = random_inputs(operation, 3)
    node = onnx.helper.make_node(
        "Resize", ["x", "", "scales"], ["y"], mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )  # fmt: skip
    factors = np.array([1, 1, *scales], np.float32)
    batch = x.transpose(2, 0, 1)[None].astype(np.float32)
    (y,) = ReferenceEvaluator(node).run(None, {"x": batch, "scales": factors})
    found, _ = run(operation, x)
    np.testing.assert_array_equal(found, np.asarray(y)[0].transpose(1, 2, 0))


def test_contiguous_axes_become_one_row():
    """By hand: a slice of the last axis of (2, 3, 8): six rows of 4 bytes."""
    box = Box(("y", 0), ("vc_x0", 2), ((2, 12, 24), (3, 4, 8), (4, 1, 1)), 1)
    found = copies(box)
    assert (found.row_bytes, found.rows, found.loops) == (4, (6, 4, 8), ())
    whole = copies(Box(("y", 0), ("vc_x0", 0), ((2, 24, 24), (3, 8, 8), (8, 1, 1)), 1))
    assert (whole.row_bytes, whole.rows, whole.loops) == (48, (1, 0, 0), ())


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Transpose("int8", (2, 3), (0, 0)), "axes in the order (0, 0)"),
        (Slice("int8", (4,), (0,), (3,), (2,)), "a slice from 0 to 4 of an axis of 4"),
        (Slice("int8", (4,), (0, 0), (3,), (2,)), "a slice does not have a start"),
        (Pad("int8", (4,), (-1,), (0,)), "pads of (-1,) and (0,)"),
        (Pad("int8", (4,), (1,), (0, 0)), "a pad does not have two numbers for each axis"),
        (Pad("int8", (4,), (1,), (0,), 128), "a pad of 128, which is no int8"),
        (Resize("int8", (4, 4), (2, 2)), "an image has the shape (4, 4)"),
        (Concat("int8", ((2, 3), (2, 4)), 0, (1.0, 1.0)), "shapes (2, 3) and (2, 4) differ"),
        (Concat("int8", ((2, 3),), 2, (1.0,)), "axis 2 of a tensor of 2 axes"),
        (Concat("int8", ((2, 3),), 0, ()), "a concatenation does not have a scale for each"),
        (Table("int16", (4,), (0,) * 256), "a table of int16"),
        (Table("int8", (4,), (0,) * 255), "a table does not have 256 entries"),
    ],
)
def test_refusals(operation, message):
    with pytest.raises(LowerError) as error:
        operation.check()
    assert str(error.value).startswith(message)
