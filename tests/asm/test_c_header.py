"""macaw.h encodes Macaw's own instructions for cp and vc, and defines a program's addresses."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from macaw import api
from macaw.asm.source import Source
from macaw.errors import InputError
from macaw.isa import c_macros, codec, registry
from macaw.isa.kinds import Immediate, Register
from macaw.isa.model import Core
from macaw.isa.rows import Instruction, Operand
from tests.asm.gnu_tools import tool
from tests.asm.linked_files import CLANG, COMPILERS, compile_c

CORES = [core for core in registry.cores() if core.executable and core.base]
MACROS = {core.name: c_macros.macros(core) for core in CORES}
GENERAL = {names: number for number, names in enumerate(CORES[0].files[0].names)}
# The C variables for registers, and the registers that they are.
VALUES = {"rd": ("s2_", 18), "rs1": ("s3_", 19), "rs2": ("s4_", 20), "rs3": ("s5_", 21)}


class Call(NamedTuple):
    """A call of a macro, and the values of the operands that the call fixes."""

    core: Core
    row: Instruction
    text: str
    values: dict[str, int]


def constants(operand: Operand) -> list[int]:
    """The least and the greatest number that an operand takes; empty for a general register."""
    kind = operand.kind
    if isinstance(kind, Immediate):
        return [kind.low, kind.high]
    if isinstance(kind, Register):
        numbers = [i for i, names in enumerate(kind.names) if names and names not in GENERAL]
        return [numbers[0], numbers[-1]] if numbers else []
    return [0, (1 << operand.field.width) - 1]


def is_pair(operand: Operand) -> bool:
    return isinstance(operand.kind, Register) and len(operand.kind.stands_for(operand.kind.names.index(next(x for x in operand.kind.names if x in GENERAL)), False) or ()) > 1  # fmt: skip


def is_order(operand: Operand) -> bool:
    """Whether an operand may be a general register or a register of another kind."""
    kind = operand.kind
    general = isinstance(kind, Register) and any(names in GENERAL for names in kind.names)
    return general and bool(constants(operand))


def calls() -> list[Call]:
    """Two calls of each macro: one with the least constants, one with the greatest constants."""
    found = []
    for core in CORES:
        for row in c_macros.own(core):
            name = "macaw_" + row.mnemonic.replace(".", "_")
            either = [operand for operand in row.operands if is_order(operand)]
            found += [call(core, row, name, end, ()) for end in (0, -1)]
            for operand in either:
                found += [
                    call(core, row, f"{name}_general", end, (operand.name,)) for end in (0, -1)
                ]
    return found


def call(core: Core, row: Instruction, name: str, end: int, general: tuple[str, ...]) -> Call:
    arguments, values, written = [], {}, row.writes.split()
    result = ""
    for operand in row.operands:
        numbers = [] if operand.name in general else constants(operand)
        if numbers:
            values[operand.name] = numbers[end]
            arguments.append(str(numbers[end]))
            continue
        variable, number = VALUES[operand.name]
        if is_pair(operand):
            variable = "pair"
        elif operand.name not in written:  # the compiler chooses the register of a result
            values[operand.name] = number
        if operand.name in written:
            result = variable
            if operand.name not in row.reads.split():
                continue
        arguments.append(variable)
    text = f"{name}({', '.join(arguments)});"
    return Call(core, row, f"{result} = {text}" if result else text, values)


CALLS = calls()


def test_there_are_macros_for_all_own_instructions() -> None:
    assert {core.name: len(c_macros.own(core)) for core in CORES} == {"cp": 9, "vc": 150}
    assert len(MACROS["vc"]) == 150 + 8  # an order of pmac is in either file of registers
    calls = [re.match(r"(?:\w+_ = |pair = )?(\w+)\(", item.text) for item in CALLS]
    names = {call[1] for call in calls if call is not None}
    assert None not in calls
    assert names == {name for macros in MACROS.values() for name in macros}
    assert MACROS["cp"]["macaw_trace_begin"] == MACROS["vc"]["macaw_trace_begin"]


@pytest.mark.parametrize("compiler", ["gcc", CLANG])
def test_the_words_of_gnu_as_and_clang_are_ours(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "macaw.h").write_text(api.c_header())
    registers = "\n".join(
        f'  register int32_t {name} __asm__("{name[:-1]}") = {number};'
        for name, number in VALUES.values()
    )
    lines = "\n".join(f"  {item.text}" for item in CALLS)
    keep = ", ".join(f'"+r"({name})' for name, _ in VALUES.values())
    (tmp_path / "all.c").write_text(
        f'#include "macaw.h"\nvoid all(int64_t pair) {{\n{registers}\n'
        f'  __asm__ volatile("" : {keep});\n{lines}\n  (void)pair;\n}}\n'
    )
    compile_c(tmp_path, compiler, "all.c", "-O2")
    copy = [tool("objcopy"), "-O", "binary", "-j", ".text", "all.o", "all.bin"]
    subprocess.run(copy, cwd=tmp_path, check=True)
    opcodes = {item.row.match & 0x7F for item in CALLS}
    words = [word for (word,) in struct.iter_unpack("<I", (tmp_path / "all.bin").read_bytes())]
    found = [word for word in words if word & 0x7F in opcodes]
    assert len(found) == len(CALLS)
    for word, item in zip(found, CALLS, strict=True):
        decoded = codec.decode(item.core, word, 32)
        assert decoded.row is item.row
        chosen = {name: value for name, value in decoded.values.items() if name not in item.values}
        wanted = {**item.values, **chosen}
        orders = [x.name for x in item.row.operands if is_order(x) and "_general" in item.text]
        for name in orders:  # in a general register
            wanted[name] = 32 + wanted[name] % 32
        assert decoded.values == wanted, (item.text, hex(word))
        assert codec.encode(item.row, wanted) == word


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("macaw_vadd_b(16, 0, 0);", "rd: a constant from 0 to 15"),
        ("macaw_vslli_b(0, 0, 8);", "shamt: a constant from 0 to 7"),
        ("macaw_vld(0, 2048, 0);", "imm: a constant from -2048 to 2047"),
        ("macaw_trace_begin(32);", "g: a constant from 0 to 31"),
    ],
)
def test_the_compiler_refuses_what_does_not_fit(tmp_path: Path, line: str, text: str) -> None:
    (tmp_path / "macaw.h").write_text(api.c_header(device="tiny"))
    (tmp_path / "p.c").write_text(f'#include "macaw.h"\nvoid p(void) {{ {line} }}\n')
    command = [tool("gcc"), *COMPILERS["gcc"][1:], "-ffreestanding", "-c", "p.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode
    assert text in done.stderr


@pytest.mark.parametrize(
    ("compiler", "name", "standard"),
    [
        ("gcc", "p.c", "-std=c11"),
        ("gcc", "p.c", "-std=gnu17"),
        pytest.param("clang", "p.cpp", "-std=c++14", marks=pytest.mark.may_skip_in_ci),
    ],
)
def test_the_header_is_c_and_cpp_without_a_warning(
    tmp_path: Path, compiler: str, name: str, standard: str
) -> None:
    (tmp_path / "macaw.h").write_text(api.c_header(api.assemble_object(Source(PROGRAM))))
    text = USE.replace("_Static", "static") if name == "p.cpp" else USE
    (tmp_path / name).write_text(text)
    compile_c(tmp_path, compiler, name, standard, "-pedantic", "-Werror")


PROGRAM = """        .device tiny
        .input  x, int8, 4, 16
        .output y, float16, 8
        .output many, float32, 2, 3, 4
        .equ    HIDDEN, 5
        .equ    SHOWN, 7
        .global SHOWN
        .core   pe, row=1
        .seq    layer
          ld    activations
        .endseq
        .list   net
        config  ib=0, layer
        exe     ib=0, data=(x[0])
        .endlist
        .core   vc
turn:   ret
        .data
no.name: .word 1
table:  .word   1, 2, 3
"""
USE = """#include "macaw.h"
uint32_t use(void) {
  _Static_assert(sizeof x == 64 && sizeof y == 16 && sizeof many == 96, "shapes");
  _Static_assert(MACAW_PE(1) == 17 && MACAW_FIM(2) == 10 && MACAW_VC == 2, "cores");
  _Static_assert(MACAW_MASK(MACAW_PE(0)) == 1u << 16, "mask");
  _Static_assert(MACAW_UNIT(1, 1) == 0x10180000u && MACAW_REGISTERS(2) == 0x20002000u, "map");
  _Static_assert(sizeof(struct macaw_transfer) == 24, "transfer");
  _Static_assert(SHOWN == 7 && table_size == 12 && net_address - net_load != 0, "symbols");
  _Static_assert(x_slot >= MACAW_PE1_PART && MACAW_PE1_PART_BYTES > 16, "part");
  x[3][15] = (int8_t)macaw_csr_read(MACAW_CSR_MHARTID);
  macaw_csr_write(0x7c0, 5);
  return turn_address + table_address + (uint32_t)y[0];
}
"""


def test_the_addresses_are_those_of_the_object() -> None:
    item = api.assemble_object(Source(PROGRAM))
    text = api.c_header(item)
    found = dict(re.findall(r"^#define (\w+) (\w+)u\b", text, re.MULTILINE))
    program = item.program
    for name in ("net", "turn", "table", "layer"):
        symbol = program.symbol(name)
        assert int(found[f"{name}_address"], 0) == symbol.value
    part = program.section(".pe.1")
    net = program.symbol("net").value - part.address + part.load_address
    assert int(found["net_load"], 0) == net
    assert "turn_load" not in found
    assert int(found["x_slot"], 0) == item.slots["x", 1]
    assert "HIDDEN" not in found
    assert "no.name" not in text
    assert "extern int8_t x[4][16]; /* input, int8 */" in text
    assert "extern uint16_t y[8]; /* output, float16 */" in text
    assert f"extern const char {item.layout_symbol}[];" in text


CLASHES = """        .device tiny
        .input  float, int8, 64
        .input  x, int8, 4
        .input  x_slot, int8, 4
        .input  MACAW_CP, int8, 4
        .global int, MACAW_VC, good
        .equ    int, 5
        .equ    MACAW_VC, 9
        .equ    good, 7
        .core   cp
unsigned: nop
        .core   pe
        exe     ib=0, data=(x)
"""


def test_names_that_c_or_the_header_has_are_left_out(tmp_path: Path) -> None:
    text = api.c_header(api.assemble_object(Source(CLASHES)))
    for name in ("float", "x_slot", "MACAW_CP", "int", "MACAW_VC"):
        assert f"/* {name} is left out: it is a word of C, or a name from above. */" in text
    assert text.count("left out") == 5
    (tmp_path / "macaw.h").write_text(text)
    (tmp_path / "p.c").write_text(
        '#include "macaw.h"\n_Static_assert(good == 7 && MACAW_VC == 2, "");\n'
        "unsigned use(void) { return x_slot + unsigned_address + (unsigned)x[0]; }\n"
    )
    compile_c(tmp_path, "gcc", "p.c", "-std=c11", "-Werror")


def test_a_device_without_a_program() -> None:
    text = api.c_header(device="large")
    assert "#define MACAW_PE_ROWS 16" in text
    assert "macaw_layout" not in text
    with pytest.raises(InputError, match=r"item is a Relocatable, not 'layer\.s'"):
        api.c_header("layer.s")  # type: ignore[arg-type]  # the mistake that is tested
