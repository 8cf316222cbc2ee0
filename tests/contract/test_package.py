"""The installed package is one package; a user's files named like its modules change nothing."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import macaw
from tests.installed import BUILT_FROM, ROOMS, wheel
from tests.mutants.copies import copy_tree

ROOT = Path(__file__).parents[2]
OLD = (*ROOMS, "lower")
PROGRAM = """\
        .core cp
_start: li a0, 0
        li a7, 93
        ecall
"""
CONSUMER = """\
import numpy as np
import macaw
from macaw.isa.config import Configuration

program: macaw.Program = macaw.assemble("program.s")
run = macaw.run(program)
cycles: int = run.cycles
device: Configuration = macaw.configuration("tiny")
reveal_type(run.cycles)
reveal_type(macaw.lower)
"""


# Imports every submodule; then calls each public function without arguments.
EVERY_FUNCTION = """\
import importlib, inspect, pkgutil
import macaw
for module in pkgutil.walk_packages(macaw.__path__, "macaw."):
    if not module.name.endswith("__main__") and ".gdb.client" not in module.name:
        importlib.import_module(module.name)
for name in macaw.__all__:
    value = getattr(macaw, name)
    if name.islower() and name != "__version__":
        try:
            value()
        except macaw.InputError as error:
            print(name, error)
        except TypeError as error:
            assert str(error).startswith("missing a required argument"), (name, error)
            print(name, error)
        else:
            print(name)
"""
NOTEBOOK = """\
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
shell.run_line_magic("load_ext", "macaw")
print(shell.run_cell_magic("macaw", "", open("program.s").read()).exit_code)
"""
NEW_FOLDER = """\
import os, sys
from macaw.cli import run_command
said = [run_command(["new", "x", "--core", sys.argv[1]])]
os.chdir("x")
for words in ["run", "."], ["test", "."], ["debug", ".", "--batch", "-e", "run"]:
    said.append(run_command(words))
print(said)
"""


@pytest.fixture
def clashing(tmp_path: Path) -> Path:
    """A user's folder with modules whose names are those of Macaw's rooms."""
    for name in OLD:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('the {name}.py of the user')\n")
    (tmp_path / "program.s").write_text(PROGRAM)
    (tmp_path / "script").write_text("run\n")
    return tmp_path


def python(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with only the installed package in its path."""
    variables = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=variables, capture_output=True, text=True
    )


@pytest.mark.once
def test_the_wheel_has_one_package_with_everything(installed: Path) -> None:
    top = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert top == {"macaw"}
    assert (installed / "macaw" / "py.typed").is_file()
    own = {
        path.relative_to(ROOT / room).as_posix(): room
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert [
        f"{own[name]}/{name}"
        for name in own
        if not (installed / "macaw" / own[name] / name).is_file()
    ] == []
    front = [
        x.relative_to(ROOT / "src")
        for x in (ROOT / "src/macaw").rglob("*")
        if x.is_file() and x.suffix != ".pyc"
    ]
    assert [str(name) for name in front if not (installed / name).is_file()] == []


@pytest.mark.once
def test_a_tree_without_links_makes_the_same_wheel(installed: Path, tmp_path: Path) -> None:
    copy_tree(ROOT, tmp_path / "tree", BUILT_FROM)
    for room in ROOMS:
        link = tmp_path / "tree" / "src" / "macaw" / room
        target = link.readlink()
        link.unlink()
        link.write_text(str(target))  # what Git leaves where the system has no links
    with zipfile.ZipFile(wheel(tmp_path / "tree", tmp_path)) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == {
        path.relative_to(installed).as_posix()
        for path in (installed / "macaw").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


@pytest.mark.once
def test_modules_of_a_user_s_folder_are_left_alone(installed: Path, clashing: Path) -> None:
    code = "import macaw; [getattr(macaw, name) for name in macaw.__all__]; print(macaw.run(macaw.assemble('program.s')).exit_code, macaw.__file__)"
    done = python(installed, clashing, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["0", str(installed / "macaw" / "__init__.py")]
    for words in (
        ["run", "program.s"],
        ["debug", "program.s", "--batch", "-x", "script"],
        ["isa", "add"],
    ):
        done = python(installed, clashing, "-m", "macaw", *words)
        assert done.returncode == 0, done.stderr


@pytest.mark.once
@pytest.mark.parametrize("core", ["pe", "vc", "nnp", "fim", "c"])
def test_a_new_folder_runs_tests_and_debugs_at_once(
    installed: Path, tmp_path: Path, core: str
) -> None:
    done = python(installed, tmp_path, "-c", NEW_FOLDER, core)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "exit with code 0" in done.stdout
    assert done.stdout.endswith("\n[0, 0, 0, 0]\n")


@pytest.mark.once
def test_a_consumer_sees_types(installed: Path, clashing: Path) -> None:
    (clashing / "consumer.py").write_text(CONSUMER)
    for name in OLD:
        (clashing / f"{name}.py").unlink()
    quick = ["--no-incremental", "--follow-imports=silent"]  # `make lint` checks what is imported
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *quick, "consumer.py"],
        cwd=clashing, env={**os.environ, "MYPYPATH": str(installed)}, capture_output=True, text=True,
    )  # fmt: skip
    wrong = [x for x in done.stdout.splitlines() if x.startswith("consumer.py") and "error" in x]
    assert wrong == []
    assert 'note: Revealed type is "int"' in done.stdout.replace("builtins.int", "int")
    assert 'Revealed type is "Any"' not in done.stdout


@pytest.mark.once
def test_a_notebook_runs_in_a_user_s_folder(installed: Path, clashing: Path) -> None:
    done = python(installed, clashing, "-c", NOTEBOOK)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


@pytest.mark.once
def test_every_function_can_be_called_after_all_imports(installed: Path, clashing: Path) -> None:
    """All public functions can be called after all modules were imported.

    A module becomes an attribute of its package when it is imported, and could hide a function.
    """
    done = python(installed, clashing, "-c", EVERY_FUNCTION)
    assert (done.returncode, done.stderr) == (0, "")
    called = {line.split()[0] for line in done.stdout.splitlines()}
    assert called == {name for name in macaw.__all__ if name.islower()} - {"__version__"}


def test_no_public_name_is_that_of_a_module() -> None:
    modules = {info.name for info in pkgutil.iter_modules(macaw.__path__)}
    assert not modules & set(macaw.__all__)


def test_links_lead_to_the_rooms() -> None:
    for room in ROOMS:
        assert (ROOT / "src/macaw" / room / "__init__.py").samefile(ROOT / room / "__init__.py")
