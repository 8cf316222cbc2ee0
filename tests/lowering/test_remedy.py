"""If memory of the array is too small, the error names the setting that makes lowering succeed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.isa.config import Configuration, load
from macaw.lowering.convolution import Convolution
from macaw.lowering.image_plan import ImagePlan
from tests.lowering.running import compare_few_plans

pytestmark = pytest.mark.once


def refused(shape, image, device, **words):
    """The error of lowering a convolution of ones, or None."""
    try:
        macaw.lower("conv2d", np.ones(shape, np.int8), image=image, device=device, **words)
    except macaw.InputError as error:
        return error
    return None


def advised(hint):
    """The settings that a hint names, with their values."""
    return {name: int(value) for name, value in re.findall(r"([a-z_.]+) = (\d+)", hint)}


@pytest.mark.parametrize(
    ("shape", "image", "cut"),
    [
        ((1, 40, 40, 1), (42, 42), True),
        ((1, 1, 1030, 1), (1, 1033), True),
        ((1, 1030, 1), (1031, 2), True),  # depthwise: a channel of a kernel of 1030 × 1
        ((1, 5, 5, 1), (6, 6), False),
    ],
)
def test_a_kernel_of_more_weights_than_the_queue_holds(shape, image, cut):
    """A kernel with too many weights for the queue is divided; partial sums are added (F23)."""
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 9, shape).astype(np.int8)
    operation = "conv2d" if len(shape) == 4 else "depthwise"
    found = macaw.lower(operation, weights, image=image, bias=rng.integers(-9, 9, shape[0]),
                        shift=9, device="tiny")  # fmt: skip
    plan, product = found.choice.selection.plan, found.product
    assert isinstance(plan, ImagePlan)
    assert isinstance(product, Convolution)
    assert (plan.tile.taps != product.kernel) == cut
    measured = found.measure()
    assert measured.equal
    assert measured.external_bytes == found.cost.traffic.external
    assert found.cost.cycles == pytest.approx(measured.cycles, rel=0.1)


def test_strips_take_whole_kernels():
    """A kernel for sliding windows cannot be divided: the hint names a larger queue.

    An image of (channels, width, height) is computed by sliding windows only.
    """
    weights = np.ones((1, 40, 40), np.int8)
    with pytest.raises(macaw.InputError) as caught:
        macaw.lower("depthwise", weights, image=(44, 44), layout="cwh", device="tiny")
    assert str(caught.value) == "no tile fits the weight queue, 1024 entries"
    assert caught.value.hint == "one fits with pe.weight_queue = 2048"
    device = load("tiny").changed({"pe.weight_queue": 2048})
    assert macaw.lower("depthwise", weights, image=(44, 44), layout="cwh", device=device)


def test_the_mapping_that_is_asked_for_may_need_a_larger_queue():
    """If the user demands an input stationary plan, a kernel needs a larger queue.

    Such a plan has no partial sums that could be added.
    """
    error = refused((1, 40, 40, 1), (44, 44), "tiny", mapping="input")
    assert str(error) == "no tile fits the weight queue, 1024 entries"
    assert error.hint == "one fits with pe.weight_queue = 2048"


@settings(max_examples=8, deadline=None)
@given(
    queue=st.sampled_from([16, 64, 256]),
    buffer=st.sampled_from([64, 256, 1024]),
    outputs=st.sampled_from([64, 256]),
    half=st.sampled_from([1024, 2048, 8192]),
    kernel=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    channels=st.integers(1, 12),
    count=st.integers(1, 20),
    pes=st.sampled_from([1, 8, 64]),
)
def test_the_setting_that_is_named_helps(
    queue, buffer, outputs, half, kernel, channels, count, pes
):
    """The named settings make lowering succeed; if several are named, each is needed."""
    device = Configuration("drawn", {
        "pe.rows": 1, "pe.clusters": 2, "pe.pes": pes, "pe.weight_queue": queue,
        "pe.input_buffer": buffer, "pe.output_queue": outputs, "mem.unit_half_bytes": half,
    })  # fmt: skip
    shape, image = (count, *kernel, channels), (kernel[0] + 1, kernel[1] + 1)
    with pytest.MonkeyPatch.context() as monkeypatch:
        compare_few_plans(monkeypatch)
        error = refused(shape, image, device)
        if error is None:
            return
        values = advised(error.hint)
        assert values, error
        assert all(value > device[name] for name, value in values.items())
        assert refused(shape, image, device.changed(values)) is None
        for name in values:
            rest = {other: value for other, value in values.items() if other != name}
            assert refused(shape, image, device.changed(rest)) is not None
