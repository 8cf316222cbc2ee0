"""The names of warnings, and the options that choose by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from macaw.asm import warnings
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import Diagnostic
from macaw.asm.source import Source
from tests.macaw.conftest import Macaw

TEXT = '        .core   cp\n.L:\n        .warning "careful"\n'
ROOT = Path(__file__).parents[2]


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "a.s").write_text(TEXT)
    return "a.s"


@pytest.mark.parametrize(
    ("options", "status", "said", "unsaid"),
    [
        ((), 0, ["[-Wunused-label]", "[-Wuser]"], []),
        (("-Wno-user",), 0, ["unused-label"], ["careful"]),
        (("-Wno-user", "-Wuser"), 0, ["unused-label", "careful"], []),
        (("-Wno-user", "-Wno-unused-label"), 0, [], ["warning"]),
        (("-Werror",), 2, ["error: careful [-Werror]"], ["warning:"]),
        (("-Werror=user",), 2, ["error: careful [-Werror]", "warning: label"], []),
        (("-Werror", "-Wno-user", "-Wno-unused-label"), 0, [], ["error"]),
        (("-Wno-usr",), 2, ["no warning is called 'usr'; did you mean 'user'?"], []),
        (("-Wnothing",), 2, ["no warning is called 'nothing'"], []),
    ],
)
def test_options(
    macaw: Macaw,
    source: str,
    options: tuple[str, ...],
    status: int,
    said: list[str],
    unsaid: list[str],
) -> None:
    result = macaw("asm", source, *options)
    text = " ".join(result.stderr.split())
    assert result.returncode == status, text
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


def test_the_names_are_listed(macaw: Macaw, source: str) -> None:
    result = macaw("asm", source, "-Whelp")
    assert result.returncode == 0
    assert [name for name in warnings.WARNINGS if f"-W{name} " not in result.stdout] == []


def test_a_name_in_json(macaw: Macaw, source: str) -> None:
    result = macaw("asm", source, "--diagnostics", "json")
    assert [item["name"] for item in json.loads(result.stderr)] == ["unused-label", "user"]


def test_each_warning_of_the_corpus_has_a_name_that_is_listed() -> None:
    """The corpus reaches all places that warn."""
    found = set()
    for path in sorted((ROOT / "tests" / "asm" / "ok").glob("*.s")):
        program = assemble(Source(path.read_text("utf-8"), path.name, path.parent))
        found |= {item.name for item in program.warnings if isinstance(item, Diagnostic)}
    assert found <= set(warnings.WARNINGS)
    assert len(found) >= 5
