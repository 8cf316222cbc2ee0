"""Arrays for declared inputs: type, shape, batch axis, and the texts of errors."""

import re

import numpy as np
import pytest

from macaw.asm.program import Program, Tensor
from macaw.errors import InputError
from macaw.input_binding import bind, check_outputs

PROGRAM = Program(
    tensors=(
        Tensor("x", "input", "int8", (2, 3), 0x8000_0000),
        Tensor("bias", "input", "int32", (), 0x8000_0040),
        Tensor("y", "output", "int32", (2,), 0x8000_0080),
    )
)
X = np.arange(6, dtype=np.int8).reshape(2, 3)
BIAS = np.array(7, dtype=np.int32)


def refused(**given: object) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        bind(PROGRAM, given)
    return caught.value.message, caught.value.hint


def test_declared_shapes_run_once() -> None:
    binding = bind(PROGRAM, {"x": X, "bias": BIAS})
    assert binding.items is None
    np.testing.assert_array_equal(binding.item(0)["x"], X)


def test_one_more_leading_axis_runs_once_an_item() -> None:
    """One more leading axis of an input runs the program once for each item (seed 000 ¶138)."""
    stack = np.stack([X, X + 1, X + 2])
    binding = bind(PROGRAM, {"x": stack, "bias": BIAS})
    assert binding.items == 3
    np.testing.assert_array_equal(binding.item(2)["x"], X + 2)
    assert binding.item(2)["bias"] == 7


def test_batch_axes_must_agree() -> None:
    message, _ = refused(x=np.stack([X, X]), bias=np.zeros(3, dtype=np.int32))
    assert message == "the inputs' batch axes differ: x has 2, bias has 3"


def test_an_empty_batch() -> None:
    message, _ = refused(x=np.zeros((0, 2, 3), dtype=np.int8), bias=BIAS)
    assert message == "the batch axis of x is empty: nothing to run"


def test_an_input_that_is_not_given() -> None:
    assert refused(x=X) == (
        "1 input not given: bias (int32, scalar)",
        "bias=ARRAY, or a mapping of arrays by name",
    )
    assert refused()[0] == "2 inputs not given: x (int8, 2 × 3), bias (int32, scalar)"


def test_an_unknown_input() -> None:
    assert refused(x=X, bais=BIAS) == ("the program has no input 'bais'", "did you mean 'bias'?")
    message, hint = refused(x=X, zzz=BIAS)
    assert message == "the program has no input 'zzz'"
    assert hint == "its inputs are x (int8, 2 × 3), bias (int32, scalar)"


def test_an_input_of_a_program_without_any() -> None:
    with pytest.raises(InputError) as caught:
        bind(Program(), {"x": X})
    assert caught.value.hint == "it declares no input (.input NAME, TYPE, DIMENSION...)"


def test_another_type() -> None:
    assert refused(x=X.astype(np.int64), bias=BIAS) == (
        "input x is int8, the array given is int64",
        "convert it with array.astype('int8')",
    )
    for values in (X.astype(np.int64) + 200, X / 3, np.full((2, 3), np.nan)):
        _, hint = refused(x=values, bias=BIAS)
        assert hint == "not all values fit: scale and round them to -128 to 127, then convert"
    texts = np.full((2, 3), "a")
    assert refused(x=texts, bias=BIAS)[1] == "convert it with array.astype('int8')"


@pytest.mark.parametrize("shape", [(3, 2), (6,), (), (1, 1, 2, 3), (2, 3, 1)])
def test_another_shape(shape: tuple[int, ...]) -> None:
    message, hint = refused(x=np.zeros(shape, dtype=np.int8), bias=BIAS)
    assert re.fullmatch("input x is 2 × 3, the array given is .*", message)
    assert hint == "2 × 3, or one more leading axis to run the program once an item"


def test_big_endian_and_fortran_arrays_are_the_same_numbers() -> None:
    binding = bind(PROGRAM, {"x": np.asfortranarray(X), "bias": BIAS.astype(">i4")})
    assert binding.item(0)["x"].tobytes() == X.tobytes()
    assert binding.item(0)["bias"].tobytes() == b"\7\0\0\0"


def test_lists_are_converted_if_they_fit() -> None:
    binding = bind(PROGRAM, {"x": [[1, 2, 3], [4, 5, -128]], "bias": 9})
    assert binding.item(0)["x"].dtype == np.int8
    assert binding.item(0)["bias"] == 9


@pytest.mark.parametrize(
    "values", [[[1, 2, 3], [4, 5, 128]], [[1, 2, 3], [4, 5, 0.5]], "abc", None]
)
def test_values_that_do_not_fit(values: object) -> None:
    message, _ = refused(x=values, bias=BIAS)
    assert message == "input x: the values given do not fit int8"


@pytest.mark.parametrize(
    ("element_type", "value", "greatest"),
    [
        ("int64", 2.0**63, 2**63 - 1),
        ("float16", 65520.0, 65504.0),
        ("float16", -(10**9), -65504),
        ("float32", 1e39, 3.4e38),
        ("bfloat16", 3.4e38, 3.38e38),
    ],
)
def test_numbers_beyond_the_range_of_a_type(
    element_type: str, value: float, greatest: float
) -> None:
    """They became another number or infinity, with a warning of NumPy at best."""
    program = Program(tensors=(Tensor("x", "input", element_type, (2,), 0x8000_0000),))
    with pytest.raises(InputError, match=f"^input x: the values given do not fit {element_type}$"):
        bind(program, {"x": [0, value]})
    found = bind(program, {"x": [0, greatest]}).item(0)["x"]
    assert np.isfinite(found).all()
    assert np.sign(found[1]) == np.sign(greatest)
    if element_type.startswith("float"):
        assert np.isinf(bind(program, {"x": [0, np.inf]}).item(0)["x"][1])
        with pytest.raises(InputError) as caught:
            bind(program, {"x": np.array([0.0, value])})
        most = f"{np.finfo(element_type).max:g}"
        assert (
            caught.value.hint == f"not all values fit: scale them to at most {most}, then convert"
        )


def test_a_ragged_list() -> None:
    message, _ = refused(x=[[1, 2, 3], [4]], bias=BIAS)
    assert message.startswith("input x: no array can be made of it")


def test_an_unknown_output() -> None:
    check_outputs(PROGRAM, {"y": "y.npy"})
    with pytest.raises(InputError, match="the program has no output 'z'") as caught:
        check_outputs(PROGRAM, {"z": "z.npy"})
    assert caught.value.hint == "its outputs are y (int32, 2)"
