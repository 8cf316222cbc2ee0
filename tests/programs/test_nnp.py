"""The nnp programs compute their layers as plain NumPy does, within the rounding of the formats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw
from macaw.isa.config import load
from tests.programs.scripts import PROGRAMS, script

FILES = script("nnp_files.py")
TENSORS = FILES.tensors()
Numbers = NDArray[np.float64]


def sigmoid(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x))


def lstm(t: dict[str, Numbers]) -> Numbers:
    h = c = np.zeros(6)
    found = []
    for x in t["x"]:
        i = sigmoid(t["Wxi"] @ x + t["Whi"] @ h + t["Wci"] @ c + t["bi"][0])
        f = sigmoid(t["Wxf"] @ x + t["Whf"] @ h + t["Wcf"] @ c + t["bf"][0])
        c = f * c + i * np.tanh(t["Wxc"] @ x + t["Whc"] @ h + t["bc"][0])
        o = sigmoid(t["Wxo"] @ x + t["Who"] @ h + t["Wco"] @ c + t["bo"][0])
        h = o * np.tanh(c)
        found.append(h)
    return np.array(found)


def gru(t: dict[str, Numbers]) -> Numbers:
    h = np.zeros(7)
    found = []
    for x in t["x"]:
        r = sigmoid(t["Wr"] @ x + t["Ur"] @ h + t["br"][0])
        z = sigmoid(t["Wz"] @ x + t["Uz"] @ h + t["bz"][0])
        n = np.tanh(t["Wn"] @ x + r * (t["Un"] @ h) + t["bn"][0])
        h = n + z * (h - n)
        found.append(h)
    return np.array(found)


def conv1x1(t: dict[str, Numbers]) -> Numbers:
    return np.maximum(t["x"] @ t["W"].T + t["b"], 0)


def conv3x3(t: dict[str, Numbers]) -> Numbers:
    image = np.pad(t["x"].reshape(6, 5, 4), ((1, 1), (1, 1), (0, 0)))
    other = t["other"].reshape(6, 5, 7)[::2, ::2]
    kernel = t["W"].reshape(7, 3, 3, 4)
    found = np.zeros((3, 3, 7))
    for y in range(3):
        for x in range(3):
            window = image[2 * y : 2 * y + 3, 2 * x : 2 * x + 3]
            found[y, x] = np.tensordot(kernel, window, 3) + other[y, x]
    return np.maximum(found, 0).reshape(9, 7)


def maxpool(t: dict[str, Numbers]) -> Numbers:
    return t["x"].reshape(2, 2, 3, 2, 3).max(axis=(1, 3)).reshape(6, 3)


def mlp(t: dict[str, Numbers]) -> Numbers:
    first = np.maximum(t["x"] @ t["W1"].T + t["b1"], 0)
    second = np.maximum(first @ t["W2"].T + t["b2"], 0)
    return second @ t["W3"].T + t["b3"]


def softmax(t: dict[str, Numbers]) -> Numbers:
    power = np.exp(t["x"] @ t["W"].T + t["b"])
    return power / power.sum(axis=1, keepdims=True)


LAYERS = {
    "nnp_lstm": lstm, "nnp_gru": gru, "nnp_conv1x1": conv1x1, "nnp_conv3x3": conv3x3,
    "nnp_maxpool": maxpool, "nnp_mlp": mlp, "nnp_softmax": softmax,
}  # fmt: skip


def found(name: str) -> Any:
    """The program's output and NumPy's; the output is without the zeros that fill vectors up."""
    path = PROGRAMS / name / "x.npy"
    given = {"x": np.load(path)} if path.exists() else {}
    y = macaw.run(macaw.assemble(PROGRAMS / name / f"{name}.s"), given).outputs["y"]
    wanted = LAYERS[name]({key: value.astype(np.float64) for key, value in TENSORS[name].items()})
    count, elements = wanted.shape
    y = y.reshape(count, -1)
    return y[:, :elements], wanted


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_what_numpy_says(name: str) -> None:
    """A layer with mantissas of 16 bits differs from NumPy's by a few roundings of fp16.

    See seed 003 ¶26-33, ¶45, ¶50-57.
    """
    y, wanted = found(name)
    assert np.abs(y - wanted).max() < 2e-3 * max(1.0, np.abs(wanted).max())
    if name == "nnp_maxpool":
        assert np.array_equal(y, wanted)


@pytest.mark.parametrize("name", LAYERS)
def test_files_are_those_of_the_script(name: str) -> None:
    native = FILES.native_of(name)
    for file, members in FILES.FILES[name].items():
        shaped = FILES.tiles if file.startswith("matri") else FILES.vectors
        whole = np.concatenate([shaped(TENSORS[name][member], native) for member in members])
        assert np.array_equal(np.load(PROGRAMS / name / f"{file}.npy"), whole)


@pytest.mark.few(9)
@pytest.mark.parametrize("target", ["numpy", "onnx"])
@pytest.mark.parametrize("name", LAYERS)
def test_concordant_software_gives_the_same_bits(name: str, target: str) -> None:
    """Concordant software gives the program's bits (seed 003 ¶40, ¶61-62).

    Its tensors have the names of the hints. The initial state of a cell is in the program, so the
    caller does not give it.
    """
    software = macaw.concord(PROGRAMS / name / f"{name}.s", target)
    assert set(software.inputs) - set(TENSORS[name]) <= {"start"}
    assert software.check(TENSORS[name]) is None


def four_bits(x: Numbers) -> Numbers:
    """Rows with 4-bit mantissas, rounded half to even and saturated, and one exponent e a row.

    e is the least one for which all magnitudes of the row are below 2^e.
    """
    e = np.frexp(np.abs(x).max(axis=-1, keepdims=True))[1]
    return np.clip(np.rint(x * 2.0 ** (3 - e)), -8, 7) * 2.0 ** (e - 3)


def host(x: Numbers) -> Numbers:
    return x.astype(np.float16).astype(np.float64)


@pytest.mark.parametrize("target", ["numpy", "onnx"])
def test_figure_2_quantises_after_one_product_and_not_after_the_other(target: str) -> None:
    """Figure 2 quantises one product of two, by Q 226 and Q 266 (seed 003 ¶41-42, ¶59-60).

    The software does so by Q 426 and Q 466.
    """
    layer = macaw.concord(PROGRAMS / "nnp_fig2" / "nnp_fig2.s", target)
    given = layer.tensors.select({})
    assert layer.check(given) is None
    y = layer.emulate(given)["y"].astype(np.float64)
    t = {name: value.astype(np.float64) for name, value in given.items()}
    weights = [four_bits(t[f"A{number}"]) for number in range(4)]
    x0, x1 = four_bits(t["x"])

    def part(number: int, second: Any, first: Any = lambda x: x) -> Numbers:
        """One half of the layer, from two products.

        `first` changes the result of the first product, and `second` that of the second product,
        before the two results are added.
        """
        one, other = weights[2 * number : 2 * number + 2]
        return host(host(second(host(other @ x1)) + first(host(one @ x0))) + t["b"][number])

    same = np.array([part(number, lambda x: x, four_bits) for number in (0, 1)])
    assert np.array_equal(y, same)
    neither = np.array([part(number, lambda x: x) for number in (0, 1)])
    both = np.array([part(number, four_bits, four_bits) for number in (0, 1)])
    assert not np.array_equal(y, neither)
    assert not np.array_equal(y, both)
    assert layer.text.count(" = requantise(product") == 2
    device = layer.config.changed({"nnp.quantise_mvm_out": True})
    software = macaw.concord(PROGRAMS / "nnp_fig2" / "nnp_fig2.s", target, device=device)
    assert np.array_equal(software.emulate(given)["y"].astype(np.float64), both)
    assert software.check(given) is None


def test_plain_software_gives_other_bits() -> None:
    """Plain NumPy differs in bits, concordant software does not (seed 003 ¶37, ¶39)."""
    y, plain = found("nnp_lstm")
    assert (y != plain.astype(np.float16)).mean() > 0.1
    software = macaw.concord(PROGRAMS / "nnp_lstm" / "nnp_lstm.s")
    tensors = software.tensors.select(TENSORS["nnp_lstm"])
    assert np.array_equal(software.run(tensors)["y"], y)


@pytest.mark.parametrize("name", ["nnp_mlp", "nnp_gru"])
def test_the_number_of_tile_engines_changes_no_bit(name: str) -> None:
    """Outputs do not depend on the number of engines (seed 003 ¶46).

    The tiles of a sum are added in BFP, before the sum is converted.
    """
    program = macaw.assemble(PROGRAMS / name / f"{name}.s")
    given = {"x": np.load(PROGRAMS / name / "x.npy")}
    configuration = load(program.device)
    runs = [
        macaw.run(program, given, device=configuration.changed({"nnp.engines": engines}))
        for engines in (1, 3)
    ]
    assert np.array_equal(runs[0].outputs["y"], runs[1].outputs["y"])
    assert runs[1].cycles < runs[0].cycles
