"""Assembly of gcc and clang (`-S`) assembles unchanged and runs as the linked program does."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

import macaw
from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from tests.c_programs import c_compilers
from tests.c_programs.c_compilers import LEVELS, PROGRAMS

pytestmark = pytest.mark.once

# In CI clang is missing: what it wrote for some programs is kept
# (`python -m tests.c_programs.test_assembly`).
KEPT = c_compilers.HERE / "clang.json.gz"
_KEPT_CASES = [("globals", "-O2"), ("dispatch", "-O0"), ("string_words", "-Os")]
_SAMPLE = [("globals", "-O0"), ("state_machine", "-O2"), ("long_division", "-Os")]
_ALL = [(name, level) for name in PROGRAMS for level in LEVELS]
_CASES = [
    pytest.param(*case, marks=() if case in _SAMPLE else pytest.mark.long, id="".join(case))
    for case in _ALL
]


def outcome(sources: list[Path | Source]) -> str:
    """Assemble without warnings and run on cp; return the outcome as `Outcome.text` writes it."""
    program = assemble(sources)
    assert program.warnings == ()
    run = macaw.run(program)
    return c_compilers.Outcome(run.stdout.encode(), run.exit_code).text()


def compiled(folder: Path, compiler: str, level: str, name: str, *options: str) -> str:
    return outcome(list(c_compilers.assembly(folder, compiler, level, name, *options)))


@pytest.mark.parametrize(("name", "level"), _CASES)
@pytest.mark.skipif(c_compilers.is_missing("gcc"), reason="no gcc for RISC-V here")
def test_gcc(tmp_path: Path, name: str, level: str) -> None:
    assert compiled(tmp_path, "gcc", level, name) == c_compilers.expected(name)


@pytest.mark.may_skip_in_ci
@pytest.mark.parametrize(("name", "level"), _CASES)
@pytest.mark.skipif(c_compilers.is_missing("clang"), reason="no clang here")
def test_clang(tmp_path: Path, name: str, level: str) -> None:
    assert compiled(tmp_path, "clang", level, name) == c_compilers.expected(name)


@pytest.mark.skipif(c_compilers.is_missing("gcc"), reason="no gcc for RISC-V here")
def test_sources_with_information_for_debuggers(tmp_path: Path) -> None:
    assert compiled(tmp_path, "gcc", "-O2", "globals", "-g") == c_compilers.expected("globals")


@cache
def kept() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(gzip.decompress(KEPT.read_bytes()))
    return found


def fresh(folder: Path) -> dict[str, list[str]]:
    return {
        name + level: [
            path.read_text("utf-8") for path in c_compilers.assembly(folder, "clang", level, name)
        ]
        for name, level in _KEPT_CASES
    }


@pytest.mark.parametrize(("name", "level"), _KEPT_CASES)
def test_what_clang_wrote(name: str, level: str) -> None:
    texts = kept()[name + level]
    sources: list[Path | Source] = [Source(text, f"{i}.s") for i, text in enumerate(texts)]
    assert outcome(sources) == c_compilers.expected(name)


@pytest.mark.may_skip_in_ci
@pytest.mark.skipif(c_compilers.is_missing("clang"), reason="no clang here")
def test_what_is_kept_of_clang_is_current(tmp_path: Path) -> None:
    """The stored assembly of clang is what clang writes now, if its version is the same."""
    for name, texts in fresh(tmp_path).items():
        if kept()[name][0].partition(".ident")[2] == texts[0].partition(".ident")[2]:
            assert kept()[name] == texts


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        data = json.dumps(fresh(Path(place))).encode()
    KEPT.write_bytes(gzip.compress(data, mtime=0))
