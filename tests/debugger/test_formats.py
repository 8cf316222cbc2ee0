"""`x/bfp` and `x/tiles` show memory as cores read it, compared with a separate decoder."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from macaw.debugger.commands.formats import read
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.session import Session
from macaw.debugging import DebuggerFiles
from macaw.fim_tiles import untiled
from tests.debugger.programs import of_source

pytestmark = pytest.mark.once
SOURCE = """
        .core cp
_start: li   a7, 93
        ecall
        .data
        .balign 64
place:  .space 4096
"""


def debugger(numbers, **changes):
    """A session on a device with some fp16 numbers at `place`."""
    plain = of_source(SOURCE)
    settings = {f"nnp.{name}": value for name, value in changes.items()}
    session = Session(plain.program, {**plain._debuggee.config, **settings})
    run = Interpreter(session, DebuggerFiles())
    place = session.program.symbol("place").value
    session.device.memory.poke(place, np.asarray(numbers, "<f2").tobytes())
    return run, place


def block_floating(block, bits):
    """Exponent and mantissas of a block by the rule of docs/numbers-nnp.md, with fractions."""
    exact = [Fraction(float(x)) for x in block]
    exponent = -15
    while exponent < 16 and any(abs(x) >= Fraction(2) ** exponent for x in exact):
        exponent += 1
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    unit = Fraction(2) ** (exponent - (bits - 1))
    return exponent, [min(high, max(low, round(x / unit))) for x in exact]


@pytest.mark.parametrize(("name", "bits"), [("bfp", 9), ("bfp_matrix", 5)])
def test_block_floating_point(name, bits):
    chance = np.random.default_rng(4)
    numbers = (chance.standard_normal(64) * 2.0 ** chance.integers(-12, 6, 64)).astype(np.float16)
    numbers[32:48] = 0
    run, place = debugger(numbers, vector_bits=9, matrix_bits=5)
    native = run.session.device.config["nnp.native"]
    count = 64 // native
    answer = run.execute(f"x/{count}{name} place")
    assert answer.kind == "table", answer.message
    cells = [row[1:] for row in answer.rows]
    per_unit = -(-native // 8)
    for unit in range(count):
        rows = cells[unit * per_unit : (unit + 1) * per_unit]
        exponent, mantissas = block_floating(numbers[unit * native : (unit + 1) * native], bits)
        assert [row[0] for row in rows] == [exponent] + [None] * (per_unit - 1)
        assert [x for row in rows for x in row[1:] if x is not None] == mantissas
        assert answer.rows[unit * per_unit][0].startswith(f"{place + unit * native * 2:#010x}")
    again = run.execute("x")
    assert again.columns == answer.columns  # goes on in the same format, as many as before
    assert len(again.rows) == len(answer.rows)
    assert again.rows[0][0].startswith(f"{place + 128:#010x}")


def test_a_number_that_is_none_has_no_block():
    run, place = debugger([1.0, 2.0, np.nan, 3.0])
    answer = run.execute("x/bfp place")
    assert answer.message == f"at {place:#010x} <place>: element 2 is not a number"


def test_other_numbers_have_their_own_name():
    run, _ = debugger([1.0, -2.6, 7.0], quantise="int", vector_bits=4)
    assert run.execute("x/int place").rows[0][1:5] == (0, 1, -3, 7)
    answer = run.execute("x/bfp place")
    assert answer.message == "'bfp' is no format"
    assert "int, int_matrix, tiles" in answer.hint


def test_tiles_of_an_island():
    """`x/tiles` shows a dot's result, stored in tiles, as the matrix that `macaw.untiled` gives.

    A tile has 4 x 4 numbers; a group has 4 x 4 tiles.
    """
    numbers = np.arange(256).astype(np.float16)
    run, place = debugger(numbers)
    answer = run.execute("x/16tiles place")
    matrix = untiled(numbers, (16, 16), layout="dot", side="c")
    assert len(answer.rows) == 64
    for at, row in enumerate(answer.rows):
        tile, inside = divmod(at, 4)
        down, right = divmod(tile, 4)
        part = matrix[4 * down + inside, 4 * right : 4 * right + 4]
        assert row[1:] == tuple(part.tolist())
        assert row[0].startswith(f"{place + 8 * at:#010x}")


def test_many_numbers():
    run, place = debugger([0.0])
    run.session.device.memory.poke(place, np.arange(16, dtype="<f4").tobytes())
    assert run.execute("x/tiles_fp32 place").rows[2][1:] == (8.0, 9.0, 10.0, 11.0)
    assert "too many" in run.execute("x/65536tiles place").message
    assert run.execute("x/2f16 place").rows[0][1:] == (0.0, 0.0)
    rows = run.execute("x/2i _start").rows
    assert [row[2] for row in rows] == ["li a7, 93", "ecall"]
    assert run.execute("x/tiles 0x7fffffff").kind == "error"


@pytest.mark.parametrize("text", ["", "4", "x", "4xw", "fh", "8f16", "i", "2bfp", "tiles_fp32"])
def test_a_format_is_written_as_it_is_read(text):
    assert str(read(text, own=("bfp", "tiles_fp32"))) == text
