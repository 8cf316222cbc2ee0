"""programs/lowered: the sources are what `macaw lower` writes, and compute what NumPy does."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "programs" / "lowered"
COMMANDS = dict(
    re.findall(r"^    (macaw lower (\w+) .*)$", (FOLDER / "README.md").read_text("utf-8"), re.M)
)
NAMES = ("spmv", "spmm", "conv2d", "depthwise")


def test_each_operation_is_there() -> None:
    assert tuple(COMMANDS.values()) == NAMES
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(NAMES)


@pytest.mark.parametrize(("command", "name"), COMMANDS.items(), ids=COMMANDS.values())
def test_sources_are_current(command: str, name: str, tmp_path: Path) -> None:
    """Where it fails after a change of `lower`: run the README's command, and look at the source."""
    made, kept = tmp_path / name, FOLDER / name
    made.mkdir()
    given = ("weights.npy", "bias.npy", "x.npy", "golden.toml")
    for file in given[:2]:
        if (kept / file).exists():
            shutil.copy(kept / file, made)
    words = [sys.executable, "-m", *shlex.split(command)]
    subprocess.run(
        words, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True
    )
    files = {path.name for path in kept.iterdir() if path.is_file()}
    assert files | set(given[:2]) == {path.name for path in made.iterdir()} | set(given)
    for path in made.iterdir():
        assert path.read_bytes() == (kept / path.name).read_bytes(), path.name


def _wanted(name: str, x: NDArray[np.int64]) -> NDArray[Any]:
    """The operation in NumPy, with the README's stride, padding and shift."""
    weights = np.load(FOLDER / name / "weights.npy").astype(np.int64)
    if name == "spmv":
        return np.asarray(weights @ x, np.int32)
    if name == "spmm":
        sums, shift = x @ weights.T, 4
    else:
        padded = np.pad(x, ((1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(0, 1))
        if name == "conv2d":
            sums, shift = np.einsum("hwcij,oijc->hwo", windows, weights), 5
        else:
            sums, shift = np.einsum("hwcij,cij->hwc", windows[::2, ::2], weights), 4
    sums = np.maximum(sums + np.load(FOLDER / name / "bias.npy"), 0)
    return np.clip(np.rint(sums / 2**shift), -128, 127).astype(np.int8)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_numpy(name: str) -> None:
    x = np.load(FOLDER / name / "x.npy")
    run = macaw.run(macaw.assemble(FOLDER / name / f"{name}.s"), x=x)
    wanted = _wanted(name, x.astype(np.int64))
    assert run.outputs["y"].dtype == wanted.dtype
    assert np.array_equal(run.outputs["y"], wanted)
    assert np.unique(wanted).size > 10


@pytest.mark.parametrize(("name", "positions"), [("conv2d", 100), ("depthwise", 36)])
def test_weights_rotate(name: str, positions: int) -> None:
    """A kernel's weights are in the queue once, and every output position examines all of them."""
    source = (FOLDER / name / f"{name}.s").read_text("utf-8")
    assert re.findall(r"^ *\.seq +(\w+), state=(\w+)", source, re.M) == [("product0", "rq")]
    weights = np.load(FOLDER / name / "weights.npy")
    run = macaw.run(macaw.assemble(FOLDER / name / f"{name}.s"), x=np.load(FOLDER / name / "x.npy"))
    rows = [values for core, values in run.counters.items() if core.startswith("pe[")]
    nonzero = np.count_nonzero(weights)
    assert sum(row["weights_examined"] for row in rows) == positions * nonzero
    most = max(np.count_nonzero(kernel) for kernel in weights)
    assert max(row["weights_high"] for row in rows) == most
