"""Translated blocks against the reference engine: the same state at every stop."""

from __future__ import annotations

import random

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from macaw.emu.scalar.fast import blocks as blocks_module
from macaw.emu.scalar.fast import translation
from macaw.isa import cp, vector
from macaw.isa.codec import encode
from macaw.isa.kinds import Flag, Immediate
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.vector_layouts import Order, Pair, VectorRegister
from tests.emu import cp_machine, vc_machine
from tests.emu.random_code import Line, number
from tests.emu.scalar_devices import CORE_MODULES, device_with_code, random_devices, stop_summary
from tests.fuzzing import IN_CI

pytestmark = pytest.mark.once


def followed(devices, chance, spans):
    """Run all devices side by side, stop after stop; one of them runs without stops."""
    reasons = []
    while True:
        until = devices[0].cycle + chance.choice(spans)
        stops = [device.run(until=until) for device in devices]
        assert len({stop_summary(stop) for stop in stops}) == 1
        assert len({device.hash() for device in devices}) == 1
        assert devices[0].counters() == devices[1].counters()
        reasons.append(stops[0].reason)
        # Somebody else takes the channel of external memory for a while.
        busy = chance.choice((0, 0, 3, 29, 300))
        for device in devices:
            device.memory.channel.free = max(device.memory.channel.free, device.cycle + busy)
        if stops[0].reason in ("exit", "fault"):
            return reasons
        if len(reasons) > 400:
            return reasons


@pytest.mark.few(9)
@pytest.mark.parametrize("core", CORE_MODULES)
@pytest.mark.parametrize("seed", range(16))
def test_random_loops_stop_in_the_same_state(core, seed):
    devices, chance = random_devices(core, seed)
    spans = chance.choice(((1, 5, 77), (900, 333, 4097), (50, 60, 5000)))
    followed(devices, chance, spans)


def test_most_of_those_programs_are_translated_and_some_fault():
    seen, translated = set(), 0
    for core in CORE_MODULES:
        for seed in range(7):
            devices, chance = random_devices(core, seed)
            seen.update(followed(devices, chance, (20_000,)))
            translated += bool(devices[0].cores[core].plain.blocks)
    assert seen >= {"fault", "breakpoint"}
    assert translated >= 7


@pytest.mark.few(4)
@pytest.mark.parametrize("core", CORE_MODULES)
@pytest.mark.parametrize("seed", range(20, 24))
def test_snapshots_of_one_engine_go_on_in_the_other(core, seed):
    devices, chance = random_devices(core, seed)
    for _ in range(12):
        until = devices[0].cycle + chance.choice((100, 777, 2000))
        first, second = (device.run(until=until) for device in devices)
        assert stop_summary(first) == stop_summary(second)
        if first.reason in ("exit", "fault"):
            break
        held = [device.snapshot() for device in devices]
        devices[0].restore(held[1])
        devices[1].restore(held[0])
    assert devices[0].hash() == devices[1].hash()


@pytest.mark.few(4)
@pytest.mark.parametrize("core", CORE_MODULES)
@pytest.mark.parametrize("seed", range(30, 34))
def test_listeners_and_steps_come_and_go_in_hot_loops(core, seed):
    devices, chance = random_devices(core, seed)
    for _ in range(10):
        until = devices[0].cycle + chance.choice((150, 900))
        first, second = (device.run(until=until) for device in devices)
        assert stop_summary(first) == stop_summary(second)
        if first.reason in ("exit", "fault"):
            break
        if chance.random() < 0.5:
            steps = chance.randint(1, 5)
            stops = [
                [stop_summary(device.step_core(core)) for _ in range(steps)] for device in devices
            ]
        else:
            until = devices[0].cycle + 60
            stops = [heard(device, core, until) for device in devices]
        assert stops[0] == stops[1]
        assert devices[0].hash() == devices[1].hash()
        if devices[0].stopped:
            break


def heard(device, core, until):
    """The events that a listener hears up to a cycle, and the stop."""
    events = []

    def listener(event):
        events.append((event.kind, event.time, dict(event.values)))

    device.listen(listener, [core])
    stop = device.run(until=until)
    device.unlisten(listener)
    return events, stop_summary(stop)


WAITS = """
        li    s0, 1000
        lui   a0, 0x80008
loop:   lw    a1, (a0)
        addi  a2, a2, 1
        addi  a2, a2, 2
        addi  a2, a2, 3
        addi  a2, a2, 4
        addi  s0, s0, -1
        bnez  s0, loop
        ebreak
"""


@pytest.mark.parametrize("alu", [1, 2])
def test_the_limit_comes_while_external_memory_is_waited_for(alu):
    code = vc_machine.code(WAITS)
    devices = [
        device_with_code("vc", engine, EXTERNAL, code, vc__alu_cycles=alu) for engine in ENGINES
    ]
    followed_to = 700
    for device in devices:
        device.run(until=followed_to)
    assert devices[0].cores["vc"].plain.blocks
    for busy in range(36):
        followed_to += 10 + busy % 17
        for device in devices:
            device.memory.channel.free = max(device.memory.channel.free, device.cycle + busy % 20)
        stops = [device.run(until=followed_to) for device in devices]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert devices[0].hash() == devices[1].hash()


LANES = """
        li    s0, 60
loop:   addi  a1, a1, 7
        vsplat.w vr0, a1
        vadd.w vr1, vr0, vr1
        vext.w a2, vr1, 1
        add   a1, a1, a2
        pmac.gr.u8 a3, a1, a2, a3, acc
        xor   a1, a1, a3
        addi  s0, s0, -1
        bnez  s0, loop
        ebreak
"""


def test_general_and_vector_registers_go_to_and_fro():
    code = vc_machine.code(LANES)
    devices = [device_with_code("vc", engine, EXTERNAL, code) for engine in ENGINES]
    stops = [device.run() for device in devices]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert devices[0].cores["vc"].plain.blocks
    assert devices[0].hash() == devices[1].hash()


# Each row, as text and as an act


def rows_of(core):
    table = (cp if core == "cp" else vector).CORE
    served = ("csr", "system", "xcp", "marker")
    return [(core, row) for row in table.instructions if row.family not in served]


@pytest.mark.parametrize(
    ("core", "row"),
    [x for core in CORE_MODULES for x in rows_of(core)],
    ids=lambda x: getattr(x, "mnemonic", x),
)
def test_a_row_as_text_is_the_row_as_an_act(core, row):
    chance = random.Random(row.mnemonic)
    text = cp_machine.TEXT if core == "cp" else EXTERNAL + 0x400
    base = 0x40000 if core == "cp" else EXTERNAL + 0x8000
    for _ in range(2 if IN_CI else 8):
        values = random_values(row, chance)
        code = b"".join(encode(*line).to_bytes(4, "little") for line in ((row, values), EBREAK))
        content = random_bytes(chance, 0x1000)
        registers = [number(chance) for _ in range(31)]
        if chance.random() < 0.8 and "memory" in (row.reads + row.writes):
            registers[values["rs1"] - 1] = base + 0x800
        devices = [
            device_with_code(core, engine, text, code, [(base, content)]) for engine in ENGINES
        ]
        for device in devices:
            hart = device.cores[core]
            hart.x[1:32] = registers
            if core == "vc":
                hart.vr[:] = np.frombuffer(content[:256], np.uint8).reshape(16, 16)
        devices[0].cores[core].plain._translate(text)
        assert (
            devices[0].cores[core].plain.blocks
            or row.family == "vector memory"
            or (values.get("target", 0) & 3)
        )
        first, second = (device.run(max_cycles=200) for device in devices)
        assert stop_summary(first) == stop_summary(second)
        assert devices[0].hash() == devices[1].hash()


def random_bytes(chance: random.Random, count: int) -> bytes:
    """Random bytes, four fifths of which are 0, 1, 3 or 255."""
    pick = np.random.default_rng(chance.getrandbits(64))
    columns = pick.integers(0, 5, count)
    rows = np.array([[0], [1], [3], [255]]).repeat(count, axis=1)
    return np.choose(columns, [*rows, pick.integers(0, 256, count)]).astype(np.uint8).tobytes()


EBREAK: Line = (cp.CORE.by_mnemonic["ebreak"], {})


def random_values(row, chance):
    """Random operands, mostly not x0; targets of jumps are near."""
    found = {}
    for operand in row.operands:
        kind = operand.kind
        if operand.name == "target":
            found["target"] = chance.choice((8, 8, -8, 6))
        elif isinstance(kind, Flag):
            found[operand.name] = chance.randrange(2)
        elif isinstance(kind, Pair):
            found[operand.name] = 2 * chance.randrange(16)
        elif isinstance(kind, VectorRegister):
            found[operand.name] = chance.randrange(16)
        elif isinstance(kind, Order):
            found[operand.name] = chance.choice(
                (chance.randrange(16), 32 + 2 * chance.randrange(16))
            )
        elif isinstance(kind, Immediate):
            is_access = "memory" in row.reads + row.writes
            found[operand.name] = (
                16 * chance.randrange(64) if is_access else chance.randint(kind.low, kind.high)
            )
        else:
            found[operand.name] = (
                chance.randrange(32) if operand.name != "rs1" else chance.randrange(1, 32)
            )
    return found


# The cache, and what people see


LOOP = """
        addi  t0, zero, 200
        addi  a0, a0, 3
        addi  t0, t0, -1
        bne   t0, zero, -8
        ebreak
"""


def test_the_text_of_a_block():
    device = cp_machine.machine(LOOP)
    assert device.run().reason == "breakpoint"
    (block,) = cp_machine.translated_blocks(device).values()
    lines = [line.strip() for line in block.source.splitlines()]
    at = lines.index("# 00010004 addi")
    assert lines[at : at + 9] == [
        "# 00010004 addi",
        "x10 = x10 + 3",
        "if x10 > 4294967295: x10 &= 4294967295",
        "# 00010008 addi",
        "x5 = x5 + -1",
        "if x5 < 0: x5 &= 4294967295",
        "# 0001000c bne",
        "if x5 != 0:",
        "t += 4",
    ]
    assert lines[at + 9] == "continue"
    # The time says how many passes there were.
    assert lines.count("passes = (t - begun) // 4") == lines.count("break")
    assert "done += 3 * passes" in lines


def test_sums_wrap_in_a_block():
    """Sums in a translated block wrap in both directions, with registers and constants."""
    device = cp_machine.machine("""
        addi  t0, zero, 300
        lui   a0, 0x7ffff
        addi  a1, zero, 5
        add   a2, a2, a0
        sub   a3, a3, a0
        addi  a1, a1, -2047
        addi  a4, a2, 2047
        addi  a5, a1, 0
        addi  t0, t0, -1
        bne   t0, zero, -24
        ebreak
    """)
    assert device.run().reason == "breakpoint"
    (block,) = cp_machine.translated_blocks(device).values()
    assert "x15 = x11\n" in block.source
    a0, a1, a2, a3 = 0x7FFF_F000, 5, 0, 0
    wraps = 0
    for _ in range(300):
        wraps += a2 + a0 >> 32
        a1, a2, a3 = (x % 2**32 for x in (a1 - 2047, a2 + a0, a3 - a0))
    assert wraps > 100
    found = [cp_machine.register(device, name) for name in ("a1", "a2", "a3", "a4", "a5")]
    assert found == [a1, a2, a3, (a2 + 2047) % 2**32, a1]


def test_blocks_are_bounded(monkeypatch):
    monkeypatch.setattr(blocks_module, "MOST", 3)
    device = cp_machine.machine(LOOP.replace("ebreak", "") * 8 + "ebreak")
    assert device.run().reason == "breakpoint"
    assert 1 <= len(cp_machine.translated_blocks(device)) <= 3
    assert cp_machine.register(device, "a0") == 8 * 600


def test_blocks_whose_page_has_changed_count_in_the_bound(monkeypatch):
    """Stale blocks, whose page a store has changed, count towards the limit of blocks."""
    monkeypatch.setattr(blocks_module, "MOST", 4)
    most, stale = [], []
    translate = blocks_module.BlockCache._translate

    def counted(self, address):
        translate(self, address)
        most.append(len(self.blocks) + len(self._stale))
        stale.append(len(self._stale))

    monkeypatch.setattr(blocks_module.BlockCache, "_translate", counted)
    loop = LOOP.replace("ebreak", "")
    change = "lui t1, 16\n lw t2, 0(t1)\n sw t2, 0(t1)\n"
    device = cp_machine.machine(loop * 2 + change + loop * 6 + "ebreak")
    assert device.run().reason == "breakpoint"
    assert cp_machine.register(device, "a0") == 8 * 600
    assert max(stale) == 2
    assert max(most) == 4


def test_a_block_that_changes_is_not_translated_again_and_again(monkeypatch):
    """A loop that stores into itself each time is not translated again and again."""
    source = """
        lui   t1, 16
        lw    t2, 12(t1)
        addi  t0, zero, 400
        addi  a0, a0, 3
        sw    t2, 12(t1)
        addi  t0, t0, -1
        bne   t0, zero, -12
        ebreak
    """
    made_blocks = []
    block = translation.Translator.block

    def counted(self, code):
        made_blocks.append(self)
        return block(self, code)

    monkeypatch.setattr(
        translation.Translator,
        "block",
        counted,
    )
    device = cp_machine.machine(source)
    device.run()
    assert cp_machine.register(device, "a0") == 1200
    assert len(made_blocks) <= 1


def test_without_sources_nothing_is_translated(monkeypatch):
    def refuse(*_):
        raise OSError("no source")

    monkeypatch.setattr(translation, "inline", refuse)
    device = cp_machine.machine(LOOP)
    device.run()
    assert cp_machine.register(device, "a0") == 600
    assert not cp_machine.translated_blocks(device)
