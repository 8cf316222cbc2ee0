"""The format of sequences in memory: decodes and checks header, records and instructions.

The records contain steps (increments), strides and element types. Seed 000 ¶106.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe import operands
from macaw.emu.pe.sequence import decode_word
from macaw.emu.pe.state import Shape
from macaw.isa.codec import DecodeError, StructureError, unpack
from macaw.isa.pe import (
    ACTIVATIONS,
    BUFFERS,
    ELEMENTS,
    ENTRY_OF,
    INSTRUCTION_BYTES,
    RECORD_SIZE,
    REQUANTISE,
    SEQUENCE,
    SEQUENCE_LENGTH,
    SHORT_PIPELINE,
    STATES,
    STEP,
    STRIDE,
    STRIDE_KIND,
    THEN,
    TYPES,
    record_kind,
    strided,
)
from macaw.isa.typed_records import NamedTuple


class Records(NamedTuple):
    """The contents of the records of a sequence.

    `steps` has the increments of each operand in the inner and the outer loop, `strides` the
    difference of each operand from a PE to the next PE. `scaled` says whether requantise multiplies
    by scales. `types` are the types of weights and of activations.
    """

    # (instructions, operands, 2): increments of the inner and the outer loop
    steps: NDArray[np.int32]
    strides: NDArray[np.int32]  # (instructions, operands): difference from a PE to the next
    scaled: bool  # whether spu requantise multiplies by scales
    # of weights and of activations: 0 (default), or 1 + index in macaw.isa.pe.ELEMENTS
    types: tuple[int, int]


def instructions_offset(header: dict[str, int]) -> int:
    """Return the number of bytes before the instructions of a sequence with this header."""
    return SEQUENCE.size + RECORD_SIZE * header["records"]


def sequence_length(header: dict[str, int]) -> int:
    """Return the number of bytes in memory of a sequence with this header."""
    return instructions_offset(header) + INSTRUCTION_BYTES * header["count"]


def parse_header(data: bytes, address: int) -> dict[str, int]:
    """Return the header at the start of `data`, a sequence.

    `address` is the address of the sequence. Raises `Fault` (malformed packet).
    """
    try:
        header = unpack(SEQUENCE, data)
    except StructureError as error:
        values: dict[str, int | str] = {"length": len(data)}
        raise Fault("malformed packet", str(error), values, address=address) from None
    then, sliding = header["then"], STATES[header["state"]] == "sw"
    wrong = {
        f"then is {then}, neither 0 nor {THEN} to {THEN + BUFFERS - 1}": (
            then != 0 and not THEN <= then < THEN + BUFFERS
        ),
        "a sliding window of no entries": sliding and not header["window"],
    }
    for what, is_wrong in wrong.items():
        if is_wrong:
            raise Fault("malformed packet", f"a sequence: {what}", {"then": then}, address=address)
    return header


def raw_strides(data: bytes, header: dict[str, int]) -> NDArray[np.int64]:
    """Return the strides of a sequence with this header, of shape (instructions, operands, 2).

    `data` are the bytes of the sequence. The last axis has the stride over PEs and the stride over
    clusters. The function skips wrong records, for which `parse_records` raises a fault.
    """
    strides = np.zeros((SEQUENCE_LENGTH, 2, 2), np.int64)
    for at in _records(header):
        if record_kind(data, at) is STRIDE:
            try:
                stride = unpack(STRIDE, data, at)
            except StructureError:
                continue  # `parse_records` raises the fault
            entry = stride["operand"] - STRIDE_KIND
            strides[stride["instruction"], entry] = stride["pe"], stride["cluster"]
    return strides


def _records(header: dict[str, int]) -> range:
    """Return the offsets of the records of a sequence with this header."""
    return range(SEQUENCE.size, instructions_offset(header), RECORD_SIZE)


def types_record(data: bytes, header: dict[str, int], address: int) -> dict[str, int] | None:
    """Return the members of the record `types` of a sequence; None without such a record.

    `data` are the bytes of the sequence, `address` is its address. Raises `Fault` (malformed
    packet) if the record is wrong, or if there are two.
    """
    found = None
    for number, at in enumerate(_records(header)):
        if record_kind(data, at) is not TYPES:
            continue
        values: dict[str, int | str] = {TYPES.name: number}
        if found is not None:
            message = f"{TYPES.name} {number}: the sequence has two records of this kind"
            raise Fault("malformed packet", message, values, address=address + at)
        try:
            found = unpack(TYPES, data, at)
        except StructureError as error:
            raise Fault("malformed packet", str(error), values, address=address + at) from None
    return found


def operand_types(types: dict[str, int] | None) -> tuple[int, int]:
    """Return the types of weights and activations in a record `types`; 0 means the default."""
    return (0, 0) if types is None else (types["weights"], types["activations"])


def check_data(
    shape: Shape, data: bytes, header: dict[str, int], brings: Collection[str], address: int
) -> None:
    """Raise `Fault` if the segments of a config do not suit its sequence.

    `data` are the bytes of the sequence, `address` is its address. `brings` are the types of the
    segments that follow the sequence in the config. The sequence must use all these segments. If it
    needs scales or a table, they must be among the segments. The function also raises `Fault` if
    the sequence names an element type that the array does not have.
    """
    types = types_record(data, header, address)
    for number in operand_types(types):
        if number and ELEMENTS[number - 1] not in shape.types:
            element = ELEMENTS[number - 1]
            message = f"a sequence of {element}: the array has {', '.join(shape.types)} (pe.widest)"
            raise Fault("not available", message, {"type": element}, address=address)
    uses = {
        "scales": (_is_scaled(types), "requantise=scale"),
        "table": (ACTIVATIONS[header["activation"]] == "table", "activation=table"),
    }
    for name, (is_used, option) in uses.items():
        if is_used != (name in brings):
            message = (
                f"a sequence with {option}: its config has no {name}"
                if is_used
                else f"a config with {name}: its sequence has no {option}"
            )
            raise Fault("malformed packet", message, {"segment": name}, address=address)


def _is_scaled(types: dict[str, int] | None) -> bool:
    """Return whether a sequence's record `types` says that requantise multiplies by scales."""
    return types is not None and REQUANTISE[types["requantise"]] == "scale"


def parse_records(data: bytes, header: dict[str, int], address: int) -> Records:
    """Return the contents of the records of a sequence.

    `data` are the bytes of the sequence, `address` is its address. Raises `Fault` (malformed
    packet) if a record is wrong, or if it gives a step or a stride to an operand that cannot have
    one.
    """
    types = types_record(data, header, address)
    steps = np.zeros((SEQUENCE_LENGTH, 2, 2), np.int32)
    strides = np.zeros((SEQUENCE_LENGTH, 2), np.int32)
    operands_seen = set()
    for number, at in enumerate(_records(header)):
        kind = record_kind(data, at)
        if kind is TYPES:
            continue
        try:
            record = unpack(kind, data, at)
        except StructureError as error:
            values: dict[str, int | str] = {kind.name: number}
            raise Fault("malformed packet", str(error), values, address=address + at) from None
        place, operand, stepped = record["instruction"], record["operand"], kind is STEP
        why = ""
        if operand - (0 if stepped else STRIDE_KIND) not in _entries(data, header, place, stepped):
            why = "there is no such operand" if stepped else "it is the same in all PEs"
        elif (place, operand) in operands_seen:
            why = f"it has a {kind.name} already"
        elif stepped and header["pipeline"] == SHORT_PIPELINE:
            why = "a step needs the stages SU and WB, pipeline=4"
        if why:
            operand -= 0 if stepped else STRIDE_KIND
            message = f"{kind.name} {number}, of operand {operand} of instruction {place}: {why}"
            raise Fault("malformed packet", message, {kind.name: number}, address=address + at)
        operands_seen.add((place, operand))
        if stepped:
            steps[place, operand] = record["inner"], record["outer"]
        else:
            strides[place, operand - STRIDE_KIND] = record["pe"]
    return Records(steps, strides, _is_scaled(types), operand_types(types))


def _entries(data: bytes, header: dict[str, int], place: int, stepped: bool) -> Collection[int]:
    """Return which operands (0, 1) of an instruction may have a step, or which may have a stride.

    With `stepped`, the result is for steps, otherwise for strides. `data` are the bytes of the
    sequence, `place` is the number of the instruction.
    """
    if place >= header["count"]:
        return ()
    at = instructions_offset(header) + INSTRUCTION_BYTES * place
    instruction = decode_word(int.from_bytes(data[at : at + INSTRUCTION_BYTES], "little"))
    if not stepped:
        return strided(instruction.row, instruction.values)
    return [ENTRY_OF[x.name] for x in instruction.row.operands if x.name in ENTRY_OF]


def parse_instruction(
    shape: Shape, header: dict[str, int], word: int, address: int
) -> tuple[int, int]:
    """Return the two operands of the instruction `word` in PE 0 of cluster 0.

    The instruction is at `address`, in a sequence with this header. Raises `Fault` if the word is
    no instruction of a sequence, or if its operands do not suit the header or the device.
    """
    try:
        instruction = decode_word(word)
    except DecodeError as error:
        message = f"the word {word:#06x}: {error.detail or 'no instruction of a sequence'}"
        raise Fault(error.kind, message, {"word": word}, address=address) from None
    return operands.meaning(instruction.row)(shape, header, word, instruction.values, address)
