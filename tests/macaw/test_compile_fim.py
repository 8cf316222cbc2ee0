"""`macaw compile --core fim` writes a folder with a model's program for islands."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pytest
from onnx import helper

import macaw as api
from macaw.commands.compile import command
from tests.macaw.conftest import Macaw
from tests.macaw.fim_models import MATMUL, RNG, WEIGHTS, saved


def test_a_folder_whose_source_runs(macaw: Macaw, tmp_path: Path) -> None:
    """The folder's source is the one that `macaw lower` writes, and it runs."""
    saved(tmp_path / "m.onnx", MATMUL, rows="N")
    words = ("m.onnx", "--dim", "N=20", "--measure")
    done = macaw("compile", *words, "--core", "fim", "-o", "net", COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("wrote net/net.s\n")
    before = macaw("lower", "--target", "fim", *words, "-o", "net.s", COLUMNS="80")
    assert done.stdout == f"{before.stdout}wrote net/net.s\n"
    assert (tmp_path / "net" / "net.s").read_text() == (tmp_path / "net.s").read_text()
    x = RNG.integers(-3, 4, (20, 16)).astype(np.float16)
    np.save(tmp_path / "x.npy", x)
    ran = macaw("run", "net/net.s", "-i", "x=x.npy", "-o", "y=y.npy")
    assert (ran.returncode, ran.stderr) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x @ WEIGHTS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--core", "fim", "--batch", "2"], "--batch is not for --core fim"),
        (["--core", "fim", "--data", "x.npy"], "--data is not for --core fim"),
        (["--core", "fim", "--report", "csv"], "--report is not for --core fim"),
        (["--core", "fim", "--islands", "dot"], "--islands is not for --core fim"),
        (["--core", "nnp", "--data", "x.npy"], "--data is not for --core nnp"),
        (["--core", "nnp", "--islands", "dot"], "--islands is not for --core nnp"),
        (["--core", "nnp", "--jobs", "2"], "--jobs is not for --core nnp"),
        (["--explain"], "--explain is of --core fim"),
        (["--core", "nnp", "--resident", "0"], "--resident is of --core fim"),
    ],
)
def test_options_of_other_cores(words: list[str], message: str) -> None:
    with pytest.raises(click.UsageError) as error:
        command.main(["m.onnx", *words], standalone_mode=False)
    assert str(error.value) == message


def test_python_has_another_function_for_islands(tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", MATMUL)
    with pytest.raises(api.InputError) as error:
        api.compile(tmp_path / "m.onnx", core="fim")
    assert error.value.hint == "`macaw.lower_graph` for islands"


@pytest.mark.parametrize(("output", "source"), [(".", "net.s"), ("..", "models.s")])
def test_the_source_is_called_like_the_folder_that_a_relative_name_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, source: str
) -> None:
    folder = tmp_path / "models" / "net"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    saved(folder / "m.onnx", MATMUL)
    command.main(["m.onnx", "--core", "fim", "-o", output], standalone_mode=False)
    assert (folder / output / source).is_file()


@pytest.mark.parametrize("dynamic", [False, True])
def test_any_name_of_a_source(tmp_path: Path, dynamic: bool) -> None:
    saved(tmp_path / "m.onnx", MATMUL)
    (tmp_path / "own.toml").write_text("[dma]\nwidth = 16\n")
    found = api.lower_graph(
        tmp_path / "m.onnx", device=tmp_path / "own.toml", dynamic=dynamic, name='a"b\\'
    )
    assert "width = 16" in found.assemble().config_toml


def test_a_model_that_islands_do_not_compute_leaves_no_folder(macaw: Macaw, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", helper.make_node("Erf", ["x"], ["y"]))
    done = macaw("compile", "m.onnx", "--core", "fim", "-o", "net")
    assert done.returncode == 2
    assert "a node Erf: no task of the islands does it" in done.stderr
    assert not (tmp_path / "net").exists()
