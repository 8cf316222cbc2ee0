"""The directive `.tiles`: a matrix, stored tile by tile as operations of fim take it.

Every part accepts the directive.
"""

from __future__ import annotations

from macaw.asm.data_directives import one_array
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.forms.fim.tiles import tiled
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum
from macaw.asm.syntax import Mistake, Name, Named, Statement
from macaw.isa.fim_circuit import ARRANGEMENTS, COLUMN_BYTES, FORMATS, SIDES

_OPTIONS = ("layout", "side")
# Integers of a lane's width are for the logical functions; only their bits are moved.
_DTYPES = {
    dtype: form
    for form in FORMATS
    for dtype in (form.dtype, f"int{8 * form.size}", f"uint{8 * form.size}")
}


def _word(context: StatementContext, option: Named, words: tuple[str, ...]) -> str:
    """Return the value of an option `name=word`, which must be one of `words`. Raises `Mistake`."""
    node, what = option.value, option.name.text
    text = node.text if isinstance(node, Name) else ""
    if text not in words:
        hint = did_you_mean(text, words) or "there are " + ", ".join(words)
        raise Mistake(
            f"no {what} is called '{text}'" if text else f"{what}: a word is needed", node, hint
        )
    return text


def place_tiles(context: StatementContext, statement: Statement, syntax: str) -> None:
    """Carry out `.tiles`. Raises `Mistake`; the message for wrong operands shows `syntax`."""
    array = one_array(context, statement, _OPTIONS, syntax)
    assert statement.head is not None
    plain = next(item for item in statement.operands if not isinstance(item, Named))
    options = context.named_operands(statement.operands, _OPTIONS, statement.head)
    missing = [name for name in _OPTIONS if name not in options]
    if missing:
        raise Mistake(
            f".tiles needs {missing[0]}=", (statement.head.start, statement.end), f"write {syntax}"
        )
    layout = _word(context, options["layout"], tuple(row.name for row in ARRANGEMENTS))
    side = _word(context, options["side"], SIDES)
    form = _DTYPES.get(array.dtype)
    kind = next(row for row in ARRANGEMENTS if row.name == layout)
    if form is None or form.name not in kind.formats:
        choices = ", ".join(name for name, x in _DTYPES.items() if x.name in kind.formats)
        raise Mistake(f"the array holds {array.dtype}; tiles of {layout} take {choices}", plain)
    if len(array.shape) != 2 or not array.data:
        text = " x ".join(map(str, array.shape)) or "one number"
        raise Mistake(f"the array is {text}, tiles are made of a matrix", plain)
    shape = array.shape[0], array.shape[1]
    data = tiled(array.data, shape, form.size, layout, side, COLUMN_BYTES // form.size)
    datum = Datum("tiles", len(data), array.dtype, array.shape)
    context.emit_datum(data, datum)
