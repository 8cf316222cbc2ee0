"""The boxes of Fig. 5a and 5b show their contents during a balanced mac."""

from __future__ import annotations

from typing import Any

from macaw.emu.pe.block_diagram import BOXES, BY_NUMBER
from tests.emu.pe_builder import Machine, machine_of_product


def look(machine: Machine, cycle: int, number: str, pe: int) -> dict[str, Any]:
    """The contents of a box of a PE of cluster 0 after `cycle`."""
    machine.at(cycle + 1)
    return dict(BY_NUMBER[number].look(machine.row.context, 0, pe))


def test_every_box_of_the_figures_is_there() -> None:
    """Each box of the figures exists (seed 000 ¶89)."""
    numbers = [box.number for box in BOXES]
    assert numbers == sorted(numbers)
    seed = "501 502 503 504 505 506 508 509 510 511 513 514 515 516 517 518 519 520"
    assert set(seed.split()) <= set(numbers)


def test_boxes_of_a_balanced_mac() -> None:
    """The boxes show each cycle of the mac of test_pe_balancing (seed 000 ¶89, ¶95, ¶101).

    PE 1 has weights 1 to 6 and gives the second and the fifth to PE 0.
    """
    weights = [[0] * 6, [1, 2, 3, 4, 5, 6]]
    machine = machine_of_product(weights, [10, 20, 30, 40, 50, 60], True)
    assert look(machine, 11, "518", 1)["loads"] == [
        {"place": 0, "index": 0, "given": False},
        {"place": 1, "index": 1, "given": False},
    ]
    assert look(machine, 11, "503", 1)["entries"] == [
        {"index": n, "value": n + 1} for n in range(6)
    ]
    assert look(machine, 12, "505", 1) == {"left": 2, "next": 4, "base": 0, "limit": 6}
    assert look(machine, 12, "518", 0)["loads"] == [{"place": 1, "index": 1, "given": True}]
    assert look(machine, 12, "511", 1) == {"activation": 10}
    assert look(machine, 12, "5066", 1) == {"product": 10}
    assert look(machine, 12, "517", 1) == {"at work": True, "given": 1}
    # The given load meets the owner's weight 2 and activation 20, in PE 0's MAC.
    assert look(machine, 13, "519", 0)["loads"] == [{"place": 1, "index": 1, "given": True}]
    assert look(machine, 13, "5066", 0) == {"product": 40}
    assert look(machine, 13, "506", 0) == {"accumulator": 1, "helper": True}
    assert look(machine, 14, "5063", 0) == {"own": [0] * 4, "helpers": [0, 40, 0, 0]}
    # Handing over comes in 17: 910 - 290 by PE 1 itself.
    assert look(machine, 16, "516", 1) == {"to": "520 of the left neighbour"}
    assert look(machine, 16, "520", 0) == {"sum": 620}
    assert look(machine, 17, "520", 0) == {"sum": None}
    assert look(machine, 17, "5063", 1)["own"] == [0, 910, 0, 0]


def test_every_box_can_be_looked_at_in_every_cycle() -> None:
    machine = machine_of_product([[1] * 6, [2] * 6], [1] * 6, True)
    for cycle in range(3, 25):
        machine.at(cycle)
        for box in BOXES:
            for pe in range(2):
                assert box.look(machine.row.context, 0, pe)
