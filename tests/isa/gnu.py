"""The words and the texts that GNU as and objdump give for each instruction of cp.

`python tests/isa/gnu.py` records `vectors/cp.json` anew. The tests use the tools if they are
installed, else the file; in CI the tools must be there.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from macaw.isa import codec, cp
from macaw.isa.kinds import Immediate, Letters, Named, Register
from macaw.isa.rows import Instruction, Operand
from macaw.isa.trace import csrs

AS = "riscv64-unknown-elf-as"
OBJDUMP = "riscv64-unknown-elf-objdump"
MARCH = ("-march=rv32im_zicsr", "-mabi=ilp32")
VECTORS = Path(__file__).parent / "vectors" / "cp.json"
OWN = {row.address for row in csrs()}  # registers whose names only Macaw knows
COMBINATIONS = 12  # random ones a row, beside the ends of each operand


@dataclass(frozen=True)
class Vector:
    """A row with operand values, its word by GNU as, and its text by objdump."""

    mnemonic: str
    values: Mapping[str, int]
    word: int
    printed: str


def ends(operand: Operand) -> list[int]:
    """Values near the ends of an operand's range.

    For numbers: the limits, their neighbours, and 0.
    """
    kind = operand.kind
    if isinstance(kind, Named):  # registers that objdump has no name of its own for
        return [0x7C0, 0x8FF, 0xFFF, *(x for x in dict(kind.names).values() if x not in OWN)]
    if isinstance(kind, Immediate):
        inside = (kind.low, kind.low + kind.step, 0, kind.step, kind.high - kind.step, kind.high)
        return sorted({value for value in inside if kind.low <= value <= kind.high})
    if isinstance(kind, Letters):
        return list(range(1, 16))  # GNU as knows no empty set
    assert isinstance(kind, Register)
    return [0, 1, 16, 31]


def cases() -> list[tuple[Instruction, dict[str, int]]]:
    """Rows with operand values, the same each time: each end of each operand, and random ones."""
    chance = random.Random(5)
    found = []
    for row in cp.CORE.instructions:
        choices = {operand.name: ends(operand) for operand in row.operands}
        for name, values in choices.items():
            for value in values:
                others = {other: chance.choice(choices[other]) for other in choices}
                found.append((row, {**others, name: value}))
        if row.mnemonic == "add":  # each register once as each operand
            found += [(row, {"rd": n, "rs1": 31 - n, "rs2": (n + 7) % 32}) for n in range(32)]
        for _ in range(COMBINATIONS if choices else 1):
            found.append((row, {name: chance.choice(choices[name]) for name in choices}))
    return found


def source(row: Instruction, values: Mapping[str, int]) -> str:
    """The line for GNU as; an instruction of Xcp, which GNU as does not know, as `.insn`."""
    if row.family == "xcp":
        first = {"rd": 0, "rs1": 0, "rs2": 0, **values}
        if "g" in values:
            first.update(rd=row.fixed["begin"], rs1=values["g"])
        first["rd"] = values.get("n", first["rd"])  # fim.send has the number there
        names = ", ".join(f"x{first[name]}" for name in ("rd", "rs1", "rs2"))
        return f".insn r 0x0b, {row.fixed['funct3']}, 0, {names}"
    texts: list[str] = []
    for operand in row.operands:
        value = values[operand.name]
        target = f".{value:+d}" if operand.kind.relative else None
        text = codec.format_operand(operand, value, target)
        if isinstance(operand.kind, Named) and value in OWN:
            text = hex(value)
        if operand.inside:
            texts[-1] += f"({text})"
        else:
            texts.append(text)
    return f"{row.mnemonic} {', '.join(texts)}"


def tools_missing() -> bool:
    return not (shutil.which(AS) and shutil.which(OBJDUMP))


def live() -> list[Vector]:
    """Run the tools over all cases."""
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder) / "cases.s", Path(folder) / "cases.o"
        lines = [source(row, values) for row, values in cases()]
        # Far apart, so that jumps backwards stay inside of the section.
        text.write_text(
            ".option norelax\n.space 0x200000\n" + "\n".join(lines) + "\n.space 0x200000\n"
        )
        subprocess.run([AS, *MARCH, "-o", binary, text], check=True)
        dump = subprocess.run(
            [OBJDUMP, "-d", "-z", "-M", "no-aliases", f"--start-address={0x200000:#x}",
             f"--stop-address={0x200000 + 4 * len(lines):#x}", binary],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    found = re.findall(r"^\s*([0-9a-f]+):\s+([0-9a-f]{8})\s+(.*)$", dump, re.MULTILINE)
    assert len(found) == len(lines)
    return [
        Vector(row.mnemonic, values, int(word, 16), _relative(row, printed, int(address, 16)))
        for (row, values), (address, word, printed) in zip(cases(), found, strict=True)
    ]


def _relative(row: Instruction, printed: str, address: int) -> str:
    """objdump's text, with the distance in place of a jump's absolute address."""
    printed = re.sub(r"\s*[#<].*", "", printed)
    if any(operand.kind.relative for operand in row.operands):
        head, _, target = printed.rpartition(",")
        return f"{head},{int(target, 16) - address}"
    return printed


def recorded() -> list[Vector]:
    """Return the vectors that the file records."""
    return [Vector(*entry) for entry in json.loads(VECTORS.read_text())]


def vectors() -> list[Vector]:
    """Live vectors, or the recorded ones where the tools are missing (never in CI)."""
    if not tools_missing():
        return live()
    if os.environ.get("CI"):
        raise RuntimeError(f"in CI {AS} and {OBJDUMP} must be installed")
    warnings.warn(f"no {AS} here: using the vectors recorded in {VECTORS.name}", stacklevel=2)
    return recorded()


def operands_of(printed: str) -> tuple[str, list[str]]:
    """Mnemonic and operands of a disassembled line; `8(sp)` gives two operands."""
    mnemonic, _, rest = printed.partition("\t") if "\t" in printed else printed.partition(" ")
    return mnemonic, [text for text in re.split(r"[\s,()]+", rest) if text]


def numbers(texts: list[str]) -> Iterator[str | int]:
    """Operands with numbers as integers, so that 0x10 equals 16."""
    for text in texts:
        try:
            yield int(text, 0)
        except ValueError:
            yield text


def record() -> None:
    entries = [[v.mnemonic, dict(v.values), v.word, v.printed] for v in live()]
    VECTORS.parent.mkdir(exist_ok=True)
    VECTORS.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")
    print(f"{len(entries)} vectors in {VECTORS}", file=sys.stderr)


if __name__ == "__main__":
    record()
