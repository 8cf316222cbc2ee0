"""Encode, decode, describe; structures. decode(encode(x)) = x for every row of every core."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.isa import codec, cp, pe, registry
from macaw.isa.codec import DecodeError, StructureError, decode, describe, encode, pack, unpack
from macaw.isa.kinds import Immediate, OperandError
from macaw.isa.rows import Pseudo
from tests.fuzzing import fuzz

ROWS = [(core, row) for core in registry.cores() for row in core.instructions]


def legal(operand):
    """A strategy for the values that an operand's kind accepts."""
    kind = operand.kind
    if isinstance(kind, Immediate):
        steps = st.integers(kind.low // kind.step, kind.high // kind.step)
        return steps.map(lambda value: value * kind.step)
    values = []
    for value in range(1 << operand.field.width):
        try:
            kind.check(value)
        except OperandError:
            continue
        values.append(value)
    return st.sampled_from(values)


def ends(operand):
    """Values that an operand accepts (the ends), and values that it refuses (beyond, in gaps)."""
    kind = operand.kind
    if isinstance(kind, Immediate):
        low, high, step = kind.low, kind.high, kind.step
        return [low, low + step, high - step, high], [low - 1, low - step, high + 1, high + step]
    beyond = 1 << operand.field.width
    names = kind.words()
    values = sorted({kind.parse(name) for name in names}) if names else list(range(beyond))
    if kind.optional:
        values = [0, 1]
    return values, sorted({-1, *range(beyond + 1)} - set(values))


@fuzz
@given(st.data())
def test_decode_of_encode(data):
    core, row = data.draw(st.sampled_from(ROWS))
    values = {operand.name: data.draw(legal(operand), operand.name) for operand in row.operands}
    word = encode(row, values)
    assert 0 <= word < 1 << row.format.width
    found = decode(core, word, row.format.width)
    assert found.row is row
    assert found.values == values


@pytest.mark.parametrize(("core", "row"), ROWS, ids=lambda x: getattr(x, "mnemonic", ""))
def test_each_operand_takes_its_ends_and_refuses_what_lies_beyond(core, row):
    """Each operand accepts its ends; an error for values beyond or in gaps has name and range."""
    good = {operand.name: ends(operand) for operand in row.operands}
    base = {name: accepted[0] for name, (accepted, _) in good.items()}
    for operand in row.operands:
        accepted, refused = good[operand.name]
        for value in accepted:
            values = {**base, operand.name: value}
            assert decode(core, encode(row, values), row.format.width).values == values
        for value in refused:
            with pytest.raises(OperandError) as error:
                encode(row, {**base, operand.name: value})
            text = str(error.value)
            assert text.startswith(f"{operand.name}: ")
            assert str(value) in text
            if isinstance(operand.kind, Immediate):
                assert f"{accepted[0]} to {accepted[-1]}" in text


@pytest.mark.parametrize(("core", "row"), ROWS, ids=lambda x: getattr(x, "mnemonic", ""))
def test_a_required_operand_is_asked_for_and_others_have_defaults(core, row):
    required = [operand.name for operand in row.operands if operand.default is None]
    if required:
        with pytest.raises(OperandError) as error:
            encode(row, {})
        assert str(error.value) == f"{row.mnemonic} needs the operand {required[0]}"
    else:
        assert decode(core, encode(row, {}), row.format.width).row is row


# Every word is an instruction or is refused, naming the core, the word and the address.


def sorted_out(core, word, width, address):
    """Whether a word is decoded.

    Asserts that a decoded word encodes to itself, and that a refused word has a clear error.
    """
    try:
        found = decode(core, word, width, address)
    except DecodeError as error:
        refusal = error
    else:
        assert encode(found.row, found.values) == word
        return True
    assert refusal.kind in ("illegal instruction", "reserved bit set")
    assert (refusal.core, refusal.word, refusal.address) == (core.name, word, address)
    start = f"{core.name}: {refusal.kind}: {word:#x} at {address:#010x}"
    assert str(refusal).startswith(start)
    return False


def test_all_commands_of_pe():
    """Of 256 commands of 8 bits, those without reserved bits are decoded (seed 000 ¶115-117)."""
    decoded = [word for word in range(256) if sorted_out(pe.CORE, word, 8, 0x10000000 + word)]
    # exe: 128; config without the reserved bit: 32; markers: 64.
    assert len(decoded) == 128 + 32 + 64


def test_all_instruction_words_of_pe():
    """Of the 4096 words of 12 bits, those without reserved bits are decoded (seed 000 ¶118-121)."""
    decoded = [word for word in range(4096) if sorted_out(pe.CORE, word, 12, 2 * word)]
    # mac: 2 reserved bits; ld: 4; st: 6; spu: none.
    assert len(decoded) == 1024 // 4 + 1024 // 16 + 1024 // 64 + 1024


def test_reserved_bits_are_named():
    with pytest.raises(DecodeError) as error:
        decode(pe.CORE, 0x20, 8, 0x10000004)
    assert str(error.value) == (
        "pe: reserved bit set: 0x20 at 0x10000004: bits 0x20 of config must be zero"
    )
    assert error.value.kind == "reserved bit set"


@pytest.mark.parametrize("count", [200_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_random_words_of_cp(count):
    chance = random.Random(2)
    decoded = sum(
        sorted_out(cp.CORE, chance.getrandbits(32), 32, 4 * place) for place in range(count)
    )
    # 128 opcodes: lui, auipc and jal whole, and others in part.
    assert 0.04 * count < decoded < 0.06 * count


def test_likely_words_of_cp():
    """A word that differs from a row in a few bits is decoded or refused.

    Random words rarely match a row.
    """
    chance = random.Random(3)
    rows = cp.CORE.instructions
    decoded = 0
    for place in range(50_000):
        row = chance.choice(rows)
        word = row.match | chance.getrandbits(32) & ~row.mask
        for _ in range(chance.choice((0, 0, 1, 2))):
            word ^= 1 << chance.randrange(32)
        decoded += sorted_out(cp.CORE, word, 32, 4 * place)
    assert decoded > 25_000


@pytest.mark.parametrize("word", [0, 0xFFFFFFFF, 0x00000073 | 1 << 22, 1 << 32, -1])
def test_words_that_are_none(word):
    with pytest.raises(DecodeError) as error:
        decode(cp.CORE, word, 32, 0x10000)
    assert str(error.value) == f"cp: illegal instruction: {word:#x} at 0x00010000"


def test_without_an_address_none_is_named():
    with pytest.raises(DecodeError) as error:
        decode(cp.CORE, 0)
    assert str(error.value) == "cp: illegal instruction: 0x0"


def test_a_value_that_the_kind_refuses_is_no_instruction():
    # A `pipeline` of the sequence is checked by its member; of rows, only fm of fence is tight.
    with pytest.raises(DecodeError, match="illegal instruction"):
        decode(cp.CORE, 0x1000000F)


# Text


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (0xFF010113, "addi sp, sp, -16"),
        (0x00812423, "sw s0, 8(sp)"),
        (0x0000006F, "jal zero, start"),
        (0x00000463, "beq zero, zero, 0x10008"),
        (0xC0002573, "csrrs a0, cycle, zero"),
        (0x0FF0000F, "fence iorw, iorw"),
        (0x8330000F, "fence.tso"),
        (0x00000073, "ecall"),
        (0x0005850B | 0 << 12, "dma.copy a0, a1"),
        (0x123452B7, "lui t0, 0x12345"),
    ],
)
def test_describe(word, text):
    names = {0x10000: "start"}
    assert describe(decode(cp.CORE, word), 0x10000, names.get) == text


def test_describe_prints_names_flags_and_defaults():
    mac = next(row for row in pe.INSTRUCTIONS if row.mnemonic == "mac")
    word = encode(mac, {"base": 3, "balance": 1})
    assert describe(decode(pe.CORE, word, 12)) == "mac base=3, acc=0, balance"


def test_describe_leaves_out_an_unprinted_operand_alone() -> None:
    """The operand `inc` of `act` is left out if it is 0; an operand after it is printed."""
    act = replace(registry.core("fim").by_mnemonic["act"], syntax="inc=0, row")
    assert describe(codec.Decoded(act, {"inc": 0, "row": 5})) == "act 5"
    assert describe(codec.Decoded(act, {"inc": 2, "row": 5})) == "act inc=2, 5"


def test_targets_wrap_around():
    assert describe(decode(cp.CORE, 0xFE000EE3)) == "beq zero, zero, 0xfffffffc"


def test_syntax():
    assert codec.syntax(cp.CORE.by_mnemonic["lw"]) == "lw rd, imm(rs1)"
    assert codec.syntax(cp.CORE.by_mnemonic["ecall"]) == "ecall"


# Mnemonics with several rows


@pytest.mark.parametrize(
    ("line", "syntax"),
    [
        ("jal ra, f", "rd, target"),
        ("jal f", "target"),
        ("jalr a0", "rs"),
        ("jalr 8(a0)", "imm(rs)"),
        ("jalr (a0)", "imm(rs)"),
        ("jalr ra, a0", "rd, rs"),
        ("jalr a0, 8", "rs, imm"),
        ("jalr ra, 8(a0)", "rd, imm(rs1)"),
        ("jalr ra, a0, 8", "rd, rs, imm"),
        ("add a0, a1, a2", "rd, rs1, rs2"),
        ("add a0, a1, 5", "rd, rs, imm"),
        ("lw a0, 4(a1)", "rd, imm(rs1)"),
        ("lw a0, (a1)", "rd, imm(rs1)"),
        ("lw a0, here", "rd, symbol"),
        ("sw a0, 4(a1)", "rs2, imm(rs1)"),
        ("sw a0, here, t0", "rs, symbol, rt"),
        ("fence", ""),
        ("fence rw, w", "pred, succ"),
        ("csrw cycle, a0", "csr, rs"),
        ("csrw cycle, 5", "csr, uimm"),
        ("call f", "target"),
        ("call t0, f", "rd, target"),
    ],
)
def test_select(line, syntax):
    mnemonic, _, rest = line.partition(" ")
    written = []
    for text in filter(None, rest.split(", ")):
        outer, bracket, inner = text.partition("(")
        written.append((outer, inner.rstrip(")") if bracket else None))
    row, fits = codec.select(cp.CORE.rows[mnemonic], written)
    assert fits
    assert row.syntax == syntax


@pytest.mark.parametrize(
    ("mnemonic", "written", "syntax"),
    [
        ("lw", [("a9", None), ("4", "a1")], "rd, imm(rs1)"),
        ("lw", [("a0", None), ("4", "a9")], "rd, imm(rs1)"),
        ("add", [("a0", None), ("a9", None), ("a1", None)], "rd, rs1, rs2"),
        ("add", [("a0", None)], "rd, rs1, rs2"),
        ("jr", [], "rs"),
        ("sw", [("a0", None), ("x", None), ("q", None)], "rs, symbol, rt"),
    ],
)
def test_select_gives_the_nearest_row_when_none_fits(mnemonic, written, syntax):
    row, fits = codec.select(cp.CORE.rows[mnemonic], written)
    assert not fits
    assert row.syntax == syntax


def test_pseudos_choose_as_gnu_as_does():
    (li,) = cp.CORE.rows["li"]
    assert isinstance(li, Pseudo)

    def choice(value):
        return next(
            number
            for number, item in enumerate(li.alternatives)
            if item.when is None or item.when(value)
        )

    assert [choice(value) for value in (0, -1, 2047, -2048, 0xFFFFFFFF, 0xFFFFF800)] == [0] * 6
    assert [choice(value) for value in (0x1000, -0x1000, 0x80000000, 0xFFFFF000)] == [1] * 4
    assert [choice(value) for value in (2048, -2049, 0x12345678, 0x7FFFF800, 0xFFFFF7FF)] == [2] * 5


# Structures


def test_pack_and_unpack():
    data = pack(pe.SEGMENT, {"type": 1, "offset": 0x1234, "length": 64})
    assert data == bytes.fromhex("01000000 34120000 40000000")
    assert unpack(pe.SEGMENT, b"xx" + data, 2) == {
        "type": 1, "mode": 0, "form": 0, "element": 0, "offset": 0x1234, "length": 64,
    }  # fmt: skip


def test_defaults_of_a_structure():
    values = unpack(pe.SEQUENCE, pack(pe.SEQUENCE, {"count": 1}))
    assert (values["pipeline"], values["inner"], values["outer"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"color": 1}, "segment has no member color"),
        (
            {"element": 7},
            "segment: element: no choice has the number 7; one of default, int8, int16, int32,"
            " int64, fp16, fp32",
        ),
        (
            {"type": 6},
            "segment: type: no choice has the number 6; one of weights, activations, psums, sequence,"
            " scales, table",
        ),
        (
            {"form": 3},
            "segment: form: no choice has the number 3; one of records, compress, dense",
        ),
        ({"length": -1}, "segment: argument out of range"),
        ({"length": 1 << 32}, "segment: argument out of range"),
    ],
)
def test_pack_refuses(values, message):
    with pytest.raises(StructureError) as error:
        pack(pe.SEGMENT, values)
    assert str(error.value).startswith(message.partition(": argument")[0])
    if "argument" not in message:
        assert str(error.value) == message


@pytest.mark.parametrize("offset", [-1, 1, 12])
def test_unpack_refuses_what_is_cut_off(offset):
    with pytest.raises(StructureError, match=r"^segment at offset -?0x[0-9a-f]+ is cut off$"):
        unpack(pe.SEGMENT, bytes(12), offset)


@given(st.binary(min_size=12, max_size=12))
def test_unpack_of_any_bytes_gives_a_record_or_an_error(data):
    if data[0] < 4 and data[1] < 4 and data[2] < 2 and not data[3]:
        assert pack(pe.SEGMENT, unpack(pe.SEGMENT, data)) == data
    else:
        with pytest.raises(StructureError, match=r"^segment: "):
            unpack(pe.SEGMENT, data)
