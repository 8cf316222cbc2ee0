"""Predicted ends of the dma's copies equal docs/memory.md, hand calculations and the emulator."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.isa.fim_islands import geometry, island_address
from macaw.lowering.fim.bank_timing import BankTiming
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, LOCAL, Copy, DmaTiming, Location
from macaw.lowering.fim.job_timing import queue_wait
from tests.lowering.fim.running import BASE, TINY

DATA, SPACE = 1 << 14, 1 << 14  # bytes


def carrier(device):
    return DmaTiming(
        device, {number: BankTiming(device) for number in range(device["fim.islands"])}
    )


@pytest.mark.parametrize("beats", [1, 2, 7, 200])
def test_the_table_of_the_docs(beats):
    """Copies between external and local memory take the cycles of docs/memory.md."""
    there, here = Location(EXTERNAL, "x"), Location(LOCAL, "y")
    assert carrier(BASE).copy(Copy(here, there, 32 * beats), 0) == 4 + 20 + 1 + 1 + (beats - 1)
    assert carrier(BASE).copy(Copy(there, here, 32 * beats), 0) == 4 + 2 + 20 + 1 + (beats - 1)


def test_a_bank_by_hand():
    """A copy of two adjacent rows of a bank, four columns each, takes the calculated cycles."""
    copy = Copy(Location(ISLAND, offset=1024 - 128), Location(EXTERNAL, "x"), 256)
    # The first beat comes at 4 + 20 + 1; its row opens then, the column follows tRCDWR later, the
    # last of four 3 tCCDL later; its data end 8 + 2 later, tWR later the row closes; then tRP,
    # tRCDWR, three columns and the last data. The copy ends in the cycle before they are there.
    first = 25 + 10 + 3 * 4 + 10
    assert carrier(BASE).copy(copy, 0) == first + 16 + 14 + 10 + 3 * 4 + 10


def test_only_what_the_queue_has_no_room_for_holds_cp_up():
    """cp waits only for copies that the dma's queue has no room for.

    The dma here has a divider of 4.
    """
    device = BASE.changed({"dma.divider": 4, "dma.queue": 2})
    copy = Copy(Location(LOCAL, "y"), Location(EXTERNAL, "x"), 32)
    begin = 12
    assert queue_wait(carrier(device).ends([], begin), device) == 0
    assert queue_wait(carrier(device).ends([copy] * 2, begin), device) == 0
    wait = queue_wait(carrier(device).ends([copy] * 3, begin), device)
    assert wait == carrier(device).copy(copy, begin) - begin > 0


def source(copies, device):
    labels = {EXTERNAL: "data", LOCAL: "local"}

    def place(x):
        if x.memory == ISLAND:
            return str(island_address(x.island) + x.offset)
        return f"{labels[x.memory]} + {x.offset}"

    rows = [
        f".word {place(copy.dst)}, {place(copy.src)}, "
        f"{copy.row_bytes}, {copy.rows}, {copy.dst_stride}, {copy.src_stride}"
        for copy in copies
    ]
    return "\n".join(
        (
            f".device {device}", ".core cp", f"_start: la a0, table\nli a1, {len(copies)}",
            "again: dma.copy zero, a0\naddi a0, a0, 24\naddi a1, a1, -1\nbnez a1, again",
            "dma.wait zero\nli a0, 0\nli a7, 93\necall", ".data", "table:", *rows,
            f".balign 64\ndata: .skip {DATA + SPACE}", ".section .data.cp",
            f".balign 64\nlocal: .skip {DATA + SPACE}", "",
        )
    )  # fmt: skip


def some(random, device):
    """A copy between two memories, at most one of them an island's, with any strides."""
    kinds = [(EXTERNAL, LOCAL), (LOCAL, EXTERNAL), (EXTERNAL, ISLAND), (ISLAND, EXTERNAL),
             (LOCAL, ISLAND), (ISLAND, LOCAL)]  # fmt: skip
    kind = kinds[random.integers(len(kinds))]
    size, rows = int(random.choice([2, 8, 30, 32, 200, 1024])), int(random.integers(1, 13))
    places, strides = [], []
    for memory in kind:
        offset = int(random.integers(64)) * int(random.choice([2, 32]))
        stride = size + int(random.choice([0, 2, 32]))
        if memory == ISLAND:
            banks = geometry(device)
            stride = int(random.choice([stride, banks.row_bytes]))
            if rows <= banks.banks and size < banks.row_bytes // 2:
                stride = banks.bank_bytes
            island = int(random.integers(device["fim.islands"]))
            places.append(Location(ISLAND, offset=offset, island=island))
        else:
            places.append(Location(memory, "x", offset))
        strides.append(stride)
    return Copy(places[0], places[1], size, rows, *strides)


@pytest.mark.parametrize(("device", "name"), [(TINY, "tiny"), (BASE, "base")])
@pytest.mark.parametrize("seed", range(6))
def test_copies_as_the_emulator_does_them(seed, device, name, tmp_path):
    random = np.random.default_rng(seed)
    copies = [some(random, device) for _ in range(12)]
    (tmp_path / "p.s").write_text(source(copies, name))
    done = macaw.run(macaw.assemble(tmp_path / "p.s"))
    # cp begins the first in cycle 3; behind the last one it waits and leaves in 4 instructions.
    assert done.cycles == pytest.approx(3 + carrier(device).copies(copies, 0) + 4, abs=1)


def test_cycles_that_models_share_are_bounded(monkeypatch):
    """Models of the same device share the cycles that they have computed, up to a limit."""
    monkeypatch.setattr("macaw.lowering.fim.dma_timing._MOST_SHAPES", 3)
    there, here = Location(EXTERNAL, "x"), Location(LOCAL, "y")
    device = BASE.changed({"dma.setup": 7})
    copies = [Copy(here, there, 32 * beats) for beats in range(1, 9)]
    first = [carrier(device).copy(copy, 0) for copy in copies]
    assert first == [7 + 20 + 1 + 1 + (beats - 1) for beats in range(1, 9)]
    assert [carrier(device).copy(copy, 0) for copy in reversed(copies)] == first[::-1]
    assert len(carrier(device)._alike) <= 3
