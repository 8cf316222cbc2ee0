"""The assembler as a whole: several sources, devices, the line table, the default program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from macaw.asm import elf
from macaw.asm.assembler import analyse, assemble, assemble_object
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.source import Source
from macaw.isa import config

ROOT = Path(__file__).parents[2]


def errors(*texts: str, **options: object) -> list[str]:
    """Return the errors of sources as `file:line: message`."""
    sources = [Source(text, f"{number}.s") for number, text in enumerate(texts)]
    with pytest.raises(AssemblyError) as caught:
        assemble(sources, **options)  # type: ignore[arg-type]
    return [f"{x.span.file}:{x.span.line}: {x.message}" for x in caught.value.errors]


def test_files_share_what_is_global_and_nothing_else() -> None:
    first = Source(
        " .global shared, back\n .core cp\n_start: call other\nlocal: j local\nshared: ret\n"
        "1: j 1b\n .data\n .word back, local\n",
        "first.s",
    )
    second = Source(
        " .core cp\n .global other\nother: j shared\nlocal: j local\n1: j 1b\n"
        " .data\nback: .word shared\n .global back\n",
        "second.s",
    )
    program = assemble([first, second])
    text, data = program.section(".text.cp"), program.section(".data")
    assert [hex(program.symbol(name).value) for name in ("shared", "other")] == [
        "0x1000c",
        "0x10014",
    ]
    words = np.frombuffer(data.data, "<u4")
    assert words.tolist() == [0x8000_0008, 0x1_0008, 0x1_000C]
    assert text.size == 32
    assert program.source_files == ("first.s", "second.s")
    assert [symbol.name for symbol in program.symbols].count("local") == 2
    assert program.entry == 0x1_0000


def test_what_is_not_global_stays_in_its_file() -> None:
    assert errors(" .word a\nb: .word 1", "a: .word b") == [
        "0.s:1: undefined symbol 'a'",
        "1.s:1: undefined symbol 'b'",
    ]
    assert errors(".global a\na: .word 1", "a: .word 2\n.global a") == [
        "1.s:2: 'a' is defined twice"
    ]
    assert errors(".global a\na: .word 1", ".global a\n.equ a, 5") == [
        "1.s:2: 'a' is defined twice"
    ]
    assert errors(".input x, int8, 1", ".input x, int8, 1") == ["1.s:1: 'x' is defined twice"]


def test_tensors_are_shared() -> None:
    program = assemble([Source(".input x, int8, 4"), Source(".word x, sizeof(x)")])
    assert np.frombuffer(program.section(".data").data, "<u4").tolist() == [0x8000_0040, 4]


def test_parts_go_on_from_file_to_file() -> None:
    program = assemble([Source(".core cp\n nop\n"), Source(".word 7\n .core cp\n nop\n")])
    assert program.section(".text.cp").size == 8
    assert program.section(".data").data == bytes([7, 0, 0, 0])


def test_errors_come_in_the_order_of_files_and_lines() -> None:
    assert errors(".word 1/0\n .word a\n .frob", ".word b\n .word (") == [
        "0.s:1: division by zero",
        "0.s:2: undefined symbol 'a'",
        "0.s:3: unknown directive '.frob'",
        "1.s:1: undefined symbol 'b'",
        "1.s:2: the line ends where an operand should be",
    ]


def test_symbols_from_outside() -> None:
    source = Source(".byte N, M, sizeof_x\n")
    program = assemble(source, defines={"N": 5, "M": "0x10", "sizeof_x": ""})
    assert program.section(".data").data == bytes([5, 16, 1])
    message = "0.s:1: -D N=five: the value is no number"
    assert errors(".byte N", defines={"N": "five"}) == [message]
    numbers: dict[str, str | int] = {"A": "017", "B": "-010", "C": "0", "D": "00", "F": 1 << 63}
    numbers["E"] = str((1 << 64) - 1)
    program = assemble(Source(f" .dword {', '.join(numbers)}, G\n"), defines={**numbers, "G": "-1"})
    assert program.section(".data").data == b"".join(
        (value % (1 << 64)).to_bytes(8, "little") for value in (15, -8, 0, 0, 1 << 63, -1, -1)
    )
    for value in (1 << 64, str(-(1 << 63) - 1), "9" * 40):
        (found,) = errors(".dword N", defines={"N": value})
        assert found.startswith("0.s:1: -D N=")
        assert found.endswith(": the number does not fit 64 bits")
    assert errors(".byte N\n .byte 256\nN:", defines={"N": 5}) == [
        "0.s:2: 256 is out of range, -128 to 255",
        "0.s:3: 'N' is defined twice",
    ]
    with pytest.raises(AssemblyError) as caught:
        assemble(Source("N:"), defines={"N": 5})
    assert caught.value.errors[0].hint == "the first is that of -D N"


def test_the_device() -> None:
    assert assemble(Source(".word 1")).device == "base"
    tiny = assemble(Source(".device tiny\n.core pe, row=1\n.byte 1"))
    assert config.parse(tiny.config_toml, tiny.device) == config.load("tiny")
    # The caller's device takes the place of the source's, which may be any device.
    assert assemble(Source(".device tiny"), device="large").device == "large"
    assert assemble(Source(".device tiny"), device=config.load("base")).device == "base"
    assert errors(".device none", device="large")[0].startswith("0.s:1: no device is called 'none'")
    assert errors(".core pe, row=2", device="tiny") == ["0.s:1: row: 2 is out of range, 0 to 1"]
    with pytest.raises(config.ConfigError):
        assemble(Source(".word 1"), device="none")


def test_memories_that_are_too_small() -> None:
    small = config.load("tiny").changed({"mem.local_bytes": 131072, "mem.external_bytes": 1 << 20})
    message = (
        "0.s:1: the parts in local memory end at 0x20004, the memory at 0x20000 (mem.local_bytes)"
    )
    assert errors(".core cp\n .space 0x10004", device=small) == [message]
    assert assemble(Source(".core cp\n .space 0x10000"), device=small).sections
    (found,) = errors(".space 0x80000\n.section .rodata\n .space 0x80001", device=small)
    assert found.startswith("0.s:1: the program takes 1048577 bytes of external memory")
    (found,) = errors(".space 0x100001", device=small)
    assert found == "0.s:1: .data grows to 1048577 bytes, external memory has 1048576"


def test_a_tensor_that_fits_no_unit() -> None:
    text = ".device tiny\n.input x, int8, 1000000\n.core pe\n exe ib=0, data=x"
    (found,) = errors(text)
    assert found.startswith("0.s:4: 'x' of 1000000 bytes does not fit half of a unit")


def test_the_line_table_leads_from_every_instruction_to_its_line() -> None:
    text = (
        ".device tiny\n.core cp\n nop; nop\nl: la a0, l\n .word 1\n ret\n"
        ".core pe\n .seq s\n  mac\n  st\n .endseq\n config 0, s\n exe 0\n"
    )
    program = assemble(Source(text, "a.s"))
    found = {line.address: (line.line, line.column) for line in program.lines}
    assert found == {
        0x1_0000: (3, 2),
        0x1_0004: (3, 7),
        0x1_0008: (4, 4),
        0x1_000C: (4, 4),
        0x1_0010: (5, 2),  # data of a core may be run as code, or as a packet
        0x1_0014: (6, 2),
        0x1000_0000: (12, 2),
        0x1000_0014: (13, 2),
        0x1000_0032: (8, 2),  # the header of the sequence
        0x1000_0042: (9, 3),
        0x1000_0044: (10, 3),
    }
    assert {line.file for line in program.lines} == {"a.s"}


def test_the_entry() -> None:
    assert assemble(Source(".core cp\n nop\n_start: nop")).entry == 0x1_0004
    assert assemble(Source(".core cp\n nop\nstart: nop")).entry == 0x1_0000
    assert assemble(Source("_start: .word 1\n.core cp\n nop")).entry == 0x1_0000
    assert assemble(Source(".core cp")).entry is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.s").write_bytes(b".byte 1 # \xe9\n")
    (tmp_path / "latin2.s").write_bytes("\ufeff.byte 1\n.byte 2 # \xe4".encode() + b"\xe9\n")
    (tmp_path / "app.elf").write_bytes(elf.write(assemble(Source(" .byte 1\n"))))
    (tmp_path / "good.s").write_text("\ufeff.byte 2\r\n.byte 256\r\n", "utf-8")
    with pytest.raises(AssemblyError) as caught:
        assemble(
            [
                tmp_path / "none.s",
                tmp_path / "latin.s",
                tmp_path / "latin2.s",
                tmp_path / "app.elf",
                str(tmp_path),
                tmp_path / "good.s",
            ]
        )
    found = {
        Path(x.span.file).name: (x.span.line, x.span.column, x.message) for x in caught.value.errors
    }
    assert found == {
        "none.s": (1, 1, "cannot read the file: No such file or directory"),
        "latin.s": (1, 11, "byte 10 is not UTF-8 text"),
        "latin2.s": (2, 12, "byte 23 is not UTF-8 text"),
        "app.elf": (1, 1, "the file is an ELF file, no source text"),
        tmp_path.name: (1, 1, "cannot read the file: Is a directory"),
        "good.s": (2, 7, "256 is out of range, -128 to 255"),
    }


def test_the_same_source_gives_the_same_bytes() -> None:
    path = ROOT / "tests/asm/ok/pe_segments.s"
    assert elf.write(assemble(path)) == elf.write(assemble(str(path)))


def test_a_matrix_in_rounds_over_two_rows_has_its_places() -> None:
    path = ROOT / "tests/asm/ok/sparse.s"
    program = assemble(path)
    matrix = np.load(path.parent / "sparse.npy")
    assert program.symbol("a").size == 2 * len(matrix) + 3 * np.count_nonzero(matrix)


def test_the_assembler_needs_no_numpy() -> None:
    code = (
        "import sys; from macaw.asm.assembler import assemble; assemble('tests/asm/ok/layer.s');"
        "assert 'numpy' not in sys.modules; assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_statements_before_the_first_core_need_the_option_gnu() -> None:
    """Without the option, a statement before the first `.core` is an error, in objects as well."""
    source = Source("nop\n.core vc\nnop\n", "a.s")
    for make in (assemble, assemble_object):
        assert make([source], gnu=True) is not None
        with pytest.raises(AssemblyError, match="'nop' is in no part"):
            make([source])
    assert len(analyse([source]).state.report.diagnostics()) == 1


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("/*\n add some numbers\n*/\n .byte 1\n", ".data"),
        (" .byte 1  # the sum: add x\n", ".data"),
        (" .byte 1  // the sum; add x\n", ".data"),
        (' .ascii "say: add"\n', ".data"),
        ("/* code */ nop\n", ".text.cp"),
        ("/*\n.core vc\n*/\n nop\n", ".text.cp"),
        ("/* code */ .core vc\n nop\n", ".text.vc"),
        (" .byte ':'; nop\n", ".text.cp"),
        ("\f nop\n", ".text.cp"),
    ],
)
def test_comments_and_strings_are_no_code(text: str, section: str) -> None:
    """They do not decide whether a source without `.core` is code for cp."""
    sections = {item.name for item in assemble(Source(text, "a.s")).sections}
    assert section in sections
    assert not {".data", ".text.vc"} & (sections - {section})
