"""The directives of fim that every part accepts."""

from __future__ import annotations

from macaw.asm.directive import Directive
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Statement

_SYNTAX = '.tiles "file.npy" [[rows, ...]], layout=LAYOUT, side=a|b|c'


def _tiles(context: StatementContext, statement: Statement) -> None:
    from macaw.asm.forms.fim.tiling import place_tiles

    place_tiles(context, statement, _SYNTAX)


SHARED = (
    Directive(
        ".tiles",
        _SYNTAX,
        "Store a matrix tile by tile, in groups of 4 x 4 tiles. This is how the arrangement LAYOUT"
        " of fim takes its left (a) or right (b) operand or gives its result (c). LAYOUT is"
        " elementwise, dot, outer or tensor. Zeros fill the last groups.",
        _tiles,
        example='w: .tiles "matrix.npy", layout=dot, side=a',
    ),
)
