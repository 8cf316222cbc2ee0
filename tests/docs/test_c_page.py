"""docs/c.md: its commands print what it shows; its excerpts and messages are in the tree."""

from __future__ import annotations

import re

from docs.shown import ROOT, made, page
from tests.asm.gnu_tools import tool
from tests.macaw.command_runs import run_shown

TEXT = page("c").read_text("utf-8")
MAIN = (ROOT / "programs" / "c_layer" / "main.c").read_text("utf-8")


def test_the_commands_print_what_the_page_shows() -> None:
    tool("gcc")
    assert made(TEXT, "c", run_shown) == TEXT


def test_the_excerpt_is_of_the_program() -> None:
    block = TEXT.split("in short:\n", 1)[1].split("\n- ", 1)[0]
    lines = [line[4:] for line in block.splitlines() if line.strip() not in ("", "...")]
    assert len(lines) > 10
    for line in lines:
        assert line.rstrip() in MAIN.splitlines()


def test_the_messages_are_the_tools() -> None:
    table = TEXT.split("## Error messages\n", 1)[1]
    sources = "".join(
        (ROOT / name).read_text("utf-8")
        for name in (
            "asm/linker_script.py",
            "asm/elf_read.py",
            "asm/elf_headers.py",
            "asm/elf_format.py",
            "asm/elf_note.py",
            "emu/address_space.py",
            "emu/device.py",
        )
    )
    rows = re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)
    assert len(rows) == 7
    for row in rows:
        for piece in re.split(
            r"\.\.\.|undefined reference to |;|macaw asm -c --ld-script|\.segment", row
        ):
            assert piece.strip(" `") in sources, piece
