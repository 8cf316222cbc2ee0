"""programs/sparse_by_cp: the command processor makes dense weights sparse at run time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.asm.data import Array
from macaw.asm.forms.pe.sparse import sparse

FOLDER = Path("programs/sparse_by_cp")
ALONE = """
        .device tiny
        .input  w, int8, {rows}, {columns}
        .output records, uint8, {room}
        .output bytes, uint32, 1
        .core   cp
_start: la      a0, w
        li      a1, {rows}
        li      a2, {columns}
        la      a3, records
        call    to_sparse
        la      t0, records
        sub     a0, a0, t0
        la      t1, bytes
        sw      a0, (t1)
        li      a0, 0
        li      a7, 93
        ecall
        .include "to_sparse.inc"
"""


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_records_are_those_of_the_directive(seed, density):
    """cp makes the records that `.sparse` makes for the same weights (seed 000 ¶91)."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 9)), int(rng.integers(1, 40))
    if seed == 5:
        rows, columns = 2, 300  # indices and counts of two bytes
    values = rng.integers(1, 256, (rows, columns)) * (rng.random((rows, columns)) < density)
    w = values.astype(np.uint8).view(np.int8)
    text = ALONE.format(rows=rows, columns=columns, room=rows * (2 + 3 * columns))
    run = macaw.run(macaw.assemble(macaw.Source(text, "alone.s", FOLDER)), w=w)
    expected = sparse(Array("int8", w.shape, w.tobytes()), ["int8"], rows).data
    assert run.outputs["bytes"] == len(expected)
    assert run.outputs["records"].tobytes()[: len(expected)] == expected
    assert not run.outputs["records"][len(expected) :].any()


@pytest.mark.parametrize("seed", range(4))
def test_the_layer_against_numpy(seed):
    """The layer equals NumPy's for weights that come with the run (seed 000 ¶91)."""
    rng = np.random.default_rng(seed)
    w = rng.integers(-128, 128, (8, 64)) * (rng.random((8, 64)) < seed / 3)
    x = rng.integers(-128, 128, 64)
    program = macaw.assemble(FOLDER / "sparse_by_cp.s")
    run = macaw.run(program, x=x.astype(np.int8), w=w.astype(np.int8))
    np.testing.assert_array_equal(run.outputs["y"], w @ x)
    assert run.outputs["bytes"] == 2 * 8 + 3 * np.count_nonzero(w)
