"""The program of docs/timing-vc.md takes the cycles and gives the results of the page."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np

import macaw

PAGE = Path(__file__).parents[2] / "docs" / "timing-vc.md"


def test_the_program_of_the_page(tmp_path: Path) -> None:
    block = re.search(r"(?:^    .*\n(?:\n+(?=    ))?)+", PAGE.read_text("utf-8"), re.M)
    assert block is not None
    source = tmp_path / "dot.s"
    source.write_text(textwrap.dedent(block[0]), "utf-8")
    x = np.arange(100, 116, dtype=np.uint8)
    weights = np.arange(1, 17)  # in their own order
    run = macaw.run(source, x=x)
    products = x.astype(int) * weights
    assert run.outputs["y"].tolist() == products.reshape(4, 4).sum(1).tolist()
