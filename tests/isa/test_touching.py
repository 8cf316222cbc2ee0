"""The registers that an instruction touches, against its text, the scoreboard, and sets by hand."""

from __future__ import annotations

import random
import re

import pytest

from macaw.emu.vector import scoreboard
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.isa import registry
from macaw.isa.codec import DecodeError, decode, describe, encode
from macaw.isa.touching import touched_registers

CP, VC, PE, NNP, FIM = (registry.core(name) for name in ("cp", "vc", "pe", "nnp", "fim"))
_REGISTER = re.compile(r"\b(?:zero|ra|sp|gp|tp|t[0-6]|s1[01]|s[0-9]|a[0-7])\b")


def random_words(core, count):
    """Yield instructions with random operands: for each row, up to `count`."""
    chance = random.Random(7)
    for row in core.instructions:
        free = ~row.mask & ~row.reserved & 0xFFFF_FFFF
        for _ in range(count):
            word = row.match | chance.getrandbits(32) & free
            try:
                yield decode(core, word)
            except DecodeError:
                continue


def test_the_base_names_its_registers_in_its_text():
    """In RV32IM, stores and branches read all registers of their text.

    Other instructions write the first register and read the others.
    """
    for found in random_words(CP, 20):
        if found.row.family in ("csr", "system", "xcp"):
            continue
        names = _REGISTER.findall(describe(found).partition(" ")[2])
        reads, writes = touched_registers(CP, found)
        is_written = found.row.family not in ("store", "branch")
        expected = {CP.files[0].names.index(x) for names_ in [names[is_written:]] for name in names_
                    for x in CP.files[0].names if name in x}  # fmt: skip
        assert {number for _, number in reads} == expected, describe(found)
        written = {n for n, x in enumerate(CP.files[0].names) if is_written and names[0] in x}
        assert {number for _, number in writes} == written, describe(found)


def test_vc_touches_what_its_scoreboard_waits_for():
    def places(found):
        return {n + FIRST_VECTOR * (file == "vr") for file, n in found} - {0}

    checked = 0
    for found in random_words(VC, 20):
        if found.row.family in scoreboard.SERVED:
            continue
        reads, writes = touched_registers(VC, found)
        assert places(writes) == set(scoreboard.writes(found)), describe(found)
        assert places(reads | writes) == set(scoreboard.waits(found)), describe(found)
        checked += 1
    assert checked > 1000


def words(core, mnemonic, **values):
    row = core.by_mnemonic[mnemonic]
    return decode(core, encode(row, values), row.format.width)


@pytest.mark.parametrize(
    ("core", "found", "reads", "writes"),
    [
        (CP, words(CP, "ecall"), {10, 11, 12, 17}, {10}),
        (CP, words(CP, "dma.copy", rd=5, rs1=6), {6}, {5}),
        (NNP, words(NNP, "s_wr", reg=2, value=7), set(), {1}),
        (NNP, words(NNP, "v_relu"), set(), set()),
        (PE, words(PE, "mac", base=0, acc=1, balance=0, sfu=0), {0, 1, 2, 3}, {0, 1, 2, 3}),
        (PE, words(PE, "ld", destination=0, base=0), set(), set()),
        (PE, words(PE, "ld", destination=2, base=0), {0, 1, 2, 3}, {0, 1, 2, 3}),
        (PE, words(PE, "st", base=0), set(), set()),
    ],
)
def test_rows_by_hand(core, found, reads, writes):
    assert [{number for _, number in part} for part in touched_registers(core, found)] == [
        reads,
        writes,
    ]


@pytest.mark.parametrize(
    ("mnemonic", "values", "reads", "writes"),
    [
        ("fim", {"n": 0}, set(), {"gio"}),  # gio <- iosa
        ("fim", {"n": 1}, {"gio"}, set()),  # iosa <- gio
        ("fim", {"n": 4}, {"rz"}, set()),  # iosa <- rz
        ("fim", {"n": 7}, {"rop", "gio", "rz"}, {"rz"}),  # rz <- rop . gio; rz may be added to
        ("fim", {"n": 9}, {"rz"}, {"rop"}),  # rop <- rz
        ("push", {"register": 0, "buffer": 0}, {"rz"}, set()),
        ("pull", {"register": 1, "buffer": 0, "all": 0}, set(), {"gio"}),
        ("act", {"row": 3}, set(), set()),
    ],
)
def test_words_of_fim_by_hand(mnemonic, values, reads, writes):
    found = words(FIM, mnemonic, **values)
    assert [{file for file, _ in part} for part in touched_registers(FIM, found)] == [reads, writes]
