"""A freestanding C program, compiled by Debian's GCC, runs on cp unchanged.

Without the compiler, the test runs the executable beside the source (`python
tests/emu/test_cp_compiled.py` makes it anew). In CI the compiler must be installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any

import pytest

import macaw.emu.cp
from macaw.asm import elf
from macaw.emu.device import Device
from tests.emu.cp_machine import COSTS
from tests.emu.toys import make

GCC = "riscv64-unknown-elf-gcc"
FLAGS = ("-march=rv32im_zicsr", "-mabi=ilp32", "-nostdlib", "-ffreestanding")
SOURCE = Path(__file__).parent / "c" / "tour.c"
EXECUTABLE = SOURCE.with_suffix(".elf")
MASK = 0xFFFFFFFF


def compile_to(path: Path, level: str) -> None:
    subprocess.run([GCC, *FLAGS, level, "-o", path, SOURCE], check=True)


def run(executable: Path) -> tuple[str, Device]:
    settings: dict[str, Any] = {name.replace(".", "__"): value for name, value in COSTS.items()}
    device = make(macaw.emu.cp.build, **settings)
    device.load(elf.read(executable.read_bytes()))
    written: list[bytes] = []
    device.stdout = written.append
    stop = device.run(max_cycles=5_000_000)
    assert (stop.reason, stop.exit_code) == ("exit", 42), stop
    return b"".join(written).decode(), device


def signed(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


class Generator:
    """The pseudo-random generator of the C program."""

    def __init__(self) -> None:
        self.state = 12345

    def __call__(self) -> int:
        self.state = (self.state * 1664525 + 1013904223) & MASK
        return self.state


def fibonacci(n: int) -> int:
    first, second = 0, 1
    for _ in range(n):
        first, second = second, first + second
    return first


def truncated(value: int, divisor: int) -> int:
    return -(-value // divisor) if value < 0 else value // divisor


def expected() -> str:
    """The output of the program, computed in Python."""
    draw = Generator()
    numbers = [31, -4, 159, -2653, 58979, -32384626, 2**31 - 1, -(2**31), 0, 7]
    primes = sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(2, 2000))
    halves = sum(((draw() >> 9) + 0x8000) % 0x10000 - 0x8000 for _ in range(64))
    a, b = [[0] * 12 for _ in range(12)], [[0] * 12 for _ in range(12)]
    for i in range(12):
        for j in range(12):
            a[i][j] = (draw() >> 20) - 2048
            b[i][j] = (draw() >> 20) - 2048
    trace = sum(a[i][k] * b[k][i] for i in range(12) for k in range(12))
    value = 1000
    for i in range(40):
        ways = [
            value + 1, value * 3, value - 7, truncated(value, 5),
            value - 11 * truncated(value, 11), value << 3, value >> 2, ~value, value,
        ]  # fmt: skip
        value = signed(ways[i % 9]) ^ draw() >> 28
    factorial = 1
    for i in range(1, 21):
        factorial *= i
    lines = [
        "macaw tour",
        f"fibonacci {fibonacci(17)}",
        "ackermann 21",
        "sorted " + " ".join(map(str, sorted(numbers))),
        f"primes {primes}",
        f"crc {signed(zlib.crc32(b'123456789'))}",
        f"halves {halves}",
        f"trace {signed(trace)}",
        f"decide {value}",
        f"calls {42 + 81}",
        f"factorial high {signed(factorial >> 32)}",
        f"factorial low {signed(factorial & MASK)}",
        "by zero -1",
        f"overflow {-(2**31)}",
        f"rest {-(2**31)}",
        "three two one zero",
        "counters",
    ]
    return "\n".join(lines) + "\n"


def test_the_committed_executable():
    text, device = run(EXECUTABLE)
    assert text == expected()
    # Its bytes are fixed, and so are its instructions and cycles, on every machine and Python.
    assert (device.cores["cp"].retired, device.cycle) == (82138, 114198)


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_as_compiled_here(level, tmp_path):
    executable = tmp_path / "tour.elf"
    if shutil.which(GCC):
        compile_to(executable, level)
    elif os.environ.get("CI"):
        pytest.fail(f"in CI {GCC} must be installed")
    else:
        warnings.warn(f"no {GCC} here: running the committed {EXECUTABLE.name}", stacklevel=1)
        executable = EXECUTABLE
    assert run(executable)[0] == expected()


if __name__ == "__main__":
    compile_to(EXECUTABLE, "-O2")
    print(run(EXECUTABLE)[0], file=sys.stderr)
