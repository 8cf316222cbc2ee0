"""Windows of convolutions by counting, scales of weights by trying each, against NumPy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from macaw.isa.errors import MacawError
from macaw.lowering.onnx.scales import ScaleRule, choose_scales, decibels, weight_scales, widened
from macaw.lowering.onnx.window import output_sizes, transposed_window, window_of

# Windows


def begins(
    size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], ceil: bool
) -> int:
    """The number of windows along one axis: by trying each place."""
    reach, whole = (kernel - 1) * dilation + 1, size + pads[1]
    count = end = 0
    for begin in range(-pads[0], whole, stride):
        if begin + reach > whole:  # with `ceil`, one window more if something is left
            return count + (ceil and begin < size and end < whole)
        count, end = count + 1, begin + reach
    return count


@pytest.mark.parametrize("ceil", [False, True])
def test_windows_are_those_that_fit(ceil: bool) -> None:
    for size, kernel, stride, dilation in itertools.product(
        (1, 4, 7), (1, 2, 3), (1, 2, 3), (1, 2)
    ):
        for pads in ((0, 0), (1, 0), (0, 2), (2, 1)):
            expected = begins(size, kernel, stride, dilation, pads, ceil)
            attributes = {
                "strides": [stride], "dilations": [dilation], "pads": list(pads), "ceil_mode": ceil
            }  # fmt: skip
            reach = (kernel - 1) * dilation + 1
            if reach > size + sum(pads) or reach <= max(pads):
                continue  # no window, or windows of padding alone
            window = window_of(attributes, [size], [kernel])
            assert output_sizes(window, [size]) == (expected,), (size, kernel, attributes)


def test_defaults_of_a_window() -> None:
    window = window_of({}, [5, 6], [2, 3])
    assert (window.strides, window.dilations, window.ceil) == ((1, 1), (1, 1), False)
    assert (window.before, window.after, window.reach) == ((0, 0), (0, 0), (2, 3))
    window = window_of({"pads": [1, 2, 3, 4], "dilations": [2, 3]}, [5, 6], [2, 3])
    assert (window.before, window.after, window.reach) == ((1, 2), (3, 4), (3, 7))
    assert window_of({"auto_pad": "VALID", "pads": [1, 1]}, [5], [2]).before == (0,)


def test_the_dilation_of_a_single_element_has_no_effect() -> None:
    assert window_of({"dilations": [2, 3]}, [5, 6], [1, 2]).dilations == (1, 3)


@pytest.mark.parametrize("auto", ["SAME_UPPER", "SAME_LOWER"])
def test_the_padding_of_the_same_size(auto: str) -> None:
    """ceil(size / stride) windows, with the least padding; its larger half is after, or before."""
    for size, kernel, stride in itertools.product((1, 4, 5, 8), (1, 2, 3, 5), (1, 2, 3)):
        window = window_of({"auto_pad": auto, "strides": [stride]}, [size], [kernel])
        assert output_sizes(window, [size]) == (math.ceil(size / stride),)
        total = window.before[0] + window.after[0]
        more = window.after[0] - window.before[0]
        assert more == (total % 2 if auto == "SAME_UPPER" else -(total % 2))
        if total:
            assert (size + total - 1 - kernel) // stride + 1 < math.ceil(size / stride)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"kernel_shape": [3]}, r"a kernel_shape of \[3\], weights \(2,\)"),
        ({"auto_pad": "MAYBE"}, "auto_pad MAYBE"),
        ({"pads": [0, -1]}, "a negative frame"),
        (
            {"dilations": [4]},
            r"a kernel \(2,\), with its dilations \(5,\), does not fit into an image of \(4,\)",
        ),
    ],
)
def test_windows_that_cannot_be(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(MacawError, match=message):
        window_of(attributes, [4], [2])
    assert window_of({"dilations": [3]}, [4], [2]).reach == (4,)


@pytest.mark.parametrize(
    ("attributes", "sizes", "before", "after"),
    [
        # (4 - 1) * stride + (3 - 1) * dilation + 1 + output_padding, without the padding
        ({}, 6, 0, 0),
        ({"strides": [2], "output_padding": [1]}, 10, 0, 0),
        ({"dilations": [2], "pads": [1, 2]}, 5, 1, 2),
        ({"auto_pad": "VALID", "pads": [1, 2]}, 6, 0, 0),
        ({"auto_pad": "SAME_UPPER", "strides": [2]}, 8, 0, 1),
        ({"auto_pad": "SAME_LOWER", "strides": [2]}, 8, 1, 0),
        ({"output_shape": [3]}, 3, 2, 1),
        ({"output_shape": [1, 1, 3]}, 3, 2, 1),
        ({"output_shape": [7]}, 7, 0, 0),
    ],
)
def test_a_transposed_window(attributes: Any, sizes: int, before: int, after: int) -> None:
    window, results = transposed_window(attributes, [4], [3])
    assert (results, window.before, window.after) == ((sizes,), (before,), (after,))
    assert (window.kernel, window.ceil) == ((3,), False)


@pytest.mark.parametrize("attributes", [{"pads": [-1, 0]}, {"pads": [3, 3]}])
def test_transposed_windows_that_cannot_be(attributes: Any) -> None:
    with pytest.raises(MacawError, match="a padding of"):
        transposed_window(attributes, [4], [3])
    assert transposed_window({"pads": [3, 2]}, [4], [3])[1] == (1,)


# Scales

ROWS = np.random.default_rng(8).normal(size=(6, 40)) * 2.0 ** np.arange(-3, 3)[:, None]


def error(row: Any, scale: float, top: int) -> float:
    """The squared error of a row of integers with this scale, with halves rounded to even."""
    steps = [max(-top - 1, min(top, round(float(np.float32(x) / np.float32(scale))))) for x in row]
    return sum(
        (step * scale - float(np.float32(x))) ** 2 for step, x in zip(steps, row, strict=True)
    )


@pytest.mark.parametrize(("dtype", "top"), [("int8", 127), ("int16", 32767)])
def test_minmax_takes_the_least_scale_that_saturates_nothing(dtype: str, top: int) -> None:
    largest = np.abs(ROWS).max(1)
    exact = choose_scales(ROWS, largest, dtype, ScaleRule("minmax", "real"))
    np.testing.assert_array_equal(exact, (largest / top).astype(np.float32))
    powers = choose_scales(ROWS, largest, dtype, ScaleRule("minmax", "power-of-two"))
    for scale, most in zip(powers.tolist(), largest, strict=True):
        assert math.log2(scale).is_integer()
        assert scale / 2 * top < most <= scale * top


def test_mse_takes_the_scale_of_the_least_error() -> None:
    """Of five powers of two, and of 60 scales down to a quarter."""
    largest = np.abs(ROWS).max(1)
    for kind in ("power-of-two", "real"):
        found = choose_scales(ROWS, largest, "int8", ScaleRule("mse", kind))
        for row, most, scale in zip(ROWS, largest, found.tolist(), strict=True):
            if kind == "real":
                tried = [most / 127 * (1 - 0.75 * at / 59) for at in range(60)]
            else:
                first = 2.0 ** math.ceil(math.log2(most / 127))
                tried = [first / 2**at for at in range(5)]
            errors = [error(row, float(np.float32(x)), 127) for x in tried]
            assert scale == np.float32(tried[int(np.argmin(errors))])


def test_rows_of_zeros_have_the_least_scale() -> None:
    zeros = np.zeros((2, 3))
    for method in ("mse", "minmax"):
        found = choose_scales(zeros, np.zeros(2), "int8", ScaleRule(method))
        np.testing.assert_array_equal(found, np.array([2.0**-60] * 2, np.float32))


def test_the_error_may_be_that_of_a_function() -> None:
    """Of numbers from 0 to 100, a function that cuts at 1 needs the small scale."""
    rows = np.concatenate([np.linspace(0, 1, 50), [100.0]])[None]
    rule = ScaleRule("mse", "power-of-two")
    plain = choose_scales(rows, np.array([100.0]), "int8", rule)
    cut = choose_scales(rows, np.array([100.0]), "int8", rule, lambda x: np.minimum(x, 1))
    assert (plain.tolist(), cut.tolist()) == ([1.0], [0.0625])


def test_scales_of_weights_are_one_or_one_for_each_index() -> None:
    weights = np.arange(-12, 12, dtype=np.float32).reshape(2, 3, 4)
    rule = ScaleRule("minmax", "real")
    whole = weight_scales(weights, None, "int8", rule)
    assert whole.shape == ()
    assert whole == np.float32(12 / 127)
    for axis in range(3):
        others = tuple(x for x in range(3) if x != axis)
        expected = (np.abs(weights).max(axis=others) / 127).astype(np.float32)
        np.testing.assert_array_equal(weight_scales(weights, axis, "int8", rule), expected)


def test_a_scale_is_wider_if_the_bias_does_not_fit_32_bits() -> None:
    scales = np.array([1e-9, 1.0], np.float32)
    for power in (False, True):
        found = widened(scales, 0.5, np.array([8.0, 8.0]), power)
        assert found[1] == 1
        assert np.abs(8.0 / (0.5 * found.astype(np.float64))).max() <= 2**31 - 256
        assert found[0] == (2.0**-27 * 2 if power else found[0])
        assert found[0] < 8 / (0.5 * 2**31) * (2.01 if power else 1.001)
    one = widened(np.array(1e-9, np.float32), 0.5, np.array([1.0, -8.0]), False)
    assert one.shape == ()
    assert one == widened(scales[:1], 0.5, np.array([8.0]), False)[0]


def test_decibels_of_sums_of_squares() -> None:
    assert decibels(100.0, 1.0) == pytest.approx(20)
    assert decibels(1.0, 0.0) == decibels(0.0, 0.0) == math.inf
    assert decibels(0.0, 1.0) == -math.inf
