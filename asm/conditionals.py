"""Conditional assembly: `.if` and the related directives, as in GNU as."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial

from macaw.asm.arguments import OperandText
from macaw.asm.directive import symbol_of, wrong_operands
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Name, Text
from macaw.asm.text_directive import TextDirective, statement_of
from macaw.asm.text_stack import Command, Conditional, TextStack

_Condition = Callable[[TextStack, Command], bool]


def _open(test: _Condition, stack: TextStack, command: Command) -> None:
    is_skipped = stack.skips
    conditional = Conditional(command.line, command.name, skips=is_skipped, is_settled=True)
    stack.conditionals.append(conditional)
    if not is_skipped:
        # A wrong condition is taken as true, so that it causes no error in the lines after it.
        is_true = test(stack, command)
        conditional.skips, conditional.is_settled = not is_true, is_true


def _number(compare: Callable[[int, int], bool], stack: TextStack, command: Command) -> bool:
    statement = statement_of(stack, command)
    if len(statement.operands) != 1:
        raise wrong_operands(statement, f"{command.name.text} value")
    return compare(
        StatementContext.current(stack.state, command.line).number(statement.operands[0]), 0
    )


def _is_defined(expected: bool, stack: TextStack, command: Command) -> bool:
    statement = statement_of(stack, command)
    if len(statement.operands) != 1 or not isinstance(statement.operands[0], Name | Text):
        raise wrong_operands(statement, f"{command.name.text} NAME")
    stack.state.effects += 1
    name, scope = symbol_of(statement.operands[0]).text, stack.state.scope
    return (scope.used_symbol(name) is not None or name in scope.common) == expected


def _is_blank(expected: bool, stack: TextStack, command: Command) -> bool:
    return (not command.operands.strip()) == expected


def _are_same_texts(expected: bool, stack: TextStack, command: Command) -> bool:
    first, comma, second = OperandText(command.operands, 0).text.partition(",")
    if not comma:
        place = (0, len(command.line.text))
        syntax = f"write {command.name.text} text, text"
        raise Mistake(f"{command.name.text} compares two texts", place, syntax)
    return (first.strip() == second.strip()) == expected


def _are_same_strings(expected: bool, stack: TextStack, command: Command) -> bool:
    statement = statement_of(stack, command)
    if len(statement.operands) == 2:
        first, second = statement.operands
        if isinstance(first, Text) and isinstance(second, Text):
            return (first.value == second.value) == expected
    raise wrong_operands(statement, f'{command.name.text} "text", "text"')


def _innermost(stack: TextStack, command: Command) -> Conditional:
    if not stack.conditionals:
        raise Mistake(f"'{command.name.text}' without '.if'", command.name)
    return stack.conditionals[-1]


def _check_before_else(conditional: Conditional, command: Command) -> None:
    before = conditional.else_line
    if before is not None:
        line, _ = before.source.locate(before.start)
        hint = f"the .else is at {before.source.name}:{line}"
        raise Mistake(f"'{command.name.text}' after '.else'", command.name, hint)


def _check_alone(stack: TextStack, command: Command, level: int) -> None:
    """Raise `Mistake` if operands follow the directive, for example `.else` or `.endif`.

    `level` is the number of conditionals around the conditional to which the directive belongs. If
    one of these outer conditionals skips the line, the function does not check the operands.
    """
    if level and stack.conditionals[level - 1].skips:
        return
    statement = statement_of(stack, command)
    if statement.operands:
        raise wrong_operands(statement, command.name.text)


def _elseif(stack: TextStack, command: Command) -> None:
    conditional = _innermost(stack, command)
    _check_before_else(conditional, command)
    if conditional.is_settled:
        conditional.skips = True
        return
    conditional.skips, conditional.is_settled = False, True
    is_true = _number(operator.ne, stack, command)
    conditional.skips, conditional.is_settled = not is_true, is_true


def _else(stack: TextStack, command: Command) -> None:
    conditional = _innermost(stack, command)
    _check_before_else(conditional, command)
    conditional.skips, conditional.is_settled = conditional.is_settled, True
    conditional.else_line = command.line
    _check_alone(stack, command, len(stack.conditionals) - 1)


def _endif(stack: TextStack, command: Command) -> None:
    _innermost(stack, command)
    stack.conditionals.pop()
    _check_alone(stack, command, len(stack.conditionals))


def _row(name: str, operands: str, meaning: str, test: _Condition, example: str) -> TextDirective:
    return TextDirective(
        name,
        f"{name} {operands}".rstrip(),
        meaning,
        partial(_open, test),
        example=f"{example}\n.byte 1\n.else\n.byte 2\n.endif",
        always=True,
    )


_ONLY = "Assemble the following lines only if the "
_COMPARISONS = {
    ".if": ("is not 0", operator.ne),
    ".ifne": ("is not 0", operator.ne),
    ".ifeq": ("is 0", operator.eq),
    ".ifgt": ("is greater than 0", operator.gt),
    ".ifge": ("is 0 or greater", operator.ge),
    ".iflt": ("is less than 0", operator.lt),
    ".ifle": ("is 0 or less", operator.le),
}

# fmt: off
CONDITIONALS = (
    *(_row(name, "value", f"{_ONLY}value {what}.", partial(_number, compare), f".set n, 3\n{name} n - 3")
      for name, (what, compare) in _COMPARISONS.items()),
    _row(".ifdef",    "NAME",             f"{_ONLY}symbol is defined before.", partial(_is_defined, True), ".equ SIZE, 4\n.ifdef SIZE"),
    _row(".ifndef",   "NAME",             f"{_ONLY}symbol is not defined before.", partial(_is_defined, False), ".ifndef SIZE"),
    _row(".ifnotdef", "NAME",             "As .ifndef.", partial(_is_defined, False), ".ifnotdef SIZE"),
    _row(".ifb",      "text",             f"{_ONLY}text is blank.", partial(_is_blank, True), ".ifb"),
    _row(".ifnb",     "text",             f"{_ONLY}text is not blank.", partial(_is_blank, False), ".ifnb something"),
    _row(".ifc",      "text, text",       f"{_ONLY}texts are the same.", partial(_are_same_texts, True), ".ifc fast, fast"),
    _row(".ifnc",     "text, text",       f"{_ONLY}texts differ.", partial(_are_same_texts, False), ".ifnc fast, small"),
    _row(".ifeqs",    '"text", "text"',   f"{_ONLY}strings are the same.", partial(_are_same_strings, True), ".ifeqs \"fast\", \"fast\""),
    _row(".ifnes",    '"text", "text"',   f"{_ONLY}strings differ.", partial(_are_same_strings, False), ".ifnes \"fast\", \"small\""),
    TextDirective(".elseif", ".elseif value", "Assemble the following lines instead, if the value is not 0.", _elseif, example=".set n, 2\n.if n == 1\n.byte 1\n.elseif n == 2\n.byte 2\n.endif", always=True),
    TextDirective(".else",   ".else",         "Assemble the following lines instead.", _else, example=".if 0\n.byte 1\n.else\n.byte 2\n.endif", always=True),
    TextDirective(".endc",   ".endc",         "As .endif.", _endif, example=".if 1\n.byte 1\n.endc", always=True),
    TextDirective(".endif",  ".endif",        "End a conditional.", _endif, example=".if 1\n.byte 1\n.endif", always=True),
)
# fmt: on
