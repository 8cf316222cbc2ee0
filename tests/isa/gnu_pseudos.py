"""The words that GNU as makes of each pseudo-instruction, live or recorded.

`python tests/isa/gnu_pseudos.py` records `vectors/pseudos.json` anew.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from macaw.isa import cp
from macaw.isa.rows import Pseudo
from tests.isa.gnu import AS, MARCH

LD = "riscv64-unknown-elf-ld"
OBJCOPY = "riscv64-unknown-elf-objcopy"
VECTORS = Path(__file__).parent / "vectors" / "pseudos.json"
BASE = 0x10000
REGISTERS = ("a0", "x31", "ra", "zero")
NUMBERS = (0, 1, -1, 2047, 2048, -2048, -2049, 4095, 4096, 0x7FF, 0x800, 0xFFF, 0x1000, 0x12345678,
           0x7FFFF7FF, 0x7FFFF800, 0x7FFFFFFF, 0x80000000, 0x80000800, 0xFFFFF7FF, 0xFFFFF800,
           0xFFFFFFFF, -0x80000000, -0x7FFFFFFF, -0x1000, -0x1001)  # fmt: skip
WORDS = {
    "rs": ("a1", "t6"),
    "rs1": ("a1", "t6"),
    "rs2": ("a2", "s0"),
    "rt": ("t0", "t5"),
    "imm": ("5", "-2048", "2047"),
    "shamt": ("0", "31"),
    "uimm": ("0", "31"),
    "csr": ("cycle", "0x7c0"),
    "number": tuple(map(str, NUMBERS)),
    "target": ("near",),
    "symbol": ("near", "far"),
}
FAR = ("call", "tail", "jump")  # these get to any address


def lines() -> list[str]:
    """A line or more for each row, so that each word of each operand occurs at least once."""
    found = []
    for row in cp.CORE.pseudos:
        words = {operand.name: words_of(row, operand.name) for operand in row.operands}
        for turn in range(max((len(texts) for texts in words.values()), default=1)):
            texts: list[str] = []
            for operand in row.operands:
                text = words[operand.name][turn % len(words[operand.name])]
                if operand.inside:
                    texts[-1] += f"({text})"
                else:
                    texts.append(text)
            found.append(f"{row.mnemonic} {', '.join(texts)}".rstrip())
    return found


def words_of(row: Pseudo, name: str) -> tuple[str, ...]:
    if name == "rd":
        # GNU as loads from a symbol by way of rd, and leaves x0 out.
        return REGISTERS[:3] if "symbol" in row.syntax else REGISTERS
    if name == "target" and row.mnemonic in FAR:
        return ("near", "far")
    return WORDS[name]


def source() -> str:
    """A source for both assemblers, with labels: `far` before the lines, `near` in the middle."""
    every = lines()
    half = len(every) // 2
    body = [*every[:half], "near:", *every[half:]]
    return "\n".join(["_start:", "far:", ".space 0x12340", *body]) + "\n"


def tools_missing() -> bool:
    return not all(map(shutil.which, (AS, LD, OBJCOPY)))


def live() -> bytes:
    """The section .text that GNU as and ld make."""
    with tempfile.TemporaryDirectory() as folder:
        text, item, linked, flat = (
            Path(folder) / name for name in ("p.s", "p.o", "p.elf", "p.bin")
        )
        text.write_text(".option norelax\n.globl _start\n" + source())
        subprocess.run([AS, *MARCH, "-o", item, text], check=True)
        subprocess.run(
            [LD, "-m", "elf32lriscv", "--no-relax", f"-Ttext={BASE:#x}", "-o", linked, item],
            check=True,
        )
        subprocess.run([OBJCOPY, "-O", "binary", "-j", ".text", linked, flat], check=True)
        return flat.read_bytes()[0x12340:]


def words() -> bytes:
    """The live words, or the recorded ones if the tools are missing (an error in CI)."""
    if not tools_missing():
        return live()
    if os.environ.get("CI"):
        raise RuntimeError(f"in CI {AS}, {LD} and {OBJCOPY} must be installed")
    warnings.warn(f"no {AS} here: using what is recorded in {VECTORS.name}", stacklevel=2)
    return recorded()[1]


def recorded() -> tuple[list[str], bytes]:
    held = json.loads(VECTORS.read_text())
    return held["lines"], bytes.fromhex("".join(held["words"]))


def record() -> None:
    text = live()
    pieces = [text[place : place + 32].hex() for place in range(0, len(text), 32)]
    VECTORS.write_text(json.dumps({"lines": lines(), "words": pieces}, indent=0) + "\n")
    print(f"{len(lines())} lines in {VECTORS}", file=sys.stderr)


if __name__ == "__main__":
    record()
