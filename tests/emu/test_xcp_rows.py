"""An instruction of Xcp, ecall or ebreak changes and reads only what its row of the table says.

test_scalar_engines.py tests this for the other rows of cp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

import macaw.emu.fim
from macaw.emu.device import Device
from macaw.emu.state import Change
from macaw.isa import cp, fim_islands
from macaw.isa.codec import encode
from macaw.isa.rows import Instruction
from macaw.isa.scalar import REGISTER
from tests.emu.cp_machine import TEXT, code, machine, processor
from tests.emu.toys import EXTERNAL, UNIT, describe, toy

TABLE, TEXTUAL = 0x30000, 0x38000  # a description of a transfer, bytes to print
ROW, CORE = 16, 5  # toys: the row of unit 0, another core
ISLAND = 0x4000_0000
ISLANDS = {row.name.replace(".", "__"): row.default for row in fim_islands.SETTINGS}
ISLANDS |= {"fim__islands": 1, "fim__rows": 2, "fim__instructions": 16}
# Cores by the word of the table.
WORDS = {"dma": "dma", "toy16": "pe", "toy5": "core", "fim[0]": "core"}
TRAFFIC = {"arbiter", "free", "traffic"}  # of memory: when it is free again, what it counted
OWN = {"time", "retired", "running", "waiting", "waited", "pc"}  # of every instruction


@dataclass(frozen=True)
class Case:
    """An instruction, and the contents of its registers."""

    row: Instruction
    values: dict[str, int]
    registers: dict[str, int]

    @property
    def name(self) -> str:
        held = " ".join(f"{name}={value:#x}" for name, value in self.registers.items())
        return f"{self.row.mnemonic} {held}".strip()


def case(mnemonic: str, **registers: int) -> Case:
    """A case whose operands are the registers from a0 on."""
    row = next(row for row in cp.CORE.instructions if row.mnemonic == mnemonic)
    values = {
        operand.name: {"g": 3, "n": 2}.get(operand.name, 10 + place)
        for place, operand in enumerate(row.operands)
    }
    return Case(row, values, registers)


CASES = [
    case("dma.copy", a1=TABLE),
    case("dma.wait", a0=0),
    case("dma.wait", a0=1),
    case("mem.swap", a0=1),
    case("dispatch", a0=1, a1=0),
    case("core.start", a0=CORE, a1=0),
    case("core.wait", a0=1 << CORE),
    case("core.wait", a0=1 << ROW),
    case("fim.send", a1=ISLAND, a2=0),
    case("trace_begin"),
    case("trace_end"),
    case("ecall", a7=93, a0=4),
    case("ecall", a7=64, a0=1, a1=TEXTUAL, a2=8),
    case("ebreak"),
]


def prepared(one: Case) -> Device:
    """A device before the instruction: one transfer has ended, both toys are idle."""
    word = encode(one.row, one.values).to_bytes(4, "little")
    start = code("dma.copy zero, s1\ndma.wait zero\n")
    device = machine(
        start + word + code("ebreak"),
        toy(ROW, [("work", 50), ("end",)], idle=True, unit=0),
        toy(CORE, [("work", 50), ("end",)], idle=True),
        macaw.emu.fim.build,
        data=(
            (TABLE, describe(UNIT, EXTERNAL, 64)),
            (TABLE + 64, describe(UNIT + 4096, EXTERNAL, 32)),
            (TEXTUAL, b"12345678"),
        ),
        **ISLANDS,
    )
    hart = processor(device)
    hart.x[1:32] = [0x5A000000 + number for number in range(1, 32)]
    hart.x[9] = TABLE + 64  # s1
    for name, value in one.registers.items():
        hart.x[REGISTER.parse(name) or 0] = value
    device.step_core("cp")
    device.step_core("cp")
    assert hart.pc == TEXT + 8
    return device


def registers(one: Case, words: str) -> set[int]:
    """The numbers of the registers that words of a row name, as operands or directly."""
    found = {one.values[word] for word in words.split() if word in ("rd", "rs1", "rs2")}
    return found | {REGISTER.parse(word) or 0 for word in words.split() if word[:1] == "a"}


def word_of(name: str, change: Change) -> str:
    """The table's word for a changed field; empty if each instruction changes it."""
    if change.field == "trace_counting":
        return ""  # the timer rests when a run ends, however it does
    if name in WORDS:
        return WORDS[name]
    if name == "memory":
        return "unit" if change.field == "feeding" else "memory"
    if name == "device" or change.field in OWN:
        return ""
    return "trace" if change.field.startswith("trace_") else change.field


def wake(name: str) -> Callable[[Device], None]:
    def perturb(device: Device) -> None:
        device.cores[name].start(0, device.cycle)  # type: ignore[attr-defined]

    return perturb


def transfer(device: Device) -> None:
    assert device.copier is not None
    device.copier.submit(device.cycle, TABLE + 64, processor(device))


def turn(device: Device) -> None:
    device.memory.feeding[0] ^= 1


def overwrite(device: Device) -> None:
    device.memory.poke(TABLE, describe(UNIT + 64, EXTERNAL + 64, 32))
    device.memory.poke(TEXTUAL, b"abcdefgh")


PERTURBED = {"pe": wake("toy16"), "core": wake("toy5"), "dma": transfer, "unit": turn, "memory": overwrite}  # fmt: skip


def step(device: Device) -> tuple[object, ...]:
    """Execute one step; return its output, its stop and the exit code."""
    written: list[bytes] = []
    device.stdout = written.append
    stop = device.step_core("cp")
    return b"".join(written), stop.reason, stop.exit_code


def check(one: Case, row: Instruction | None = None) -> None:
    """Compare the changes of the instruction with `row`, or with its own row."""
    row = row or one.row
    device = prepared(one)
    before = device.snapshot()
    seen = step(device)
    after = device.snapshot()
    for name, change in device.diff(before):
        if (name, change.field) == ("cp", "x"):
            assert change.at[0] in registers(one, row.writes), f"writes x{change.at[0]}"
        else:
            word = word_of(name, change)
            assert not word or word in row.writes.split(), f"writes {word}: {change}"

    for number in sorted(set(range(1, 32)) - registers(one, row.reads)):
        device.restore(before)
        processor(device).x[number] ^= 0x10
        assert step(device) == seen, f"reads x{number}"
        changed = {(name, change.field, change.at) for name, change in device.diff(after)}
        assert changed <= {("cp", "x", (number,))}, f"reads x{number}"

    for word, perturb in PERTURBED.items():
        if word in row.reads.split() or (word == "pe" and "core" in row.reads.split()):
            continue  # a row is a core
        device.restore(before)
        perturb(device)
        assert step(device) == seen, f"reads {word}"
        for name, change in device.diff(after):
            own = name == "cp" or word_of(name, change) not in ("", word)
            assert not own or change.field in TRAFFIC, f"reads {word}: {change}"


@pytest.mark.once
@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_a_step_reads_and_writes_what_its_row_says(one: Case) -> None:
    check(one)


def test_every_row_has_a_case() -> None:
    rows = {row.mnemonic for row in cp.CORE.instructions if row.family == "xcp"}
    assert {one.row.mnemonic for one in CASES} == rows | {"ecall", "ebreak"}


# Words whose effect no step of cp shows: which half feeds is seen by the row that runs, and
# of an exchange the halves themselves alone; the other core of these tests is no island, and
# bit 4 of an address is within its column.
UNSEEN = {
    ("dispatch", "reads", "unit"),
    ("mem.swap", "reads", "unit"),
    ("fim.send", "reads", "core"),
    ("fim.send", "reads", "rs1"),
}


@pytest.mark.once
@pytest.mark.parametrize("mnemonic", sorted({one.row.mnemonic for one in CASES}))
def test_a_row_that_says_too_little_is_found(mnemonic: str) -> None:
    """If a word is removed from a row, a case of this row fails."""
    cases = [one for one in CASES if one.row.mnemonic == mnemonic]
    row = cases[0].row
    for what, text in (("reads", row.reads), ("writes", row.writes)):
        for word in text.split():
            rest = " ".join(other for other in text.split() if other != word)
            poorer = replace(row, reads=rest) if what == "reads" else replace(row, writes=rest)
            found = sum(fails(one, poorer) for one in cases)
            assert bool(found) != ((mnemonic, what, word) in UNSEEN), f"{what} {word}"


def fails(one: Case, row: Instruction) -> bool:
    try:
        check(one, row)
    except AssertionError:
        return True
    return False
