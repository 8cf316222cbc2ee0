"""Sources have colours on a terminal only; their characters do not change."""

import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from macaw.asm.reference import of_language
from macaw.isa import manual, pages, registry
from tests.macaw.conftest import LAYER, Macaw
from tests.macaw.terminal import Terminal, shown

Source = Callable[[str], Path]
MARKS = re.compile(r"\x1b\[[0-9;]*m")


def plain(text: str) -> str:
    return MARKS.sub("", text).replace("\r\n", "\n")


@pytest.mark.once
def test_dis_in_colours_says_what_it_says_to_a_pipe(macaw: Macaw, tmp_path: Path) -> None:
    elf = tmp_path / "layer.elf"
    assert macaw("asm", LAYER / "layer.s", "-o", elf).returncode == 0
    text = Terminal("dis", elf, columns=40).read()
    assert plain(text) == macaw("dis", elf).stdout
    assert "\x1b[35m.core\x1b[0m   \x1b[34mpe\x1b[0m" in text  # a directive and a word of its own
    assert "\x1b[1mmac\x1b[0m" in text
    assert not MARKS.search(Terminal("dis", elf, "--raw").read())


@pytest.mark.once
@pytest.mark.parametrize("name", ["mac", "li", ".seq", "dist.bus_bytes", "gr3", "deadlock"])
def test_a_page_in_colours_says_what_it_says_to_a_pipe(macaw: Macaw, name: str) -> None:
    text = shown("isa", name, COLUMNS="40")
    assert plain(text) == macaw("isa", name).stdout
    assert MARKS.search(text)


@pytest.mark.once
def test_a_page_has_each_line_of_its_example_unfolded() -> None:
    """A page shows each line of its example unbroken, because the example's colours need that."""
    tables = (pages.of_core(core) for core in registry.cores())
    for page in [*chain.from_iterable(tables), *of_language()]:
        lines = manual.text(page).splitlines()
        for line in page.entry("Example") if page.kind != "setting" else ():
            assert any(text.endswith(line) for text in lines), (page.title, line)


def test_the_example_of_a_page_has_the_colours_of_its_core() -> None:
    text = shown("isa", "mac")
    assert "Example     \x1b[1mmac\x1b[0m base=\x1b[32m0\x1b[0m, acc=\x1b[32m1\x1b[0m" in text


def test_the_line_of_an_error_in_colours(source: Source) -> None:
    path = source("        .core cp\nmain:   add a0, a1      # short\n")
    text = shown("asm", str(path))
    assert "    \x1b[33mmain\x1b[0m:   \x1b[1madd\x1b[0m \x1b[36ma0\x1b[0m" in text
    assert "            ^^^^^^^" in plain(text)


@pytest.mark.once
@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_colours_where_nobody_wants_them(variable: dict[str, Any], source: Source) -> None:
    assert not MARKS.search(shown("isa", "mac", **variable))
    path = source("        .core cp\n        add a0, a1\n")
    said = shown("asm", str(path), **variable)
    assert "\x1b[36m" not in said
    assert "\x1b[35m" not in said


@pytest.mark.once
def test_a_long_source_in_colours_is_whole(macaw: Macaw, source: Source, tmp_path: Path) -> None:
    """A long source, which is printed in pieces of 200 lines, is complete."""
    elf = tmp_path / "long.elf"
    path = source(".core cp\n" + "".join(f" addi a0, a0, {n}\n" for n in range(450)) + " ebreak\n")
    assert macaw("asm", path, "-o", elf).returncode == 0
    assert plain(shown("dis", str(elf))) == macaw("dis", elf).stdout
