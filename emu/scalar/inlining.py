"""The text of an act: what `emu.scalar.semantics` says of a row, with its registers as variables.

An act is a closure in a module of meanings. Its statements are taken from that module's
source, its free variables from the closure: numbers become constants, registers
variables (`x10`), all else names in a namespace. So a meaning is written once,
and the same for an engine that calls acts and for one that executes text.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from emu.scalar.semantics import SINK

LEAVE = "LEAVE"  # a line of its own: here the act raises `Leave`


class Inlined(NamedTuple):
    """The statements of an act, and what it returns: a branch's condition, a jump's address."""

    lines: list[str]
    result: str


@cache
def _bodies(module: ModuleType) -> dict[str, list[ast.stmt]]:
    """The statements of each act of a module, by the name of the function that makes it."""
    found = {}
    for outer in ast.parse(inspect.getsource(module)).body:
        if isinstance(outer, ast.FunctionDef):
            for inner in outer.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "act":
                    found[outer.name] = inner.body
    return found


def inlined(
    module: ModuleType, make: Callable[..., Any], act: Any, names: dict[str, Any]
) -> Inlined:
    """The text of `act`, which `make` of the module has made; adds to `names` what it uses.

    Raises `OSError` if the module has no source.
    """
    assert isinstance(act, FunctionType)
    cells = (cell.cell_contents for cell in act.__closure__ or ())
    values = dict(zip(act.__code__.co_freevars, cells, strict=True))
    values |= {name: act.__globals__[name] for name in act.__code__.co_names
               if name in act.__globals__}  # fmt: skip
    change = _Change(values, names)
    lines: list[str] = []
    result = ""
    for statement in _bodies(module)[make.__name__]:
        copy = ast.parse(ast.unparse(statement)).body[0]
        if isinstance(copy, ast.Return):
            result = _result(copy.value, values, change)
        else:
            lines += ast.unparse(ast.fix_missing_locations(change.visit(copy))).splitlines()
    return Inlined(lines, result)


def _result(value: ast.expr | None, values: dict[str, Any], change: _Change) -> str:
    if isinstance(value, ast.IfExp):
        return ast.unparse(change.visit(value.test))
    if isinstance(value, ast.Tuple):
        return ast.unparse(change.visit(value.elts[0]))
    assert isinstance(value, ast.Name)
    return str(values[value.id][0])


class _Change(ast.NodeTransformer):
    def __init__(self, values: dict[str, Any], names: dict[str, Any]) -> None:
        self.values = values
        self.names = names

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "x":
            assert isinstance(node.slice, ast.Name)
            number = self.values[node.slice.id]
            if number == 0:
                return ast.Constant(0)
            return ast.Name("sink" if number == SINK else f"x{number}", node.ctx)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.values:
            return node
        value = self.values[node.id]
        if isinstance(value, int):
            return ast.Constant(value)
        return ast.Name(named(self.names, node.id, value), node.ctx)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Expr(ast.Name(LEAVE, ast.Load()))


def named(names: dict[str, Any], name: str, value: object) -> str:
    """The name under which a value is in `names`, from now on at least."""
    wanted, number = name, 1
    while wanted in names and names[wanted] is not value:
        number += 1
        wanted = f"{name}{number}"
    names[wanted] = value
    return wanted
