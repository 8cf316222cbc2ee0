"""A run's cautions about overflows of islands, with source lines, as text and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import macaw as api
from macaw.emu.engines import ENGINES
from tests.macaw.conftest import Macaw

pytestmark = pytest.mark.once
SOURCE = """        .device tiny
        .core fim, island=0
        .block banks=(0, 2-3)
        mmr op, mul
        loop 2
        act 0
        rop <- iosa[1]
        rz <- rop * iosa[1]
        gio <- rz
        rz <- rop * gio
        endloop
        end
        .section .fim.0.bank{bank}.row0
        .zero 32
        .short {numbers}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_names_island_bank_format_and_line(macaw: Macaw, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "p.s"
    path.write_text(SOURCE.format(bank=2, numbers="0x7bff, 0x7000, 0x5800"))
    result = macaw("run", path, "--engine", engine)
    assert result.returncode == 0
    warnings = [line for line in result.stderr.splitlines() if "warning" in line]
    text = "in fp16 overflowed, although the operands are finite"
    assert [x.partition(": ")[2] for x in warnings] == [
        f"warning: fim[0], bank 2: 4 results {text}",
        f"warning: fim[0], bank 2: 2 results {text}",
    ]
    assert [x.rpartition("p.s")[2].split(":")[1] for x in warnings] == ["8", "10"]
    document = json.loads(macaw("run", path, "--engine", engine, "--json").stdout)
    assert [(x["place"]["line"], x["count"]) for x in document["cautions"]] == [(8, 4), (10, 2)]
    assert document["counters"]["fim[0]"]["overflows"] == 6


def test_a_run_without_overflow_says_nothing(macaw: Macaw, tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    path.write_text(SOURCE.format(bank=2, numbers="0x3c00, 0x7c00, 0x7e00"))
    assert macaw("run", path).stderr == ""
    assert api.run(path).cautions == ()


def test_items_of_a_batch_add_up(macaw: Macaw, tmp_path: Path) -> None:
    path = tmp_path / "p.s"
    text = SOURCE.partition("        .section")[0]
    path.write_text(text.replace(".core", ".input x, float16, 2, 16, at=island0\n        .core"))
    x = np.full((3, 2, 16), 300, np.float16)  # 300 x 300 is more than 65504
    x[1] = 1
    (caution,) = api.run(path, x=x).cautions
    assert caution.place is not None
    assert (caution.core, caution.count, caution.place[1]) == ("fim[0]", 2 * 2 * 16, 9)
    text = "fim[0], bank 0: 64 results in fp16 overflowed, although the operands are finite"
    assert str(caution) == text
