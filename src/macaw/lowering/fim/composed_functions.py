"""Computes maximum and minimum, which no ALU has, by several functions of the ALU.

The difference a - b is negative exactly where b is the greater number, also in fp16, fp32 and
bf16, because differences below the least normal number are exact. The sign of the difference gives
a mask of all bits or of no bit, and the mask selects the bits of a or of b. So no rounding changes
the result. +0 counts as greater than -0. If a or b is NaN, the maximum is a and the minimum b.

In int8 the difference is limited to int8, and keeps the sign of a - b. Its product with 127, also
limited to int8, is 127 where a is the greater number, and 0 or less elsewhere; there relu makes it
0. Then 127 becomes the mask of all bits: 127 · -128, divided by 2**14, is rounded to -1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from macaw.isa.fim_circuit import FORMATS
from macaw.lowering.fim.graph import MANY_STEPS, MUL_ADD, Task, Tensor
from macaw.lowering.fim.number_arrays import greatest, rounded

_SIGN, _HALF, _GREATEST, _MOST, _LEAST = "sign", "half", "greatest", "most", "least"  # constants


class _Step(NamedTuple):
    """One function of the ALU, with the names of its result and of its operands `left` and `right`.

    An operand is `a` or `b`, a constant, or the result of an earlier step. In int8, the result is
    divided by 2 to the power of `shift`.
    """

    result: str
    function: str
    left: str
    right: str = ""
    shift: int = 0  # in int8: the result is divided by 2 ** shift


# fmt: off
_CHOICE = (
    _Step("difference", "sub", "a",          "b"),
    _Step("negative",   "and", "difference", _SIGN),      # +0 or -0
    _Step("signed",     "or",  "negative",   _HALF),      # 0.5 or -0.5
    _Step("one",        "sub", "signed",     _HALF),      # +0 or -1
    _Step("most",       "mul", "one",        _GREATEST),  # +0 or the least finite number
    _Step("mask",       "or",  "most",       "one"),      # no bit or all bits
    _Step("differing",  "xor", "a",          "b"),
    _Step("chosen",     "and", "differing",  "mask"),
)
_INTEGER_CHOICE = (
    _Step("difference", "sub",  "a",          "b"),
    _Step("scaled",     "mul",  "difference", _MOST),       # 127 where a is greater, else <= 0
    _Step("positive",   "relu", "scaled"),                  # 127 or 0
    _Step("mask",       "mul",  "positive",   _LEAST, 14),  # all bits or no bit
    _Step("differing",  "xor",  "a",          "b"),
    _Step("chosen",     "and",  "differing",  "mask"),
)
# fmt: on
_INTEGER_STEPS = {
    "max": (*_INTEGER_CHOICE, _Step("result", "xor", "b", "chosen")),
    "min": (*_INTEGER_CHOICE, _Step("result", "xor", "a", "chosen")),
}
_STEPS = {
    "max": (*_CHOICE, _Step("result", "xor", "a", "chosen")),
    "min": (*_CHOICE, _Step("result", "xor", "b", "chosen")),
}
assert tuple(_STEPS) == tuple(MANY_STEPS)


def functions_of(function: str, form: int) -> frozenset[str]:
    """Return the functions of the ALU from which `function` is composed, or `function` itself.

    `form` is the index of the number format.
    """
    if function == MUL_ADD:
        return frozenset(["mul"])
    steps = (_INTEGER_STEPS if FORMATS[form].is_integer else _STEPS).get(function, ())
    return frozenset(step.function for step in steps) or frozenset([function])


def expand(tasks: Iterable[Task], form: int) -> Iterator[Task]:
    """Yield the tasks with each maximum and minimum replaced by functions that an ALU has.

    A maximum or minimum becomes several tasks; the last one has the output of the original task.
    `form` is the index of the number format.
    """
    for task in tasks:
        steps = (_INTEGER_STEPS if FORMATS[form].is_integer else _STEPS).get(task.function)
        if steps is None:
            yield task
            continue
        rows, columns = task.output.rows, task.output.columns
        values = _constants(rows * columns, form) | dict(zip("ab", task.inputs, strict=True))
        for step in steps:
            made = Tensor(f"{task.output.name}.{step.result}", rows, columns)
            values[step.result] = task.output if step is steps[-1] else made
            inputs = tuple(values[name] for name in (step.left, step.right) if name)
            output = values[step.result]
            shift = task.shift if task.shift is None or step is steps[-1] else step.shift
            yield replace(task, inputs=inputs, output=output, function=step.function, shift=shift)


def _constants(count: int, form: int) -> dict[str, Tensor]:
    """Return the constants of the steps by name, each a tensor of shape (1, count).

    All composed functions with results of this size use equal tensors.
    """
    if FORMATS[form].is_integer:
        numbers: dict[str, float] = {_MOST: 127, _LEAST: -128}
    else:
        numbers = {_SIGN: -0.0, _HALF: 0.5, _GREATEST: greatest(FORMATS[form])}
    return {
        name: Tensor(f".{name}", 1, count, rounded(np.full((1, count), number), FORMATS[form]))
        for name, number in numbers.items()
    }
