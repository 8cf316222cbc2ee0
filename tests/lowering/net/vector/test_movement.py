"""Operations that move elements, and tables: values, cycles and refused operations."""

from __future__ import annotations

import math
from collections import Counter
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
from macaw.lowering.net.vector.movement import moves_of
from macaw.lowering.net.vector.operations import (
    Concat,
    Pad,
    Resize,
    Table,
    VectorOperation,
)
from macaw.lowering.net.vector.rearrangement import Part, Rearrange, rearrangement
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(8, sessions.max_examples // 2))


@st.composite
def movements(draw: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Draw an array of elements' numbers that was transposed, sliced, repeated and reshaped."""
    places = np.arange(np.prod(shape)).reshape(shape)
    for kind in draw(
        st.lists(st.sampled_from("transpose slice repeat tile take".split()), max_size=3)
    ):
        axis = draw(st.integers(0, places.ndim - 1))
        if kind == "transpose":
            places = places.transpose(draw(st.permutations(range(places.ndim))))
        elif kind == "slice":
            steps = [slice(None)] * places.ndim
            steps[axis] = slice(None, None, draw(st.sampled_from([2, 3, -1])))
            places = places[tuple(steps)]
        elif kind == "take":
            chosen = draw(st.lists(st.integers(0, places.shape[axis] - 1), min_size=1, max_size=6))
            places = places.take(chosen, axis)
        else:
            function = np.repeat if kind == "repeat" else _tile
            places = function(places, draw(st.integers(1, 3)), axis)
    return places.reshape(-1, places.shape[-1]) if draw(st.booleans()) else places


def _tile(places: np.ndarray, count: int, axis: int) -> np.ndarray:
    return np.concatenate([places] * count, axis)


@st.composite
def operations(draw: Any) -> VectorOperation:
    """Draw operations of all kinds on tensors of one to four axes."""
    dtype = draw(st.sampled_from(["int8", "int16"]))
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    kind = draw(st.sampled_from([Rearrange, Rearrange, Pad, Resize, Concat]))
    if kind is Rearrange:
        return rearrangement(dtype, shape, draw(movements(shape)), "movement")
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


@few
@given(st.data())
def test_boxes_are_the_whole_movement(data):
    """The boxes of a movement move exactly the elements of the movement."""
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    places = data.draw(movements(shape))
    operation = rearrangement("int16", shape, places, "movement")
    (x,) = random_inputs(operation, 5)
    np.testing.assert_array_equal(compute(operation, x), x.reshape(-1)[places])


def test_movements_are_few_boxes():
    """A slice with a transpose is one box; so are repeated elements, and tiles."""
    places = np.arange(8 * 6 * 4).reshape(8, 6, 4)
    for some in (
        places[::-2].transpose(2, 0, 1),
        places.repeat(2, 0).repeat(3, 1),
        _tile(_tile(places, 3, 1), 2, 0),
        places.reshape(8, 6, 2, 2).transpose(0, 2, 1, 3).reshape(16, 12),
    ):
        assert len(rearrangement("int8", places.shape, some, "movement").parts) == 1
    assert len(rearrangement("int8", (8,), np.array([1, 2, 3, 7, 6, 5, 0]), "some").parts) == 3


def test_what_no_part_writes_is_filled():
    part = Part(1, 0, ((3, 2, 1),))
    found, _ = run(
        Rearrange("int8", (3,), (7,), (part,), "frame", -9), np.array([1, 2, 3], np.int8)
    )
    assert found.tolist() == [-9, 1, -9, 2, -9, 3, -9]


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
    """By hand: a slice of the last axis of (2, 3, 8) is copied as six rows of 4 bytes."""
    box = Box(("y", 0), ("vc_x0", 2), ((2, 12, 24), (3, 4, 8), (4, 1, 1)), 1)
    found = copies(box)
    assert (found.row_bytes, found.rows, found.loops) == (4, (6, 4, 8), ())
    whole = copies(Box(("y", 0), ("vc_x0", 0), ((2, 24, 24), (3, 8, 8), (8, 1, 1)), 1))
    assert (whole.row_bytes, whole.rows, whole.loops) == (48, (1, 0, 0), ())


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            Rearrange("int8", (4,), (4,), (Part(0, 0, ((4, 1, 1),)),) * 1025, "Gather"),
            "a movement of 1,025 boxes",
        ),
        (
            Rearrange("int32", (4,), (4,), (Part(0, 0, ((4, 1, 1),)),), "Gather"),
            "elements of type int32",
        ),
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


@pytest.mark.parametrize(("old", "new"), [(4, 6), (5, 3), (3, 7), (7, 8), (4, 8)])
def test_a_resize_writes_each_element_once(old, new):
    """A resize writes each element once: the columns of all rows, then the rows."""
    written: Counter[str] = Counter()
    for box in moves_of(Resize("int8", (old, old, 3), (new, new))).boxes:
        written[box.dst[0]] += math.prod(count for count, _, _ in box.axes)
    assert written == {"vc_scratch": old * new * 3, "y": new * new * 3}
