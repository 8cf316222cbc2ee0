"""`macaw concord` and `macaw.concord`: files, pictures, comparisons, and what is refused."""

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
from tests.macaw.conftest import ROOT, Macaw

SAMPLES = ROOT / "tests" / "lowering" / "concord"
LAYER = """        .device tiny
        .input  taken, float16, 29, 4, at=netin
        .output given, float16, 3, 4, at=netout
        .core   nnp
        .hint   tensor W, MatrixRf, 0, 10, 6
        .hint   tensor b, AddSubVrf0, 0, 1, 10
        .hint   tensor x, NetInQ, 27, 1, 6
        .hint   tensor y, NetOutQ, 0, 1, 10
_start: SetRowsCols(3, 2)
        m_rd    NetInQ
        m_wr    MatrixRf, 0
        SetCols(3)
        v_rd    NetInQ
        v_wr    AddSubVrf0, 0
        SetCols(2)
        v_rd    NetInQ
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_relu
        v_wr    NetOutQ
        end_chain
"""


@pytest.fixture
def layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Concordance:
    """The layer, in the test's folder with data for it."""
    monkeypatch.chdir(tmp_path)
    Path("layer.s").write_text(LAYER)
    found = api.concord("layer.s")
    arrays: dict[str, Any] = found.random()
    np.savez("data.npz", **arrays)
    return found


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs `macaw concord`: exit status and all that was said."""

    def run(*words: str) -> tuple[int, str]:
        status = run_command(["concord", *words])
        shown = capfd.readouterr()
        assert "Traceback" not in shown.err
        return status, shown.out + shown.err

    return run


def test_the_file_runs_without_us(layer: Concordance, macaw: Macaw, tmp_path: Path) -> None:
    """The rule of seed 003 ¶40, ¶65-66."""
    done = macaw("concord", "layer.s", "--check", "data.npz")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "layer.py: layer(W (10, 6), b (10,), x (6,)) gives y (10,)\nthe same bits in 10 elements\n"
    )
    code = "import numpy as n, layer; n.save('y.npy', layer.layer(**n.load('data.npz'))['y'])"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env={"PYTHONPATH": ""})
    assert np.array_equal(np.load("y.npy"), layer.emulate(dict(np.load("data.npz")))["y"])


def test_the_text_of_the_manual(layer: Concordance) -> None:
    """The rule of seed 003 ¶59-60."""
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


def test_software_that_is_not_the_layer_is_noticed(layer: Concordance) -> None:
    data = layer.random()
    assert layer.check(data) is None
    difference = layer.check(data, layer.text.replace("return where(x <= 0, 0.0, x)", "return x"))
    assert difference is not None
    y = layer.emulate(data)["y"]
    assert difference.index == (int(np.flatnonzero(y == 0)[0]),)
    assert str(difference.place) == "layer.s:20: v_wr NetOutQ, 0"
    assert "first different after layer.s:19: v_relu: element" in str(difference)


def test_the_first_chain_that_differs_is_named() -> None:
    """A sigmoid that is wrong: the first gate differs first, in the first step (seed 003 ¶71-72)."""
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
    """The file is as a linter and a formatter of Python want it."""
    found.write(path)
    ruff = [sys.executable, "-m", "ruff"]
    kinds = "E4,E7,E9,F,I,B,C4,PIE,UP,W"
    subprocess.run([*ruff, "check", "-q", "--isolated", f"--select={kinds}", path], check=True)
    subprocess.run([*ruff, "format", "-q", "--isolated", "--check", path], check=True)


@pytest.mark.parametrize("name", ["lstm", "conv"])
@pytest.mark.parametrize("target", ["numpy", "torch", "tensorflow", "onnx"])
def test_files_are_clean(name: str, target: str, tmp_path: Path) -> None:
    """The rule of seed 003 ¶67-68."""
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
    for gate in "ifog":  # called from the begin what becomes of it
        assert f" {gate} = mv_mul(U_{gate}, h_q)" in function
    assert "y" in found.outputs
    assert list(found.inputs)[-1] == "x"
    assert found.inputs["x"].shape == (3, 6)
    assert found.check(found.random()) is None


def test_a_convolution_is_windows() -> None:
    found = api.concord(SAMPLES / "conv.s")
    assert "windows(image, height=4, width=6, kernel=3, stride=1, pad=1)" in found.text
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
    """The same step by `.rept` and by entries: the same function."""
    text = (SAMPLES / "lstm.s").read_text()
    once = api.concord(api.assemble(Source(text, "lstm.s")))
    split = text.replace("        .endr\n        end_chain", "        end_chain")
    split = split.replace("        .rept   3\n", "        end_chain\n        .word   0\nstep:\n")
    parts = api.concord(api.assemble(Source(split, "lstm.s")), entries=[("_start", 1), ("step", 3)])
    data = once.random()
    assert np.array_equal(once.run(data)["y"], parts.run(data)["y"])


def test_pictures(layer: Concordance, said: Callable[..., tuple[int, str]]) -> None:
    """The rule of seed 003 ¶71-72."""
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
    assert "no .npz file" in refused("layer.s", "--check", "one.npy")


def test_tensors_at_one_place(layer: Concordance) -> None:
    """A tile of Dram and the same bytes as vectors: one tensor; hinted ones agree (seed 003 ¶65-66)."""
    text = """.device tiny
        .data
        .array  float16, 8, 4
        .output y, float16, 2, 4, at=netout
        .core   nnp
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        v_rd    Dram, 2
        mv_mul  0
        v_wr    NetOutQ
        v_rd    Dram, 0
        v_wr    NetOutQ
        end_chain
"""
    found = api.concord(api.assemble(Source(text, "tile.s")))
    assert {name: x.shape for name, x in found.inputs.items()} == {"matrix_dram_0": (4, 4)}
    tile = np.arange(16, dtype=np.float16).reshape(4, 4)
    assert found.check({"matrix_dram_0": tile}) is None
    assert np.array_equal(found.run({"matrix_dram_0": tile})["y"], [tile @ tile[2], tile[0]])
    first, second = (".hint tensor v, Dram, 2, 1, 4\n", ".hint tensor W, Dram, 0, 4, 4\n")
    rest = text[text.index("        m_rd") : text.index("        v_rd")]
    hinted = text.replace(rest, "").replace("v_rd    Dram, 2", "v_rd    Dram, 2\n v_wr MulVrf, 0\n")
    hinted = hinted.replace("        mv_mul  0\n", f"{rest} v_rd MulVrf, 0\n mv_mul 0\n")
    hinted = hinted.replace(".core   nnp\n", f".core   nnp\n{first}{second}")
    found = api.concord(api.assemble(Source(hinted, "tile.s")))
    data = {"v": tile[2], "W": tile}
    assert found.check(data) is None
    with pytest.raises(api.InputError, match="W and v share a place in external memory"):
        found.check({**data, "v": tile[1]})
    # The first tensor of a layer need not lie there.
    hinted = hinted.replace(".data", ".input x, float16, 1, 4, at=netin\n.data")
    hinted = hinted.replace(second, f"{second} v_rd NetInQ\n v_wr NetOutQ\n")
    hinted = hinted.replace("2, 4, at=netout", "3, 4, at=netout")
    found = api.concord(api.assemble(Source(hinted, "tile.s")))
    data["x"] = tile[3]
    assert list(found.inputs) == ["x", "v", "W"]
    assert found.check(data) is None
    with pytest.raises(api.InputError, match="W and v share a place in external memory"):
        found.check({**data, "v": tile[1]})


def test_two_inputs_in_one_queue() -> None:
    """The stream of NetInQ is both, one behind the other."""
    text = """.device tiny
        .input  a, float16, 1, 4, at=netin
        .input  b, float16, 2, 4, at=netin
        .output y, float16, 3, 4, at=netout
        .core   nnp
        SetIterations(3)
        v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
"""
    found = api.concord(api.assemble(Source(text, "two.s")))
    rows = np.arange(12, dtype=np.float16).reshape(3, 4)
    assert np.array_equal(found.emulate({"a": rows[0], "b": rows[1:]})["y"], rows)


HEAD = """        .device tiny
        .output y, float16, 1, 4, at=netout
        .data
        .npy    "numbers.npy"
        .core   nnp
"""


def followed(tmp_path: Path, body: str, head: str = HEAD) -> Concordance:
    """A program with 64 vectors of numbers in Dram; emulator and software give the same."""
    numbers = np.random.default_rng(5).normal(size=(64, 4)).astype(np.float16)
    np.save(tmp_path / "numbers.npy", numbers)
    (tmp_path / "layer.s").write_text(f"{head}{body}        end_chain\n")
    found = api.concord(tmp_path / "layer.s")
    assert found.check({**found.tensors.select({}), **found.random()}) is None
    assert found.check(found.tensors.select({})) is None  # the program's own data
    return found


TILE_WRITTEN = """        SetIterations(4)
        v_rd_inc Dram, 8, 1
        v_wr_inc Dram, 16, 1            # a tile, row by row
        SetIterations(1)
"""
MULTIPLIED = """        m_rd    Dram, 4
        m_wr    MatrixRf, 0
        v_rd    Dram, 0
        mv_mul  0
        v_wr    NetOutQ
"""


def test_tiles_that_the_program_wrote_as_vectors(tmp_path: Path) -> None:
    """What a product depends on is followed through Dram (seed 003 ¶72)."""
    found = followed(tmp_path, TILE_WRITTEN + MULTIPLIED)
    assert {name: x.address for name, x in found.inputs.items()} == {"dram_8": 8, "dram_0": 0}
    assert "matrix_of_rows(dram_8, 1, 1)" in found.text


def test_a_tile_of_which_the_program_wrote_a_part(tmp_path: Path) -> None:
    """Rows that were written, and rows that come from outside (seed 003 ¶72)."""
    part = TILE_WRITTEN.replace("SetIterations(4)", "SetIterations(2)").replace("16, 1", "17, 1")
    found = followed(tmp_path, part + MULTIPLIED)
    places = {x.address: x.rows for x in found.inputs.values()}
    assert places == {8: 2, 16: 1, 19: 1, 0: 1}


def test_a_tile_that_changes_after_it_was_read(tmp_path: Path) -> None:
    """The old tile and the new one, and the rows of a matrix that lies there (seed 003 ¶72)."""
    two = MULTIPLIED.replace("Dram, 4", "Dram, 2") + TILE_WRITTEN.replace("Dram, 16", "Dram, 9")
    head = HEAD.replace("1, 4, at", "2, 4, at")
    found = followed(tmp_path, two + MULTIPLIED.replace("Dram, 4", "Dram, 2"), head)
    assert next(iter(found.inputs)) == "matrix_dram_2"
    assert found.text.count(" = mv_mul(") == 2


def test_a_declared_tensor_that_is_read_as_tiles() -> None:
    """It is the tensor that `macaw run` takes: its rows are the rows of tiles (seed 003 ¶65-66)."""
    text = """.device tiny
        .input  pad, float16, 4, 4
        .input  W, float16, 8, 4
        .input  x, float16, 1, 4, at=netin
        .output y, float16, 2, 4, at=netout
        .core   nnp
        SetRowsCols(2, 1)
        m_rd    Dram, (W - pad) / 32  # tiles of 32 bytes
        m_wr    MatrixRf, 0
        v_rd    NetInQ
        mv_mul  0
        v_wr    NetOutQ
        end_chain
"""
    program = api.assemble(Source(text, "tile.s"))
    found = api.concord(program)
    assert {name: x.shape for name, x in found.inputs.items()} == {"W": (8, 4), "x": (4,)}
    random = np.random.default_rng(4)
    pad, w = (random.normal(size=(rows, 4)).astype(np.float16) for rows in (4, 8))
    x = random.normal(size=(1, 4)).astype(np.float16)
    y = api.run(program, {"pad": pad, "W": w, "x": x}).outputs["y"]
    assert np.array_equal(found.run({"W": w, "x": x[0]})["y"], y)
    assert found.check({"W": w, "x": x[0]}) is None


def test_a_matrix_that_leaves_is_followed(tmp_path: Path) -> None:
    """m_wr Dram gives what its quantiser left of it, and that is quantised again (seed 003 ¶44)."""
    body = MULTIPLIED.replace(
        "        v_rd", "        m_rd MatrixRf, 0\n m_wr Dram, 9\n        v_rd"
    )
    body += "        m_rd Dram, 9\n m_wr MatrixRf, 1\n v_rd Dram, 38\n mv_mul 1\n v_wr NetOutQ\n"
    found = followed(tmp_path, body, HEAD.replace("1, 4, at", "2, 4, at"))
    assert "requantise_matrix(" in found.text
    assert found.outputs["dram_36"].shape == (4, 4)


def test_a_chain_that_writes_over_itself(tmp_path: Path) -> None:
    """Iteration by iteration, in each all writes in their order (seed 003 ¶56)."""
    body = """        SetIterations(3)
        v_rd_inc Dram, 32, 1
        v_wr_inc AddSubVrf0, 0, 1
        v_wr_inc AddSubVrf0, 1, 1
        SetIterations(4)
        v_rd_inc AddSubVrf0, 0, 1
        v_wr    NetOutQ
"""
    found = followed(tmp_path, body, HEAD.replace("1, 4, at", "4, 4, at"))
    x = np.arange(12, dtype=np.float16).reshape(3, 4)
    assert np.array_equal(found.run({"dram_32": x})["y"], x[[0, 1, 2, 2]])


def test_a_load_that_is_not_used_at_the_end(tmp_path: Path) -> None:
    """The numbers of nodes that no output needs are not given to others."""
    body = "        v_rd Dram, 0\n        v_relu\n        v_wr NetOutQ\n"
    found = followed(tmp_path, body + "        v_rd Dram, 41\n        v_wr AddSubVrf1, 0\n")
    assert list(found.inputs) == ["dram_0"]
    assert found.text.count("v_relu(") == 2


def test_data_of_another_type(tmp_path: Path) -> None:
    """float32 in the file of an fp16 program, and where it is."""
    text = """        .device tiny
        .input  x, float16, 4, 4, at=netin
        .output y, float16, 4, 4, at=netout
        .core   nnp
        .hint   tensor W, MatrixRf, 0, 4, 4
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetIterations(4)
        v_rd    NetInQ
        mv_mul  0
        v_wr    NetOutQ
        end_chain
        .data
        .npy    "w.npy"
"""
    (tmp_path / "layer.s").write_text(text)
    np.save(tmp_path / "w.npy", np.eye(4, dtype=np.float32))
    message = r"layer.s:14: these data are float32, and W is read from them as float16 \(nnp.host"
    with pytest.raises(api.InputError, match=message) as refused:
        api.concord(tmp_path / "layer.s")
    assert refused.value.hint == "numpy.save(FILE, array.astype(numpy.float16))"
    for good in (np.eye(4, dtype=np.float16), np.zeros((2, 4), np.float32), np.eye(4, dtype="u2")):
        np.save(tmp_path / "w.npy", good)
        assert list(api.concord(tmp_path / "layer.s").inputs) == ["W", "x"]
    np.save(tmp_path / "w.npy", np.ones((2, 4), np.float32))
    halves = '        .array float16, 2, 4\n        .npy "w.npy"\n'  # the first two rows are right
    (tmp_path / "layer.s").write_text(text[: text.index("        .npy")] + halves)
    with pytest.raises(api.InputError, match=r"layer.s:15: these data are float32"):
        api.concord(tmp_path / "layer.s")


def test_the_program_s_own_data(tmp_path: Path) -> None:
    """An image that the program holds need not be given."""
    text = (SAMPLES / "conv.s").read_text()
    text = text.replace("256, 4\n", '128, 4\n        .npy "image.npy"\n')
    (tmp_path / "conv.s").write_text(text)
    image = np.zeros((24, 8), np.float16)
    image[:, :5] = np.random.default_rng(2).normal(size=(24, 5))
    np.save(tmp_path / "image.npy", image.reshape(48, 4))
    found = api.concord(tmp_path / "conv.s")
    data = found.random()
    del data["image"]
    assert found.check(data) is None
    whole = found.run({**data, "image": image[:, :5]})["pooled"]
    assert whole.any()
    assert np.array_equal(found.run(data)["pooled"], whole)
    with pytest.raises(api.InputError, match="image is 24 × 5, the data has 3"):
        found.check({**data, "image": np.zeros(3, np.float16)})


@pytest.mark.parametrize("target", ["numpy", "onnx"])
def test_names_that_python_has_itself(target: str) -> None:
    """Tensors may be called as the file's own functions, words of its own, or keywords."""
    text = LAYER.replace("tensor W,", "tensor host,").replace("tensor b,", "tensor lambda,")
    text = text.replace("tensor x,", "tensor state,").replace("tensor y,", "tensor model,")
    found = api.concord(api.assemble(Source(text, "names.s")), target)
    assert list(found.inputs) == ["host_", "lambda_", "state_"]
    assert list(found.outputs) == ["model"]
    assert found.check(found.random()) is None


def test_data_that_fill_a_tensor_up_are_zeros(tmp_path: Path) -> None:
    """Else the processor multiplies what the software does not know (seed 003 ¶65-66)."""
    text = """        .device tiny
        .output y, float16, 1, 4, at=netout
        .core   nnp
        .hint   tensor W, MatrixRf, 0, 4, 3
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        v_rd    Dram, 4
        mv_mul  0
        v_wr    NetOutQ
        end_chain
        .data
        .npy    "w.npy"
"""
    (tmp_path / "layer.s").write_text(text)
    w = np.ones((5, 4), np.float16)
    np.save(tmp_path / "w.npy", w)
    with pytest.raises(api.InputError, match="W is 4 × 3, and the program's data that fill it up"):
        api.concord(tmp_path / "layer.s")
    w[:4, 3] = 0
    np.save(tmp_path / "w.npy", w)
    assert api.concord(tmp_path / "layer.s").check({}) is None


def test_a_state_of_a_loop_that_an_instruction_goes_on_with() -> None:
    """States whose names are long are `last[0]`, which is a name for nothing else."""
    text = """        .device tiny
        .core   nnp
        .rept   3
        v_rd_inc AddSubVrf1, 7, 1
        v_sigm
        v_wr    NetOutQ
        v_rd    Dram, 9
        v_wr    NetOutQ
        v_rd    Dram, 10
        v_wr    NetOutQ
        s_wr    width, 2
        v_rd    Dram, 0
        v_wr    Dram, 10
        v_rd_inc InitialVrf, 3, 0
        v_wr    NetOutQ
        v_rd_inc AddSubVrf1, 8, 0
        v_wr    Dram, 0
        .endr
        end_chain
"""
    data = "        .data\n        .array float16, 16, 4\n        .output y, float16, 12, 4, at=netout\n"
    found = api.concord(api.assemble(Source(text.replace("tiny\n", f"tiny\n{data}"), "loop.s")))
    assert "last[0]" in found.text
    assert found.check(found.random()) is None


def test_dram_where_a_queue_s_tensor_is() -> None:
    """The dma reads x from there and writes y there: what lies in Dram then is not followed."""
    text = """        .device tiny
        .input  x, float16, 1, 4, at=netin
        .output y, float16, 1, 4, at=netout
        .core   nnp
        v_rd    NetInQ
        v_wr    NetOutQ
        v_wr    Dram, {}
        end_chain
"""
    for place, name in ((0, "x"), (8, "y")):
        with pytest.raises(api.InputError, match=f"dram_{place} lies in Dram where '{name}' is in"):
            api.concord(api.assemble(Source(text.format(place), "t.s")))
    found = api.concord(api.assemble(Source(text.format(9), "t.s")))
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
