"""The files of `make docs` are up to date with the tables, and their links lead somewhere."""

import re
from functools import cache
from pathlib import Path

import pytest

from docs import build
from macaw.isa import pages, registry
from macaw.isa.markdown import slug

made = cache(build.made)  # by the tests: nothing is made as they are collected
OTHERS = [
    "asm/parser_tables.json",
    "debugger/parser_tables.json",
    "docs/debugger-commands.md",
    "docs/modules.md",
    "docs/profile.md",
    "docs/pruning.svg",
    "docs/rooms.svg",
    "editors/vscode/language-configuration.json",
    "editors/vscode/macaw.tmLanguage.json",
    "src/macaw/profiling/profile.schema.json",
]
HELD = sorted(
    path.relative_to(build.ROOT).as_posix()
    for folder in build.FOLDERS
    for path in (build.ROOT / folder).rglob("*")
    if path.is_file()
)
REFERENCE = [name for name in HELD if name.startswith("docs/isa/")]


@pytest.mark.parametrize("name", [*HELD, *OTHERS])
def test_file_is_current(name: str) -> None:
    held = (build.ROOT / name).read_text("utf-8")
    assert held == made()[name], "make docs writes it anew"


def test_the_folders_hold_nothing_else() -> None:
    assert sorted(made()) == sorted([*HELD, *OTHERS])


def anchors(text: str) -> set[str]:
    """The anchors of a file's headings; GitHub adds a number to an anchor that occurs again."""
    found: set[str] = set()
    for line in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        name = slug(line.replace("\\", ""))
        number = 0
        while (f"{name}-{number}" if number else name) in found:
            number += 1
        found.add(f"{name}-{number}" if number else name)
    return found


@pytest.mark.parametrize("name", REFERENCE)
def test_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)]*)\)", made()[name])
    assert len(links) > 1 or name.endswith("device.md")
    for link in links:
        if link == "../glossary.md":  # written by hand
            continue
        path, _, anchor = link.partition("#")
        target = (Path(name).parent / path).as_posix() if path else name
        assert target in made(), link
        assert not anchor or anchor in anchors(made()[target]), link


@pytest.mark.parametrize("core", registry.cores(), ids=lambda core: core.name)
def test_every_page_of_a_core_is_in_its_file(core) -> None:
    text = made()[f"docs/isa/{core.name}.md"]
    plain = re.sub(r"\\(.)", r"\1", re.sub(r"\[([^]]*)\]\(#[^)]*\)", r"\1", text))
    plain = " ".join(plain.replace("<br>", " ").split())  # lines and cells are cut
    for item in pages.of_core(core):
        assert item.name in text
        assert item.meaning in plain
        assert item.bits in text
        for heading, texts in item.entries:
            if item.kind in ("instruction", "pseudo-instruction"):
                assert f"| {heading} | " in text or heading == "Example"
                for entry in texts:
                    assert entry in plain.replace("`", ""), entry


@pytest.mark.parametrize("core", registry.cores(), ids=lambda core: core.name)
def test_an_instruction_has_the_same_headings_as_any_other(core) -> None:
    text = made()[f"docs/isa/{core.name}.md"]
    for row in core.instructions:
        (section,) = re.findall(rf"^### {re.escape(row.mnemonic)}\n(.*?)^#", text, re.M | re.S)[:1]
        heads = re.findall(r"^\| ([A-Z]\w*[a-z ]*) \|", section, re.M)
        assert [x for x in heads if x != "Operands"] == ["Reads", "Writes", "Cycles", "Source"]
        assert section.count("```text\n") == section.count("```asm\n") == 1
        assert f"```asm\n{row.example}\n```" in section
