"""A repetition that is expanded by counting gives the bytes of one whose rounds are all read."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.asm import elf_object
from macaw.asm.assembler import analyse, assemble, assemble_object
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.fast_path import FastPath
from macaw.asm.simple_lines import SimpleLines
from macaw.asm.source import Source
from macaw.asm.text_stack import Budget
from tests.asm.both_ways import both
from tests.fuzzing import fuzz, properties

pytestmark = pytest.mark.once

# Lines of a body. The numbers of some fit only in the first rounds, and some bodies are read
# round by round.
LINES = (
    ".word n", ".word n + 2, m", ".half n", ".byte n", ".byte m - 5, 1", ".dword n", ".word k, 7",
    ".set n, n + 1", ".set n, n - 3", ".set m, m + 40", ".set m, n + 4", ".set n, m", ".set k, 5",
    ".set n, n + 1000000007", ".set m, m - 9000000000000000000", ".set new, n + 1", ".word new",
    "addi a0, a0, n", "li a1, n", "li a2, n + 2000", "lw a3, m(a0)", "lui a4, %hi(n)",
    "lui a4, %hi(x)", "addi a4, a4, %lo(later)", ".word x, n, later", "add a0, a1, a2", ".word 9",
    "slli a0, a0, m", "put n", "put 3", "la a0, x", "beqz a0, x", "1: j 1b", ".if n > 9\nnop\n.endif",
    ".word missing", ".rept 2\n.word n\n.set n, n + 1\n.endr", ".balign 4", "local:", ".word n * 2",
    ".word m + x", ".word 3 + n", "nop # n",
)  # fmt: skip


@st.composite
def program(draw: st.DrawFn) -> str:
    start = draw(st.sampled_from([0, 1, 250, -120, 2040, 65530, -(1 << 31), 1 << 32, 1 << 62]))
    body = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=6))
    section = draw(st.sampled_from([".text", ".data"]))
    text = ".core cp\n.macro put v\n.half \\v\n.half 1\n.endm\nx: nop\n"
    text += f".set n, {start}\n.set m, {draw(st.integers(0, 300))}\n.set k, 1\n{section}\n"
    rounds = draw(st.sampled_from([0, 1, 2, 3, 20]))
    text += f".rept {rounds}\n" + "\n".join(body) + "\n.endr\n"
    if draw(st.booleans()):  # once more, from what the first left
        text += f".rept {rounds}\n" + "\n".join(reversed(body)) + "\n.endr\n"
    return text + ".text\n.balign 4\n.word n, m, k\nlater: nop\n"


@settings(fuzz, max_examples=3 * properties.max_examples)
@given(program())
def test_the_same_as_read_round_by_round(text: str) -> None:
    both(text)


def rounds_read(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the assembler begins to read simple lines while it assembles `text`."""
    calls = []
    take = SimpleLines.take

    def count(self: SimpleLines, *arguments: Any) -> int:
        calls.append(1)
        return take(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(SimpleLines, "take", count)
        assemble(Source(text))
    return len(calls)


@pytest.mark.parametrize(
    "body",
    [
        ".word n\n.set n, n + 1",
        ".set n, n + 1\n.half n, n - 1",
        "li a0, n\n.set n, n + 4096",
        "addi a0, a0, n\n.set n, n + 1",
        "lw a0, n(a1)\n.set m, n + 4\n.word m\n.set n, n + 2",
        "lui a0, %hi(x)\naddi a0, a0, %lo(x)",
        ".word later, n\n.set n, n - 1",
        "put n\n.set n, n + 1",
        ".set n, n + 1\n.half n, 2\n.set new, n + 1\n.half new, 2",
    ],
)
def test_only_one_round_is_read(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        ".core cp\n.macro put v\n.word \\v\n.endm\n.set n, 1\nx: nop\n"
        ".rept {}\n" + body + "\n.endr\nlater: nop\n"
    )
    assert rounds_read(text.format(400), monkeypatch) == rounds_read(text.format(2), monkeypatch)
    both(text.format(400))


def test_values_of_a_count() -> None:
    text = ".set n, 250\n.rept 6\n.byte n\n.half n, n - 250\n.set n, n + 1\n.endr\n.word n"
    sections = assemble(Source(text)).sections
    data = next(section.data for section in sections if section.name == ".data")
    rounds = [data[start : start + 5] for start in range(0, 30, 5)]
    expected = [
        bytes([n]) + n.to_bytes(2, "little") + (n - 250).to_bytes(2, "little")
        for n in range(250, 256)
    ]
    assert rounds == expected
    assert data[30:] == (256).to_bytes(4, "little")


def test_a_round_of_another_size_is_between_equal_ones() -> None:
    """`li` of 4,096 needs one word, `lui`; the numbers before and after it need `addi` too."""
    text = ".core cp\n.set n, 4093\n.rept 6\nli a0, n\n.set n, n + 1\n.endr\n"
    both(text)
    data = assemble(Source(text)).sections[0].data
    words = struct.unpack("<11I", data)
    assert [word for word in words if word & 0x7F == 0x37] == [words[0]] * 6  # lui a0, 1
    immediates = [word >> 20 for word in words if word & 0x7F == 0x13]
    assert immediates == [0xFFD, 0xFFE, 0xFFF, 0x001, 0x002]


def test_the_round_whose_number_does_not_fit_is_told() -> None:
    text = ".set n, 0\n.rept 1000\n.byte n\n.set n, n + 2\n.endr\n"
    with pytest.raises(AssemblyError, match="256 is out of range, -128 to 255") as error:
        assemble(Source(text))
    assert len(error.value.diagnostics) == 1
    both(text)


def test_an_object_has_a_relocation_in_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        ".core cp\n.set n, 0\n.rept 9\nlui a0, %hi(other)\n.word n, other\n.set n, n + 1\n.endr\n"
    )
    files = []
    for enabled in (True, False):
        monkeypatch.setattr(FastPath, "enabled", enabled)
        item = assemble_object([Source(text, "a.s")])
        files.append(elf_object.write(item))
        assert len(item.relocations) == 18
    assert files[0] == files[1]


@pytest.mark.parametrize("most", [100, 1000, 3000])
def test_the_limit_is_the_same(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".set n, 0\n.rept 400\n.word n\n.set n, n + 1\n.endr\n" * 2
    found = []
    for enabled in (True, False):
        monkeypatch.setattr(FastPath, "enabled", enabled)
        budget = Budget(max_lines=most)
        run = analyse([Source(text, "a.s")], budget=budget)
        found.append(([str(x) for x in run.state.report.diagnostics()], budget.lines))
    assert found[0][0] == found[1][0]
    assert bool(found[0][0]) == (most < 3000)
    if not found[0][0]:
        assert found[0][1] == found[1][1]
