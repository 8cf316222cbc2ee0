"""The arithmetic of generated software against the emulator's, function by function."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from macaw.emu.nnp import numbers
from macaw.isa.config import Configuration, load
from macaw.lowering.concord import arithmetic
from macaw.lowering.errors import LowerError

FUNCTIONS = "vv_add vv_a_sub_b vv_b_sub_a vv_mul vv_max v_relu v_sigm v_tanh v_softmax mv_mul quantise quantise_matrix requantise widen narrow".split()


def device(**values: Any) -> Configuration:
    changed = {f"nnp.{name}": value for name, value in values.items()}
    return Configuration("other", {**load("tiny"), **changed})


def functions(target: str, config: Configuration, columns: int = 64) -> dict[str, Any]:
    """The functions of a generated file, by name."""
    imports, constants, found = arithmetic.requirements(target, config, columns, FUNCTIONS)
    space: dict[str, Any] = {"__name__": "test"}
    text = "\n\n".join(piece.text for piece in (*imports, *constants, *found))
    exec(compile(text, "generated", "exec"), space)
    return space


def result(
    target: str, space: dict[str, Any], call: Callable[..., Any], *arrays: np.ndarray
) -> np.ndarray:
    """The result of `call` on host arrays, as a host array."""
    if target == "numpy":
        with np.errstate(all="ignore"):
            return space["narrow"](call(*map(space["widen"], arrays)))
    import onnxruntime

    names = [f"x{place}" for place in range(len(arrays))]
    space["INPUTS"] = {name: array.shape for name, array in zip(names, arrays, strict=True)}
    space["STEPS"] = {}
    space["layer"] = lambda **inputs: {
        "y": space["narrow"](call(*map(space["widen"], inputs.values())))
    }
    model = space["model"]().SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, arrays, strict=True)))[0]


def same(one: np.ndarray, other: np.ndarray) -> bool:
    assert (one.shape, one.dtype) == (other.shape, other.dtype)
    unsigned = f"u{one.itemsize}"
    bits = np.ascontiguousarray(one).view(unsigned) == np.ascontiguousarray(other).view(unsigned)
    return bool((bits | (np.isnan(one) & np.isnan(other))).all())


EVERY_FP16 = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(256, 256)


@pytest.mark.parametrize("target", ["numpy", "onnx"])
@pytest.mark.parametrize(
    ("name", "wanted"),
    [("v_sigm", numbers.sigmoid), ("v_tanh", numbers.tanh), ("v_relu", numbers.relu)],
)
def test_every_number_of_fp16(target: str, name: str, wanted: Callable[..., Any]) -> None:
    space = functions(target, device(host_format="fp16"))
    assert same(result(target, space, space[name], EVERY_FP16), wanted(EVERY_FP16))


@pytest.mark.parametrize("target", ["numpy", "onnx"])
@pytest.mark.parametrize("host", ["fp16", "fp32"])
def test_pairs_of_any_bits(target: str, host: str) -> None:
    """Functions agree for random bits and special numbers: infinities, NaN, ±0, subnormals."""
    dtype = np.dtype(numbers.HOST[host])
    space = functions(target, device(host_format=host))
    rng = np.random.default_rng(3)
    kinds = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 65504.0, 6e-8, -6e-8])
    bits = rng.integers(0, 256, 2 * 4000 * dtype.itemsize, dtype=np.uint8).view(dtype)
    x, y = (np.concatenate([part, grid]) for part, grid in zip(
        bits.reshape(2, 4000), (np.repeat(kinds, 10).astype(dtype), np.tile(kinds, 10).astype(dtype)), strict=True
    ))  # fmt: skip
    x, y = x.reshape(41, 100), y.reshape(41, 100)
    calls: dict[str, Callable[..., Any]] = {
        "vv_add": numbers.add,
        "vv_a_sub_b": numbers.subtract,
        "vv_b_sub_a": lambda a, b: numbers.subtract(b, a),
        "vv_mul": numbers.multiply,
        "vv_max": numbers.maximum,
    }
    for name, wanted in calls.items():
        assert same(result(target, space, space[name], x, y), wanted(x, y)), name
    for name, curve in (("v_sigm", numbers.sigmoid), ("v_tanh", numbers.tanh)):
        assert same(result(target, space, space[name], x), curve(x)), name


@pytest.mark.few(5)
@pytest.mark.parametrize("target", ["numpy", "onnx"])
@pytest.mark.parametrize("host", ["fp16", "fp32"])
@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0])
def test_softmax(target: str, host: str, scale: float) -> None:
    space = functions(target, device(host_format=host))
    rng = np.random.default_rng(int(scale))
    x = (rng.normal(size=(20, 48)) * scale).astype(numbers.HOST[host])
    x[3, 5], x[4, :] = np.inf, -np.inf
    for valid in (1, 7, 48):
        found = result(target, space, lambda v: space["v_softmax"](v, valid), x)  # noqa: B023
        assert same(found, numbers.softmax(x, valid))


# Arguments whose results lie within 2**-49 of a tie, where binary64 does not decide; found by
# trying every binary32 number. Bits of the argument and of the result, of e**x units of 2**-40.
TANH = [
    (0x3AC37DE2, 0x3AC37DD9),
    (0x3CD41B91, 0x3CD40F70),
    (0x3EEE0566, 0x3EDE3CBE),
    (0x40ACB4D0, 0x3F7FFD50),
]
EXP = [
    (0xB3000000, 0x10000000000),
    (0xBAE0E25C, 0xFF8FA70000),
    (0xBBB70EE8, 0xFE92E80000),
    (0xBBF0EDF1, 0xFE1FE90000),
    (0xBC2A461A, 0xFD5A6E0000),
]


@pytest.mark.parametrize("target", ["numpy", "onnx"])
def test_binary32_curves_next_to_ties(target: str) -> None:
    space = functions(target, device(host_format="fp32"))
    x, wanted = np.array(TANH, np.uint32).view(np.float32).T.copy()[:, None, :]
    assert same(result(target, space, space["v_tanh"], x), wanted)
    # 1/2 + x/4 - x**3/48 with x/4 an odd number of half last places: just below the tie.
    k = np.arange(200)
    x = ((2 * k + 1) * 2.0**-23).astype(np.float32)[None]
    wanted = (0.5 + k * 2.0**-24 * 1.0).astype(np.float32)[None]
    assert same(result(target, space, space["v_sigm"], x), wanted)


def test_binary32_exponentials_next_to_ties() -> None:
    space = functions("numpy", device(host_format="fp32"))
    x = np.array([bits for bits, _ in EXP], np.uint32).view(np.float32).astype(np.float64)
    found = space["host_pair"](space["exp_pair"](x), -40) * 2.0**40
    assert found.tolist() == [float(units) for _, units in EXP]


def test_binary32_curves() -> None:
    space = functions("numpy", device(host_format="fp32"))
    rng = np.random.default_rng(5)
    near = np.concatenate([rng.normal(size=50_000) * s for s in (1e-3, 0.1, 1, 10)])
    x = near.astype(np.float32).reshape(200, 1000)
    assert same(result("numpy", space, space["v_sigm"], x), numbers.sigmoid(x))
    assert same(result("numpy", space, space["v_tanh"], x), numbers.tanh(x))


KINDS = [
    {"quantise": "bfp", "vector_bits": 16, "matrix_bits": 16},
    {"quantise": "bfp", "vector_bits": 3, "matrix_bits": 5},
    {"quantise": "int", "vector_bits": 8, "matrix_bits": 16},
    {"quantise": "log", "vector_bits": 4, "matrix_bits": 4},
    {"quantise": "log", "vector_bits": 16, "matrix_bits": 6},
    {"quantise": "float", "float_exponent_bits": 4, "float_mantissa_bits": 3},
    {"quantise": "float", "float_exponent_bits": 5, "float_mantissa_bits": 10},
    {"quantise": "mx", "vector_element": "e4m3", "matrix_element": "e2m1"},
    {"quantise": "mx", "vector_element": "int8", "matrix_element": "e3m2", "mx_block": 4},
    {"quantise": "mx", "vector_element": "e2m3", "matrix_element": "e4m3", "mx_block": 2},
    {"quantise": "mx", "vector_element": "e5m2", "matrix_element": "e5m2"},
    {"quantise": "mx", "vector_element": "e5m2", "matrix_element": "e4m3", "mx_block": 4},
]


@pytest.mark.parametrize("target", ["numpy", "onnx"])
@pytest.mark.parametrize("values", KINDS, ids=lambda item: "-".join(map(str, item.values())))
@pytest.mark.parametrize("host", ["fp16", "fp32"])
def test_products(target: str, values: dict[str, Any], host: str) -> None:
    """Products agree if columns differ in size, so that sums lose bits (seed 003 ¶39)."""
    native, rows, columns = 8, 3, 5
    dtype = numbers.HOST[host]
    config = device(native=native, host_format=host, **values)
    vector, matrix = numbers.quantisers(config)
    space = functions(target, config, columns * native)
    rng = np.random.default_rng(9)
    sizes = 2.0 ** rng.integers(-12, 4, columns).repeat(native)
    x = (rng.normal(size=(6, columns * native)) * sizes).astype(dtype)
    w = (rng.normal(size=(rows * native, columns * native)) * sizes[::-1]).astype(dtype)
    w[5], x[:, native : 2 * native] = 0, 0
    tiles = w.reshape(rows, native, columns, native).transpose(0, 2, 1, 3)
    product = numbers.Tiles(numbers.quantise(tiles, matrix), matrix, vector)
    blocks = x.reshape(6, columns, native)
    wanted = product.times(numbers.quantise(blocks, vector), dtype).reshape(6, -1)

    def call(left: Any, right: Any) -> Any:
        return space["mv_mul"](space["quantise_matrix"](left), space["quantise"](right))

    assert same(result(target, space, call, w, x), wanted)
    back = numbers.requantise(blocks, vector).reshape(x.shape)
    assert same(result(target, space, space["requantise"], x), back)


def test_a_nan_is_refused_at_a_quantiser() -> None:
    space = functions("numpy", device())
    with pytest.raises(ValueError, match="a quantiser met a NaN"):
        space["quantise"](np.full((1, 4), np.nan))


def test_rows_that_no_sum_holds() -> None:
    for values in ({"quantise": "bfp"}, {"quantise": "float", "float_exponent_bits": 5}):
        with pytest.raises(LowerError, match="sums"):
            arithmetic.templates("numpy", device(**values), 1 << 34)


@pytest.mark.parametrize(
    ("values", "narrow"),
    [  # the bits of a product, and of the columns that are summed: 53 together are exact
        ({"quantise": "int", "vector_bits": 16, "matrix_bits": 16}, 1 << 23),
        ({"quantise": "int", "vector_bits": 3, "matrix_bits": 16}, 1 << 36),
        ({"quantise": "log", "vector_bits": 4, "matrix_bits": 4}, 1 << 41),
        ({"quantise": "log", "vector_bits": 5, "matrix_bits": 3}, 1 << 37),
        ({"quantise": "float", "float_exponent_bits": 4, "float_mantissa_bits": 3}, 1 << 19),
    ],
    ids=lambda item: "-".join(map(str, item.values())) if isinstance(item, dict) else "",
)
def test_sums_that_binary64_may_round_are_refused_or_computed_in_parts(
    values: dict[str, Any], narrow: int
) -> None:
    config = device(**values)
    for columns in (1, narrow):
        found = arithmetic.templates("numpy", config, columns)
        assert found == ["numpy", "numbers", "exact", values["quantise"], "narrow", "fp16"]
    with pytest.raises(LowerError, match=f"a row of {narrow + 1} elements; sums of"):
        arithmetic.templates("numpy", config, narrow + 1)
    long = device(quantise="log", vector_bits=16, matrix_bits=16)  # 30 bits each: 20 and 10
    for columns in (1, 1 << 13):  # 20 + 20 + 13 digits of the greatest sum of parts
        assert "wide" in arithmetic.templates("numpy", long, columns)
    with pytest.raises(LowerError, match="a row of 8193 elements; sums of log are exact"):
        arithmetic.templates("numpy", long, (1 << 13) + 1)
