"""The listing shows the addresses and bytes of the program, and agrees with that of GNU as."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from macaw.asm import listing
from macaw.asm.assembler import assemble
from macaw.asm.program import Program
from macaw.asm.source import Source
from tests.asm.gnu_tools import tool
from tests.asm.sample_sources import sample_sources

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SAMPLES = sample_sources()
# GNU as lists padding where code goes on, and refuses `symbols` when it makes a listing.
GNU_SOURCES = sorted(
    path for path in (HERE / "gnu_sources").glob("*.s") if path.stem not in ("align", "symbols")
)
GOLDEN = sorted((HERE / "listings").glob("*.s"))


def listed(source: str | Path | Source) -> tuple[Program, listing.Record, str]:
    """A program, the record for its listing, and the listing."""
    record = listing.Record()
    program = assemble(source, record=record)
    return program, record, listing.text(program, record)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    """The listing is the recorded one; `python -m tests.asm.test_listing` records it anew."""
    assert _golden(path) == path.with_suffix(".lst").read_text("utf-8")


def _golden(path: Path) -> str:
    source = Source(path.read_bytes().decode("utf-8"), path.name, path.parent)
    return listed(source)[2].replace(f"{path.parent}/", "")


def test_the_manuals_example() -> None:
    """The source on the right of the manual's listing assembles to the addresses on its left."""
    manual = (ROOT / "docs/cli.md").read_text("utf-8")
    block = manual[manual.index("`--listing FILE` writes") :].split("\n\n")[1]
    shown = [line[4:] for line in block.splitlines()]
    source = "\n".join(line[35:] for line in shown if line[:6].strip())
    text = listed(Source(source + "\n", "example.s"))[2]
    assert "\n".join(shown) in text


_ROW = re.compile(r"^[ \d]{6} ([\da-f]{8}) ([\da-f]+(?: [\da-f]+)?)(?:  |$)", re.MULTILINE)


@pytest.mark.few(60)
@pytest.mark.once
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_byte_of_every_sample_stands_at_its_line(path: Path) -> None:
    plain = assemble(path)
    program, record, text = listed(path)
    assert program == plain
    assert program.lines == plain.lines
    # Each printed byte is the program's; printed and omitted bytes are all of its bytes.
    printed: dict[int, int] = {}
    for row in _ROW.finditer(text):
        for address, byte in enumerate(bytes.fromhex(row[2]), int(row[1], 16)):
            assert address not in printed, hex(address)
            printed[address] = byte
    for address, byte in printed.items():
        section = program.section_at(address)
        assert section is not None
        assert section.data[address - section.address :][:1] in (bytes([byte]), b"")
    more = sum(int(count) for count in re.findall(r"^ +\.\.\. (\d+) more$", text, re.MULTILINE))
    assert len(printed) + more == sum(section.size for section in program.sections)
    # Instructions stand where the line table has them, and data of parts, too.
    for entry in record.entries.values():
        for chunk in entry.chunks:
            line = program.line_at((chunk.area.base or 0) + chunk.start)
            section = program.section(chunk.area.section)
            if section.flags == "ax":
                assert line is not None
                file, (number,), _ = entry.line.source.places([entry.line.start])
                assert (line.file, line.line) == (file, number)


_GNU_ROW = re.compile(r"^ *(\d+) ([\da-f]{4}) ((?:[\dA-F]{2,8} ?)+)")


def gnu_rows(text: str, folder: Path) -> dict[int, tuple[int, int]]:
    """For each line, the offset in its section and the number of bytes in the listing of GNU as."""
    path = folder / "a.s"
    path.write_text(f"        .option norelax\n        .text\n{text}", "utf-8")
    widths = ["--listing-lhs-width=40", "--listing-lhs-width2=40", "--listing-cont-lines=1000"]
    command = [tool("as"), "-march=rv32im_zicsr", "-mabi=ilp32", "-aln", *widths]
    done = subprocess.run(
        [*command, "-o", str(folder / "a.o"), str(path)], check=True, capture_output=True, text=True
    )
    found: dict[int, tuple[int, int]] = {}
    for row in filter(None, map(_GNU_ROW.match, done.stdout.splitlines())):
        number = int(row[1]) - 2
        start, count = found.get(number, (int(row[2], 16), 0))
        found[number] = start, count + len(bytes.fromhex(row[3]))
    return found


@pytest.mark.parametrize("path", GNU_SOURCES, ids=lambda path: path.stem)
def test_gnu_as_lists_the_same_bytes_at_the_same_lines(path: Path, tmp_path: Path) -> None:
    text = path.read_text("utf-8").replace("comment\n", "comment")  # GNU as miscounts behind it
    program, record, _ = listed(Source(f".core cp\n{text}"))
    ours: dict[int, tuple[int, int]] = {}
    for entry in record.entries.values():
        number = entry.line.source.locate(entry.line.start)[0] - 1
        for chunk in entry.chunks:
            address = (chunk.area.base or 0) + chunk.start
            section = program.section(chunk.area.section)
            start, count = ours.get(number, (address - section.address, 0))
            ours[number] = start, count + chunk.end - chunk.start
    assert ours == gnu_rows(text, tmp_path)


if __name__ == "__main__":
    for path in GOLDEN:
        path.with_suffix(".lst").write_text(_golden(path), "utf-8")
        sys.stdout.write(f"{path.name}\n")
