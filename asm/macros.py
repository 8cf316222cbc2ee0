"""The directives of macros (`.macro`, `.endm`, ...) and the calls of macros, as in GNU as."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.asm.arguments import OperandText
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.macro import Macro, Parameter
from macaw.asm.macro_body import NUMBER, MacroBody
from macaw.asm.source import LogicalLine
from macaw.asm.syntax import AlreadyReported, Mistake
from macaw.asm.text_directive import TextDirective
from macaw.asm.text_stack import Command, TextStack
from macaw.isa.lazy_pattern import lazy_pattern

REQUIRED, VARARG = "req", "vararg"
_QUALIFIERS = (REQUIRED, VARARG)
_SYNTAX = ".macro NAME [parameter[:req | :vararg | =default], ...]"
_NAME = lazy_pattern(r"\s*([A-Za-z_.$][A-Za-z0-9_.$]*)")


def call_macro(stack: TextStack, command: Command, macro: Macro) -> None:
    """Expand the call of a macro and put the expansion on the stack. Raises `Mistake`."""
    if macro.body is None:
        raise AlreadyReported
    stack.expand(command, macro, _Call(macro, stack, command).values())


class _Call:
    """Assigns the arguments of a call to the parameters of the macro."""

    def __init__(self, macro: Macro, stack: TextStack, command: Command) -> None:
        self._macro, self._stack, self._command = macro, stack, command
        self._text = OperandText(command.operands, command.name.end)
        self._given: dict[str, str] = {}

    def values(self) -> list[str]:
        """Return the value of each parameter, in the order of the parameters. Raises `Mistake`."""
        parameters, text = self._macro.parameters, self._text
        position, following, named = text.blank(0), 0, False
        while position < len(text.text):
            start = position
            if text.is_keyword(position):
                named = True
                position = self._keyword_argument(position)
            elif named:
                raise self._mistake(
                    "an argument by position after one by name", start, self._after(start)
                )
            elif following == len(parameters):
                number = len(parameters)
                count = (
                    f"at most {number} argument{'s' * (number > 1)}" if number else "no argument"
                )
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

    def _keyword_argument(self, start: int) -> int:
        """Store the argument `name=value` at `start`; return the position of its end.

        Raises `Mistake`.
        """
        text = self._text
        name = text.name(start)
        equals = start + len(name)
        if not text.text.startswith("=", equals):
            raise self._mistake("write the name of a parameter before '='", start, equals + 1)
        names = [parameter.name for parameter in self._macro.parameters]
        if name not in names:
            hint = did_you_mean(name, names) or f"it is written {self._macro.syntax}"
            message = f"macro '{self._macro.name}' has no parameter '{name}'"
            raise self._mistake(message, start, equals, hint)
        value, end = text.argument(equals + 1)
        if self._given.get(name):
            message = f"the parameter '{name}' is given twice; the last value counts"
            place = text.span(start, end)
            self._stack.state.report.warning(self._command.line, place, message, name="macro")
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
    """Parses the name and the parameters in a `.macro` line."""

    def __init__(self, stack: TextStack, command: Command) -> None:
        self._stack, self._command = stack, command
        self._text = OperandText(command.operands, command.name.end)
        self.name = self._text.name(0)
        self.place = self._text.span(0, len(self.name))

    def parameters(self) -> list[Parameter]:
        """Return all parameters. Raises `Mistake`."""
        text = self._text
        after_name = text.blank(len(self.name))
        position = text.comma(after_name)
        parameters: list[Parameter] = []
        comma = position > after_name
        while position < len(text.text):
            start = position
            parameter, position = self._parameter(position)
            if any(parameter.name == other.name for other in parameters):
                raise self._mistake(f"two parameters are called '{parameter.name}'", start)
            parameters.append(parameter)
            before = position
            position = text.comma(position)
            comma = position > before and text.text[before:position].strip() == ","
            if parameter.qualifier == VARARG and position < len(text.text):
                raise self._mistake("nothing can follow a :vararg parameter", position)
        if comma:
            raise self._mistake("a parameter should follow the comma", len(text.text) - 1)
        return parameters

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
                self._stack.state.report.warning(self._command.line, place, message, name="macro")
                default = ""
        return Parameter(name, qualifier, default), position

    def _mistake(self, message: str, position: int, hint: str = "") -> Mistake:
        end = position + max(1, len(self._text.name(position)))
        return Mistake(message, self._text.span(position, end), hint or f"write {_SYNTAX}")


def _macro(stack: TextStack, command: Command) -> None:
    lines = stack.collect(command, (".macro",), ".endm")
    definition = _Definition(stack, command)
    name = definition.name
    if not name:
        raise Mistake("a macro needs a name", command.name, f"write {_SYNTAX}")
    if name[0] == "." and name in stack.directives():  # all directives begin with a dot
        message = f"'{name}' is a directive; the macro is never called"
        stack.state.report.warning(command.line, definition.place, message, name="macro")
        return
    before = stack.macros.get(name.lower())
    if before is not None:
        source = before.line.source
        row, _ = source.locate(before.line.start + before.start)
        hint = f"the first is at {source.name}:{row}; .purgem forgets it"
        raise Mistake(f"macro '{name}' is defined twice", definition.place, hint)
    try:
        parameters: Sequence[Parameter] = definition.parameters()
        body = _body(command, lines, parameters)
    except Mistake:
        _define(stack, command, definition, (), None)
        raise
    _define(stack, command, definition, parameters, body)


def _body(command: Command, lines: list[LogicalLine], parameters: Sequence[Parameter]) -> MacroBody:
    names = [*(parameter.name for parameter in parameters), NUMBER]
    return MacroBody(command.line.source, lines, names)


def _define(
    stack: TextStack,
    command: Command,
    definition: _Definition,
    parameters: Sequence[Parameter],
    body: MacroBody | None,
) -> None:
    name, place = definition.name, definition.place
    macro = Macro(name, command.line, *place, tuple(parameters), body)
    stack.define(macro)


def _purgem(stack: TextStack, command: Command) -> None:
    text, position = command.line.text, command.name.end
    while True:
        match = _NAME.match(text, position)
        if match is None:
            raise Mistake("the name of a macro is needed here", (position, position + 1))
        if not stack.purge(match[1]):
            hint = did_you_mean(match[1], [macro.name for macro in stack.macros.values()])
            message = f"there is no macro '{match[1]}'"
            stack.state.report.warning(command.line, match.span(1), message, hint, name="macro")
        rest = text[match.end() :].lstrip()
        if not rest:
            return
        if rest[0] != ",":
            place = len(text) - len(rest), len(text)
            raise Mistake(f"unexpected '{rest}'", place, "write .purgem NAME, ...")
        position = len(text) - len(rest) + 1


def _exitm(stack: TextStack, command: Command) -> None:
    if not stack.depth:
        raise Mistake("'.exitm' is in no macro and no repetition", command.name)
    stack.leave()


def _endm(stack: TextStack, command: Command) -> None:
    raise Mistake("'.endm' without '.macro'", command.name)


D = TextDirective

# fmt: off
MACROS = (
    D(".macro",   _SYNTAX,                "A macro: the lines up to .endm, which replace each call; \\parameter is its value, \\@ the number of the call, \\() nothing.", _macro, True, example=".macro pair first, second=0\n.byte \\first, \\second\n.endm\npair 1, 2\npair second=3, first=4"),
    D(".endm",    ".endm",                "The end of a macro.", _endm, example=".macro one\n.byte 1\n.endm\none"),
    D(".exitm",   ".exitm",               "Leave the macro or repetition.", _exitm, example=".macro upto n, limit\n.byte \\n\n.if \\n >= \\limit\n.exitm\n.endif\nupto \"(\\n + 1)\", \\limit\n.endm\nupto 1, 3"),
    D(".purgem",  ".purgem NAME, ...",    "Forget macros.", _purgem, example=".macro one\n.byte 1\n.endm\none\n.purgem one"),
)
# fmt: on
