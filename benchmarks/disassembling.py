"""Disassembling beside GNU objdump and llvm-objdump: instructions a second."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import ROUNDS, middle, output_of, side_by_side, table, target, thousands
from benchmarks.sources import assembly

LINES = 100_000
_CODE = """
import sys, time
import macaw
program = macaw.load(sys.argv[1])
print(len(program.section(".text.cp").data) // 4)
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    macaw.disassemble(program, core="cp")
    print(time.process_time() - start)
"""


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        source, elf = Path(name, "bench.s"), str(Path(name, "bench.elf"))
        source.write_text(assembly(LINES))
        output_of([sys.executable, "-m", "macaw", "asm", str(source), "-o", elf])
        count, *times = output_of([sys.executable, "-c", _CODE, elf, str(ROUNDS)]).split()
        words = int(count)
        rate = words / median(float(x) for x in times)
        rows = [["macaw, from Python", thousands(rate)]]
        found = {"macaw dis --core cp": [sys.executable, "-m", "macaw", "dis", elf, "--core", "cp"]}
        if shutil.which("riscv64-unknown-elf-objdump"):
            found["GNU objdump -d"] = ["riscv64-unknown-elf-objdump", "-d", "-j", ".text.cp", elf]
        if shutil.which("llvm-objdump"):
            found["llvm-objdump -d"] = ["llvm-objdump", "-d", "--mattr=+m", "-j", ".text.cp", elf]
        for tool, costs in side_by_side(found).items():
            rows.append([tool, thousands(words / middle(costs).seconds)])
    print(f"### Disassembling\n\nThousands of instructions a second, of {words:,}.\n")
    print(table(["", "thousand instructions/s"], rows))
    print(target(f"{rate:,.0f} instructions a second, at least 300,000", rate >= 300_000))


if __name__ == "__main__":
    main()
