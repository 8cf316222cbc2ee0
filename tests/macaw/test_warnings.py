"""The names of warnings, and the options that select warnings by name."""

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
        (("-Werror",), 2, ["error: careful [-Werror=user]"], ["warning:"]),
        (("-Werror=user",), 2, ["error: careful [-Werror=user]", "warning: label"], []),
        (("-Werror", "-Wno-user", "-Wno-unused-label"), 0, [], ["error"]),
        (("-Wno-usr",), 2, ["no warning is called 'usr'; did you mean 'user'?"], []),
        (("-Wnothing",), 2, ["no warning is called 'nothing'"], []),
        (("-Werror", "-Wno-error=user"), 2, ["no warning is called 'error=user'"], []),
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


RUNS = '        .core   cp\n.L:\n        .warning "careful"\n        li a7, 93\n        li a0, 0\n        ecall\n'
CONCORD = ROOT / "src" / "macaw" / "samples" / "nnp"


@pytest.mark.once
@pytest.mark.parametrize(
    "command",
    [
        ("asm",),
        ("asm", "-c", "-o", "a.o"),
        ("run",),
        ("debug", "--batch", "-e", "quit"),
        ("profile",),
        ("header",),
    ],
    ids=" ".join,
)
def test_every_command_that_assembles_takes_the_options(
    macaw: Macaw, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "a.s").write_text(RUNS)
    plain, fewer, wrong = (
        macaw(*command, "a.s", *options) for options in ((), ("-Wno-user",), ("-Werror=user",))
    )
    assert (plain.returncode, fewer.returncode, wrong.returncode) == (0, 0, 2), wrong.stderr
    assert "[-Wunused-label]" in plain.stderr
    assert "careful" in plain.stderr
    assert "[-Wunused-label]" in fewer.stderr
    assert "careful" not in fewer.stderr
    assert "error: careful [-Werror=user]" in wrong.stderr
    assert wrong.stdout == ""
    unknown = macaw(*command, "a.s", "-Wno-usr")
    assert unknown.returncode == 2
    assert "did you mean 'user'?" in " ".join(unknown.stderr.split())


def test_the_warnings_beside_errors_are_chosen_too(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(f"{TEXT}        ad a0, a1\n")
    for command in ("asm", "run"):
        both, one, error = (
            macaw(command, "a.s", *options) for options in ((), ("-Wno-user",), ("-Werror=user",))
        )
        for result in (both, one, error):
            assert result.returncode == 2
            assert "no instruction 'ad'" in result.stderr
        assert "warning: careful" in both.stderr
        assert "careful" not in one.stderr
        assert "error: careful [-Werror=user]" in error.stderr


def test_golden_tests_with_warnings_as_errors(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(RUNS)
    (tmp_path / "golden.toml").write_text('source = "a.s"\n')
    assert macaw("test", "--update", ".").returncode == 0
    plain, wrong = macaw("test", "."), macaw("test", ".", "-Werror", "-Wno-unused-label")
    assert (plain.returncode, wrong.returncode) == (0, 2)
    assert "careful" not in plain.stdout + plain.stderr
    assert "WRONG" in wrong.stdout
    assert "careful [-Werror=user]" in wrong.stdout
    assert "unused" not in wrong.stdout


def test_concord_takes_the_options(macaw: Macaw, tmp_path: Path) -> None:
    for path in CONCORD.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    source = tmp_path / "dense.s"
    source.write_text(f'{source.read_text()}\n        .warning "careful"\n')
    plain, fewer, wrong = (
        macaw("concord", "dense.s", "-o", f"{name}.py", option)
        for name, option in (("a", "-Wuser"), ("b", "-Wno-user"), ("c", "-Werror"))
    )
    assert (plain.returncode, fewer.returncode, wrong.returncode) == (0, 0, 2), plain.stderr
    assert "warning: careful" in plain.stderr
    assert fewer.stderr == ""
    assert "error: careful [-Werror=user]" in wrong.stderr
    assert [(tmp_path / f"{name}.py").exists() for name in "abc"] == [True, True, False]


def test_a_header_without_a_source_has_no_warnings_to_choose(macaw: Macaw) -> None:
    result = macaw("header", "-Werror")
    assert result.returncode == 2
    assert "-D, -I, --gnu and -W go with a FILE" in result.stderr


def test_the_names_are_listed(macaw: Macaw, source: str) -> None:
    result = macaw("asm", source, "-Whelp")
    assert result.returncode == 0
    assert [name for name in warnings.WARNINGS if f"-W{name} " not in result.stdout] == []


def test_a_name_in_json(macaw: Macaw, source: str) -> None:
    result = macaw("asm", source, "--diagnostics", "json")
    assert [item["name"] for item in json.loads(result.stderr)] == ["unused-label", "user"]


@pytest.mark.once
def test_each_warning_of_the_corpus_has_a_name_that_is_listed() -> None:
    """Each warning that the corpus causes has a name of the list; five or more names occur."""
    found = set()
    for path in sorted((ROOT / "tests" / "asm" / "ok").glob("*.s")):
        program = assemble(Source(path.read_text("utf-8"), path.name, path.parent))
        found |= {item.name for item in program.warnings if isinstance(item, Diagnostic)}
    assert found <= set(warnings.WARNINGS)
    assert len(found) >= 5
