"""The disassembler on programs made of bytes: what it prints, and when it prints data instead."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.disassembler import DisassemblyError, disassemble
from macaw.asm.disassembly.data import chunk
from macaw.asm.program import Program, Section, Symbol, Tensor
from macaw.asm.source import Source
from macaw.isa import config, pe, registry
from tests.asm.objects import cp_program, packet, pe_program, symbol, words


def lines(program: Program) -> list[str]:
    """The disassembly without comments and empty lines."""
    found = [line for line in disassemble(program).splitlines() if line]
    return [line for line in found if not line.startswith("#")]


def test_jump_targets_get_labels_and_symbols_their_names() -> None:
    data = words(
        0x00000513,  # addi a0, zero, 0
        0x00150513,  # addi a0, a0, 1
        0xFE000EE3,  # beq zero, zero, .-4
        0x0000006F,  # jal zero, .
    )
    main = symbol("main", 0x10000, 16, shared=True)
    assert lines(cp_program(data, main)) == [
        "        .core   cp",
        "        .global main",
        "main:",
        "        li      a0, 0",
        ".L10004:",
        "        addi    a0, a0, 1",
        "        beqz    zero, .L10004",
        ".L1000c:",
        "        j       .L1000c",
    ]


def test_jumps_out_of_the_program_keep_their_address() -> None:
    data = words(0x0000006F + (8 << 20), 0xFE000EE3)  # jal zero, .+8; beq zero, zero, .-4
    assert lines(cp_program(data))[1:] == [
        ".L10000:",
        "        j       0x10008",
        "        beqz    zero, .L10000",
    ]


def test_words_that_are_no_instruction_are_data_with_the_reason() -> None:
    data = words(0xFFFFFFFF, 0x0000200F) + b"\x01\x02"
    assert lines(cp_program(data))[1:] == [
        "        .word   0xffffffff              # cp: illegal instruction: 0xffffffff",
        "        .word   0x0000200f              # cp: illegal instruction: 0x200f",
        "        .byte   0x01",
        "        .byte   0x02",
    ]


def test_sizes_and_types_are_said_only_where_they_are_not_natural() -> None:
    data = words(0x00000013, 0x00000013, 0x00000013)
    program = cp_program(
        data,
        symbol("a", 0x10000, 8),
        symbol("b", 0x10008, 99, kind="notype"),
        symbol("middle", 0x1000A, 0),
        symbol("end", 0x1000C, 0),
        symbol("far", 0x10100, 0),
    )
    assert lines(program)[1:] == [
        "        .set    far, . + 256",
        "a:",
        "        nop",
        "        nop",
        "        .type   b, notype",
        "        .size   b, 99",
        "b:",
        "        .size   middle, 0",
        "        .set    middle, . + 2",
        "        nop",
        "end:",
    ]


def test_numbers_and_names_that_the_language_does_not_take() -> None:
    symbols = (
        Symbol("N", 5, 0, None, "notype", False),
        Symbol("minus", 0xFFFFFFFF, 0, None, "notype", True),
        symbol("a b", 0x10000, 4),
        symbol("twice", 0x10000, 4),
        symbol("twice", 0x10000, 4, shared=True),
    )
    text = disassemble(cp_program(words(0x13), *symbols))
    assert "# twice.2 is called 'twice' in the file\n" in text
    assert "        .set    N, 5\n" in text
    assert "        .global minus\n        .set    minus, -1\n" in text
    assert '"a b":' in text
    assert "twice:\n        .global twice.2\ntwice.2:\n" in text


def test_a_jump_into_another_section_names_its_symbol() -> None:
    program = cp_program(words(0x0080006F))  # jal zero, .+8
    other = replace(program.sections[0], name=".text.b", address=0x10008, load_address=0x10008)
    names = (Symbol("there", 0x10008, 4, ".text.b", "notype", False),)
    program = Program(sections=(*program.sections, other), symbols=names)
    assert "        j       there" in lines(program)
    assert "        .section .text.b" in lines(program)


def test_addresses_of_two_instructions_are_told() -> None:
    data = words(
        0x00000517,  # auipc a0, 0
        0x01052583,  # lw a1, 16(a0)
        0x800005B7,  # lui a1, 0x80000
        0x00458593,  # addi a1, a1, 4
        0x00058593,  # addi a1, a1, 0: a1 holds something else by now
        0x80000637,  # lui a2, 0x80000
        0x00062603,  # lw a2, 0(a2); one can jump here
    )
    inside = symbol("value", 0x10010, 8)
    program = cp_program(data, inside, symbol("entered", 0x10018, 4))
    values = Section(".data", None, None, 0x80000000, 0x80000000, bytes(8), 8, 4, "aw")
    known = Symbol("known", 0x80000000, 8, ".data", "object", False)
    program = Program(sections=(*program.sections, values), symbols=(*program.symbols, known))
    assert lines(program)[1:11] == [
        "        auipc   a0, 0x0",
        "        lw      a1, 16(a0)              # value",
        "        lui     a1, 0x80000",
        "        addi    a1, a1, 4               # known + 4",
        "value:",
        "        mv      a1, a1",
        "        lui     a2, 0x80000",
        "entered:",
        "        lw      a2, 0(a2)",
        "        .section .data",
    ]


def test_a_device_that_cannot_be_read_is_named() -> None:
    """A damaged executable is disassembled, with a comment that its device cannot be read."""
    program = replace(cp_program(words(0x13)), device="tiny", config_toml="[[[\x1b")
    text = disassemble(program)
    assert "        .device tiny\n" in text
    (comment,) = (line for line in text.splitlines() if line.startswith("# The device"))
    assert comment.startswith("# The device of the file cannot be read: is not TOML: ")
    assert comment.isprintable()


def test_device_tensors_and_data() -> None:
    tiny = config.load("tiny").to_toml()
    program = Program(
        sections=(
            Section(".data", None, None, 0x80000000, 0x80000000, b"hi\0\0\0\0", 6, 4, "aw"),
            Section(".tensors", None, None, 0x80000040, 0x80000040, b"", 104, 64, "aw"),
        ),
        symbols=(
            Symbol("text", 0x80000000, 6, ".data", "object", False),
            Symbol("x", 0x80000040, 64, ".tensors", "object", True),
            Symbol("y", 0x80000080, 40, ".tensors", "object", True),
        ),
        tensors=(
            Tensor("x", "input", "int8", (8, 8), 0x80000040),
            Tensor("y", "output", "int32", (10,), 0x80000080),
        ),
        config_toml=tiny,
        device="tiny",
    )
    assert lines(program) == [
        "        .device tiny",
        "        .input  x, int8, 8, 8",
        "        .output y, int32, 10",
        "        .balign 4",
        "text:",
        "        .half   0x6968, 0x0000, 0x0000",
        "        .core   cp",  # without it, a source gets the default program
    ]
    own = replace(program, config_toml=tiny.replace("rows = 2", "rows = 3"))
    text = disassemble(own)
    assert text.startswith("        .device tiny\n        .setting pe.rows, 3\n")


@pytest.mark.parametrize(
    ("data", "address", "expected"),
    [
        (b"", 0, []),
        (b"hello\0", 1, ['.asciz "hello"']),
        (b'a"\\\n\tb\0', 0, ['.asciz "a\\"\\\\\\n\\tb"']),
        (b"abc\0def\0\0\0", 0, ['.asciz "abc"', '.asciz "def"', ".space 2"]),
        (b"abcd", 0, [".word 0x64636261"]),
        (b"abcd", 2, [".half 0x6261, 0x6463"]),
        (b"abcd", 1, [".byte 0x61, 0x62, 0x63, 0x64"]),
        (b"abcdef", 0, ['.ascii "abcdef"']),
        (b"abcd\0one\ntwo", 0, ['.asciz "abcd"', '.ascii "one\\n"', '.ascii "two"']),
        (b"x" * 65, 0, [f'.ascii "{"x" * 64}"', '.ascii "x"']),
        (
            b"\1" + bytes(40) + b"\2",
            0,
            [".word 0x00000001", ".space 36", ".half 0x0200"],
        ),
        (bytes(100), 3, [".byte 0x00", ".space 99"]),
        (  # after the word in which the first zeros start there are too few
            b"\1" + bytes(16) + b"\1\1\1" + bytes(20),
            0,
            [".word 0x00000001, 0x00000000, 0x00000000, 0x00000000, 0x01010100", ".space 20"],
        ),
        (bytes(15), 1, [".byte " + ", ".join(["0x00"] * 12), ".byte 0x00, 0x00, 0x00"]),
    ],
)
def test_data_directives(data: bytes, address: int, expected: list[str]) -> None:
    found = [
        re.sub(r"(\.\w+) +", r"\1 ", line).strip() for line in chunk(data, address, words=True)
    ]
    assert found == expected


# --- a pe part ---------------------------------------------------------------------------


def test_a_pe_part_is_printed_with_its_directives() -> None:
    found = lines(
        pe_program({"pipeline": 4, "activation": 1, "inner": 14, "then": 133, "shift": 3})
    )
    assert found == [
        "        .device tiny",
        "        .core   pe, row=0",
        "        .seq    layer, pipeline=4, activation=relu, shift=3",
        "        .loop   inner=14, outer=1",
        "        .then   ib=5",
        "          ld    activations, base=0",
        "          ld    weights, base=0",
        "          mac   base=0, acc=1, balance",
        "          spu   nonsf, src=1, dst=2",
        "          st    base=2",
        "        .endseq",
        "        .list   run",
        "        config  ib=4, layer",
        "        exe     ib=4, last, data=(weights unit[0x6c:0x70] sliced, activations"
        " unit[0x70:0xb0] broadcast), out=(unit[0x6c], stride=4, step=4, count=1, pes=0, type=int32)  # w, buffer",
        "        trace_begin 5",
        "        .endlist",
        "w:",
        "        .byte   0x01, 0x02, 0x03, 0x04",
        "buffer:",
        "        .space  64",
        "        .core   cp",
    ]


def test_each_name_of_a_list_and_a_sequence_is_global_once() -> None:
    program = pe_program()
    first = [each._replace(is_global=True) for each in program.symbols]
    further = [each._replace(name=f"{each.name}.same") for each in first]
    found = lines(replace(program, symbols=(*first, *further)))
    for each in (*first, *further):
        assert found.count(f"        .global {each.name}") == 1


def test_chosen_clusters_and_no_output() -> None:
    text = "\n".join(lines(pe_program(clusters=2, out={})))
    assert "activations unit[0x70:0xb0] broadcast), to=1  # w, buffer\n" in text
    assert "out=" not in text


@pytest.mark.parametrize(
    "program",
    [
        pe_program(clusters=4),  # tiny has two clusters
        pe_program(clusters=0),
        pe_program(out={"pes": 9, "count": 1}),  # it has eight
        pe_program(header={"then": 5}),
        pe_program(header={"count": 4}),  # the config's length is not the sequence's
    ],
)
def test_an_image_of_another_shape_is_data(program: Program) -> None:
    text = lines(program)
    assert not any(".list" in line or ".seq" in line for line in text)
    assert "run:" in text
    assert "layer:" in text
    count = sum(line.count("0x") for line in text if ".byte" in line)
    count += sum(int(line.split()[1]) for line in text if ".space" in line)
    assert count == program.sections[0].size


@pytest.mark.parametrize("place", [2, 3, 20, 48, 60, 84, 85, 95, 100, 121])
def test_a_changed_byte_of_lists_and_sequences_is_never_lost(place: int) -> None:
    """Any changed byte (also reserved bits or padding) changes the disassembly."""
    program = pe_program()
    section = program.sections[0]
    data = bytearray(section.data)
    data[place] ^= 0x55
    changed = replace(program, sections=(replace(section, data=bytes(data)),))
    assert lines(changed) != lines(program)


# --- --- ---------------------------------------------------------------------------------


def test_one_core_alone() -> None:
    both = Program(sections=(*cp_program(words(0x13)).sections, *pe_program().sections))
    assert "nop" in disassemble(both, "cp")
    assert ".core pe" not in disassemble(both, "cp")
    assert "nop" not in disassemble(both, "pe")
    with pytest.raises(DisassemblyError, match="no part of a core 'vc', there are cp, pe"):
        disassemble(both, "vc")


def test_the_disassembler_is_light() -> None:
    script = (
        "import sys, macaw.asm.disassembler, macaw.asm.elf\n"
        "from macaw.asm.program import Program, Section\n"
        "part = Section('.pe.0', 'pe', 0, 0x10000000, 0x80000000, bytes(8), 8, 4, 'a')\n"
        "macaw.asm.disassembler.disassemble(Program(sections=(part,)))\n"
        "macaw.asm.disassembler.disassemble(Program(sections=(part,)), raw=True)\n"
        "heavy = {'numpy', 'lark', 'prompt_toolkit', 'rich', 'click'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_bytes_after_the_end_of_a_list_are_data() -> None:
    """Bytes after the end of a list are data, even if they could be a packet."""
    data = bytes([pe.END_OF_LIST]).ljust(pe.PACKET_ALIGN, b"\0") + packet("trace_begin", g=5)
    name = registry.core("pe").section.format(0)
    section = Section(name, "pe", 0, 0x10000000, 0x80000000, data, len(data), 4, "a")
    toml = config.load("tiny").to_toml()
    found = lines(Program(sections=(section,), config_toml=toml, device="tiny"))
    assert [line.split()[0] for line in found[2:]] == [".list", ".endlist", ".byte", ".core"]


def test_bytes_after_the_last_word_of_nnp_are_data() -> None:
    program = assemble(
        Source("        .device tiny\n        .core nnp\n        end_chain\n", "p.s")
    )
    part = program.section(".nnp")
    longer = replace(part, data=part.data + b"\1\2", size=part.size + 2)
    sections = tuple(longer if item is part else item for item in program.sections)
    found = lines(replace(program, sections=sections))
    place = found.index("        end_chain")
    assert found[place + 1 : place + 3] == ["        .byte   0x01", "        .byte   0x02"]


def test_a_symbol_without_a_name_gets_one() -> None:
    section = Section(".data", None, None, 0x80000000, 0x80000000, b"\1", 1, 1, "aw")
    nameless = Symbol("", 0x80000000, 1, ".data", "object", False)
    text = disassemble(Program((section,), (nameless,)))
    assert "# _ is called '' in the file" in text
    assert assemble(Source(text, "again.s")).section(".data").data == b"\1"
