"""Statements that are split without the grammar equal the grammar's, places included."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.sources import assembly
from macaw.asm import grammar, simple_statement
from macaw.asm.source import SourceText, logical_lines
from macaw.asm.syntax import Mistake
from tests.fuzzing import EXAMPLES, fuzz

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CORPUS = sorted(path for name in ("ok", "err", "gnu_sources") for path in (HERE / name).glob("*.s"))


def taken(text: str) -> bool:
    """Whether the line is split without the grammar; if so, assert that the grammar agrees."""
    found = simple_statement.split(text)
    if found is None:
        return False
    assert repr(found) == repr(grammar.parse(text)), text
    return True


def lines_of(text: str) -> list[str]:
    return [line.text for line in logical_lines(SourceText(text, ""), lambda _offset: None)]


@pytest.mark.few(150)
@pytest.mark.once
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus(path: Path) -> None:
    for text in lines_of(path.read_text("utf-8")):
        taken(text)


def test_lines_of_programs_are_taken() -> None:
    for text in lines_of(assembly(500)):
        assert taken(text), text


@pytest.mark.parametrize(
    "text",
    [
        "", "nop", "a: b: 1: .L2: 0: nop", "7:", "x:", "lw a0, -4(sp)", "j 1b", "j 22f", ".core pe , row = 0",
        "a0 a1", ".word . , x - .+4, -1 + y, x.-.-.", "lui a0, %hi(a - .)", "lw a0, %lo(a+4)(a1)", "exe ib=0, last, out=y", '.asciz "a, b" , "é\t"', "addi\ta0 ,a1,\t-0x7ff", ".word 0, 00x", ".word 0X1f,-1", "lw a0, (sp)", "sizeof (x)", "weights w[0]", ".word a b", 'w: .sparse "w.npy"[0:8], x',
        "exe ib=0, last, data=(x, w[0], w[:, 1+x:2 ,1 :]), out=(y, stride=4, (z))", "ld psums b1[ -1 ] by_pe ,(x+1)",
    ],
)  # fmt: skip
def test_taken(text: str) -> None:
    assert taken(text) or text == ".word 0, 00x"


@pytest.mark.parametrize(
    "text",
    [
        ",", "nop,", ".word 1,", "a w[0], ", ".word ,1", ".word 010", ".word 08", ".word .5", ".word 1.5", ".word 1e5", "x = 1", "x=1",
        "lw a0, 4 (sp)", "lw a0, x(sp)", ".word x--1", ".word 1e+5", ".word %lo(sizeof(x))", ".word sizeof(x)", '.asciz "\\n"', '.asciz "a', "1 2", "1",
        "a (x)(y)", "a (x,)", "a ()", "a x)", "a (x", "a b=c=d", "a (b=c=d)", 'a b "x"[0]', 'a (b, "x")', "a x[]", "a x[0", "a x[1b]",
        "a (x)+1", "a (1b, x)", "a x[y[0]]", "a " + "(" * 51 + "x" + ")" * 51,
        "word(1)", ".word 0b1", ".word 99999999999999999999", "01: nop", "9999999999999999999999: nop", "add sizeof (x)", ".5: nop",
    ],
)  # fmt: skip
def test_left_to_the_grammar(text: str) -> None:
    assert not taken(text)


PIECES = st.sampled_from(
    ["a0", "x", ".L1", ".", "$", "add", ".word", "sizeof", "0", "1", "010", "0x1F", "0b1", "1b", "2f", "1.5", ".5", "1e3"]
    + ["9" * 20, "-", "+", "~", "=", "==", ":", ",", ",", "(", ")", "[", "]", '"', '"a"', '"\\n"', "'a'", "%lo(", "%lo", " ", " ", "\t", "\f", "x[0]", "w[1:", "y=(", "a b", "),"]
)  # fmt: skip


@settings(fuzz, max_examples=EXAMPLES)
@given(st.lists(PIECES, max_size=9).map("".join))
def test_any_pieces(text: str) -> None:
    try:
        taken(text)
    except Mistake:
        pytest.fail(f"the grammar refuses {text!r}")


def test_a_plain_program_loads_no_grammar(tmp_path: Path) -> None:
    source = tmp_path / "plain.s"
    source.write_text(assembly(200))
    code = "import sys; from macaw.cli import run_command; assert not run_command(sys.argv[1:]); print(*sys.modules)"
    arguments = [sys.executable, "-c", code, "asm", str(source), "-o", str(tmp_path / "plain.elf")]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "macaw.asm.assembler" in loaded
    assert not {"lark", "numpy", "rich", "prompt_toolkit"} & set(loaded)
