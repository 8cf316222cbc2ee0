"""The figures of docs/networks.md about layers between products."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from macaw.isa.config import load
from macaw.lowering.net.vector.operations import (
    AveragePool,
    Concat,
    ElementwiseProduct,
    GlobalAveragePool,
    MaxPool,
    Pad,
    Rescale,
    Resize,
    Sum,
    Table,
    VectorOperation,
    elements,
)
from macaw.lowering.net.vector.rearrangement import rearrangement
from macaw.lowering.net.vector.source import cycles

PAGE = Path("docs/networks.md")
FIGURES: dict[str, VectorOperation] = {
    "sum, 56 × 56 × 256, powers of two, ReLU": Sum("int8", (56, 56, 256), (1.0, 0.5), (0, 127)),
    "sum, 56 × 56 × 256, other scales": Sum(
        "int8", (56, 56, 256), (0.81173214, 0.40315987), (0, 127)
    ),
    "sum, 56 × 56 × 256, in binary32": Sum("int8", (56, 56, 256), (0.3, 0.7), (0, 127)),
    "sum, 56 × 56 × 256, int16": Sum("int16", (56, 56, 256), (0.3, 0.7)),
    "new scale, 56 × 56 × 64": Rescale("int8", (56, 56, 64), 0.37123),
    "product by one number for each channel, 28 × 28 × 128": ElementwiseProduct(
        "int8", (28, 28, 128), 0.0123123, True
    ),
    "MaxPool 3 × 3, stride 2, 112 × 112 × 64": MaxPool(
        "int8", (112, 112, 64), (3, 3), (2, 2), (1, 1, 1, 1)
    ),
    "MaxPool 13 × 13, stride 1, 13 × 13 × 512": MaxPool(
        "int8", (13, 13, 512), (13, 13), (1, 1), (6, 6, 6, 6)
    ),
    "AveragePool 2 × 2, stride 2, 56 × 56 × 128": AveragePool(
        "int8", (56, 56, 128), (2, 2), (2, 2)
    ),
    "GlobalAveragePool, 7 × 7 × 2048": GlobalAveragePool("int8", (7, 7, 2048)),
    "table, 56 × 56 × 64": Table("int8", (56, 56, 64), (0,) * 256),
    "concatenation of channels, 28 × 28 × (128 + 64)": Concat(
        "int8", ((28, 28, 128), (28, 28, 64)), 2, (1.0, 1.0)
    ),
    "Resize 28 × 28 × 128 to 56 × 56": Resize("int8", (28, 28, 128), (56, 56)),
    "Pad 56 × 56 × 64 by 1": Pad("int8", (56, 56, 64), (1, 1, 0), (1, 1, 0)),
    "transpose to channels first, 56 × 56 × 64": rearrangement(
        "int8", (56, 56, 64), np.arange(56 * 56 * 64).reshape(56, 56, 64).transpose(2, 0, 1), ""
    ),
}


def line(label: str, operation: VectorOperation) -> str:
    """A line of the page's table."""
    predicted = cycles(operation, load("base"))
    each = predicted / sum(elements(shape) for shape in operation.inputs[:1])
    return f"| {label} | {predicted:,} | {each:.2f} |"


@pytest.mark.parametrize("label", FIGURES)
def test_figure(label):
    assert line(label, FIGURES[label]) in PAGE.read_text("utf-8").splitlines()
