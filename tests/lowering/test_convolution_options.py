"""Dilation, groups, unequal padding and batches, against sums by the definition."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import macaw
from macaw.emu.engines import ENGINES
from macaw.isa.config import Configuration
from macaw.layer_lowering import lower
from macaw.lowering.image_plan import ImagePlan

pytestmark = pytest.mark.once


def sums_of(
    x: NDArray[Any],
    weights: NDArray[Any],
    stride: tuple[int, int],
    pads: tuple[int, int, int, int],
    dilation: tuple[int, int],
    groups: int,
) -> NDArray[Any]:
    """The sums of one image, (rows, columns, outputs); `weights` are (outputs, h, w, channels)."""
    above, left, below, right = pads
    image = np.pad(x.astype(int), ((above, below), (left, right), (0, 0)))
    outputs, height, width, channels = weights.shape
    rows = (image.shape[0] - (height - 1) * dilation[0] - 1) // stride[0] + 1
    columns = (image.shape[1] - (width - 1) * dilation[1] - 1) // stride[1] + 1
    result = np.zeros((rows, columns, outputs), int)
    for row, column, n, dy, dx in np.ndindex(rows, columns, outputs, height, width):
        pixel = image[row * stride[0] + dy * dilation[0], column * stride[1] + dx * dilation[1]]
        first = n // (outputs // groups) * channels
        result[row, column, n] += pixel[first : first + channels] @ weights[n, dy, dx].astype(int)
    return result


@settings(max_examples=8, deadline=None)
@given(data=st.data(), seed=st.integers(0, 1 << 32))
def test_they_compute_what_the_definition_says(data: st.DataObject, seed: int) -> None:
    """Convolutions with any options and batches equal the definition (seed 000 ¶138)."""
    draw, rng = data.draw, np.random.default_rng(seed)
    depthwise = draw(st.booleans())
    groups = 1 if depthwise else draw(st.integers(1, 3))
    channels = draw(st.integers(1, 3))  # of a group
    outputs = draw(st.integers(1, 5)) if depthwise else groups * draw(st.integers(1, 3))
    kernel = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    shape = (outputs, *kernel) if depthwise else (outputs, *kernel, channels)
    weights = (rng.integers(-9, 10, shape) * (rng.random(shape) < 0.7)).astype(np.int8)
    image = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    pad = st.integers(0, 2)
    pads = draw(st.tuples(pad, pad, pad, pad))
    dilation = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    stride = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    batch = draw(st.sampled_from([None, 1, 3]))
    spans = image[0] + pads[0] + pads[2], image[1] + pads[1] + pads[3]
    assume(all((n - 1) * by < span for n, by, span in zip(kernel, dilation, spans, strict=True)))
    layout = draw(st.sampled_from(["hwc", "cwh"])) if depthwise else "hwc"
    out_layout = draw(st.sampled_from(["hwc", "cwh"]))
    device = Configuration(
        "drawn", {"pe.rows": draw(st.integers(1, 3)), "pe.clusters": 2, "pe.pes": 3}
    )
    split = draw(st.sampled_from([None, *"abcdefghi"]))
    found = lower(
        "depthwise" if depthwise else "conv2d", weights, image=image, stride=stride, pads=pads,
        dilation=dilation, groups=groups, batch=batch, layout=layout, out_layout=out_layout,
        bias=rng.integers(-99, 100, outputs), activation="relu", shift=4, device=device, split=split,
    )  # fmt: skip
    count = outputs if depthwise else groups * channels
    images = rng.integers(-9, 10, (batch or 1, *image, count)).astype(np.int8)
    plain = weights[..., None] if depthwise else weights
    sums = [
        sums_of(x, plain, stride, pads, dilation, outputs if depthwise else groups) for x in images
    ]
    bias = found.product.bias
    assert bias is not None
    wanted = np.clip(np.rint(np.maximum(np.stack(sums) + bias, 0) / 16), -128, 127)
    given_x = images if layout == "hwc" else images.swapaxes(1, 3)
    wanted = wanted if out_layout == "hwc" else wanted.swapaxes(1, 3)
    if batch is None:
        given_x, wanted = given_x[0], wanted[0]
    given_x = np.ascontiguousarray(given_x)
    engine = draw(st.sampled_from(sorted(ENGINES)))
    run = macaw.run(found.assemble(), engine=engine, x=given_x)
    np.testing.assert_array_equal(run.outputs["y"], wanted)
    assert run.counters["dma"]["bytes"] == found.cost.traffic.total
    assert found.measure(given_x).equal, "the reference, too"


def test_weights_stay_from_image_to_image() -> None:
    """The images of a batch share weights, which are loaded at most twice (for two halves)."""
    weights = np.ones((8, 3, 3, 4), np.int8)
    cost = {
        batch: lower("conv2d", weights, image=(9, 9), batch=batch, mapping="weight",
                     split="d", device="tiny").cost
        for batch in (1, 2, 8)
    }  # fmt: skip
    assert cost[8].traffic.weights <= 2 * cost[1].traffic.weights
    assert cost[8].cycles < 8 * cost[1].cycles


@pytest.mark.usefixtures("few_plans")
def test_one_kernel_of_zeros_between_weights_costs_no_products() -> None:
    """Zeros between dilated weights, or of other groups, are neither stored nor multiplied."""
    plain = lower("conv2d", np.ones((4, 3, 3, 4), np.int8), image=(12, 12), device="tiny")
    cases: tuple[dict[str, Any], ...] = ({"dilation": 3}, {"groups": 2})
    for words in cases:
        shape = (4, 3, 3, 2) if "groups" in words else (4, 3, 3, 4)
        found = lower("conv2d", np.ones(shape, np.int8), image=(12, 12), device="tiny", **words)
        plan = found.choice.selection.plan
        assert isinstance(plan, ImagePlan)
        assert np.count_nonzero(plan.weight_rounds) <= np.prod(shape) * plan.partition.rows
        assert found.product.macs < plain.product.macs
        assert found.cost.cycles < plain.cost.cycles


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"groups": 3}, "4 outputs in 3 groups"),
        ({"padding": 1, "pads": (1, 1, 1, 1)}, "pads and padding both give the padding"),
        ({"dilation": 9}, "a kernel of 19 × 19 with its dilation is larger than the image"),
        ({"pads": (1, 0, 0)}, "pads is four whole numbers from 0, not (1, 0, 0)"),
    ],
)
def test_what_is_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(macaw.InputError) as caught:
        macaw.lower("conv2d", np.ones((4, 3, 3, 2), np.int8), image=(8, 8), **words)
    assert message in str(caught.value)


def test_groups_of_a_depthwise_convolution_are_refused() -> None:
    with pytest.raises(macaw.InputError, match=r"^a depthwise convolution in 2 groups$"):
        macaw.lower("depthwise", np.ones((4, 3, 3), np.int8), image=(8, 8), groups=2)


def test_products_have_none_of_them() -> None:
    cases: tuple[dict[str, Any], ...] = (
        {"batch": 2},
        {"groups": 2},
        {"dilation": 2},
        {"pads": (0, 0, 1, 1)},
    )
    for words in cases:
        with pytest.raises(
            macaw.InputError, match=r"^spmm has no image, stride, padding, dilation"
        ):
            macaw.lower("spmm", np.ones((4, 4), np.int8), rows=2, **words)


def test_the_description_names_them() -> None:
    found = lower("conv2d", np.ones((4, 3, 3, 2), np.int8), image=(8, 9), dilation=2, groups=2,
                  pads=(1, 2, 3, 4), batch=5, device="tiny")  # fmt: skip
    assert found.product.describe() == (
        "convolution 5 × 5, stride 1 × 1, dilation 2 × 2, 2 groups,"
        " padding 1 × 2 before and 3 × 4 after, of 5 images of 8 × 9 × 4 to 4 channels"
    )
    assert found.product.macs == 5 * 8 * 11 * 4 * 9 * 2


def test_each_transfer_of_results_says_which_results_it_copies():
    """The comment of each transfer says which results it copies.

    A kernel of 2 x 3 on an image of 8 x 8 gives 7 rows of results, for an array of two rows with
    two clusters each.
    """
    lowered = macaw.lower("conv2d", np.ones((4, 2, 3, 3), np.int8), image=(8, 8), device="tiny")
    pattern = r"# (row \d, cluster \d): of O\[(\d+):(\d+), :, (\d+):(\d+)\]"
    found = [(name, *map(int, ends)) for name, *ends in re.findall(pattern, lowered.source)]
    assert {name for name, *_ in found} == {f"row {p}, cluster {q}" for p in (0, 1) for q in (0, 1)}
    cells = {(m, n) for _, m0, m1, n0, n1 in found for m in range(m0, m1) for n in range(n0, n1)}
    assert cells == {(m, n) for m in range(7) for n in range(4)}


@pytest.mark.parametrize("stride", [10**6, 1 << 63, 1 << 70])
@pytest.mark.parametrize("depthwise", [False, True])
def test_a_stride_that_is_larger_than_the_image(depthwise: bool, stride: int) -> None:
    """Such a convolution has one result, that of the first window."""
    weights = np.arange(-4, 5, dtype=np.int8).reshape(1, 3, 3, 1)
    image = np.arange(64, dtype=np.int8).reshape(8, 8, 1)
    found = macaw.lower(
        "depthwise" if depthwise else "conv2d",
        weights[..., 0] if depthwise else weights,
        image=(8, 8), stride=(stride, 3), device="tiny",
    )  # fmt: skip
    run = macaw.run(found.assemble(), x=image)
    expected = sums_of(image, weights, (stride, 3), (0, 0, 0, 0), (1, 1), 1)
    np.testing.assert_array_equal(run.outputs["y"], expected)
