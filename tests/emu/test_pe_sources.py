"""Convolutions in assembly, with loops, steps, triggers and windows, equal NumPy's."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw

MANUAL = Path(__file__).parents[2] / "docs" / "language.md"
CONVOLUTION, DEPTHWISE = (
    textwrap.dedent(block)
    for block in re.findall(
        r"(?:^    .*\n)+",
        MANUAL.read_text("utf-8")
        .split("## A convolution, and a depthwise one\n")[1]
        .split("\n## ")[0],
        re.M,
    )
)

NORM = """
        .device tiny
        .input  x, int8, 16
        .output top, int32, 2                   # a result a cluster
        .core   pe, row=0
w:      .npy    "dense.npy"
        .seq    greatest, reduction=max
          ld    both
          mac   base=0, acc=0, sfu
          spu   reduce, dst=2
          st    base=2
        .endseq
        config  ib=0, greatest
        exe     ib=0, last, data=(weights w sliced compress, x), out=(top, stride=1, pes=5)
"""


def run(tmp_path: Path, text: str, arrays: dict[str, NDArray[Any]], **inputs: Any) -> Any:
    source = tmp_path / "p.s"
    source.write_text(text)
    for name, array in arrays.items():
        np.save(tmp_path / name, array)
    program = macaw.assemble(str(source))
    assert not program.warnings
    return macaw.run(program, **inputs)


@pytest.mark.once
def test_convolution(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kernels, x = rng.integers(-3, 4, (8, 3, 3)), rng.integers(-4, 5, (16, 16))
    weights = np.zeros((8, 35), np.int8)
    for row in range(3):
        weights[:, 16 * row : 16 * row + 3] = kernels[:, row]
    found = run(tmp_path, CONVOLUTION, {"kernels.npy": weights}, x=x.astype(np.int8))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    wanted = np.einsum("yxij,kij->kyx", windows, kernels).clip(0)
    assert found.outputs["y"].tolist() == wanted.tolist()


def test_depthwise(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    strips, kernels = rng.integers(-8, 8, (8, 3, 9)), rng.integers(-8, 8, (8, 3, 3))
    columns = strips.transpose(0, 2, 1).reshape(8, 27).astype(np.int8)
    taps = kernels.transpose(0, 2, 1).reshape(8, 9).astype(np.int8)
    found = run(tmp_path, DEPTHWISE, {}, x=columns, k=taps)
    wanted = [[(strips[c, :, n : n + 3] * kernels[c]).sum() for n in range(7)] for c in range(8)]
    assert found.outputs["y"].tolist() == np.array(wanted).tolist()


@pytest.mark.parametrize("seed", [2, 3])
def test_compression_and_reduction(tmp_path: Path, seed: int) -> None:
    """With a reduction, PE 0 of each cluster stores one byte, which has NumPy's value."""
    rng = np.random.default_rng(seed)
    weights = (rng.integers(-9, 9, (8, 16)) * (rng.random((8, 16)) < 0.5)).astype(np.int8)
    x = rng.integers(-9, 9, 16).astype(np.int8)
    found = run(tmp_path, NORM, {"dense.npy": weights}, x=x)
    wanted = (weights.astype(int) @ x).reshape(2, 4).max(axis=1)
    assert found.outputs["top"].tolist() == wanted.tolist()


STREAMED = """
        .core   pe, row={row}
w{row}: .sparse "w.npy", clusters=2, pes=4
        .seq    sums{row}
          ld    weights
          ld    activations
          mac   acc=0
          mac   acc=1
          spu   nonsf, src=0, dst=0
          spu   nonsf, src=1, dst=1
          st    base=1                          # streamed results are not stored by st
        .endseq
        config  ib=0, sums{row}
        exe     ib=0, shift, last, data=(w{row}, x), out=(y[{at}], stride=4, step=32)
"""


@pytest.mark.once
def test_all_streamed_results_of_two_rows_are_copied(tmp_path: Path) -> None:
    """Each row streams two results of each PE into its half of one output."""
    text = "        .device tiny\n        .input  x, int8, 4\n        .output y, int32, 32\n"
    text += STREAMED.format(row=0, at="0:16") + STREAMED.format(row=1, at="16:32")
    w, x = np.arange(32, dtype=np.int8).reshape(8, 4), np.array([1, 2, 3, 4], np.int8)
    y = run(tmp_path, text, {"w.npy": w}, x=x).outputs["y"]
    assert y.tolist() == (w.astype(int) @ x).tolist() * 4
