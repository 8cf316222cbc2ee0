"""Bounds of plans: what just fits the device, and how many sizes are tried."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.isa.config import load
from macaw.isa.pe import DATA_ALIGN
from macaw.lowering.convolution import convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.image_estimate import kernel_cuts
from macaw.lowering.net import layer_plans
from macaw.lowering.net.layer_plans import fitting_plans
from macaw.lowering.net.network import NetTensor, Network, ProductLayer
from macaw.lowering.sizes import even_sizes


@pytest.mark.usefixtures("few_plans")
def test_packets_and_tiles_may_fill_half_of_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    product = convolution(np.ones((4, 1, 1, 4), np.int8), (4, 4), shift=1)
    shapes = {"x": product.shapes[0], "y": (4, 4, 4)}
    tensors = {name: NetTensor(name, "int8", shape) for name, shape in shapes.items()}
    layers = (ProductLayer("conv", ("x",), "y", product),)
    network, config = Network("one", tensors, layers, ("x",), ("y",)), load("base")
    half = int(config["mem.unit_half_bytes"])
    packets = 1000
    monkeypatch.setattr(layer_plans, "program_bytes", lambda _: packets)
    room = half - packets - DATA_ALIGN
    for tiles in (DATA_ALIGN - 1, room):
        monkeypatch.setattr(layer_plans, "tile_bytes", lambda _, size=tiles: size)
        assert fitting_plans(network, config)[1] == max(tiles, DATA_ALIGN)
    monkeypatch.setattr(layer_plans, "tile_bytes", lambda _, size=room + 1: size)
    with pytest.raises(LowerError, match=f"packets of all layers, {packets + DATA_ALIGN:,} "):
        fitting_plans(network, config)


@pytest.mark.parametrize("kernel", [(3, 3), (7, 7), (11, 5), (1, 31), (31, 1), (24, 24)])
@pytest.mark.parametrize("queue", ["weight_queue", "input_buffer"])
@pytest.mark.parametrize("room", [16, 32, 48, 96, 512])
def test_parts_of_a_kernel(kernel: tuple[int, int], queue: str, room: int) -> None:
    """Parts of a kernel have the three largest widths that fit, each with three heights.

    For each width, these are the largest heights that fit.
    """
    product = convolution(np.ones((1, *kernel, 1), np.int8), (40, 40), shift=1)
    config = load("base").changed({f"pe.{queue}": room})
    cuts = kernel_cuts(product, config)
    fits = [(high, wide) for wide in even_sizes(kernel[1]) for high in even_sizes(kernel[0])
            if high * wide <= room]  # fmt: skip
    assert set(cuts) <= set(fits)
    widths = sorted({wide for _, wide in fits}, reverse=True)[:3]
    assert [wide for _, wide in cuts] == sorted((wide for _, wide in cuts), reverse=True)
    assert {wide for _, wide in cuts} == set(widths)
    for wide in widths:
        heights = sorted((high for high, other in fits if other == wide), reverse=True)
        assert [high for high, other in cuts if other == wide] == heights[:3]
