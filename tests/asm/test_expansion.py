"""Expansion as a whole: nested calls in diagnostics, limits, the line table, lifetime of macros."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import text_stack
from macaw.asm.arguments import OperandText
from macaw.asm.assembler import analyse, assemble
from macaw.asm.diagnostics import AssemblyError, render, to_json
from macaw.asm.source import Source
from tests.asm import gnu
from tests.asm.corpus import EXPANDING_DIRECTIVE, VALID_SOURCES, source_of
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once

MACRO = "        .macro add_to r, n\n        addi \\r, \\r, \\n\n        .endm\n"


def wrong(text: str, folder: Path | None = None) -> AssemblyError:
    """The errors of a source, at least one."""
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text, "a.s", folder))
    return caught.value


# --- diagnostics ---


def test_an_error_stands_in_the_body_and_is_followed_by_the_calls() -> None:
    error = wrong(
        f"        .core cp\n{MACRO}        .macro twice x\n        add_to a0, \\x\n        .endm\n"
        "        .rept 2\n        twice 5000\n        .endr\n"
    )
    assert render(error.diagnostics) == (
        "a.s:3:22: error: imm: 5000 is out of range, -2048 to 2047\n"
        "            addi \\r, \\r, \\n\n"
        "                         ^^\n"
        "    hint: the same in 1 more expansion\n"
        "a.s:6:9: in expansion of macro 'add_to'\n"
        "a.s:9:9: in expansion of macro 'twice'\n"
        "a.s:8:9: in the repetition of .rept\n"
    )
    (first,) = json.loads(to_json(error.diagnostics))
    assert [(link["what"], link["line"]) for link in first["chain"]] == [
        ("in expansion of macro 'add_to'", 6),
        ("in expansion of macro 'twice'", 9),
        ("in the repetition of .rept", 8),
    ]


def test_an_error_of_an_included_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.inc").write_text("        nop\n        addi a0, a0, q\n")
    text = '        .core cp\n        .include "sub/b.inc"\n'
    (item,) = wrong(text, tmp_path).diagnostics
    assert item.span.file == str(tmp_path / "sub" / "b.inc")
    assert (item.span.line, item.source) == (2, "        addi a0, a0, q")
    assert [(link.what, link.span.file, link.span.line) for link in item.chain] == [
        ("included from here", "a.s", 2)
    ]


def test_places_in_a_macro_that_a_macro_has_made() -> None:
    error = wrong(
        "        .core cp\n        .macro make name, register\n        .macro \\name n\n"
        "        addi \\register, \\register, \\n\n        .endm\n        .endm\n"
        "        make inc, a0\n        inc 4096\n"
    )
    assert render(error.diagnostics).splitlines() == [
        "a.s:4:36: error: imm: 4096 is out of range, -2048 to 2047",
        "            addi \\register, \\register, \\n",
        "                                       ^^",
        "a.s:8:9: in expansion of macro 'inc'",
    ]


# Junk that is inserted into a line of the corpus; each macro makes something else of it.
JUNK = (" )(", ",,", " @", ' "x', " \\x")
PLACES = [
    (path, match.end(), junk)
    for path in VALID_SOURCES
    if EXPANDING_DIRECTIVE.search(path.read_text("utf-8"))
    for match in re.finditer(r"^ +\.?\w[^#\n]*(?=\n)", path.read_text("utf-8"), re.MULTILINE)
    for junk in JUNK
]


@fuzz
@given(st.sampled_from(PLACES))
def test_a_broken_line_never_breaks_the_run(case: tuple[Path, int, str]) -> None:
    path, place, junk = case
    text = source_of(path).text
    last = text.count("\n") + 1
    try:
        assemble(Source(text[:place] + junk + text[place:], "broken.s", path.parent))
    except AssemblyError as error:
        for item in error.diagnostics:
            spans = [item.span, *(link.span for link in item.chain)]
            assert spans[-1].file == "broken.s"
            assert all(1 <= span.line <= last for span in spans if span.file == "broken.s")
            assert item.source or item.span.file != "broken.s"


# --- bounds ---

BOMBS = {
    "recursion": ".macro m\nnop\nm\n.endm\nm\n",
    "two that use each other": ".macro a\nb\n.endm\n.macro b\na\n.endm\na\n",
    "repetition": ".rept 4000000000\nnop\n.endr\n",
    "repetition of nothing": ".rept 4000000000\n.endr\n",
    "repetition without an exit": ".rept 4000000000\n.if 0\n.exitm\n.endif\n.endr\n",
    "repetitions": ".rept 100000\n.rept 100000\n.rept 100000\nnop\n.endr\n.endr\n.endr\n",
    "doubling": "".join(f".macro m{i + 1}\nm{i}\nm{i}\n.endm\n" for i in range(40))
    + ".macro m0\nnop\n.endm\nm40\n",
    "argument": ".macro m x\nm \\x\\x\n.endm\nm ab\n",
    "quoted argument": '.macro m x\nm "\\x,\\x"\n.endm\nm ab\n',
    "long argument": ".macro m x\n" + "\\x" * 30_000 + "\n.endm\nm " + "a" * 30_000 + "\n",
    "definitions": ".macro m n\n.macro m\\n\\n\nm \\n\\n\n.endm\nm\\n\\n\n.endm\nm 1\n",
    "values": ".irp x, 0, 1\n" * 60 + "nop\n" + ".endr\n" * 60,
    "itself": '.include "a.inc"\n',
    "in a repetition": '.rept 100000\n.include "b.inc"\n.endr\n',
    "in a macro": '.macro m\n.include "a.inc"\nm\n.endm\nm\n',
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_bombs_end(bomb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources that expand without end give an error with a place, and take little memory.

    The limits are smaller than the real ones, so that the test is short.
    """
    monkeypatch.setattr(text_stack, "MAX_LINES", 8_000)
    monkeypatch.setattr(text_stack, "MAX_CHARACTERS", 1 << 19)
    (tmp_path / "a.inc").write_text('nop\n.include "a.inc"\n')
    (tmp_path / "b.inc").write_text("nop\n" * 1000)
    tracemalloc.start()
    try:
        text = f".core cp\n{bomb}addi a0, a0, 4096\n"
        if "of nothing" in bomb or bomb == BOMBS["repetition of nothing"]:
            assert "4096" in wrong(text).errors[0].message
            return
        error = wrong(text, tmp_path)
    finally:
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 32 << 20
    messages = [item.message for item in error.errors]
    said = re.compile(r"more than|too much")
    assert [bool(said.search(message)) for message in messages[:-1]] == [True] * (len(messages) - 1)
    assert len(messages) == 2
    assert "4096" in messages[-1], "what follows is read"
    assert all(len(item.chain) <= 9 for item in error.errors)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["recursion", "repetition", "argument", "long argument", "itself"])
def test_bombs_at_the_real_bounds(name: str, tmp_path: Path) -> None:
    """With the real limits, a source that expands without end gives an error within 400 MB."""
    (tmp_path / "a.inc").write_text('nop\n.include "a.inc"\n')
    (tmp_path / "a.s").write_text(f".core cp\n{BOMBS[name]}")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    command = [sys.executable, "-m", "macaw", "asm", "a.s", "-o", "a.elf"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited)
    assert done.returncode == 2
    assert re.search(r"^(a\.s|a\.inc):\d+:\d+: error: ", done.stderr, re.MULTILINE), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "body",
    [
        ".rept 50\n.endr\n",
        ".irp x, 1, 2\n.endr\n",
        ".if 0\n.endif\n",
        "nothing\n",
        ".irp y, 1\n.byte \\y\n.endr\n",
        "nothing\nno instruction\n",
    ],
)
def test_what_costs_time_counts(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit also counts empty rounds, calls of empty macros, directives and errors."""
    monkeypatch.setattr(text_stack, "MAX_LINES", 3000)
    macro = ".macro nothing\n.endm\n"
    error = wrong(f".core cp\n{macro}.rept 1000\n{body}.endr\n addi a0, a0, 4096\n")
    assert "more than 3000 lines" in error.errors[-2].message
    assert "4096" in error.errors[-1].message


@pytest.mark.parametrize("most", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_rounds_of_a_wrong_line_count_more(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert text_stack.MAX_LINES == 1_000_000
    monkeypatch.setattr(text_stack, "MAX_LINES", most)
    begin = time.perf_counter()
    error = wrong(f".core cp\n.rept {text_stack.MAX_LINES}\nno instruction\n.endr\n")
    first, second = error.errors
    assert first.message == "cp has no instruction 'no'"
    assert f"more than {most} lines" in second.message
    assert time.perf_counter() - begin < 60


def test_a_repetition_of_statements_has_all_the_lines() -> None:
    program = assemble(Source(f".rept {text_stack.MAX_LINES}\n.byte 1\n.endr\n"))
    assert len(program.section(".data").data) == text_stack.MAX_LINES
    text = f".rept {text_stack.MAX_LINES + 1}\n.byte 1\n.endr\n"
    assert "1000001 times a line is too much" in str(wrong(text))


BODIES = [
    "addi a0, a0, 1",
    "nop; nop",
    "1: bnez a0, 1b",
    "j 1f\n1:",
    "beqz a0, end",
    ".byte 1",
    ".half 0x1234, -1",
    ".word end",
    ".word .",
    ".set n, n + 1",
    ".byte n & 255",
    ".balign 4",
    "li a0, 0x12345",
    "wrong a0",
    "addi a0, a0, 5000 # far",
]


@fuzz
@given(st.lists(st.sampled_from(BODIES), min_size=1, max_size=4), st.integers(0, 40))
def test_a_repetition_is_its_rounds_one_after_another(body: list[str], count: int) -> None:
    """A repetition gives the same bytes, symbols and errors as its lines written `count` times."""
    before, text = ".core cp\n.set n, 3\n", "\n".join(body) + "\n"
    repeated = f"{before}.rept {count}\n{text}.endr\nend: .balign 4\n nop\n"
    written = f"{before}{text * count}end: .balign 4\n nop\n"
    try:
        wanted = assemble(Source(written, "a.s"))
    except AssemblyError as error:
        found = wrong(repeated).errors
        said = {item.message for item in error.errors}
        assert {item.message for item in found} <= said  # of a line the first one alone
        return
    program = assemble(Source(repeated, "a.s"))
    assert program.sections == wanted.sections
    rows, offset = len(text.split("\n")) - 1, before.count("\n")
    lines = [
        (row.address, offset + 2 + (row.line - offset - 1) % rows)
        for row in wanted.lines
        if row.line <= offset + rows * count
    ]
    last = max((address for address, _line in lines), default=-1)
    assert [(row.address, row.line) for row in program.lines if row.address <= last] == lines


def test_a_repetition_is_not_made_before_it_is_read() -> None:
    body = "        .byte 1\n" * 50 + "        .if n == 3\n        .exitm\n        .endif\n"
    text = f"n = 0\n        .rept 1000000000\n{body}n = n + 1\n        .endr\n"
    tracemalloc.start()
    program = assemble(Source(text))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(program.section(".data").data) == 200
    assert most < 16 << 20


def test_the_bounds_are_those_of_the_manual() -> None:
    text = (Path(__file__).parents[2] / "docs/language.md").read_text("utf-8")
    manual = " ".join(text.split())
    for bound in (text_stack.MAX_LINES, text_stack.MAX_CHARACTERS, text_stack.MAX_LINE):
        assert f"{bound:,}" in manual
    assert (
        f"{text_stack.MAX_DEPTH} nested expansions, {text_stack.MAX_DEPTH} nested includes"
        in manual
    )


def test_depth_is_that_of_gnu_as() -> None:
    """100 nested calls are allowed, 101 are an error, as in GNU as (max-macro-nest)."""
    text = "n = 0\n.macro m\nn = n + 1\n.if n < {}\nm\n.endif\n.endm\nm\n.byte n\n"
    assert assemble(Source(text.format(100))).section(".data").data == bytes([100])
    assert "more than 100 expansions" in str(wrong(text.format(101)))


# --- the line table ---


@pytest.mark.skipif(gnu.tools_missing(), reason="no GNU as here to ask for its lines")
@pytest.mark.may_skip_in_ci  # .ci/run installs it
def test_lines_are_those_of_gnu_as(tmp_path: Path) -> None:
    """A macro's bytes have the line of the outermost call, a repetition's the line in its body."""
    (tmp_path / "b.inc").write_text("nop\nload 3\n.rept 2\nnop\n.endr\n")
    text = (
        ".macro load n\nli a0, \\n\nnop\n.endm\n.macro outer\nload 1\n.rept 2\nnop\n.endr\n.endm\n"
        "nop\nload 1\n.rept 2\naddi a0, a0, 1\nload 2\n.endr\n"
        ".irp x, 1, 2\naddi a0, a0, \\x\naddi a1, a1, \\x\n.endr\nouter\n"
        '.irpc c, 12\n.rept 2\nli a0, \\c\n.endr\n.endr\n.include "b.inc"\nnop\n'
    )
    (tmp_path / "a.s").write_text(text)
    run = ["riscv64-unknown-elf-as", "-g", "-march=rv32im", "-mabi=ilp32", "-mno-relax"]
    subprocess.run([*run, "a.s", "-o", "a.o"], cwd=tmp_path, check=True)
    dump = ["riscv64-unknown-elf-objdump", "--dwarf=decodedline", "a.o"]
    shown = subprocess.run(dump, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^(\S+) +(\d+) +(0x[\da-f]+|0)\s", shown, re.MULTILINE)
    theirs = {int(address, 16): (file, int(line)) for file, line, address in rows}
    # Macaw's file has one line more, `.core cp`; here it is on the first line.
    program = assemble(Source(".core cp; " + text, "a.s", tmp_path))
    code = program.section(".text.cp")
    last: tuple[str, int] | None = None
    for offset in range(0, code.size, 4):
        last = theirs.get(offset, last)
        line = program.line_at(code.address + offset)
        assert line is not None
        assert (Path(line.file).name, line.line) == last, offset


# --- what a run knows ---


def test_macros_keep_their_places() -> None:
    text = f".core cp\n{MACRO}        .purgem add_to\n{MACRO}"
    found = [
        (macro.name, macro.span.line, macro.span.column)
        for macro in analyse([Source(text)]).state.macros
    ]
    assert found == [("add_to", 2, 16), ("add_to", 6, 16)]
    (macro, _again) = analyse([Source(text)]).state.macros
    assert [str(parameter) for parameter in macro.parameters] == ["r", "n"]
    assert macro.syntax == "add_to r, n"


def test_included_files_are_files_that_were_read(tmp_path: Path) -> None:
    (tmp_path / "b.inc").write_text("        .byte 1\n")
    (tmp_path / "c.bin").write_bytes(b"ab")
    path = tmp_path / "a.s"
    path.write_text('        .include "b.inc"\n        .incbin "c.bin"\n')
    program = assemble(path)
    assert program.source_files == (str(path),)
    assert [Path(name).name for name in program.read_files] == ["a.s", "b.inc", "c.bin"]


def test_names_of_included_files_go_from_the_source_s_folder_or_a_search_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "main" / "sub").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "main" / "sub" / "b.inc").write_text('        .include "c.inc"\n')
    (tmp_path / "main" / "sub" / "c.inc").write_text("        .byte 1\n")
    (tmp_path / "other" / "c.inc").write_text("        .byte 2\n")
    path = tmp_path / "main" / "a.s"
    path.write_text('        .include "sub/b.inc"\n')
    assert assemble(path, include_dirs=[tmp_path / "other"]).section(".data").data == b"\2"
    with pytest.raises(AssemblyError, match=r"there is no file 'c\.inc'"):
        assemble(path)


def test_defines_are_symbols_for_conditionals() -> None:
    text = ".ifdef FAST\n.byte 1\n.if FAST > 2\n.byte 2\n.endif\n.else\n.byte 3\n.endif\n"
    for defines, data in (({"FAST": 3}, b"\1\2"), ({"FAST": "1"}, b"\1"), ({}, b"\3")):
        assert assemble(Source(text), defines=defines).section(".data").data == data


def test_macros_and_symbols_of_conditionals_are_those_of_one_source() -> None:
    first = Source(".global shared\nshared = 1\n.macro add a, b\n.byte 1\n.endm\nadd\n", "a.s")
    second = Source(
        ".ifdef shared\n.byte 2\n.endif\n.byte shared\n.core cp\nadd a0, a0, a0\n", "b.s"
    )
    program = assemble([first, second])
    assert program.section(".data").data == b"\1\1"
    assert program.section(".text.cp").data == bytes.fromhex("3305a500")


def test_calls_and_numbers_start_anew_in_each_source() -> None:
    text = ".macro m\n.byte \\@\n.endm\nm\nm\n"
    assert assemble([Source(text, "a.s"), Source(text, "b.s")]).section(".data").data == b"\0\1\0\1"


def test_a_macro_s_name_in_any_case_hides_a_mnemonic() -> None:
    """A macro hides a mnemonic that differs in case, on the fast path too, until .purgem."""
    text = (
        ".core cp\nadd a0, a0, a0\n.macro Add a:vararg\nnop\n.endm\n"
        + "add a0, a0, a0\nADD 1\n" * 3
    )
    program = assemble(Source(text + ".purgem ADD\nadd a0, a0, a0\n"))
    add, nop = "3305a500", "13000000"
    assert program.section(".text.cp").data.hex() == add + 6 * nop + add


@given(st.text("ab1 \t,=()[]'\"\\+-.:~%é", max_size=20))
def test_what_is_squeezed_keeps_its_places(text: str) -> None:
    squeezed = OperandText(text, 5)
    for position, char in enumerate(squeezed.text):
        start, end = squeezed.span(position, position + 1)
        assert 5 <= start < end <= len(text) + 6
        if char in "ab()[]+-:~%é" and "'" not in text:
            assert text[start - 5] == char


def test_a_quote_in_a_string_begins_no_character() -> None:
    """A `'` in a string begins no character constant, so parameters after it are replaced."""
    text = """
        .macro  m name
        .ascii  "it's \\name, '\\name'"
        .endm
        .core cp
        .data
        m abc
"""
    program = assemble(Source(text, "t.s"))
    assert program.section(".data").data == b"it's abc, 'abc'"
