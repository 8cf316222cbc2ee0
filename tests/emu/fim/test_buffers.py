"""Buffers of a producer and a consumer: when the end pointer moves, which block may write.

Cycles are calculated by hand for tiny: a push at t opens its row at t, writes at t + 10 (tRCDWR),
and its data are stored 8 + 2 cycles (WL, burst) later.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.asm.assembler import Source, assemble
from macaw.emu.engines import ENGINES
from macaw.errors import RunError
from macaw.isa.fim import CORE
from tests.emu.fim.machine import Machine, fetch_times

FAULTS = Path(__file__).parents[2] / "faults"
BUFFER = ["mmr b0_low, 0x40030000", "mmr b0_high, 0x40030200"]
WAITING = ["loop 60", "mmr rz_slot, 0", "endloop"]
A_WHILE = ["loop 10", *WAITING[1:]]

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def pointer(machine, part, cycle):
    """The value of a pointer of buffer 0 that the host reads at a cycle."""
    row = next(row for row in CORE.registers if row.name == f"b0_{part}")
    return machine.device.memory.registers.read(0x20008000 + row.address, 4, cycle)


def test_the_end_moves_when_each_column_is_stored(engine):
    """The end pointer moves after each column is stored (seed 004 ¶50, ¶40, ¶48).

    The push comes in cycle 2 and opens the row; the columns are written in cycles 12 and 16.
    """
    machine = Machine([".block banks=0-1", *BUFFER, "push gio", "end"], engine=engine)
    seen = fetch_times(machine)
    machine.start().run(20)
    assert [pointer(machine, "end", at) & 0xFF for at in (3, 21, 22, 25, 26)] == [0, 0, 32, 32, 64]
    assert machine.run().reason == "exit"
    # The block ends when its columns are stored, though none of them is in its banks.
    assert seen[max(seen)] == 26
    assert pointer(machine, "end", machine.device.cycle) == 0x40030040


def test_a_consumer_starves_until_the_column_is_stored(engine):
    """A consumer waits until the end pointer has moved (seed 004 ¶50, ¶48).

    The consumer waits from cycle 0 to 22. Its read then comes at once (seed 004 ¶49), because the
    row is open and the channel free.
    """
    lines = [".block banks=0", *BUFFER, "push gio", "end", ".block banks=1", "pull rop", "end"]
    machine = Machine(lines, engine=engine)
    machine.put(3, 0, 0, np.full(16, 9, np.float16))
    seen = fetch_times(machine)
    end = machine.done()
    counts = machine.island.counters()
    # `end` of the consumer is asked for when what it pulled is there: 22 + 20 + 2.
    assert seen[max(seen)] == 22 + 20 + 2 <= end
    assert (counts["cycles_pull"], counts["waits_t_ccd"], counts["waits_channel"]) == (22, 0, 0)
    assert machine.island.state.rop[1].tolist() == [0] * 32  # the pushed data, not old data


def test_a_consumer_of_two_columns_waits_for_both(engine):
    """A pull from two banks waits until the column of each bank is stored (seed 004 ¶40)."""
    lines = [".block banks=0-1", *BUFFER, "push gio", "end", ".block banks=2-3", "pull rop", "end"]
    machine = Machine(lines, engine=engine)
    machine.done()
    assert machine.island.counters()["cycles_pull"] == 26


def test_why_a_consumer_waits_is_known_with_its_end(engine):
    lines = [".block banks=0", *BUFFER, "push gio", "end", ".block banks=1", "pull rop", "end"]
    machine = Machine(lines, engine=engine)
    machine.start().run(10)
    machine.device.sync()
    stall = machine.island.stalls()[1]
    assert (stall.on, stall.since, stall.until) == ("a column in buffer 0", 0, 22)
    assert stall.note == "0 are there"


def test_columns_that_a_block_writes_itself_are_stored_before_mmr_says_so(engine):
    """`mmr b0_end` waits until columns that the block itself writes are stored.

    The row is opened in cycle 2 and written in cycle 12; the data are stored in cycle 22.
    """
    lines = [".block banks=3", *BUFFER, "act 0", "iosa[0] <- gio", "mmr b0_end, 0x40030020", "end",
             ".block banks=1", "pull rop", "end"]  # fmt: skip
    machine = Machine(lines, engine=engine)
    seen = fetch_times(machine)
    machine.done()
    assert seen[5] == 22
    assert machine.island.counters()["cycles_pull"] == 23  # it looks again a cycle later


def test_a_buffer_begins_anew_when_what_was_pushed_is_stored(engine):
    lines = [".block banks=0", *BUFFER, "push gio", "mmr b0_low, 0x40030400", "end"]
    machine = Machine(lines, engine=engine)
    seen = fetch_times(machine)
    machine.done()
    assert seen[4] == 22
    assert machine.island.buffers[0].arrivals == []


def test_a_snapshot_keeps_columns_on_their_way(engine):
    lines = [".block banks=0-1", *BUFFER, "push gio", "end", ".block banks=2-3", "pull rop", "end"]
    machine = Machine(lines, engine=engine)
    machine.start().run(18)
    saved = machine.device.snapshot()
    first = machine.run().cycle, machine.device.hash()
    machine.device.restore(saved)
    assert (machine.run().cycle, machine.device.hash()) == first


def test_the_host_reads_0_of_a_pointer_that_no_word_has_set(engine):
    machine = Machine([".block banks=0", "mmr b0_high, 0x40030200", "end"], engine=engine)
    machine.done()
    assert [pointer(machine, part, 5) for part in ("low", "high", "start", "end")] == [
        0, 0x40030200, 0, 0,
    ]  # fmt: skip


# --- whose columns ---

PRODUCER = [".block banks=0", *BUFFER, "lock", "push gio", *WAITING, "unlock", "end"]


def fault(lines, engine):
    machine = Machine(lines, engine=engine)
    stop = machine.start().run()
    assert stop.reason == "fault"
    return stop.fault


@pytest.mark.parametrize(
    "word", ["iosa[0] <- rz", "iosa[0] <- gio", "iosa[12:18] <- gio", "fim 4, 20, -1, 8"]
)
def test_a_lock_guards_the_columns(engine, word):
    """While a block has the lock, another block's write to its buffer faults (seed 004 ¶50)."""
    lines = [*PRODUCER, ".block banks=3", *A_WHILE, "act 0", word, "end"]
    found = fault(lines, engine)
    assert found.kind == "lock violation"
    assert "block 0 has its lock" in str(found)


def test_a_lock_of_another_buffer_guards_its_columns(engine):
    """A lock guards the columns of its own buffer, also if the block has set up another buffer."""
    produce = [".block banks=0", "mmr b0_low, 0x40030400", "mmr b0_high, 0x40030600",
               "mmr b1_low, 0x40030000", "mmr b1_high, 0x40030200",
               "lock 1", "push gio, 1", *WAITING, "unlock 1", "end"]  # fmt: skip
    found = fault([*produce, ".block banks=3", *A_WHILE, "act 0", "iosa[0] <- gio", "end"], engine)
    assert "a column of buffer 1: block 0 has its lock" in str(found)


def test_the_wait_for_a_lock_is_counted(engine):
    """A block waits for the lock from the cycle of its `lock` until another block gives it back."""
    lines = [*PRODUCER, ".block banks=3", *A_WHILE, "lock", "unlock", "end"]
    machine = Machine(lines, engine=engine)
    seen = fetch_times(machine)
    machine.done()
    # The last words of both blocks: unlock, end; (act 0) lock, unlock, end.
    given_back, asked = seen[9], seen[14]
    assert machine.island.counters()["cycles_lock"] == given_back - asked == 136 - 21


def test_columns_beside_the_buffer_are_free(engine):
    lines = [*PRODUCER, ".block banks=3", "act 0", "iosa[16:32] <- gio", "act 1",
             "iosa[0:32] <- gio", "end"]  # fmt: skip
    machine = Machine(lines, engine=engine)
    machine.done()


def test_the_owner_may_write_its_columns_and_say_so(engine):
    lines = [".block banks=3", *BUFFER, "lock", "act 0", "iosa[0:2] <- gio",
             "mmr b0_end, 0x40030040", "unlock", "end", ".block banks=1", "pull rop", "pull gio", "end"]  # fmt: skip
    machine = Machine(lines, engine=engine)
    machine.done()
    assert machine.island.counters()["pulled"] == 2


@pytest.mark.parametrize("part", ["low", "high", "start", "end"])
def test_who_does_not_own_the_lock_moves_no_pointer(engine, part):
    """Only the owner of the lock moves the pointers of the buffer (seed 004 ¶50)."""
    lines = [*PRODUCER, ".block banks=1", *A_WHILE, f"mmr b0_{part}, 0x40030020", "end"]
    found = fault(lines, engine)
    assert f"b0_{part} is moved by block 1: block 0 has the lock of buffer 0" in str(found)


def test_a_consumer_takes_what_is_there_while_the_producer_has_the_lock(engine):
    machine = Machine([*PRODUCER, ".block banks=1", "pull rop", "end"], engine=engine)
    machine.done()
    assert machine.island.counters()["pulled"] == 1


@pytest.mark.parametrize("word", ["push rop", "mmr b0_end, 0x40030080", "iosa[3] <- rz"])
def test_without_a_lock_only_the_producer_fills_the_buffer(engine, word):
    """After the lock is given back, only the producer may write to the buffer (seed 004 ¶50)."""
    produce = [".block banks=0", *BUFFER, "lock", "push gio", "unlock", *WAITING, "end"]
    found = fault([*produce, ".block banks=3", "act 0", *WAITING, word, "end"], engine)
    assert found.kind == "lock violation"
    assert "block 0 fills" in str(found)


def test_another_producer_takes_the_lock(engine):
    produce = [".block banks=0", *BUFFER, "lock", "push gio", "unlock", "end"]
    other = [".block banks=1", "act 0", "act 1", "lock", "push gio", "unlock", "end"]
    machine = Machine([*produce, *other], engine=engine)
    machine.done()
    assert machine.island.buffers[0].producer == 1


def test_a_later_program_may_use_the_columns(engine):
    machine = Machine([".block banks=0", *BUFFER, "push gio", "end"], engine=engine)
    machine.done()
    lines = "\n".join([".block banks=3", "act 0", "iosa[0] <- rz", "end"])
    later = assemble(Source(f"        .core fim, island=0\n{lines}", "l.s"), device=machine.config)
    machine.device.load(later)
    machine.device.by_number[0].running = False
    machine.device.by_number[0].time = 1 << 62
    machine.island.start(later.section(".fim.0").address, machine.device.cycle)
    assert machine.run().reason == "exit"


@pytest.mark.once
@pytest.mark.parametrize("name", sorted(path.name for path in FAULTS.glob("fim_*.s")))
def test_each_fault_is_that_of_both_engines(engine, name):
    """A fault stops both engines in the same place, cycle and state."""
    program = assembled(name)
    with pytest.raises(RunError) as found:
        macaw.run(program, max_cycles=10_000, engine=engine)
    assert str(found.value) == said_by_reference(name)


@cache
def assembled(name):
    return macaw.assemble(str(FAULTS / name))


@cache
def said_by_reference(name):
    with pytest.raises(RunError) as found:
        macaw.run(assembled(name), max_cycles=10_000, engine="reference")
    return str(found.value)


def test_a_column_that_another_block_pushes_into_an_open_row(engine):
    """A long read sees a column that another block pushes into the same row during the read.

    The buffer is set up after the read has begun.
    """
    lines = [".block banks=0", "mmr op, add", "act 0", "fim 0, 0, 1, 21", "end",
             ".block banks=1", "mmr op, add", "mmr b0_low, 0x40000280", "mmr b0_high, 0x40000300",
             "act 3", "rop <- iosa[0]", "push rop", "end"]  # fmt: skip
    machine = Machine(lines, engine=engine)
    machine.put(1, 3, 0, np.full(16, 5, np.float16))
    machine.done()
    assert machine.island.state.gio[0].view(np.float16).tolist() == [5.0] * 16


# --- what the seed says of them ---


def test_a_producer_does_not_wait_for_its_consumer(engine):
    """A producer takes the same cycles with a slow consumer and with none (seed 004 ¶40)."""
    produce = [".block banks=0", *BUFFER, "act 0", *["gio <- iosa[0]", "push gio"] * 4, "end"]
    slow = [".block banks=1", *WAITING, *WAITING, *["pull rop"] * 4, "end"]
    seen = []
    for lines in (produce, [*produce, *slow]):
        machine = Machine(lines, engine=engine)
        words = fetch_times(machine)
        machine.done()
        seen.append([words[place] for place in range(1, len(produce))])
    assert seen[0] == seen[1]


def test_a_consumer_takes_what_is_there_one_after_the_other(engine):
    """A consumer uses values in the order of the pushes, each value as soon as it is stored.

    See seed 004 ¶40-41, ¶49.
    """
    machine = Machine(
        [".block banks=0", *BUFFER, "act 0", "gio <- iosa[0]", "push gio", "gio <- iosa[1]",
         *WAITING, "push gio", "end",
         ".block banks=1", "mmr op, add", "act 0", "pull rop", "rz <- rop + gio", "iosa[0] <- rz",
         "pull rop", "rz <- rop + gio", "iosa[1] <- rz", "end"],
        engine=engine,
    )  # fmt: skip
    for column in range(2):
        machine.put(0, 0, column, np.full(16, column + 5, np.float16))
    seen = fetch_times(machine)
    machine.done()
    assert machine.get(1, 0, 0, 32).tolist() == [5.0] * 16 + [6.0] * 16
    # seed 004 ¶10, ¶23: the first value is used before the second one is pushed.
    first_use, second_push, second_use = 16, 10, 19
    assert seen[first_use] < seen[second_push] < seen[second_use]


@pytest.mark.parametrize(("own", "other"), [(0, 1), (1, 0)])
def test_neither_island_reaches_the_other(engine, own, other):
    """Pointers and operations cannot reach another island (seed 004 ¶54).

    A pointer into another island is a fault; an operation writes to its own island only.
    """
    there = 0x4000_0000 + (other << 26)
    lines = [".block banks=0", f"mmr b0_low, {there:#x}", "push gio", "end"]
    machine = Machine(lines, engine=engine, island=own)
    stop = machine.start().run()
    assert stop.fault.kind == "isolation violation"
    machine = Machine(
        [".block banks=0-3", "act 0", "iosa[0:32] <- gio", "end"], engine=engine, island=own
    )
    bank = machine.island.geometry.bank_bytes
    for island in (own, other):
        for number in range(4):
            machine.device.memory.poke(0x4000_0000 + (island << 26) + number * bank, b"\1" * 1024)
    machine.done()
    for number in range(4):
        assert machine.device.memory.peek(there + number * bank, 1024) == b"\1" * 1024
        own_row = 0x4000_0000 + (own << 26) + number * bank
        assert machine.device.memory.peek(own_row, 1024) == bytes(1024)
