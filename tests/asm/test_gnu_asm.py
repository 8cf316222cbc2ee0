"""The assembler against GNU as: labels, branches, addresses, data, alignment, expressions, macros,
repetitions, conditionals, includes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings

from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from tests.asm import gnu, programs
from tests.fuzzing import third_in_ci

CASES = gnu.cases()
# A contributor may have no GNU as; in CI, which installs it, a skip is a failure.
needs_gnu = pytest.mark.skipif(gnu.tools_missing(), reason="no GNU as here to compare with")


def ours(text: str) -> gnu.Bytes:
    """The bytes that Macaw makes, of the sections that are compared with GNU as."""
    program = assemble(Source(f"        .core cp\n        .text\n{text}", "gnu.s", gnu.FOLDERS[1]))
    found = {section.name: section.data.hex() for section in program.sections}
    return {".text": found.get(".text.cp", ""), ".data": found.get(".data", "")}


@pytest.mark.once
@pytest.mark.parametrize("name", CASES)
def test_same_bytes(name: str) -> None:
    wanted, found = gnu.recorded()[name], ours(CASES[name])
    for section in (".text", ".data"):
        assert bytes.fromhex(found[section]).hex(" ", 4) == bytes.fromhex(wanted[section]).hex(
            " ", 4
        )


@pytest.mark.once
@needs_gnu
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs.program())
def test_random_programs_of_macros(text: str) -> None:
    found, wanted = ours(text), gnu.live(text)
    assert bytes.fromhex(found[".data"]) == bytes.fromhex(wanted[".data"])


@pytest.mark.once
@needs_gnu
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs.resetting())
def test_symbols_that_are_set_again(text: str) -> None:
    """An expression before a symbol is set uses the symbol's first value (F24).

    An expression after that uses the latest value.
    """
    assume(not programs.has_late_alias(text))
    found, wanted = ours(text), gnu.live(text)
    assert bytes.fromhex(found[".data"]) == bytes.fromhex(wanted[".data"])


@needs_gnu
def test_a_name_of_a_symbol_that_depends_on_a_later_label() -> None:
    """Macaw resolves `p = r` if r depends on a later label; GNU as gives 0 (docs/language.md)."""
    text = ".data\nbegin: .byte 1, 1\n.set r, here - begin\n.set p, r\nhere: .byte p\n"
    assert ours(text)[".data"] == "010102"
    assert gnu.live(text)[".data"] == "010100"
    assert programs.has_late_alias(text)


@needs_gnu
def test_the_vectors_are_current() -> None:
    assert set(gnu.recorded()) == set(CASES)
    names = third_in_ci(list(CASES))
    assert {name: gnu.recorded()[name] for name in names} == {x: gnu.live(CASES[x]) for x in names}
