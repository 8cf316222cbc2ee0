"""The bytes that GNU as and ld make of sources that Macaw assembles too: live or recorded.

`python -m tests.asm.gnu` records `vectors/gnu.json` anew. A source of `gnu_sources` or `gnu_macros`
is assembled as it stands by GNU as (without relaxation), and as a cp part by Macaw.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from elftools.elf.elffile import ELFFile

HERE = Path(__file__).parent
FOLDERS = (HERE / "gnu_sources", HERE / "gnu_macros")
SOURCES = sorted(path for folder in FOLDERS for path in folder.glob("*.s"))
VECTORS = HERE / "vectors" / "gnu.json"
_PREFIX = "riscv64-unknown-elf-"
_TOOLS = ("as", "ld")
_RANDOM = 400  # expressions

Bytes = dict[str, str]  # the hexadecimal bytes of .text and .data


def _expression(chance: random.Random, depth: int) -> str:
    """An expression with brackets around each operator, because Macaw's precedence is not GNU's."""
    if depth == 0 or chance.random() < 0.2:
        value = chance.choice((chance.randrange(10), chance.getrandbits(chance.randrange(1, 64))))
        return chance.choice((str(value), hex(value)))
    if chance.random() < 0.2:
        return f"({chance.choice('-~!')}{_expression(chance, depth - 1)})"
    operator = chance.choice("+ - * | & ^ << >> < <= > >= == != <> && || / %".split())
    left, right = _expression(chance, depth - 1), _expression(chance, depth - 1)
    if operator in ("<<", ">>"):
        right = str(chance.randrange(64))
    if operator in "/%":  # never by zero, and never the one quotient that GNU as cannot take
        right = str(chance.randrange(1, 1000))
    return f"({left} {operator} {right})"


def random_expressions() -> str:
    """A source of random expressions, the same in each run."""
    chance = random.Random(7)
    lines = [f"        .dword  {_expression(chance, 4)}" for _ in range(_RANDOM)]
    return "        .data\n" + "\n".join(lines) + "\n"


def cases() -> dict[str, str]:
    """The texts of the sources by name."""
    found = {path.stem: path.read_text("utf-8") for path in SOURCES}
    return {**found, "random": random_expressions()}


def tools_missing() -> bool:
    return not all(shutil.which(_PREFIX + tool) for tool in _TOOLS)


@cache
def live(text: str) -> Bytes:
    """Run GNU as and ld on a source, which may include files of `gnu_macros`; return the bytes."""

    def run(tool: str, *words: str | Path) -> None:
        subprocess.run([_PREFIX + tool, *words], check=True, capture_output=True)

    with tempfile.TemporaryDirectory() as folder:
        source, unlinked, linked = (Path(folder) / name for name in ("a.s", "a.o", "a.elf"))
        source.write_text(f"        .option norelax\n        .text\n{text}", "utf-8")
        machine = ("-march=rv32im_zicsr", "-mabi=ilp32", "-I", FOLDERS[1], "-I", HERE / "ok")
        run("as", *machine, "-o", unlinked, source)
        places = ("-Ttext=0x10000", "-Tdata=0x80000000", "-e", "0x10000")
        run("ld", "-m", "elf32lriscv", "--no-relax", *places, "-o", linked, unlinked)
        with linked.open("rb") as stream:
            sections = ELFFile(stream)
            named = {name: sections.get_section_by_name(name) for name in (".text", ".data")}
            return {name: item.data().hex() if item else "" for name, item in named.items()}


@cache
def recorded() -> dict[str, Bytes]:
    """Return the recorded bytes of all `cases`."""
    found: dict[str, Bytes] = json.loads(VECTORS.read_text())
    return found


if __name__ == "__main__":
    VECTORS.parent.mkdir(exist_ok=True)
    fresh = {name: live(text) for name, text in cases().items()}
    VECTORS.write_text(json.dumps(fresh, indent=1) + "\n")
