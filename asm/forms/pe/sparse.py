"""The directives `.sparse` and `.dense`: a matrix of weights for the PE array.

The matrix is divided into rounds, the rows that the PEs take at a time. Every part accepts the
directives.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import compress

from macaw.asm.data import Array, DataError
from macaw.asm.data_directives import one_array
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum
from macaw.asm.syntax import Mistake, Named, Statement
from macaw.isa import codec
from macaw.isa.kinds import Immediate
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Structure
from macaw.isa.pe import ENTRY, OPERAND_DTYPES, WEIGHTS_RECORD, available

_OPTIONS = ("clusters", "pes")


Form = Callable[[Array, Sequence[str], int], "Rounds"]


def _greatest(structure: Structure) -> int:
    """Return the greatest legal value of the only member of a structure."""
    (member,) = structure.members
    assert isinstance(member.legal, Immediate)
    return member.legal.high


_MAX_COUNT, _MAX_INDEX = _greatest(WEIGHTS_RECORD), _greatest(ENTRY)


@dataclass(frozen=True)
class Rounds:
    """The bytes of a matrix of weights, divided into rounds: the rows that the PEs take at a time.

    `rounds` has (offset, length) of each round in bytes, `records` the number of matrix rows in
    each round. `shape` is the shape of the matrix.
    """

    data: bytes
    rounds: tuple[tuple[int, int], ...]
    records: tuple[int, ...]
    shape: tuple[int, ...]


def sparse(array: Array, elements: Sequence[str], slots: int) -> Rounds:
    """Return a matrix as records of weights, one record for each matrix row.

    Each round has `slots` rows. `elements` are the element types that the PE array accepts. With M
    clusters of K PEs and `slots` = K·M, row r goes to PE r mod K of cluster (r div K) mod M in
    round r div (K·M) (docs/language.md). Raises `DataError`.
    """
    rows, columns = _matrix(array, elements, "sparse")
    dtype = array.dtype
    item = array.item_size
    # The bits decide what is zero, without the sign of a floating-point number.
    negative_zero = 1 << (8 * item - 1) if dtype.startswith("float") else None
    code = {1: "B", 2: "H", 4: "I"}[item]
    whole_row = struct.Struct(f"<{columns}{code}")
    body = bytearray()
    rounds, records = [], []
    for first in range(0, rows, slots):
        start = len(body)
        last = min(first + slots, rows)
        for row in range(first, last):
            numbers = whole_row.unpack_from(array.data, row * whole_row.size)
            body += _record(numbers, negative_zero, code, row)
        rounds.append((start, len(body) - start))
        records.append(last - first)
    return Rounds(bytes(body), tuple(rounds), tuple(records), array.shape)


def dense(array: Array, elements: Sequence[str], slots: int) -> Rounds:
    """Return a matrix as its values, row by row, with `slots` rows in each round.

    Each PE of a round gets a row, so rows of zeros complete the last round. With M clusters of K
    PEs and `slots` = K·M, row r goes to PE r mod K of cluster (r div K) mod M in round r div (K·M).
    `elements` are the element types that the PE array accepts. Raises `DataError`.
    """
    rows, columns = _matrix(array, elements, "dense")
    if columns > _MAX_INDEX + 1:
        raise DataError(f"has {columns} columns, at most {_MAX_INDEX + 1}")
    firsts = range(0, rows, slots)
    size = slots * columns * array.item_size  # bytes of a round
    data = array.data + bytes(len(firsts) * size - len(array.data))
    rounds = tuple((place * size, size) for place in range(len(firsts)))
    return Rounds(data, rounds, tuple(min(slots, rows - first) for first in firsts), array.shape)


def _matrix(array: Array, elements: Sequence[str], what: str) -> tuple[int, int]:
    """Return the numbers of rows and columns of a matrix of weights.

    `elements` are the element types that the PE array accepts. `what` is the kind of matrix, for
    the message. Raises `DataError` if the array is not such a matrix.
    """
    dtypes = [OPERAND_DTYPES[element] for element in elements]
    if array.dtype not in dtypes:
        why = "pe.element" if len(dtypes) == 1 else "pe.widest"
        raise DataError(
            f"holds {array.dtype}; the device's weights are {' or '.join(dtypes)} ({why})"
        )
    if len(array.shape) != 2:
        raise DataError(f"has {len(array.shape)} dimensions, a {what} matrix has 2")
    rows, columns = array.shape
    if not rows or not columns:
        raise DataError(f"is an empty matrix, {rows} x {columns}")
    return rows, columns


def _record(numbers: Sequence[int], negative_zero: int | None, code: str, row: int) -> bytes:
    """Return the record of a matrix row: a count, then an index and a value for each weight.

    `numbers` are the row's elements as unsigned integers; `code` is their format for `struct`.
    Elements that are 0 or `negative_zero` are not weights. Raises `DataError`.
    """
    if negative_zero in numbers:
        numbers = [0 if value == negative_zero else value for value in numbers]
    indices = list(compress(range(len(numbers)), numbers))
    if indices and indices[-1] > _MAX_INDEX:
        raise DataError(f"has a weight at index {indices[-1]} of row {row}, at most {_MAX_INDEX}")
    if len(indices) > _MAX_COUNT:
        raise DataError(f"has {len(indices)} weights in row {row}, at most {_MAX_COUNT}")
    flat = [len(indices)] * (1 + 2 * len(indices))
    flat[1::2] = indices
    flat[2::2] = filter(None, numbers)
    entry = codec.codes(ENTRY) + code
    return struct.pack("<" + codec.codes(WEIGHTS_RECORD) + entry * len(indices), *flat)


def place_matrix(
    context: StatementContext, statement: Statement, syntax: str, form: Form, what: str
) -> None:
    """Carry out `.sparse` or `.dense`. Raises `Mistake`, which may show `syntax`.

    `form` is the function `sparse` or `dense`; `what` names it for messages.
    """
    array = one_array(context, statement, _OPTIONS, syntax)
    assert statement.head is not None
    options = context.named_operands(statement.operands, _OPTIONS, statement.head)
    config, slots = context.state.config, 1
    for name in _OPTIONS:
        count = config[f"pe.{name}"]
        if name in options:
            count = context.bounded_number(options[name].value, name, 1, count)
        slots *= count
    try:
        matrix = form(array, available(config), slots)
    except DataError as error:
        plain = next(item for item in statement.operands if not isinstance(item, Named))
        raise Mistake(f"the array {error}", plain) from None
    datum = Datum(what, len(matrix.data), array.dtype, matrix.shape, matrix.rounds, matrix.records)
    context.emit_datum(matrix.data, datum)
