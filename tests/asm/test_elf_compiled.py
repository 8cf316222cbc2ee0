"""Executables of other tools: Macaw reads those that gcc makes for cp, and refuses the rest."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from macaw.api import configuration
from macaw.asm import elf
from macaw.asm.elf_format import (
    FILE_HEADER,
    SECTION_HEADER,
    SEGMENT,
    SHT_SYMTAB,
    SYMBOL,
    FileHeader,
    SectionHeader,
    Segment,
)
from macaw.asm.elf_segments import with_bare
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.faults import DeviceError
from tests.asm.elf_file import refused
from tests.asm.gnu_tools import tool

ROOT = Path(__file__).parents[2]
SOURCE = """
static const char text[] = "hello";
int table[4] = {1, 2, 3, 4};
int zeros[100];
static long call(long number, long a, long b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  register long a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
void _start(void) {
  zeros[3] = table[2];
  call(64, 1, (long)text, sizeof text);
  call(93, zeros[3], 0, 0);
}
"""


def compiled(folder: Path, *options: str) -> bytes:
    source, target = folder / "program.c", folder / "program.elf"
    source.write_text(SOURCE)
    subprocess.run(
        [
            tool("gcc"),
            "-nostdlib",
            "-ffreestanding",
            "-O1",
            *options,
            str(source),
            "-o",
            str(target),
        ],
        check=True,
        capture_output=True,
    )
    return target.read_bytes()


RV32 = ("-march=rv32im_zicsr", "-mabi=ilp32", "-static")


def memory(program: Program) -> dict[int, int]:
    """The bytes by address that the loader writes, without zeros."""
    return {
        section.load_address + place: byte
        for section in program.sections
        for place, byte in enumerate(section.data)
        if byte
    }


def test_a_compiled_c_program_is_read(tmp_path: Path) -> None:
    data = compiled(tmp_path, *RV32)
    program = elf.read(data)
    assert (program.note_version, program.device, program.tensors) == (0, "", ())
    start = program.symbol("_start")
    assert (start.value, start.kind, start.is_global) == (program.entry, "func", True)
    code = program.section_at(start.value)
    assert code is not None
    assert (code.name, code.core, code.flags) == (".text", "cp", "ax")
    table = program.symbol("table")
    section = program.section(table.section or "")
    place = table.value - section.address
    assert section.data[place : place + 16] == struct.pack("<4i", 1, 2, 3, 4)
    zeros = program.symbol("zeros")
    assert zeros.size == 400
    assert program.section(zeros.section or "").nobits
    assert not any(symbol.name.startswith("$") for symbol in program.symbols)


def test_a_foreign_executable_is_written_with_our_note() -> None:
    """A foreign executable, read and written, is the same program with a note of version 2.

    See F34.
    """
    program = elf.read((ROOT / "tests" / "emu" / "c" / "tour.elf").read_bytes())
    assert program.note_version == 0
    again = elf.read(elf.write(program))
    assert again == replace(program, note_version=2)


def test_bytes_that_no_section_names_are_loaded_too(tmp_path: Path) -> None:
    data = compiled(tmp_path, *RV32)
    whole = elf.read(data)
    header = FileHeader(*FILE_HEADER.unpack_from(data))
    stripped = header._replace(sections_at=0, sections=0, names=0)
    bare = elf.read(FILE_HEADER.pack(*stripped) + data[FILE_HEADER.size :])
    assert bare.symbols == ()
    assert bare.entry == whole.entry
    assert all(section.name.startswith(".segment.") for section in bare.sections)
    assert {section.core for section in bare.sections if section.flags == "ax"} == {"cp"}
    # The linker puts the file's own headers into the first segment: they are memory as well.
    # We have just changed four of their members.
    changed = range(0x10000, 0x10034)
    assert {k: v for k, v in memory(bare).items() if k not in changed} == {
        k: v for k, v in memory(whole).items() if k not in changed
    }
    segments = [Segment(*SEGMENT.unpack_from(data, 52 + 32 * i)) for i in range(header.segments)]
    wanted = {
        segment.load_address + place: data[segment.offset + place]
        for segment in segments
        if segment.kind == 1
        for place in range(segment.file_size)
        if data[segment.offset + place]
    }
    assert memory(whole) == wanted


def test_headers_below_memory_do_not_fit_and_ld_can_omit_them(tmp_path: Path) -> None:
    """The advice of docs/c.md."""
    options = (*RV32, "-Wl,-Ttext=0x80000000,-Tdata=0x80002000")
    message = "section .segment.1.7ffff000 of 4096 bytes at 0x7ffff000: the device has no memory"
    device = Device(configuration("base"))
    with pytest.raises(DeviceError, match=message):
        device.load(elf.read(compiled(tmp_path, *options)))
    device.load(elf.read(compiled(tmp_path, *options, "-Wl,-n")))


def test_a_segment_without_bytes_in_the_file_is_loaded_too() -> None:
    """A file without sections may have a segment that is zeros alone."""
    zeros = Segment(1, 0x100, 0x20000, 0x20000, 0, 64, 6, 4)
    ((number, section),) = with_bare(bytes(0x100), {}, (zeros,)).items()
    assert number < 0
    assert (section.name, section.address, section.size) == (".segment.0.20000", 0x20000, 64)
    assert (section.data, section.flags) == (b"", "aw")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("-march=rv64im_zicsr", "-mabi=lp64"), "a 64-bit ELF file"),
        (("-march=rv32imc_zicsr", "-mabi=ilp32"), "compressed instructions.*-march=rv32im_zicsr"),
        (("-march=rv32imf_zicsr", "-mabi=ilp32f"), "floating-point ABI.*-mabi=ilp32"),
        ((*RV32, "-c"), "a relocatable object: link it"),
        (("-march=rv32im_zicsr", "-mabi=ilp32", "-mbig-endian"), "the file is big-endian"),
    ],
)
def test_other_executables_are_refused(
    tmp_path: Path, options: tuple[str, ...], match: str
) -> None:
    refused(compiled(tmp_path, *options), match)


def test_symbols_of_unknown_kinds_and_names_are_refused(tmp_path: Path) -> None:
    data = compiled(tmp_path, *RV32)
    refused(data.replace(b"\0zeros\0", b"\0ze\nos\0"), r"symbol \d+ is called 'ze\\nos'")
    header = FileHeader(*FILE_HEADER.unpack_from(data))
    at = [header.sections_at + n * SECTION_HEADER.size for n in range(header.sections)]
    tables = [SectionHeader(*SECTION_HEADER.unpack_from(data, place)) for place in at]
    (table,) = (row for row in tables if row.kind == SHT_SYMTAB)
    names = data[tables[table.link].offset :]
    for place in range(table.offset, table.offset + table.size, SYMBOL.size):
        (name,) = struct.unpack_from("<I", data, place)
        if names[name:].startswith(b"zeros\0"):
            break
    for info, message in ((0x1B, "binding 1 and type 11"), (0x31, "binding 3 and type 1")):
        patched = data[: place + 12] + bytes([info]) + data[place + 13 :]
        refused(patched, rf"symbol \d+ \(zeros\): {message} are not known")
