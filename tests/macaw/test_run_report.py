"""The results of a run as plain data: registers by name, and numbers that JSON cannot have."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.emu.faults import Fault, Stop
from macaw.execution import final_registers
from macaw.run_report import json_array, stop_json, waiting_diagnostics

VECTOR = """
        .device tiny
        .core   vc
        la      a1, data
        vld     vr1, (a1)
        li      t0, -2
        li      a0, 0
        li      a7, 93
        ecall
        .balign 16
data:   .byte   1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x80
"""


def test_registers_of_each_core_by_name() -> None:
    run = macaw.run(macaw.assemble(macaw.Source(VECTOR, "v.s")))
    found = final_registers(run.device)
    assert found["vc"]["vr1"] == int.from_bytes(bytes([*range(1, 16), 0x80]), "little")
    assert found["vc"]["vr0"] == 0
    assert (found["vc"]["t0"], found["vc"]["a7"]) == (0xFFFFFFFE, 93)
    changed = final_registers(run.device, changed=True)
    assert changed["vc"] == found["vc"]
    assert set(found) - set(changed) == {"nnp"}  # whose registers have their reset values


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array(2.5), 2.5),
        (np.array(np.nan), "nan"),
        (np.array([[1, np.inf], [-np.inf, 2]], np.float32), [[1, "inf"], ["-inf", 2]]),
        (np.array([[1, -2]], np.int8), [[1, -2]]),
        (np.zeros((2, 0)), [[], []]),
    ],
    ids=str,
)
def test_arrays_as_json(array: np.ndarray, expected: object) -> None:
    assert json.loads(json.dumps(json_array(array), allow_nan=False)) == expected


def test_values_of_a_fault_as_json() -> None:
    values: Any = {"real": float("nan"), "number": np.int32(7), "none": None, "other": (1, 2)}
    fault = Fault("bus error", "nothing is there", values)
    stop = Stop("fault", 5, message="nothing is there", fault=fault)
    record = json.loads(json.dumps(stop_json(stop), allow_nan=False))
    assert record["fault"]["values"] == {
        "real": "nan", "number": 7, "none": None, "other": "(1, 2)",
    }  # fmt: skip
    assert (record["stop"], record["cycle"]) == ("fault", 5)
    assert record["fault"]["place"] is None


WAITING_BLOCKS = """
        .core   cp
        li      a0, 8
        la      a1, blocks
        core.start a0, a1
        li      a0, 256
        core.wait a0
        .core   fim, island=0
blocks: .block  banks=0
          mmr   b0_low, 0x40030000
          mmr   b0_high, 0x40030200
          pull  rop
        end
        .block  banks=1
          pull  gio, 1
        end
"""


def test_a_deadlock_shows_each_line_that_waits() -> None:
    source = macaw.Source(WAITING_BLOCKS, "w.s")
    with pytest.raises(macaw.RunError) as error:
        macaw.run(macaw.assemble(source))
    notes = waiting_diagnostics(error.value, {"w.s": WAITING_BLOCKS})
    assert [(x.severity, x.span.line, x.message) for x in notes] == [
        ("note", 7, "cp waits for core.wait 0x100 since cycle 5"),
        ("note", 12, "fim[0] block 0 waits for a column in buffer 0 (0 are there) since cycle 5"),
        (
            "note", 15, "fim[0] block 1 waits for a column in buffer 1 (no word has set b1_low)"
            " since cycle 3",
        ),
    ]  # fmt: skip
    assert notes[1].source == "          pull  rop"


def test_a_part_that_waits_for_nobody_hides_no_other_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = macaw.Source(WAITING_BLOCKS, "w.s")
    with pytest.raises(macaw.RunError) as error:
        macaw.run(macaw.assemble(source))
    island = error.value.device.cores["fim[0]"]
    stalls = island.stalls()
    monkeypatch.setattr(island, "stalls", lambda: [stalls[0]._replace(on=""), *stalls])
    notes = waiting_diagnostics(error.value, {"w.s": WAITING_BLOCKS})
    assert [note.span.line for note in notes] == [7, 12, 15]


def test_only_a_deadlock_shows_lines_that_wait() -> None:
    with pytest.raises(macaw.RunError) as error:
        macaw.run(macaw.assemble(macaw.Source("        .core cp\n        ebreak\n", "e.s")))
    assert waiting_diagnostics(error.value) == []
