"""int8 circuits in both engines, against a model of one circuit with Python's integers.

The model shares no code with the emulator: its sums have no fixed width and wrap by a remainder,
and it rounds with fractions.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw import api
from macaw.asm.diagnostics import AssemblyError
from macaw.emu.engines import ENGINES
from macaw.emu.fim import integers
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.overflows import LIMITED, count_wraps
from macaw.isa.fim_circuit import DOT, FORMAT_NAMES, FORMATS, FUNCTION_NAMES, MUL
from tests.emu.fim.machine import Machine
from tests.fuzzing import tries

pytestmark = pytest.mark.once
INT8 = FORMAT_NAMES.index("int8")
DEVICE = api.configuration("tiny").changed(
    {
        "fim.island.0.formats": "int8 fp16",
        "fim.island.0.rz_slices": 16,
        "fim.island.0.functions": " ".join(FUNCTION_NAMES),
    }
)
FUNCTIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "not": lambda x, y: -x - 1,
    "relu": lambda x, y: x if x > 0 else 0,
    "vssqr": lambda x, y: x * x,
}
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
COLUMNS, STORED = 12, 20  # columns with operands; the first column of results


def wrapped(total: int) -> int:
    return (total + 2**31) % 2**32 - 2**31


def leaves(total: int, shift: int) -> tuple[int, bool]:
    """The number of int8 that a sum becomes, and whether it was limited."""
    whole = round(Fraction(total, 2**shift))  # Python rounds half to even
    return min(max(whole, -128), 127), not -128 <= whole <= 127


class Circuit:
    """One circuit: its registers, 128 sums, and the columns of its open row."""

    def __init__(self, columns: list[list[int]]) -> None:
        self.columns = columns
        self.rop, self.gio, self.sums = [0] * 32, [0] * 32, [0] * 128
        self.op, self.arrange, self.accumulate, self.slot, self.step, self.shift = (
            "add", "elementwise", 0, 0, 0, 0,
        )  # fmt: skip
        self.limited = self.wrapped = 0

    def compute(self, x: list[int], y: list[int]) -> None:
        adds = self.accumulate and self.op == "mul"
        if self.arrange == "dot":
            found, first = [sum(a * b for a, b in zip(x, y, strict=True))], self.slot
            self.slot = (self.slot + 1) % 32
        else:
            found = [FUNCTIONS[self.op](a, b) for a, b in zip(x, y, strict=True)]
            first = 32 * self.slot
            self.slot = (self.slot + self.step) % 16
        for place, number in enumerate(found, first):
            total = number + (self.sums[place] if adds else 0)
            self.wrapped += total != wrapped(total)
            self.sums[place] = wrapped(total)

    def leave(self) -> list[int]:
        numbers = [leaves(x, self.shift) for x in self.sums[32 * self.slot :][:32]]
        self.limited += sum(limited for _, limited in numbers)
        self.slot = (self.slot + self.step) % 16
        return [number for number, _ in numbers]


def random_words(chance: Random) -> list[str]:
    """Words of a block in int8, none of which faults."""
    lines, circuit = [], Circuit([])
    for _ in range(chance.randint(3, 30)):
        kind = chance.randrange(10)
        if kind < 3:
            name = chance.choice(["op", "arrange", "accumulate", "rz_shift", "rz_step"])
            values: dict[str, list[int | str]] = {
                "op": list(FUNCTIONS), "arrange": ["elementwise", "dot"], "accumulate": [0, 1],
                "rz_shift": [0, 0, 3, 7, 31], "rz_step": [0, 1],
            }  # fmt: skip
            value = chance.choice(values[name])
            lines.append(f"mmr {name}, {value}")
            setattr(circuit, {"rz_step": "step"}.get(name, name), value)
        elif kind < 4:
            lines.append(f"{chance.choice(['rop', 'gio'])} <- iosa[{chance.randrange(COLUMNS)}]")
        elif kind < 7:
            if circuit.arrange == "dot" and circuit.op != "mul":
                lines.append("mmr op, mul")
                circuit.op = "mul"
            if circuit.arrange != "dot" and circuit.slot > 3:
                lines.append("mmr rz_slot, 1")
                circuit.slot = 1
            column = f"iosa[{chance.randrange(COLUMNS)}]"
            left, right = chance.choice([("rop", column), ("rop", "gio"), (column, "gio")])
            if circuit.op in SYMBOLS:
                lines.append(f"rz <- {left} {SYMBOLS[circuit.op]} {right}")
            else:
                operand = "~rop" if circuit.op == "not" else f"{circuit.op}(rop)"
                lines.append(f"rz <- {operand}")
            circuit.compute([0] * 32, [0] * 32)
        else:
            if circuit.slot > 3:
                slot = chance.randrange(4)
                lines.append(f"mmr rz_slot, {slot}")
                circuit.slot = slot
            place = f"iosa[{STORED + chance.randrange(8)}]"
            lines.append(f"{chance.choice(['rop', 'gio', place])} <- rz")
            circuit.leave()
    return lines


def execute(circuit: Circuit, line: str) -> None:
    """Do a word of `random_words`."""
    words = line.split()
    if words[0] == "mmr":
        name = words[1].rstrip(",").replace("rz_", "")
        setattr(circuit, name, int(words[2]) if words[2].isdigit() else words[2])
        return

    def value(name: str) -> list[int]:
        if name.startswith("iosa"):
            return circuit.columns[int(name[5:-1])]
        return list(getattr(circuit, name))

    if words[0] == "rz":
        names = [words[2], words[4]] if len(words) > 3 else ["rop", "rop"]
        circuit.compute(*map(value, names))
        return
    moved = circuit.leave() if words[2] == "rz" else value(words[2])
    if words[0].startswith("iosa"):
        circuit.columns[int(words[0][5:-1])] = moved
    else:
        setattr(circuit, words[0], moved)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_random_words_on_both_engines(seed):
    chance = Random(seed)
    lines = random_words(chance)
    random = np.random.default_rng(seed)
    data = random.integers(-128, 128, (2, 32, 32)).astype(np.int8)
    data[random.random(data.shape) < 0.2] = -128
    circuits = [Circuit(bank.tolist()) for bank in data]
    for circuit in circuits:
        for line in lines:
            execute(circuit, line)
    for engine in ENGINES:
        machine = Machine(
            [".block banks=0-1", "mmr format, int8", "mmr op, add", "act 0", *lines, "end"],
            DEVICE,
            engine,
        )
        for bank in range(2):
            machine.put(bank, 0, 0, data[bank])
        machine.done()
        state = machine.island.state
        for bank, circuit in enumerate(circuits):
            assert machine.get(bank, 0, 0, 1024, "int8").reshape(32, 32).tolist() == circuit.columns
            assert state.rz[bank].view("<i4").tolist() == circuit.sums
            assert state.rop[bank].view(np.int8).tolist() == circuit.rop
            assert state.gio[bank].view(np.int8).tolist() == circuit.gio
        assert machine.island.counters()["overflows"] == sum(x.limited for x in circuits)
        assert not machine.island.cautions(), "limited numbers are no problem"


def test_every_sum_near_the_limits_leaves_as_fractions_say():
    """All shifts; sums at and beside ties, the limits of int8 and those of 32 bits."""
    for shift in range(32):
        step = 1 << shift
        numbers = {n * step // 2 + d for n in range(-260, 261) for d in (-1, 0, 1)}
        numbers |= {-(2**31), 2**31 - 1, -(2**31) + 1}
        sums = [x for x in sorted(numbers) if -(2**31) <= x < 2**31]
        sums += [0] * (-len(sums) % 32)
        slices = np.array(sums, "<i4").reshape(-1, 32)
        found, limited = integers.leaving(slices.view(np.uint8), shift)
        expected = [leaves(x, shift) for x in sums]
        assert found.view(np.int8).reshape(-1).tolist() == [x for x, _ in expected]
        assert limited.sum() == sum(x for _, x in expected)


def sums_machine(engine: str, start: list[int]) -> Machine:
    """A machine that adds 32 · 128 · 128 to sum 0 of each of two banks 30 times."""
    lines = [".block banks=0-1", "mmr format, int8", "mmr op, mul", "mmr arrange, dot",
             "mmr accumulate, 1", "act 0", "rop <- iosa[0]", "loop 30", "mmr rz_slot, 0",
             "rz <- rop * iosa[0]", "endloop", "end"]  # fmt: skip
    machine = Machine(lines, DEVICE, engine)
    for bank, value in enumerate(start):
        machine.put(bank, 0, 0, np.full(32, -128, np.int8))
        machine.island.state.rz[bank].view("<i4")[0] = value
    return machine


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sum_beyond_32_bits_wraps_and_is_a_caution(engine):
    top = 2**31 - 1
    machine = sums_machine(engine, [top - 30 * 2**19, top - 30 * 2**19 + 1])
    machine.done()
    sums = [machine.island.state.rz[bank].view("<i4")[0] for bank in range(2)]
    assert sums == [top, -(2**31)]
    assert machine.island.counters()["overflows"] == 1
    (caution,) = machine.island.cautions()
    assert caution.what == "in int8 exceeded 32 bits in Rz and wrapped"
    assert (caution.results, caution.where) == (1, "bank 1")
    form = machine.island.overflows.plain()[0][1]
    assert form == INT8 != LIMITED


@pytest.mark.parametrize("seed", range(tries(40)))
def test_wraps_count_like_sums_without_a_width(seed):
    random = np.random.default_rng(seed)
    mode = Mode(MUL, DOT, 0, 1, INT8)
    old = random.integers(-(2**31), 2**31, (3, 128)).astype("<i4")
    new = random.integers(-(2**19), 2**19, (3, 50, 1)).astype("<i4")
    old[0] = np.where(old[0] < 0, -(2**31), 2**31 - 1)
    slots = [place % 32 for place in range(50)]
    found = count_wraps(mode, old.view(np.uint8), slots, new)
    for bank in range(3):
        sums, count = old[bank].tolist(), 0
        for slot, number in zip(slots, new[bank, :, 0].tolist(), strict=True):
            total = sums[slot] + number
            count += total != wrapped(total)
            sums[slot] = wrapped(total)
        assert found[bank] == count


ABSENT = [
    (
        ["mmr arrange, outer", "mmr op, mul"],
        "the arrangement outer takes fp16 or fp32 or bf16, not int8",
    ),
    (["mmr arrange, tensor", "mmr op, mul"], "the arrangement tensor takes fp16 or bf16, not int8"),
    *((["mmr op, " + name], f"{name} has no results in int8: most of its results are no integers")
      for name in ("div", "vssqrt", "sigmoid", "tanh")),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "why"), ABSENT)
def test_what_int8_does_not_have(lines, why):
    """The assembler and the island refuse it with the reason."""
    device = DEVICE.changed({"fim.island.0.arrangements": "elementwise dot outer tensor"})
    block = [".block banks=0", "mmr format, int8", *lines, "act 0", "fim 6", "end"]
    with pytest.raises(AssemblyError, match=why):
        Machine(block, device)


def test_an_island_needs_a_whole_slice_of_sums():
    device = DEVICE.changed({"fim.island.0.rz_slices": 3})
    block = [".block banks=0", "mmr format, int8", "mmr op, mul", "act 0", "fim 6", "end"]
    with pytest.raises(
        AssemblyError, match="a slice of int8 fills 4 columns of Rz, island 0 has 3"
    ):
        Machine(block, device)
    with pytest.raises(AssemblyError, match="value: 32 is out of range, 0 to 31"):
        Machine([".block banks=0", "mmr rz_shift, 32", "end"], DEVICE)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slice_that_rz_does_not_have(engine):
    """Rz of 9 columns has two slices of int8; dots advance rz_slot past 15."""
    device = DEVICE.changed({"fim.island.0.rz_slices": 9})
    head = [".block banks=0", "mmr format, int8", "mmr op, mul", "act 0"]
    machine = Machine([*head, "mmr rz_slot, 2", "iosa[1] <- rz", "end"], device, engine)
    stop = machine.start().run()
    assert stop.fault is not None
    assert "slice 2 of Rz (rz_slot): fim[0] has 2, 0 to 1 of int8" in stop.message
    dots = ["mmr arrange, dot", "fim 6, 0, 0, 20", "mmr format, fp16", "fim 6, 0, 0, 1", "end"]
    machine = Machine([*head, *dots], device, engine)
    machine.done()
    assert machine.island.blocks[0].registers[5] == 5, "20 modulo the 16 slots of fp16, plus 1"


def test_the_table_of_formats():
    form = FORMATS[INT8]
    assert (form.lanes, form.slots, form.slice_bytes, form.is_integer) == (32, 32, 128, True)
    assert [row.slots for row in FORMATS[:3]] == [16] * 3
    assert [row.slice_bytes for row in FORMATS[:3]] == [32] * 3
