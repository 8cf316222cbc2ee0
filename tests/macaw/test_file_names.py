"""File names may contain any characters; none of them controls the terminal (F37)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from macaw.asm import elf
from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.commands.options import FileName
from tests.macaw.conftest import Macaw

ODD = "odd\x1b[31m\x07\n\x9b2J.s"
NO_UTF8 = os.fsdecode(b"f\xff\xe9.s")
SHOWN = "odd\N{REPLACEMENT CHARACTER}[31m"
TEXT = "        .core cp\n_start: lw a0, 1(zero)\n        ebreak\n"
COMMANDS = [
    ("run", "FILE"),
    ("debug", "--batch", "FILE", "-e", "continue", "-e", "where", "-e", "list", "-e", "info cores"),
    ("profile", "FILE"),
    ("asm", "FILE", "-o", "out.elf", "--listing", "-"),
    ("asm", "FILE", "-o", "FILE"),
    ("fmt", "--check", "FILE"),
    ("dis", "FILE"),
    ("test", "FILE"),
    ("concord", "FILE"),
    ("device", "FILE"),
    ("run", "no-FILE"),
]


@pytest.mark.once
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_source_of_an_odd_name(macaw: Macaw, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / ODD).write_text(TEXT)
    done = macaw(*(word.replace("FILE", ODD) for word in words))
    said = done.stdout + done.stderr
    assert not {"\x1b", "\x07", "\x9b"} & set(said)
    assert "Traceback" not in said


@pytest.mark.once
@pytest.mark.parametrize(
    "words", [x for x in COMMANDS if x[0] in ("run", "debug", "profile", "dis")]
)
def test_an_executable_whose_lines_name_it(
    macaw: Macaw, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Names in the line table of a foreign executable are made printable, as its symbols are."""
    name = "odd123456.s"
    data = elf.write(assemble(Source(TEXT, name))).replace(
        name.encode() + b"\0", b"odd\x1b[31m\x07.s\0"
    )
    assert b"\x1b" in data
    (tmp_path / "a.elf").write_bytes(data)
    done = macaw(*(word.replace("FILE", "a.elf") for word in words))
    said = done.stdout + done.stderr
    assert not {"\x1b", "\x07"} & set(said)
    if words == ("run", "FILE"):
        assert SHOWN in said


def test_an_error_in_a_source_of_an_odd_name(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / ODD).write_text(".core cp\nwrong\n")
    said = macaw("asm", ODD).stderr
    assert said.startswith(SHOWN)
    assert "\x1b" not in said
    (found,) = json.loads(macaw("asm", ODD, "--diagnostics", "json").stderr)
    assert found["file"].startswith(SHOWN)


@pytest.mark.once
@pytest.mark.parametrize(
    "words",
    [
        ("profile", "FILE", "--json", "out"),
        ("profile", "FILE", "--html", "out"),
        ("profile", "FILE", "--perfetto", "out"),
        ("annotate", "FILE", "--json", "out"),
        ("sweep", "FILE", "--set", "cp.alu_cycles=1", "--json", "out"),
        ("sweep", "FILE", "--set", "cp.alu_cycles=1", "--csv", "out"),
        ("sweep", "FILE", "--set", "cp.alu_cycles=1", "--html", "out"),
    ],
    ids=" ".join,
)
def test_a_name_that_is_no_utf8_in_a_file(macaw: Macaw, tmp_path: Path, words: list[str]) -> None:
    """Commands write `?` into a file for each byte of a name that is not UTF-8."""
    text = "        .core cp\n_start: li a7, 93\n        li a0, 0\n        ecall\n"
    (tmp_path / NO_UTF8).write_text(text)
    done = macaw(*(word.replace("FILE", NO_UTF8) for word in words))
    assert (done.returncode, done.stderr) == (0, "")
    data = (tmp_path / "out").read_bytes()
    if "--perfetto" not in words:
        data.decode()
    if words[0] != "sweep" or "--html" in words:
        assert b"f??.s" in data


@pytest.mark.once
def test_a_folder_whose_name_is_no_utf8(macaw: Macaw, tmp_path: Path) -> None:
    assert macaw("new", NO_UTF8).returncode == 0
    assert (tmp_path / NO_UTF8 / "README.md").read_text("utf-8").startswith("# f??.s\n")
    assert macaw("test", NO_UTF8).returncode == 0


@pytest.mark.once
def test_a_source_names_no_file_whose_name_is_no_utf8(macaw: Macaw, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((8, 16), np.int8))
    done = macaw("lower", "spmv", "-w", "w.npy", "-o", NO_UTF8)
    assert done.returncode == 2
    assert done.stderr.startswith("macaw: error: cannot write f")
    assert done.stderr.endswith(".w.npy' needs a name in UTF-8\n")
    assert [path.name for path in tmp_path.iterdir()] == ["w.npy"]


@pytest.mark.parametrize(
    "words",
    [
        ("asm", ""),
        ("asm", "good.s", "-o", ""),
        ("asm", "good.s", "-I", ""),
        ("annotate", "good.s", "--json", ""),
        ("compile", "good.onnx", "--data", ""),
        ("concord", ""),
        ("fmt", ""),
        ("header", ""),
        ("new", ""),
        ("profile", "good.s", "--against", ""),
        ("profile", "good.s", "--html", ""),
        ("quantise", "good.onnx", "-o", "q.onnx", "--data", ""),
        ("run", ""),
        ("sweep", "", "--set", "cp.alu_cycles=1"),
        ("test", ""),
        ("test", ".", "--junit", ""),
    ],
    ids=" ".join,
)
def test_an_empty_name_is_not_the_current_folder(
    macaw: Macaw, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "good.s").write_text(" .core cp\n")
    done = macaw(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(": the name is empty\n")
    assert [(x.name, x.read_text()) for x in tmp_path.iterdir()] == [("good.s", " .core cp\n")]


def test_the_command_reports_a_file_that_it_may_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Click would report it in other words, even if the command only writes the file."""
    (tmp_path / "a.elf").touch()
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    assert FileName().convert(str(tmp_path / "a.elf"), None, None) == str(tmp_path / "a.elf")
