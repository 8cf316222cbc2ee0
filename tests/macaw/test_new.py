"""`macaw new`: the new folder runs as a program, and its README shows what commands print."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.shown import made, page
from macaw.errors import InputError
from macaw.program_folder import ProgramFiles, find_program
from macaw.samples import SAMPLES
from tests.macaw.command_runs import run_here, run_shown
from tests.macaw.conftest import HELLO, Macaw

COMPILER = "riscv64-unknown-elf-gcc"


@pytest.mark.parametrize("core", SAMPLES)
def test_a_new_folder_runs_tests_and_debugs(macaw: Macaw, tmp_path: Path, core: str) -> None:
    done = macaw("new", "a/my net", "--core", core)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"a/my net: {SAMPLES[core]}\n  ")
    assert "  cd 'a/my net'\n  macaw run .\n" in done.stdout
    folder = tmp_path / "a" / "my net"
    assert (folder / "README.md").read_text("utf-8").startswith("# my net\n")
    named = set(done.stdout.split())
    assert {path.name for path in folder.iterdir() if path.is_file()} <= named
    for words in (["run"], ["test"], ["debug", "--batch", "-e", "run"], ["profile"]):
        done = run_here([words[0], ".", *words[1:]], folder)
        assert (done.returncode, done.stderr) == (0, ""), words
    sources = list(folder.glob("*.s"))
    assert run_here(["fmt", "--check", *sources], folder).returncode == 0


def test_the_commands_to_try_fit_a_name_like_an_option(tmp_path: Path) -> None:
    done = run_here(["new", "--", "-net"], tmp_path)
    assert "  cd ./-net\n  macaw run .\n" in done.stdout


def test_new_goes_into_an_empty_folder_and_pe_is_the_first(tmp_path: Path) -> None:
    done = run_here(["new", "."], tmp_path)
    assert done.returncode == 0
    assert " cd " not in done.stdout
    assert (tmp_path / "layer.s").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["full"], "full exists, and is not empty\nhint: choose another name\n"),
        (["file"], "file exists, and is no folder\nhint: choose another name\n"),
        (["file/x"], "cannot make file/x: "),
        (["x", "--core", "cq"], "'cq' is not one of 'pe', 'vc', 'nnp', 'fim', 'c'"),
        ([], "Missing argument 'NAME'"),
    ],
    ids=repr,
)
def test_new_refuses(macaw: Macaw, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    done = macaw("new", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert [x.name for x in (tmp_path / "full").iterdir()] == ["mine"]


@pytest.mark.once
@pytest.mark.parametrize("core", SAMPLES)
def test_readmes_show_what_commands_print(core: str) -> None:
    text = page(f"samples/{core}").read_text("utf-8")
    assert made(text, f"samples/{core}", run_shown) == text


@pytest.mark.once
def test_the_makefile_builds_the_program_that_is_there(macaw: Macaw, tmp_path: Path) -> None:
    if not (shutil.which(COMPILER) and shutil.which("make")):
        pytest.skip(f"no {COMPILER} or no make here")
    macaw("new", "x", "--core", "c")
    folder = tmp_path / "x"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "macaw").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m macaw "$@"\n')
    (tools / "macaw").chmod(0o755)
    (folder / "app.elf").unlink()
    done = run_here(["run", "."], folder)
    assert done.returncode == 2
    assert "golden.toml names app.elf, which is not there\nhint: `make`" in done.stderr
    missing = subprocess.run(["make", "CC=nocc -x"], cwd=folder, capture_output=True, text=True)
    assert missing.stdout.startswith("no C compiler nocc: install one for RISC-V (Debian: ")
    path = f"{tools}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(["make"], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert run_here(["test", "."], folder).stdout == "ok       .\n1 passed, 0 failed\n"


def test_the_program_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one").mkdir()
    Path("one/p.s").write_text("")
    assert find_program(["one"]) == ProgramFiles((str(Path("one/p.s")),))
    assert find_program(["one/p.s", "other.s"]) == ProgramFiles(("one/p.s", "other.s"))
    Path("one/q.s").write_text("")
    Path("one/golden.toml").write_text(
        'source = ["q.s", "p.s"]\ndevice = "large"\nmax_cycles = 9\njitter = 3\ninputs = {x = "x.npy"}\n'
    )
    assert find_program(["one"]) == ProgramFiles(
        ("one/q.s", "one/p.s"), {"x": "one/x.npy"}, "large", 9, 3
    )


@pytest.mark.parametrize(
    ("paths", "message", "hint"),
    [
        (["two"], "two has 2 sources, and no golden.toml names the program's", "there are two/a.s, two/b.s: name one, or all files of the program"),
        (["."], ". has no program: neither a golden.toml nor a source (.s)", "there are programs in bad, good0, good1, good2, good3, good4 and 3 more"),
        (["empty"], "empty has no program: neither a golden.toml nor a source (.s)", "`macaw new NAME` makes a folder with one"),
        (["empty", "two/a.s"], "empty is a folder: it stands for a whole program", "name either one folder, or files"),
        (["good0"], "good0/golden.toml names p.s, which is not there", ""),
        (["bad"], "bad/golden.toml: source must name the program's file, or a list of files", ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_folder_without_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], message: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("two", "empty", "bad", *(f"good{n}" for n in range(8))):
        Path(name).mkdir()
        if name.startswith("good"):
            Path(name, "golden.toml").write_text('source = "p.s"\n')
    for name in ("two/a.s", "two/b.s", "bad/golden.toml"):
        Path(name).write_text("")
    with pytest.raises(InputError) as error:
        find_program(paths)
    assert (error.value.message, error.value.hint or "") == (message, hint)


def test_the_command_line_replaces_what_the_folder_says(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "p.s").write_text(HELLO.read_text())
    (tmp_path / "golden.toml").write_text('source = "p.s"\nmax_cycles = 3\n')
    done = macaw("run", ".")
    assert done.returncode == 1
    assert "3 cycles" in done.stderr
    assert macaw("run", ".", "--max-cycles", "1000").returncode == 0
    assert macaw("profile", ".", "--max-cycles", "1000").returncode == 0


@pytest.mark.once
def test_new_leaves_nothing_if_the_disk_is_full(tmp_path: Path) -> None:
    """A file of more than 100 bytes cannot be written, as on a full disk."""
    code = """
import resource, signal, sys
sys.dont_write_bytecode = True  # half of a file with bytecode would stay
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from macaw.cli import main
main(["new", "more/demo"])
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == "macaw: error: cannot write more/demo/README.md: File too large\n"
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
