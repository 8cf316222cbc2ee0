"""The directives for symbols, and those with which a source reports errors and warnings itself."""

from __future__ import annotations

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.directive import check_count, name_of, wrong_operands
from macaw.asm.expressions import number
from macaw.asm.program import SYMBOL_KINDS
from macaw.asm.program_symbols import second_definition
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Deferred, Definition
from macaw.asm.syntax import Mistake, Name, Statement, Text


def set_symbol(context: StatementContext, statement: Statement) -> None:
    """Carry out `.set`, `.equ` or `=`: set a symbol that may be set again. Raises `Mistake`."""
    if len(statement.operands) != 2 or not isinstance(statement.operands[0], Name):
        if statement.operands and isinstance(statement.operands[0], Name):
            context.spoil(statement.operands[0])
        raise wrong_operands(statement, ".set NAME, value")
    name, value = statement.operands
    assert isinstance(name, Name)
    with context.spoil_on_error(name):
        context.assign(name, context.value(value))


def set_new_symbol(context: StatementContext, statement: Statement) -> None:
    """Carry out `.equiv`: set a symbol that must be new. Raises `Mistake`."""
    if statement.operands and isinstance(statement.operands[0], Name):
        name = statement.operands[0]
        before = context.scope.clash(name.text)
        if before is not None:
            raise second_definition(name, before)
    set_symbol(context, statement)


def share_symbols(context: StatementContext, statement: Statement) -> None:
    """Carry out `.global`: share symbols among all files. Raises `Mistake`."""
    check_count(statement, 1, 1 << 16, ".global NAME, ...")
    for node in statement.operands:
        name = name_of(node)
        other = context.scope.export(name.text, context.line, name.start, name.end)
        if other is not None:
            raise second_definition(name, other)


def set_type(context: StatementContext, statement: Statement) -> None:
    """Carry out `.type`: set the type of a symbol in the object file. Raises `Mistake`."""
    syntax = ".type NAME, " + " | ".join(("function", *SYMBOL_KINDS))
    check_count(statement, 2, 2, syntax)
    name, word = name_of(statement.operands[0]), name_of(statement.operands[1], "a type")
    kind = "func" if word.text == "function" else word.text
    if kind not in SYMBOL_KINDS:
        hint = did_you_mean(word.text, ("function", *SYMBOL_KINDS)) or f"write {syntax}"
        raise Mistake(f"'{word.text}' is no type of a symbol", word, hint)

    def enter() -> None:
        _defined(context, name).kind = kind

    context.after_layout(enter)


def set_size(context: StatementContext, statement: Statement) -> None:
    """Carry out `.size`: set the size of a symbol in the object file, in bytes.

    Raises `Mistake`.
    """
    check_count(statement, 2, 2, ".size NAME, bytes")
    name = name_of(statement.operands[0])
    value = context.value(statement.operands[1])

    def enter() -> None:
        size = number(value.node, value.context) if isinstance(value, Deferred) else value
        if not isinstance(size, int) or not 0 <= size < 1 << 32:
            raise Mistake("a size is a number from 0 to 4294967295", name)
        _defined(context, name).size = size

    context.after_layout(enter)


def _defined(context: StatementContext, name: Name) -> Definition:
    """Return the latest definition of a symbol, after all sources are read. Raises `Mistake`."""
    context.definition(name)
    symbol = context.scope.find(name.text)
    assert symbol is not None
    return symbol


def _user_message(context: StatementContext, statement: Statement) -> tuple[str, tuple[int, int]]:
    """Return the text of `.error` or `.warning`, and its (start, end) offsets in the line."""
    assert statement.head is not None
    name, place = statement.head.text, (statement.head.start, statement.end)
    if not statement.operands:
        return f"{name} stands here", place
    if len(statement.operands) > 1 or not isinstance(statement.operands[0], Text):
        raise wrong_operands(statement, f'{name} ["text"]')
    return statement.operands[0].value.decode("utf-8", "replace"), place


def user_error(context: StatementContext, statement: Statement) -> None:
    """Carry out `.error`: raise a `Mistake` with the source's text."""
    raise Mistake(*_user_message(context, statement))


def user_warning(context: StatementContext, statement: Statement) -> None:
    """Carry out `.warning`: report a warning with the source's text. Raises `Mistake`."""
    message, place = _user_message(context, statement)
    context.state.report.warning(context.line, place, message)


def bare_error(context: StatementContext, statement: Statement) -> None:
    """Carry out `.err`: raise a `Mistake`."""
    assert statement.head is not None
    check_count(statement, 0, 0, ".err")
    raise Mistake(".err stands here", statement.head)
