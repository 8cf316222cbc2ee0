"""`asm -c`: relocations as in GNU as, objects that other tools read, linked files."""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from macaw.asm import elf, elf_object
from macaw.asm.assembler import assemble, assemble_object
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.disassembler import disassemble
from macaw.asm.elf_format import ElfError
from macaw.asm.program import Program
from macaw.asm.relocation_names import relocation_name
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.isa import config
from tests.asm.gnu_tools import output, tool
from tests.asm.linked_files import CLANG, LLD, assembled, compile_c, gnu_object, link, write

pytestmark = pytest.mark.once

# The ways to use a symbol of another object in code and data. GNU as takes the same lines.
LINES = """
_start: call    other
        call    t0, other
        tail    other
        la      a1, table
        la      a1, table + 8
        lla     a1, table
        lw      a2, table + 4
        lbu     a2, table
        sw      a2, table + 8, t0
        lui     a3, %hi(table)
        addi    a4, a3, %lo(table)
        lw      a4, %lo(table + 4)(a3)
        sw      a4, %lo(table - 4)(a3)
        jal     other
        jal     t0, other
        j       other
high:   auipc   a5, %pcrel_hi(table + 12)
        lw      a6, %pcrel_lo(high)(a5)
        sw      a6, %pcrel_lo(high)(a5)
        addi    a6, a5, %pcrel_lo(high)
        nop
"""
DATA = "        .word   other, table + 8, table - 4\n"
BRANCHES = (
    "        beq     a0, a1, other\n        beqz    a0, other\n        bgeu    a0, a1, other\n"
)


RESERVED = range(46, 51)  # types for which older versions of binutils have names, the psABI none


def relocations(data: bytes, name: str) -> list[tuple[int, int, object, int]]:
    """Offset, type, symbol and addend of a section's relocations.

    The symbol is a name, or the value of a local symbol.
    """
    file = ELFFile(BytesIO(data))
    table = file.get_section_by_name(f".rela{name}")
    symbols = file.get_section_by_name(".symtab")
    assert isinstance(table, RelocationSection)
    assert isinstance(symbols, SymbolTableSection)
    found = []
    for item in table.iter_relocations():
        symbol = symbols.get_symbol(item["r_info_sym"])
        local = symbol["st_info"]["bind"] == "STB_LOCAL"
        named = symbol["st_value"] if local else symbol.name
        addend = (item["r_addend"] + (1 << 31)) % (1 << 32) - (1 << 31)
        found.append((item["r_offset"], item["r_info_type"], named, addend))
    return found


def test_relocations_are_those_of_gnu_as(tmp_path: Path) -> None:
    """Linked at any addresses, the objects of Macaw and of GNU as give the same words."""
    item = assembled(f"        .core cp\n{LINES}        .data\n{DATA}")
    write(tmp_path, item)
    gnu_object(tmp_path, f"        .text\n{LINES}        .data\n{DATA}")
    for name, part, kinds in (
        (".text", ".macaw.text.cp", {17, 19, 23, 24, 25, 26, 27, 28}),
        (".data", ".macaw.data", {1}),
    ):
        found = relocations((tmp_path / "net.o").read_bytes(), part)
        assert found == relocations((tmp_path / "other.o").read_bytes(), name)
        assert {kind for _, kind, _, _ in found} == kinds
    (tmp_path / "gnu.ld").write_text("SECTIONS { .text 0x10000 : {*(.text)} .data : {*(.data)} }")
    for symbols in (("other=0x10400", "table=0x87654bcc"), ("other=0x4", "table=0x7fffff00")):
        defined = [f"--defsym={symbol}" for symbol in symbols]
        assert link(tmp_path, "ld", "--entry=0", "net.o", *defined) == ""
        defined.append("--no-warn-rwx-segments")
        assert link(tmp_path, "ld", "other.o", *defined, script="gnu.ld", name="gnu.elf") == ""
        assert contents(tmp_path / "app.elf", ".text.cp") == contents(tmp_path / "gnu.elf", ".text")
        assert contents(tmp_path / "app.elf", ".data") == contents(tmp_path / "gnu.elf", ".data")


def contents(path: Path, section: str) -> bytes:
    with path.open("rb") as stream:
        found = ELFFile(stream).get_section_by_name(section)
        assert found is not None
        return bytes(found.data())


def test_a_branch_is_left_to_the_linker() -> None:
    """A branch to another object stays a branch; GNU as replaces it by a branch around a jump."""
    item = assembled(f"        .core cp\n{BRANCHES}")
    assert [(x.kind, x.symbol, x.addend) for x in item.relocations] == [(16, "other", 0)] * 3
    words = struct.unpack("<3I", item.program.section(".text.cp").data)
    assert [word & 0xFE000F80 for word in words] == [0, 0, 0]  # the distance


def test_vector_loads_and_stores_have_low_parts() -> None:
    text = "        vld vr1, %lo(table + 16)(a0)\n        vst vr1, %lo(table)(a0)\n"
    item = assembled(f"        .core vc\n{text}")
    assert [(x.kind, x.symbol, x.addend) for x in item.relocations] == [
        (27, "table", 16),
        (28, "table", 0),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lui a0, other", "only the linker knows 'other'"),
        ("addi a0, a0, other", "only the linker knows 'other'"),
        ("lui a0, %lo(other)", "only the linker knows 'other'"),
        ("addi a0, a0, %hi(other)", "only the linker knows 'other'"),
        ("li a0, other * 2", "only the linker knows 'other'"),
        ("la a0, -other", "only the linker knows 'other'"),
        ("la a0, other + another", "only the linker knows 'other'"),
        (".half other", "only the linker knows 'other'"),
        (".dword other", "only the linker knows 'other'"),
        (".word other - .", "only the linker knows 'other'"),
        (".word %lo(other)", "only the linker knows 'other'"),
        (".word sizeof(other)", "undefined symbol 'other'"),
        (".word load_address(other)", "only the linker knows 'other'"),
        (".size other, 4", "undefined symbol 'other'"),
        (".space other", "'other' is not defined before"),
    ],
)
def test_what_no_relocation_can_do(line: str, message: str) -> None:
    with pytest.raises(AssemblyError) as error:
        assembled(f"        .core cp\n        {line}\n")
    (diagnostic,) = error.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.span.line == 2


def test_numbers_of_other_objects_can_be_subtracted_and_compared() -> None:
    item = assembled("        .core cp\n        .word (other + 12) - (other + 4)\n")
    assert item.relocations == ()
    assert item.program.section(".text.cp").data == struct.pack("<I", 8)


def test_without_c_they_are_undefined() -> None:
    from macaw.asm import assembler
    from macaw.asm.source import Source

    with pytest.raises(AssemblyError) as error:
        assembler.assemble(Source(f"        .core cp\n{LINES}", "net.s"))
    found = [(item.span.line, item.message) for item in error.value.diagnostics]
    lines = [2 + n for n, line in enumerate(LINES.splitlines()) if re.search("table|other", line)]
    assert [line for line, _ in found] == lines
    assert {message for _, message in found} == {
        "undefined symbol 'other'",
        "undefined symbol 'table'",
    }


def test_weak_symbols_are_the_linkers(tmp_path: Path) -> None:
    """A definition in another object replaces a weak definition; an undefined weak symbol is 0."""
    text = (
        "        .weak   chosen, none\n        .core   cp\n        .global _start\n"
        "_start: call    chosen\n        la      a1, chosen\n        lui     a2, %hi(none)\n"
        "        li      a7, 93\n        ecall\n"
        "chosen: li      a0, 1\n        ret\n"
    )
    write(tmp_path, assembled(text))
    symbols = output("nm", str(tmp_path / "net.o"))
    assert " W chosen\n" in symbols
    assert " w none\n" in symbols
    for source, code in (("", 1), ("        .globl chosen\nchosen: li a0, 7\n        ret\n", 7)):
        gnu_object(tmp_path, source)
        assert link(tmp_path, "ld", "net.o", "other.o") == ""
        program = elf.read((tmp_path / "app.elf").read_bytes())
        machine = Device(config.load("base"))
        machine.load(program)
        stop = machine.run(max_cycles=1000)
        assert (stop.reason, stop.exit_code) == ("exit", code)


# --- the object -------------------------------------------------------------------------

LAYER = """        .device tiny
        .input  x, int8, 16
        .output y, int32, 8
        .core   pe, row=0
        .seq    layer
          ld    activations
          ld    weights
          mac   base=0, acc=0
          st    base=0
        .endseq
w:      .sparse "w.npy"
        .list   net
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y
        .endlist
        .core   vc
turn:   addi    a0, a0, 1
        ret
        .core   cp
        .global _start
_start: call    main
        li      a7, 93
        ecall
        .data
        .global shared
shared: .word   main, shared, y
"""
MAIN = """extern int shared[3];
extern int y[8];
int zeros[100];
int ones[3] __attribute__((aligned(256))) = {1, 1, 1};
__attribute__((section(".text.vc"))) int twice(int a) { return 2 * a; }
int main(void) {
  for (int i = 0; i < 8; i++)
    y[i] = i + ones[i % 3] + zeros[i];
  return shared[1] != (int)shared || shared[0] != (int)main || shared[2] != (int)y;
}
"""


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A folder with an object that has all kinds of parts, its linker script, and its C file."""
    import numpy as np

    np.save(tmp_path / "w.npy", np.ones((8, 16), np.int8))
    (tmp_path / "net.s").write_text(LAYER)
    write(tmp_path, assembled(LAYER, tmp_path))
    (tmp_path / "main.c").write_text(MAIN)
    return tmp_path


def test_binutils_read_the_object(layer: Path) -> None:
    path = str(layer / "net.o")
    said = output("readelf", "-aW", "--debug-dump=info,decodedline,Ranges,aranges", path)
    assert "REL (Relocatable file)" in said
    text = subprocess.run(
        [tool("objdump"), "-dSr", "net.o"], cwd=layer, capture_output=True, text=True, check=True
    )
    assert text.stderr == ""
    assert "_start: call    main" in text.stdout
    assert "R_RISCV_CALL_PLT\tmain" in text.stdout
    symbols = output("nm", path)
    for line in ("D shared", "T _start", "B x", "B y", "t turn", "U main", "A macaw_layout_"):
        assert f" {line}" in symbols


def test_the_object_without_lines(layer: Path) -> None:
    item = assembled(LAYER, layer)
    assert b".debug" not in elf_object.write(item, lines=False)
    assert elf_object.write(item) == elf_object.write(assembled(LAYER, layer))


@pytest.mark.parametrize("linker", ["ld", LLD])
@pytest.mark.parametrize("compiler", ["gcc", CLANG])
def test_a_linked_file_is_a_program(layer: Path, linker: str, compiler: str) -> None:
    compile_c(layer, compiler, "main.c", "-O1", "-g")
    assert link(layer, linker, "main.o", "net.o") == ""
    program = elf.read((layer / "app.elf").read_bytes())
    alone = assembled(LAYER, layer).program
    assert program.is_linked
    assert (program.device, program.tensors) == ("tiny", alone.tensors)
    for section in alone.sections:
        found = program.section(section.name)
        assert (found.address, found.load_address, found.size, found.core, found.index) == (
            section.address, section.load_address, section.size, section.core, section.index,
        )  # fmt: skip
    cores = {item.name: item.core for item in program.sections}
    assert cores[".text.c"] == "cp"
    assert cores[".text.vc.c"] == "vc"
    assert cores[".data.c"] is None
    assert program.section(".bss.c").nobits
    assert program.symbol("zeros").size == 400
    assert not any(item.name.startswith("macaw_layout") for item in program.symbols)
    line = program.line_at(program.symbol("twice").value)
    assert line is not None
    assert (Path(line.file).name, line.line) == ("main.c", 5)
    line = program.line_at(program.entry or 0)
    assert line is not None
    assert (line.file, line.line) == ("net.s", 21)
    machine = Device(config.load("tiny"))
    machine.load(program)
    stop = machine.run(max_cycles=10_000)
    assert (stop.reason, stop.exit_code) == ("exit", 0)
    assert machine.read_tensor("y").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    again = elf.read(elf.write(program))
    assert again == program


def memory(program: Program) -> dict[int, int]:
    """The bytes by address, without zeros, that loading the program writes."""
    return {
        section.load_address + place: byte
        for section in program.sections
        for place, byte in enumerate(section.data)
        if byte
    }


def test_the_disassembly_of_a_linked_file_assembles(layer: Path) -> None:
    """The disassembly of a file linked with C assembles to the file's memory.

    No section of the C code is in external memory.
    """
    own = "        .section .data.cp\nown:    .word   5, own\n        .section .text.cp\n"
    write(layer, assembled(LAYER.replace("        .global _start\n", own, 1).replace(
        "_start: call", "        .global _start\n_start: call"), layer))  # fmt: skip
    text = MAIN.replace('__attribute__((section(".text.vc"))) ', "")
    (layer / "main.c").write_text(text)
    compile_c(layer, "gcc", "main.c", "-O1", "-g")
    assert link(layer, "ld", "main.o", "net.o") == ""
    program = elf.read((layer / "app.elf").read_bytes())
    assert any(item.name == ".data.cp" for item in program.sections)
    source = disassemble(program)
    assert source.startswith("# Linked with objects of other tools. Everything stays where it is.")
    again = assemble(Source(source, "again.s"))
    assert memory(again) == memory(program)
    assert (again.tensors, again.entry) == (program.tensors, program.entry)
    parts = [[(x.address, x.core, x.index) for x in item.parts("pe")] for item in (program, again)]
    assert parts[0] == parts[1] != []
    for name in ("main", "zeros", "shared", "twice"):
        assert again.symbol(name).value == program.symbol(name).value
    machine = Device(config.load("tiny"))
    machine.load(again)
    assert machine.run(max_cycles=10_000).exit_code == 0
    assert machine.read_tensor("y").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_the_disassembly_of_c_in_external_memory_is_for_reading(layer: Path) -> None:
    """With C in external memory, the disassembly says that the assembler gives another layout."""
    compile_c(layer, "gcc", "main.c", "-O1", "-g")
    assert link(layer, "ld", "main.o", "net.o") == ""
    program = elf.read((layer / "app.elf").read_bytes())
    code = program.section(".text.vc.c")
    assert code.address >= max(x.address + x.size for x in program.tensors)
    source = disassemble(program)
    assert (
        "This is for reading only: the assembler would give C in external memory another layout."
        in source
    )
    assert memory(assemble(Source(source, "again.s"))) != memory(program)


def test_gnu_tools_read_the_linked_file(layer: Path) -> None:
    compile_c(layer, "gcc", "main.c", "-O1", "-g")
    assert link(layer, "ld", "main.o", "net.o") == ""
    output("readelf", "-aW", "--debug-dump", str(layer / "app.elf"))
    dump = subprocess.run(
        [tool("objdump"), "-dS", "app.elf"], cwd=layer, capture_output=True, text=True, check=True
    )
    assert dump.stderr == ""
    assert "_start: call    main" in dump.stdout
    assert "y[i] = i + ones[i % 3] + zeros[i];" in dump.stdout


@pytest.mark.parametrize("linker", ["ld", LLD])
def test_gdb_knows_the_lines_of_both(layer: Path, linker: str) -> None:
    import shutil

    if shutil.which("gdb-multiarch") is None:
        pytest.skip("gdb-multiarch is not installed")
    compile_c(layer, "gcc", "main.c", "-O0", "-g")
    assert link(layer, linker, "main.o", "net.o") == ""
    asked = ["info line main.c:8", "info line net.s:21", "info line net.s:17", "list net.s:21,21"]
    done = subprocess.run(
        ["gdb-multiarch", "-nx", "-batch", *(f"-ex={x}" for x in asked), "app.elf"],
        cwd=layer, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    first, second, third, fourth = done.stdout.splitlines()
    assert re.match(r'Line 8 of "main\.c" starts at address 0x1\w+ <main\+\d+> and ends', first)
    assert second.startswith('Line 21 of "net.s" starts at address 0x10000 <_start> and ends')
    assert re.match(r'Line 17 of "net\.s" starts at address 0x8\w+ <turn> and ends', third)
    assert fourth == "21\t_start: call    main"


# --- what can go wrong with a linker ----------------------------------------------------

OTHER = "        .globl main\nmain:   li a0, 0\n        ret\n"


@pytest.mark.parametrize("linker", ["ld", LLD])
def test_a_script_of_other_sources_is_refused(layer: Path, linker: str) -> None:
    gnu_object(layer, OTHER)
    changed = LAYER.replace("addi    a0, a0, 1", "addi    a0, a0, 1\n        nop")
    (layer / "net.o").write_bytes(elf_object.write(assembled(changed, layer)))
    said = link(layer, linker, "other.o", "net.o")
    assert "the object and this script are not of the same sources: write both again" in said
    said = link(layer, linker, "other.o")
    assert "the object and this script are not of the same sources: write both again" in said


@pytest.mark.parametrize("linker", ["ld", LLD])
@pytest.mark.parametrize(
    ("section", "message"),
    [
        (".bss", "C and its stack do not fit local memory (mem.local_bytes)"),
        (
            '.external, "aw", @nobits',
            "what C puts there does not fit external memory (mem.external_bytes)",
        ),
    ],
)
def test_too_much_c_is_refused(layer: Path, linker: str, section: str, message: str) -> None:
    size = 0xFEF000 if section == ".bss" else 0x10000000
    gnu_object(layer, f"{OTHER}        .section {section}\n        .space {size}\n")
    assert message in link(layer, linker, "other.o", "net.o")


def test_another_script_is_told_when_the_file_is_read(layer: Path) -> None:
    gnu_object(layer, OTHER)
    (layer / "own.ld").write_text(
        "SECTIONS { .text 0x20000 : { *(.text) }"
        " .text.cp 0x10000 : { *(.macaw.text.cp) } .text.vc 0x80000000 : { *(.macaw.text.vc) }"
        " .data 0x90000000 : { *(.macaw.data) } .tensors : { *(.macaw.tensors) }"
        " .pe.0 0xa0000000 : { *(.macaw.pe.0) } }"
    )
    assert link(layer, "ld", "--no-warn-rwx-segments", "other.o", "net.o", script="own.ld") == ""
    with pytest.raises(ElfError, match=r"section .*, it was assembled as .*; link with the script"):
        elf.read((layer / "app.elf").read_bytes())
    (layer / "own.ld").write_text("SECTIONS { .text.cp 0x10000 : { *(.macaw.text.cp) } }")
    assert link(layer, "ld", "--no-warn-rwx-segments", "other.o", "net.o", script="own.ld") == ""
    with pytest.raises(ElfError, match="the linker has left it out; link with the script"):
        elf.read((layer / "app.elf").read_bytes())


def test_two_objects_of_macaw_are_refused(tmp_path: Path) -> None:
    write(
        tmp_path,
        assembled("        .device tiny\n        .core cp\n        .global _start\n_start: ret\n"),
    )
    other = assembled("        .device tiny\n        .data\n        .word 1\n")
    (tmp_path / "two.o").write_bytes(elf_object.write(other))
    assert link(tmp_path, "ld", "net.o", "two.o") == ""
    with pytest.raises(ElfError, match="two objects of Macaw are linked; assemble their sources"):
        elf.read((tmp_path / "app.elf").read_bytes())


def test_an_object_is_no_program(layer: Path) -> None:
    with pytest.raises(ElfError, match="a relocatable object: link it"):
        elf.read((layer / "net.o").read_bytes())


def test_an_empty_source_makes_a_script_for_c_alone(tmp_path: Path) -> None:
    write(tmp_path, assembled("        .device tiny\n"))
    gnu_object(tmp_path, f"        .globl _start\n_start: li a7, 93\n        ecall\n{OTHER}")
    assert link(tmp_path, "ld", "other.o", "net.o") == ""
    program = elf.read((tmp_path / "app.elf").read_bytes())
    assert (program.entry, program.device) == (0x10000, "tiny")


def test_a_linked_program_says_so_when_it_is_written_again(layer: Path) -> None:
    program = replace(assembled(LAYER, layer).program, is_linked=True)
    assert elf.read(elf.write(program)).is_linked
    assert not elf.read(elf.write(replace(program, is_linked=False))).is_linked


def test_an_object_has_no_entry() -> None:
    data = elf_object.write(assemble_object([Source(".core cp\nf: ret\n", "f.s")]))
    header = ELFFile(BytesIO(data)).header
    assert (header["e_type"], header["e_entry"], header["e_phnum"]) == ("ET_REL", 0, 0)


def test_relocations_have_the_names_that_readelf_prints(tmp_path: Path) -> None:
    """The type of entry number n of a section of relocations becomes n."""
    gnu_object(tmp_path, "        .data\n" + "        .word other\n" * 256)
    path = tmp_path / "other.o"
    data = bytearray(path.read_bytes())
    section = ELFFile(BytesIO(data)).get_section_by_name(".rela.data")
    assert section is not None
    for kind in range(256):
        data[section["sh_offset"] + kind * section["sh_entsize"] + 4] = kind
    path.write_bytes(data)
    printed = output("readelf", "-rW", str(path))
    names = re.findall(r"^[0-9a-f]{8} +[0-9a-f]{8} (.*?) +0", printed, re.M)
    assert len(names) == 256
    differing = {
        name: relocation_name(kind)
        for kind, name in enumerate(names)
        if name.startswith("R_RISCV_") and kind not in RESERVED and relocation_name(kind) != name
    }
    assert differing == {}
    assert sum(name.startswith("R_RISCV_") for name in names) > 50
