"""Computes the two register-file entries that an instruction of a sequence has as operands.

Each row of `macaw.isa.pe.INSTRUCTIONS` has a function with the name of its mnemonic. The function
computes two numbers from the sequence's header, the word and its fields: (base, acc), (base, 0) or
(source, destination), depending on the instruction. It converts block numbers to element addresses
(seed 000 ¶106; docs/timing-pe.md, Loops, steps and the weight queue). The functions raise `Fault`
with the `address` of the instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from macaw.emu.faults import Fault
from macaw.emu.pe.sequence import LD_PSUMS, NONSF, REDUCE
from macaw.emu.pe.state import Shape
from macaw.isa.pe import ACCUMULATORS, SCALAR_REDUCTIONS, SCALAR_SOURCE, SCALARS
from macaw.isa.rows import Instruction

Values = Mapping[str, int]
Entries = tuple[int, int]
Meaning = Callable[[Shape, Values, int, Values, int], Entries]


def meaning(row: Instruction) -> Meaning:
    """Return the function that computes the operands of `row`, an instruction of the table."""
    function: Meaning = globals()[row.mnemonic]
    return function


def mac(shape: Shape, header: Values, word: int, values: Values, address: int) -> Entries:
    if values["balance"] and shape.direct:
        message = "mac with balance: a cluster of design 5a has no load queues to balance"
        raise Fault("not available", message, {"word": word}, address=address)
    return values["base"] * shape.input_block, values["acc"]


def ld(shape: Shape, header: Values, word: int, values: Values, address: int) -> Entries:
    psums = values["destination"] == LD_PSUMS
    return values["base"] * (shape.output_block if psums else shape.input_block), 0


def st(shape: Shape, header: Values, word: int, values: Values, address: int) -> Entries:
    return values["base"] * shape.output_block, 0


def spu(shape: Shape, header: Values, word: int, values: Values, address: int) -> Entries:
    source, target = values["src"] * shape.output_block, values["dst"] * shape.output_block
    if values["function"] == REDUCE:
        if not header["reduction"]:
            message = "spu reduce in a sequence with reduction=none"
            raise Fault("illegal instruction", message, {"word": word}, address=address)
        if header["reduction"] not in SCALAR_REDUCTIONS:
            return source, target
        if values["dst"] >= SCALARS:
            message = f"spu reduce, dst={values['dst']}: the scalar unit has accumulators 0 to"
            message = f"{message} {SCALARS - 1}"
            raise Fault("illegal instruction", message, {"word": word}, address=address)
        return source, values["dst"]
    if values["function"] != NONSF:
        return source, target
    if ACCUMULATORS <= values["src"] < SCALAR_SOURCE:
        message = (
            f"spu nonsf, src={values['src']}: accumulators are 0 to {ACCUMULATORS - 1}, those of"
            f" the scalar unit {SCALAR_SOURCE} to {SCALAR_SOURCE + SCALARS - 1}"
        )
        raise Fault("illegal instruction", message, {"word": word}, address=address)
    return values["src"], target
