"""The files that the language server finds itself: programs and symbols of a folder."""

from pathlib import Path

import pytest

from macaw.language_server.program_finder import ProgramDescription, ProgramFinder
from macaw.language_server.workspace_symbols import SymbolIndex


@pytest.mark.parametrize("broken", ["source = 3\n", "source = [\n", "sources = ['p.s']\n"])
def test_a_description_that_cannot_be_read_hides_no_other(tmp_path: Path, broken: str) -> None:
    """A broken golden.toml does not hide a golden.toml in a folder above that names the file."""
    inner = tmp_path / "inner"
    inner.mkdir()
    source = inner / "p.s"
    source.write_text("nop\n")
    (inner / "golden.toml").write_text(broken)
    (tmp_path / "golden.toml").write_text('source = "inner/p.s"\ndevice = "tiny"\n')
    finder = ProgramFinder([tmp_path], ())
    assert finder.find(source, {}) == ProgramDescription((source,), "tiny")
    (inner / "golden.toml").write_text('source = "p.s"\ndevice = "base"\n')
    finder.forget()
    assert finder.find(source, {}) == ProgramDescription((source,), "base")


def test_symbols_of_files_up_to_a_size(tmp_path: Path) -> None:
    """Symbols are read from files up to 1 MiB."""
    for name, size in (("fits", 1 << 20), ("large", (1 << 20) + 1)):
        text = f"{name}: nop\n"
        (tmp_path / f"{name}.s").write_text(text + "#" * (size - len(text)))
    found = SymbolIndex().find("", [tmp_path], {})
    assert [symbol.name for symbol in found] == ["fits"]


def test_at_most_500_symbols_of_2000_files(tmp_path: Path) -> None:
    """At most 500 symbols are found: first names that begin with the query, then short ones."""
    (tmp_path / "many.s").write_text("".join(f"x{n}: nop\n" for n in range(600)))
    (tmp_path / "other.s").write_text("xy: nop\nyx: nop\n")
    names = [symbol.name for symbol in SymbolIndex().find("X", [tmp_path], {})]
    expected = sorted([f"x{n}" for n in range(600)] + ["xy"], key=lambda name: (len(name), name))
    assert names == expected[:500]
