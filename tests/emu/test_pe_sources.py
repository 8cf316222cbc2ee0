"""Convolutions as somebody writes them: sources with loops, steps, triggers, windows; by NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw

CONVOLUTION = """
        .device tiny
        .input  x, int8, 16, 16                 # 14 x 14 with a rim
        .output y, int8, 8, 14, 14
        .core   pe, row=0
w:      .sparse "kernels.npy"                   # row r of a kernel at 16 * r
        .seq    conv, state=rq, pipeline=4, activation=relu
        .loop   inner=14, outer=14
        .step   mac.base, inner=1, outer=2
        .step   spu.dst, inner=1
        .then   ib=5
          ld    activations
          ld    weights
          mac   base=0, acc=0, balance, sfu
          spu   activation, dst=0
        .endseq
        .seq    store
          st    base=0
        .endseq
        config  ib=4, conv
        config  ib=5, store
        exe     ib=4, last, data=(x, w), out=(y, count=196)
"""

DEPTHWISE = """
        .device tiny
        .input  x, int8, 8, 27                  # a channel a PE: 3 rows of 9, column by column
        .input  k, int8, 8, 9
        .output y, int32, 8, 7
        .core   pe, row=0
        .seq    depthwise, state=sw, window=9, pop=3
        .loop   inner=7
          ld    weights
          ld    activations
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, depthwise
        exe     ib=0, last, data=(weights x sliced, k sliced), out=(y, stride=28, step=4)
"""

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
    """PE 0 of each cluster stores: PE indices 0 and 4, a byte each apart."""
    rng = np.random.default_rng(seed)
    weights = (rng.integers(-9, 9, (8, 16)) * (rng.random((8, 16)) < 0.5)).astype(np.int8)
    x = rng.integers(-9, 9, 16).astype(np.int8)
    found = run(tmp_path, NORM, {"dense.npy": weights}, x=x)
    wanted = (weights.astype(int) @ x).reshape(2, 4).max(axis=1)
    assert found.outputs["top"].tolist() == wanted.tolist()
