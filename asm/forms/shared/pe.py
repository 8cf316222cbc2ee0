"""The directives of pe that every part accepts."""

from __future__ import annotations

from macaw.asm.directive import Directive
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Statement

_OPERANDS = '"file.npy" [[rows, ...]] [, clusters=M] [, pes=K]'
_SPARSE, _DENSE = f".sparse {_OPERANDS}", f".dense {_OPERANDS}"


def _sparse(context: StatementContext, statement: Statement) -> None:
    from macaw.asm.forms.pe.sparse import place_matrix, sparse

    place_matrix(context, statement, _SPARSE, sparse, "sparse")


def _dense(context: StatementContext, statement: Statement) -> None:
    from macaw.asm.forms.pe.sparse import dense, place_matrix

    place_matrix(context, statement, _DENSE, dense, "dense")


SHARED = (
    Directive(
        ".sparse",
        _SPARSE,
        "Store a matrix as pairs of index and value, without zeros. In a round, which is a segment,"
        " each PE gets one row.",
        _sparse,
        example='w: .sparse "weights.npy"[0:8]',
    ),
    Directive(
        ".dense",
        _DENSE,
        "Store a matrix as its values, with zeros and without indices. In a round, which is a"
        " segment, each PE gets one row; rows of zeros complete the last round.",
        _dense,
        example='w: .dense "weights.npy"[0:8]',
    ),
)
