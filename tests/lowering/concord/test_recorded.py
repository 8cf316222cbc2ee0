"""Generated files and pictures of two layers, against recorded ones, and where boxes are drawn.

`recorded` has the files. `MACAW_GOLDENS=write` writes them; look at them before you keep them.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

import macaw
from macaw.concordance.concordance import Concordance

pytestmark = pytest.mark.once
HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
LAYERS = ("conv", "lstm")


@cache
def layer(name: str, target: str) -> Concordance:
    return macaw.concord(HERE / f"{name}.s", target=target)


def check(file: str, text: str) -> None:
    path = RECORDED / file
    if os.environ.get("MACAW_GOLDENS") == "write":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_the_function_is_the_recorded_one(name: str, target: str) -> None:
    """The names of the functions in the file, the tensors, and the function `layer`."""
    text = layer(name, target).text
    names = re.findall(r"^(?:class|def) (\w+)", text, re.MULTILINE)
    tensors = text[text.index("\nHOST =") : text.index("\n}\n\n\n")]
    function = text[text.index("\ndef layer(") :].partition("\n\n\n")[0].rstrip()
    check(f"{name}_{target}.txt", f"{' '.join(names)}\n{tensors}\n}}\n{function}\n")


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("form", ["dot", "svg"])
def test_the_picture_is_the_recorded_one(name: str, form: str) -> None:
    check(f"{name}.{form}", layer(name, "numpy").picture(form))


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def contains(self, other: Box) -> bool:
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )

    def touches(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def rectangle(element: ET.Element) -> Box:
    x, y, width, height = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
    return Box(x, y, x + width, y + height)


@pytest.mark.parametrize("name", LAYERS)
def test_boxes_are_apart_and_below_their_operands(name: str) -> None:
    """Boxes do not touch, a frame has whole boxes, and arrows go down from box to box."""
    root = ET.fromstring(layer(name, "numpy").picture("svg"))
    page = Box(0, 0, float(root.get("width", "0")), float(root.get("height", "0")))
    rectangles = [x for x in root.iter() if x.tag.endswith("rect") and x.get("x")]
    boxes = [rectangle(x) for x in rectangles if x.get("rx") == "4"]
    frames = [rectangle(x) for x in rectangles if x.get("rx") == "6"]
    assert len(boxes) > 8
    assert all(page.contains(x) for x in (*boxes, *frames))
    assert not any(one.touches(other) for one, other in combinations(boxes, 2))
    assert all(frame.contains(x) or not frame.touches(x) for frame in frames for x in boxes)
    assert all(any(frame.contains(x) for x in boxes) for frame in frames)
    starts = {((x.left + x.right) / 2, x.bottom) for x in boxes}
    ends = {((x.left + x.right) / 2, x.top) for x in boxes}
    arrows = [x for x in root.iter() if x.tag.endswith("path") and x.get("marker-end")]
    for arrow in arrows:
        numbers = [float(x) for x in re.findall(r"-?[\d.]+", arrow.get("d", ""))]
        start, end = (numbers[0], numbers[1]), (numbers[-2], numbers[-1])
        assert start in starts
        assert end in ends
        assert start[1] < end[1] or arrow.get("stroke-dasharray")
    text = layer(name, "numpy").picture("dot")
    assert len(arrows) == text.count(" -> ")
    assert len(boxes) == text.count("fillcolor")
