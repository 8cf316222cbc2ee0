"""What is refused for want of room names the setting that is too small: with it, it is lowered."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.isa.config import Configuration, load

pytestmark = pytest.mark.once


def refused(shape, image, device, **words):
    """The error of a convolution of ones, or None."""
    try:
        macaw.lower("conv2d", np.ones(shape, np.int8), image=image, device=device, **words)
    except macaw.InputError as error:
        return error
    return None


def advised(hint):
    """The settings that a hint names, and their values."""
    return {name: int(value) for name, value in re.findall(r"([a-z_.]+) = (\d+)", hint)}


@pytest.mark.parametrize(
    ("shape", "image"), [((1, 40, 40, 1), (44, 44)), ((1, 33, 33, 3), (36, 36)), ((1, 1, 1030, 1), (2, 1040))]
)  # fmt: skip
def test_a_kernel_of_more_weights_than_the_queue_holds(shape, image):
    """F23: larger units would change nothing, and are at their limit already."""
    error = refused(shape, image, "tiny")
    assert str(error) == "no tile fits the weight queue, 1024 entries"
    assert error.hint == "one fits with pe.weight_queue = 2048"
    queue = {"pe.weight_queue": 2048}
    assert refused(shape, image, load("tiny").changed(queue)) is None


def test_two_settings_that_are_too_small_together():
    error = refused((1, 70, 70, 1), (71, 71), "tiny")
    wanted = {"pe.weight_queue": 8192, "pe.input_buffer": 8192}
    assert advised(error.hint) == wanted
    assert refused((1, 70, 70, 1), (71, 71), load("tiny").changed(wanted)) is None


def test_no_device_has_the_room():
    error = refused((1, 300, 300, 1), (300, 300), "tiny")
    assert str(error) == "no tile fits, nor with any room that was tried"


@settings(max_examples=15, deadline=None)
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
    """And none of them alone does where several are named: each is needed."""
    device = Configuration("drawn", {
        "pe.rows": 1, "pe.clusters": 2, "pe.pes": pes, "pe.weight_queue": queue,
        "pe.input_buffer": buffer, "pe.output_queue": outputs, "mem.unit_half_bytes": half,
    })  # fmt: skip
    shape, image = (count, *kernel, channels), (kernel[0] + 1, kernel[1] + 1)
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
