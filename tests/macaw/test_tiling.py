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
    dtype = {"fp16": np.float16, "fp32": np.float32, "bf16": ml_dtypes.bfloat16}.get(form, np.int8)
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


@pytest.mark.parametrize("layout", [name for name, form in FORMS if form == "bf16"])
@pytest.mark.parametrize("side", SIDES)
def test_the_three_kinds_of_arrays_with_bf16_numbers(layout: str, side: str) -> None:
    """float32 with the format's name, ml_dtypes and V2 have the same tiles, of 16 lanes."""
    matrix = (np.random.default_rng(3).normal(size=(21, 37)) * 1e9).astype(ml_dtypes.bfloat16)
    numbers = matrix.astype(np.float32)
    wanted = macaw.tiled(matrix, layout=layout, side=side)
    raw = macaw.tiled(matrix.view("V2"), layout=layout, side=side)
    assert raw.dtype == np.dtype("V2")
    assert raw.tobytes() == wanted.tobytes()
    found = macaw.tiled(numbers, layout=layout, side=side, number_format="bf16")
    assert found.dtype == np.float32
    assert found.shape[1] == 16
    np.testing.assert_array_equal(found, wanted.astype(np.float32))
    back = macaw.untiled(found, (21, 37), layout=layout, side=side, number_format="bf16")
    np.testing.assert_array_equal(back, numbers)
    assert macaw.untiled(raw, (21, 37), layout=layout, side=side).tobytes() == matrix.tobytes()


def test_results_of_a_program_in_bf16(tmp_path: Path) -> None:
    """The output of a dot is float32; as bf16 its tiles are the product of the matrices."""
    dots = "".join(
        f"  rop <- iosa[{i}]\n  rz <- rop * iosa[{4 + j}]\n" for i in range(4) for j in range(4)
    )
    (tmp_path / "p.s").write_text(f"""
        .device aim
        .input  a, bfloat16, 4, 16, at=island0
        .input  b, bfloat16, 4, 16, at=island0
        .output c, bfloat16, 16, 16, at=island0
        .core   fim, island=0
        .block  banks=0
          mmr   format, bf16
          mmr   op, mul
          mmr   arrange, dot
          act   0
{dots}
          iosa[8] <- rz
        end
""")
    random = np.random.default_rng(9)
    a, b = (random.integers(-4, 5, (4, 16)).astype(np.float32) for _ in "ab")
    run = macaw.run(tmp_path / "p.s", a=a, b=b)
    found = macaw.untiled(run.outputs["c"], (4, 4), layout="dot", number_format="bf16")
    np.testing.assert_array_equal(found, a @ b.T)  # integers to 256, which bf16 has


def test_hints_about_bf16() -> None:
    inexact = np.full((4, 4), 1.001, np.float32)
    for call, message, hint in (
        (lambda: macaw.tiled(inexact, layout="dot", side="a", number_format="bf16"),
         "the array is float32 and does not have bf16 numbers",
         "macaw.round_bfloat16(array) rounds numbers; float32 holds the result"),
        (lambda: macaw.tiled(inexact, layout="dot", side="a", number_format="fp16"),
         "the array is float32 and does not have fp16 numbers", "array.astype(np.float16)"),
        (lambda: macaw.untiled(inexact, (4, 4), layout="tensor"),
         "the layout tensor takes fp16 or bf16, not fp32",
         'number_format="bf16" says that float32 numbers are bf16'),
        (lambda: macaw.tiled(inexact, layout="dot", side="a", number_format="bf61"),
         "no number format 'bf61'", "did you mean 'bf16'?"),
    ):  # fmt: skip
        with pytest.raises(macaw.InputError) as caught:
            call()
        assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: macaw.tiled(np.zeros(4, np.float16), layout="dot", side="a"), r"shape \(4,\)"),
        (lambda: macaw.tiled(np.zeros((0, 4), "f2"), layout="dot", side="a"), r"shape \(0, 4\)"),
        (lambda: macaw.tiled(np.zeros((4, 4)), layout="dot", side="a"), "numbers of float64"),
        (lambda: macaw.tiled(np.zeros((4, 4), "f2"), layout="dots", side="a"), "no layout 'dots'"),
        (lambda: macaw.untiled(np.zeros(4, "f2"), (4, 4), layout="dot", side="d"), "no side 'd'"),
        (lambda: macaw.untiled(np.zeros(4, "f2"), (4, 4), layout="dot"), "are 512 bytes, not 8"),
    ],
)
def test_errors(call, message: str) -> None:
    with pytest.raises(macaw.InputError, match=message):
        call()
