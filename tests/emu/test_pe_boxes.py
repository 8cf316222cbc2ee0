"""The boxes of Fig. 5a and 5b show their contents during a balanced mac."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from macaw.emu.pe.block_diagram import BOXES, BY_NUMBER
from macaw.isa.pe import ACTIVATIONS
from tests.emu.pe_builder import Machine, Unit, machine_of_product

GOLDEN = Path(__file__).with_name("pe_boxes.txt")


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


WEIGHTS = np.array([[0, 0, 3, 0], [1, 2, -3, 4], [5, 0, 0, 6], [0, 7, 0, 0]])
X = np.array([10, -20, 30, 40])


def two_results() -> Machine:
    """A row of two clusters of two PEs: a balanced mac, its sums chained, then a separate spu."""
    unit = Unit({"pe.clusters": 2, "pe.pes": 2})
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=1 balance sfu", "spu activation src=9 dst=1",
        "mac base=0 acc=0", "spu nonsf src=0 dst=2", "spu activation src=2 dst=3", "st base=1",
        activation=ACTIVATIONS.index("relu"), shift=1,
    )  # fmt: skip
    out = unit.out(64, "int32")
    unit.exe(0, unit.weights(WEIGHTS), unit.dense(X), last=1, out=out)
    return unit.machine()


def shown(value: Any) -> str:
    """A value as text. Of an array, the elements that are not 0, with their indices."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return str(
        {
            at[0] if len(at) == 1 else at: value[at].item()
            for at in map(tuple, np.argwhere(value).tolist())
        }
    )


def changes(machine: Machine, cycles: int) -> Iterator[str]:
    """The contents of each box in the cycles in which they change."""
    before: dict[tuple[int, int, str, str], str] = {}
    for cycle in range(cycles):
        machine.at(cycle)
        for cluster in range(2):
            for pe in range(2):
                for box in BOXES:
                    for name, value in box.look(machine.row.context, cluster, pe).items():
                        key, text = (cluster, pe, box.number, name), shown(value)
                        if text != before.get(key):
                            before[key] = text
                            yield f"{cycle} [{cluster},{pe}] {box.number} {name}: {text}"


def test_boxes_are_those_recorded_in_each_cycle() -> None:
    """`pe_boxes.txt` has the contents of all boxes; `MACAW_GOLDENS=write` writes it."""
    text = "\n".join(changes(two_results(), 50)) + "\n"
    if os.environ.get("MACAW_GOLDENS") == "write":
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_multipliers_see_the_weights_and_activations_of_their_loads() -> None:
    """Each product is that of the matrix and the vector, also for loads of the neighbour."""
    machine, products = two_results(), 0
    for cycle in range(50):
        machine.at(cycle)
        for cluster in range(2):
            for pe in range(2):
                look = {x.number: x.look(machine.row.context, cluster, pe) for x in BOXES}
                loads = look["519"]["loads"]
                if not loads:
                    assert look["511"] == {"activation": None}
                    assert look["5066"] == {"product": None}
                    continue
                row = 2 * cluster + pe + loads[0]["given"]
                index = loads[0]["index"]
                assert look["511"] == {"activation": X[index]}
                assert look["5066"] == {"product": WEIGHTS[row, index] * X[index]}
                assert look["506"]["helper"] == loads[0]["given"]
                products += 1
    assert products == 2 * np.count_nonzero(WEIGHTS)
