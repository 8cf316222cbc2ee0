"""Binds decoded instructions of Xvc to the registers of a core.

The result is an act: a function that executes the instruction on these registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from macaw.emu.scalar.semantics import MASK, SINK, Act
from macaw.emu.vector import pmac, semantics
from macaw.emu.vector.core import VectorCore
from macaw.isa.codec import Decoded
from macaw.isa.rows import Instruction
from macaw.isa.scalar import REGISTER
from macaw.isa.vector import OPERATIONS, PMAC_FORMATS
from macaw.isa.vector_layouts import ELEMENTS, GENERAL, VECTOR, Order, Pair


def bind(core: VectorCore, found: Decoded) -> tuple[Act | None, int]:
    """Return the act of an instruction, and the number of products if it is a pmac (else 0).

    The act is None for an access to memory.
    """
    operation = OPERATIONS[found.row.mnemonic]
    if operation.name == "pmac":
        return _pmac(core, found, operation.element), PMAC_FORMATS[operation.element].lanes
    if operation.name == "pmac_gr":
        return _pmac_general(core, found, operation.element == "s8"), 4
    if found.row.family == "vector memory":
        return None, 0
    return _lanes(core, found), 0


def _pmac(core: VectorCore, found: Decoded, name: str) -> Act:
    values, function = found.values, pmac.FUNCTIONS[name]
    vr = [row.data for row in core.vr]
    first, second, result = vr[values["rs1"]], vr[values["rs2"]], vr[values["rd"]]
    old = result if values["acc"] else None
    order = order_of(core, found)
    if values["rs3"] >= GENERAL:

        def by_general() -> None:
            result[:] = function(first, second, order(), old)

        return by_general
    entries = order()

    def by_vector() -> None:
        result[:] = function(first, second, entries, old)

    return by_vector


def order_of(core: VectorCore, found: Decoded) -> Callable[[], pmac.Order]:
    """Return a function that returns the order of the pmac `found`: a view of bytes, or a list.

    The order is the permutation of lanes that the pmac applies to its second source.
    """
    number, form = found.values["rs3"], PMAC_FORMATS[OPERATIONS[found.row.mnemonic].element]
    if number < GENERAL:
        entries = core.vr[number].data[: form.lanes]
        return lambda: entries
    kind = found.row.operands[3].kind
    assert isinstance(kind, Order)
    value = _general(core, number - GENERAL, kind.paired)
    return lambda: pmac.entries(value(), form)


def _pmac_general(core: VectorCore, found: Decoded, signed: bool) -> Act:
    x, values = core.x, found.values
    rs1, rs2, rs3, acc = values["rs1"], values["rs2"], values["rs3"], values["acc"]
    rd = values["rd"] or SINK
    old = values["rd"]  # x0 reads as 0, whatever was written to the sink

    def act() -> None:
        x[rd] = pmac.general(x[rs1], x[rs2], x[rs3], x[old] if acc else 0, signed)

    return act


def _general(core: VectorCore, number: int, paired: bool) -> Callable[[], int]:
    """Return a function that returns the value of general register `number`.

    If `paired`, the value has 64 bits: those of this register and the next one.
    """
    x = core.x
    if paired:
        return lambda: x[number] | x[number + 1] << 32
    return lambda: x[number]


def _lanes(core: VectorCore, found: Decoded) -> Act:
    """Return a function that executes an instruction whose operation `semantics` defines on
    lanes.
    """
    operation, values = OPERATIONS[found.row.mnemonic], found.values
    dtype = semantics.dtype_of(ELEMENTS[operation.element])
    function = semantics.function(operation.name)
    read = found.row.reads.split()
    vectors: list[Any] = []
    numbers: list[Callable[[], int]] = []
    constants: list[int] = []
    for operand in found.row.operands:
        value = values[operand.name]
        if operand.kind is VECTOR:
            if operand.name in read:
                vectors.append(core.vr[value].view(dtype))
        elif operand.kind == REGISTER or isinstance(operand.kind, Pair):
            if operand.name in read:
                numbers.append(_general(core, value, isinstance(operand.kind, Pair)))
        else:
            constants.append(value)
    put = _destination(core, found, dtype)

    if not numbers and not constants:
        return lambda: put(function(*vectors))

    def act() -> None:
        put(function(*vectors, *(number() for number in numbers), *constants))

    return act


def _destination(core: VectorCore, found: Decoded, dtype: np.dtype[Any]) -> Callable[[Any], None]:
    """Return a function that writes a result of an instruction to its destination register.

    `dtype` is the type of the lanes.
    """
    target, number = found.row.operands[0], found.values["rd"]
    assert target.name == "rd"
    if target.kind is VECTOR:
        lanes = core.vr[number].view(f"<u{dtype.itemsize}")
        ones = (1 << 8 * dtype.itemsize) - 1

        def into_vector(result: Any) -> None:
            lanes[:] = result & ones if isinstance(result, int) else result.view(lanes.dtype)

        return into_vector
    x, place = core.x, number or SINK
    if isinstance(target.kind, Pair):

        def into_pair(result: int) -> None:
            x[place] = result & MASK
            x[number + 1] = result >> 32 & MASK

        return into_pair

    def into_general(result: int) -> None:
        x[place] = result & MASK

    return into_general


def real_type(row: Instruction) -> np.dtype[Any] | None:
    """Return the type of the floating-point numbers in an instruction's result.

    None means that the result has no such numbers.
    """
    operation = OPERATIONS.get(row.mnemonic)
    if operation is None or row.family == "vector compare":  # the results are masks
        return None
    name = operation.name.partition(".")[2] or operation.element  # the result of `vcvt.f32` is f32
    if name not in ELEMENTS:
        return None
    if operation.name == "pmac":
        name = "f32"  # sums of all floating-point formats are f32
    dtype = semantics.dtype_of(ELEMENTS[name])
    return dtype if dtype.kind == "f" else None
