"""Commands that set values, and that read, write and compare values by .npy files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.displays import symbol_names
from macaw.debugger.commands.formats import Format, format_value
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.operands import (
    address_text,
    assign,
    element_type,
    evaluate,
    expression,
)
from macaw.debugger.commands.table import command
from macaw.debugger.commands.usage import quote
from macaw.debugger.values import AccessError, array_of, differences, type_text
from macaw.emu.bfloat16 import BFLOAT16

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

LISTED = 8  # the greatest number of differences that `diff` lists


@command("set E = V", "data", "set a register, a queue, memory or a tensor to a value")
def _set(context: Context, line: Line) -> Answer:
    target = assign(context, line)
    value = format_value(target.value(), Format(), symbol_names(context))
    return answers.table(answers.VALUE, [(line.get("E"), value)])


@command("dump E FILE", "data", "write a value to a .npy file")
def _dump(context: Context, line: Line) -> Answer:
    array = _numbers(context, line)
    path, dtype = line.get("FILE") or "", element_type(expression(context, line))
    context.files.write_array(path, array)
    written = f", as {array.dtype}" if dtype == BFLOAT16 else ""
    return answers.message(f"{_kind(array, dtype)}{written} to {path}")


def _numbers(context: Context, line: Line) -> NDArray[Any]:
    """Return the value of the operand `E` as an array.

    Raises `CommandError` if the value is neither a number nor an array of numbers.
    """
    return _as_array(line, evaluate(context, line))


def _as_array(line: Line, value: Any) -> NDArray[Any]:
    """Return `value`, that of the operand `E`, as an array.

    Raises `CommandError` if it is neither a number nor an array of numbers.
    """
    try:
        array = array_of(value)
    except AccessError:  # the rows of the list have different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise CommandError(f"{line.get('E')} holds no numbers", at=line.place("E"))
    return array


@command("load E FILE", "data", "set a value from a .npy file")
def _load(context: Context, line: Line) -> Answer:
    array = context.files.read_array(line.get("FILE") or "")
    target = expression(context, line)
    old, dtype = _as_array(line, target.value()), element_type(target)
    if old.shape != array.shape:
        raise CommandError(f"{line.get('E')} is {_kind(old, dtype)}, the file holds {_kind(array)}")
    if old.dtype.kind in "iu" and array.dtype.kind not in "iub":
        raise CommandError(f"{line.get('E')} is {_kind(old, dtype)}, the file holds {_kind(array)}")
    target.set(array if array.shape else array.item())
    context.session.note_edit(f"load {line.get('E')} {quote(line.get('FILE') or '')}")
    return answers.message(f"{line.get('E')} is {_kind(array, dtype)} of {line.get('FILE')}")


@command(
    "diff E FILE",
    "data",
    "compare a value with a .npy file, element by element",
    details="The answer names the first different element with its index and address. With\n"
    "--batch the exit status is 1 if elements differ; the commands after it are still executed.",
)
def _diff(context: Context, line: Line) -> Answer:
    golden = context.files.read_array(line.get("FILE") or "")
    target = expression(context, line)
    array, dtype = _as_array(line, target.value()), element_type(target)
    if array.ndim == 1 and array.size == golden.size:
        golden = golden.reshape(array.shape)  # the type view `hidden.i8` is flat
    if array.shape != golden.shape:
        kind = _kind(array, dtype)
        raise CommandError(f"{line.get('E')} is {kind}, the file holds {_kind(golden)}")
    differ = differences(array, golden)
    if not len(differ):
        kind = _kind(array, dtype)
        return answers.message(f"{line.get('E')} is equal to {line.get('FILE')}, {kind}")
    rows = [
        (_index(line.get("E") or "", at), _item(golden, at), _item(array, at))
        for at in map(tuple, differ[:LISTED])
    ]
    first = tuple(differ[0])
    where = _address(context, target, array, first)
    title = (
        f"{len(differ):,} of {max(1, array.size):,} elements differ,"
        f" the first is {rows[0][0]}{where}"
    )
    more = (f"and {len(differ) - LISTED:,} more",) if len(differ) > LISTED else ()
    answer = answers.table(("element", "expected", "found"), rows, title)
    return replace(answer, lines=more, differs=True)


def _address(context: Context, target: Any, array: NDArray[Any], first: Any) -> str:
    """Return the text ` at ADDRESS` for element `first` of an array in memory.

    `target` is the expression, `array` its value. `first` has the element's indices; for a single
    number it is empty. Return an empty text if the expression is not one array in memory.
    """
    extents = target.extents()
    wide = BFLOAT16.itemsize if element_type(target) == BFLOAT16 else array.itemsize
    if target.target is None or len(extents) != 1 or extents[0][1] != array.size * wide:
        return ""
    place = extents[0][0]
    if first:
        place += int(np.ravel_multi_index(first, array.shape)) * wide
    return f" at {address_text(context, place)}"


def _index(text: str, at: tuple[int, ...]) -> str:
    return f"{text}[{', '.join(map(str, at))}]" if at else text


def _item(array: NDArray[Any], at: tuple[int, ...]) -> Any:
    return array[at].item()


def _kind(array: NDArray[Any], dtype: np.dtype[Any] | None = None) -> str:
    sides, name = " x ".join(map(str, array.shape)), type_text(array, dtype)
    return f"{name}, {sides}" if sides else name
