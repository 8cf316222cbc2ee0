"""Assembling compared with GNU as, llvm-mc and bronzebeard: lines a second, memory a line."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks.figures import HIGHER, LOWER, Effort, Figure, Skipped, ratio
from benchmarks.measure import ROUNDS, Cost, middle, output_of, side_by_side
from benchmarks.sources import assembly

SIZES = (10_000, 100_000)
OF_LLVM = "of llvm-mc's rate"
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
    """Return the source `text` in the syntax of bronzebeard, which has no sections."""
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
    """Return the commands of the installed assemblers, by their names; all make line tables.

    They assemble the sources with this name in the folder.
    """
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
    """Write a source for all assemblers; return the number of its lines."""
    (folder / f"{name}.s").write_text(text)
    (folder / f"{name}.macaw.s").write_text(".core cp\n" + text)
    (folder / f"{name}.bb.s").write_text(bronzebeard(text))
    return text.count("\n")


def measure(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the rates and the memory of all assemblers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "empty", "        ret\n")
        found = commands(folder, "empty")
        for tool in ("GNU as -g", "llvm-mc -g", "bronzebeard"):
            if tool not in found:
                yield Skipped(tool, "it is not installed")
        empty = {
            tool: middle(costs)
            for tool, costs in side_by_side(found, effort.rounds(ROUNDS)).items()
        }
        first: dict[str, list[float]] = {}
        for size in (300,) if effort.small else SIZES:
            yield from _of_size(folder, size, effort, empty, first)


def _of_size(
    folder: Path,
    size: int,
    effort: Effort,
    empty: Mapping[str, Cost],
    smaller: dict[str, list[float]],
) -> Iterator[Figure]:
    """Yield the figures of a source of `size` lines.

    `empty` has the cost of each assembler for an empty source. `smaller` has Macaw's rates for the
    smaller sources; the function adds the rates for this source.
    """
    lines = write(folder, f"lines{size}", assembly(size, core=""))
    found, slow = commands(folder, f"lines{size}"), {}
    if size > SIZES[0] and "bronzebeard" in found:
        slow["bronzebeard"] = found.pop("bronzebeard")
    rates: dict[str, list[float]] = {"macaw asm": []}
    for tool, taken in {
        **side_by_side(found, effort.rounds(ROUNDS)),
        **side_by_side(slow, 1),
    }.items():
        row, rates[tool] = f"{tool}, {size:,} lines", [lines / x.seconds for x in taken]
        yield _rate(row, rates[tool])
        memory = [(x.peak - empty[tool].peak) / lines for x in taken]
        yield Figure(row, "bytes/line", tuple(memory), LOWER)
    source = str(folder / f"lines{size}.macaw.s")
    for _ in range(effort.rounds(ROUNDS)):
        again = output_of([sys.executable, "-c", _AGAIN, source, "2" if effort.small else "4"])
        one, *more = (lines / float(x) for x in again.split())
        rates.setdefault("macaw, from Python, first time", []).append(one)
        rates.setdefault("macaw, from Python, again", []).append(median(more))
    for tool in ("macaw asm", "macaw, from Python, first time", "macaw, from Python, again"):
        row = f"{tool}, {size:,} lines"
        if tool != "macaw asm":
            yield _rate(row, rates[tool])
            if tool in smaller:
                column = "of the rate at 10,000 lines"
                yield ratio(row, column, rates[tool], smaller[tool], HIGHER, "10,000 lines")
            smaller[tool] = rates[tool]
        if "llvm-mc -g" in rates:
            yield ratio(row, OF_LLVM, rates[tool], rates["llvm-mc -g"], HIGHER, "llvm-mc")
    if "llvm-mc -g" in rates:  # no command is faster than its start
        start = [lines / empty["macaw asm"].seconds] * len(rates["llvm-mc -g"])
        row = f"macaw asm of an empty program, {size:,} lines"
        yield ratio(row, OF_LLVM, start, rates["llvm-mc -g"], HIGHER, "llvm-mc")


def _rate(row: str, rates: Sequence[float]) -> Figure:
    return Figure(row, "thousand lines/s", tuple(x / 1000 for x in rates), HIGHER)
