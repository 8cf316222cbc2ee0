"""Makes object files with Macaw, GNU as and C compilers, and links them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from macaw.asm import assembler, elf_object, linker_script
from macaw.asm.relocatable import Relocatable
from macaw.asm.source import Source
from macaw.isa import config
from tests.asm.gnu_tools import tool

LINKERS = {"ld": ("riscv64-unknown-elf-ld", "-m", "elf32lriscv"), "lld": ("ld.lld",)}
RV32 = ("-march=rv32im_zicsr", "-mabi=ilp32")
COMPILERS = {
    "gcc": ("riscv64-unknown-elf-gcc", *RV32),
    "clang": ("clang", "--target=riscv32", "-march=rv32im", "-mabi=ilp32"),
}


# They are large, so CI does not install them. The tests run where they are installed.
LLD = pytest.param("lld", marks=pytest.mark.may_skip_in_ci)
CLANG = pytest.param("clang", marks=pytest.mark.may_skip_in_ci)


def assembled(text: str, folder: Path | None = None) -> Relocatable:
    """Return the object that Macaw makes of a source."""
    return assembler.assemble_object([Source(text, "net.s", folder)])


def write(folder: Path, item: Relocatable, name: str = "net") -> None:
    """Write an object and its linker script."""
    (folder / f"{name}.o").write_bytes(elf_object.write(item))
    device = config.parse(item.program.config_toml, item.program.device)
    (folder / f"{name}.ld").write_text(linker_script.write(item, device))


def missing(name: str) -> bool:
    """Whether a linker or a compiler is not installed."""
    return shutil.which({**LINKERS, **COMPILERS}[name][0]) is None


def need(name: str) -> None:
    """Skip the test if a tool is missing."""
    if missing(name):
        pytest.skip(f"{name} is not installed")


def gnu_object(folder: Path, text: str, name: str = "other") -> None:
    """Make an object with GNU as."""
    (folder / f"{name}.s").write_text(text)
    command = [tool("as"), *RV32, "-mno-relax", "-o", f"{name}.o", f"{name}.s"]
    subprocess.run(command, cwd=folder, check=True)


def compile_c(folder: Path, compiler: str, source: str, *options: str) -> None:
    """Make an object with a C compiler, beside the C file; a warning fails the test."""
    need(compiler)
    command = [*COMPILERS[compiler], "-ffreestanding", "-Wall", "-Wextra", "-c", source, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def link(
    folder: Path, linker: str, *objects: str, script: str = "net.ld", name: str = "app.elf"
) -> str:
    """Link objects; return what the linker prints, an empty string if it succeeds."""
    need(linker)
    command = [*LINKERS[linker], "-T", script, "-o", name, *objects]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(done.stderr), done.stderr
    return done.stderr
