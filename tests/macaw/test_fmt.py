"""`macaw fmt`: the chosen files, the written text, exit statuses."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from macaw.asm import equivalence
from macaw.cli import run_command
from tests.macaw.command_runs import run_apart
from tests.macaw.conftest import ROOT, Macaw
from tests.tree_copies import PYTHON_PATH

Source = Callable[..., Path]

LOOSE = "a:nop // x\n"
TIGHT = "a:      nop                             // x\n"


def fed(text: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "macaw", "fmt", *arguments, "-"]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    return subprocess.run(command, input=text, capture_output=True, env=environment, check=False)


def test_files_are_written_if_they_change(macaw: Macaw, source: Source) -> None:
    one, two = source(LOOSE, "one.s"), source(TIGHT, "two.s")
    one.chmod(0o640)
    before = two.stat()
    done = macaw("fmt", "one.s", "two.s")
    assert (done.returncode, done.stdout, done.stderr) == (0, "one.s\n", "")
    assert one.read_text() == TIGHT
    assert stat.S_IMODE(one.stat().st_mode) == 0o640
    assert (two.stat().st_ino, two.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    done = macaw("fmt", "one.s")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_link_stays_one(macaw: Macaw, source: Source, tmp_path: Path) -> None:
    source(LOOSE, "one.s")
    (tmp_path / "link.s").symlink_to("one.s")
    assert macaw("fmt", "link.s").returncode == 0
    assert (tmp_path / "link.s").is_symlink()
    assert (tmp_path / "one.s").read_text() == TIGHT


def test_check_writes_nothing(macaw: Macaw, source: Source) -> None:
    one, _ = source(LOOSE, "one.s"), source(TIGHT, "two.s")
    done = macaw("fmt", "--check", "two.s", "one.s")
    assert (done.returncode, done.stdout, done.stderr) == (1, "one.s\n", "")
    assert one.read_text() == LOOSE
    done = macaw("fmt", "--check", "two.s")
    assert (done.returncode, done.stdout) == (0, "")


def test_diff_writes_nothing(macaw: Macaw, source: Source) -> None:
    one = source(LOOSE + "b:", "one.s")
    done = macaw("fmt", "--diff", "one.s")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "--- one.s\n+++ one.s (formatted)\n@@ -1,2 +1,2 @@\n"
        f"-{LOOSE}-b:\n\\ No newline at end of file\n+{TIGHT}+b:\n"
    )
    assert one.read_text() == LOOSE + "b:"
    assert macaw("fmt", "--diff", "--check", "one.s").returncode == 1


def test_standard_input() -> None:
    done = fed(LOOSE.encode())
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, TIGHT, b"")
    done = fed(TIGHT.encode())
    assert (done.returncode, done.stdout.decode()) == (0, TIGHT)
    done = fed(LOOSE.encode(), "--check")
    assert (done.returncode, done.stdout) == (1, b"<stdin>\n")
    assert fed(LOOSE.encode(), "--diff").stdout.startswith(b"--- <stdin>\n")


def test_a_pipe_is_not_written(tmp_path: Path) -> None:
    done = run_apart(["fmt", "/dev/stdin"], tmp_path, text=LOOSE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("macaw: error: /dev/stdin is a pipe, not a file\nhint: `-` is")
    done = run_apart(["fmt", "/dev/stdin", "--check"], tmp_path, text=LOOSE)
    assert (done.returncode, done.stdout) == (1, "/dev/stdin\n")


def test_a_folder_stands_for_its_sources(macaw: Macaw, source: Source, tmp_path: Path) -> None:
    for name in ("d/.hidden", "d/inner"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("d/a.s", "d/a.txt", "d/inner/b.s", "d/.hidden/c.s"):
        source(LOOSE, name)
    done = macaw("fmt", "d", "d/a.s")
    assert (done.returncode, done.stdout) == (0, "d/a.s\nd/inner/b.s\n")
    assert (tmp_path / "d/.hidden/c.s").read_text() == LOOSE
    done = macaw("fmt", "d/.hidden/none", "d/inner")
    assert done.returncode == 2
    (tmp_path / "empty").mkdir()
    assert macaw("fmt", "empty").stderr == "macaw: error: there is no .s file in empty\n"


@pytest.mark.parametrize("name", ["Makefile", "README.md", "check.py", "main.c", "golden.toml"])
@pytest.mark.parametrize("option", [[], ["--check"], ["--diff"]], ids=" ".join)
def test_other_files_are_not_laid_out(
    macaw: Macaw, source: Source, tmp_path: Path, name: str, option: list[str]
) -> None:
    """`macaw fmt *` formats only sources."""
    for path in (name, "a.inc", "b.ASM", "c.S"):
        source(LOOSE, path)
    done = macaw("fmt", *option, name, "a.inc", "b.ASM", "c.S")
    assert done.returncode == 2
    assert done.stderr.startswith(f"macaw: error: {name} is no assembly source: its name does not")
    assert (tmp_path / name).read_text() == LOOSE
    if not option:
        assert done.stdout == "a.inc\nb.ASM\nc.S\n"
        assert (tmp_path / "b.ASM").read_text() == TIGHT


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"nop\xff", "wrong.s is no text in UTF-8: byte 3 is wrong"),
        (b"nop\0", "wrong.s is no source: it holds a zero byte"),
        (b"\x7fELF\1\1\1\xf3", "wrong.s is an ELF file, no source text"),
        (None, "cannot read wrong.s: No such file or directory"),
    ],
)
def test_wrong_files_do_not_keep_others(
    macaw: Macaw, source: Source, tmp_path: Path, data: bytes | None, message: str
) -> None:
    source(LOOSE, "one.s")
    if data is not None:
        (tmp_path / "wrong.s").write_bytes(data)
    done = macaw("fmt", "wrong.s", "one.s")
    assert (done.returncode, done.stdout) == (2, "one.s\n")
    assert done.stderr == f"macaw: error: {message}\n"
    assert (tmp_path / "one.s").read_text() == TIGHT
    if data is not None:
        assert (tmp_path / "wrong.s").read_bytes() == data


def test_a_byte_order_mark_goes(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "one.s").write_bytes(b"\xef\xbb\xbf" + TIGHT.encode())
    assert macaw("fmt", "one.s").stdout == "one.s\n"
    assert (tmp_path / "one.s").read_text() == TIGHT


def test_a_source_with_mistakes_is_laid_out(macaw: Macaw, source: Source) -> None:
    one = source("frob(1 ,2\n", "one.s")
    done = macaw("fmt", "one.s")
    assert (done.returncode, done.stderr) == (0, "")
    assert one.read_text() == "        frob(1, 2\n"


@pytest.mark.parametrize("name", ["same_tokens", "same_program"])
def test_what_would_change_is_not_written(
    source: Source, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """`macaw fmt` does not write a file if one of its two proofs of equivalence fails."""
    one = source(LOOSE, "one.s")
    monkeypatch.setattr(equivalence, name, lambda *_: False)
    assert run_command(["fmt", str(one)]) == 2
    assert "its layout would change what it means" in capsys.readouterr().err
    assert one.read_text() == LOOSE


def test_the_samples_are_formatted(macaw: Macaw) -> None:
    done = macaw("fmt", "--check", ROOT / "programs")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
