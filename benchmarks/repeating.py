"""Repetition beside GNU as: CPU time of the lines that `.rept` and macros make, by their bodies."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import middle, side_by_side, table, target

LEVELS = 16  # macros in each other, of which each calls the next one twice


@dataclass(frozen=True)
class Case:
    """A repetition: `before` it, its body, how many lines it makes; `most` times GNU as's time."""

    before: str
    body: str
    lines: int
    most: float | None = None

    def source(self) -> str:
        """The text for GNU as; Macaw's has `.core cp` before it."""
        rounds = self.lines // self.body.count("\n")
        return f"{self.before}.rept {rounds}\n{self.body}.endr\n"


def _nested() -> str:
    """Macros with an argument, of which the last one is 65,536 instructions."""
    levels = [f".macro m{n} r\nm{n - 1} \\r\nm{n - 1} \\r\n.endm\n" for n in range(1, LEVELS + 1)]
    return ".macro m0 r\naddi \\r, \\r, 1\n.endm\n" + "".join(levels)


CASES = {
    "an instruction": Case("", "addi a0, a0, 1\n", 1_000_000, 15),
    "an instruction, 100,000 lines": Case("", "addi a0, a0, 1\n", 100_000, 5),
    "ten instructions": Case("", "addi a0, a0, 1\nlw a1, 4(a0)\n" * 5, 1_000_000, 15),
    "ten instructions, 100,000 lines": Case("", "addi a0, a0, 1\nlw a1, 4(a0)\n" * 5, 100_000, 5),
    "data": Case("", ".word 1, 2\n.byte 3\n", 1_000_000, 15),
    "nothing": Case("", "\n", 1_000_000, 15),
    "macros in each other, 65,536 instructions": Case(_nested(), f"m{LEVELS} a0\n", 1, 5),
    "a macro call": Case(".macro put value\n.word \\value\n.endm\n", "put 7\n", 100_000, 5),
    "a conditional": Case("", ".if 1\naddi a0, a0, 1\n.endif\n", 100_000, 5),
    "a value that is counted": Case(".set n, 0\n", ".word n\n.set n, n + 1\n", 100_000, 5),
    "the address of a symbol": Case("x:\n", "lui a0, %hi(x)\naddi a0, a0, %lo(x)\n", 100_000, 5),
    "a label and its branch": Case("", "1: addi a0, a0, 1\nbne a0, a1, 1b\n", 100_000, 5),
}


def main() -> None:
    """Measure and print."""
    rows, said = [], []
    with tempfile.TemporaryDirectory() as folder:
        plain, ours = Path(folder, "plain.s"), Path(folder, "ours.s")
        commands = {
            "macaw": [sys.executable, "-m", "macaw", "asm", str(ours), "-o", f"{folder}/ours.elf"],
            "GNU as": [
                "riscv64-unknown-elf-as", "-march=rv32im", "-mabi=ilp32", str(plain),
                "-o", f"{folder}/plain.o",
            ],
        }  # fmt: skip
        if not shutil.which("riscv64-unknown-elf-as"):
            print("GNU as is missing")
            return
        for name, case in CASES.items():
            plain.write_text(case.source())
            ours.write_text(".core cp\n" + case.source())
            costs = {tool: middle(taken) for tool, taken in side_by_side(commands).items()}
            times = costs["macaw"].seconds / costs["GNU as"].seconds
            rows.append(
                [name, f"{case.lines:,}", f"{costs['macaw'].seconds:.2f}",
                 f"{costs['GNU as'].seconds:.2f}", f"{times:.1f}"]
            )  # fmt: skip
            if case.most is not None:
                text = f"{name}: {times:.1f} times GNU as's time, at most {case.most:g}"
                said.append(target(text, times <= case.most))
    print("## Repeating\n\nWhole commands, CPU seconds, medians of five.\n")
    print(table(["body of .rept", "lines", "macaw asm", "GNU as", "times"], rows))
    print("".join(said))


if __name__ == "__main__":
    main()
