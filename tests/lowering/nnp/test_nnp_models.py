"""Models on nnp give the bits of concordant software, near the results in binary64."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import macaw
from tests.lowering.nnp.models import MODELS, numbers, outputs, perceptron, recurrent
from tests.lowering.nnp.random_models import random_model
from tests.lowering.nnp.running import check, inputs_of
from tests.lowering.onnx.models import NODE, model

DOCS = Path(__file__).parents[3] / "docs"
TINY = macaw.configuration("tiny")
CLOSE = 0.005  # of the greatest number, for fp16 and mantissas of 16 bits
QUANTISERS: dict[str, tuple[dict[str, bool | int | float | str], float]] = {
    "bfp 8": ({"nnp.vector_bits": 8, "nnp.matrix_bits": 8}, 0.1),
    "int": ({"nnp.quantise": "int"}, 10),  # fractions become integers
    "log": ({"nnp.quantise": "log", "nnp.vector_bits": 8, "nnp.matrix_bits": 8}, 2),
    "float": ({"nnp.quantise": "float"}, 0.5),
    "fp32": ({"nnp.host_format": "fp32"}, CLOSE),
    "switches": ({"nnp.quantise_mvm_out": True, "nnp.quantise_mfu_in": True}, CLOSE),
}
LARGE = TINY.changed({"nnp.matrix_rf": 4096, "nnp.mul_vrf": 4096})
REFUSAL = re.compile(
    r"^(node|layer|the input|the output|the program|the value|the constants|the matri|constants) .+"
)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_the_bits_of_its_software(name):
    made = MODELS[name]()
    assert check(made, inputs_of(made, np.random.default_rng(1)), TINY).error < CLOSE


@pytest.mark.once
@pytest.mark.parametrize("name", QUANTISERS)
def test_quantisers_and_formats(name):
    changes, close = QUANTISERS[name]
    made = recurrent("LSTM", 2, 1)
    checked = check(made, inputs_of(made, np.random.default_rng(2)), TINY.changed(changes))
    assert checked.error < close


@pytest.mark.once
def test_onnx_is_a_witness_too():
    made = perceptron(6, 5)
    assert check(made, inputs_of(made, np.random.default_rng(3)), TINY, "onnx").error < CLOSE


def test_the_source_is_readable():
    source = macaw.compile(recurrent("GRU", 4, 1), device="tiny", core="nnp").source
    for line in (
        "# ---------------- gru: 4 steps",
        "        .hint   tensor gru_Rz, MatrixRf, gru_Rz, 6, 6",
        "        .hint   tensor x, NetInQ, 0, 4, 5",
        "        .rept   4",
        "        vv_add  AddSubVrf0, gru_xr + STEP * 2",
    ):
        assert line in source.splitlines()


def test_functions_join_the_chain_of_a_product():
    network = macaw.compile(perceptron(10, 9, 5), device="tiny", core="nnp")
    words = mnemonics(network.source, "fc0_W")
    assert words == ["v_rd", "mv_mul", "vv_add", "v_relu", "v_wr_inc"]


def mnemonics(source: str, matrix: str) -> list[str]:
    """The mnemonics of the chain that multiplies by a matrix."""
    words = [line.split()[0] for line in source.splitlines() if line.startswith("        ")]
    texts = [line.split() for line in source.splitlines() if line.startswith("        ")]
    at = texts.index(["mv_mul", matrix])
    start = max(n for n in range(at) if words[n].startswith("v_rd"))
    end = next(n for n in range(at, len(words)) if words[n].startswith("v_wr"))
    return words[start : end + 1]


# --- memories ---


def test_matrices_that_do_not_fit_are_loaded_in_groups():
    made = perceptron(16, 16, 16, 16, 4)  # 16, 16, 16 and 4 tiles
    device = TINY.changed({"nnp.matrix_rf": 32})
    checked = check(made, inputs_of(made, np.random.default_rng(4)), device)
    assert checked.network.source.count("m_wr") == 2
    assert checked.error < CLOSE


def test_values_that_do_not_fit_are_in_dram():
    made = perceptron(16, 16, 4)
    device = TINY.changed({f"nnp.{name}": 6 for name in ("initial_vrf", "mul_vrf", "add_sub_vrf1")})
    device = device.changed({"nnp.add_sub_vrf0": 5})
    checked = check(made, inputs_of(made, np.random.default_rng(5)), device)
    assert "v_wr_inc Dram, r0, 4" in checked.network.source
    assert checked.error < CLOSE


def test_the_inputs_of_long_sequences_are_multiplied_in_the_loop():
    made = recurrent("LSTM", 6, 1)
    device = TINY.changed({"nnp.add_sub_vrf0": 64})
    checked = check(made, inputs_of(made, np.random.default_rng(6)), device)
    assert "v_rd    InitialVrf, x_in + STEP * 2" in checked.network.source
    assert checked.error < CLOSE


def test_rows_of_more_than_fifteen_vectors_have_a_unit():
    made = model([NODE("Tanh", ["x"], ["y"], "tanh"), NODE("Sigmoid", ["y"], ["z"])], {"x": (3, 70)}, outputs(y=(3, 70), z=(3, 70)))  # fmt: skip
    checked = check(made, inputs_of(made, np.random.default_rng(7)), TINY)
    assert "SetIncrementUnit(18)" in checked.network.source
    assert "v_wr_inc MulVrf, y_2, 1" in checked.network.source


def test_rows_without_a_common_unit_are_repeated_as_text():
    """If layers have rows of 17 and 18 vectors, chains are repeated as text.

    As increments, 17 and 18 are too large in units of 1, and they have no larger common unit.
    """
    made = perceptron(70, 66, 70)
    checked = check(made, inputs_of(made, np.random.default_rng(7)), LARGE)
    assert "ROW * 18" in checked.network.source
    assert "ROW * 17" in checked.network.source


def test_images_of_more_than_fifteen_vectors_a_position():
    made = model(
        [NODE("Conv", ["x", "W"], ["y"], "conv", pads=[1] * 4), NODE("Tanh", ["y"], ["z"])],
        {"x": (1, 1, 2, 2)}, outputs(y=(1, 70, 2, 2), z=(1, 70, 2, 2)), W=numbers(70, 1, 3, 3),
    )  # fmt: skip
    checked = check(made, inputs_of(made, np.random.default_rng(8)), LARGE)
    assert "SetIncrementUnit(18)" in checked.network.source


def _joined_images():
    """A model whose sum of two images (18 vectors a position) is joined to a third image."""
    nodes = [
        NODE("Conv", ["x", "W"], ["a"], "first", pads=[1] * 4),
        NODE("Conv", ["x", "V"], ["b"], "second", pads=[1] * 4),
        NODE("Add", ["a", "b"], ["s"], "sum"),
        NODE("Conv", ["x", "U"], ["c"], "third", pads=[1] * 4),
        NODE("Concat", ["s", "c"], ["y"], "join", axis=1),
    ]
    weights = {"W": numbers(70, 1, 3, 3), "V": numbers(70, 1, 3, 3), "U": numbers(66, 1, 3, 3)}
    return model(nodes, {"x": (1, 1, 3, 3)}, outputs(y=(1, 136, 3, 3)), **weights)


FULL = {
    "a layer's matrices": (
        lambda: perceptron(40, 40), {},
        "layer fc0 needs 100 native tiles at once; MatrixRf has 64 (nnp.matrix_rf = 100)",
    ),
    "a register file": (
        lambda: recurrent("LSTM", 6, 1), {"nnp.add_sub_vrf0": 7},
        "the constants take 8 native vectors of AddSubVrf0, which has 7 (nnp.add_sub_vrf0 = 8)",
    ),
    "instructions": (
        lambda: recurrent("LSTM", 90, 1), {"nnp.instructions": 1024},
        "the program takes 4,075 instructions; nnp has room for 1,024 (fewer time steps, or",
    ),
    "increments of windows": (
        _joined_images, {"nnp.matrix_rf": 4096, "nnp.add_sub_vrf0": 4096},
        "layer second needs increments of 35 and 18 native vectors; an instruction has at most 15 times a common",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FULL)
def test_what_does_not_fit_is_refused_with_numbers(name):
    make, changes, message = FULL[name]
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(make(), device=TINY.changed(changes), core="nnp")
    error = caught.value
    assert message in f"{error} ({error.hint})"
    assert REFUSAL.match(str(error))


# --- refusals ---


def lstm(**attributes):
    inputs = attributes.pop("inputs", ["x", "W", "R", "B"])
    shapes = {"x": (3, 1, 5)} | ({"n": ((1,), 6)} if "n" in inputs else {})
    node = NODE("LSTM", inputs, ["y"], "lstm", hidden_size=6, **attributes)
    return model(
        [node],
        shapes,
        outputs(y=(3, 1, 1, 6)),
        W=numbers(1, 24, 5),
        R=numbers(1, 24, 6),
        B=numbers(1, 48),
    )


def one(kind: str, inputs: list[str], shape: tuple[int, ...], result: tuple[int, ...], **rest):
    constants = {key: rest.pop(key) for key in list(rest) if isinstance(rest[key], np.ndarray)}
    shapes = {"x": shape} | {name: shape for name in inputs if name == "z"}
    return model(
        [NODE(kind, inputs, ["y"], "node", **rest)], shapes, outputs(y=result), **constants
    )


IMAGE = (1, 3, 6, 6)
REFUSED = {
    "node node (Cast): it casts to int32, no floating-point type": lambda: model(
        [NODE("Cast", ["x"], ["i"], "node", to=6), NODE("Cast", ["i"], ["y"], to=1)], {"x": (2, 3)}, {"y": ((2, 3), 1)}
    ),
    "the input x is an output, too": lambda: model(
        [NODE("Relu", ["x"], ["y"])], {"x": (2, 3)}, {"x": ((2, 3), 1), "y": ((2, 3), 1)}
    ),
    "node lstm (LSTM): sequence_lens is not supported: all items have all steps": lambda: lstm(inputs=["x", "W", "R", "B", "n"]),
    "node lstm (LSTM): clip is not supported": lambda: lstm(clip=1.0),
    "node lstm (LSTM): input_forget is not supported": lambda: lstm(input_forget=1),
    "node lstm (LSTM): the functions HardSigmoid Tanh Tanh are not supported (3 for each direction, of Sigmoid, Tanh, Relu)": lambda: lstm(
        activations=["HardSigmoid", "Tanh", "Tanh"]
    ),
    "node node (Sqrt): nnp has no way to compute it": lambda: one("Sqrt", ["x"], (2, 3), (2, 3)),
    "node node (Div): it divides by an activation, and nnp has no division": lambda: one("Div", ["x", "z"], (2, 3), (2, 3)),
    "node node (Gemm): transA is not supported": lambda: one("Gemm", ["x", "W"], (4, 2), (2, 3), transA=1, W=numbers(4, 3)),
    "node node (Gemm): its matrix is no constant": lambda: one("Gemm", ["z", "x"], (3, 3), (3, 3)),
    "node node (MaxPool): padding and ceil_mode are not supported": lambda: one(
        "MaxPool", ["x"], IMAGE, (1, 3, 7, 7), kernel_shape=[2, 2], pads=[1, 1, 1, 1]
    ),
    "node node (AveragePool): means without the padding are not supported": lambda: one(
        "AveragePool", ["x"], IMAGE, (1, 3, 7, 7), kernel_shape=[2, 2], pads=[1, 1, 1, 1]
    ),
    "node node (Conv): its input is of (2, 3, 6, 6); nnp takes one image": lambda: one(
        "Conv", ["x", "W"], (2, 3, 6, 6), (2, 2, 6, 6), W=numbers(2, 3, 1, 1)
    ),
    "node node (Softmax): its input's elements lie in other vectors than it needs": lambda: one(
        "Softmax", ["x"], (5, 6), (5, 6), axis=0
    ),
    "node node (LeakyRelu): its slope of 2 is not between 0 and 1": lambda: one("LeakyRelu", ["x"], (2, 3), (2, 3), alpha=2.0),
    "node node (Add): the constant 100000.0 is no finite number of fp16 (nnp.host_format)": lambda: one(
        "Add", ["x", "c"], (2, 3), (2, 3), c=np.full(3, 1e5, np.float32)
    ),
    "node node (Expand): nnp has no way to compute it": lambda: one("Expand", ["x", "s"], (1, 3), (4, 3), s=np.array([4, 3])),
    "node node (Split): a result has no elements": lambda: model(
        [NODE("Split", ["x"], ["a", "b", "c"], "node", axis=1, num_outputs=3), NODE("Concat", ["a", "c"], ["y"], axis=1)], {"x": (2, 4)}
    ),
    "node y (Identity): its input x is of int64, no floating-point type": lambda: model(
        [NODE("Identity", ["x"], ["y"])], {"x": ((2, 3), 7)}, {"y": ((2, 3), 7)}
    ),
}  # fmt: skip


def test_a_slice_backwards_may_begin_before_the_first_index():
    bounds = {"a": [-9], "b": [-99], "c": [0], "d": [-1]}
    constants = {name: np.array(numbers) for name, numbers in bounds.items()}
    made = model([NODE("Slice", ["x", *bounds], ["y"])], {"x": (3, 4)}, **constants)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    run = macaw.compile(made, device="tiny", core="nnp").run(x=x)
    np.testing.assert_array_equal(run.outputs["y"], x[:1])


@pytest.mark.parametrize("message", REFUSED)
def test_refusals_name_the_node(message):
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(REFUSED[message](), device="tiny", core="nnp")
    assert f"{caught.value} ({caught.value.hint})".startswith(message)


@pytest.mark.few(12)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("pads", ["1111", "1010", "2020", "1000", "0010", "2010", "0101", "1201"])
@pytest.mark.parametrize("kernel", [1, 3])
def test_an_image_of_height_1_with_padding(kernel, pads, stride):
    top, left, bottom, right = sides = [int(pad) for pad in pads]
    size = (top + bottom) // stride + 1, 8 + left + right - kernel + 1
    made = one(
        "Conv", ["x", "W"], (1, 3, 1, 8), (1, 4, *size), pads=sides, strides=[stride, 1],
        W=numbers(4, 3, 1, kernel),
    )  # fmt: skip
    inputs = inputs_of(made, np.random.default_rng(1))
    checked = check(made, inputs, "tiny")
    assert checked.error < CLOSE
    (wanted,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, inputs)
    assert np.abs(checked.run.outputs["y"] - wanted).max() <= CLOSE * np.abs(wanted).max()


# size, kernel, strides, dilations of an image, and the shape that ONNX infers for the result
TOO_LARGE = {
    "3 × 4 is larger than its image with padding, 5 × 3": ((5, 3), (3, 4), (2, 2), (1, 1), (2, 1)),
    "4 × 3 is larger than its image with padding, 3 × 5": ((3, 5), (4, 3), (1, 1), (1, 1), (0, 3)),
    "1 × 5 is larger than its image with padding, 1 × 3": ((1, 3), (1, 3), (2, 2), (1, 2), (1, 0)),
}


@pytest.mark.parametrize("auto_pad", ["NOTSET", "VALID"])
@pytest.mark.parametrize("case", TOO_LARGE)
@pytest.mark.parametrize("kind", ["Conv", "MaxPool", "AveragePool"])
def test_windows_larger_than_the_image_are_refused(kind, case, auto_pad):
    size, kernel, strides, dilations, result = TOO_LARGE[case]
    weights = {"W": numbers(3, 3, *kernel)} if kind == "Conv" else {"kernel_shape": kernel}
    made = one(
        kind, ["x", "W"][: 1 + (kind == "Conv")], (1, 3, *size), (1, 3, *result),
        auto_pad=auto_pad, strides=strides, dilations=dilations, **weights,
    )  # fmt: skip
    with pytest.raises(macaw.InputError, match=rf"^node node \({kind}\): its window of {case}$"):
        macaw.compile(made, device="tiny", core="nnp")


# kernel, strides, pads (top, left, bottom, right), dilations: along each dimension of the image
WINDOWS = {
    "1 × 3": ((1, 3), (1, 1), (0, 1, 0, 1), (1, 1)),
    "3 × 1": ((3, 1), (1, 1), (1, 0, 1, 0), (1, 1)),
    "5 × 1": ((5, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    "other strides": ((1, 1), (1, 2), (0, 0, 0, 0), (1, 1)),
    "rectangular strides": ((2, 3), (3, 2), (1, 0, 1, 0), (1, 1)),
    "other dilations": ((2, 3), (1, 1), (1, 2, 1, 2), (3, 2)),
    "other padding at each side": ((3, 2), (2, 1), (0, 2, 1, 1), (1, 1)),
    "padding of no whole dilation": ((2, 2), (1, 1), (0, 0, 1, 0), (2, 1)),
    "20 × 5 of DeepBench": ((5, 4), (2, 2), (2, 0, 2, 0), (1, 1)),
}


def rectangular(case: str, kind: str = "Conv", **more):
    kernel, strides, pads, dilations = WINDOWS[case]
    sizes = [
        (7 + pads[at] + pads[at + 2] - (kernel[at] - 1) * dilations[at] - 1) // strides[at] + 1
        for at in range(2)
    ]
    attributes = {"strides": strides, "dilations": dilations, **more}
    if kind == "Conv":
        more = {"W": numbers(6, 5, *kernel), "b": numbers(6), "pads": pads}
        return one(kind, ["x", "W", "b"], (1, 5, 7, 7), (1, 6, *sizes), **attributes, **more)
    sizes = [(7 - (kernel[at] - 1) * dilations[at] - 1) // strides[at] + 1 for at in range(2)]
    return one(kind, ["x"], (1, 5, 7, 7), (1, 5, *sizes), kernel_shape=kernel, **attributes)


@pytest.mark.parametrize("case", WINDOWS)
def test_windows_of_any_rectangle(case):
    """Seed 003 ¶57 has square windows; the registers for the y direction make them rectangles."""
    made = rectangular(case)
    checked = check(made, inputs_of(made, np.random.default_rng(3)), LARGE)
    assert checked.error < CLOSE
    kernel, _, pads, _ = WINDOWS[case]
    if pads[:2] == pads[2:]:  # no weight of zero: five channels are two native vectors
        tiles = next(iter(checked.network.layers)).tiles
        assert tiles == 2 * 2 * kernel[0] * kernel[1]


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("case", ["1 × 3", "rectangular strides", "other dilations"])
def test_pools_of_any_rectangle(kind, case):
    made = rectangular(case, kind)
    checked = check(made, inputs_of(made, np.random.default_rng(4)), "tiny")
    assert checked.error < CLOSE


def test_a_symbol_with_a_suffix_may_be_the_name_of_a_value():
    """A value may be named `h_mul`, although `h` would have this symbol in a register file.

    One of the two values then gets the symbol `h_mul_2`.
    """
    nodes = [
        NODE("Tanh", ["x"], ["q"]), NODE("Tanh", ["x"], ["h"]), NODE("Tanh", ["h"], ["h_mul"]),
        NODE("Mul", ["q", "h"], ["a0"]), NODE("Mul", ["a0", "k"], ["a"]),
        NODE("Add", ["a", "h"], ["b"]), NODE("Mul", ["b", "h_mul"], ["c"]),
        NODE("Sigmoid", ["h_mul"], ["g"]), NODE("Mul", ["c", "g"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, {"x": (2, 3)}, {"y": ((2, 3), 1)}, k=numbers(2, 3))
    checked = check(made, inputs_of(made, np.random.default_rng(2)), "tiny")
    assert checked.error < CLOSE
    lines = [line.split() for line in checked.network.source.splitlines()]
    equates = [words[1] for words in lines if words[:1] == [".equ"]]
    assert {"h_mul,", "h_mul_2,"} <= set(equates)
    assert len(equates) == len(set(equates))


def test_an_input_is_reshaped_twice():
    """An input may be reshaped twice: into pieces of rows, then into other rows."""
    nodes = [
        NODE("Reshape", ["x", "s"], ["a"]), NODE("Reshape", ["a", "t"], ["b"]),
        NODE("MatMul", ["b", "W"], ["y"]),
    ]  # fmt: skip
    made = model(
        nodes, {"x": (5, 12)}, {"y": ((10, 2), 1)}, s=np.array([5, 3, 4]), t=np.array([10, 6]),
        W=numbers(6, 2),
    )  # fmt: skip
    assert check(made, inputs_of(made, np.random.default_rng(3)), "tiny").error < CLOSE


def test_an_image_is_normalised_before_a_convolution():
    """An input that is normalised before a convolution has the layout of an image."""
    nodes = [
        NODE("Sub", ["x", "m"], ["a"]), NODE("Div", ["a", "d"], ["b"]),
        NODE("Conv", ["b", "W"], ["y"]),
    ]  # fmt: skip
    made = model(
        nodes, {"x": (1, 3, 4, 4)}, {"y": ((1, 2, 4, 4), 1)}, W=numbers(2, 3, 1, 1),
        m=numbers(1, 3, 1, 1), d=np.full((1, 3, 1, 1), 0.5, np.float32),
    )  # fmt: skip
    assert check(made, inputs_of(made, np.random.default_rng(4)), "tiny").error < CLOSE


def test_states_of_two_layers_at_the_same_entries():
    """The cell states of two layers share entries, so no hint names these entries.

    The software has constants of different lengths for them.
    """
    nodes = [
        NODE("LSTM", ["x", "W", "R"], ["a"], "first", hidden_size=2),
        NODE("Squeeze", ["a", "axis"], ["b"]),
        NODE("LSTM", ["b", "V", "S", "", "", "t", "u"], ["y"], "second", hidden_size=4),
    ]
    made = model(
        nodes, {"x": (2, 1, 4)}, {"y": ((2, 1, 1, 4), 1)}, axis=np.array([1]), W=numbers(1, 8, 4),
        R=numbers(1, 8, 2), V=numbers(1, 16, 2), S=numbers(1, 16, 4), t=numbers(1, 1, 4),
        u=numbers(1, 1, 4),
    )  # fmt: skip
    assert check(made, inputs_of(made, np.random.default_rng(5)), "tiny").error < CLOSE


# --- random models ---


def answer(seed: int) -> str:
    """Check a random model; return "exact" or the reason for which it is refused."""
    random = np.random.default_rng(seed)
    made = random_model(random)
    inputs = inputs_of(made, random)
    try:
        checked = check(made, inputs, "base" if seed % 4 == 0 else "tiny")
    except macaw.InputError as error:
        assert REFUSAL.match(str(error)), (seed, error)
        return str(error)
    assert checked.error < 4 * CLOSE, (seed, checked.error)
    return "exact"


@pytest.mark.parametrize("seed", [1, 8, 30, 253])
def test_a_random_model_is_exact(seed):
    assert answer(seed) == "exact"


@pytest.mark.long
def test_five_hundred_random_models():
    """docs/nnp-models.md has the counts of exact and of refused models."""
    answers = [answer(seed) for seed in range(500)]
    page = " ".join((DOCS / "nnp-models.md").read_text("utf-8").split())
    counts = re.search(r"For (\d+) models, all bits .* refused (\d+) models: (\d+) because", page)
    assert counts is not None
    exact, refused, softmax = map(int, counts.groups())
    assert answers.count("exact") == exact == 500 - refused
    assert sum("(Softmax): its elements" in text for text in answers) == softmax
