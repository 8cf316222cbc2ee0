"""The operands of each row of `isa.pe.INSTRUCTIONS` as register-file entries.

The function has the mnemonic's name. From the word and its field values it makes the two entries,
(base or src, acc or dst). Blocks become element addresses (seed 000 ¶106; spec pe.md, Sequences).
Raises `Fault`, at the instruction's `address`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from emu.faults import Fault
from emu.pe.sequence import LD_PSUMS, NONSF, REDUCE, not_available
from emu.pe.state import Shape
from isa.model import Instruction
from isa.pe import ACCUMULATORS

Values = Mapping[str, int]
Entries = tuple[int, int]
Meaning = Callable[[Shape, int, Values, int], Entries]


def meaning(row: Instruction) -> Meaning:
    """The function of a row."""
    found: Meaning = globals()[row.mnemonic]
    return found


def mac(shape: Shape, word: int, values: Values, address: int) -> Entries:
    if values["balance"] and shape.direct:
        message = "mac with balance: a cluster of design 5a has no load queues to balance"
        raise Fault("not available", message, {"word": word}, address=address)
    for flag in ("balance", "sfu"):
        if values[flag]:
            raise not_available(f"mac with {flag}", address)
    return values["base"] * shape.input_block, values["acc"]


def ld(shape: Shape, word: int, values: Values, address: int) -> Entries:
    psums = values["destination"] == LD_PSUMS
    return values["base"] * (shape.output_block if psums else shape.input_block), 0


def st(shape: Shape, word: int, values: Values, address: int) -> Entries:
    return values["base"] * shape.output_block, 0


def spu(shape: Shape, word: int, values: Values, address: int) -> Entries:
    if values["function"] == REDUCE:
        raise not_available("spu reduce", address)
    if values["function"] != NONSF:
        return values["src"] * shape.output_block, values["dst"] * shape.output_block
    if values["src"] >= ACCUMULATORS:
        message = f"spu nonsf, src={values['src']}: accumulators are 0 to {ACCUMULATORS - 1}"
        raise Fault("illegal instruction", message, {"word": word}, address=address)
    return values["src"], values["dst"] * shape.output_block
