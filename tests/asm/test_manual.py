"""docs/language.md names every directive that there is."""

from pathlib import Path
from textwrap import indent

import pytest

from macaw.asm.data_directives import DATA
from macaw.asm.directives import COMMON
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.isa.registry import cores

MANUAL = Path(__file__).parents[2] / "docs" / "language.md"
NAMES = [row.name for row in (*COMMON, *DATA)]
NAMES += [row.name for row in TEXT_DIRECTIVES.values()]
NAMES += [row.name for core in cores() for row in core.directives]


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_directive_is_in_the_manual(name: str) -> None:
    words = MANUAL.read_text(encoding="utf-8").replace("`", " ").replace(",", " ").split()
    assert name in words


def test_the_example_is_the_sample_program() -> None:
    source = (MANUAL.parents[1] / "programs" / "own_cp" / "own_cp.s").read_text(encoding="utf-8")
    assert indent(source, "    ") in MANUAL.read_text(encoding="utf-8")
