"""`macaw asm -c`, `macaw header`, and several files for run, debug and profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import macaw as api
from macaw.errors import InputError
from tests.macaw.conftest import Macaw

Source = Callable[..., Path]

FIRST = """        .output y, int32, 1
        .core   cp
        .global _start
_start: call    double
        la      a1, y
        sw      a0, (a1)
        li      a0, 0
        li      a7, 93
        ecall
"""
SECOND = """        .core   cp
        .global double
double: li      a0, 21
        add     a0, a0, a0
        ret
"""


@pytest.fixture
def two(source: Source) -> None:
    """Write two sources of one program, a.s and b.s."""
    source(FIRST, "a.s")
    source(SECOND, "b.s")


def test_an_object_and_its_script(macaw: Macaw, two: None, tmp_path: Path) -> None:
    done = macaw("asm", "-c", "a.s", "--ld-script", "a.ld")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    item = api.assemble_object(tmp_path / "a.s")
    api.save_object(item, tmp_path / "again.o")
    names = (b"a.s\0", str(tmp_path / "a.s").encode() + b"\0")  # as on the command line
    assert (tmp_path / "a.o").read_bytes().count(names[0])
    assert (tmp_path / "again.o").read_bytes().count(names[1])
    script = (tmp_path / "a.ld").read_text()
    assert script.startswith("/* Written by macaw asm --ld-script for a.s, device base. */\n")
    assert script == api.linker_script(item).replace(str(tmp_path / "a.s"), "a.s")
    assert item.undefined == ("double",)
    macaw("asm", "-c", "-g0", "a.s", "b.s", "-o", "both.o")
    assert b"debug" not in (tmp_path / "both.o").read_bytes()
    assert api.assemble_object(tmp_path / "a.s", tmp_path / "b.s").undefined == ()
    without_core = api.Source("nop\n.core vc\nnop\n", "c.s")
    assert api.assemble_object(without_core, gnu=True).undefined == ()
    with pytest.raises(api.AssemblyError, match="'nop' is in no part"):
        api.assemble_object(without_core)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-c", "a.s", "--format", "hex"), "-c makes an ELF file: it does not go with --format"),
        (("a.s", "--ld-script", "a.ld"), "--ld-script goes with -c"),
        (("-c", "a.s", "-o", "x", "--ld-script", "x"), "x and x are one file"),
        (("-c", "a.s", "--ld-script", "a.s"), "a.s is an input: it is not overwritten"),
        (("-c", "a.s", "--listing", "x", "--ld-script", "x"), "x and x are one file"),
        (("-c", "main.c"), "main.c is C, no program"),
    ],
)
def test_asm_refuses(
    macaw: Macaw, two: None, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = macaw("asm", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.s", "b.s"]


def test_errors_of_an_object_write_nothing(macaw: Macaw, source: Source, tmp_path: Path) -> None:
    source("        .core cp\n        .half c_symbol\n", "a.s")
    done = macaw("asm", "-c", "a.s", "--ld-script", "a.ld")
    assert done.returncode == 2
    assert "a.s:2:15: error: the value must be known here: only the linker knows" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.s"]


def test_the_listing_of_an_object(macaw: Macaw, two: None) -> None:
    done = macaw("asm", "-c", "a.s", "--listing", "-")
    assert done.returncode == 0
    assert "00010000" in done.stdout
    assert "_start: call    double" in done.stdout


def test_the_header(macaw: Macaw, two: None, tmp_path: Path) -> None:
    done = macaw("header", "--device", "large")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == api.c_header(device="large")
    done = macaw("header", "a.s", "-o", "macaw.h", "--device", "tiny")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    item = api.assemble_object(tmp_path / "a.s", device="tiny")
    assert (tmp_path / "macaw.h").read_text() == api.c_header(item)
    done = macaw("header", "-D", "N=1")
    assert done.returncode == 2
    assert "-D, -I, --gnu and -W go with a FILE" in done.stderr
    done = macaw("header", "a.s", "-o", "a.s")
    assert done.returncode == 2
    assert "a.s is an input: it is not overwritten" in done.stderr
    (tmp_path / "a.s").write_text("        .core cp\n        frob\n")
    done = macaw("header", "a.s", "-o", "new.h")
    assert done.returncode == 2
    assert "a.s:2:9: error: cp has no instruction 'frob'" in done.stderr
    assert not (tmp_path / "new.h").exists()


def test_several_sources_are_one_program(macaw: Macaw, two: None, tmp_path: Path) -> None:
    done = macaw("run", "a.s", "b.s", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["outputs"]["y"]["data"] == [42]
    done = macaw("debug", "a.s", "b.s", "--batch", "-e", "break double", "-e", "run", "-e", "list")
    assert done.returncode == 0
    assert "b.s:3" in done.stdout
    done = macaw("profile", "a.s", "b.s")
    assert done.returncode == 0
    assert done.stdout.startswith("a.s, b.s on base:")
    assert api.load(tmp_path / "a.s", tmp_path / "b.s").symbol("double").is_global
    for command in ("run", "debug", "profile"):
        done = macaw(command, "a.s")
        assert done.returncode == 2
        assert "undefined symbol 'double'" in done.stderr


def test_an_executable_stands_alone(macaw: Macaw, two: None, tmp_path: Path) -> None:
    macaw("asm", "a.s", "b.s", "-o", "ab.elf")
    done = macaw("run", "ab.elf", "b.s")
    assert done.returncode == 2
    assert done.stderr == (
        "macaw: error: ab.elf is an ELF file: it is a whole program\n"
        "hint: several files are sources; a linker puts objects together (docs/c.md)\n"
    )
    with pytest.raises(InputError, match=r"ab\.elf is an ELF file"):
        api.load(tmp_path / "a.s", tmp_path / "ab.elf")
    macaw("asm", "-c", "a.s")
    done = macaw("run", "a.o")
    assert done.returncode == 2
    assert "a relocatable object: link it into an executable first" in done.stderr
    done = macaw("run", "main.c")
    assert done.returncode == 2
