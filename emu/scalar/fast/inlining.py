"""Writes the text of an act (`macaw.emu.scalar.semantics`), in which registers are variables.

An act is a closure that executes one instruction. The statements come from the source of its
module, parsed once for all acts of one function. The free variables come from the closure: numbers
become constants, registers become variables (`x10`), everything else becomes a name in a namespace.
So each instruction is defined only once, both for engines that call acts and for engines that
execute text.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from macaw.emu.scalar.semantics import MASK, SINK
from macaw.isa.typed_records import NamedTuple

LEAVE = "LEAVE"  # a separate line, at which the act raises `Leave`

_REGISTER, _VALUE = "x", "v"  # the kinds of marks
_MARK = re.compile(rf"_({_REGISTER}|{_VALUE})_(\w+?)__(?!\w)")
_REGISTERS = re.compile(r"x\d+")  # the variables of registers
_MASKED = f" & {MASK}"  # the end of a line whose value wraps


class Inlined(NamedTuple):
    """The text of an act: its statements, and the expression of its result.

    The result is the condition of a branch or the address of a jump.
    """

    lines: list[str]
    result: str


class Spans(dict[str, tuple[int, int]]):
    """The least and the greatest value of each variable, by name, as far as the text shows them."""

    def of(self, name: str) -> tuple[int, int]:
        """Return the least and the greatest value of `name`, a register's variable."""
        return self.get(name, (0, MASK))

    def find(self, node: ast.expr) -> tuple[int, int] | None:
        """Return the least and the greatest value of the expression `node`; None if they are
        unknown.
        """
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value, node.value
        if isinstance(node, ast.Name):
            return self.of(node.id) if _REGISTERS.fullmatch(node.id) else None
        if isinstance(node, ast.IfExp):
            chosen = self.find(node.body), self.find(node.orelse)
            return None if None in chosen else _hull(x for pair in chosen if pair for x in pair)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            span = self.find(node.operand)
            return None if span is None else (-span[1], -span[0])
        if not isinstance(node, ast.BinOp):
            return None
        left, right = self.find(node.left), self.find(node.right)
        if left is None or right is None:
            return None
        return _combined(node.op, left, right)


def _hull(values: Iterable[int]) -> tuple[int, int]:
    known = list(values)
    return min(known), max(known)


def _combined(
    op: ast.operator, left: tuple[int, int], right: tuple[int, int]
) -> tuple[int, int] | None:
    """Return the least and the greatest result of the operation `op`; None if they are unknown.

    The operands are any numbers in the ranges `left` and `right`.
    """
    if isinstance(op, ast.Add):
        return left[0] + right[0], left[1] + right[1]
    if isinstance(op, ast.Sub):
        return left[0] - right[1], left[1] - right[0]
    if isinstance(op, ast.Mult):
        return _hull(a * b for a in left for b in right)
    if isinstance(op, ast.BitAnd) and max(left[0], right[0]) >= 0:
        return 0, min(span[1] for span in (left, right) if span[0] >= 0)
    if isinstance(op, (ast.BitOr, ast.BitXor)) and min(left[0], right[0]) >= 0:
        return 0, (1 << max(left[1], right[1]).bit_length()) - 1
    if isinstance(op, ast.RShift) and right[0] >= 0:
        return _hull(a >> b for a in left for b in right)
    if isinstance(op, ast.LShift) and 0 <= right[0] <= right[1] < 32:
        return _hull(a << b for a in left for b in right)
    return None


@cache
def _bodies(module: ModuleType) -> dict[str, list[ast.stmt]]:
    """Return the statements of each act of a module, by the name of the function that makes it."""
    found: dict[str, list[ast.stmt]] = {}
    for outer in ast.parse(inspect.getsource(module)).body:
        if isinstance(outer, ast.FunctionDef):
            for inner in outer.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "act":
                    found[outer.name] = inner.body
    return found


class _Template(NamedTuple):
    """The text of all acts that one function makes. Marks stand for what differs between the acts.

    A mark (`_MARK`) has the name of a register operand or of a value of the closure. `result` is
    the expression of the result. If `outcome` is not empty, it is a variable with a tuple whose
    first item is the result.
    """

    lines: tuple[str, ...]
    result: str
    outcome: str


def inline(
    module: ModuleType,
    make: Callable[..., Any],
    act: Any,
    names: dict[str, Any],
    spans: Spans,
) -> Inlined:
    """Return the text of `act`, which the function `make` of `module` has made.

    The function adds to `names` the names that the text uses, with their values. `spans` has the
    known ranges of registers before the act. The function adds the range of a register that the act
    writes. Raises `OSError` if the module has no source.
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
    lines = [_MARK.sub(put, line) for line in template.lines]
    if len(lines) == 1:
        lines = _simplify(lines[0], spans)
    else:
        for line in lines:
            spans.pop(line.strip().partition(" = ")[0], None)
    if template.outcome:
        return Inlined(lines, str(values[template.outcome][0]))
    return Inlined(lines, _MARK.sub(put, template.result))


def _simplify(line: str, spans: Spans) -> list[str]:
    """Return lines with the same effect as `line`, which is an assignment.

    The assignment may mask its value to 32 bits. A mask that changes no value is left out. A sum or
    difference is assigned without the mask, and a second line masks it only if it does not fit into
    32 bits: for Python, `&` with a mask of 32 bits takes longer than a comparison. The function
    stores the known range of the variable in `spans`.
    """
    statement = ast.parse(line).body[0]
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return [line]
    name, value = statement.targets[0].id, statement.value
    masked = line.endswith(_MASKED) and isinstance(value, ast.BinOp)
    if masked:
        assert isinstance(value, ast.BinOp)
        value = value.left
    span = spans.find(value)
    spans.pop(name, None)
    fits = span is not None and 0 <= span[0] <= span[1] <= MASK
    if fits and span is not None:
        spans[name] = span
    if not masked:
        return [line]
    bare = line.removesuffix(_MASKED).removesuffix(" + 0")
    if fits:
        return [bare]
    if span is None or not isinstance(value, ast.BinOp):
        return [line]
    if not isinstance(value.op, (ast.Add, ast.Sub)) or not isinstance(value.left, ast.Name):
        return [line]
    test = "< 0" if span[0] < 0 else f"> {MASK}"
    return [bare, f"if {name} {test}: {name} &= {MASK}"]


@cache
def _template(module: ModuleType, name: str, values: frozenset[str]) -> _Template:
    """Return the text of an act as a template, from the function `name` that makes such acts.

    The function belongs to `module`. Acts that it makes differ only in the values of the variables
    in `values`, which an act has from its closure or from its module. In the text, a mark stands
    for each of these variables.
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
    """Replaces registers and `values` in statements by marks, the names that `_MARK` matches."""

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


def indent_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines, indented by one level."""
    return [f"    {line}" for line in lines]
