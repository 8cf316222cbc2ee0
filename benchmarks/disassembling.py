"""Disassembling compared with GNU objdump and llvm-objdump: instructions a second."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import HIGHER, Effort, Figure, Skipped, ratio
from benchmarks.measure import ROUNDS, output_of, side_by_side
from benchmarks.sources import assembly

LINES = 100_000
FLOOR = "a formatted string for each instruction"
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
# The least that a disassembly does: a line of text for each word.
_FLOOR = """
import sys, time
words = list(range(int(sys.argv[1])))
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    text = "\\n".join(["%08x  %08x  %s" % (4 * word, word, "addi a0, a0, 1") for word in words])
    print(time.process_time() - start)
"""


def measure(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the rates of all disassemblers."""
    rounds = effort.rounds(ROUNDS)
    with tempfile.TemporaryDirectory() as name:
        source, elf = Path(name, "bench.s"), str(Path(name, "bench.elf"))
        source.write_text(assembly(300 if effort.small else LINES))
        output_of([sys.executable, "-m", "macaw", "asm", str(source), "-o", elf])
        size, *times = output_of([sys.executable, "-c", _CODE, elf, str(rounds)]).split()
        words = int(size)
        found = {"macaw dis --core cp": [sys.executable, "-m", "macaw", "dis", elf, "--core", "cp"]}
        if shutil.which("riscv64-unknown-elf-objdump"):
            found["GNU objdump -d"] = ["riscv64-unknown-elf-objdump", "-d", "-j", ".text.cp", elf]
        if shutil.which("llvm-objdump"):
            found["llvm-objdump -d"] = ["llvm-objdump", "-d", "--mattr=+m", "-j", ".text.cp", elf]
        rates = {"macaw, from Python": [words / float(x) for x in times]}
        least = output_of([sys.executable, "-c", _FLOOR, size, str(rounds)]).split()
        rates[FLOOR] = [words / float(x) for x in least]
        for tool, costs in side_by_side(found, rounds).items():
            rates[tool] = [words / x.seconds for x in costs]
    for tool, values in rates.items():
        yield Figure(tool, "thousand instructions/s", tuple(x / 1000 for x in values), HIGHER)
    if (peer := rates.get("llvm-objdump -d")) is None:
        yield Skipped("llvm-objdump", "it is not installed")
        return
    for tool in ("macaw, from Python", FLOOR, "macaw dis --core cp"):
        yield ratio(tool, "of llvm-objdump's rate", rates[tool], peer, HIGHER, "llvm-objdump")
