"""docs/golden-tests.md: its commands print what the page shows."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from macaw import golden_description
from macaw.commands import test
from tests.macaw.conftest import HELLO, LAYER, ROOT, Macaw
from tests.tree_copies import PYTHON_PATH

TEXT = (ROOT / "docs" / "golden-tests.md").read_text("utf-8")
BLOCKS = [
    textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n(?:\n+(?=    ))?)+", TEXT, re.M)
]
FOLDER, DESCRIPTION, REFERENCED, TOLERATED, DIFFERING, PYTEST = BLOCKS


@pytest.fixture
def folders(macaw: Macaw, tmp_path: Path) -> Path:
    """A user's `tests/golden`: hello, and the layer with the page's description; both recorded."""
    place = tmp_path / "tests" / "golden"
    (place / "layer").mkdir(parents=True)
    for name in ("layer.s", "weights.npy", "x.npy"):
        shutil.copy(LAYER / name, place / "layer")
    (place / "layer" / "golden.toml").write_text(DESCRIPTION)
    shutil.copytree(HELLO.parent, place / "hello")
    done = macaw("test", "--update", "tests/golden")
    assert (done.returncode, done.stderr) == (0, "")
    return place


def test_the_folder_has_the_files_that_are_listed(folders: Path) -> None:
    lines = [re.match(r" *\S+", line).group() for line in FOLDER.splitlines()]  # type: ignore[union-attr]
    shown = set()
    path: list[str] = []
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // 2
        path[depth:] = [line.strip().rstrip("/")]
        if not line.endswith("/"):
            shown.add("/".join(path))
    found = folders.rglob("*")
    assert shown == {
        file.relative_to(folders).as_posix()
        for file in found
        if file.is_file() and file.is_relative_to(folders / "layer")
    }


def test_the_record_words_are_those_that_there_are() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.M))
    tolerances = {"absolute", "relative", "units"}
    assert tolerances < {item.name for item in fields(golden_description.Tolerance)}
    assert rows == {*golden_description.RECORDABLE, *tolerances}


def test_a_difference_from_a_reference_looks_as_it_is_shown(macaw: Macaw, folders: Path) -> None:
    """A difference from a reference is printed as the page shows it.

    The reference has the values that the page expects; the program gives the values of NumPy.
    """
    command, *lines = TOLERATED.splitlines()
    text = "\n".join(lines) + "\n"
    folder = folders / "layer"
    (folder / "golden.toml").write_text(REFERENCED)
    y = np.load(LAYER / "weights.npy").astype(float) @ np.load(LAYER / "x.npy")
    for place, value in re.findall(r"y\[(\d+)\]: expected ([\d.]+)", text):
        y[int(place)] = float(value)
    np.save(folder / "numpy.npy", y)
    assert macaw("test", "--update", "tests/golden/layer").returncode == 1
    done = macaw(*command.removeprefix("$ macaw ").split())
    assert (done.returncode, done.stdout) == (1, text)


def test_the_options_are_those_that_there_are() -> None:
    shown = set(re.findall(r"^\| `(--?\w+)[ `]", TEXT, re.M))
    options = {name for parameter in test.command.params for name in parameter.opts}
    assert shown == options - {"--update", "paths", "--jobs", "--plain"}


@pytest.mark.once
def test_a_difference_looks_as_it_is_shown(macaw: Macaw, folders: Path) -> None:
    """A difference from a recording is printed as the page shows it.

    The recording is changed to the values that the page expects.
    """
    command, *lines = DIFFERING.splitlines()
    text = "\n".join(lines) + "\n"
    (cycles,) = re.findall(r"cycles: expected (\d+)", text)
    ((place, value),) = re.findall(r"y\[(\d+)\]: expected (\d+)", text)
    expected = folders / "layer" / "expected"
    record = json.loads((expected / "run.json").read_text())
    (expected / "run.json").write_text(json.dumps({**record, "cycles": int(cycles)}))
    y = np.load(expected / "y.npy")
    y[int(place)] = int(value)
    np.save(expected / "y.npy", y)
    done = macaw(*command.removeprefix("$ macaw ").split())
    assert (done.returncode, done.stdout) == (1, text)


@pytest.mark.once
def test_pytest_collects_as_it_is_shown(folders: Path) -> None:
    command, *lines = PYTEST.splitlines()
    words = command.removeprefix("$ pytest").split()
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH, "NO_COLOR": "1", "COLUMNS": "80"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-p", "no:cacheprovider", *plugin()],
        capture_output=True,
        text=True,
        cwd=folders.parents[1],
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = [" ".join(line.split()[:2]) for line in done.stdout.splitlines() if "::golden" in line]
    assert shown == lines


def plugin() -> list[str]:
    """Options that load Macaw's plugin in pytest, if Macaw is only on the path."""
    from importlib.metadata import entry_points

    installed = any(
        found.value == "macaw.pytest_plugin" for found in entry_points(group="pytest11")
    )
    return [] if installed else ["-p", "macaw.pytest_plugin"]
