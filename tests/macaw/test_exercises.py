"""The exercises: their golden tests fail at the start, and pass with the solutions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from docs.shown import made, page
from macaw.samples import EXERCISES, HOME
from tests.exercises.arrays import arrays, main
from tests.macaw.command_runs import run_here, run_shown
from tests.macaw.conftest import ROOT

pytestmark = pytest.mark.once

SOLUTIONS = ROOT / "tests" / "exercises"
# What `macaw test` says of the start: how far it is.
FAR = {
    "sparsity": r"cycles: 8\d\d, 4\d\d more than the 360 of most_cycles",
    "dataflow": r"cycles: 2,\d\d\d, [89]\d\d more than the 1,300 of most_cycles",
    "block-floating-point": r"output y: \d of 4 elements are further from numpy.npy than 0.02",
    "in-memory": r"cycles: 471, 71 more than the 400 of most_cycles",
    "tracing": r"output measured: 3 of 3 elements differ from measured.npy",
    "protection": r"output y: 1 of 1 element differ from numpy.npy",
}


@pytest.fixture
def folder(tmp_path: Path, name: str) -> Path:
    done = run_here(["new", "x", "--exercise", name], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"x: {EXERCISES[name]}\n")
    return tmp_path / "x"


@pytest.mark.parametrize("name", EXERCISES)
def test_the_start_fails_and_the_solution_passes(folder: Path, name: str) -> None:
    done = run_here(["test", "."], folder)
    assert done.returncode == 1
    assert re.search(FAR[name], done.stdout), done.stdout
    (source,) = folder.glob("*.s")
    solution = (SOLUTIONS / f"{name}.s").read_text("utf-8")
    assert run_here(["fmt", "--check", source, SOLUTIONS / f"{name}.s"], folder).returncode == 0
    source.write_text(solution)
    done = run_here(["test", "."], folder)
    assert (done.returncode, done.stdout) == (0, "ok       .\n1 passed, 0 failed\n")


@pytest.mark.parametrize("name", EXERCISES)
def test_each_step_of_a_solution_counts(folder: Path, name: str) -> None:
    """A solution from which one of its ideas is removed does not pass."""
    (source,) = folder.glob("*.s")
    solution = (SOLUTIONS / f"{name}.s").read_text("utf-8")
    halves = {
        "sparsity": [
            solution.replace(".sparse", ".dense "),
            source.read_text("utf-8").replace(".dense ", ".sparse"),
        ],
        "dataflow": [solution.replace("half    1, 4,", "half    0, 4,")],
        "block-floating-point": [solution.replace("        vv_add  AddSubVrf0, 0\n", "")],
        "in-memory": [solution.replace("banks=0-3", "banks=0-2")],
        "tracing": [solution.replace("        trace_end 0\n", "")],
        "protection": [solution.replace("        addi    a2, a2, 16\n", "")],
    }[name]
    for half in halves:
        assert half != solution
        source.write_text(half)
        assert run_here(["test", "."], folder).returncode in (1, 2)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_arrays_are_made_from_a_seed(name: str) -> None:
    stored = {path.stem: np.load(path) for path in (HOME / "exercises" / name).glob("*.npy")}
    made_again = arrays(name)
    assert stored.keys() == made_again.keys()
    for key, array in stored.items():
        np.testing.assert_array_equal(array, made_again[key])
        assert array.dtype == made_again[key].dtype
    others = arrays(name, 7)
    assert any(not np.array_equal(others[key], stored[key]) for key in stored)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_readme_shows_what_the_test_says(name: str) -> None:
    text = page(f"samples/exercises/{name}").read_text("utf-8")
    assert "macaw test ." in text
    assert made(text, f"samples/exercises/{name}", run_shown) == text
    for word in re.findall(r"`macaw isa ([^`]+)`", text):
        assert run_here(["isa", *word.split()], ROOT).returncode == 0, word


@pytest.mark.parametrize("seed", [1, 2])
def test_other_numbers_make_the_same_exercises(tmp_path: Path, seed: int) -> None:
    for name in EXERCISES:
        folder = tmp_path / name
        run_here(["new", folder, "--exercise", name], tmp_path)
        for key, array in arrays(name, seed).items():
            np.save(folder / f"{key}.npy", array)
        assert run_here(["test", "."], folder).returncode == 1, name
        (source,) = folder.glob("*.s")
        source.write_text((SOLUTIONS / f"{name}.s").read_text("utf-8"))
        done = run_here(["test", "."], folder)
        assert done.returncode == 0, (name, done.stdout)


def test_the_script_writes_the_arrays_of_all_exercises(tmp_path: Path) -> None:
    main([str(tmp_path / "made"), "2027"])
    for name in EXERCISES:
        written = {path.stem: np.load(path) for path in (tmp_path / "made" / name).iterdir()}
        expected = arrays(name, 2027)
        assert written.keys() == expected.keys()
        assert all(np.array_equal(written[key], expected[key]) for key in written)


def test_the_teachers_page_lists_all_exercises() -> None:
    text = (ROOT / "docs" / "exercises.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.M)) == set(EXERCISES)


def test_the_teachers_page_shows_what_its_commands_print() -> None:
    text = page("exercises").read_text("utf-8")
    assert made(text, "exercises", run_shown) == text


def test_core_and_exercise_do_not_go_together(tmp_path: Path) -> None:
    done = run_here(["new", "x", "--exercise", "tracing", "--core", "vc"], tmp_path)
    assert done.returncode == 2
    assert "--core does not go with --exercise" in done.stderr
