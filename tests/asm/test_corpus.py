"""The corpus: every source in `ok` and `err` says itself what has to come of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from asm.assembler import assemble
from asm.diagnostics import AssemblyError, Diagnostic
from asm.source import Source
from tests.asm import expectations

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OK = sorted((HERE / "ok").glob("*.s"))
ERR = sorted((HERE / "err").glob("*.s"))


def source(path: Path) -> Source:
    """A source under a name that is the same wherever the tests run."""
    return Source(path.read_text("utf-8"), str(path.relative_to(ROOT)), path.parent)


@pytest.mark.parametrize("path", OK, ids=lambda path: path.stem)
def test_ok(path: Path) -> None:
    said, others = expectations.expected(path)
    program = assemble(source(path))
    found = [expectations.of(item) for item in program.warnings if isinstance(item, Diagnostic)]
    assert sorted(found) == said
    whole: dict[str, str] = {}
    for what, rest in others:
        if what == "bytes":
            name, _, data = rest.partition(" ")
            whole[name] = whole.get(name, "") + data
        else:
            found_part, wanted = expectations.compare(program, what, rest)
            assert found_part == wanted, rest
    for name, data in whole.items():
        assert program.section(name).data.hex(" ", 4) == bytes.fromhex(data).hex(" ", 4)


@pytest.mark.parametrize("path", ERR, ids=lambda path: path.stem)
def test_err(path: Path) -> None:
    said, _ = expectations.expected(path)
    with pytest.raises(AssemblyError) as caught:
        assemble(source(path))
    assert sorted(map(expectations.of, caught.value.diagnostics)) == said
    # In the order of the lines, and one error a line.
    places = [(item.span.line, item.span.column) for item in caught.value.diagnostics]
    assert places == sorted(places)
    starts = {";" in line for line in path.read_text("utf-8").splitlines()}
    lines = [item.span.line for item in caught.value.errors]
    assert len(lines) == len(set(lines)) or starts == {True, False}
