"""`macaw.concord`: the tensors and data of a program, and values followed through memories."""

from pathlib import Path

import numpy as np
import pytest

import macaw as api
from macaw.asm.source import Source
from macaw.concordance.concordance import Concordance
from tests.macaw.concord_programs import SAMPLES


def test_tensors_at_one_place() -> None:
    """A tile of Dram and vectors of the same bytes are one tensor (seed 003 ¶65-66).

    If hints give these bytes two names, data with different values for the bytes are refused.
    """
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
    # The first tensor of a layer may be in a queue instead.
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
    """The stream of NetInQ is divided into two inputs that follow each other."""
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


def test_vectors_of_one_load_that_several_hints_name() -> None:
    """Each vector of a load is named by the hint for its place, or by that for its destination.

    A hint for the place in Dram counts first: `v` names no input here.
    """
    text = """.device tiny
        .data
        .array  float16, 3, 4
        .output y, float16, 3, 4, at=netout
        .core   nnp
        .hint   tensor u, Dram, 0, 1, 4
        .hint   tensor w, Dram, 1, 1, 4
        .hint   tensor v, MulVrf, 1, 1, 4
        .hint   tensor q, MulVrf, 2, 1, 4
        SetCols(3)
        v_rd    Dram, 0
        v_wr    MulVrf, 0
        v_rd    MulVrf, 0
        v_wr    NetOutQ
        end_chain
"""
    found = api.concord(api.assemble(Source(text, "load.s")))
    rows = np.arange(12, dtype=np.float16).reshape(3, 4)
    data = dict(zip("uwq", rows, strict=True))
    assert {name: x.shape for name, x in found.inputs.items()} == dict.fromkeys("uwq", (4,))
    assert np.array_equal(found.run(data)["y"], rows)


def test_a_hint_for_a_part_of_a_declared_input() -> None:
    """Elements of a load that a hint names are a tensor of their own.

    The declared input has these elements, too; the software and the emulator ignore them there. A
    hint for an element of the queue has priority over a hint for a place that it is copied to.
    """
    text = """.device tiny
        .input  x, float16, 6, 4, at=netin
        .output y, float16, 4, 4, at=netout
        .core   nnp
        .hint   tensor part, MulVrf, 1, 1, 4
        SetCols(4)
        v_rd    NetInQ
        v_wr    MulVrf, 0
        v_rd    MulVrf, 0
        v_wr    NetOutQ
        end_chain
"""
    program = api.assemble(Source(text, "part.s"))
    found = api.concord(program)
    sizes = {name: x.shape for name, x in found.inputs.items()}
    assert sizes == {"part": (4,), "x": (6, 4)}
    data = {"part": np.full(4, 9, np.float16), "x": np.arange(24, dtype=np.float16).reshape(6, 4)}
    assert found.check(data) is None
    assert found.run(data)["y"][:, 0].tolist() == [0, 9, 8, 12]
    hint = "        .hint tensor other, NetInQ, 2, 1, 4\n"
    text = text.replace("MulVrf, 1, 1, 4\n", f"MulVrf, 1, 1, 8\n{hint}")
    found = api.concord(api.assemble(Source(text, "part.s")))
    assert sorted(found.inputs) == ["netinq_3", "other", "x"]


def test_a_matrix_of_a_queue_that_no_hint_names() -> None:
    """Tiles that come through a queue without a hint are one matrix.

    If a hint names the first tile, the others are another matrix.
    """
    text = """.device tiny
        .input  taken, float16, 26, 4, at=netin
        .output y, float16, 3, 4, at=netout
        .core   nnp
        SetRowsCols(3, 2)
        m_rd    NetInQ
        m_wr    MatrixRf, 0
        v_rd    NetInQ
        mv_mul  0
        v_wr    NetOutQ
        end_chain
"""
    found = api.concord(api.assemble(Source(text, "queue.s")))
    shapes = {name: x.shape for name, x in found.inputs.items()}
    assert shapes == {"matrix_netinq_0": (12, 8), "taken": (2, 4)}
    rng = np.random.default_rng(2)
    data = {name: rng.integers(-9, 10, shape).astype(np.float16) for name, shape in shapes.items()}
    product = data["matrix_netinq_0"] @ data["taken"].ravel()
    assert np.array_equal(found.run(data)["y"].ravel(), product)
    hinted = text.replace(".core   nnp\n", ".core   nnp\n .hint tensor W, NetInQ, 0, 4, 4\n")
    found = api.concord(api.assemble(Source(hinted, "queue.s")))
    shapes = {name: x.shape for name, x in found.inputs.items()}
    assert shapes == {"W": (4, 4), "matrix_netinq_4": (4, 20), "taken": (2, 4)}


@pytest.mark.parametrize(
    ("hinted", "expected"),
    [
        ({"a": 1}, {"x": 0, "a": 1, "netinq_2": 2}),
        ({"b": 2, "a": 1}, {"x": 0, "a": 1, "b": 2, "netinq_3": 3}),
        ({"a": 0, "b": 2}, {"a": 0, "x": 1, "b": 2, "netinq_3": 3}),
    ],
)
def test_hints_in_the_middle_of_a_read(hinted: dict[str, int], expected: dict[str, int]) -> None:
    """A hint for a vector in the middle of a read from a queue names this vector."""
    lines = [f" .hint tensor {name}, NetInQ, {place}, 1, 4" for name, place in hinted.items()]
    text = """.device tiny
        .input  x, float16, 16, at=netin
        .output y, float16, 4, 4, at=netout
        .core   nnp
        SetIterations(4)
        v_rd    NetInQ
        v_relu
        v_wr    NetOutQ
        end_chain
"""
    text = text.replace(".core   nnp\n", "\n".join([".core nnp", *lines, ""]))
    found = api.concord(api.assemble(Source(text, "queue.s")))
    assert {name: tensor.address for name, tensor in found.inputs.items()} == expected
    rows = np.random.default_rng(7).normal(size=(4, 4)).astype(np.float16)
    ends = [*expected.values(), 4][1:]
    pieces = zip(expected.items(), ends, strict=True)
    shapes = {name: tensor.shape for name, tensor in found.inputs.items()}
    data = {name: rows[first:end].reshape(shapes[name]) for (name, first), end in pieces}
    assert np.array_equal(found.run(data)["y"], np.maximum(rows, 0))
    assert found.check(data) is None


HEAD = """        .device tiny
        .output y, float16, 1, 4, at=netout
        .data
        .npy    "numbers.npy"
        .core   nnp
"""


def followed(tmp_path: Path, body: str, head: str = HEAD) -> Concordance:
    """The concordance of a program with 64 vectors in Dram; checked against the emulator."""
    numbers = np.random.default_rng(5).normal(size=(64, 4)).astype(np.float16)
    np.save(tmp_path / "numbers.npy", numbers)
    (tmp_path / "layer.s").write_text(f"{head}{body}        end_chain\n")
    found = api.concord(tmp_path / "layer.s")
    assert found.check({**found.tensors.select({}), **found.random()}) is None
    assert found.check(found.tensors.select({})) is None  # the program's own data
    return found


@pytest.mark.parametrize(
    ("hinted", "expected"),
    [
        (["a, Dram, 1, 1, 4"], {"dram_0": 0, "a": 1, "dram_2": 2}),
        (["b, Dram, 3, 1, 4", "a, Dram, 1, 1, 8"], {"dram_0": 0, "a": 1, "b": 3}),
        (["a, Dram, 0, 1, 4", "b, Dram, 2, 1, 4"], {"a": 0, "dram_1": 1, "b": 2, "dram_3": 3}),
    ],
)
def test_hints_in_the_middle_of_a_read_from_dram(
    tmp_path: Path, hinted: list[str], expected: dict[str, int]
) -> None:
    """A hint for a vector in the middle of a read from Dram names this vector.

    The name of an input in external memory is that of the first part without a hint.
    """
    head = HEAD.replace("1, 4, at", "4, 4, at")
    hints = "".join(f" .hint tensor {hint}\n" for hint in hinted)
    body = hints + " SetIterations(4)\n v_rd_inc Dram, 0, 1\n v_relu\n v_wr NetOutQ\n"
    found = followed(tmp_path, body, head)
    assert {name: tensor.address for name, tensor in found.inputs.items()} == expected
    head = head.replace(".data", "").replace('.npy    "numbers.npy"', ".input x, float16, 4, 4")
    found = api.concord(api.assemble(Source(f"{head}{body} end_chain\n", "declared.s")))
    unnamed = next(name for name in expected if name.startswith("dram"))
    places = {tensor.address: name for name, tensor in found.inputs.items()}
    assert places == {at: name.replace(unnamed, "x") for name, at in expected.items()}
    assert found.check(found.random()) is None


def test_a_hint_in_the_middle_of_tiles(tmp_path: Path) -> None:
    """A hint for a tile in the middle of a read of tiles names it; one for vectors does not."""
    head = HEAD.replace("1, 4, at", "3, 4, at")
    vectors = " v_rd Dram, 20\n v_relu\n v_wr NetOutQ\n"
    tiles = (
        " SetRowsCols(2, 1)\n m_rd Dram, 0\n m_wr MatrixRf, 0\n"
        " v_rd Dram, 16\n mv_mul 0\n v_wr NetOutQ\n"
    )
    hints = " .hint tensor W, Dram, 1, 4, 4\n .hint tensor v, Dram, 20, 1, 4\n"
    found = followed(tmp_path, hints + tiles + vectors, head)
    expected = {"matrix_dram_0": 0, "W": 1, "dram_16": 16, "v": 20}
    assert {name: tensor.address for name, tensor in found.inputs.items()} == expected
    rows = " SetIterations(3)\n v_rd_inc Dram, 0, 1\n v_wr AddSubVrf0, 0\n SetIterations(1)\n"
    found = followed(tmp_path, hints + rows + tiles + vectors, head)
    names = {name: tensor.kind for name, tensor in found.inputs.items()}
    assert names["W"] == "matrix"


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
    """If a program wrote a tile as vectors, a product of the tile uses them (seed 003 ¶72)."""
    found = followed(tmp_path, TILE_WRITTEN + MULTIPLIED)
    assert {name: x.address for name, x in found.inputs.items()} == {"dram_8": 8, "dram_0": 0}
    assert "matrix_of_rows(dram_8, 1, 1)" in found.text


def test_a_tile_of_which_the_program_wrote_a_part(tmp_path: Path) -> None:
    """A tile may have rows that the program wrote and rows from outside (seed 003 ¶72)."""
    part = TILE_WRITTEN.replace("SetIterations(4)", "SetIterations(2)").replace("16, 1", "17, 1")
    found = followed(tmp_path, part + MULTIPLIED)
    places = {x.address: x.rows for x in found.inputs.values()}
    assert places == {8: 2, 16: 1, 19: 1, 0: 1}


def test_a_tile_that_changes_after_it_was_read(tmp_path: Path) -> None:
    """If a tile changes after it was read, each product uses the tile it read (seed 003 ¶72)."""
    two = MULTIPLIED.replace("Dram, 4", "Dram, 2") + TILE_WRITTEN.replace("Dram, 16", "Dram, 9")
    head = HEAD.replace("1, 4, at", "2, 4, at")
    found = followed(tmp_path, two + MULTIPLIED.replace("Dram, 4", "Dram, 2"), head)
    assert next(iter(found.inputs)) == "matrix_dram_2"
    assert found.text.count(" = mv_mul(") == 2


def test_a_declared_tensor_that_is_read_as_tiles() -> None:
    """A declared tensor that chains read as tiles is an input of this name (seed 003 ¶65-66).

    It has the shape that `macaw run` takes.
    """
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


def test_outputs_of_the_program_are_too_short() -> None:
    """The emulator's vectors in NetOutQ are compared only if the program declares them."""
    text = """.device tiny
        .input  x, float16, 1, 4, at=netin
        {}
        .core   nnp
        v_rd    NetInQ
        v_relu
        v_wr    NetOutQ
        end_chain
"""
    data = {"x": np.ones(4, np.float16)}
    declared = api.concord(
        api.assemble(Source(text.format(".output y, float16, 1, 4, at=netout"), "relu.s"))
    )
    assert declared.check(data) is None
    missing = api.concord(api.assemble(Source(text.format(""), "relu.s")))
    with pytest.raises(api.InputError) as caught:
        missing.check(data)
    assert str(caught.value).startswith("the program's outputs at netout hold 0 native vectors; ")
    assert str(caught.value).endswith(" needs 1")


def test_a_matrix_that_leaves_is_followed(tmp_path: Path) -> None:
    """A matrix that m_wr stores in Dram and m_rd loads again is quantised twice (seed 003 ¶44)."""
    body = MULTIPLIED.replace(
        "        v_rd", "        m_rd MatrixRf, 0\n m_wr Dram, 9\n        v_rd"
    )
    body += "        m_rd Dram, 9\n m_wr MatrixRf, 1\n v_rd Dram, 38\n mv_mul 1\n v_wr NetOutQ\n"
    found = followed(tmp_path, body, HEAD.replace("1, 4, at", "2, 4, at"))
    assert "requantise_matrix(" in found.text
    assert found.outputs["dram_36"].shape == (4, 4)


def test_a_chain_that_writes_over_itself(tmp_path: Path) -> None:
    """A chain that overwrites its own inputs is followed iteration by iteration (seed 003 ¶56)."""
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
    """Loads that no output needs are left out, and so are their inputs."""
    body = "        v_rd Dram, 0\n        v_relu\n        v_wr NetOutQ\n"
    found = followed(tmp_path, body + "        v_rd Dram, 41\n        v_wr AddSubVrf1, 0\n")
    assert list(found.inputs) == ["dram_0"]
    assert found.text.count("v_relu(") == 2


def test_data_of_another_type(tmp_path: Path) -> None:
    """Data of another type (float32 for an fp16 program) are refused; the error names the line."""
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
    zeros = halves.replace("float16, 2, 4", "float32, 1, 4")  # zeros of float32 are right, too
    (tmp_path / "layer.s").write_text(text[: text.index("        .npy")] + zeros)
    with pytest.raises(api.InputError, match=r"layer.s:15: these data are float32"):
        api.concord(tmp_path / "layer.s")
    # the queue's tensor comes first here
    late = text.replace("SetIterations(4)", "v_rd NetInQ\n v_wr MulVrf, 0\n SetIterations(3)")
    loads = "        m_rd    Dram, 0\n        m_wr    MatrixRf, 0\n"
    late = late.replace(loads, "").replace(" SetIter", f"{loads} SetIter")
    (tmp_path / "layer.s").write_text(late)
    with pytest.raises(api.InputError, match=r"layer.s:16: these data are float32"):
        api.concord(tmp_path / "layer.s")


def test_the_program_s_own_data(tmp_path: Path) -> None:
    """Data that the program holds need not be given."""
    text = (SAMPLES / "conv.s").read_text()
    text = text.replace("256, 4\n", '128, 4\n        .npy "image.npy"\n')
    (tmp_path / "conv.s").write_text(text)
    image = np.zeros((24, 8), np.float16)
    image[:, :5] = np.random.default_rng(2).normal(size=(24, 5))
    np.save(tmp_path / "image.npy", image.reshape(48, 4))
    found = api.concord(tmp_path / "conv.s")
    data = found.random()
    assert all(np.array_equal(found.random(0)[name], array) for name, array in data.items())
    assert not all(np.array_equal(found.random(1)[name], array) for name, array in data.items())
    del data["image"]
    assert found.check(data) is None
    whole = found.run({**data, "image": image[:, :5]})["pooled"]
    assert whole.any()
    assert np.array_equal(found.run(data)["pooled"], whole)
    with pytest.raises(api.InputError, match="image is 24 × 5, the data has 3"):
        found.check({**data, "image": np.zeros(3, np.float16)})


def test_data_that_fill_a_tensor_up_are_zeros(tmp_path: Path) -> None:
    """Data that fill up a tensor must be zeros (seed 003 ¶65-66).

    The processor multiplies them, but the software does not know them.
    """
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
    """States of a loop with long names become `last[0]`, a name that nothing else has."""
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
    """A chain may not write to Dram at the address of a queue's tensor, because the dma uses it."""
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
