"""Padding of images in the units: results, bytes, and columns inside an image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import macaw
from macaw.isa.config import load
from macaw.lowering import reference
from macaw.lowering.choose import choose
from macaw.lowering.convolution import convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.image_plan import ImagePlan, ImageTile, make_image_plan
from macaw.lowering.layer_source import layer_source
from macaw.lowering.mapping import INPUT, WEIGHT
from macaw.lowering.slab_padding import PaddedSlabs
from tests.fuzzing import sessions
from tests.lowering.running import made

few = settings(sessions, max_examples=max(8, sessions.max_examples // 2))


def plan_of(weights: Any, image: Any, tile: ImageTile, mapping: Any, **options: Any) -> ImagePlan:
    """A plan on the device `tiny` with all rows and clusters."""
    config = load("tiny")
    product = convolution(weights, image, **options).validated(config)
    return make_image_plan(product, config, mapping, "a", tile, ImagePlan, part=None)


def test_what_is_inside_an_image_by_hand():
    """The rows and columns of slabs outside an image are those counted by hand.

    In split a of `tiny`, two rows with two clusters each divide the four rows of outputs: each
    cluster gets one. The kernel is 3 × 3, the padding 1. So the slabs of the first and the last
    part have a row outside the image. With all 5 columns in one tile, each side has a column
    outside the image.
    """
    weights = np.ones((4, 3, 3, 2), np.int8)
    tile = ImageTile(1, 1, 4, 2, 5, (3, 3))
    slabs = PaddedSlabs(plan_of(weights, (4, 5), tile, WEIGHT, padding=(1, 1)))
    assert slabs.line == 7 * 2
    assert slabs.zeroed_share == 1.0
    assert slabs.activation_bytes == (2 + 3 + 3 + 2) * 5 * 2
    assert slabs.zero_bytes == 2 * 3 * 7 * 2  # two slabs of a unit; the multicast counts once
    assert slabs.mean_transfers() == (4, 10 / 4, 5 * 2)
    # The parts in the middle have all taps of the row, 5 columns have 2, 3, 3, 3 and 2 of 3 taps.
    assert slabs.inside == pytest.approx(13 / 15)


def test_a_tile_inside_the_image_needs_no_zeros():
    """Of three tiles side by side, only the middle tile has no column outside the image."""
    weights = np.ones((4, 1, 3, 2), np.int8)
    tile = ImageTile(1, 1, 4, 2, 4, (1, 3))
    slabs = PaddedSlabs(plan_of(weights, (4, 12), tile, INPUT, padding=(0, 1)))
    assert slabs.zeroed_share == pytest.approx(2 / 3)
    assert slabs.zero_bytes == 2 * 2 * 6 * 2
    assert slabs.activation_bytes == 4 * (5 + 6 + 5) * 2


@st.composite
def convolutions(draw: Any) -> tuple[Any, dict[str, Any]]:
    """Draw weights, an image's size and options, with padding on at least one side."""
    side = st.integers(1, 4)
    outputs, channels = draw(st.integers(1, 20)), draw(st.integers(1, 12))
    depthwise = draw(st.booleans())
    shape = (outputs, draw(side), draw(side)) + (() if depthwise else (channels,))
    pads = draw(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any))
    strides = st.sampled_from([(1, 1), (2, 1), (1, 2)])
    return shape, {
        "image": draw(st.tuples(st.integers(1, 12), st.integers(1, 12))),
        "stride": draw(strides),
        "padding": tuple(pads[:2]),
        "after": tuple(pads[2:]),
        "images": draw(st.sampled_from([0, 0, 2])),
        "depthwise": depthwise,
        "out_layout": draw(st.sampled_from(["hwc", "hwc", "cwh"])),
    }


@few
@given(convolutions(), st.sampled_from([*"abcdefghi"]), st.integers(0, 999))
def test_results_and_bytes(drawn, split, seed):
    """The results equal NumPy's; the dma moves as many bytes as predicted."""
    shape, options = drawn
    rng, config = np.random.default_rng(seed), load("tiny")
    weights = rng.integers(-8, 9, shape).astype(np.int8)
    try:
        product = convolution(weights, shift=5, **options).validated(config)
        selection = choose(product, config, split=split).selection
    except LowerError:
        assume(False)
    assume(type(selection.plan) is ImagePlan)
    x = rng.integers(-128, 128, product.shapes[0]).astype(np.int8)
    run = macaw.run(made(layer_source(selection.plan, "p", reasons=())), x=x)
    np.testing.assert_array_equal(run.outputs["y"], reference.result(product, config, x))
    traffic = selection.cost.traffic
    assert run.counters["dma"]["bytes"] - traffic.between == traffic.external


def test_a_line_of_a_slab_is_longer_than_an_immediate():
    """A slab's line of 2,048 bytes (128 columns of 16 channels) is too long for an immediate.

    cp adds the line's length from row to row.
    """
    rng, config = np.random.default_rng(3), load("base")
    weights = rng.integers(-8, 9, (40, 2, 3)).astype(np.int8)
    padding: dict[str, Any] = {"padding": (1, 1), "after": (0, 1)}
    product = convolution(weights, (6, 150), depthwise=True, shift=5, **padding).validated(config)
    plan = make_image_plan(
        product, config, WEIGHT, "a", ImageTile(1, 1, 16, 1, 126, (2, 3)), ImagePlan, part=None
    )
    assert PaddedSlabs(plan).line == 128 * 16
    x = rng.integers(-128, 128, product.shapes[0]).astype(np.int8)
    run = macaw.run(made(layer_source(plan, "p", reasons=())), x=x)
    np.testing.assert_array_equal(run.outputs["y"], reference.result(product, config, x))


def test_slabs_without_pixels_need_no_transfers():
    """The dma moves no rows of slabs that lie only in the padding, so they take no cycles.

    All windows are to the left of the image. If the prediction counts transfers for the rows, it
    is twice as high as the measured cycles.
    """
    weights = np.random.default_rng(1).integers(1, 9, (2, 3, 1, 64)).astype(np.int8)
    found = macaw.lower(
        "conv2d", weights, device="base", image=(6, 1), pads=(0, 8, 0, 0), stride=(1, 9), split="f"
    )
    assert found.cost.cycles == pytest.approx(found.measure().cycles, rel=0.15)
