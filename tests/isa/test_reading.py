"""Files that a user names: only plain files up to a limit and pipes of the shell are read."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from macaw.isa import reading
from tests.macaw.command_runs import run_here
from tests.tree_copies import PYTHON_PATH

ROOT = Path(__file__).parents[2]
HELLO = ROOT / "programs" / "hello" / "hello.s"


def test_a_plain_file_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"12345")
    assert reading.read(file) == reading.read(file, 5) == b"12345"
    with pytest.raises(reading.UnreadableError, match="longer than 4 bytes"):
        reading.read(file, 4)
    os.truncate(file, 1 << 40)  # no byte of it is read
    with pytest.raises(reading.UnreadableError, match=f"longer than {1 << 32} bytes"):
        reading.read(file)


def test_a_file_whose_size_is_not_said_is_read_to_its_end() -> None:
    assert Path("/proc/self/status").stat().st_size == 0
    assert reading.read("/proc/self/status").startswith(b"Name:")
    with pytest.raises(reading.UnreadableError, match="longer than 8 bytes"):
        reading.read("/proc/self/status", 8)


def special(kind: str, folder: Path) -> Path:
    """A file of a kind that Macaw must refuse to read."""
    path = folder / "odd"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket has at most 107 characters
        socket.socket(socket.AF_UNIX).bind("odd")
        os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("/dev/zero")
    else:
        return Path(kind)
    return path


KINDS = ("/dev/zero", "/dev/tty0", "fifo", "socket", "folder", "link")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind[0] != "/" or Path(kind).exists()])
def test_what_is_no_plain_file_is_refused_before_it_is_read(kind: str, tmp_path: Path) -> None:
    with pytest.raises(reading.UnreadableError, match=r"no plain file|directory"):
        reading.read(special(kind, tmp_path))


def macaw(*words: object, folder: Path, shell: bool = False) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "macaw", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    return subprocess.run(
        ["bash", "-c", " ".join(map(str, words))] if shell else command,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("asm", "odd"),
        ("dis", "odd"),
        ("run", "odd"),
        ("run", HELLO, "-i", "x=odd"),
        ("run", HELLO, "--device", "odd.toml"),
        ("debug", "--batch", "odd"),
        ("debug", "--batch", HELLO, "-x", "odd"),
        ("debug", "--batch", HELLO, "-e", "source odd"),
        ("profile", "odd"),
        ("profile", HELLO, "--against", "odd"),
        ("fmt", "odd"),
        ("concord", "odd"),
        ("lower", "spmv", "--weights", "odd", "-o", "a.s"),
        ("lower", "--target", "fim", "odd"),
        ("protect", "odd", "-o", "a.npy", "--order", "b"),
        ("device", "odd.toml"),
        ("asm", "incbin.s"),
        ("asm", "include.s"),
        ("asm", "npy.s"),
    ],
    ids=lambda words: " ".join(Path(str(word)).name for word in words),
)
def test_every_input_of_the_command(words: tuple[object, ...], tmp_path: Path) -> None:
    """Each command refuses named pipes and devices, on which it could wait without end (F38)."""
    os.mkfifo(tmp_path / "odd")
    (tmp_path / "odd.toml").symlink_to("/dev/zero")
    (tmp_path / "incbin.s").write_text('.incbin "odd"\n')
    (tmp_path / "include.s").write_text('.include "odd"\n')
    (tmp_path / "npy.s").write_text('.npy "odd"\n')
    done = run_here(words, tmp_path)
    assert done.returncode in (1, 2), done
    said = done.stderr + done.stdout
    assert "no plain file" in said or "there is no file 'odd'" in said
    assert "Traceback" not in said


def test_a_process_substitution_and_standard_input_are_read(tmp_path: Path) -> None:
    run = f"{sys.executable} -m macaw run"
    plain = macaw("run", HELLO, folder=tmp_path)
    for line in (f"{run} <(cat {HELLO})", f"cat {HELLO} | {run} /dev/stdin"):
        done = macaw(line, folder=tmp_path, shell=True)
        assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
