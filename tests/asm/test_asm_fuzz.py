"""For any source, the assembler returns a program or raises `AssemblyError`, nothing else."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import elf, text_stack
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError, render, to_json
from macaw.asm.source import Source
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once

HERE = Path(__file__).parent
CORPUS = [
    (path.read_text("utf-8"), path.parent)
    for folder in ("ok", "err", "gnu_sources")
    for path in sorted((HERE / folder).glob("*.s"))
    if path.stem not in ("pe_image_too_large",)  # half a megabyte an example
]
WORDS = sorted({word for text, _ in CORPUS for word in re.findall(r"[\w.$%]+|[^\w\s]", text)})


@pytest.fixture(scope="module", autouse=True)
def _few_lines() -> Iterator[None]:
    """Limit the lines of expansions, so that a mutated source cannot take long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_stack, "MAX_LINES", 20_000)
        yield


def survives(text: str, folder: Path | None) -> None:
    """Assemble a text; if there is a program, disassemble it; if not, check the errors' places."""
    try:
        program = assemble(Source(text, "fuzz.s", folder))
    except AssemblyError as error:
        assert error.errors
        lines = text.split("\n")
        spans = [item.chain[-1].span if item.chain else item.span for item in error.diagnostics]
        assert {span.file for span in spans} == {"fuzz.s"}
        for item in error.diagnostics:
            if item.span.file != "fuzz.s":
                continue  # included
            assert 1 <= item.span.line <= len(lines)
            assert 1 <= item.span.column <= len(lines[item.span.line - 1]) + 1
            assert item.span.column <= item.span.end_column
        places = [(span.line, span.column) for span in spans]
        assert places == sorted(places)
        assert render(error.diagnostics)
        assert to_json(error.diagnostics)
    else:
        elf.write(program)


@fuzz
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    survives(text, None)


@fuzz
@given(
    st.lists(
        st.sampled_from([*WORDS, "\n", "\n", " ", "\n .core cp\n", "\n .core pe\n"]), max_size=60
    )
)
def test_any_words(words: list[str]) -> None:
    survives(" ".join(words), HERE / "ok")


@fuzz
@given(st.sampled_from(CORPUS), st.randoms(use_true_random=False))
def test_changed_sources(case: tuple[str, Path], chance: random.Random) -> None:
    text, folder = case
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(text) + 1)
        end = min(len(text), place + chance.randrange(1, 12))
        new = chance.choice(
            (
                "",
                chance.choice(WORDS),
                chr(chance.randrange(1, 300)),
                text[place:end] * 2,
                "\n",
                " ",
                ",",
                "0x7fffffff",
            )
        )
        text = text[:place] + new + text[end if chance.random() < 0.5 else place :]
    survives(text, folder)


@fuzz
@given(st.sampled_from(CORPUS), st.randoms(use_true_random=False))
def test_lines_in_another_order(case: tuple[str, Path], chance: random.Random) -> None:
    lines = case[0].split("\n")
    chance.shuffle(lines)
    survives("\n".join(lines[: chance.randrange(1, len(lines) + 1)]), case[1])
