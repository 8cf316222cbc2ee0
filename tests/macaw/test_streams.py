"""Standard streams that are closed or full, or pipes without a reader."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from macaw import cli
from tests.macaw.conftest import HELLO, LAYER, ROOT, Macaw
from tests.macaw.terminal import heed_interrupts
from tests.tree_copies import PYTHON_PATH

RUN = ["run", LAYER / "layer.s", "-i", f"x={LAYER / 'x.npy'}"]
FAULT = "        .core cp\n        lw a0, 2(zero)\n"


@pytest.fixture
def gone() -> Iterator[int]:
    """The writing end of a pipe whose reader was closed."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.fixture
def executable(macaw: Macaw, tmp_path: Path) -> Path:
    assert macaw("asm", LAYER / "layer.s", "-o", "layer.elf").returncode == 0
    return tmp_path / "layer.elf"


def command(*arguments: object, stdout: int, stderr: int) -> tuple[int, str]:
    """Run a command; return its exit status and its text on streams that are pipes."""
    done = subprocess.run(
        [sys.executable, "-m", "macaw", *map(str, arguments)],
        stdout=stdout,
        stderr=stderr,
        cwd=ROOT,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout or "") + (done.stderr or "")


def shell(line: str, folder: Path) -> tuple[int, str, str]:
    """Run a line in a shell, in which `macaw` is the command; return status, output and errors."""
    done = subprocess.run(
        ["sh", "-c", line.replace("macaw", f"'{sys.executable}' -m macaw", 1)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.once
@pytest.mark.few(3)
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["isa", "-h"], ["isa", "mac"], ["isa", "--core", "pe"], ["device", "base"], RUN],
    ids=lambda words: " ".join(map(str, words[:2])).replace(str(ROOT), ""),
)
def test_the_reader_of_the_results_has_gone(gone: int, arguments: list[object]) -> None:
    assert command(*arguments, stdout=gone, stderr=subprocess.PIPE) == (0, "")


def test_the_reader_of_a_disassembly_has_gone(gone: int, executable: Path) -> None:
    assert command("dis", executable, stdout=gone, stderr=subprocess.PIPE) == (0, "")


def test_the_reader_of_what_a_program_prints_has_gone(gone: int) -> None:
    assert command("run", HELLO, stdout=gone, stderr=subprocess.PIPE) == (0, "")


@pytest.mark.once
def test_the_reader_of_the_statistics_has_gone(gone: int) -> None:
    assert command("run", HELLO, "--stats", stdout=gone, stderr=gone) == (0, "")
    status, text = command("run", HELLO, "--stats", stdout=subprocess.PIPE, stderr=gone)
    assert (status, text) == (0, "Hello from the command processor.\n")


def test_the_reader_of_an_array_has_gone(gone: int) -> None:
    done = command(*RUN, "-o", "y=/dev/stdout", stdout=gone, stderr=subprocess.PIPE)
    assert done == (0, "")


NOBODY = ("pipes without a reader", "2>&-", ">&- 2>&-", "2>/dev/full", ">/dev/full 2>/dev/full")
ERRORS = [(["run", "none.s"], 2), (["frob"], 2), (["asm"], 2), (["run", "fault.s"], 1)]


@pytest.mark.once
@pytest.mark.few(6)
@pytest.mark.parametrize("streams", NOBODY)
@pytest.mark.parametrize(
    ("arguments", "status"),
    ERRORS,
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_that_nobody_reads_keeps_its_status(
    gone: int, tmp_path: Path, arguments: list[str], status: int, streams: str
) -> None:
    (tmp_path / "fault.s").write_text(FAULT)
    if streams == NOBODY[0]:
        paths = [str(tmp_path / word) if "." in word else word for word in arguments]
        assert command(*paths, stdout=gone, stderr=gone) == (status, "")
    else:
        assert shell(f"macaw {' '.join(arguments)} {streams}", tmp_path) == (status, "", "")


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "words", ["--help", "isa mac", "device tiny", f"run {HELLO}", f"run {HELLO} --stats 2>&-"]
)
def test_standard_output_is_closed(tmp_path: Path, words: str) -> None:
    assert shell(f"macaw {words} >&-", tmp_path) == (0, "", "")


def test_a_disassembly_to_a_closed_output(executable: Path) -> None:
    assert shell("macaw dis layer.elf >&-", executable.parent) == (0, "", "")


def test_an_interrupted_run_that_nobody_hears(tmp_path: Path) -> None:
    """The signal comes when the program, which ends in an endless loop, has printed its text."""
    text = HELLO.read_text("utf-8").replace("li      a7, 93", "j       .")
    (tmp_path / "p.s").write_text(text)
    process = subprocess.Popen(
        ["sh", "-c", f"exec '{sys.executable}' -m macaw run p.s 2>&-"],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        preexec_fn=heed_interrupts,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"Hello from the command processor.\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == b""
    assert process.returncode == 130


def test_files_are_written_where_the_streams_are_closed(tmp_path: Path) -> None:
    line = f"macaw run {LAYER}/layer.s -i x={LAYER}/x.npy -o y=y.npy >&- 2>&-"
    assert shell(line, tmp_path) == (0, "", "")
    np.testing.assert_array_equal(
        np.load(tmp_path / "y.npy"),
        np.load(LAYER / "weights.npy").astype(np.int32) @ np.load(LAYER / "x.npy"),
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("words", ["isa mac", "--help", f"run {HELLO}"])
def test_standard_output_is_full(tmp_path: Path, words: str) -> None:
    status, _, errors = shell(f"macaw {words} >/dev/full", tmp_path)
    assert (status, errors) == (2, "macaw: error: No space left on device\n")


def test_statistics_that_do_not_fit(tmp_path: Path) -> None:
    done = shell(f"macaw run {HELLO} --stats 2>/dev/full", tmp_path)
    assert done == (2, "Hello from the command processor.\n", "")


def test_a_warning_that_does_not_fit_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "p.s").write_text("        .core cp\n_start: nop\n.Lunused: nop\n")
    assert shell("macaw asm p.s 2>/dev/full", tmp_path) == (0, "", "")


@pytest.mark.parametrize(
    "words", ["asm {0}/layer.s -o /dev/stdout", "run {0}/layer.s -i x={0}/x.npy -o y=/dev/stdout"]
)
def test_a_file_goes_into_a_pipe(tmp_path: Path, words: str) -> None:
    status, _, errors = shell(f"macaw {words.format(LAYER)} | cat > out", tmp_path)
    assert (status, errors) == (0, "")
    assert (tmp_path / "out").read_bytes()[:4] in (b"\x7fELF", b"\x93NUM")
    if "run" in words:
        assert np.load(tmp_path / "out").shape == (8,)


@pytest.mark.parametrize(
    ("file", "status", "expected"), [("/dev/full", 0, 2), ("/dev/full", 1, 1), ("pipe", 0, 0)]
)
def test_buffered_output_is_lost(
    gone: int, monkeypatch: pytest.MonkeyPatch, file: str, status: int, expected: int
) -> None:
    """Lost output on a full device is an error, unless the command has failed.

    Lost output on a closed pipe is no error.
    """
    errors = io.StringIO()
    stream = open(gone if file == "pipe" else file, "w", closefd=file != "pipe")  # noqa: SIM115
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", errors)
    monkeypatch.setattr(cli.cli, "main", lambda *_, **__: stream.write("kept") and status)
    errors.fileno = stream.fileno  # type: ignore[method-assign]
    assert cli.run_command([]) == expected
    told = "macaw: error: No space left on device\n" if expected == 2 else ""
    assert errors.getvalue() == told
    stream.close()  # what could not be written is not tried again
