"""Lists the directives and functions of the language, for the reference pages and for editors."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.asm import expressions
from macaw.asm.directive import Directive
from macaw.asm.directives import DIRECTIVES, PartDirective
from macaw.asm.text_directive import TextDirective
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.isa import pages
from macaw.isa.pages import Page


def directives() -> tuple[Directive | PartDirective | TextDirective, ...]:
    """Return the directives that every part accepts."""
    return (*DIRECTIVES.values(), *TEXT_DIRECTIVES.values())


def functions() -> tuple[expressions.Function, ...]:
    """Return the functions of expressions, such as `sizeof`."""
    return expressions.ROWS


def of_language() -> Iterator[Page]:
    """Yield a reference page for each directive and each function that every part accepts."""
    for item in directives():
        yield pages.directive("every part", item)
    for row in functions():
        yield Page(
            row.name,
            row.syntax,
            "expressions",
            "function",
            row.meaning,
            entries=(("Example", tuple(row.example.split("\n"))),),
        )
