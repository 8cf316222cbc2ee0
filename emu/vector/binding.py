"""Decoded instructions of Xvc bound to the registers of a core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.emu.scalar.semantics import MASK, SINK, Act
from macaw.emu.vector import pmac, semantics
from macaw.isa.codec import Decoded
from macaw.isa.rows import Instruction
from macaw.isa.scalar import REGISTER
from macaw.isa.vector import OPERATIONS, PMAC_FORMATS
from macaw.isa.vector_layouts import ELEMENTS, GENERAL, VECTOR, Order, Pair

if TYPE_CHECKING:
    from macaw.emu.vector.processor import Processor


def bind(core: Processor, found: Decoded) -> tuple[Act | None, int]:
    """What the instruction does, None if it is an access; and how many products it makes."""
    operation = OPERATIONS[found.row.mnemonic]
    if operation.name == "pmac":
        return _pmac(core, found, operation.element), PMAC_FORMATS[operation.element].lanes
    if operation.name == "pmac_gr":
        return _pmac_general(core, found, operation.element == "s8"), 4
    if found.row.family == "vector memory":
        return None, 0
    return _lanes(core, found), 0


def _pmac(core: Processor, found: Decoded, name: str) -> Act:
    values, form, function = found.values, PMAC_FORMATS[name], pmac.FUNCTIONS[name]
    vr = [row.data for row in core.vr]
    first, second, result = vr[values["rs1"]], vr[values["rs2"]], vr[values["rd"]]
    old = result if values["acc"] else None
    if values["rs3"] >= GENERAL:
        kind = found.row.operands[3].kind
        assert isinstance(kind, Order)
        order = _general(core, values["rs3"] - GENERAL, kind.paired)

        def by_general() -> None:
            result[:] = function(first, second, pmac.entries(order(), form), old)

        return by_general
    entries = vr[values["rs3"]][: form.lanes]

    def by_vector() -> None:
        result[:] = function(first, second, entries, old)

    return by_vector


def _pmac_general(core: Processor, found: Decoded, signed: bool) -> Act:
    x, values = core.x, found.values
    rs1, rs2, rs3, acc = values["rs1"], values["rs2"], values["rs3"], values["acc"]
    rd = values["rd"] or SINK
    old = values["rd"]  # x0 is 0 whatever the sink holds

    def act() -> None:
        x[rd] = pmac.general(x[rs1], x[rs2], x[rs3], x[old] if acc else 0, signed)

    return act


def _general(core: Processor, number: int, paired: bool) -> Callable[[], int]:
    """The value of a general register, or of a pair."""
    x = core.x
    if paired:
        return lambda: x[number] | x[number + 1] << 32
    return lambda: x[number]


def _lanes(core: Processor, found: Decoded) -> Act:
    """An operation of `macaw.emu.vector.semantics`, on lanes of its element."""
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


def _destination(core: Processor, found: Decoded, dtype: np.dtype[Any]) -> Callable[[Any], None]:
    """How a result gets into the register that the row writes."""
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
    """The type of real numbers that an instruction's result is of, which its sources may not be."""
    operation = OPERATIONS.get(row.mnemonic)
    if operation is None or row.family == "vector compare":  # masks are no numbers
        return None
    name = operation.name.partition(".")[2] or operation.element  # `vcvt.f32` makes f32
    if name not in ELEMENTS:
        return None
    if operation.name == "pmac":
        name = "f32"  # sums of all real formats
    dtype = semantics.dtype_of(ELEMENTS[name])
    return dtype if dtype.kind == "f" else None
