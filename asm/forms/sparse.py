"""`.sparse`: a matrix as the PE array takes it; any part may hold one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asm.data import DataError, sparse
from asm.data_directives import one_array
from asm.directives import Directive
from asm.symbols import Datum
from asm.syntax import Mistake, Named, Statement

if TYPE_CHECKING:
    from asm.site import Site

_SYNTAX = '.sparse "file.npy" [[rows, ...]] [, clusters=M] [, pes=K]'
_OPTIONS = ("clusters", "pes")


def _sparse(site: Site, statement: Statement) -> None:
    array = one_array(site, statement, _OPTIONS, _SYNTAX)
    assert statement.head is not None
    options = site.named(statement.operands, _OPTIONS, statement.head)
    config, slots = site.assembly.config, 1
    for name in _OPTIONS:
        count = config[f"pe.{name}"]
        if name in options:
            count = site.bounded(options[name].value, name, 1, count)
        slots *= count
    try:
        matrix = sparse(array, config["pe.element"], slots)
    except DataError as error:
        plain = next(item for item in statement.operands if not isinstance(item, Named))
        raise Mistake(f"the array {error}", plain) from None
    datum = Datum(
        "sparse", len(matrix.data), array.dtype, matrix.shape, matrix.rounds, matrix.records
    )
    site.assembly.names.put_datum(site, matrix.data, datum)


DIRECTIVES = (
    Directive(
        ".sparse",
        _SYNTAX,
        "A matrix as index and value of what is not zero, a row a PE, a segment a round.",
        _sparse,
        example='w: .sparse "weights.npy"[0:8]',
    ),
)
