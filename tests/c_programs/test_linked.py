"""C programs linked with an object of Macaw write the recorded output.

Two compilers and two linkers are tested. Macaw's object has the entry and a function that C calls,
in place of those in support.c.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import macaw
from tests.asm.linked_files import link, need
from tests.c_programs.c_compilers import LEVELS, PROGRAMS, SUPPORT, compile_to, expected, is_missing

START = """        .device tiny
        .core   cp
        .global _start, next_random
_start: la      t0, entry
        lw      t0, (t0)                # over a word that the linker completes
        lw      sp, stack
        jr      t0
next_random:                            # C calls it as its own
        la      t0, seed
        lw      a0, (t0)
        slli    t1, a0, 13
        xor     a0, a0, t1
        srli    t1, a0, 17
        xor     a0, a0, t1
        slli    t1, a0, 5
        xor     a0, a0, t1
        sw      a0, (t0)
        ret
        .data
entry:  .word   enter
seed:   .word   2463534242
stack:  .word   0x1000000
"""
# In CI a program a pair of tools.
SAMPLE = {("gcc", "ld"): "crc", ("gcc", "lld"): "ackermann", ("clang", "ld"): "base64"}
SAMPLE["clang", "lld"] = "binary_tree"


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an object of Macaw and its linker script."""
    folder = tmp_path_factory.mktemp("start")
    item = macaw.assemble_object(macaw.Source(START, "start.s"))
    macaw.save_object(item, folder / "start.o")
    (folder / "start.ld").write_text(macaw.linker_script(item))
    return folder


def check(start: Path, folder: Path, compiler: str, linker: str, level: str, name: str) -> None:
    """A program, compiled and linked with these tools, writes the recorded output."""
    if is_missing(compiler):
        pytest.skip(f"{compiler} is not installed")
    need(linker)
    for source in (SUPPORT.with_name(f"{name}.c"), SUPPORT):
        names = ("-D_start=enter", "-Dnext_random=not_used") if source == SUPPORT else ()
        compile_to(folder / f"{source.stem}.o", compiler, level, "-g", *names, "-c", source)
    objects = (f"{name}.o", "support.o", str(start / "start.o"))
    assert link(folder, linker, *objects, script=str(start / "start.ld")) == ""
    assert outcome(folder / "app.elf") == expected(name)


def outcome(executable: Path) -> str:
    """Run a program; return what it writes and its exit status as a text."""
    try:
        run = macaw.run(executable)
    except macaw.RunError as error:
        pytest.fail(str(error))
    written = run.stdout.encode().decode("latin-1")  # as the outcomes are kept
    return f"{written}exit {run.exit_code}\n"


def check_assembled(folder: Path, compiler: str, level: str, name: str) -> None:
    """The compiler's `-S` of a program, assembled by `asm -c`, writes the recorded output."""
    if is_missing(compiler):
        pytest.skip(f"{compiler} is not installed")
    compile_to(folder / f"{name}.s", compiler, level, "-g", "-S", SUPPORT.with_name(f"{name}.c"))
    compile_to(folder / "support.o", compiler, level, "-c", SUPPORT)
    item = macaw.assemble_object(folder / f"{name}.s")
    macaw.save_object(item, folder / f"{name}.o")
    (folder / f"{name}.ld").write_text(macaw.linker_script(item))
    assert link(folder, "ld", f"{name}.o", "support.o", script=f"{name}.ld") == ""
    assert outcome(folder / "app.elf") == expected(name)


@pytest.mark.may_skip_in_ci  # clang and lld are large: not in CI
@pytest.mark.parametrize(("compiler", "linker"), SAMPLE)
def test_a_sample(start: Path, tmp_path: Path, compiler: str, linker: str) -> None:
    check(start, tmp_path, compiler, linker, "-Os", SAMPLE[compiler, linker])


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("compiler", "linker"), SAMPLE)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all(
    start: Path, tmp_path: Path, compiler: str, linker: str, level: str, name: str
) -> None:
    check(start, tmp_path, compiler, linker, level, name)


@pytest.mark.may_skip_in_ci  # as above
@pytest.mark.parametrize(("compiler", "name"), [("gcc", "crc"), ("clang", "big_integers")])
def test_a_sample_that_asm_has_assembled(tmp_path: Path, compiler: str, name: str) -> None:
    check_assembled(tmp_path, compiler, "-O2", name)


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_that_asm_has_assembled(tmp_path: Path, compiler: str, level: str, name: str) -> None:
    check_assembled(tmp_path, compiler, level, name)
