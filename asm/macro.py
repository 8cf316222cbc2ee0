"""The data of a macro: its name, its parameters and its body."""

from __future__ import annotations

import re

from macaw.asm.diagnostics import Span
from macaw.asm.macro_body import MacroBody
from macaw.asm.source import LogicalLine
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a macro. `qualifier` is empty, "req" or "vararg"."""

    name: str
    qualifier: str
    default: str

    def __str__(self) -> str:
        qualifier = f":{self.qualifier}" if self.qualifier else ""
        has_separator = re.search(r"[\s,]", self.default) is not None
        default = f'"{self.default}"' if has_separator else self.default
        return f"{self.name}{qualifier}" + (f"={default}" if default else "")


@dataclass(frozen=True, slots=True, eq=False)
class Macro:
    """A macro: its name, its parameters and its body.

    `line` is the `.macro` line; the name is its text from `start` up to `end`. If the definition is
    wrong, `body` is None, and a call does nothing.
    """

    name: str
    line: LogicalLine
    start: int
    end: int
    parameters: tuple[Parameter, ...]
    body: MacroBody | None

    @property
    def span(self) -> Span:
        """The position of the macro's name in its file."""
        start = self.line.start
        return self.line.source.span(start + self.start, start + self.end)

    @property
    def syntax(self) -> str:
        """The syntax of a call: the name and the parameters."""
        return f"{self.name} {', '.join(map(str, self.parameters))}".rstrip()
