"""Compiles the C programs of this folder and runs them in Unicorn, another emulator.

`python -m tests.c_programs.c_compilers` records in `expected` what each program writes, and its
exit status: gcc compiles it, GNU ld links it, Unicorn runs it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import riscv_const

HERE = Path(__file__).parent
EXPECTED = HERE / "expected"
SUPPORT = HERE / "support.c"  # the entry, output and library functions of every program
PROGRAMS = sorted(path.stem for path in HERE.glob("*.c") if path != SUPPORT)
LEVELS = ("-O0", "-O2", "-Os")

_GCC = "riscv64-unknown-elf-gcc"
# -fno-builtin: the compiler must not replace the loops in memcpy by calls of memcpy.
_COMMON = ("-march=rv32im", "-mabi=ilp32", "-mno-relax", "-ffreestanding", "-fno-builtin", "-w")
COMPILERS = {
    "gcc": (_GCC, *_COMMON, "-fno-tree-loop-distribute-patterns"),
    "clang": ("clang", "--target=riscv32", *_COMMON),
}

_STACK = 0x100000  # its end; programs are linked to 0x10000 and above
_STEPS = 20_000_000  # instructions that a program may take


@dataclass(frozen=True)
class Outcome:
    """What a program wrote, and its exit status."""

    written: bytes
    status: int

    def text(self) -> str:
        return f"{self.written.decode('latin-1')}exit {self.status}\n"


def is_missing(compiler: str) -> bool:
    return shutil.which(COMPILERS[compiler][0]) is None


def compile_to(target: Path, compiler: str, *options: str | Path) -> None:
    """Compile to `target`; `options` are the level, `-S` or `-c`, and the sources."""
    command = [*COMPILERS[compiler], *options, "-o", target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def assembly(folder: Path, compiler: str, level: str, name: str, *options: str) -> list[Path]:
    """Write the assembly (`-S`) of a program and of the code linked with it; return the paths."""
    paths = []
    for source in (HERE / f"{name}.c", SUPPORT):
        path = folder / f"{source.stem}-{compiler}{level}.s"
        compile_to(path, compiler, level, *options, "-S", source)
        paths.append(path)
    return paths


def linked(target: Path, level: str, name: str) -> None:
    """Compile and link a program with gcc and GNU ld."""
    sources = (HERE / f"{name}.c", SUPPORT)
    compile_to(target, "gcc", level, "-static", "-nostdlib", "-Wl,--no-relax", *sources)


def run_in_unicorn(executable: Path) -> Outcome:
    """Run an executable until it exits; it may use the two Linux system calls that cp has."""
    machine = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    machine.mem_map(0x10000, _STACK - 0x10000)
    with executable.open("rb") as stream:
        file = ELFFile(stream)
        for segment in file.iter_segments("PT_LOAD"):
            machine.mem_write(segment["p_paddr"], segment.data())
        entry = file["e_entry"]
    machine.reg_write(riscv_const.UC_RISCV_REG_SP, _STACK)
    written, status = bytearray(), [-1]

    def call(number: int) -> int:
        return int(machine.reg_read(riscv_const.UC_RISCV_REG_X0 + number))

    def on_interrupt(_machine: unicorn.Uc, _cause: int, _data: object) -> None:
        if call(17) == 64:
            written.extend(machine.mem_read(call(11), call(12)))
        else:
            assert call(17) == 93
            status[0] = call(10) & 0xFF
            machine.emu_stop()

    machine.hook_add(unicorn.UC_HOOK_INTR, on_interrupt)
    machine.emu_start(entry, 0, count=_STEPS)
    return Outcome(bytes(written), status[0])


def expected(name: str) -> str:
    """The recorded outcome of a program, as `Outcome.text` writes it."""
    return (EXPECTED / f"{name}.txt").read_text("latin-1")


def record() -> None:
    EXPECTED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            executable = Path(folder) / name
            linked(executable, "-O0", name)
            text = run_in_unicorn(executable).text()
            (EXPECTED / f"{name}.txt").write_text(text, "latin-1")


if __name__ == "__main__":
    record()
