"""programs/lowered: `macaw lower` writes these sources, and their outputs are NumPy's."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw
from macaw.cli import run_command

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "programs" / "lowered"
TEXT = (FOLDER / "README.md").read_text("utf-8").replace("\\\n", "")
COMMANDS = dict(re.findall(r"^    (macaw lower (\w+) .*)$", TEXT, re.M))
NAMES = ("spmv", "spmm", "conv2d", "depthwise")


def test_each_operation_is_there() -> None:
    assert tuple(COMMANDS.values()) == NAMES
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(NAMES)


@pytest.mark.parametrize(("command", "name"), COMMANDS.items(), ids=COMMANDS.values())
def test_sources_are_current(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each source is what the README's command writes.

    If this fails after a change of `lower`: run the README's command, and read the new source.
    """
    made, kept = tmp_path / name, FOLDER / name
    made.mkdir()
    given = ("weights.npy", "bias.npy", "x.npy", "golden.toml")
    for file in given[:2]:
        if (kept / file).exists():
            shutil.copy(kept / file, made)
    monkeypatch.chdir(tmp_path)
    assert run_command(shlex.split(command)[1:]) == 0
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
        if name == "depthwise":
            x = x.transpose(2, 1, 0)  # from cwh
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
    """The lowered programs compute exactly what NumPy does (seed 000 ¶132-133)."""
    x = np.load(FOLDER / name / "x.npy")
    run = macaw.run(macaw.assemble(FOLDER / name / f"{name}.s"), x=x)
    wanted = _wanted(name, x.astype(np.int64))
    assert run.outputs["y"].dtype == wanted.dtype
    assert np.array_equal(run.outputs["y"], wanted)
    assert np.unique(wanted).size > 10


def _rows(name: str) -> list[dict[str, int]]:
    """The counters of each row of the array after a run."""
    folder = FOLDER / name
    run = macaw.run(macaw.assemble(folder / f"{name}.s"), x=np.load(folder / "x.npy"))
    return [dict(values) for core, values in run.counters.items() if core.startswith("pe[")]


def _states(name: str) -> list[tuple[str, str]]:
    """(name, state) of each sequence that names a state."""
    source = (FOLDER / name / f"{name}.s").read_text("utf-8")
    return re.findall(r"^ *\.seq +(\w+), state=(\w+)", source, re.M)


def test_kernels_rotate() -> None:
    """A kernel comes into the queue once; 100 positions examine all its weights (seed 000 ¶92)."""
    assert _states("conv2d") == [("product0", "rq")]
    weights, rows = np.load(FOLDER / "conv2d" / "weights.npy"), _rows("conv2d")
    assert sum(row["weights_examined"] for row in rows) == 100 * np.count_nonzero(weights)
    most = max(np.count_nonzero(kernel) for kernel in weights)
    assert max(row["weights_high"] for row in rows) == most


def test_windows_slide() -> None:
    """Six windows of nine come out of a strip of (6 - 1) · 6 + 9 = 39 activations in eight PEs.

    A row has three strips; the second and third come when six and twelve entries have left. The PEs
    skip zeros of the kernel, but not zeros of the activations.
    """
    assert _states("depthwise") == [("product0", "sw")]
    weights, rows = np.load(FOLDER / "depthwise" / "weights.npy"), _rows("depthwise")
    assert sum(row["weights_examined"] for row in rows) == 6 * 6 * 9 * 8
    assert sum(row["macs"] for row in rows) == 6 * 6 * np.count_nonzero(weights)
    assert max(row["weights_high"] for row in rows) == 3 * 39 - 2 * 6
