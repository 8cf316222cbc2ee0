"""A corpus of small sources for GNU as and Macaw: many in a file, each below its `#--- name`.

`python -m tests.asm.gnu_corpus_files` records in `vectors/gnu_corpus.json` what GNU as and ld make
of each source: the bytes of its sections, or null where they refuse the source.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.source import Source

HERE = Path(__file__).parent
FOLDER = HERE / "gnu_corpus"
VECTORS = HERE / "vectors" / "gnu_corpus.json"
SECTIONS = (".text", ".data", ".rodata", ".bss")
_TOOL = "riscv64-unknown-elf-"

Bytes = dict[str, str] | None  # of sections that are not empty; None: refused


def _sources() -> Iterator[tuple[str, str]]:
    for path in sorted(FOLDER.glob("*.s")):
        name = ""
        lines: list[str] = []
        for line in [*path.read_text("utf-8").splitlines(keepends=True), "#--- "]:
            if line.startswith("#--- "):
                if name:
                    yield f"{path.stem}/{name}", "".join(lines)
                name, lines = line[5:].strip(), []
            else:
                lines.append(line)


SOURCES = dict(_sources())


def of_gnu(text: str) -> Bytes:
    """Return the bytes that GNU as and ld make of a source, unrelaxed; None if they refuse it."""
    with tempfile.TemporaryDirectory() as folder:
        source, unlinked, linked = (Path(folder) / name for name in ("a.s", "a.o", "a.elf"))
        source.write_text(f"        .option norelax\n{text}", "utf-8")
        machine = ("-march=rv32im_zicsr", "-mabi=ilp32", "-I", FOLDER)
        places = ("-Ttext=0x10000", "-Tdata=0x80000000", "-e", "0x10000")
        for tool, *words in (
            ("as", *machine, "-o", unlinked, source),
            ("ld", "-m", "elf32lriscv", "--no-relax", *places, "-o", linked, unlinked),
        ):
            command = [_TOOL + tool, *map(str, words)]
            if subprocess.run(command, capture_output=True, check=False).returncode:
                return None
        with linked.open("rb") as stream:
            file = ELFFile(stream)
            found = {name: file.get_section_by_name(name) for name in SECTIONS}
            return {
                name: item.data().hex() if name != ".bss" else "00" * item["sh_size"]
                for name, item in found.items()
                if item is not None and item["sh_size"]
            }


def of_ours(text: str) -> Bytes:
    """Return the bytes that Macaw makes of the source as a cp part; None if Macaw refuses it."""
    try:
        program = assemble(Source(text, "corpus.s", FOLDER), gnu=True)
    except AssemblyError:
        return None
    names = {name: ".text.cp" if name == ".text" else name for name in SECTIONS}
    sections = {section.name: section for section in program.sections}
    return {
        name: sections[own].data.hex() or "00" * sections[own].size
        for name, own in names.items()
        if own in sections
    }


def recorded() -> dict[str, Bytes]:
    """Return the recorded results of GNU as and ld by name."""
    found: dict[str, Bytes] = json.loads(VECTORS.read_text("utf-8"))
    return found


if __name__ == "__main__":
    every = {name: of_gnu(text) for name, text in SOURCES.items()}
    VECTORS.write_text(json.dumps(every, indent=0) + "\n", "utf-8")
