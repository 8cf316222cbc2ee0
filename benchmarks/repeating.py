"""Repetition beside GNU as: CPU time of a million lines that `.rept` makes, by what its body holds."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import middle, side_by_side, table, target

LINES = 1_000_000
MOST = 15.0  # times GNU as's time; of bodies without symbols that change
# By name: the lines before the repetition, its body, and whether the goal is meant for it.
BODIES: dict[str, tuple[str, str, bool]] = {
    "an instruction": ("", "addi a0, a0, 1\n", True),
    "ten instructions": ("", "addi a0, a0, 1\nlw a1, 4(a0)\n" * 5, True),
    "data": ("", ".word 1, 2\n.byte 3\n", True),
    "nothing": ("", "\n", True),
    "a value that is counted": (".set n, 0\n", ".word n\n.set n, n + 1\n", False),
    "a macro call": (".macro put value\n.word \\value\n.endm\n", "put 7\n", False),
}


def source(name: str, lines: int) -> str:
    """A source whose repetition makes so many lines."""
    before, body, _ = BODIES[name]
    return f"{before}.rept {lines // body.count(chr(10))}\n{body}.endr\n"


def main(lines: int = LINES) -> None:
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
        for name, (_, _, judged) in BODIES.items():
            size = lines if judged else lines // 10
            plain.write_text(source(name, size))
            ours.write_text(".core cp\n" + source(name, size))
            costs = {tool: middle(taken) for tool, taken in side_by_side(commands, 3).items()}
            times = costs["macaw"].seconds / costs["GNU as"].seconds
            rows.append(
                [name, f"{size:,}", f"{costs['macaw'].seconds:.2f}",
                 f"{costs['GNU as'].seconds:.2f}", f"{times:.1f}"]
            )  # fmt: skip
            if judged:
                said.append(
                    target(
                        f"{name}: {times:.1f} times GNU as's time, at most {MOST:g}", times <= MOST
                    )
                )
    print("## Repeating\n\nWhole commands, CPU seconds, medians of three.\n")
    print(table(["body of .rept", "lines", "macaw asm", "GNU as", "times"], rows))
    print("".join(said))


if __name__ == "__main__":
    main()
