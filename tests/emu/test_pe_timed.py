"""Random packet lists take the cycles of a model written from docs/timing-pe.md."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emu.pe_builder import Unit
from tests.emu.pe_random_lists import CLUSTERS, INPUTS, OUTPUTS, PES, WEIGHTS, random_packet_list
from tests.emu.pe_rows import instruction_starts
from tests.emu.pe_timed import TimedRow
from tests.emu.pe_timed_steps import Sizes

pytestmark = pytest.mark.once


def row_and_unit(seed: int) -> tuple[TimedRow, Unit]:
    """The model of a row with a random list, and the unit with the same list."""
    pick = random.Random(seed).choice
    banks = {"mem.banks": pick([1, 2, 16]), "mem.bank_width": pick([4, 8, 64])}
    made = random_packet_list(seed, banks, most=50)
    config: Any = made.unit.configuration
    latency = max(config["dist.dispatch_latency"], config["mem.onchip_latency"])
    sizes = Sizes(
        clusters=CLUSTERS,
        pes=PES,
        inputs=INPUTS,
        outputs=OUTPUTS,
        weights=WEIGHTS,
        width=config["dist.bus_bytes"],
        design=config["pe.design"],
        queue_1=config["pe.load_queue_1"],
        queue_2=config["pe.load_queue_2"],
        threshold=config["pe.balance_threshold"],
        rate=config["sfu.rate"],
        latency=config["sfu.latency"],
        first=-(-latency // config["pe.divider"]),
        divider=config["pe.divider"],
        banks=config["mem.banks"],
        bank_width=config["mem.bank_width"],
    )
    return TimedRow(sizes, made.packets), made.unit


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1))
def test_random_lists_take_the_cycles_of_the_model(seed: int) -> None:
    timed, unit = row_and_unit(seed)
    cycles = timed.run()
    machine = unit.machine()
    machine.run()
    counters = machine.device.counters()["pe[0]"]
    assert counters["cycles"] == cycles
    assert counters["bus_beats"] == timed.bus_beats
    assert counters["return_beats"] == timed.return_beats
    for cluster in timed.clusters:
        starts = instruction_starts(unit.machine(), cluster.number)
        divider = timed.sizes.divider
        assert [(cycle * divider, name) for cycle, name in cluster.starts] == starts


def test_the_loader_serves_one_buffer_while_it_loads_sums_from_the_queue() -> None:
    """The bus waits for an ld psums of another buffer, also after a segment for that buffer."""
    unit = Unit()
    unit.config_packet(0, "ld psums base=0")
    unit.config_packet(1, "ld psums base=0", "ld activations base=0")
    unit.config_packet(2, "ld activations base=8")
    unit.exe(0, unit.psums(np.ones((8, 1), int)))
    unit.exe(1, unit.dense([1, 2]))
    unit.exe(2, unit.dense([3, 4]))
    # Each config has one beat: 4, 6 and 9; the parser stores an instruction in 5, in 7 and 8, in 10.
    # Exe 0 has 33 bytes: beats 10 and 11. Its ld starts in 10 + 3. Exe 1 has its command in 12, so
    # ld psums loads in 15 to 18. In 15, its four elements of the queue do not keep the bus from the
    # segment of the same buffer: ld activations starts in 16. The segment of exe 2, whose command
    # comes in 16, waits until the loader is free: beat 19, ld 20.
    assert instruction_starts(unit.machine()) == [(13, "ld"), (15, "ld"), (16, "ld"), (20, "ld")]


@pytest.mark.parametrize("cluster", [0, 1])
def test_clusters_see_the_ends_of_steps_in_the_same_cycle(cluster: int) -> None:
    """The bus takes the loader if steps have just ended in all clusters, whichever acts first."""
    unit = Unit()
    unit.config_packet(2, "ld psums base=0")
    unit.config_packet(1, "ld activations base=0", "ld psums base=0")
    unit.config_packet(0, "ld activations base=0")
    unit.exe(2, unit.psums(np.ones((8, 1), int)))
    unit.exe(1, unit.dense([1, 2]))
    unit.exe(0, unit.dense([3, 4]))
    # As above, the configs have their beats in 4, 6 and 9, the first exe in 10 and 11; its ld starts
    # in 13. The second exe has one beat, 12: ld activations starts and ends in 15. The command of
    # the third one comes in 13. Its segment fills the same block, so it waits until 16. In this
    # cycle, ld psums of buffer 1 could start, too, but the bus has the lower buffer: ld in 17. Its
    # last beat is in 16, so ld psums starts in 17.
    starts = instruction_starts(unit.machine(), cluster)
    assert starts == [(13, "ld"), (15, "ld"), (17, "ld"), (17, "ld")]
