"""`macaw lower --target fim` and `macaw.lower_graph`: their output, files and errors."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from onnx import helper

import macaw as api
from macaw.commands.lower import command
from macaw.isa import config
from macaw.lowering.fim.graph import Graph
from tests.macaw.conftest import Macaw
from tests.macaw.fim_models import MATMUL, RNG, WEIGHTS, saved

pytestmark = pytest.mark.once

HINT = "hint: `macaw compile --core fim` does the same into a folder\n"


def test_a_source_that_runs(macaw: Macaw, tmp_path: Path) -> None:
    """`macaw lower --target fim` writes a source that runs (seed 004 ¶60)."""
    saved(tmp_path / "net.onnx", MATMUL, rows="N")
    words = ("--dim", "N=20", "--explain", "--measure", "-o", "p.s")
    done = macaw("lower", "--target", "fim", "net.onnx", *words, COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, HINT)
    lines = done.stdout.splitlines()
    assert lines[2] == "   y = x · W (20 x 16 x 8)"
    assert any("cycles; it would end the plan" in line for line in lines)
    assert any(re.search(r"island 0 +\d+ to [\d,]+ +\d+ to [\d,]+$", line) for line in lines)
    assert any(line.startswith("dma in ") and len(line) <= 80 for line in lines)
    name, *figures = lines[-2].replace(",", "").split()
    guess, emulated = map(int, figures)
    assert name == "cycles"
    assert abs(guess / emulated - 1) < 0.1
    assert macaw("fmt", "--check", "p.s").returncode == 0
    x = RNG.integers(-3, 4, (20, 16)).astype(np.float16)
    np.save(tmp_path / "x.npy", x)
    ran = macaw("run", "p.s", "-i", "x=x.npy", "-o", "y=y.npy")
    assert (ran.returncode, ran.stderr) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x @ WEIGHTS)


def test_a_graph_by_hand(tmp_path: Path) -> None:
    graph = Graph(1)
    x, w = graph.tensor("x", 8, 16), graph.constant("w", WEIGHTS)
    graph.product(x, w, "y")
    found = api.lower_graph(graph, name="by_hand", together=False)
    assert (
        repr(found) == f"<lowering of by_hand for base: {found.cycles:,} cycles predicted, 1 step>"
    )
    measured = found.measure({"x": np.ones((8, 16))})
    np.testing.assert_array_equal(measured.outputs["y"], np.ones((8, 16)) @ WEIGHTS)
    assert measured.outputs["y"].dtype == np.float32
    assert measured.error == 0
    assert abs(found.cycles / measured.cycles - 1) < 0.1
    assert abs(found.dma / measured.dma - 1) < 0.1
    (step,) = measured.steps
    start = found.plan.action("start", 0)
    assert step.island == found.plan.steps[0].option.island
    assert abs(step.begin - start.begin) < 50
    assert abs((step.end - step.begin) / (start.end - start.begin) - 1) < 0.1
    found.write(tmp_path / "by_hand.s")
    given = np.arange(128, dtype=np.float32).reshape(8, 16)
    run = api.run(tmp_path / "by_hand.s", x=given)
    np.testing.assert_array_equal(run.outputs["y"], given @ WEIGHTS)
    assert run.cycles == measured.cycles


def test_copies_of_the_host_are_work_of_the_dma() -> None:
    graph = Graph()
    graph.gather(graph.tensor("x", 8, 16), [3, 1, 7], name="y")
    found = api.lower_graph(graph)
    measured, with_seed = found.measure(), found.measure(seed=0)
    assert 0 < found.dma == measured.dma < found.cycles < found.dma + 10
    assert measured.outputs
    for name, output in measured.outputs.items():
        np.testing.assert_array_equal(output, with_seed.outputs[name])
    with pytest.raises(api.InputError, match="inputs is arrays of numbers by name"):
        found.measure({"x": "a"})
    with pytest.raises(api.InputError, match=r"^the input x: 1e\+06 is too large for fp16$"):
        found.measure({"x": np.full((8, 16), 1e6)})
    assert np.isinf(found.measure({"x": np.full((8, 16), np.inf)}).outputs["y"]).all()


def test_a_device_of_ones_own_goes_beside_the_source(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text("[fim]\nislands = 1\n")
    (tmp_path / "out").mkdir()
    saved(tmp_path / "net.onnx", MATMUL)
    found = api.lower_graph(tmp_path / "net.onnx", device=tmp_path / "one.toml")
    assert {step.option.island for step in found.plan.steps} == {0}
    found.write(tmp_path / "out" / "net.s")
    run = api.run(tmp_path / "out" / "net.s", x=np.ones((20, 16), np.float16))
    np.testing.assert_array_equal(run.outputs["y"], np.ones((20, 16)) @ WEIGHTS)
    assert run.device.config["fim.islands"] == 1


def test_steps_are_shorter_where_an_island_has_few_words() -> None:
    """If an island can store few words, the plan has short steps, so that three products fit."""
    graph = Graph()
    x = graph.tensor("x", 48, 32)
    identity = np.eye(32, dtype=np.float16)
    for number in range(3):
        x = graph.product(x, graph.constant(f"w{number}", identity), f"y{number}")
    settings = {"fim.islands": 1, "fim.instructions": 700}
    device = api.configuration("base").changed(settings)
    found = api.lower_graph(graph, device=device, together=False)
    given = RNG.uniform(-1, 1, (48, 32)).astype(np.float16)
    run = api.run(found.assemble(), x=given)
    np.testing.assert_array_equal(run.outputs["y2"], given)
    words = [step.option.job.words for step in found.plan.steps]
    assert sum(words) <= 700
    one = Graph()
    one.product(one.tensor("x", 48, 32), one.constant("w", identity))
    (alone,) = api.lower_graph(one, device=device).plan.steps
    assert alone.option.job.words > max(words)
    with pytest.raises(api.InputError, match="steps of island 0 have"):
        api.lower_graph(graph, device=device.changed({"fim.instructions": 150}), together=False)


def test_onnx_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import macaw.lowering.fim

    monkeypatch.delattr(macaw.lowering.fim, "onnx_graph", raising=False)
    monkeypatch.delitem(sys.modules, "macaw.lowering.fim.onnx_graph", raising=False)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(api.InputError, match="an ONNX graph needs the package onnx") as caught:
        api.lower_graph(tmp_path / "net.onnx")
    assert caught.value.hint == "pip install 'macaw-npu[onnx]'"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.onnx"], "cannot read none.onnx: No such file or directory"),
        (["text.onnx"], "text.onnx is no ONNX model"),
        (["erf.onnx"], r"node it \(Erf\): no task of the islands does it"),
        (["named.onnx"], "the input x: a dimension has no size, 'N'"),
        (["net.onnx", "--format", "fp8"], "no format 'fp8'"),
        (["net.onnx", "--dim", "N=3"], "the model calls no dimension 'N'"),
        (["named.onnx", "--dim", "M=3"], "the model calls no dimension 'M'"),
        (
            ["named.onnx", "--dim", f"N={10**8}"],
            "the input x: 1,600,000,000 numbers take 3,200,000,000 bytes, external memory has 268,435,456",
        ),
        (["net.onnx", "-o", "net.onnx"], "net.onnx is an input: it is not overwritten"),
        (["empty.onnx"], "the output y does not depend on any input"),
    ],
)
def test_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(Path("net.onnx"), MATMUL)
    saved(Path("named.onnx"), MATMUL, rows="N")
    saved(Path("erf.onnx"), helper.make_node("Erf", ["x"], ["y"], name="it"))
    saved(Path("empty.onnx"), helper.make_node("Relu", ["W"], ["y"]))
    Path("text.onnx").write_text("hello")
    before = Path("net.onnx").read_bytes()
    with pytest.raises(api.InputError, match=message):
        command.main(["--target", "fim", *words], standalone_mode=False)
    assert not list(tmp_path.glob("*.s"))
    assert Path("net.onnx").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["net.onnx", "--target", "fim", "--dim", "N"], "--dim 'N' is not of the form NAME=N"),
        (["net.onnx", "--target", "fim", "--dim", "N=2", "--dim", "N=3"], "--dim gives N twice"),
        (
            ["net.onnx", "--target", "fim", "--dim", f"N={10**9}"],
            "--dim 'N=1000000000': a size has 9 digits at most",
        ),
        (["spmv", "--image", f"{10**9}x1"], "'1000000000x1': numbers have 9 digits at most"),
        (["net.onnx", "--target", "fim", "--rows", "2"], "--rows is of --target pe"),
        (["spmv", "--dim", "N=1"], "--dim is of --target fim"),
        (["net.onnx"], "net.onnx is a graph, which --target fim takes"),
        (["spmv"], "Missing option '-w' / '--weights'"),
    ],
)
def test_options_that_do_not_go_together(words: list[str], message: str) -> None:
    with pytest.raises(click.UsageError, match=message):
        command.main(words, standalone_mode=False)


def side_by_side() -> Graph:
    """A graph of three products that do not wait for each other, and a sum."""
    graph = Graph()
    a, b = graph.tensor("a", 16, 16), graph.tensor("b", 16, 16)
    for number in range(2):
        graph.product(a, b, f"x{number}")
    graph.pointwise("add", graph.product(b, a, "y"), b, name="sum")
    return graph


@functools.cache
def lowered_side_by_side() -> api.LoweredGraph:
    return api.lower_graph(side_by_side())


def test_a_timeline_has_80_columns_if_none_are_asked_for() -> None:
    found = lowered_side_by_side()
    assert found.timeline() == found.timeline(80) != found.timeline(81)


def test_a_program_that_decides_at_run_time(tmp_path: Path) -> None:
    """A program lowered with `dynamic`, in which cp chooses islands, gives a slow island less work.

    Its results are exact (seed 004 ¶60, ¶53).
    """
    a, b = (RNG.integers(-2, 3, (16, 16)).astype(np.float16) for _ in "ab")
    found = api.lower_graph(side_by_side(), dynamic=True)
    program = found.assemble()
    base = api.run(program, a=a, b=b)
    words = [base.counters[f"fim[{island}]"]["instructions"] for island in range(4)]
    most = words.index(max(words))
    assert sum(map(bool, words)) > 1
    slow = api.configuration("base").changed({f"fim.island.{most}.divider": 16})
    other = api.run(program, a=a, b=b, device=slow)
    wanted = {"sum": b @ a + b, **{f"x{number}": a @ b for number in range(2)}}
    program_beforehand = lowered_side_by_side().assemble()
    beforehand = api.run(program_beforehand, a=a, b=b)
    for run in (base, other, beforehand):
        for output, array in run.outputs.items():
            np.testing.assert_array_equal(array, wanted[output])
    assert other.counters[f"fim[{most}]"]["instructions"] < max(words)
    assert other.cycles < api.run(program_beforehand, a=a, b=b, device=slow).cycles


def test_the_host_and_islands_at_run_time(macaw: Macaw, tmp_path: Path) -> None:
    """With `--dynamic`, cp may gather rows itself between two tasks of islands."""
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["p"]),
        helper.make_node("Gather", ["p", "i"], ["g"], axis=0),
        helper.make_node("Add", ["g", "p"], ["y"]),
    ]
    order = np.arange(20)[::-1].copy()
    saved(tmp_path / "net.onnx", *nodes, i=order)
    words = ("--dynamic", "--measure", "-o", "p.s")
    done = macaw("lower", "--target", "fim", "net.onnx", *words)
    assert (done.returncode, done.stderr) == (0, HINT)
    assert done.stdout.startswith("cp decides at run time which island does what")
    x = RNG.integers(-3, 4, (20, 16)).astype(np.float16)
    p = x @ WEIGHTS
    np.testing.assert_array_equal(api.run(tmp_path / "p.s", x=x).outputs["y"], p[order] + p)


def test_graphs_that_are_no_programs() -> None:
    with pytest.raises(api.InputError, match="the graph has no tasks"):
        api.lower_graph(Graph())
    large = Graph()
    large.pointwise("relu", large.tensor("x", 512, 1024))
    small = config.load("tiny").changed({"mem.external_bytes": 1 << 20})
    message = "inputs and outputs take 2,097,152 bytes, external memory has 1,048,576"
    with pytest.raises(api.InputError, match=message):
        api.lower_graph(large, device=small)
