"""The measurements in the text of docs/lowering.md are those of this version."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.layer_lowering import Measurement

PAGE = (Path(__file__).parents[2] / "docs" / "lowering.md").read_text("utf-8")
TEXT = " ".join(PAGE.split())
DEPTHWISE = re.findall(r"^\| (\d+) × \d+ × (\d+) \| (\w+) \| (\w+) \| \w+ \| (.*) \|$", PAGE, re.M)


def measured(operation: str, shape: tuple[int, ...], **words: Any) -> tuple[int, Measurement]:
    """The predicted cycles of a lowered operation without zeros, and its measurement."""
    found = macaw.lower(operation, np.ones(shape, np.int8), **words)
    return found.cost.cycles, found.measure()


@pytest.mark.parametrize(("side", "channels", "device", "layout", "numbers"), DEPTHWISE)
def test_depthwise_convolutions(
    side: str, channels: str, device: str, layout: str, numbers: str
) -> None:
    words = {"image": (int(side), int(side)), "device": device, "layout": layout}
    shape = int(channels), 3, 3
    predicted, found = measured("depthwise", shape, padding=1, shift=4, **words)
    real = found.cycles, predicted, found.external_bytes
    assert " | ".join(f"{number:,}" for number in real) == numbers


@pytest.mark.parametrize(("outputs", "kernel", "image"), [(1, 40, 44), (2, 300, 300)])
def test_large_kernels(outputs: int, kernel: int, image: int) -> None:
    words = {"image": (image, image), "device": "tiny"}
    _, found = measured("conv2d", (outputs, kernel, kernel, 1), **words)
    example = f"kernel of {kernel} × {kernel} over an image of {image} × {image}"
    assert re.search(rf"{example}.{{,40}} takes {found.cycles:,} cycles", TEXT)


def test_the_table_is_found() -> None:
    assert len(DEPTHWISE) == 4
