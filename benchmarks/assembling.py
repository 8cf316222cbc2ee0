"""Assembling beside GNU as, llvm-mc and bronzebeard: lines a second, and memory a line."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks.measure import ROUNDS, middle, output_of, side_by_side, table, target, thousands
from benchmarks.sources import assembly

SIZES = (10_000, 100_000)
# Parts of llvm-mc's rate that are wanted, by way and lines.
_WANTED = {
    ("first", 10_000): 0.2,
    ("first", 100_000): 0.4,
    ("again", 10_000): 0.2,
    ("again", 100_000): 0.2,
    ("macaw asm", 10_000): 0.16,
    ("macaw asm", 100_000): 0.33,
}
_AGAIN = """
import sys, time
from pathlib import Path
from macaw.asm import assembler, elf
from macaw.asm.source import Source
text = Path(sys.argv[1]).read_text()
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    elf.write(assembler.assemble(Source(text, "bench.s")))
    print(time.process_time() - start)
"""
_DATA = {".word": "ints", ".half": "shorts", ".byte": "bytes"}


def bronzebeard(text: str) -> str:
    """The source as bronzebeard writes it: no sections, other words for data."""
    out = []
    for line in text.splitlines():
        words = line.split("#")[0].split(None, 1)
        head, rest = (words + ["", ""])[:2]
        if head in (".text", ".data"):
            continue
        if head in _DATA:
            line = f"{_DATA[head]} {rest.replace(',', ' ')}"
        elif head == ".asciz":
            line = "string " + rest.strip().strip('"')
        elif head == ".balign":
            line = f"align {rest}"
        elif head == "la":
            line = f"li {rest}"
        out.append(re.sub(r"ints\s+(f\w+\s+f\w+)", r"ints 0 0", line))
    return "\n".join(out) + "\n"


def commands(folder: Path, name: str) -> dict[str, list[str]]:
    """The assemblers that are here, for the sources of that name; line tables are made by all."""
    source, out = str(folder / f"{name}.s"), str(folder / "out")
    found = {
        "macaw asm": [
            sys.executable,
            "-m",
            "macaw",
            "asm",
            str(folder / f"{name}.macaw.s"),
            "-o",
            out,
        ]
    }
    if shutil.which("riscv64-unknown-elf-as"):
        found["GNU as -g"] = [
            "riscv64-unknown-elf-as",
            "-march=rv32im",
            "-mabi=ilp32",
            "-g",
            "-o",
            out,
            source,
        ]
    if shutil.which("llvm-mc"):
        found["llvm-mc -g"] = [
            "llvm-mc",
            "-triple=riscv32",
            "-mattr=+m",
            "-filetype=obj",
            "-g",
            "-o",
            out,
            source,
        ]
    if find_spec("bronzebeard") is not None:
        code = "import sys; from bronzebeard.asm import cli_main; sys.argv[0] = 'bronzebeard'; cli_main()"
        found["bronzebeard"] = [sys.executable, "-c", code, str(folder / f"{name}.bb.s"), "-o", out]
    return found


def write(folder: Path, name: str, text: str) -> int:
    """Write a source for all assemblers; its lines."""
    (folder / f"{name}.s").write_text(text)
    (folder / f"{name}.macaw.s").write_text(".core cp\n" + text)
    (folder / f"{name}.bb.s").write_text(bronzebeard(text))
    return text.count("\n")


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        _measure(Path(name))


def _measure(folder: Path) -> None:
    write(folder, "empty", "        ret\n")
    empty = {name: middle(costs) for name, costs in side_by_side(commands(folder, "empty")).items()}
    rates: dict[tuple[str, int], float] = {}
    rows = []
    worst = 0.0
    for size in SIZES:
        lines = write(folder, f"lines{size}", assembly(size, core=""))
        found = commands(folder, f"lines{size}")
        slow = (
            {"bronzebeard": found.pop("bronzebeard")}
            if size > SIZES[0] and "bronzebeard" in found
            else {}
        )
        costs = {**side_by_side(found), **side_by_side(slow, 1)}
        for tool, taken in costs.items():
            cost = middle(taken)
            rates[tool, size] = lines / cost.seconds
            memory = (cost.peak - empty[tool].peak) / lines
            if tool == "macaw asm":
                worst = max(worst, memory)
            note = " (once)" if len(taken) == 1 else ""
            rows.append([tool + note, f"{lines:,}", thousands(rates[tool, size]), f"{memory:,.0f}"])
        source = str(folder / f"lines{size}.macaw.s")
        times = [
            float(x)
            for x in output_of([sys.executable, "-c", _AGAIN, source, str(ROUNDS + 1)]).split()
        ]
        rates["first", size] = lines / times[0]
        rates["again", size] = lines / median(times[1:])
        rows.append(
            ["macaw, from Python, first time", f"{lines:,}", thousands(rates["first", size]), ""]
        )
        rows.append(
            ["macaw, from Python, again", f"{lines:,}", thousands(rates["again", size]), ""]
        )
    print(
        "### Assembling\n\nThousands of lines a second, and bytes of memory a line above an empty program's.\n"
    )
    print(table(["", "lines", "thousand lines/s", "bytes/line"], rows))
    if "llvm-mc -g" in empty:
        ways = {
            "first": "from Python, first time",
            "again": "from Python, again",
            "macaw asm": "whole command",
        }
        for way, what in ways.items():
            for size in SIZES:
                part = rates[way, size] / rates["llvm-mc -g", size]
                least = _WANTED[way, size]
                text = f"{what}, {size:,} lines: {part:.2f} of llvm-mc's rate, at least {least:.2f}"
                print(target(text, part >= least), end="")
    for tool, what in (("first", "from Python, first time"), ("again", "from Python, again")):
        part = rates[tool, SIZES[1]] / rates[tool, SIZES[0]]
        print(
            target(
                f"{what}: the rate at {SIZES[1]:,} lines is {part:.2f} of that at {SIZES[0]:,}, at least 0.80",
                part >= 0.8,
            ),
            end="",
        )
    print(target(f"memory: {worst:,.0f} bytes a line, at most 1,024", worst <= 1024))


if __name__ == "__main__":
    main()
