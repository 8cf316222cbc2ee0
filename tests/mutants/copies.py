"""The copy of the tree in which mutants are made, and how tests are run there."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.mutants.paths import LINES, ROOT, TREE
from tests.mutants.recording import FILE
from tests.tree_copies import copy_paths

MEMORY = 6 << 30  # bytes of address space of one process of tests
SECONDS = 90  # of processor time, for one mutant
WALL = 10  # wall-clock time may be this many times as long, on a busy machine
KEPT = ".original"  # the end of the name of a changed file's copy
SECONDS_A_TEST = 60  # of wall-clock time: then pytest-timeout fails the test


def copy_tree(source: Path = ROOT, target: Path = TREE, only: Sequence[str] = ()) -> None:
    """Copy the files that Git tracks, as in the working tree; with `only`, some of them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *only],
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    )
    shutil.rmtree(target, ignore_errors=True)
    names = filter(None, listed.stdout.split("\0"))
    files = [name for name in names if (source / name).is_symlink() or (source / name).is_file()]
    copy_paths(source, target, files)


def refresh(tests: Sequence[str] = ("tests/mutants",)) -> None:
    """Copy these test files and folders again."""
    copy_paths(ROOT, TREE, {test.partition("::")[0] for test in tests})


def limit(seconds: int) -> None:
    """Limit processor time and memory of this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def pytest_words(options: Sequence[str]) -> list[str]:
    """The command that runs tests, with the same examples of property tests each time."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1"]
    return [*words, f"--timeout={SECONDS_A_TEST}", *options]


def variables(tree: Path, extra: Path | None = None, **more: str) -> dict[str, str]:
    """The environment of tests: few examples; Python finds modules in the tree, then in `extra`."""
    # No .pyc files: a mutant may have the size and the second of its original.
    paths = os.pathsep.join(map(str, filter(None, [tree / "src", tree, extra])))
    own = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "MACAW_FUZZ": "50"}
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # the server forks
    return {**os.environ, **own, **alone, **more}


@contextmanager
def written(tree: Path, path: str, text: str) -> Iterator[None]:
    """Write another text into a file of the tree; restore the file after the `with` block.

    If the process is killed in the block, `recover` restores the file.
    """
    file, kept = tree / path, tree / f"{path}{KEPT}"
    shutil.copy2(file, kept)
    file.write_text(text, "utf-8")
    try:
        yield
    finally:
        kept.replace(file)


def recover(tree: Path) -> None:
    """Restore the files of a tree that a killed process left changed."""
    for kept in tree.rglob(f"*{KEPT}"):
        kept.replace(kept.with_name(kept.name.removesuffix(KEPT)))


def fails(tree: Path, tests: Sequence[str], extra: Path | None = None) -> str:
    """Run tests in a new process up to the first failure; return its name, "time", or ""."""
    if not tests:
        return ""
    shutil.rmtree(tree / ".hypothesis", ignore_errors=True)
    try:
        done = subprocess.run(
            pytest_words(["-x", *tests]), cwd=tree, env=variables(tree, extra), capture_output=True,
            text=True, check=False, timeout=WALL * SECONDS, preexec_fn=lambda: limit(SECONDS),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "time"
    if done.returncode < 0:
        return "time"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode and not lines:
        return f"pytest ended with status {done.returncode}"
    return lines[0].split(maxsplit=1)[1] if lines else ""


def folders_of_tests(tree: Path = TREE) -> list[str]:
    """The folders with tests, and programs/ with its golden tests."""
    folders = sorted(path.name for path in (tree / "tests").iterdir() if path.is_dir())
    return ["programs", *(f"tests/{name}" for name in folders if name != "mutants")]


def record_folder(tree: Path, folder: str, file: Path, *, extra: Path | None = None) -> None:
    """Run the tests of a folder or a file of a tree and record which lines they execute."""
    options = [folder, "-p", "tests.mutants.recording", "--tb=line"]
    options.append(f"--timeout={WALL * SECONDS}")
    environment = variables(tree, extra, **{FILE: str(file)})
    subprocess.run(pytest_words(options), cwd=tree, env=environment, check=False)


def record(tests: Sequence[str] = ()) -> None:
    """Copy the tree, run these tests or all tests, and record which lines they execute."""
    copy_tree()
    shutil.rmtree(LINES, ignore_errors=True)
    LINES.mkdir(parents=True)
    for number, folder in enumerate(tests or folders_of_tests()):
        record_folder(TREE, folder, LINES / f"{number}.npz")
