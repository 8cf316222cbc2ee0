"""Writes the text of an act (`macaw.emu.scalar.semantics`), in which registers are variables.

An act is a closure. The statements come from the source of its module, parsed once for all acts of
one function. The free variables come from the closure: numbers become constants, registers become
variables (`x10`), everything else becomes a name in a namespace. So each instruction is defined
only once, both for engines that call acts and for engines that execute text.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from macaw.emu.scalar.semantics import MASK, SINK

LEAVE = "LEAVE"  # a separate line, at which the act raises `Leave`

_REGISTER, _VALUE = "x", "v"  # the kinds of marks
# A sum or difference of a register and a register or number, which wraps.
_WRAPS = re.compile(rf"( *)(\w+) = (x\d+) ([+-]) (x\d+|-?\d+) & {MASK}")
_MARK = re.compile(rf"_({_REGISTER}|{_VALUE})_(\w+?)__(?!\w)")


class Inlined(NamedTuple):
    """The text of an act: its statements, and the expression of its result.

    The result is the condition of a branch or the address of a jump.
    """

    lines: list[str]
    result: str


@cache
def _bodies(module: ModuleType) -> dict[str, list[ast.stmt]]:
    """Return the statements of each act of a module, by the function that makes the act."""
    found: dict[str, list[ast.stmt]] = {}
    for outer in ast.parse(inspect.getsource(module)).body:
        if isinstance(outer, ast.FunctionDef):
            for inner in outer.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "act":
                    found[outer.name] = inner.body
    return found


class _Template(NamedTuple):
    """The text of all acts that one function makes, with marks (`_MARK`) where they differ."""

    lines: tuple[str, ...]
    result: str
    outcome: str  # the variable with a tuple whose first item is the result; empty: see `result`


def inline(
    module: ModuleType, make: Callable[..., Any], act: Any, names: dict[str, Any]
) -> Inlined:
    """Return the text of `act`, which the function `make` of `module` has made.

    The function adds the names that the text uses to `names`, with their values. Raises `OSError`
    if the module has no source.
    """
    assert isinstance(act, FunctionType)
    code = act.__code__
    cells = (cell.cell_contents for cell in act.__closure__ or ())
    values = dict(zip(code.co_freevars, cells, strict=True))
    known = act.__globals__
    values |= {name: known[name] for name in code.co_names if name in known}

    def put(mark: re.Match[str]) -> str:
        kind, name = mark.groups()
        value = values[name]
        if kind == _REGISTER:
            return "sink" if value == SINK else f"x{value}" if value else "0"
        return str(value) if isinstance(value, int) else name_for(names, name, value)

    template = _template(module, make.__name__, frozenset(values))
    lines = [x for line in template.lines for x in _wrap_lines(_MARK.sub(put, line))]
    if template.outcome:
        return Inlined(lines, str(values[template.outcome][0]))
    return Inlined(lines, _MARK.sub(put, template.result))


def _wrap_lines(line: str) -> list[str]:
    """Return a line of text, or two lines that wrap a sum only if it does not fit into 32 bits.

    Python takes longer for `&` with a mask of 32 bits than for an addition and a comparison.
    """
    found = _WRAPS.fullmatch(line)
    if found is None:
        return [line]
    indent, name, left, sign, right = found.groups()
    if right == "0":
        return [f"{indent}{name} = {left}"]
    may_be_negative = (sign == "-") != right.startswith("-")
    test = "< 0" if may_be_negative else f"> {MASK}"
    wrapped = f"{indent}if {name} {test}: {name} &= {MASK}"
    return [f"{indent}{name} = {left} {sign} {right}", wrapped]


@cache
def _template(module: ModuleType, name: str, values: frozenset[str]) -> _Template:
    """Return the template of the acts that the function `name` of a module makes.

    `values` are the names in the acts whose values come from the closure.
    """
    change = _Change(values)
    lines: list[str] = []
    result = outcome = ""
    for statement in _bodies(module)[name]:
        changed = change.visit(deepcopy(statement))
        if not isinstance(changed, ast.Return):
            lines += ast.unparse(ast.fix_missing_locations(changed)).splitlines()
        elif isinstance(changed.value, ast.IfExp):
            result = ast.unparse(changed.value.test)
        elif isinstance(changed.value, ast.Tuple):
            result = ast.unparse(changed.value.elts[0])
        else:
            assert isinstance(changed.value, ast.Name)
            found = _MARK.fullmatch(changed.value.id)
            assert found is not None
            outcome = found[2]
    return _Template(tuple(lines), result, outcome)


class _Change(ast.NodeTransformer):
    """Replaces registers and values in statements by marks."""

    def __init__(self, values: frozenset[str]) -> None:
        self.values = values

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "x":
            assert isinstance(node.slice, ast.Name)
            return ast.Name(f"_{_REGISTER}_{node.slice.id}__", node.ctx)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(f"_{_VALUE}_{node.id}__", node.ctx) if node.id in self.values else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Expr(ast.Name(LEAVE, ast.Load()))


def name_for(names: dict[str, Any], name: str, value: object) -> str:
    """Return a name for `value` in `names`; add the value under a new name if it is not there."""
    wanted, number = name, 1
    while wanted in names and names[wanted] is not value:
        number += 1
        wanted = f"{name}{number}"
    names[wanted] = value
    return wanted
