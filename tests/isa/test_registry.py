"""The registry finds the cores; no list names them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from macaw.isa import cp, pe, registry


def test_names_are_ordered_by_core_number():
    numbers = [registry.core(name).number for name in registry.names()]
    assert numbers == sorted(numbers)
    assert {"cp", "dma", "pe"} <= set(registry.names())


def test_core():
    assert registry.core("cp") is cp.CORE
    assert registry.core("pe") is pe.CORE
    assert [core.name for core in registry.cores()] == list(registry.names())


@pytest.mark.parametrize("name", ["scalar", "model", "", "no such", "..", "x.y", "pee"])
def test_unknown_core(name):
    with pytest.raises(registry.UnknownCoreError) as error:
        registry.core(name)
    hint = "; did you mean 'pe'?" if name == "pee" else ""
    listed = ", ".join(registry.names())
    assert str(error.value) == f"no core is called '{name}', there are {listed}{hint}"


def test_one_table_is_imported_without_the_others():
    program = (
        "import sys; from macaw.isa import registry; registry.core('pe');"
        "print(sorted(m for m in sys.modules if m.startswith('macaw.isa.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "macaw.isa.pe" in done.stdout
    assert "macaw.isa.cp" not in done.stdout
    assert "macaw.isa.scalar" not in done.stdout


def test_numbers_of_cores_are_those_of_the_specification():
    """Cores have the numbers of the specification (seed 000 ¶81, seed 001 ¶74-75)."""
    expected = {"cp": 0, "dma": 1, "vc": 2, "nnp": 3, "fim": 8, "pe": 16}
    for core in registry.cores():
        assert core.number == expected[core.name]
