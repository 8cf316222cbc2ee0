"""The directives of pe that every part accepts."""

from __future__ import annotations

from macaw.asm.directive import Directive
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Statement

_SYNTAX = '.sparse "file.npy" [[rows, ...]] [, clusters=M] [, pes=K]'


def _sparse(context: StatementContext, statement: Statement) -> None:
    from macaw.asm.forms.pe.sparse import place_sparse

    place_sparse(context, statement, _SYNTAX)


SHARED = (
    Directive(
        ".sparse",
        _SYNTAX,
        "Store a matrix as pairs of index and value, without zeros. In a round, which is a segment,"
        " each PE gets one row.",
        _sparse,
        example='w: .sparse "weights.npy"[0:8]',
    ),
)
