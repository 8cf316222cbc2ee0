"""Random programs of an island as lines of source; the assembler refuses a few of the lines."""

from __future__ import annotations

from random import Random

COLUMNS = 32


def column(chance: Random) -> str:
    low = chance.randrange(COLUMNS)
    return chance.choice([f"iosa[{low}]", f"iosa[{low}:32]", f"iosa[{low // 4}:{low}]"])


def word(chance: Random) -> str:
    """A random word, mostly an operation; the assembler refuses some."""
    kind, number, pick = chance.randrange(14), chance.randrange(16), chance.choice
    if kind < 3:
        operand = pick(["rop * {c}", "rop * gio", "{c} * gio"])
        return f"rz <- {operand.format(c=column(chance))}"
    if kind < 5:
        return str(pick(["rop <- {}", "gio <- {}", "{} <- gio", "{} <- rz"])).format(column(chance))
    if kind < 6:
        return f"fim {pick([3, 5, 7, 9])}, repeat={chance.randint(1, 40)}"
    if kind < 7:
        return f"fim 6, {number}, {pick([0, 1, -1])}, {chance.randint(1, 16)}"
    if kind < 9:
        return pick(["mmr arrange, elementwise", "mmr arrange, dot", "mmr arrange, outer",
                     "mmr arrange, tensor", "mmr transpose, a", "mmr format, fp32",
                     "mmr format, fp16", "mmr format, bf16", "mmr format, int8",
                     "mmr accumulate, 1", "mmr accumulate, 0", f"mmr rz_shift, {2 * number}",
                     f"mmr rz_slot, {number}", f"mmr rz_step, {number % 3}"])  # fmt: skip
    if kind < 10:
        return pick(["act 1", "act 2", "pre", f"act {number}", f"mmr row0, {number}",
                     f"act row0, {number - 6}", "act row0, inc=1", "act row3"])  # fmt: skip
    buffer = chance.randrange(2)
    return pick([f"push rz, {buffer}", f"push gio, {buffer}", f"push rop, {buffer}",
                 f"pull rop, {buffer}", f"pull gio, {buffer}, all", f"lock {buffer}",
                 f"unlock {buffer}", f"trace_begin {buffer}", f"trace_end {buffer}"])  # fmt: skip


def block(chance: Random, banks: str, setup: list[str]) -> list[str]:
    lines = [f".block banks={banks}", *setup, "mmr op, mul", f"act {chance.randrange(3)}"]
    if chance.randrange(3) == 0:
        lines.append("mmr format, int8")
    for _ in range(chance.randint(1, 8)):
        if chance.randrange(5) == 0:
            inner = [word(chance) for _ in range(chance.randint(1, 4))]
            lines += [f"loop {chance.randint(1, 3)}", *inner, "endloop"]
        else:
            lines.append(word(chance))
    return [*lines, "end"]


def program(chance: Random) -> list[str]:
    """Return the lines of one or two blocks; the first block sets up two buffers.

    Buffer 1 is in a bank without a block. Buffer 0 is there, too, or in a bank of the first block.
    """
    where = chance.choice([0x4003_0400, 0x4000_0400])
    setup = [f"mmr b0_low, {where:#x}", f"mmr b0_high, {where + 320:#x}",
             "mmr b1_low, 0x40030800", "mmr b1_high, 0x40030900"]  # fmt: skip
    found = block(chance, "(0, 1)", setup)
    if chance.random() < 0.5:
        found += block(chance, "2", [])
    return found
