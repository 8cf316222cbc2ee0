"""`macaw.tiled` and `macaw.untiled`: the layout of `.tiles`, and results of circuits in Rz."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import macaw
from macaw.isa.fim_circuit import ARRANGEMENTS, SIDES
from tests.programs.scripts import PROGRAMS

FORMS = [(row.name, form) for row in ARRANGEMENTS for form in row.formats]


@pytest.mark.parametrize(("layout", "form"), FORMS)
@pytest.mark.parametrize("side", SIDES)
def test_there_and_back(layout: str, form: str, side: str) -> None:
    dtype = {"fp16": np.float16, "fp32": np.float32, "bf16": ml_dtypes.bfloat16}[form]
    matrix = np.arange(21 * 37).reshape(21, 37).astype(dtype)
    columns = macaw.tiled(matrix, layout=layout, side=side)
    assert columns.shape[1] == 32 // matrix.itemsize
    np.testing.assert_array_equal(
        macaw.untiled(columns, matrix.shape, layout=layout, side=side), matrix
    )


def test_as_the_assembler_lays_it_out(tmp_path: Path) -> None:
    matrix = np.arange(9 * 20).reshape(9, 20).astype(np.float16)
    np.save(tmp_path / "m.npy", matrix)
    wanted = macaw.tiled(matrix, layout="outer", side="a")
    source = f"""
        .device tiny
        .output y, float16, {wanted.size}
        .core cp
_start: la a0, what
        dma.copy zero, a0
        dma.wait zero
        li a0, 0
        li a7, 93
        ecall
        .data
        .balign 4
what:   .word y, m, {wanted.nbytes}, 1, 0, 0
        .balign 64
m:      .tiles "m.npy", layout=outer, side=a
"""
    (tmp_path / "m.s").write_text(source)
    found = macaw.run(tmp_path / "m.s").outputs["y"]
    np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)


def test_results_of_a_program() -> None:
    folder = PROGRAMS / "fim_outer"
    a, b = (np.load(folder / f"{name}.npy") for name in "ab")
    run = macaw.run(folder / "outer.s")
    found = macaw.untiled(run.outputs["c"], (64, 64), layout="outer")
    np.testing.assert_array_equal(found, a @ b)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: macaw.tiled(np.zeros(4, np.float16), layout="dot", side="a"), r"shape \(4,\)"),
        (lambda: macaw.tiled(np.zeros((4, 4)), layout="dot", side="a"), "numbers of float64"),
        (lambda: macaw.tiled(np.zeros((4, 4), "f2"), layout="dots", side="a"), "no layout 'dots'"),
        (lambda: macaw.untiled(np.zeros(4, "f2"), (4, 4), layout="dot", side="d"), "no side 'd'"),
        (lambda: macaw.untiled(np.zeros(4, "f2"), (4, 4), layout="dot"), "are 512 bytes, not 8"),
    ],
)
def test_errors(call, message: str) -> None:
    with pytest.raises(macaw.InputError, match=message):
        call()
