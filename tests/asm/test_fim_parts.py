"""Parts of fim, assembled and disassembled: random programs, operations, tiles of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from macaw.asm.assembler import Source, assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.disassembler import disassemble
from macaw.asm.formatter import format_text
from macaw.asm.forms.fim.tiles import tiled, untiled
from macaw.isa import codec
from macaw.isa.fim import CORE
from macaw.isa.fim_circuit import FUNCTION_NAMES, FUNCTIONS, OPERATIONS
from tests.asm.sources import operand

pytestmark = pytest.mark.once

LAYOUTS = ("elementwise", "dot", "outer", "tensor")


def model(matrix, layout, side):
    """The bytes of a matrix in the tiles of seed 004 Fig. 3, made by NumPy's reshape and transpose.

    The outer order is rows and columns of groups; a group has 4 x 4 tiles.
    """
    lanes = 32 // matrix.itemsize
    down, right = {
        "elementwise": ((1, lanes),) * 3,
        "dot": ((1, lanes), (lanes, 1), (4, 4)),
        "outer": ((lanes, 1), (1, lanes), (lanes, lanes)),
        "tensor": ((4, 4),) * 3,
    }[layout]["abc".index(side)]
    rows, columns = (-(-n // (4 * m)) for n, m in zip(matrix.shape, (down, right), strict=True))
    whole = np.zeros((rows * 4 * down, columns * 4 * right), matrix.dtype)
    whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    split = whole.reshape(rows, 4, down, columns, 4, right)
    return split.transpose(0, 3, 1, 4, 2, 5).tobytes()


shapes = st.tuples(st.integers(1, 70), st.integers(1, 70))


@settings(max_examples=60, deadline=None)
@given(shapes, st.sampled_from(LAYOUTS), st.sampled_from("abc"), st.sampled_from(["f2", "f4"]))
def test_tiles_there_and_back(shape, layout, side, dtype):
    """A tiled matrix equals the model, and `untiled` restores the matrix (seed 004 ¶55)."""
    assume(layout != "tensor" or dtype == "f2")
    matrix = np.arange(1, shape[0] * shape[1] + 1).reshape(shape).astype(dtype)
    item, lanes = matrix.itemsize, 32 // matrix.itemsize
    data = tiled(matrix.tobytes(), shape, item, layout, side, lanes)
    assert data == model(matrix, layout, side)
    assert untiled(data, shape, item, layout, side, lanes) == matrix.tobytes()


def test_tiles_of_another_length():
    with pytest.raises(ValueError, match=r"^tiles of a 4 x 4 matrix are 512 bytes, not 32$"):
        untiled(bytes(32), (4, 4), 2, "tensor", "a", 16)


def words(program):
    return program.section(".fim.0").data


def part(lines):
    return Source("        .device tiny\n        .core fim, island=0\n" + "\n".join(lines), "p.s")


@pytest.mark.few(66)
@pytest.mark.parametrize("function", range(len(FUNCTIONS)), ids=FUNCTION_NAMES)
@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_every_operation_is_written_by_what_it_moves(number, function):
    """`macaw dis` writes an operation with `<-`, unless its function ignores the second operand."""
    operation = OPERATIONS[number]
    row = CORE.by_mnemonic["fim"]
    column = 5 * operation.has_column
    word = codec.encode(row, {"n": number, "col": column, "inc": 0, "repeat": 1})
    lines = [
        ".block banks=0",
        f"mmr op, {FUNCTION_NAMES[function]}",
        f"fim {number}, {column}",
        "end",
    ]
    program = assemble(part(lines))
    assert words(program)[8:12] == word.to_bytes(4, "little")
    text = disassemble(program)
    unused = operation.computes and FUNCTIONS[function].operands == 1 and number == 6
    assert ("<-" in text) != unused
    assert words(assemble(Source(text, "d.s"))) == words(program)


plain = [row for row in CORE.instructions if row.mnemonic in
         ("act", "pre", "fim", "mmr", "push", "pull", "lock", "unlock", "trace_begin")]  # fmt: skip
moves = st.sampled_from(["rop <- iosa[3]", "rz <- rop * iosa[1:9]", "rz <- ~rop", "rz <- tanh(iosa[2])",
                         "rz <- rop + gio", "iosa[4] <- gio", "mmr op, mul", "mmr op, add",
                         "mmr op, tanh", "mmr op, not", "mmr arrange, tensor", ".word 0x80000015"])  # fmt: skip


@st.composite
def statement(draw):
    row = draw(st.sampled_from(plain))
    texts = [draw(operand(item.kind)) for item in row.operands]
    return f"{row.mnemonic} {', '.join(filter(None, texts))}"


@st.composite
def body(draw, depth=2):
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        if depth and draw(st.integers(0, 4)) == 0:
            lines += [f"loop {draw(st.integers(1, 3))}", *draw(body(depth - 1)), "endloop"]
        else:
            lines.append(draw(moves | statement()))
    return lines


@settings(max_examples=120, deadline=None)
@given(st.lists(body(), min_size=1, max_size=3))
def test_programs_come_back_from_their_words(blocks):
    """A random valid program is disassembled to a text that assembles to the same words."""
    lines = [
        line for n, inner in enumerate(blocks) for line in (f".block banks={n}", *inner, "end")
    ]
    program = None
    while program is None:
        try:
            program = assemble(part(lines))
        except AssemblyError as error:
            wrong = {item.span.line - 3 for item in error.errors}
            lines = [line for place, line in enumerate(lines) if place not in wrong]
    text = disassemble(program)
    assert format_text(text) == text
    again = assemble(Source(text, "d.s"))
    assert words(again) == words(program)
    assert disassemble(again) == text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 0xFFFF_FFFF) | st.sampled_from([0x08000000, 0x04000001, 0x18000002,
                0x1C000000, 0x80000002, 0x81000001, 0x14C00001, 0x15880001]), max_size=20))  # fmt: skip
def test_any_words_come_back(numbers):
    program = assemble(
        part([f".word {number:#x}" for number in numbers] + [".block banks=0", "end"])
    )
    again = assemble(Source(disassemble(program), "d.s"))
    assert words(again) == words(program)
