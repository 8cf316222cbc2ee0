"""Accesses of translated blocks: groups, windows, and loops whose pointers walk through pages."""

from __future__ import annotations

import random

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.emu.engines import ENGINES
from macaw.emu.pages import PAGE, SHARED, WRITTEN, Pages
from macaw.emu.scalar.fast.accesses import find_groups, size_of
from macaw.emu.scalar.fast.loops import find_value
from macaw.isa import cp
from macaw.isa.codec import Decoded, decode
from macaw.isa.memory_map import EXTERNAL
from tests.emu import cp_machine
from tests.emu.scalar_devices import CORE_MODULES, device_with_code, stop_summary

pytestmark = pytest.mark.once

VALUES = {
    "nop": (8, 0),
    "li s0, -5": (0, 0xFFFF_FFFB),
    "lui s0, 0x80001\n addi s0, s0, -4": (0, 0x8000_0FFC),
    "nop\n auipc s0, 1": (0, 0x5004),
    "addi s0, s0, 8\n mv a0, s0\n addi s0, a1, -3": (11, -3),
    "addi s0, s0, 8\n lw a0, 0(s0)\n addi s0, s0, -2": (8, 6),
    "addi a0, s0, 8\n li s0, 0\n addi s0, a0, 1": (8, 9),
    "lw s0, 0(a0)": None,
    "li s0, 1\n add s0, s0, a0\n addi s0, s0, 1": None,
}

LOADS = {"lb": 1, "lbu": 1, "lh": 2, "lhu": 2, "lw": 4}
STORES = {"sb": 1, "sh": 2, "sw": 4}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_a_register_after_instructions(text: str) -> None:
    found = _decoded(text)
    written = [[x.values["rd"]] if "rd" in x.row.writes.split() else [] for x in found]
    assert find_value(0x4000, found, written, 8) == VALUES[text]


def _code(core: str, text: str) -> bytes:
    program = assemble(Source(f".core {core}\n{text}", "code.s"))
    return program.section(f".text.{core}").data


def _access(chance: random.Random, pointer: str) -> str:
    mnemonic = chance.choice((*LOADS, *STORES))
    size = (LOADS | STORES)[mnemonic]
    immediate = size * chance.choice((0, 0, 0, 1, -1, 5, 100, -300))
    if chance.random() < 0.05:
        immediate += 1
    return f"{mnemonic} t{chance.randrange(3)}, {immediate}({pointer})"


def _program(chance: random.Random, starts: list[int]) -> str:
    """A hot loop with pointers that walk from some of the addresses `starts`."""
    pointers = [f"a{number}" for number in range(chance.choice((1, 2, 3)))]
    size = chance.choice((1, 2, 4, 4))
    body, steps = [], []
    for pointer in pointers:
        for _ in range(chance.choice((1, 2, 4))):
            body.append(_access(chance, pointer))
        step = size * chance.choice((1, 1, -1, 4, 16, -64, 300, 0))
        steps.append(f"addi {pointer}, {pointer}, {step}")
    if chance.random() < 0.5:
        chance.shuffle(body)
    for line in (*steps, "add t3, t3, t0", "xor t1, t1, t3", "addi t0, t2, 77", "andi t2, t1, 255"):
        body.insert(chance.randrange(len(body) + 1), line)
    if chance.random() < 0.2:
        body.insert(chance.randrange(len(body)), "beq t0, t4, out")
    if chance.random() < 0.1:
        body.insert(chance.randrange(len(body)), f"add {pointers[0]}, {pointers[0]}, zero")
    lines = ["li s0, 5", "again:"]
    lines += [f"li {pointer}, {chance.choice(starts)}" for pointer in pointers]
    lines += [f"li s1, {chance.choice((30, 100, 400))}", "loop:", *body]
    lines += ["addi s1, s1, -1", "bnez s1, loop", "addi s0, s0, -1", "bnez s0, again"]
    return "\n".join((*lines, "out: ebreak")) + "\n"


@pytest.mark.few(8)
@pytest.mark.parametrize("core", CORE_MODULES)
@pytest.mark.parametrize("seed", range(30))
def test_pointers_that_walk_leave_the_same_state(core: str, seed: int) -> None:
    chance = random.Random(f"{core} {seed}")
    text = cp_machine.TEXT if core == "cp" else EXTERNAL + 0x400
    base = 0x40000 if core == "cp" else EXTERNAL + 0x8000
    size = chance.choice((0x50000, 0x50010))  # of the memory; also one that has no whole pages
    first = 0 if core == "cp" else EXTERNAL
    starts = [base, base, base + PAGE - 64, base + 3 * PAGE, text + 0x800, first + size - 1200]
    code = _code(core, _program(chance, starts))
    data = [(base, chance.randbytes(3 * PAGE)), (text + 0x400, chance.randbytes(0x800))]
    memory = {"mem__local_bytes" if core == "cp" else "mem__external_bytes": size}
    devices = [device_with_code(core, engine, text, code, data, **memory) for engine in ENGINES]
    spans = chance.choice(((200_000,), (900, 333, 4097), (50, 60, 5000)))
    for _ in range(60):
        until = devices[0].cycle + chance.choice(spans)
        stops = [device.run(until=until) for device in devices]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert devices[0].hash() == devices[1].hash()
        assert devices[0].counters() == devices[1].counters()
        if stops[0].reason != "cycle limit":
            break


def _decoded(text: str) -> list[Decoded]:
    code = _code("cp", text)
    words = [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]
    return [decode(cp.CORE, word, 32, 4 * place) for place, word in enumerate(words)]


def _groups(text: str) -> list[list[int]]:
    """Return for each group of accesses their positions in the program, counted in instructions."""
    found = _decoded(text)
    written = [(x.values["rd"],) if "rd" in x.row.writes.split() else () for x in found]
    groups = find_groups(found, [size_of(x) for x in found], written)
    return [[access.place for access in group.accesses] for group in groups]


def test_accesses_by_one_register_are_a_group() -> None:
    assert _groups("lw t0, (a0)\nlw t1, (a1)\naddi t0, t0, 1\nsw t0, 8(a0)\n") == [[0, 3], [1]]


def test_a_new_base_begins_a_group() -> None:
    assert _groups("lw t0, (a0)\naddi a0, a0, 4\nsw t0, (a0)\n") == [[0], [2]]
    # A load into its own base is the last access of its group.
    assert _groups("lw a1, (a0)\nlw a0, 4(a0)\nlw a2, (a0)\n") == [[0, 1], [2]]


def test_a_branch_ends_groups() -> None:
    """An access after a branch is in another group than the accesses before the branch.

    The branch may skip the access, so its address must not be tested before the branch.
    """
    assert _groups("lw t0, (a0)\nbeq t0, zero, . + 8\nsw t0, (a0)\n") == [[0], [2]]


def test_an_access_at_an_odd_distance_is_alone() -> None:
    assert _groups("lb t0, (a0)\nlw t1, 2(a0)\nlb t2, 1(a0)\n") == [[0], [1], [2]]


def test_the_tests_of_a_loop_are_not_in_its_passes() -> None:
    device = cp_machine.machine("""
        lui   a0, 0x40
        addi  a1, a0, 1020
        addi  t0, zero, 250
        lw    t1, 0(a0)
        sw    t1, 4(a0)
        lw    t2, 0(a1)
        addi  a0, a0, 4
        addi  a1, a1, -4
        addi  t0, t0, -1
        bne   t0, zero, -24
        ebreak
    """)
    assert device.run().reason == "breakpoint"
    (block,) = cp_machine.translated_blocks(device).values()
    lines = [line.strip() for line in block.source.splitlines()]
    start = lines.index("# 0001000c lw")
    end = next(at for at, line in enumerate(lines) if line == "continue")
    tests = [line for line in lines[start:end] if line.startswith("if ")]
    # The counter may wrap, the pointers cannot; the loop ends by the branch.
    assert tests == ["if x5 < 0: x5 &= 4294967295", "if x5 != 0:"]
    assert "if t >= near:" in lines[:start]


# Where a program may store without a call


def _page() -> Pages:
    pages = Pages(3 * PAGE - 100)
    pages.on_change(lambda page: None)
    return pages


def test_no_byte_of_an_unwritten_page_may_be_stored_plainly() -> None:
    assert _page().plain_range(PAGE + 5) == (PAGE + 5, PAGE + 5)


def test_all_bytes_of_a_written_page_may_be_stored_plainly() -> None:
    pages = _page()
    pages.touch(1)
    pages.touch(2)
    assert pages.plain_range(PAGE + 5) == (PAGE, 2 * PAGE)
    assert pages.plain_range(2 * PAGE) == (2 * PAGE, 3 * PAGE - 100)


def test_bytes_between_watched_words_may_be_stored_plainly() -> None:
    pages = _page()
    pages.touch(1)
    pages.watch(PAGE + 8, 8)
    pages.watch(PAGE + 40, 4)
    assert pages.marks[1] == SHARED != WRITTEN
    assert pages.plain_range(PAGE + 7) == (PAGE, PAGE + 8)
    for watched in (8, 11, 15, 40, 43):
        begin, end = pages.plain_range(PAGE + watched)
        assert begin == end
    assert pages.plain_range(PAGE + 16) == pages.plain_range(PAGE + 39) == (PAGE + 16, PAGE + 40)
    assert pages.plain_range(PAGE + 44) == (PAGE + 44, 2 * PAGE)


def test_two_sums_in_one_register_wrap_once() -> None:
    """If two additions to one register follow each other, their sum is wrapped once.

    Both additions may wrap; the register is read after both.
    """
    device = cp_machine.machine("""
        lui   a0, 0xfffff
        addi  a1, zero, -5
        addi  t0, zero, 100
        add   a2, a2, a0
        add   a2, a2, a1
        xor   a3, a3, a2
        addi  t0, t0, -1
        bne   t0, zero, -16
        ebreak
    """)
    assert device.run().reason == "breakpoint"
    (block,) = cp_machine.translated_blocks(device).values()
    assert block.source.count("x12 > 4294967295") == 1
    a2 = a3 = 0
    for _ in range(100):
        a2 = (a2 + 0xFFFF_F000 + 0xFFFF_FFFB) % 2**32
        a3 ^= a2
    assert cp_machine.register(device, "a2") == a2
    assert cp_machine.register(device, "a3") == a3
