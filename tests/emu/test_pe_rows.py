"""An instruction of the array changes and reads only what its row of the table says."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from macaw.emu import recordings
from macaw.emu.device import Device
from macaw.emu.pe.state import DONE, RUNNING, WAITING
from macaw.emu.state import Change
from macaw.isa import codec, config
from macaw.isa.memory_map import UNITS
from macaw.isa.pe import CORE, DESTINATIONS, FUNCTIONS, INSTRUCTIONS, PE_COUNTERS, ROW_COUNTERS
from macaw.isa.rows import Instruction
from tests.emu.pe_builder import Machine, Unit, instruction

# What holds operands and results, by the word of the table; accumulators and blocks have numbers.
STORES = {
    "weights": "weight_index weight_value weight_head weight_count",
    "activations": "activations bitmask block_loaded",
    "accumulators": "accumulators",
    "output-queue": "output output_written",
    "register-file": "words headers origins registers steps strides types scaled scales tables",
    "scalars": "scalar_sums scalar_held",
    "unit": "ping0 pong0",
}
STORE_OF = {field: store for store, fields in STORES.items() for field in fields.split()}
# The fields of progress: queues and latches of the pipeline, open work, transfers on the buses.
WORK = set(
    "mac_left mac_next mac_base mac_limit mac_sum mac_reached q1 q1_head q1_count q2 q2_head q2_count"
    " balancing given handing helpers sfu_fifo sfu_tokens"
    " block_types queue_types segment_entries buffer sfu_jobs sfu_pipe computing doing doing_since parsers units runs due reached counted_to"
    " begun latest macs_before"
    " next_packet packet beat bus_free return_turn returning returned"
    " time stopped retired running waiting waited cycle arbiter traffic feeding free local external".split()
)
WORK |= {row.name for row in (*PE_COUNTERS, *ROW_COUNTERS)}
WORK |= {row.name for row in recordings.fields({"trace.groups": 1})}

Place = tuple[str, int | None]  # a store, and the number in it; None: all of it
BUFFER, QUEUE = 64, 64  # elements of an input buffer and of an output queue
BLOCK = QUEUE // 16


def places(row: Instruction, values: dict[str, int], words: str) -> set[Place]:
    """The places of the state that words of a row name, if operands have these values."""
    found: set[Place] = set()
    for word in words.split():
        if word == "acc":
            found.add(("accumulators", values["acc"]))
        elif word == "src" and FUNCTIONS[values["function"]] == "nonsf":
            found.add(("accumulators", values["src"]))
        elif word == "src":
            found.add(("output-queue", values["src"]))
        elif word == "destination":
            named = DESTINATIONS[values["destination"]]
            stores = {"psums": ["accumulators"], "both": ["weights", "activations"]}
            found |= {(store, None) for store in stores.get(named, [named])}
        elif word == "segment":
            found.add(("unit", None))
        elif word not in ("base", "dst"):  # numbers in the instruction itself
            assert word in STORES, f"{row.mnemonic}: '{word}' is no word of this table"
            found.add((word, None))
    return found


def place(field: str, at: tuple[int, ...]) -> Place:
    """The place to which an element of the state belongs."""
    store = STORE_OF[field]
    if store == "accumulators":
        return store, at[-1]
    return store, at[-1] // BLOCK if store == "output-queue" else None


def covered(found: Place, by: set[Place]) -> bool:
    return found in by or (found[0], None) in by


@dataclass
class Case:
    """A sequence with the instruction at index `at`, and the data of its exe."""

    lines: tuple[str, ...]
    at: int = 0
    segments: tuple[str, ...] = ()
    last: int = 1

    @property
    def row(self) -> Instruction:
        return CORE.by_mnemonic[self.lines[self.at].split()[0]]

    @property
    def values(self) -> dict[str, int]:
        word = instruction(self.lines[self.at])
        return dict(codec.decode(CORE, word, self.row.format.width).values)

    def machine(self, chance: random.Random) -> Machine:
        """A row before its packets, with random contents of all PEs; only cluster 0 gets an exe."""
        unit = Unit({"pe.input_buffer": BUFFER, "pe.output_queue": QUEUE, "pe.weight_queue": 16})
        numbers = np.random.default_rng(chance.getrandbits(32))
        made = {
            "weights": lambda: unit.weights(numbers.integers(-3, 4, (4, 6))),
            "activations": lambda: unit.dense(numbers.integers(-3, 4, 8)),
            "psums": lambda: unit.psums(numbers.integers(-99, 99, 16)),
        }
        unit.config_packet(0, *self.lines, clusters=1, activation=1, shift=1)
        operands = [made[kind]() for kind in self.segments]
        out = unit.out(64, "int32")
        unit.exe(0, *operands, out=out, last=self.last, clusters=1)
        unit.space(64)  # which nobody names
        machine = unit.machine()
        state = machine.row.state
        for name in ("activations", "accumulators", "output", "weight_value", "weight_index"):
            field = getattr(state, name)
            field[...] = numbers.integers(0 if "index" in name else -50, 50, field.shape)
        state.bitmask[...] = state.activations != 0
        state.block_loaded[...] = BUFFER // 16
        state.output_written[...] = True
        return machine


def step_of(case: Case, machine: Machine) -> dict[str, Any] | None:
    """The state of the tested instruction in its run; None before and after the run."""
    for run in machine.row.state.runs[0]:
        return next(op for op in run["ops"] if op["place"] == case.at)
    return None


def span(case: Case, chance: random.Random) -> tuple[int, int]:
    """The last cycle in which the instruction waits, and the first after it has ended."""
    machine, first = case.machine(chance), 0
    for cycle in range(1, 500):
        machine.at(cycle)
        step = step_of(case, machine)
        if step is None:
            continue
        if step["state"] == WAITING and step["first"] >= cycle:
            first = cycle  # a segment comes before the load that takes it begins
        elif step["state"] == DONE or (step["state"] == RUNNING and step["end"] < cycle):
            return first, cycle
    raise AssertionError("the instruction does not end")


def stored(changes: Iterable[tuple[str, Change]]) -> set[tuple[str, tuple[int, ...]]]:
    """The changed elements that hold operands or results."""
    found = set()
    for _, change in changes:
        assert change.field in STORE_OF or change.field in WORK, change.field
        if change.field in STORE_OF:
            found.add((change.field, change.at))
    return found


def check(case: Case, seed: int, row: Instruction | None = None) -> None:
    """Run the instruction and compare its changes with `row`, or with its own row."""
    row = row or case.row
    reads, writes = (places(row, case.values, words) for words in (row.reads, row.writes))
    first, last = span(case, random.Random(seed))
    machine = case.machine(random.Random(seed))
    machine.run(until=first)
    before = machine.device.snapshot()
    machine.run(until=last)
    after = machine.device.snapshot()
    changed = stored(machine.device.diff(before))
    assert changed, "the step does nothing"
    for field, at in changed:
        assert covered(place(field, at), writes), f"{row.mnemonic} changes {field}{at}"
        assert STORE_OF[field] == "unit" or at[0] == 0, "a cluster that was not asked"

    # What is neither read nor written may hold anything.
    for field, store in STORE_OF.items():
        if store in ("unit", "register-file"):
            continue  # packets and sequence stand there
        machine.device.restore(before)
        array = getattr(machine.row.state, field)
        free = {
            at for at in np.ndindex(array.shape) if not covered(place(field, at), reads | writes)
        }
        for at in free:
            array[at] = not array[at] if array.dtype == bool else array[at] ^ 5
        machine.run(until=last)
        other = {found for found in stored(machine.device.diff(after)) if found[1] not in free}
        assert not {found for found in other if found[0] != field}, f"{row.mnemonic} reads {field}"


# Behind each stands one more of its kind: what the end of a sequence does is the exe's.
CASES = [
    *(Case(("ld weights", f"mac base={base} acc={acc}", "mac acc=1"), 1, ("weights",), last=0) for base, acc in ((0, 0), (2, 3))),
    Case(("ld weights", "ld psums"), 0, ("weights",), last=0),
    Case(("ld activations base=1", "ld psums"), 0, ("activations",), last=0),
    Case(("ld psums base=2", "ld psums"), 0, ("psums",), last=0),
    Case(("ld psums base=2", "ld psums"), last=0),
    Case(("ld both base=1", "ld psums"), 0, ("weights", "activations"), last=0),
    Case(("spu nonsf src=1 dst=2", "st")),
    Case(("spu activation src=3 dst=5", "st")),
    Case(("spu requantise src=0 dst=15", "st")),
    Case(("st base=4", "st")),
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.lines[case.at]} {len(case.segments)}"
)
def test_a_step_reads_and_writes_what_its_row_says(case: Case) -> None:
    for seed in range(2):
        check(case, seed)


def test_every_row_has_a_case() -> None:
    assert {case.row.mnemonic for case in CASES} == {row.mnemonic for row in INSTRUCTIONS}


def test_every_field_of_the_state_is_a_store_or_work() -> None:
    """Each field of the state holds operands and results, or belongs to control (seed 000 ¶103)."""
    machine = CASES[0].machine(random.Random(0))
    fields = {
        field.name for field in (*machine.row.state.fields, *machine.device.memory.state.fields)
    }
    assert fields <= set(STORE_OF) | WORK


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.lines[case.at]} {len(case.segments)}"
)
def test_a_row_that_says_too_little_is_found(case: Case) -> None:
    with pytest.raises(AssertionError, match=r"^\w+ changes "):
        check(case, 0, replace(case.row, writes=""))
    beside = places(case.row, case.values, case.row.reads) - places(
        case.row, case.values, case.row.writes
    )
    if beside - {("unit", None)}:
        with pytest.raises(AssertionError, match=r"^\w+ reads "):
            check(case, 0, replace(case.row, reads=""))


def test_a_list_may_begin_at_the_first_byte_of_a_unit() -> None:
    """The latest exe may be the first packet in the row's unit: its offset is 0, and -1 means no exe."""
    row = Device(config.load("tiny")).cores["pe[0]"]
    assert row.current() == ("", None)
    row.state.latest = 0
    assert row.current() == ("", UNITS)
