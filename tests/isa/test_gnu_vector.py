"""Each encoding of Xvc equals that of GNU as; vc's scalar rows equal cp's."""

from __future__ import annotations

from macaw.isa import codec, scalar, vector
from tests.isa import gnu_vector
from tests.isa.gnu import tools_missing


def test_words_are_those_of_gnu_as_and_come_back():
    for (row, values), word in zip(gnu_vector.cases(), gnu_vector.expected(), strict=True):
        assert codec.encode(row, values) == word, (row.mnemonic, values)
        found = codec.decode(vector.CORE, word)
        assert (found.row, found.values) == (row, values)


def test_recorded_words_are_up_to_date():
    assert len(gnu_vector.recorded()) == len(gnu_vector.cases())
    if not tools_missing():
        assert gnu_vector.recorded() == gnu_vector.live()


def test_the_scalar_base_is_the_very_same():
    assert vector.CORE.instructions[: len(scalar.INSTRUCTIONS)] == scalar.INSTRUCTIONS
    assert vector.CORE.files[0] is scalar.REGISTERS


def test_the_top_bit_of_a_vector_registers_field_is_reserved():
    row = vector.CORE.by_mnemonic["vadd.b"]
    word = codec.encode(row, {"rd": 1, "rs1": 2, "rs2": 3})
    places = {"rd": 11, "rs1": 19, "rs2": 24}
    for name, bit in places.items():
        refused = word | 1 << bit
        try:
            codec.decode(vector.CORE, refused)
        except codec.DecodeError as error:
            assert error.kind == "reserved bit set"
            assert f"vadd.b {name}: " in str(error)
        else:
            raise AssertionError(name)
    row = vector.CORE.by_mnemonic["pmac.u8"]
    word = codec.encode(row, {"rd": 1, "rs1": 2, "rs2": 3, "rs3": 4})
    try:
        codec.decode(vector.CORE, word | 1 << 31)
    except codec.DecodeError as error:
        assert error.kind == "reserved bit set"
    else:
        raise AssertionError("rs3")
