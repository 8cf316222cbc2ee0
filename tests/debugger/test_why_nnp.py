"""`why` through chains: matrices, vectors and scalars, checked by computing values again."""

from __future__ import annotations

import numpy as np
import pytest

from macaw import api
from macaw.asm.source import Source
from macaw.debugger.causes.cause_text import lines
from macaw.debugger.session import Session
from macaw.execution import configuration_of
from tests.debugger.asked import inputs, only
from tests.debugger.programs import PROGRAMS, of_source, session
from tests.debugger.running import place_of

pytestmark = pytest.mark.once

# Two tiles of a layer, its result through InitialVrf and back to Dram; numbers that are exact in all
# formats. The registers of the last chain and its vector come in a message, in two transfers.
CHAINS = """
        .device tiny
        .core   nnp
start:  SetRowsCols(1, 2)
        m_rd    Dram, 0
        m_wr    MatrixRf, 3
        v_rd    Dram, 8                 # cols is 2
        v_wr    InitialVrf, 5
        SetCols(1)
        v_rd    Dram, 10
        v_wr    AddSubVrf0, 2
        v_wr    MulVrf, 1
        SetCols(2)
        v_rd    InitialVrf, 5
        mv_mul  3
        vv_a_sub_b AddSubVrf0, 2
        vv_mul  1
        v_wr    AddSubVrf1, 0
        v_wr    Dram, 12
        end_chain
        .word   0
last:   v_rd    NetInQ
        vv_add  AddSubVrf1, 0
        v_relu
        v_wr    NetOutQ
        end_chain

        .core   cp
_start: li      a0, 3                   # nnp
        la      a1, start
        core.start a0, a1
        li      a1, 8
        core.wait a1
        la      a2, told
        dma.copy zero, a2
        dma.wait zero
        la      a2, more
        dma.copy zero, a2
        dma.wait zero
        li      a1, 8
        core.wait a1
        la      a2, back
        dma.copy zero, a2
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
told:   .word   0x303a0000, message, 14, 1, 0, 0
more:   .word   0x303a0000, message + 14, 2, 3, 0, 2
back:   .word   y, 0x303c0000, 8, 1, 0, 0
        .data
        .float16 {matrix}
        .float16 {vectors}
        .float16 {operand}
        .zero   8 * 4
        .balign 4
message:.half   1
        .byte   1, 1                    # a word of s_wr; then start
        .word   last
        .word   0x00020001              # s_wr cols, 1
        .float16 0.5, 1.5, -200, 4
        .output y, float16, 4
"""
RNG = np.random.default_rng(3)
MATRIX = RNG.integers(-9, 10, (2, 4, 4)) / 4
VECTORS = RNG.integers(-9, 10, (2, 4)) / 2
OPERAND = np.array([0.5, -1.25, 2.0, 0.75])
LAST = np.array([0.5, 1.5, -200, 4])
MIDDLE = ((MATRIX[0] @ VECTORS[0] + MATRIX[1] @ VECTORS[1]) - OPERAND) * OPERAND


def text_of(numbers):
    return ", ".join(str(x) for x in np.ravel(numbers).tolist())


@pytest.fixture(scope="module", params=["fast", "reference"])
def chains(request):
    source = CHAINS.format(
        matrix=text_of(MATRIX), vectors=text_of(VECTORS), operand=text_of(OPERAND)
    )
    run = of_source(source, request.param)
    stop = run.cont()
    assert stop.reason == "exit", stop
    return run


def computed(cause, leaves):
    """The value of a cause, computed again from its ends as docs define its instructions."""
    if cause.ends:
        value = cause.value
        if isinstance(value, str):
            value = np.frombuffer(bytes.fromhex(value), np.float16)[0]
        leaves.append(float(value))
        return float(value)
    found = [computed(item, leaves) for item in inputs(cause)]
    match cause.how.removesuffix("_inc"), len(found):
        case "mv_mul", _ if cause.role == "product":
            return found[0] * found[1]
        case "mv_mul", _:
            return sum(found)
        case "vv_add", 2:
            return found[0] + found[1]
        case "vv_a_sub_b", 2:
            return found[0] - found[1]
        case "vv_mul", 2:
            return found[0] * found[1]
        case "v_relu", 1:
            return max(found[0], 0)
    (value,) = found
    return value


def test_elements_are_what_their_causes_make(chains):
    """Elements are what their causes give, through queue, message, register files and tiles."""
    assert np.array_equal(chains.read("y"), np.maximum(MIDDLE + LAST, 0))
    for place in range(4):
        leaves: list[float] = []
        cause = only(chains.why(f"y[{place}]"))
        assert computed(cause, leaves) == cause.value == max(MIDDLE[place] + LAST[place], 0)
        row = MATRIX[:, place].ravel()
        wanted = [LAST[place], OPERAND[place], OPERAND[place]]
        wanted += [x for pair in zip(row, VECTORS.ravel(), strict=True) if all(pair) for x in pair]
        assert sorted(leaves) == sorted(wanted)


def test_what_a_chain_wrote_to_memory(chains):
    address = 0x80000000 + 12 * 8
    cause = only(chains.why(f"mem[{address + 2}].i16"))
    assert (cause.core, cause.how, cause.name) == ("nnp", "v_wr", "0x80000062")
    assert cause.value == np.float16(MIDDLE[1]).view(np.int16)
    assert computed(cause, []) == MIDDLE[1]


def test_the_steps_and_their_settings(chains):
    steps, cause = [], only(chains.why("nnp.add_sub_vrf1[0, 2]"))
    assert (cause.value, cause.role, cause.name) == (
        MIDDLE[2], "nnp.add_sub_vrf1[0, 2]", "nnp.add_sub_vrf1[0, 2]",
    )  # fmt: skip
    while cause.how != "mv_mul":
        steps.append(cause.how)
        cause = inputs(cause)[0]
    assert steps == ["v_wr", "vv_mul", "vv_a_sub_b"]
    settings = {item.role: item for item in cause.causes if item.setting}
    assert {name: (x.value, x.how, x.where.line) for name, x in settings.items()} == {
        "rows": (1, "s_wr", 4), "cols": (2, "s_wr", 13),
    }  # fmt: skip
    weight, number = inputs(inputs(cause)[0])
    assert weight.name == "nnp.MatrixRf[3][2, 0]"
    assert (weight.value, number.value) == (MATRIX[0, 2, 0], VECTORS[0, 0])
    assert weight.how == "m_wr"
    assert [x.role for x in only(inputs(weight)).causes if x.setting] == ["rows", "cols"]
    text = list(lines([cause], 1))
    assert text[1].strip().startswith("with rows = 1: nnp SetRows 1 at cycle ")


def test_registers_of_the_core(chains):
    """The register `cols` was set by a message, and the word of the message came by a transfer."""
    (rows,) = chains.why("nnp.rows")
    assert (rows.value, rows.how, place_of(rows).line) == (1, "s_wr", 4)
    (cols,) = chains.why("nnp.cols")
    assert (cols.value, cols.how, cols.role) == (1, "message", "nnp.cols")
    word = only(inputs(cols))
    assert (word.role, word.core, word.how) == ("message", "dma", "transfer 1")
    assert only(inputs(word)).how == "program"
    (valid,) = chains.why("nnp.valid")
    assert (valid.value, valid.how) == (1, "begin")
    assert [x.value for x in chains.why("nnp.add_sub_vrf0[2]")] == OPERAND.tolist()
    assert [x.value for x in chains.why("nnp.initial_codes[5, 1:3]")] == VECTORS[0, 1:3].tolist()


def test_an_entry_of_initial_vrf_has_codes_of_numbers():
    """With 4 bits, the numbers of a vector are multiples of 1/4 if its greatest one is below 2."""
    text = (
        ".core nnp\nv_rd Dram, 0\nv_wr InitialVrf, 3\nv_rd InitialVrf, 3\nv_wr Dram, 1\n"
        "end_chain\n.core cp\n_start: li a0, 3\nla a1, 0x30300000\ncore.start a0, a1\n"
        "li a1, 8\ncore.wait a1\nebreak\n.data\nfrom: .float16 0.3, -1.6, 0.6, 1.2\n.zero 8\n"
    )
    program = api.assemble(Source(text, "test.s"), device="tiny")
    run = Session(program, configuration_of(program).changed({"nnp.vector_bits": 4}), {})
    run.cont()
    numbers = [0.25, -1.5, 0.5, 1.25]
    assert run.read("nnp.initial_codes[3]").tolist() == [x * 4 for x in numbers]
    for place, number in enumerate(numbers):
        cause = only(run.why(f"nnp.initial_codes[3, {place}]"))
        assert (cause.name, cause.value) == (f"nnp.InitialVrf[3][{place}]", number)
        read = np.array([0.3, -1.6, 0.6, 1.2], np.float16)[place]
        assert only(inputs(cause)).value == read
    assert [x.value for x in run.why("nnp.initial_codes[3]")] == numbers
    (unwritten,) = run.why("nnp.initial_codes[2, 1]")
    assert (unwritten.name, unwritten.value, unwritten.how) == (
        "nnp.InitialVrf[2][1]", None, "begin",
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_vectors_that_one_beat_takes_from_the_queue(engine):
    """A beat takes four vectors of two chains from the queue; each byte names its own chain."""
    run = of_source(
        """
        .device tiny
        .core   nnp
        v_rd    Dram, 0
        v_wr    NetOutQ
        end_chain
        SetCols(3)
        v_rd    Dram, 1
        v_relu
        v_wr    NetOutQ
        end_chain
        .core   cp
_start: li      a0, 3
        la      a1, 0x30300000
        core.start a0, a1
        li      a1, 8
        core.wait a1
        la      a2, back
        dma.copy zero, a2
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
back:   .word   y, 0x303c0000, 32, 1, 0, 0
        .data
numbers:.float16 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        .output y, float16, 16
""",
        engine,
    )
    assert run.cont().reason == "exit"
    for place in range(16):
        cause = only(run.why(f"y[{place}]"))
        assert cause.value == 1 + place
        steps = []
        while not cause.ends:
            cause = inputs(cause)[0]
            steps.append(cause.how)
        assert steps == ["v_wr", *(["v_relu"] * (place >= 4)), "v_rd", "program"]
        assert cause.memory == (0x80000000 + 2 * place, 2)


def test_queues_of_the_core():
    """Vectors that wait in NetInQ and NetOutQ have causes, although no chain or core took them."""
    run = of_source(
        """
        .device tiny
        .core   nnp
        v_rd    NetInQ
        v_relu
        v_wr    NetOutQ
        end_chain
        .core   cp
_start: la      a2, told
        dma.copy zero, a2
        dma.wait zero
        li      a0, 3
        la      a1, 0x30300000
        core.start a0, a1
        li      a1, 8
        core.wait a1
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
told:   .word   0x30380000, numbers, 16, 1, 0, 0
        .data
numbers:.float16 1, -2, 3, -4, 5, 6, 7, 8
"""
    )
    run.cont()
    left = run.why("nnp.net_out[0]")
    assert [(x.how, x.value) for x in left] == [("v_wr", 1), ("v_wr", 0), ("v_wr", 3), ("v_wr", 0)]
    (came,) = run.why("nnp.net_in[0]")
    piece = only(inputs(came))
    assert (piece.core, piece.how) == ("dma", "transfer 1")
    end = only(inputs(piece))
    assert end.value == np.array([5, 6, 7, 8], np.float16).tobytes().hex()


def test_a_convolution_reads_its_window():
    """The products of a convolution are those of its window; at the border, zeros are padding."""
    run = session("nnp_conv3x3")
    run.cont()
    image = np.load(PROGRAMS / "nnp_conv3x3" / "image.npy").reshape(6, 5, 4)
    matrix = np.load(PROGRAMS / "nnp_conv3x3" / "matrix.npy").reshape(2, 9, 4, 4)
    output = 5  # y = 1, x = 2: rows 1 to 3, columns 3 and 4, and one outside
    cause = only(run.why(f"y[{2 * output + 1}, 2]"))
    while cause.how != "mv_mul":
        cause = next(x for x in inputs(cause) if x.role in ("chain", "copied from"))
    assert [x.role for x in inputs(cause)[0].causes[1].causes if x.setting] == [
        "width", "height", "kernel", "stride", "pad", "depth",
        "kernel_y", "stride_y", "pad_y", "dilation", "dilation_y",
    ]  # fmt: skip
    wanted = []
    for y in range(3):
        for x in range(2):
            pairs = zip(matrix[1, 3 * y + x, 2], image[1 + y, 3 + x], strict=True)
            wanted += [float(w) * float(i) for w, i in pairs if w and i]
    found = [x.value for x in inputs(cause)]
    # Quantised: each number of a window has 15 bits below the greatest of its native vector.
    np.testing.assert_allclose(found, wanted, atol=2**-12)
    assert np.float16(sum(found)) == cause.value


def test_a_softmax_is_over_all_its_elements():
    run = session("nnp_softmax")
    run.cont()
    (cause,) = [x for x in run.why("y[0, 0]") if x.how.startswith("transfer")]
    softmax = inputs(inputs(cause)[0])[0]
    assert softmax.how == "v_softmax"
    assert [(x.role, x.value) for x in softmax.causes if x.setting] == [("valid", 5)]
    numbers = np.array([x.value for x in inputs(softmax)], np.float64)
    powers = np.exp(numbers - numbers.max())
    np.testing.assert_allclose(softmax.value, powers[0] / powers.sum(), rtol=2e-3)
