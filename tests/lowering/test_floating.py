"""Operations of floating element types, with small multiples of a half, equal NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import macaw
from macaw.isa.config import Configuration
from macaw.layer_lowering import lower

pytestmark = pytest.mark.usefixtures("few_plans")


@pytest.mark.few(7)
@pytest.mark.parametrize("element", ["fp16", "fp32"])
@pytest.mark.parametrize("design", ["5a", "5b"])
@pytest.mark.parametrize("operation", ["spmv", "spmm", "conv2d", "depthwise"])
def test_floating_operations(operation: str, design: str, element: str) -> None:
    from scipy.signal import correlate  # here: the import takes a second

    rng = np.random.default_rng(5)
    values: dict[str, int | str] = {
        "pe.rows": 2,
        "pe.clusters": 2,
        "pe.pes": 4,
        "pe.element": element,
    }
    config = Configuration("floating", {**values, "pe.design": design})
    cases: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
        "spmv": ((9, 20), (20,), {}),
        "spmm": ((9, 20), (7, 20), {"rows": 7}),
        "conv2d": ((5, 3, 3, 4), (6, 7, 4), {"image": (6, 7)}),
        "depthwise": ((4, 3, 3), (4, 7, 6), {"image": (6, 7), "layout": "cwh"}),
    }
    shape, given, options = cases[operation]
    weights = rng.integers(-4, 5, shape) / 2
    x, bias = rng.integers(-4, 5, given) / 2, rng.integers(-9, 10, shape[0])
    found = lower(operation, weights, bias=bias, activation="relu", device=config, **options)
    kind = {"fp16": np.float16, "fp32": np.float32}[element]
    run = macaw.run(found.assemble(), x=x.astype(kind))
    pairs: list[tuple[Any, Any]] = []  # plane and kernel of each output channel
    if operation == "conv2d":
        pairs = [(x, kernel) for kernel in weights]
    elif operation == "depthwise":  # the plane lies as (width, height)
        pairs = [(plane.T, kernel) for plane, kernel in zip(x, weights, strict=True)]
    sums = (
        x @ weights.T
        if not pairs
        else np.stack([correlate(*pair, "valid", "direct").squeeze() for pair in pairs], axis=-1)
    )
    assert run.outputs["y"].dtype == np.float32
    np.testing.assert_array_equal(run.outputs["y"], np.maximum(sums + bias, 0))
