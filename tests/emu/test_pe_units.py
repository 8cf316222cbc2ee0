"""Rows of the array: each row uses its own memory unit, and gets a sequence once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.emu.engines import ENGINES

ROW = """
        .core   pe, row={row}
w{row}: .sparse "weights{row}.npy"[0:8]
        .seq    layer{row}
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, layer{row}
        exe     ib=0, last, data=(first{row}, w{row}[0]), out=y{row}
        exe     ib=0, last, data=(second{row}, w{row}[0]), out=z{row}
"""
TENSORS = """
        .input  first{row}, int8, 64, at=unit{row}
        .input  second{row}, int8, 64, at=unit{row}
        .output y{row}, int32, 8, at=unit{row}
        .output z{row}, int32, 8, at=unit{row}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_each_row_has_a_unit_and_a_sequence_that_is_sent_once(tmp_path: Path, engine: str) -> None:
    """Each row uses its own unit; both clusters execute one config, with data of two exes.

    See seed 000 ¶86.
    """
    chance = np.random.default_rng(86)
    weights = [chance.integers(-3, 4, (8, 64)).astype(np.int8) for _ in range(2)]
    for row, array in enumerate(weights):
        np.save(tmp_path / f"weights{row}.npy", array)
    text = "".join(part.format(row=row) for part in (TENSORS, ROW) for row in (0, 1))
    (tmp_path / "rows.s").write_text(f"        .device tiny\n{text}")
    inputs = {
        f"{name}{row}": chance.integers(-9, 9, 64).astype(np.int8)
        for name in ("first", "second")
        for row in (0, 1)
    }
    outputs = macaw.run(tmp_path / "rows.s", inputs, engine=engine).outputs
    for row, array in enumerate(weights):
        for given, found in (("first", "y"), ("second", "z")):
            wanted = array.astype(int) @ inputs[f"{given}{row}"].astype(int)
            assert outputs[f"{found}{row}"].tolist() == wanted.tolist(), (row, given)
