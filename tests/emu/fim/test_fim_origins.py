"""The origins that islands record, on random programs: each step follows from its sources."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from macaw.asm.diagnostics import AssemblyError
from macaw.emu.origins import Place, Source
from tests.emu.fim.engine_pairs import DEVICES, random_sources
from tests.emu.fim.machine import Machine
from tests.emu.heard import Heard

pytestmark = pytest.mark.once
MOST = 600  # the first steps of a program, which are checked
KINDS = {"fp16": np.float16, "fp32": np.float32, "bf16": ml_dtypes.bfloat16, "int8": np.int32}


def assembled(lines, device):
    while True:
        try:
            return Machine(lines, device, "reference")
        except AssemblyError as error:
            wrong = {item.span.line - 4 for item in error.errors}
            lines = [line for place, line in enumerate(lines) if place not in wrong]


def tree_sum(values):
    while len(values) > 1:
        values = [a + b for a, b in zip(values[::2], values[1::2], strict=True)]
    return values[0]


class Walk:
    """Checks origins backwards, from registers and columns to the contents before the run."""

    def __init__(self, machine, heard, begin):
        self.origins, self.heard, self.begin = machine.island.origins, heard, begin
        self.base = machine.base
        self.work, self.chance = [], random.Random(0)
        self.computed = self.ends = 0

    def run(self):
        for _ in range(MOST):
            if not self.work:
                return
            # In no order: of an outer product there are many.
            place = self.chance.randrange(len(self.work))
            self.work[place], self.work[-1] = self.work[-1], self.work[place]
            source, expected = self.work.pop()
            if source.memory is not None:
                self.memory(source, expected)
            else:
                self.place(source, expected)

    def place(self, source, expected):
        rest = bytearray(expected)
        for made in self.origins.makers(source.place, source.number):
            first, size = made.part
            low, high = max(first, 0), min(first + size, len(expected))
            rest[low:high] = bytes(high - low)
            if made.value is None:
                self.copied(made, expected[low:high])
            else:
                kind = KINDS[next(x.value for x in made.sources() if x.what == "format")]
                number: Any = kind(made.value)
                assert number.nbytes == size
                assert number.tobytes()[low - first : high - first] == expected[low:high]
                self.number(made, kind)
        assert not any(rest), "what nobody filled is 0"

    def memory(self, source, expected):
        address, size = source.memory
        number = self.heard.last_write(address, source.number)
        if number is None:
            assert self.begin[address - self.base :][:size] == expected
            self.ends += 1
            return
        steps = list(self.origins.writers(number, address, size))
        assert len(steps) == 1 or [x.part for x in steps] == [(n, 1) for n in range(size)]
        for made in steps:
            first, count = made.part or (0, size)
            self.copied(made, expected[first : first + count])

    def copied(self, made, expected):
        """Follow a step that copied bytes, or that made one number of int8 of a sum in Rz."""
        said = {x.what: x.value for x in made.sources() if x.setting}
        source = self.only(made)
        if "rz_shift" in said:
            whole = round(Fraction(source.value, 2 ** said["rz_shift"]))
            assert np.int8(min(max(whole, -128), 127)).tobytes() == expected
            expected = np.int32(source.value).tobytes()
        self.work.append((source, expected))

    def only(self, made):
        (source,) = (x for x in made.sources() if not x.setting)
        return source

    def number(self, made, kind):
        """Compute a number of the ALU from its recorded operands; the bits must be equal."""
        self.computed += 1
        lane = np.int8 if kind is np.int32 else kind  # the type of an operand
        said = {x.what: x.value for x in made.sources() if x.setting}
        old: list[np.floating[Any]] = []
        products: list[np.floating[Any]] = []
        operands: list[np.floating[Any]] = []
        for source in made.sources():
            if source.setting:
                continue
            if source.origin is not None:
                left, right = source.origin.sources()
                products.append(kind(left.value) * kind(right.value))
                some = [left, right]
            else:
                (old if source.what == "before" else operands).append(kind(source.value))
                some = [source]
            self.work += [
                (x, (kind if x.what == "before" else lane)(x.value).tobytes()) for x in some
            ]
        functions: dict[str, np.ufunc] = {"mul": np.multiply, "add": np.add, "div": np.divide}
        with np.errstate(all="ignore"):
            result = tree_sum(products) if products else functions[said["op"]](*operands)
            result = old[0] + result if old else result
        assert bool(old) == (said["op"] == "mul" and said["accumulate"] == 1)
        assert kind(result).tobytes() == kind(made.value).tobytes() or np.isnan(float(result))


@st.composite
def computing(draw):
    """Draw the lines of a block that multiplies in random arrangements and moves the results."""
    lines = [".block banks=(0, 1)", "mmr op, mul", "act 0"]
    if draw(st.booleans()):
        lines += ["mmr format, int8", f"mmr rz_shift, {draw(st.integers(0, 12))}"]
    for _ in range(draw(st.integers(1, 4))):
        way = draw(st.sampled_from(["elementwise", "dot", "outer", "tensor"]))
        lines += [
            f"mmr arrange, {way}",
            f"mmr transpose, {draw(st.sampled_from(['none', 'a', 'b']))}",
            f"mmr accumulate, {draw(st.integers(0, 1))}",
            f"mmr rz_slot, {draw(st.integers(0, 3))}",
            f"mmr rz_step, {draw(st.integers(0, 2))}",
            f"rop <- iosa[{draw(st.integers(0, 31))}]",
            f"fim 6, {draw(st.integers(0, 9))}, 1, {draw(st.integers(1, 3))}",
            f"mmr rz_slot, {draw(st.integers(0, 3))}",
            draw(st.sampled_from(["gio <- rz", "rop <- rz", "iosa[11] <- rz"])),
            draw(st.sampled_from(["act 1", "act 0", "iosa[12] <- gio", "rz <- rop * gio"])),
        ]
    return [*lines, "end"]


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.one_of(random_sources(), computing()), st.sampled_from(DEVICES), st.integers(0, 1 << 30))
def test_random_programs(lines, device, seed):
    machine = assembled(lines, device)
    data = np.random.default_rng(seed).normal(size=(4, 3, 512)).astype(np.float16)
    for bank in range(4):
        for row in range(3):
            machine.put(bank, row, 0, data[bank, row])
    begin = machine.device.memory.peek(machine.base, 4 * 64 * 1024)
    heard = Heard(machine.device)
    machine.start()
    machine.run(100_000)
    walk, state = Walk(machine, heard, begin), machine.island.state
    for name in ("rop", "gio", "rz"):
        for bank in range(3):
            held = getattr(state, name)[bank].tobytes()
            place = Place(name, bank * len(held), len(held))
            walk.work.append((Source(name, heard.count, place=place), held))
    for bank in range(4):
        for column in range(32):
            address = machine.address(bank, 1, column)
            now = machine.device.memory.peek(address, 32)
            walk.work.append((Source("column", heard.count, (address, 32)), now))
    walk.run()
