"""Makes mutants of a module: each has one small change of what a line computes.

It never changes docstrings and other texts, annotations, decorators, assertions, messages of a
`raise`, imports, or code that only type checkers or `python -m` use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

_COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(), ast.LtE: ast.Lt(), ast.Gt: ast.GtE(), ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(), ast.Is: ast.IsNot(), ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(), ast.NotIn: ast.In(),
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(), ast.Sub: ast.Add(), ast.Mult: ast.Add(), ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(), ast.Mod: ast.FloorDiv(), ast.Pow: ast.Mult(),
    ast.LShift: ast.RShift(), ast.RShift: ast.LShift(),
    ast.BitAnd: ast.BitOr(), ast.BitOr: ast.BitAnd(), ast.BitXor: ast.BitOr(),
}  # fmt: skip
KINDS = (
    "comparison", "arithmetic", "boolean", "constant", "condition", "return", "removal", "jump",
    "default", "slice",
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change: the bytes from `start` to `end` of a file become `new`.

    `lines` are the first and the last changed line. `functions` are the first lines of the
    functions around the change, the outermost first. Outside functions, `names` are the variables
    that the statement assigns.
    """

    path: str
    kind: str
    start: int
    end: int
    new: str
    lines: tuple[int, int]
    functions: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def applied(self, text: str) -> str:
        """Return the text of the file with the change."""
        data = text.encode()
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()

    def diff(self, text: str) -> str:
        """The change as a diff without context."""
        pair = text.splitlines(), self.applied(text).splitlines()
        changed = unified_diff(*pair, self.path, self.path, n=0, lineterm="")
        return "\n".join(line for line in changed if not line.startswith(("---", "+++")))


def mutants(path: str, text: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text. Some may not be `legal`."""
    walk = _Walk(path, text)
    walk.statements(ast.parse(text).body)
    return walk.found


def legal(mutant: Mutant, text: str) -> bool:
    """Whether a mutant is valid Python and differs from its original in more than layout."""
    try:
        return ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


class _Walk:
    """Walks through a module and collects mutants."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.found: list[Mutant] = []
        self.functions: tuple[int, ...] = ()
        self.names: tuple[str, ...] = ()
        self.starts = [0]
        for line in text.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    # -- making mutants

    def add(self, kind: str, node: ast.stmt | ast.expr, new: str) -> None:
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[last - 1] + column
        lines = (node.lineno, last)
        self.found.append(
            Mutant(self.path, kind, start, end, new, lines, self.functions, self.names)
        )

    def replace(self, kind: str, node: ast.expr, new: ast.expr) -> None:
        self.add(kind, node, f"({ast.unparse(new)})")

    # -- statements

    def statements(self, body: list[ast.stmt]) -> None:
        for number, node in enumerate(body):
            if not (number == 0 and _text(node)):
                self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        if not self.functions:
            self.names = tuple(sorted(_assigned(node)))
        match node:
            case ast.FunctionDef():
                self.definition(node)
            case ast.ClassDef():
                self.statements(node.body)
            case ast.If() | ast.While():
                if not _for_tools(node.test):
                    self.condition(node.test)
                    self.expression(node.test)
                    self.statements(node.body)
                self.statements(node.orelse)
            case ast.For():
                self.expression(node.iter)
                self.statements([*node.body, *node.orelse])
            case ast.With():
                for item in node.items:
                    self.expression(item.context_expr)
                self.statements(node.body)
            case ast.Try():
                handlers = [each for handler in node.handlers for each in handler.body]
                self.statements([*node.body, *handlers, *node.orelse, *node.finalbody])
            case ast.Match():
                self.expression(node.subject)
                for arm in node.cases:
                    if arm.guard is not None:
                        self.condition(arm.guard)
                        self.expression(arm.guard)
                    self.statements(arm.body)
            case _:
                self.simple(node)

    def definition(self, node: ast.FunctionDef) -> None:
        outer = self.functions
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        self.functions = (*outer, first)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if isinstance(default, ast.Constant):
                self.constant("default", default)
        self.statements(node.body)
        self.functions = outer

    def simple(self, node: ast.stmt) -> None:
        match node:
            case ast.Return(value=ast.expr() as value):
                if not isinstance(value, ast.Constant):
                    self.add("return", value, "None")
                self.expression(value)
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if all(isinstance(each, ast.Attribute | ast.Subscript) for each in targets):
                    self.add("removal", node, "pass")
                for target in targets:
                    self.expression(target)
                if node.value is not None and "__all__" not in _assigned(node):
                    self.expression(node.value)
            case ast.AugAssign():
                self.add("removal", node, "pass")
                other = ast.AugAssign(node.target, _OPERATORS[type(node.op)], node.value)
                self.add("arithmetic", node, ast.unparse(other))
                self.expression(node.value)
            case ast.Expr():
                if not _text(node) and not isinstance(node.value, ast.Yield | ast.YieldFrom):
                    self.add("removal", node, "pass")
                self.expression(node.value)
            case ast.Raise() | ast.Delete():
                self.add("removal", node, "pass")
            case ast.Break():
                self.add("jump", node, "continue")
            case ast.Continue():
                self.add("jump", node, "break")

    # -- expressions

    def condition(self, node: ast.expr) -> None:
        self.add("condition", node, f"(not ({ast.unparse(node)}))")

    def constant(self, kind: str, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace(kind, node, ast.Constant(not node.value))
        elif isinstance(node.value, int):
            self.replace(kind, node, ast.Constant(node.value + 1))
            self.replace(kind, node, ast.Constant(node.value - 1))

    def expression(self, node: ast.AST) -> None:
        match node:
            case ast.JoinedStr():
                return  # text; and its places are not exact
            case ast.Constant():
                self.constant("constant", node)
            case ast.Compare(ops=[op]):
                changed = ast.Compare(node.left, [_COMPARISONS[type(op)]], node.comparators)
                self.replace("comparison", node, changed)
            case ast.BinOp():
                if not (_text(node.left) or _text(node.right)):
                    changed_op = _OPERATORS.get(type(node.op))
                    if changed_op is not None:
                        self.replace(
                            "arithmetic", node, ast.BinOp(node.left, changed_op, node.right)
                        )
            case ast.BoolOp():
                other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
                self.replace("boolean", node, ast.BoolOp(other, node.values))
            case ast.UnaryOp():
                self.replace("boolean", node, node.operand)
            case ast.IfExp():
                self.condition(node.test)
            case ast.comprehension():
                for test in node.ifs:
                    self.condition(test)
            case ast.Subscript(slice=ast.Slice() as part):
                self.bounds(node, part)
            case ast.Lambda():
                self.expression(node.body)
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr | ast.comprehension | ast.keyword):
                self.expression(child)

    def bounds(self, node: ast.Subscript, part: ast.Slice) -> None:
        for lower, upper in ((None, part.upper), (part.lower, None)):
            if (lower, upper) != (part.lower, part.upper):
                new = ast.Subscript(node.value, ast.Slice(lower, upper, part.step), node.ctx)
                self.add("slice", node, ast.unparse(new))


def _text(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        node = node.value
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _for_tools(test: ast.expr) -> bool:
    """Whether an `if` tests for a type checker or for `python -m`."""
    return any(
        isinstance(node, ast.Name) and node.id in {"TYPE_CHECKING", "__name__"}
        for node in ast.walk(test)
    )


def _assigned(node: ast.stmt) -> Iterator[str]:
    """The names that a statement assigns."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                yield part.id
