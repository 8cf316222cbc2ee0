"""The words that GNU as makes of each instruction of Xvc, written with `.insn`: live or recorded.

`python -m tests.isa.gnu_vector` records `vectors/vc.json` anew. GNU as knows where the fields of a
word are. The number in each field is given here, independent of Macaw's table.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from macaw.isa import vector
from macaw.isa.kinds import Immediate
from macaw.isa.rows import Instruction
from tests.isa.gnu import AS, MARCH, OBJDUMP, tools_missing

VECTORS = Path(__file__).parent / "vectors" / "vc.json"
COMBINATIONS = 4  # a row, beside the ends of each operand

Case = tuple[Instruction, dict[str, int]]


def values_of(operand: object) -> list[int]:
    """Values at the ends of an operand's range, and beside gaps in the range."""
    kind = operand.kind  # type: ignore[attr-defined]
    if isinstance(kind, Immediate):
        return sorted({kind.low, kind.low + 1, 0, kind.high - 1, kind.high} & set(range(kind.low, kind.high + 1)))  # fmt: skip
    if kind.optional:
        return [0, 1]
    known = sorted({kind.parse(word) for word in kind.words()})
    return sorted({known[0], known[1], known[len(known) // 2], known[-2], known[-1]})


def cases() -> list[Case]:
    """Rows with operand values, the same in each run."""
    chance = random.Random(11)
    found: list[Case] = []
    for row in vector.XVC:
        choices = {operand.name: values_of(operand) for operand in row.operands}
        for name, ends in choices.items():
            for value in ends:
                others = {other: chance.choice(choices[other]) for other in choices}
                found.append((row, {**others, name: value}))
        for _ in range(COMBINATIONS):
            found.append((row, {name: chance.choice(choices[name]) for name in choices}))
    return found


def insn(row: Instruction, values: Mapping[str, int]) -> str:
    """The line for GNU as: the instruction as `.insn`."""
    fixed = row.fixed
    opcode, funct3 = fixed["opcode"], fixed["funct3"]
    v = {"rd": 0, "rs1": 0, "rs2": 0, "rs3": 0, **values}
    head = f"{opcode:#x}, {funct3}"
    if "imm" in values and "rd" in values:
        return f".insn i {head}, x{v['rd']}, {v['imm']}(x{v['rs1']})"
    if "imm" in values:
        return f".insn s {head}, x{v['rs2']}, {v['imm']}(x{v['rs1']})"
    if opcode == 0x2B or (opcode == 0x5B and funct3 >= 5):
        funct2 = fixed.get("funct2", 0) | v.get("acc", 0) | fixed.get("signed", 0) << 1
        rs3 = v.get("shamt", v["rs3"])
        funct2 |= rs3 >> 5 << 1  # bit of funct2: the order is in a general register
        return f".insn r4 {head}, {funct2}, x{v['rd']}, x{v['rs1']}, x{v['rs2']}, x{rs3 & 31}"
    if "shamt" in values:
        funct7 = fixed["funct6"] << 1 | v["shamt"] >> 5
        return f".insn r {head}, {funct7}, x{v['rd']}, x{v['rs1']}, x{v['shamt'] & 31}"
    last = v.get("lane", v.get("half", v["rs2"]))
    first = v["rs3"] if opcode == 0x7B and funct3 == 3 else v["rd"]
    return f".insn r {head}, {fixed['funct7']}, x{first}, x{v['rs1']}, x{last}"


def words(lines: Sequence[str]) -> list[int]:
    """The words that GNU as makes of these lines."""
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder) / "cases.s", Path(folder) / "cases.o"
        text.write_text("\n".join(lines) + "\n")
        subprocess.run([AS, *MARCH, "-o", binary, text], check=True)
        dump = subprocess.run([OBJDUMP, "-d", "-z", binary], check=True, capture_output=True, text=True).stdout  # fmt: skip
    found = re.findall(r"^\s*[0-9a-f]+:\s+([0-9a-f]{8})\s", dump, re.MULTILINE)
    assert len(found) == len(lines)
    return [int(word, 16) for word in found]


def live() -> list[int]:
    """The words of all cases."""
    return words([insn(row, values) for row, values in cases()])


def recorded() -> list[int]:
    """Return the words that the file records."""
    found: list[int] = json.loads(VECTORS.read_text())
    return found


def expected() -> list[int]:
    """The live words, or the recorded ones if the tools are missing (an error in CI)."""
    if not tools_missing():
        return live()
    if os.environ.get("CI"):
        raise RuntimeError(f"in CI {AS} and {OBJDUMP} must be installed")
    warnings.warn(f"no {AS} here: using the words recorded in {VECTORS.name}", stacklevel=2)
    return recorded()


if __name__ == "__main__":
    found = live()
    lines = [found[place : place + 8] for place in range(0, len(found), 8)]
    VECTORS.write_text("[\n" + ",\n".join(json.dumps(line)[1:-1] for line in lines) + "\n]\n")
    print(f"{len(found)} words in {VECTORS}", file=sys.stderr)
