"""The notes in an editor's lines: values, addresses and cycles, statement by statement."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from macaw.asm.editing import inlays
from macaw.asm.editing.document import Document
from macaw.asm.editing.inlays import ADDRESS, CYCLES, VALUE
from macaw.isa import config, registry
from macaw.isa.model import Core

HEAD = " .device tiny\n .equ A, 7\n .equ B, 70000\n .equ C, -65535\n .core cp\n"


def notes(line: str, before: str = HEAD) -> list[tuple[str, str, str]]:
    """The notes of a line after others: kind, text, and the word before it."""
    text = before + line + "\n"
    found = Document(text, "t.s").annotations(len(before), len(text))
    return [(x.kind, x.text, text[: x.offset].split()[-1].strip(",")) for x in found]


@pytest.mark.parametrize("order", list(permutations(("A", "a0", "nowhere", "1f", "B")))[::7])
def test_every_constant_of_a_line_has_its_value(order: tuple[str, ...]) -> None:
    """Each constant of a line gets an annotation, whatever registers and labels stand before it."""
    line = f" .word {', '.join(order)}; 1:"
    values = {"A": "= 7", "B": "= 0x11170"}
    assert notes(line) == [(VALUE, values[x], x) for x in order if x in values]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "= 0"), (-1, "= -1"), (65535, "= 65535"), (65536, "= 0x10000"), (-65535, "= -65535"),
        (-65536, "= 0xffffffffffff0000"), ((1 << 63) - 1, "= 0x7fffffffffffffff"),
    ],
)  # fmt: skip
def test_values_of_more_than_16_bits_are_hexadecimal(value: int, text: str) -> None:
    assert notes(" .dword X", f" .equ X, {value}\n") == [(VALUE, text, "X")]
    # Beside a number that the source has itself, there is no note.
    assert notes(f" .equ X, {value & 255}") == []
    assert notes(f" .equ X, 0 + {value & 255}   # X") == [
        (VALUE, f"= {value & 255}", str(value & 255))
    ]


def test_notes_of_a_line_are_in_the_order_of_the_text() -> None:
    assert notes("here: li a0, A; li a1, B; there: nop; lw a0, A(a1)") == [
        (ADDRESS, "0x10000", "here:"), (VALUE, "= 7", "A"), (CYCLES, "1 cycle", "A"),
        (VALUE, "= 0x11170", "B"), (CYCLES, "2 cycles", "B"), (ADDRESS, "0x1000c", "there:"),
        (CYCLES, "1 cycle", "nop"), (VALUE, "= 7", "A"), (CYCLES, "2+ cycles", "A(a1)"),
    ]  # fmt: skip


def test_only_the_lines_in_the_range_have_notes() -> None:
    lines = [" .equ A, 1 + 1", " .equ B, 2 + 2", " .equ C, 3 + 3"]
    text = "\n".join(lines) + "\n"
    document, step = Document(text, "t.s"), len(lines[0]) + 1
    for first in range(3):
        for last in range(first + 1, 4):
            for start in (first * step, first * step + step - 1):
                found = [x.text for x in document.annotations(start, last * step)]
                assert found == [f"= {2 * n}" for n in range(first + 1, last + 1)]


def test_each_instruction_of_a_line_has_its_cycles() -> None:
    """Directives, labels and other statements before an instruction do not hide it."""
    assert notes("here: li a0, A; .space A; 1: nop; # nop") == [
        (ADDRESS, "0x10000", "here:"), (VALUE, "= 7", "A"), (CYCLES, "1 cycle", "A"),
        (VALUE, "= 7", "A"), (CYCLES, "1 cycle", "nop"),
    ]  # fmt: skip


@pytest.mark.parametrize("core", registry.cores(), ids=lambda core: core.name)
def test_cycles_have_the_numbers_of_the_device(core: Core) -> None:
    """Each word with _ in the cycles of a row is a setting, which its number replaces."""
    device = config.load("base")
    numbers = {x.name.removeprefix(f"{core.name}."): str(device[x.name]) for x in core.settings}
    numbers |= {x.name: str(device[x.name]) for x in core.settings}
    for rows in core.rows.values():
        for row in rows:
            text = getattr(row, "cycles", "")
            words = re.split(r"((?:[a-z_]+\.)?[a-z]+(?:_[a-z]+)+)", text)
            expected = "".join(numbers[word] if "_" in word else word for word in words)
            assert inlays._with_settings(core, text, device) == expected
