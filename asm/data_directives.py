"""The directives that define data: numbers, text, space, arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from macaw.asm import files
from macaw.asm.data import MAX_BYTES, Array, DataError, Selection, dimensions_text, read_npy, select
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.directive import Directive, name_of, wrong_operands
from macaw.asm.expressions import Address, NotYet, evaluate, number
from macaw.asm.floats import BRAIN, DOUBLE, HALF, SINGLE, FloatError, FloatFormat, bits
from macaw.asm.layout import Area
from macaw.asm.program import DTYPE_SIZES
from macaw.asm.relocations import WORD, relocate_number
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum
from macaw.asm.syntax import (
    AlreadyReported,
    Indexed,
    LongNumber,
    Mistake,
    Name,
    Named,
    Node,
    Number,
    Real,
    Slice,
    Statement,
    Text,
    Unary,
)
from macaw.isa.lazy_pattern import lazy_pattern

_MAX_DIMENSIONS = 32
_LITERAL = lazy_pattern(r"(-?)(0[xX][0-9A-Fa-f]+|0[bB][01]+|[1-9][0-9]*|0)")
_MAX_FILL = 8  # bytes that .fill repeats
_MAX_FILL_VALUE = 4  # bytes of each repetition that the value gives, as in GNU as


def pack_number(value: int, size: int, node: Node) -> bytes:
    """Return a signed or unsigned number as `size` little-endian bytes.

    Raises `Mistake` with the allowed range.
    """
    low, high = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
    if size < 8 and not low <= value <= high:
        raise Mistake(f"{value} is out of range, {low} to {high}", node)
    return (value & high).to_bytes(size, "little")


def _numbers(size: int, context: StatementContext, statement: Statement) -> None:
    """Append each operand as a number of `size` bytes.

    In an operand, `.` is the address of the number that this operand gives.
    """
    end = context.offset + size * len(statement.operands)
    try:
        for node in statement.operands:
            here = context.at_end()
            try:
                here.emit(pack_number(number(node, here), size, node))
            except NotYet:
                here.emit_later(size, partial(late_number, here, here.fold(node), size))
    except (Mistake, AlreadyReported):
        context.area.grow(end - context.area.size)  # later bytes keep their places
        raise


def late_number(context: StatementContext, node: Node, size: int) -> bytes:
    """Return the `size` bytes of a number whose value is known only after the layout.

    If only a linker knows the value, add a relocation and return zeros. Raises `Mistake`, or
    `NotYet` if the value is still unknown.
    """
    if size == WORD and relocate_number(context, node):
        return bytes(WORD)
    return pack_number(number(node, context), size, node)


def _floats(form: FloatFormat, context: StatementContext, statement: Statement) -> None:
    data = bytearray()
    for node in statement.operands:
        inner: Node = node
        sign = ""
        while isinstance(inner, Unary) and inner.operator in "+-" and not sign:
            sign = inner.operator
            inner = inner.operand
        if not isinstance(inner, Real | Number | LongNumber | Name):
            raise Mistake("a floating-point number is needed here", node)
        text = context.line.text[inner.start : inner.end]
        try:
            data += bits(sign + text, form).to_bytes(form.size, "little")
        except FloatError as error:
            raise Mistake(str(error), node) from None
    context.emit(bytes(data))


def _octa(context: StatementContext, statement: Statement) -> None:
    """Carry out `.octa`."""
    for node in statement.operands:
        value = _wide_number(context, node)
        if not -(1 << 127) <= value < 1 << 128:
            raise Mistake("the number does not fit 128 bits", node)
        context.emit((value % (1 << 128)).to_bytes(16, "little"))


def _wide_number(context: StatementContext, node: Node) -> int:
    """Return the value of an operand. It has 64 bits, but a plain number may have more."""
    text = context.line.text[node.start : node.end].replace(" ", "")
    literal = _LITERAL.fullmatch(text)
    if literal is None:
        return context.number(node)
    return int(literal[2], 0) * (-1 if literal[1] else 1)


def _leb128(signed: bool, context: StatementContext, statement: Statement) -> None:
    """Carry out `.uleb128` or `.sleb128`.

    The values must be known when the line is read, because the number of bytes depends on them.
    """
    for node in statement.operands:
        value = _wide_number(context, node) if signed else context.number(node) % (1 << 64)
        data = bytearray()
        while True:
            low, value = value & 0x7F, value >> 7
            is_last = value == (-(low >> 6) if signed else 0)
            data.append(low if is_last else low | 0x80)
            if is_last:
                break
        context.emit(bytes(data))


def _org(context: StatementContext, statement: Statement) -> None:
    """Carry out `.org`: append bytes up to an offset in the section.

    The first operand is the offset as a number, or a label of the section. The second one is the
    value of the bytes.
    """
    if not 1 <= len(statement.operands) <= 2:
        raise wrong_operands(statement, ".org OFFSET [, fill]")
    node = statement.operands[0]
    value = evaluate(node, context)
    if isinstance(value, Address):
        if value.area is not context.area:
            raise Mistake("the place is in another section", node)
        context.note_use(node)
        value = value.offset
    fill = 0
    if len(statement.operands) == 2:
        fill = context.bounded_number(statement.operands[1], "fill", -128, 255) & 0xFF
    count = value - context.offset
    if not 0 <= count <= MAX_BYTES:
        raise Mistake(f"the section is at {context.offset} already, {value} is before it", node)
    if fill:
        context.emit(bytes([fill]) * count)
    else:
        context.reserve(count)


def _strings(end: bytes, context: StatementContext, statement: Statement) -> None:
    data = bytearray()
    for node in statement.operands:
        if not isinstance(node, Text):
            raise Mistake("a string is needed here", node)
        data += node.value + end
    context.emit(bytes(data))


def _space(context: StatementContext, statement: Statement) -> None:
    if not 1 <= len(statement.operands) <= 2:
        raise wrong_operands(statement, ".space BYTES [, fill]")
    count = context.bounded_number(statement.operands[0], "size", 0, MAX_BYTES)
    fill = 0
    if len(statement.operands) == 2:
        fill = context.bounded_number(statement.operands[1], "fill", -128, 255) & 0xFF
    if fill:
        context.emit(bytes([fill]) * count)
    else:
        context.reserve(count)


def _fill(context: StatementContext, statement: Statement) -> None:
    """Carry out `.fill repeat, size, value`.

    As in GNU as, `value` gives at most 4 bytes of each repetition; the other bytes are zero. If a
    value does not fit, its high bits are lost, with a warning.
    """
    if not 1 <= len(statement.operands) <= 3:
        raise wrong_operands(statement, ".fill REPEAT [, size [, value]]")
    nodes = statement.operands
    repeat = context.bounded_number(nodes[0], "repeat", 0, MAX_BYTES)
    size = context.bounded_number(nodes[1], "size", 0, _MAX_FILL) if len(nodes) > 1 else 1
    value = context.number(nodes[2]) if len(nodes) > 2 else 0
    if repeat * size > MAX_BYTES:
        raise Mistake(
            f"{repeat} times {size} bytes are out of range, at most {MAX_BYTES}", nodes[0]
        )
    if not value:
        context.reserve(repeat * size)
        return
    value_bytes = min(size, _MAX_FILL_VALUE)
    least, low = -(1 << 8 * value_bytes >> 1), value & (1 << 8 * value_bytes) - 1
    if value_bytes and not least <= value < 1 << 8 * value_bytes:
        message = f"of {value:#x} the low {8 * value_bytes} bits are kept, {low:#x}"
        hint = "as in GNU as; .dword takes 64 bits" if value_bytes == _MAX_FILL_VALUE else ""
        context.warn(message, nodes[2], hint, name="fill-value")
    context.emit(low.to_bytes(value_bytes, "little").ljust(size, b"\0") * repeat)


def load_array(context: StatementContext, node: Node) -> Array:
    """Return the array that `node` names: `"file.npy"`, or a part such as `"file.npy"[0:8]`.

    Raises `Mistake`.
    """
    text = node.base if isinstance(node, Indexed) else node
    if not isinstance(text, Text):
        raise Mistake("the name of a .npy file is needed here, in quotes", node)
    name = ""
    try:
        path = context.state.folders.find(context.line, text)[0]
        name = text.value.decode("utf-8")
        array = read_npy(files.read(path, MAX_BYTES))
    except files.FileError as error:
        raise Mistake(str(error), text) from None
    except DataError as error:
        raise Mistake(f"'{name}' {error}", text) from None
    if not isinstance(node, Indexed):
        return array
    if len(node.subscripts) > len(array.shape):
        raise Mistake(f"'{name}' has {dimensions_text(array.shape)}", node)
    selections = [
        _selection(context, item, array.shape[x], x) for x, item in enumerate(node.subscripts)
    ]
    return select(array, selections)


def _selection(context: StatementContext, node: Node, length: int, place: int) -> Selection:
    what = f"dimension {place} of the array"
    if not isinstance(node, Slice):
        return context.bounded_number(node, what, 0, length - 1)
    low = 0 if node.low is None else context.bounded_number(node.low, what, 0, length)
    high = length if node.high is None else context.bounded_number(node.high, what, 0, length)
    if low >= high:
        raise Mistake(f"the range {low}:{high} of {what} is empty", node)
    return slice(low, high)


def _incbin(context: StatementContext, statement: Statement) -> None:
    """Carry out `.incbin "file", skip, count`: append `count` bytes of a file from offset `skip`.

    Without `count`, append all bytes up to the end of the file.
    """
    nodes = statement.operands
    if not 1 <= len(nodes) <= 3 or not isinstance(nodes[0], Text):
        raise wrong_operands(statement, '.incbin "FILE" [, skip [, count]]')
    try:
        data = files.read(context.state.folders.find(context.line, nodes[0])[0], MAX_BYTES)
    except files.FileError as error:
        raise Mistake(str(error), nodes[0]) from None
    skip = context.bounded_number(nodes[1], "skip", 0, len(data)) if len(nodes) > 1 else 0
    rest = len(data) - skip
    count = context.bounded_number(nodes[2], "count", 0, rest) if len(nodes) > 2 else rest
    context.emit(data[skip : skip + count])


def one_array(
    context: StatementContext, statement: Statement, options: Sequence[str], syntax: str
) -> Array:
    """Return the array that the only positional operand describes, for example `"file.npy"[0:8]`.

    All other operands have the form `name=value`, with a name in `options`. Raises `Mistake` if the
    operands are wrong (the message shows `syntax`), or if the array cannot be read.
    """
    plain = [item for item in statement.operands if not isinstance(item, Named)]
    if len(plain) != 1:
        raise wrong_operands(statement, syntax)
    assert statement.head is not None
    context.named_operands(statement.operands, options, statement.head)
    return load_array(context, plain[0])


def _npy(context: StatementContext, statement: Statement) -> None:
    array = one_array(context, statement, (), '.npy "file.npy" [[rows, ...]]')
    if not array.data:
        raise Mistake("the array is empty", statement.operands[0])
    shape = array.shape or (1,)
    datum = Datum("array", len(array.data), array.dtype, shape)
    context.emit_datum(array.data, datum)


def element_type(node: Node) -> str:
    """Return the element type that `node` names. Raises `Mistake` for any other operand."""
    dtype = name_of(node, "an element type")
    if dtype.text not in DTYPE_SIZES:
        hint = did_you_mean(dtype.text, DTYPE_SIZES) or "there are " + ", ".join(DTYPE_SIZES)
        raise Mistake(f"'{dtype.text}' is no element type", dtype, hint)
    return dtype.text


def typed_shape(
    context: StatementContext, dtype: Node, dimensions: Sequence[Node]
) -> tuple[str, tuple[int, ...], int]:
    """Return element type, shape and size in bytes of an array.

    The nodes describe the array as in `int8, 4, 64`. Raises `Mistake`.
    """
    element = element_type(dtype)
    if len(dimensions) > _MAX_DIMENSIONS:
        raise Mistake(f"a tensor has at most {_MAX_DIMENSIONS} dimensions", dimensions[-1])
    shape = tuple(context.bounded_number(x, "dimension", 1, (1 << 31) - 1) for x in dimensions)
    return element, shape, prod(shape, start=DTYPE_SIZES[element])


def _array(context: StatementContext, statement: Statement) -> None:
    if len(statement.operands) < 2 or any(isinstance(x, Named) for x in statement.operands):
        raise wrong_operands(statement, ".array dtype, dimension, ...")
    dtype, shape, size = typed_shape(context, statement.operands[0], statement.operands[1:])
    if size > MAX_BYTES:
        raise Mistake(f"{size} bytes are out of range, at most {MAX_BYTES}", statement.operands[1])
    context.emit_datum(bytes(size), Datum("array", size, dtype, shape))


def _view(context: StatementContext, statement: Statement) -> None:
    """Carry out `.view`: name existing bytes, with an element type and a shape.

    Raises `Mistake`.
    """
    head, syntax = statement.head, ".view NAME, dtype, dimension, ..., at=ADDRESS"
    assert head is not None
    plain = [item for item in statement.operands if not isinstance(item, Named)]
    if not plain or not isinstance(plain[0], Name):
        raise wrong_operands(statement, syntax)
    name = plain[0]
    with context.spoil_on_error(name):
        at = context.named_operands(statement.operands, ("at",), head).get("at")
        if len(plain) < 3 or at is None:
            raise wrong_operands(statement, syntax)
        dtype, shape, size = typed_shape(context, plain[1], plain[2:])
        context.state.symbols.place_labels(context.area)
        # A view may have the name of another file's label at which it lies, so the check is first.
        context.check_is_new(name)
        place = context.at_end().value(at.value)
        if not isinstance(place, Address) or not isinstance(place.area, Area):
            raise Mistake(
                "the place of a view must be known here",
                at.value,
                "name a label of an earlier line, or a distance from it",
            )
        symbol = context.define(name)
        symbol.place(place.area, place.offset, Datum("array", size, dtype, shape))
        symbol.kind = "object"
    context.after_layout(partial(_check_view, place.area, place.offset, size, at.value))


def _check_view(area: Area, offset: int, size: int, node: Node) -> None:
    """Raise `Mistake` at `node` unless the `size` bytes at `offset` are all inside of the area.

    The area is complete, so its size does not change any more.
    """
    if offset < 0:
        raise Mistake("the view begins before its section's data", node)
    if offset + size > area.size:
        over = offset + size - area.size
        raise Mistake(f"the view ends {over} bytes after the end of its section's data", node)


D = Directive

# fmt: off
# Bytes of a number, by the directive that puts numbers.
NUMBER_SIZES = {
    name: size
    for size, names in {1: ".byte", 2: ".half .short .hword .2byte", 4: ".word .long .int .4byte", 8: ".dword .quad .8byte"}.items()
    for name in names.split()
}
STRING_ENDS = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
# Directives that only add bytes, and whose bytes follow from their operands alone.
PURE_DATA = frozenset((*NUMBER_SIZES, *".float16 .bfloat16 .float .single .double .ascii .asciz .string .space .zero .skip .fill".split()))
DATA = (
    *(D(name, f"{name} value, ...", f"Store numbers of {size} byte{'s' * (size > 1)}, signed or unsigned.", partial(_numbers, size), example=f"{name} 1, -1, 'a', 0x7f")
      for name, size in NUMBER_SIZES.items()),
    D(".float16", ".float16 value, ...",              "Store floating-point numbers of 2 bytes, rounded half to even.", partial(_floats, HALF), example=".float16 1.5, -0.1"),
    D(".bfloat16", ".bfloat16 value, ...",            "Store bfloat16 numbers of 2 bytes: 8 significant bits, exponents as in .float, rounded half to even.",     partial(_floats, BRAIN), example=".bfloat16 1.5, -1e30"),
    D(".float",   ".float value, ...",                "Store floating-point numbers of 4 bytes, rounded half to even.", partial(_floats, SINGLE), example=".float 1.5, -1e-3"),
    D(".single",  ".single value, ...",               "As .float.", partial(_floats, SINGLE), example=".single 1.5, -1e-3"),
    D(".double",  ".double value, ...",               "Store floating-point numbers of 8 bytes, rounded half to even.", partial(_floats, DOUBLE), example=".double 1.5, -1e-300"),
    D(".octa",    ".octa value, ...",                 "Store numbers of 16 bytes.", _octa, example=".octa 0x0123456789abcdef0123456789abcdef"),
    D(".uleb128", ".uleb128 value, ...",              "Store unsigned numbers in groups of 7 bits (LEB128).", partial(_leb128, False), example=".uleb128 300"),
    D(".sleb128", ".sleb128 value, ...",              "Store signed numbers in groups of 7 bits (LEB128).", partial(_leb128, True), example=".sleb128 -300"),
    D(".org",     ".org OFFSET [, fill]",             "Continue at this offset of the section, which must not be before the present one.", _org, example=".org 16"),
    D(".ascii",   ".ascii \"text\", ...",             "Store text in UTF-8, without a zero byte at its end.", partial(_strings, STRING_ENDS[".ascii"]), example=".ascii \"two\\n\", \"lines\\n\""),
    D(".asciz",   ".asciz \"text\", ...",             "Store text in UTF-8, each string with a zero byte at its end.", partial(_strings, STRING_ENDS[".asciz"]), example=".asciz \"hello\""),
    D(".string",  ".string \"text\", ...",            "As .asciz.", partial(_strings, STRING_ENDS[".string"]), example=".string \"hello\""),
    D(".space",   ".space BYTES [, fill]",            "Reserve BYTES bytes with the value fill, by default 0.", _space, example=".space 64"),
    D(".zero",    ".zero BYTES",                      "Reserve BYTES bytes with the value 0.", _space, example=".zero 64"),
    D(".skip",    ".skip BYTES [, fill]",             "As .space.", _space, example=".skip 64, 0xff"),
    D(".fill",    ".fill REPEAT [, size [, value]]",  "Store a value of size bytes (by default 1) REPEAT times.", _fill, example=".fill 8, 4, 0x3f800000"),
    D(".incbin",  ".incbin \"FILE\" [, skip [, count]]", "Store the bytes of a file: count bytes after the first skip bytes, by default all.", _incbin, example="notes: .incbin \"notes.txt\""),
    D(".array",   ".array dtype, dimension, ...",    "Store an array of zeros with an element type and a shape.", _array, example="sums: .array int32, 4, 8"),
    D(".view",    ".view NAME, dtype, dimension, ..., at=ADDRESS", "Name bytes of an earlier line, with an element type and a shape. Views may overlap.", _view, example="a: .array int8, 64\n.view rows, int8, 8, 8, at=a"),
    D(".npy",     ".npy \"file.npy\" [[rows, ...]]",  "Store the elements of the array in a file, or of a part of it, row by row.", _npy, example="w: .npy \"weights.npy\"[0:2]"),
)
# fmt: on
DATA_NAMES = frozenset(row.name for row in DATA)
