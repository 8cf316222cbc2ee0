"""Conditional assembly: `.if` and its kin, as in GNU as."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from macaw.asm.arguments import Squeezed
from macaw.asm.directives import wrong_operands
from macaw.asm.expansion import Command, TextDirective
from macaw.asm.source import LogicalLine
from macaw.asm.syntax import Mistake, Name, Text

if TYPE_CHECKING:
    from macaw.asm.expansion import Reader

_Test = Callable[["Reader", Command], bool]


@dataclass(slots=True, eq=False)
class Conditional:
    """An `.if` that waits for its `.endif`."""

    line: LogicalLine
    name: Name
    skips: bool  # the lines here are not assembled
    settled: bool  # no further branch will be
    otherwise: LogicalLine | None = None  # the `.else`

    def unfinished(self) -> Mistake:
        """What to say when there is no `.endif`."""
        return Mistake(f"'{self.name.text}' without '.endif'", self.name)


def _skipping(reader: Reader) -> bool:
    return bool(reader.conditionals) and reader.conditionals[-1].skips


def _open(test: _Test, reader: Reader, command: Command) -> None:
    dead = _skipping(reader)
    conditional = Conditional(command.line, command.name, skips=dead, settled=True)
    reader.conditionals.append(conditional)
    if not dead:
        # Whose condition is wrong is taken for true: a mistake there is no other's cause.
        holds = test(reader, command)
        conditional.skips, conditional.settled = not holds, holds


def _number(compare: Callable[[int, int], bool], reader: Reader, command: Command) -> bool:
    statement = reader.parsed(command)
    if len(statement.operands) != 1:
        raise wrong_operands(statement, f"{command.name.text} value")
    return compare(reader.assembly.site(command.line).number(statement.operands[0]), 0)


def _defined(wanted: bool, reader: Reader, command: Command) -> bool:
    statement = reader.parsed(command)
    if len(statement.operands) != 1 or not isinstance(statement.operands[0], Name):
        raise wrong_operands(statement, f"{command.name.text} NAME")
    return reader.assembly.has_symbol(statement.operands[0].text) == wanted


def _blank(wanted: bool, reader: Reader, command: Command) -> bool:
    return (not command.operands.strip()) == wanted


def _same_text(wanted: bool, reader: Reader, command: Command) -> bool:
    first, comma, second = Squeezed(command.operands, 0).text.partition(",")
    if not comma:
        place = (0, len(command.line.text))
        syntax = f"write {command.name.text} text, text"
        raise Mistake(f"{command.name.text} compares two texts", place, syntax)
    return (first.strip() == second.strip()) == wanted


def _same_string(wanted: bool, reader: Reader, command: Command) -> bool:
    statement = reader.parsed(command)
    if len(statement.operands) == 2:
        first, second = statement.operands
        if isinstance(first, Text) and isinstance(second, Text):
            return (first.value == second.value) == wanted
    raise wrong_operands(statement, f'{command.name.text} "text", "text"')


def _innermost(reader: Reader, command: Command) -> Conditional:
    if not reader.conditionals:
        raise Mistake(f"'{command.name.text}' without '.if'", command.name)
    return reader.conditionals[-1]


def _before_else(conditional: Conditional, command: Command) -> None:
    found = conditional.otherwise
    if found is not None:
        line, _ = found.source.locate(found.start)
        hint = f"the .else is at {found.source.name}:{line}"
        raise Mistake(f"'{command.name.text}' behind '.else'", command.name, hint)


def _alone(reader: Reader, command: Command, level: int) -> None:
    """Raise `Mistake` if something follows the word, unless that many conditionals skip it."""
    if level and reader.conditionals[level - 1].skips:
        return
    statement = reader.parsed(command)
    if statement.operands:
        raise wrong_operands(statement, command.name.text)


def _elseif(reader: Reader, command: Command) -> None:
    conditional = _innermost(reader, command)
    _before_else(conditional, command)
    if conditional.settled:
        conditional.skips = True
        return
    conditional.skips, conditional.settled = False, True
    holds = _number(operator.ne, reader, command)
    conditional.skips, conditional.settled = not holds, holds


def _else(reader: Reader, command: Command) -> None:
    conditional = _innermost(reader, command)
    _before_else(conditional, command)
    conditional.skips, conditional.settled = conditional.settled, True
    conditional.otherwise = command.line
    _alone(reader, command, len(reader.conditionals) - 1)


def _endif(reader: Reader, command: Command) -> None:
    _innermost(reader, command)
    reader.conditionals.pop()
    _alone(reader, command, len(reader.conditionals))


def _row(name: str, operands: str, meaning: str, test: _Test, example: str) -> TextDirective:
    return TextDirective(
        name,
        f"{name} {operands}".rstrip(),
        meaning,
        partial(_open, test),
        example=f"{example}\n.byte 1\n.else\n.byte 2\n.endif",
        always=True,
    )


_ONLY = "Assemble what follows only if the "
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
    _row(".ifdef",    "NAME",             f"{_ONLY}symbol is defined before.", partial(_defined, True), ".equ SIZE, 4\n.ifdef SIZE"),
    _row(".ifndef",   "NAME",             f"{_ONLY}symbol is not defined before.", partial(_defined, False), ".ifndef SIZE"),
    _row(".ifnotdef", "NAME",             "As .ifndef.", partial(_defined, False), ".ifnotdef SIZE"),
    _row(".ifb",      "text",             f"{_ONLY}text is blank.", partial(_blank, True), ".ifb"),
    _row(".ifnb",     "text",             f"{_ONLY}text is not blank.", partial(_blank, False), ".ifnb something"),
    _row(".ifc",      "text, text",       f"{_ONLY}texts are the same.", partial(_same_text, True), ".ifc fast, fast"),
    _row(".ifnc",     "text, text",       f"{_ONLY}texts differ.", partial(_same_text, False), ".ifnc fast, small"),
    _row(".ifeqs",    '"text", "text"',   f"{_ONLY}strings are the same.", partial(_same_string, True), ".ifeqs \"fast\", \"fast\""),
    _row(".ifnes",    '"text", "text"',   f"{_ONLY}strings differ.", partial(_same_string, False), ".ifnes \"fast\", \"small\""),
    TextDirective(".elseif", ".elseif value", "What follows instead, if the value is not 0.", _elseif, example=".set n, 2\n.if n == 1\n.byte 1\n.elseif n == 2\n.byte 2\n.endif", always=True),
    TextDirective(".else",   ".else",         "What follows instead.", _else, example=".if 0\n.byte 1\n.else\n.byte 2\n.endif", always=True),
    TextDirective(".endif",  ".endif",        "The end of a conditional.", _endif, example=".if 1\n.byte 1\n.endif", always=True),
)
# fmt: on
