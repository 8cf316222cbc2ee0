"""Random convolutions have the sums of the definition, and move the predicted bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import macaw
from macaw.isa.config import Configuration
from macaw.layer_lowering import lower
from macaw.lowering import reference
from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.cost import traffic
from macaw.lowering.errors import LowerError
from macaw.lowering.image_plan import ImagePlan, ImageTile, make_image_plan
from macaw.lowering.layer_source import layer_source
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.partition import SPLITS, partition
from macaw.lowering.row_program import unit_bytes
from macaw.lowering.sliding_window import SlidingWindowPlan
from tests.lowering.running import element_types, made

pytestmark = pytest.mark.once


@dataclass(frozen=True)
class Case:
    """A convolution, and the way to lower it."""

    convolution: Convolution
    config: Configuration
    mapping: str
    split: str
    tile: ImageTile
    x: NDArray[Any]
    kind: type[ImagePlan]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    types, elements = draw(element_types())
    config = Configuration(
        "drawn",
        {
            "pe.rows": draw(st.integers(1, 3)),
            "pe.clusters": draw(st.integers(1, 3)),
            "pe.pes": draw(st.integers(1, 5)),
            **types,
        },
    )
    image = draw(st.integers(3, 8)), draw(st.integers(3, 8))
    outputs, channels = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    kernel = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    depthwise = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    shape = (outputs, *kernel) if depthwise else (outputs, *kernel, channels)
    weights = rng.integers(-9, 10, shape) * (rng.random(shape) < draw(st.sampled_from([0.3, 1])))
    found = convolution(
        weights.astype(elements.weight),
        image,
        stride=(draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        padding=(draw(st.integers(0, 2)), draw(st.integers(0, 2))),
        depthwise=depthwise,
        bias=rng.integers(-99, 100, outputs) if draw(st.booleans()) else None,
        activation=draw(st.sampled_from(["none", "relu"])),
        shift=draw(st.sampled_from([None, 0, 3])),
        layout=draw(st.sampled_from(["hwc", "cwh"])) if depthwise else "hwc",
        out_layout=draw(st.sampled_from(["hwc", "cwh"])),
    )
    found = replace(found, elements=elements)
    strips = found.layout == "cwh" or (depthwise and draw(st.booleans()))
    mapping, split = draw(st.sampled_from(sorted(MAPPINGS))), draw(st.sampled_from(sorted(SPLITS)))
    rows, clusters = config["pe.rows"], config["pe.clusters"]
    part = partition(split, rows, clusters, (found.m, found.n, found.k))
    inputs = part.length("K")
    tile = ImageTile(
        draw(st.integers(1, part.length("M"))),
        1,
        draw(st.integers(1, min(config["pe.pes"], part.length("N")))),
        draw(st.integers(1, inputs)) if mapping == "output" else inputs,
        draw(st.integers(1, found.columns)),
        (draw(st.integers(1, kernel[0])), draw(st.integers(1, kernel[1])))
        if mapping == "output" and not strips and not found.turned
        else None,
    )
    x = rng.integers(-9, 10, found.shapes[0]).astype(elements.activation)
    kind = SlidingWindowPlan if strips else ImagePlan
    return Case(found, config, mapping, split, tile, x, kind)


def direct(item: Convolution, x: NDArray[Any]) -> NDArray[Any]:
    """The sums, output by output, by the definition."""
    if item.layout == "cwh":
        x = x.transpose(2, 1, 0)
    height, width = item.kernel
    kernels = item.weights.reshape(item.n, height, width, -1).astype(int)
    padded = np.zeros(
        (x.shape[0] + 2 * item.padding[0], x.shape[1] + 2 * item.padding[1], x.shape[2]), int
    )
    padded[
        item.padding[0] : item.padding[0] + x.shape[0],
        item.padding[1] : item.padding[1] + x.shape[1],
    ] = x
    rows = (padded.shape[0] - height) // item.stride[0] + 1
    columns = (padded.shape[1] - width) // item.stride[1] + 1
    sums = np.zeros((rows, columns, item.n), int)
    for row, column, n in np.ndindex(*sums.shape):
        y0, x0 = row * item.stride[0], column * item.stride[1]
        window = padded[y0 : y0 + height, x0 : x0 + width]
        if item.depthwise:
            window = window[:, :, n : n + 1]
        sums[row, column, n] = (window * kernels[n]).sum()
    return sums


def finish(item: Convolution, sums: NDArray[Any], bits: int) -> NDArray[Any]:
    """The results after bias, activation and requantisation."""
    if item.bias is not None:
        sums = sums + item.bias
    if item.activation == "relu":
        sums = np.where(sums > 0, sums, 0)
    if item.shift is not None:  # np.rint takes halves to the even number
        high = (1 << bits - 1) - 1
        sums = np.clip(np.rint(sums / 2**item.shift), -high - 1, high).astype(int)
    return sums


@settings(max_examples=30)
@given(case=cases())
def test_convolutions_equal_direct_ones_and_bytes_are_those_predicted(case: Case) -> None:
    """Random convolutions equal direct sums and move the predicted bytes (seed 000 ¶138-139)."""
    checked = case.convolution.validated(case.config)
    try:
        plan = make_image_plan(
            checked,
            case.config,
            MAPPINGS[case.mapping],
            case.split,
            case.tile,
            case.kind,
            part=None,
        )
    except LowerError:
        assume(False)
    check_plan(plan, checked, case)


def test_a_depthwise_kernel_in_parts_reads_the_channels_of_each_tile() -> None:
    """If a kernel is cut and the channels are tiled, each tile reads its own channels."""
    config = Configuration("alone", {"pe.rows": 1, "pe.clusters": 1, "pe.pes": 1})
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 10, (4, 5, 3)).astype(np.int8)
    weights = rng.integers(1, 8, (3, 2, 2)).astype(np.int8)
    found = convolution(weights, (4, 5), padding=(1, 1), depthwise=True)
    tile = ImageTile(groups=1, members=1, n=1, k=1, columns=1, taps=(1, 1))
    checked = found.validated(config)
    plan = make_image_plan(checked, config, MAPPINGS["output"], "a", tile, ImagePlan, part=None)
    check_plan(plan, checked, Case(found, config, "output", "a", tile, x, ImagePlan))


def check_plan(plan: ImagePlan, checked: Convolution, case: Case) -> None:
    """Run a plan; compare its results element for element, and its bytes."""
    assert (plan.weight_counts == np.count_nonzero(plan.weight_rounds, axis=-1)).all()
    done = macaw.run(made(layer_source(plan, "p", reasons=())), x=case.x)
    dtype = checked.elements.result if checked.elements else case.x.dtype
    bits = 8 * np.dtype(dtype).itemsize
    wanted = finish(checked, direct(checked, case.x), bits)
    if checked.out_layout == "cwh":
        wanted = wanted.transpose(2, 1, 0)
    np.testing.assert_array_equal(done.outputs["y"], wanted)
    np.testing.assert_array_equal(reference.result(checked, case.config, case.x), wanted)
    assert done.counters["dma"]["bytes"] == traffic(plan).total


@pytest.mark.usefixtures("few_plans")
@pytest.mark.parametrize("operation", ["conv2d", "depthwise"])
def test_images_a_hundred_times_as_large_as_a_unit(operation: str) -> None:
    """An image of more than 100 KiB passes through units whose halves hold 1 KiB (seed 000 ¶84)."""
    config = Configuration("small", {"pe.clusters": 2, "pe.pes": 4, "mem.unit_half_bytes": 1024})
    rng = np.random.default_rng(11)
    image, channels = (128, 140), 6
    shape = (2, 4, 4, channels) if operation == "conv2d" else (channels, 4, 4)
    weights = rng.integers(-9, 10, shape) * (rng.random(shape) < 0.25)
    found = lower(operation, weights, image=image, stride=4, shift=4, device=config)
    assert image[0] * image[1] * channels > 100 * 1024
    plan = found.choice.selection.plan
    assert unit_bytes(plan) <= 1024
    assert plan.steps > 10
    measured = found.measure()
    assert measured.equal
    assert measured.external_bytes == found.cost.traffic.external


def test_strips_below_some_of_the_columns() -> None:
    """If channels are not adjacent in memory, each channel has its own transfers."""
    rng = np.random.default_rng(5)
    config = Configuration("one", {"pe.rows": 1, "pe.clusters": 1, "pe.pes": 4})
    found = convolution(
        rng.integers(-9, 10, (3, 2, 2)).astype(np.int8), (4, 7), depthwise=True, layout="cwh"
    )
    x = rng.integers(-9, 10, found.shapes[0]).astype(np.int8)
    case = Case(found, config, "output", "b", ImageTile(1, 1, 3, 1, 2), x, SlidingWindowPlan)
    checked = found.validated(config)
    plan = make_image_plan(
        checked, config, MAPPINGS[case.mapping], case.split, case.tile, case.kind, part=None
    )
    assert plan.slab_columns < checked.padded[1]
    check_plan(plan, checked, case)


@pytest.mark.usefixtures("few_plans")
def test_a_sliding_window_costs_what_is_predicted() -> None:
    """A sliding window takes the predicted cycles.

    Images are stored column by column, so each row of a transfer is a part of a column. Strips are
    in the weight queue.
    """
    rng = np.random.default_rng(4)
    found = lower(
        "depthwise",
        rng.integers(-9, 10, (8, 3, 3)),
        image=(16, 16),
        padding=1,
        bias=rng.integers(-99, 100, 8),
        layout="cwh",
        device="tiny",
    )
    plan = found.choice.selection.plan
    assert isinstance(plan, SlidingWindowPlan)
    measured = found.measure()
    assert measured.equal
    assert measured.external_bytes == found.cost.traffic.external
    assert found.cost.cycles == pytest.approx(measured.cycles, rel=0.1)
    # Each row of outputs has a strip of its own: three rows of the image above one another.
    assert found.cost.traffic.activations == 8 * 16 * (3 * 18)


def test_more_input_channels_than_the_input_buffer_holds() -> None:
    """With more channels than the input buffer holds, raw sums pass between halves (seed 000 ¶139).

    The bias is added to the first tile of k.
    """
    config = Configuration(
        "narrow", {"pe.rows": 1, "pe.clusters": 1, "pe.pes": 4, "pe.input_buffer": 64}
    )
    rng = np.random.default_rng(2)
    found = lower(
        "conv2d",
        rng.integers(-9, 10, (3, 2, 2, 30)),
        image=(3, 4),
        bias=rng.integers(-99, 100, 3),
        activation="relu",
        device=config,
    )
    plan = found.choice.selection.plan
    assert plan.count("K") > 1
    assert plan.mapping.name == "output"
    assert found.measure().equal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"image": (2, 9)}, "a kernel of 3 × 3 is larger than the image, 2 × 9 with its padding"),
        ({"image": (0, 9)}, "image is two whole numbers from 1, not (0, 9)"),
        (
            {"image": (9, 40_000_000)},
            "activations and results are 2,959,999,888 bytes, external memory has 268,435,456",
        ),
        (
            {"stride": 0},
            "stride is a whole number from 1, or two (vertical, horizontal), not 0",
        ),
        ({"layout": "cwh"}, "conv2d takes images as hwc"),
        ({"out_layout": "whc"}, "no layout 'whc'"),
        ({"rows": 3}, "conv2d has no rows"),
        ({"image": None}, "conv2d needs the height and width of its image"),
    ],
)
def test_errors(words: dict[str, Any], message: str) -> None:
    given_words = {"image": (9, 9), "device": "tiny", **words}
    with pytest.raises(macaw.InputError) as error:
        lower("conv2d", np.ones((2, 3, 3, 2), np.int8), **given_words)
    assert str(error.value) == message
