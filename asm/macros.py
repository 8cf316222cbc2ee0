"""Macros: `.macro`, their parameters and calls, as in GNU as."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from macaw.asm.arguments import Squeezed
from macaw.asm.bodies import NUMBER, Body
from macaw.asm.diagnostics import Span, did_you_mean
from macaw.asm.expansion import Command, TextDirective
from macaw.asm.source import LogicalLine
from macaw.asm.syntax import Again, Mistake

if TYPE_CHECKING:
    from macaw.asm.expansion import Reader

REQUIRED, VARARG = "req", "vararg"
_QUALIFIERS = (REQUIRED, VARARG)
_SYNTAX = ".macro NAME [parameter[:req | :vararg | =default], ...]"
_NAME = re.compile(r"\s*([A-Za-z_.$][A-Za-z0-9_.$]*)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a macro. `qualifier`: empty, "req" or "vararg"."""

    name: str
    qualifier: str = ""
    default: str = ""

    def __str__(self) -> str:
        qualifier = f":{self.qualifier}" if self.qualifier else ""
        return f"{self.name}{qualifier}" + (f"={self.default}" if self.default else "")


@dataclass(frozen=True, slots=True, eq=False)
class Macro:
    """A macro, and where its name stands: from `start` up to `end` of a line's text.

    Without a body it is wrong, and its calls are nothing.
    """

    name: str
    line: LogicalLine
    start: int
    end: int
    parameters: tuple[Parameter, ...]
    body: Body | None

    @property
    def span(self) -> Span:
        """The place of its name in the file."""
        start = self.line.start
        return self.line.source.span(start + self.start, start + self.end)

    @property
    def syntax(self) -> str:
        """How a call is written."""
        return f"{self.name} {', '.join(map(str, self.parameters))}".rstrip()

    def run(self, reader: Reader, command: Command) -> None:
        """Expand a call."""
        if self.body is None:
            raise Again
        values = _Call(self, reader, command).values()
        number = reader.calls
        reader.calls += 1
        what = f"in expansion of macro '{self.name}'"
        reader.expand(command, self.body, (*values, str(number)), what)


class _Call:
    """The arguments of a call are given to the parameters."""

    def __init__(self, macro: Macro, reader: Reader, command: Command) -> None:
        self._macro, self._reader, self._command = macro, reader, command
        self._text = Squeezed(command.operands, command.name.end)
        self._given: dict[str, str] = {}

    def values(self) -> list[str]:
        """The value of each parameter. Raises `Mistake`."""
        parameters, text = self._macro.parameters, self._text
        position, following, named = text.blank(0), 0, False
        while position < len(text.text):
            start = position
            if text.is_keyword(position):
                named = True
                position = self._named(position)
            elif named:
                raise self._mistake(
                    "an argument by position behind one by name", start, self._after(start)
                )
            elif following == len(parameters):
                count = "no argument" if not parameters else f"at most {len(parameters)}"
                message = f"macro '{self._macro.name}' takes {count}"
                raise self._mistake(message, start, len(text.text))
            else:
                parameter = parameters[following]
                if parameter.qualifier == VARARG:
                    value, position = text.text[start:], len(text.text)
                else:
                    value, position = text.argument(start)
                self._given[parameter.name] = value
                following += 1
            position = max(text.comma(position), start + 1)
        return [self._value(parameter) for parameter in parameters]

    def _after(self, position: int) -> int:
        return self._text.argument(position)[1]

    def _named(self, start: int) -> int:
        """`name=value`. Returns where it ends."""
        text = self._text
        name = text.name(start)
        equals = start + len(name)
        if not text.text.startswith("=", equals):
            raise self._mistake("a name of a parameter stands before '='", start, equals + 1)
        names = [parameter.name for parameter in self._macro.parameters]
        if name not in names:
            hint = did_you_mean(name, names) or f"it is written {self._macro.syntax}"
            message = f"macro '{self._macro.name}' has no parameter '{name}'"
            raise self._mistake(message, start, equals, hint)
        value, end = text.argument(equals + 1)
        if self._given.get(name):
            message = f"the parameter '{name}' is given twice; the last value counts"
            place = text.span(start, end)
            self._reader.assembly.report.warning(self._command.line, place, message)
        self._given[name] = value
        return end

    def _value(self, parameter: Parameter) -> str:
        value = self._given.get(parameter.name) or parameter.default
        if parameter.qualifier == REQUIRED and not value:
            message = f"macro '{self._macro.name}' needs the parameter '{parameter.name}'"
            place = (0, len(self._command.line.text))
            raise Mistake(message, place, f"it is written {self._macro.syntax}")
        return value

    def _mistake(self, message: str, start: int, end: int, hint: str = "") -> Mistake:
        hint = hint or f"it is written {self._macro.syntax}"
        return Mistake(message, self._text.span(start, end), hint)


class _Definition:
    """Reads the name and the parameters of a macro."""

    def __init__(self, reader: Reader, command: Command) -> None:
        self._reader, self._command = reader, command
        self._text = Squeezed(command.operands, command.name.end)
        self.name = self._text.name(0)
        self.place = self._text.span(0, len(self.name))

    def parameters(self) -> list[Parameter]:
        """All parameters. Raises `Mistake`."""
        text = self._text
        behind = text.blank(len(self.name))
        position = text.comma(behind)
        found: list[Parameter] = []
        comma = position > behind
        while position < len(text.text):
            start = position
            parameter, position = self._parameter(position)
            if any(parameter.name == other.name for other in found):
                raise self._mistake(f"two parameters are called '{parameter.name}'", start)
            found.append(parameter)
            before = position
            position = text.comma(position)
            comma = position > before and text.text[before:position].strip() == ","
            if parameter.qualifier == VARARG and position < len(text.text):
                raise self._mistake("nothing can follow a :vararg parameter", position)
        if comma:
            raise self._mistake("a parameter should follow the comma", len(text.text) - 1)
        return found

    def _parameter(self, position: int) -> tuple[Parameter, int]:
        text = self._text
        name = text.name(position)
        if not name:
            raise self._mistake("the name of a parameter is needed here", position)
        start = position
        position = text.blank(position + len(name))
        qualifier = default = ""
        if text.text.startswith(":", position):
            qualifier = text.name(text.blank(position + 1))
            if qualifier not in _QUALIFIERS:
                hint = did_you_mean(qualifier, _QUALIFIERS) or "there are :req and :vararg"
                message = f"'{qualifier}' is no qualifier of a parameter"
                if not qualifier:
                    message = "a qualifier should follow the colon"
                raise self._mistake(message, position, hint)
            position = text.blank(text.blank(position + 1) + len(qualifier))
        if text.text.startswith("=", position):
            default, position = text.argument(position + 1)
            position = text.blank(position)
            if qualifier == REQUIRED:
                message = f"the parameter '{name}' is required; its default is never used"
                place = text.span(start, position)
                self._reader.assembly.report.warning(self._command.line, place, message)
                default = ""
        return Parameter(name, qualifier, default), position

    def _mistake(self, message: str, position: int, hint: str = "") -> Mistake:
        end = position + max(1, len(self._text.name(position)))
        return Mistake(message, self._text.span(position, end), hint or f"write {_SYNTAX}")


def _macro(reader: Reader, command: Command) -> None:
    lines = reader.collect(command, (".macro",), ".endm")
    definition = _Definition(reader, command)
    name = definition.name
    if not name:
        raise Mistake("a macro needs a name", command.name, f"write {_SYNTAX}")
    if reader.assembly.is_directive(name):
        message = f"'{name}' is a directive; the macro is never called"
        reader.assembly.report.warning(command.line, definition.place, message)
        return
    before = reader.macros.get(name.lower())
    if before is not None:
        source = before.line.source
        row, _ = source.locate(before.line.start + before.start)
        hint = f"the first is at {source.name}:{row}; .purgem forgets it"
        raise Mistake(f"macro '{name}' is defined twice", definition.place, hint)
    try:
        parameters: Sequence[Parameter] = definition.parameters()
        body = _body(command, lines, parameters)
    except Mistake:
        _define(reader, command, definition, (), None)
        raise
    _define(reader, command, definition, parameters, body)


def _body(command: Command, lines: list[LogicalLine], parameters: Sequence[Parameter]) -> Body:
    names = [*(parameter.name for parameter in parameters), NUMBER]
    return Body(command.line.source, lines, names)


def _define(
    reader: Reader,
    command: Command,
    definition: _Definition,
    parameters: Sequence[Parameter],
    body: Body | None,
) -> None:
    name, place = definition.name, definition.place
    macro = Macro(name, command.line, *place, tuple(parameters), body)
    reader.define(macro)
    reader.assembly.macros.append(macro)


def _purgem(reader: Reader, command: Command) -> None:
    text, position = command.line.text, command.name.end
    while True:
        match = _NAME.match(text, position)
        if match is None:
            raise Mistake("the name of a macro is needed here", (position, position + 1))
        if not reader.purge(match[1]):
            hint = did_you_mean(match[1], [macro.name for macro in reader.macros.values()])
            message = f"there is no macro '{match[1]}'"
            reader.assembly.report.warning(command.line, match.span(1), message, hint)
        rest = text[match.end() :].lstrip()
        if not rest:
            return
        if rest[0] != ",":
            place = len(text) - len(rest), len(text)
            raise Mistake(f"unexpected '{rest}'", place, "write .purgem NAME, ...")
        position = len(text) - len(rest) + 1


def _exitm(reader: Reader, command: Command) -> None:
    if not reader.depth:
        raise Mistake("'.exitm' stands in no macro and no repetition", command.name)
    reader.leave()


def _endm(reader: Reader, command: Command) -> None:
    raise Mistake("'.endm' without '.macro'", command.name)


D = TextDirective

# fmt: off
MACROS = (
    D(".macro",   _SYNTAX,                "A macro: the lines up to .endm, expanded where its name stands; \\parameter is its value, \\@ the number of the call, \\() nothing.", _macro, True, example=".macro pair first, second=0\n.byte \\first, \\second\n.endm\npair 1, 2\npair second=3, first=4"),
    D(".endm",    ".endm",                "The end of a macro.", _endm, example=".macro one\n.byte 1\n.endm\none"),
    D(".exitm",   ".exitm",               "Leave the macro or repetition.", _exitm, example=".macro upto n, limit\n.byte \\n\n.if \\n >= \\limit\n.exitm\n.endif\nupto \"(\\n + 1)\", \\limit\n.endm\nupto 1, 3"),
    D(".purgem",  ".purgem NAME, ...",    "Forget macros.", _purgem, example=".macro one\n.byte 1\n.endm\none\n.purgem one"),
)
# fmt: on
