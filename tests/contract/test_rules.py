"""The rules that emulator and lowering share import no other room and have no state."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.contract.imports import imports, modules

RULES = {name: path for name, path in modules().items() if name.startswith("macaw.emu.rules")}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_imports_tables_and_libraries_alone(name: str) -> None:
    for origin in imports(name, RULES[name]):
        package, _, rest = origin.partition(".")
        ours = package == "macaw" and rest.startswith(("isa.", "emu.rules."))
        assert ours or package in sys.stdlib_module_names or package == "numpy", origin


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_no_state(name: str) -> None:
    """Classes of a rule are frozen, and no function sets a variable outside of itself."""
    for node in ast.walk(ast.parse(RULES[name].read_text("utf-8"))):
        assert not isinstance(node, ast.Global | ast.Nonlocal)
        if isinstance(node, ast.ClassDef):
            frozen = [ast.unparse(x) for x in node.decorator_list] == ["dataclass(frozen=True)"]
            assert frozen or [ast.unparse(x) for x in node.bases] == ["NamedTuple"], node.name
        targets = node.targets if isinstance(node, ast.Assign) else []
        assert all(isinstance(x, ast.Name | ast.Tuple) for x in targets), ast.unparse(node)


def test_there_are_rules() -> None:
    assert {"macaw.emu.rules.fim_dram", "macaw.emu.rules.transfers"} <= set(RULES)
