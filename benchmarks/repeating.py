"""Repetition compared with GNU as: CPU time of lines from `.rept` and macros, by kind of body."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import LOWER, Effort, Figure, count, ratio
from benchmarks.measure import ROUNDS, side_by_side

LEVELS = 16  # macros in each other, of which each calls the next one twice


@dataclass(frozen=True)
class Case:
    """A repetition: the source before it, its body, and the number of lines that it makes."""

    before: str
    body: str
    lines: int

    def source(self) -> str:
        """Return the text for GNU as; Macaw's has `.core cp` before it."""
        rounds = self.lines // self.body.count("\n")
        return f"{self.before}.rept {rounds}\n{self.body}.endr\n"


def _nested() -> str:
    """Return macros that call one another; a call of the last one makes 65,536 instructions."""
    levels = [f".macro m{n} r\nm{n - 1} \\r\nm{n - 1} \\r\n.endm\n" for n in range(1, LEVELS + 1)]
    return ".macro m0 r\naddi \\r, \\r, 1\n.endm\n" + "".join(levels)


CASES = {
    "an instruction": Case("", "addi a0, a0, 1\n", 1_000_000),
    "an instruction, 100,000 lines": Case("", "addi a0, a0, 1\n", 100_000),
    "ten instructions": Case("", "addi a0, a0, 1\nlw a1, 4(a0)\n" * 5, 1_000_000),
    "ten instructions, 100,000 lines": Case("", "addi a0, a0, 1\nlw a1, 4(a0)\n" * 5, 100_000),
    "data": Case("", ".word 1, 2\n.byte 3\n", 1_000_000),
    "nothing": Case("", "\n", 1_000_000),
    "macros in each other, 65,536 instructions": Case(_nested(), f"m{LEVELS} a0\n", 1),
    "a macro call": Case(".macro put value\n.word \\value\n.endm\n", "put 7\n", 100_000),
    "a conditional": Case("", ".if 1\naddi a0, a0, 1\n.endif\n", 100_000),
    "a value that is counted": Case(".set n, 0\n", ".word n\n.set n, n + 1\n", 100_000),
    "the address of a symbol": Case("x:\n", "lui a0, %hi(x)\naddi a0, a0, %lo(x)\n", 100_000),
    "a label and its branch": Case("", "1: addi a0, a0, 1\nbne a0, a1, 1b\n", 100_000),
}

SMALL = {"an instruction": Case("", "addi a0, a0, 1\n", 1_000)}


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the seconds of Macaw and GNU as, and how many times as long Macaw takes."""
    with tempfile.TemporaryDirectory() as folder:
        plain, ours = Path(folder, "plain.s"), Path(folder, "ours.s")
        commands = {
            "macaw": [sys.executable, "-m", "macaw", "asm", str(ours), "-o", f"{folder}/ours.elf"],
            "GNU as": [
                "riscv64-unknown-elf-as", "-march=rv32im", "-mabi=ilp32", str(plain),
                "-o", f"{folder}/plain.o",
            ],
        }  # fmt: skip
        for name, case in SMALL.items() if effort.small else CASES.items():
            plain.write_text(case.source())
            ours.write_text(".core cp\n" + case.source())
            costs = side_by_side(commands, effort.rounds(ROUNDS))
            yield count(name, "lines", case.lines)
            times = {tool: tuple(x.seconds for x in taken) for tool, taken in costs.items()}
            yield Figure(name, "macaw asm, s", times["macaw"], LOWER)
            yield Figure(name, "GNU as, s", times["GNU as"])
            yield ratio(name, "times", times["macaw"], times["GNU as"], LOWER, "GNU as")
