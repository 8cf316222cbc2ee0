"""Files and texts of generated programs: ELF, objects, listings, headers, images, formatted sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from macaw.asm import c_header, elf, elf_object, images, linker_script, object_read
from macaw.asm.assembler import assemble, assemble_object
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.disassembly import objects
from macaw.asm.equivalence import same_tokens
from macaw.asm.formatter import format_text
from macaw.asm.images import ImageError
from macaw.asm.listing import Record, text
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.isa import config, registry
from tests.asm.generated import directives, expressions, instructions, outcomes, parts, texts
from tests.recorded import check

pytestmark = pytest.mark.once

CORES = ("cp", "vc")
COUNT = 10
FORMATTED = (directives.data_source, directives.symbol_source, texts.macro_source, parts.pe_source, parts.fim_source, parts.nnp_source, expressions.named_source)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    texts.write_files(folder)
    return folder


def source(kind: str, number: int) -> str:
    """A program without errors for an array or for the code of cp or vc."""
    if kind == "pe":
        return parts.good_pe_source(f"output {number}")
    random = Random(f"output {kind} {number}")
    lines = [
        ".device tiny",
        f".input x, int8, {random.choice((1, 3, 64))}, 2",
        ".global _start, shared",
        f".core {kind}",
        "_start: nop",
        "1: first: nop",
    ]
    rows = [row for row, _is_first in instructions.rows(registry.core(kind))]
    good = [
        line.text
        for row in [instructions.drawn(rows, random) for _ in range(5)]
        for line in instructions.good_lines(row, random)
        if line.is_good
    ]
    lines += random.sample(good, min(6, len(good)))
    lines += random.choice(
        (
            [],
            [".rept 3", ".word x + 1", ".endr"],
            [".macro m a", "li a0, \\a", "lw a1, outside", ".endm", "m 5", "m 0x12345"],
            ["li a0, 0x7ff", "li a0, 0x800", "li a0, 0x12345678"],
        )
    )
    lines += [
        "call outside" if number % 2 else "call first",
        "la a0, shared",
        "lui a2, %hi(other)",
        "lw a2, %lo(other)(a2)",
        "1: last: nop",
    ]
    lines += [
        ".data",
        f".balign {random.choice((1, 8, 64))}",
        "shared: .word last, first - last, outside + 4",
        random.choice(('.asciz "text"', ".space 100", ".array int16, 2, 5")),
        ".comm pool, 8, 8",
    ]
    lines += random.choice(([], [".weak other"], [".size shared, 4", ".type shared, object"]))
    return "\n".join([*lines, ".set K, 5"]) + "\n"


def whole(kind: str, number: int) -> str:
    """The same with the symbols that it leaves to other files."""
    return source(kind, number) + ("" if kind == "pe" else "outside: .word 1\nother: .word 2\n")


@pytest.mark.parametrize("kind", ["pe", *CORES])
def test_executables(folder: Path, kind: str) -> None:
    found: dict[str, list[str]] = {}
    for number in range(COUNT):
        record = Record()
        try:
            program = assemble(Source(whole(kind, number), outcomes.NAME, folder), record=record)
        except AssemblyError as error:
            found[f"{kind} {number}"] = outcomes.shortened(
                outcomes.diagnostics(error.diagnostics, whole(kind, number)), 4
            )
            continue
        for with_lines in (True, False):
            again = elf.read(elf.write(program, lines=with_lines))
            assert again == program
            assert (again.lines == program.lines) is (with_lines or not len(program.line_table))
        listing = text(program, record).splitlines()
        found[f"{kind} {number}"] = [
            outcomes.elf_digest(program),
            outcomes.elf_digest(program, lines=False),
            *outcomes.shortened(listing, 12 if number < 3 else 1),
            *_images(program),
        ]
    check(outcomes.FOLDER / f"executables_{kind}.txt", outcomes.records(found))


def _images(program: Program) -> Iterator[str]:
    """Digests of images. Asserts that an Intel HEX file has the bytes of the sections."""
    for memory in (None, "local", "cores", "external"):
        for kind in ("bin", "hex"):
            try:
                data = images.write(program, kind, memory)
            except ImageError as error:
                yield f"{memory} {kind}: {error}"
                continue
            if kind == "hex":
                held = hex_bytes(data.decode())
                for section in program.sections:
                    if memory in (None, images.memory_of(section)):
                        assert (
                            bytes(held[section.load_address + x] for x in range(len(section.data)))
                            == section.data
                        )
            yield f"{memory} {kind}: {len(data)} bytes {outcomes.digest(data)}"


def hex_bytes(data: str) -> dict[int, int]:
    """The bytes by address in an Intel HEX file. Asserts the checksum of each record."""
    held, upper = {}, 0
    for line in data.splitlines():
        record = bytes.fromhex(line.removeprefix(":"))
        assert sum(record) % 256 == 0
        size, place, kind = record[0], int.from_bytes(record[1:3], "big"), record[3]
        body = record[4:-1]
        assert len(body) == size
        if kind == 4:
            upper = int.from_bytes(body, "big") << 16
        elif kind == 0:
            held.update({upper + place + x: value for x, value in enumerate(body)})
    return held


@pytest.mark.parametrize("kind", ["pe", *CORES])
def test_objects_of_programs(folder: Path, kind: str) -> None:
    found: dict[str, list[str]] = {}
    device = config.load("tiny")
    plain = c_header.write(None, device).splitlines()
    for number in range(COUNT):
        given = Source(source(kind, number), outcomes.NAME, folder)
        try:
            item = assemble_object([given])
        except AssemblyError as error:
            found[f"{kind} {number}"] = outcomes.shortened(
                outcomes.diagnostics(error.diagnostics, given.text), 4
            )
            continue
        data = elf_object.write(item)
        file = object_read.read(data)
        assert {x.name for x in file.sections} >= {
            f".macaw{x.name}" for x in item.program.sections if x.size
        }
        own = [
            line
            for line in c_header.write(item, device).splitlines()
            if line not in plain and "layout" not in line.lower()
        ]
        script = [
            line
            for line in linker_script.write(item, device).splitlines()
            if "layout" not in line.lower()
        ]
        found[f"{kind} {number}"] = [
            *outcomes.of_object(item),
            *outcomes.shortened(
                objects.listing(file.sections).splitlines(), 16 if number < 3 else 1
            ),
            *outcomes.shortened(own, 8 if number < 2 else 1),
            f"script {len(script)} lines {outcomes.digest(chr(10).join(script))}",
        ]
    check(outcomes.FOLDER / f"files_{kind}.txt", outcomes.records(found))


@pytest.mark.parametrize("make", FORMATTED)
def test_formatted_sources(make: texts.Maker) -> None:
    """The layout of random and damaged sources. Formatting again changes nothing, and no token."""
    found: dict[str, list[str]] = {}
    for number in range(16):
        given = make(f"format {number}")
        lines = Random(f"blanks {number}")
        given = "".join(
            f"{lines.choice(('', '  ', chr(9)))}{line.replace(', ', lines.choice((',', ' , ', ', ')))}{lines.choice(('', '   # note', ' // note', '  ', '; nop', chr(13)))}\n{lines.choice(('', '', chr(10)))}"
            for line in given.splitlines()
        )
        if number % 2:
            given = texts.damaged(given, f"damage {number}")
        laid_out = format_text(given)
        assert format_text(laid_out) == laid_out
        if number % 2 == 0:
            assert same_tokens(given, laid_out)
        found[f"{make.__name__} {number}"] = outcomes.shortened(
            laid_out.splitlines(), 14 if number < 3 else 1
        )
    check(
        outcomes.FOLDER / f"formatted_{make.__name__.removesuffix('_source')}.txt",
        outcomes.records(found),
    )
