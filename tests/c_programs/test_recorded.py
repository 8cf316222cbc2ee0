"""The recorded outcomes of the C programs are those that gcc, GNU ld and Unicorn give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.c_programs import c_compilers
from tests.c_programs.c_compilers import LEVELS, PROGRAMS

SAMPLE = ("globals", "many_arguments", "state_machine")
SLOW = [pytest.param(name, marks=pytest.mark.long) for name in PROGRAMS if name not in SAMPLE]


def test_each_program_has_an_outcome_and_a_purpose() -> None:
    assert sorted(path.stem for path in c_compilers.EXPECTED.iterdir()) == PROGRAMS
    assert len(PROGRAMS) >= 40
    for name in PROGRAMS:
        assert (c_compilers.HERE / f"{name}.c").read_text("utf-8").startswith("/* "), name


@pytest.mark.once
@pytest.mark.skipif(c_compilers.is_missing("gcc"), reason="no gcc for RISC-V here")
@pytest.mark.parametrize("name", [*SAMPLE, *SLOW])
def test_outcome(tmp_path: Path, name: str) -> None:
    for level in LEVELS:
        executable = tmp_path / level
        c_compilers.linked(executable, level, name)
        assert c_compilers.run_in_unicorn(executable).text() == c_compilers.expected(name)
