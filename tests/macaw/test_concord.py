"""`macaw concord` and `macaw.concord`: files, pictures, comparisons and errors."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw as api
from macaw.asm.source import Source
from macaw.cli import run_command
from macaw.concordance.concordance import Concordance
from tests.macaw.concord_programs import LAYER, SAMPLES
from tests.macaw.conftest import ROOT, Macaw

pytestmark = pytest.mark.once


@pytest.fixture
def layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Concordance:
    """The concordance of LAYER, whose source and data are in the test's folder."""
    monkeypatch.chdir(tmp_path)
    Path("layer.s").write_text(LAYER)
    found = api.concord("layer.s")
    arrays: dict[str, Any] = found.random()
    np.savez("data.npz", **arrays)
    return found


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """A function that runs `macaw concord`; returns the exit status and the output."""

    def run(*words: str) -> tuple[int, str]:
        status = run_command(["concord", *words])
        shown = capfd.readouterr()
        assert "Traceback" not in shown.err
        return status, shown.out + shown.err

    return run


def test_the_file_runs_without_us(layer: Concordance, macaw: Macaw, tmp_path: Path) -> None:
    """The generated file runs without Macaw (seed 003 ¶40, ¶65-66)."""
    done = macaw("concord", "layer.s", "--check", "data.npz")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "layer.py: layer(W (10, 6), b (10,), x (6,)) gives y (10,)\nthe same bits in 10 elements\n"
    )
    code = "import numpy as n, layer; n.save('y.npy', layer.layer(**n.load('data.npz'))['y'])"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env={"PYTHONPATH": ""})
    assert np.array_equal(np.load("y.npy"), layer.emulate(dict(np.load("data.npz")))["y"])


def test_the_repr_is_one_line(layer: Concordance) -> None:
    text = "layer(W (10, 6), b (10,), x (6,)) gives y (10,)"
    assert repr(layer) == f"<software for numpy: {text}>"


def test_data_with_the_other_order_of_bytes(layer: Concordance) -> None:
    """`run`, `emulate` and `check` take arrays whose numbers have the other order of bytes."""
    data = layer.random()
    swapped = {name: array.astype(">f2") for name, array in data.items()}
    for function in (layer.run, layer.emulate):
        assert np.array_equal(function(swapped)["y"], function(data)["y"])
    assert layer.check(swapped) is None


def test_the_text_of_the_manual(layer: Concordance) -> None:
    """The function in the manual's example is the generated one (seed 003 ¶59-60)."""
    shown = (ROOT / "docs" / "concord.md").read_text("utf-8")
    function = layer.text[layer.text.index("def layer") :].rstrip()
    wanted = "\n".join(f"    {line}".rstrip() for line in function.splitlines())
    assert re.sub(r"layer\.s:\d+", "", wanted) in re.sub(r"layer\.s:\d+", "", shown)


def test_onnx_writes_its_model(layer: Concordance, macaw: Macaw, tmp_path: Path) -> None:
    import onnx
    import onnxruntime

    assert macaw("concord", "layer.s", "-o", "net.py", "--target", "onnx").returncode == 0
    subprocess.run([sys.executable, "net.py"], check=True, cwd=tmp_path, env={"PYTHONPATH": ""})
    onnx.checker.check_model("net.onnx", full_check=True)
    session = onnxruntime.InferenceSession("net.onnx", providers=["CPUExecutionProvider"])
    data = dict(np.load("data.npz"))
    assert np.array_equal(session.run(["y"], data)[0], layer.emulate(data)["y"])


def test_a_wrong_output_is_named(layer: Concordance, said: Callable[..., tuple[int, str]]) -> None:
    data = dict(np.load("data.npz"))
    data["y"] = layer.emulate(data)["y"]
    np.savez("right.npz", **data)
    assert said("layer.s", "--check", "right.npz")[0] == 0
    data["y"][[3, 7]] = 1000
    np.savez("wrong.npz", **data)
    status, text = said("layer.s", "--check", "wrong.npz")
    assert status == 1
    assert re.search(
        r"different: y\[3\] is (\S+) in the emulator, \1 in numpy, 1000\.0 in the data"
        r" \(2 elements of y differ\)\nwritten by layer\.s:20: v_wr NetOutQ, 0",
        text,
    )


def test_random_inputs_are_those_of_seed_0_by_default(layer: Concordance) -> None:
    """`random` draws half the numbers of NumPy's normal distribution with seed 0, in order."""
    rng = np.random.default_rng(0)
    data = layer.random()
    assert data.keys() == layer.inputs.keys()
    for name, tensor in layer.inputs.items():
        np.testing.assert_allclose(data[name], rng.normal(size=tensor.shape) / 2, rtol=0.01)


def test_software_that_is_not_the_layer_is_noticed(layer: Concordance) -> None:
    data = layer.random()
    assert layer.check(data) is None
    difference = layer.check(data, layer.text.replace("return where(x <= 0, 0.0, x)", "return x"))
    assert difference is not None
    y = layer.emulate(data)["y"]
    assert difference.index == (int(np.flatnonzero(y == 0)[0]),)
    assert str(difference.place) == "layer.s:20: v_wr NetOutQ, 0"
    assert "first different after layer.s:19: v_relu: element" in str(difference)


def test_the_first_difference_of_a_later_vector_is_named() -> None:
    """The output queue has the vectors of both chains; those of the second one are compared."""
    text = """        .device tiny
        .input  x, float16, 2, 4, at=netin
        .output y, float16, 2, 4, at=netout
        .core   nnp
        v_rd    NetInQ
        v_relu
        v_wr    NetOutQ
        v_rd    NetInQ
        v_sigm
        v_wr    NetOutQ
        end_chain
"""
    found = api.concord(api.assemble(Source(text, "two.s")))
    wrong = found.text.replace("host(1.0 / (1.0 + exp(-x)))", "host(0.5 / (1.0 + exp(-x)))")
    assert wrong != found.text
    difference = found.check(found.random(), wrong)
    assert difference is not None
    assert difference.origin is not None
    assert difference.origin.place.text == "v_sigm"


def test_the_first_chain_that_differs_is_named() -> None:
    """If a sigmoid is wrong, the first gate of the first step is named (seed 003 ¶71-72)."""
    found = api.concord(SAMPLES / "lstm.s")
    data = found.random()
    half = found.text.replace(
        "return host(1.0 / (1.0 + exp(-x)))", "return host(0.5 / (1.0 + exp(-x)))"
    )
    difference = found.check(data, half)
    assert difference is not None
    assert difference.origin is not None
    assert "v_wr NetOutQ" in str(difference.place)
    place = difference.origin.place
    assert place.text == "v_sigm"
    lines = (SAMPLES / "lstm.s").read_text().splitlines()
    assert place.line is not None
    assert lines[place.line.line - 1].split()[:2] == ["gate", "i,"]
    assert (difference.origin.iteration, difference.origin.element) == (0, 0)
    assert difference.origin.software == difference.origin.emulator / 2


def check_layout(found: Concordance, path: Path) -> None:
    """Check the generated file with a linter and a formatter of Python."""
    found.write(path)
    ruff = [sys.executable, "-m", "ruff"]
    kinds = "E4,E7,E9,F,I,B,C4,PIE,UP,W"
    subprocess.run([*ruff, "check", "-q", "--isolated", f"--select={kinds}", path], check=True)
    subprocess.run([*ruff, "format", "-q", "--isolated", "--check", path], check=True)


@pytest.mark.parametrize("name", ["lstm", "conv"])
@pytest.mark.parametrize("target", ["numpy", "torch", "tensorflow", "onnx"])
def test_files_are_clean(name: str, target: str, tmp_path: Path) -> None:
    """Generated files pass linter and formatter, and do not import Macaw (seed 003 ¶67-68)."""
    found = api.concord(SAMPLES / f"{name}.s", target)
    check_layout(found, tmp_path / "layer.py")
    imported = re.findall(r"^(?:import|from) (\w+)", found.text, re.M)
    assert not {"isa", "asm", "emu", "debugger", "lower", "macaw"} & set(imported)


def test_more_states_of_a_loop_than_a_line_holds(tmp_path: Path) -> None:
    sums = "v_rd Dram, {0}\n vv_add AddSubVrf0, 0\n v_wr Dram, {0}\n"
    text = f"""        .device tiny
        .data
        .array  float16, 9, 4
        .input  x, float16, 3, 4, at=netin
        .output y, float16, 3, 4, at=netout
        .core   nnp
        .rept   3
        v_rd    NetInQ
        v_wr    AddSubVrf0, 0
        {"".join(map(sums.format, range(9)))}
        v_rd    Dram, 1
        v_wr    NetOutQ
        .endr
        end_chain
"""
    found = api.concord(api.assemble(Source(text, "sums.s")))
    assert "        return (\n" in found.text
    check_layout(found, tmp_path / "sums.py")


def test_time_steps_are_a_loop() -> None:
    found = api.concord(SAMPLES / "lstm.s")
    function = found.text[found.text.index("def layer") :]
    assert function.count("mv_mul(") == 8
    assert "h, c = state" in function
    for gate in "ifog":  # each product has the name of its gate
        assert f" {gate} = mv_mul(U_{gate}, h_q)" in function
    assert "y" in found.outputs
    assert list(found.inputs)[-1] == "x"
    assert found.inputs["x"].shape == (3, 6)
    assert found.check(found.random()) is None


def test_a_convolution_is_windows() -> None:
    found = api.concord(SAMPLES / "conv.s")
    windows = "size=(4, 6), kernel=(3, 3), strides=(1, 1), pads=(1, 1), dilations=(1, 1)"
    assert windows in found.text
    assert found.text.count(" = mv_mul(") == 1
    data = found.random()
    assert found.check(data) is None
    # The pool, once more by NumPy: the greatest of four positions of the plane.
    (plane_name,) = re.findall(r"(\w+) = v_relu\(", found.text)
    returned = f'"pooled": narrow(requantise({plane_name})[:, :3])'
    plain = re.sub(r'"pooled": narrow\(.*\)', returned, found.text)
    space: dict[str, object] = {"__name__": "test"}
    exec(plain, space)
    plane = space["layer"](**data)["pooled"].reshape(2, 2, 3, 2, 3)  # type: ignore[operator]
    assert np.array_equal(found.run(data)["pooled"], plane.max(axis=(1, 3)).reshape(6, 3))


def test_a_program_in_runs_from_labels(tmp_path: Path) -> None:
    """Runs from `_start`, then thrice from `step`, give the results of a program with `.rept`."""
    text = (SAMPLES / "lstm.s").read_text()
    once = api.concord(api.assemble(Source(text, "lstm.s")))
    split = text.replace("        .endr\n        end_chain", "        end_chain")
    split = split.replace("        .rept   3\n", "        end_chain\n        .word   0\nstep:\n")
    parts = api.concord(api.assemble(Source(split, "lstm.s")), entries=[("_start", 1), ("step", 3)])
    data = once.random()
    assert np.array_equal(once.run(data)["y"], parts.run(data)["y"])
    for times in (10**9, 1 << 70):
        with pytest.raises(api.InputError, match=r"^more than 1048576 runs from 'step'$"):
            api.concord(parts.program, entries=[("step", times)])


def test_an_array_without_entries_is_an_empty_list() -> None:
    empty: Any = np.zeros((0, 2))
    assert api.concord(SAMPLES / "lstm.s", entries=empty).text


def test_pictures(layer: Concordance, said: Callable[..., tuple[int, str]]) -> None:
    """The picture has a box for each operation and arrows for dependences (seed 003 ¶71-72)."""
    assert said("layer.s", "--graph", "layer.dot", "--graph", "layer.svg")[0] == 0
    text = Path("layer.dot").read_text()
    assert text.startswith("digraph layer {")
    boxes = dict(re.findall(r'^    (\w+) \[label="([^"]+)"', text, re.M))
    arrows = {(boxes[a], boxes[b]) for a, b in re.findall(r"^    (\w+) -> (\w+);", text, re.M)}
    names = {(a.split("\\n")[0], b.split("\\n")[0]) for a, b in arrows}
    assert {("mv_mul", "vv_add"), ("vv_add", "v_relu"), ("v_relu", "y"), ("b", "vv_add")} <= names
    drawn = "".join(ET.parse("layer.svg").getroot().itertext())
    assert "mv_mul" in drawn
    assert "v_relu" in drawn
    found = api.concord(SAMPLES / "lstm.s")
    assert "3 times" in found.picture("dot")
    assert "3 times" in found.picture("svg")


def test_what_is_refused(layer: Concordance, said: Callable[..., tuple[int, str]]) -> None:
    def refused(*words: str) -> str:
        status, text = said(*words)
        assert status == 2
        return text

    assert "no name of a picture" in refused("layer.s", "--graph", "layer.png")
    assert "no LABEL" in refused("layer.s", "--entry", "_start:0")
    assert "no label 'begin'" in refused("layer.s", "--entry", "begin")
    assert "'jax' is not one of" in refused("layer.s", "--target", "jax")
    assert "is an input" in refused("layer.s", "-o", "layer.s")
    Path("plain.s").write_text(".core cp\n_start: nop\n")
    assert "no nnp part" in refused("plain.s")
    Path("silent.s").write_text(".core nnp\nv_rd NetInQ\nv_wr InitialVrf, 0\nend_chain\n")
    assert "the program gives nothing" in refused("silent.s")
    data = layer.random()
    for change, message in (
        ({"W": data["W"].astype(np.float32)}, "W is float16, the data has float32"),
        ({"x": data["x"][:5]}, "x is 6, the data has 5"),
        ({"z": data["x"]}, "the layer has no tensor 'z'"),
    ):
        arrays: dict[str, Any] = {**data, **change}
        np.savez("other.npz", **arrays)
        assert message in refused("layer.s", "--check", "other.npz")
    np.savez("few.npz", W=data["W"])
    assert "no b (float16, 10) in the data" in refused("layer.s", "--check", "few.npz")
    assert "no .npz file" in refused("layer.s", "--check", "layer.s")
    np.save("one.npy", data["W"])
    assert "one.npy holds one array, no archive" in refused("layer.s", "--check", "one.npy")


@pytest.mark.parametrize("target", ["numpy", "onnx"])
def test_names_that_python_has_itself(target: str) -> None:
    """Tensors may have names that the generated file uses for itself, or keywords of Python."""
    text = LAYER.replace("tensor W,", "tensor host,").replace("tensor b,", "tensor lambda,")
    text = text.replace("tensor x,", "tensor state,").replace("tensor y,", "tensor model,")
    found = api.concord(api.assemble(Source(text, "names.s")), target)
    assert list(found.inputs) == ["host_", "lambda_", "state_"]
    assert list(found.outputs) == ["model"]
    assert found.check(found.random()) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "the generated file fails: ZeroDivisionError: division by zero"),
        ("def layer(**x): return {}", "the software gives no y"),
        ("def layer(**x): return {'y': [1.0]}", "y is float64, 1 in the software, float16, 10 in the emulator"),
    ],
)  # fmt: skip
def test_a_generated_file_that_was_edited_badly(text: str, message: str) -> None:
    found = api.concord(api.assemble(Source(LAYER, "layer.s")))
    with pytest.raises(api.InputError, match=re.escape(message)):
        found.check(found.random(), text)


def test_targets_and_pictures_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    program = api.assemble(Source(LAYER, "layer.s"))
    with pytest.raises(api.InputError, match="no target 'julia'") as caught:
        api.concord(program, "julia")
    assert caught.value.hint == "there are numpy, torch, tensorflow, onnx"
    found = api.concord(program)
    with pytest.raises(api.InputError, match="no picture 'png'") as caught:
        found.picture("png")
    assert caught.value.hint == "there are dot, svg"
    monkeypatch.setattr("macaw.concordance.generated_file.find_spec", lambda name: None)
    with pytest.raises(api.InputError, match="numpy cannot be run here: there is no package numpy"):
        found.run(found.random())


def test_two_results_of_a_round_are_regrouped_at_once(tmp_path: Path) -> None:
    """One expression of the file joins the results of two operations in a loop.

    The 12 rows of the results alternate between the operations; they are not joined one by one.
    """
    rounds = "".join(
        f" v_rd InitialVrf, {t}\n mv_mul 0\n v_relu\n v_wr InitialVrf, {20 + 2 * t}\n"
        f" v_rd InitialVrf, {t}\n mv_mul 1\n v_tanh\n v_wr InitialVrf, {21 + 2 * t}\n"
        for t in range(6)
    )
    path = tmp_path / "rounds.s"
    path.write_text(f"""
        .device tiny
        .data
memory: .array  float16, 256, 4
        .output results, float16, 6, 4, at=netout
        .core   nnp
        .hint   tensor w, MatrixRf, 0, 8, 4
        .hint   tensor x, Dram, 128, 6, 4
_start: SetRowsCols(2, 1)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetRowsCols(1, 1)
        SetIterations(6)
        v_rd_inc Dram, 128, 1
        v_wr_inc InitialVrf, 0, 1
        SetIterations(1)
{rounds}
        SetRowsCols(1, 2)
        SetIterations(6)
        v_rd_inc InitialVrf, 20, 2
        mv_mul  0
        v_wr    NetOutQ
        end_chain
""")
    found = api.concord(path)
    assert "joined = join(reshape(result_all, 6, 4), reshape(result_all_2, 6, 4))" in found.text
    assert found.text.count("v_tanh(product") == 1
    assert found.check(found.random()) is None


def test_the_text_of_a_box_is_in_its_middle(layer: Concordance) -> None:
    """The text of a box is in its middle.

    The mean height of the text's lines is 4 units of the SVG below the middle of the box.
    """
    root = ET.fromstring(layer.picture("svg"))
    boxes = [
        tuple(float(x.get(key, "0")) for key in ("x", "y", "width", "height"))
        for x in root.iter()
        if x.tag.endswith("rect") and x.get("rx") == "4"
    ]
    texts = [
        (float(x.get("x", "0")), float(x.get("y", "0")))
        for x in root.iter()
        if x.tag.endswith("text") and x.get("text-anchor") == "middle"
    ]
    assert boxes
    for left, top, width, height in boxes:
        inside = [y for x, y in texts if x == left + width / 2 and top < y < top + height]
        assert inside
        assert sum(inside) / len(inside) == pytest.approx(top + height / 2 + 4, abs=0.01)
