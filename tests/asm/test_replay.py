"""Replayed expansions give the same bytes, lines, errors and costs as expansions read again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.asm import replay
from macaw.asm.assembler import Assembly, analyse, assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.fast_path import FastPath
from macaw.asm.source import Source
from macaw.asm.text_stack import Budget
from tests.asm.both_ways import both
from tests.fuzzing import EXAMPLES, fuzz

pytestmark = pytest.mark.once

# Lines of a body: pure ones, then those with effects, then flow.
PURE = (
    "addi a0, a0, \\v", "add a1, a1, a0", ".word \\v, 1 + 2", ".byte \\v", ".half 1, 2",
    '.ascii "four"', "li a0, 70000 + \\v", ".space 4", "# nothing", "addi a0, a0, 5000",
)  # fmt: skip
EFFECTS = (
    "1: beq a0, a1, 1b", "la a0, x", ".word x", ".set n, n + 1", ".word n", ".word .", "b\\@: nop",
    ".word \\@", ".align 2", ".data", ".text", ".warning", "\\v: nop", "beq a0, a1, .", "j later",
    ".macro inner\n.byte 9\n.endm\ninner\n.purgem inner", ".error", "sw a0, %lo(x)(a1)", ".type x, object",
    ".core nnp\nend_chain\n.core cp", "other", ".p2align 3", ".exitm", "nop nop", ".word \\missing",
)  # fmt: skip
BLOCKS = (
    ".if {0}\n{1}\n.endif", ".ifdef n\n{1}\n.else\n.byte 3\n.endif", ".rept {0}\n{1}\n.endr",
    ".irp v, {0}, 3\n{1}\n.endr", ".if n > 2\n{1}\n.endif", ".if \\v\n{1}\n.endif",
)  # fmt: skip


@st.composite
def body(draw: st.DrawFn, calls: tuple[str, ...], depth: int = 0) -> str:
    """Draw a few lines, most of which can be replayed, with calls of the macros in `calls`."""
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        dice = draw(st.integers(0, 9))
        if dice < 5:
            lines.append(draw(st.sampled_from(PURE)))
        elif dice < 6:
            lines.append(draw(st.sampled_from(EFFECTS)))
        elif dice < 8 and calls:
            value = draw(st.sampled_from(["1", "2", "\\v", "\\v+1", "a0"]))
            lines.append(f"{draw(st.sampled_from(calls))} {value}")
        elif depth < 2:
            block = draw(st.sampled_from(BLOCKS))
            lines.append(block.format(draw(st.integers(0, 3)), draw(body(calls, depth + 1))))
    return "\n".join(lines)


@st.composite
def program(draw: st.DrawFn) -> str:
    """Draw macros that call each other, then repeated calls of them between other lines."""
    names: tuple[str, ...] = ()
    text = ".core cp\n.set n, 0\n.data\nx: .word 1\n.text\n"
    for name in ("first", "second", "third"):
        text += f".macro {name} v\n{draw(body(names))}\n.endm\n"
        names = (*names, name)
    for _ in range(draw(st.integers(1, 8))):
        dice = draw(st.integers(0, 9))
        call = f"{draw(st.sampled_from(names))} {draw(st.sampled_from(['1', '2', 'n', '-1']))}"
        if dice < 6:
            text += call + "\n"
        elif dice < 8:
            text += f".rept {draw(st.integers(0, 4))}\n{call}\n{draw(body(names)).replace(chr(92), '')}\n.endr\n"
        else:
            text += draw(st.sampled_from(EFFECTS)).replace("\\", "") + "\n"
    return text + "later: nop\n"


@settings(fuzz, max_examples=EXAMPLES)
@given(program())
def test_the_same_as_read_again(text: str) -> None:
    both(text)


def costs(text: str, enabled: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int, int]:
    """The lines and characters of a run's expansions, and the number of its errors."""
    monkeypatch.setattr(FastPath, "enabled", enabled)
    budget = Budget()
    run = analyse([Source(text, "a.s")], budget=budget)
    return budget.lines, budget.characters, run.state.report.errors


NESTED = """
        .core   cp
        .macro  once v
        addi    a0, a0, \\v
        .endm
        .macro  twice v
        once    \\v
        once    \\v
        .endm
        .rept   50
        twice   1
        .if     1
        twice   2
        .endif
        .endr
        """


def test_the_budget_counts_what_reading_would_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert costs(NESTED, True, monkeypatch) == costs(NESTED, False, monkeypatch)


def test_a_replayed_expansion_exceeds_the_same_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (100, 400, 10000):
        texts = []
        for enabled in (True, False):
            monkeypatch.setattr(FastPath, "enabled", enabled)
            run = analyse([Source(NESTED, "a.s")], budget=Budget(max_lines=most))
            texts.append([str(x.message) for x in run.state.report.diagnostics()])
        assert texts[0] == texts[1]
        assert bool(texts[0]) == (most < 10000)


def test_calls_keep_their_numbers() -> None:
    text = (
        ".core cp\n.macro plain\n.byte 1\n.endm\n.macro outer\nplain\nplain\n.endm\n"
        ".macro number\n.byte \\@\n.endm\nouter\nouter\nouter\nnumber\n"
    )
    assert assemble(Source(text)).sections[0].data == bytes([1] * 6 + [9])


def test_the_depth_of_a_replayed_expansion_counts() -> None:
    """60 nested calls, recorded at depth 0, exceed the limit of 100 when replayed at depth 60."""
    text = (
        ".core cp\n.macro deep n\n.byte \\n\n.if \\n\ndeep \\n-1\n.endif\n.endm\n"
        ".macro lower n\n.if \\n\nlower \\n-1\n.else\ndeep 60\n.endif\n.endm\ndeep 60\nlower 60\n"
    )
    with pytest.raises(AssemblyError, match="more than 100 expansions in each other"):
        assemble(Source(text))


def test_pure_calls_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The assembler reads 4 expansions of the first round and replays all others."""
    read: list[int] = []
    keep = replay.Replay.keep

    def count(self: replay.Replay, *arguments: object) -> None:
        read.append(1)
        keep(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(replay.Replay, "keep", count)
    run = analyse([Source(NESTED, "a.s")])
    assert isinstance(run, Assembly)
    assert len(read) == 4
    assert len(run.program().sections[0].data) == 50 * 4 * 4


def test_the_number_of_a_call_is_never_replayed() -> None:
    text = ".core cp\n.macro number\n.byte \\@\n.endm\n.rept 3\nnumber\n.irp x, 1\n.byte \\@\n.endr\n.endr\n"
    assert assemble(Source(text)).sections[0].data == bytes([0, 1, 1, 2, 2, 3])


def test_a_redefined_macro_is_read_again() -> None:
    text = (
        ".core cp\n.macro inner\n.byte 1\n.endm\n.macro outer\ninner\n.endm\nouter\nouter\n"
        ".purgem inner\n.macro inner\n.byte 2\n.endm\nouter\nouter\n"
    )
    assert assemble(Source(text)).sections[0].data == bytes([1, 1, 2, 2])


def test_alignment_is_part_of_what_is_replayed() -> None:
    """A replayed macro gives the same alignment warning as a macro that the assembler reads."""
    text = ".core cp\n.macro one\nnop\n.endm\none\none\n.byte 1\none\n"
    assert len(assemble(Source(text)).warnings) == 1
    both(text)
