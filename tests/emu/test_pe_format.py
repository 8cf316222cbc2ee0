"""Values that docs/format-pe.md reserves are refused, so that they may get a meaning later."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from macaw.emu.pe import sequence_format
from macaw.emu.pe.state import Out, Segment
from macaw.isa import codec
from macaw.isa.pe import CORE, OUT, PACKET, RECORD_SIZE, SEGMENT, SEQUENCE
from tests.emu.pe_builder import Unit, element_types, sequence

LINES = "ld weights", "mac base=0 acc=0"


def test_the_records_of_the_state_have_the_members_of_the_structures() -> None:
    for record, structure in ((Segment, SEGMENT), (Out, OUT)):
        members = [member.name for member in structure.members]
        named = [name for name in members if not name.startswith("reserved")]
        assert list(record.__annotations__) == named


def refused(unit: Unit, text: str) -> None:
    stop = unit.machine().device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "malformed packet"
    assert text in stop.fault.message


@pytest.mark.parametrize("kind", [4, 5, 127, 129, 255])
def test_other_kinds_of_records(kind):
    data = bytearray(sequence(*LINES, steps=[(0, 0, 0, 0)], pipeline=4))
    data[SEQUENCE.size + 1] = kind
    unit = Unit()
    unit.config_bytes(0, bytes(data))
    refused(unit, f"operand: {kind} is out of range, 0 to 1")


@pytest.mark.parametrize(
    ("member", "value", "text"),
    [
        ("type", 6, "type: no choice has the number 6"),
        ("type", 255, "type: no choice has the number 255"),
        ("form", 3, "form: no choice has the number 3"),
        ("form", 4, "form: no choice has the number 4"),
        ("element", 7, "element: no choice has the number 7"),
    ],
)
def test_members_of_a_segment(member, value, text):
    unit = Unit()
    unit.config_packet(0, *LINES)
    unit.exe(0, ("weights", "broadcast", bytes(8)))
    at = PACKET.size + SEGMENT.size + PACKET.size + SEGMENT.offsets[member]
    unit.packets[at] = value
    refused(unit, text)


def test_an_activation_after_the_last():
    data = bytearray(sequence(*LINES))
    data[SEQUENCE.offsets["activation"]] = 5
    unit = Unit()
    unit.config_bytes(0, bytes(data))
    refused(unit, "activation: no choice has the number 5")


@pytest.mark.parametrize("place", [0, 5, 6, 7])
def test_bytes_of_a_record_of_types(place):
    data = bytearray(sequence(*LINES, types={}))
    data[SEQUENCE.size + place] = 1
    unit = Unit()
    unit.config_bytes(0, bytes(data))
    refused(unit, "must be zero")


@pytest.mark.parametrize("place", [2, 3])
@pytest.mark.parametrize("number", [3, 4, 7, 255])
def test_types_that_no_operand_has(place, number):
    """The types 3 and 4 (int32, int64) are refused for operands, because only sums have them."""
    data = bytearray(sequence(*LINES, types={}))
    data[SEQUENCE.size + place] = number
    unit = Unit()
    unit.config_bytes(0, bytes(data))
    refused(unit, f"no choice has the number {number}")


@pytest.mark.parametrize("more", [1, 2])
def test_more_segments_of_a_config(more):
    unit, data = Unit(), sequence(*LINES)
    command = codec.encode(CORE.by_mnemonic["config"], {"ib": 0})
    unit.packet(command, [("sequence", "broadcast", data)] * (1 + more))
    refused(unit, "a config has a sequence, then scales and a table at most once")


def test_records_of_a_sequence_mean_the_same_in_any_order():
    lines = ("ld activations base=0", "ld weights", "mac base=0 acc=0", "st base=0")
    made = sequence(*lines, steps=[(0, 0, 1, 2), (2, 0, 3, 4)], strides=[(3, 0, 5, 6)],
                    types=element_types("int8", "int16"), pipeline=4)  # fmt: skip
    header = sequence_format.parse_header(made, 0)
    start, end = SEQUENCE.size, SEQUENCE.size + 4 * RECORD_SIZE
    rows = [made[at : at + RECORD_SIZE] for at in range(start, end, RECORD_SIZE)]
    for order in permutations(rows):
        data = b"".join([made[:start], *order, made[end:]])
        found = sequence_format.parse_records(data, header, 0)
        assert found.types == sequence_format.operand_types(
            sequence_format.types_record(data, header, 0)
        )
        assert found.types != (0, 0)
        assert found.steps[[0, 2], 0].tolist() == [[1, 2], [3, 4]]
        assert np.count_nonzero(found.steps) == 4
        assert found.strides[3].tolist() == [5, 0]
        strides = sequence_format.raw_strides(data, header)
        assert strides[3, 0].tolist() == [5, 6]
        assert np.count_nonzero(strides) == 2
