"""The programs of islands compute what NumPy does; their numbers are whole, so sums are exact."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.asm.forms.fim.tiles import untiled
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config
from programs.fim_files import SHAPES, matrices
from tests.programs.fim_programs import outputs_of, run_chain
from tests.programs.scripts import PROGRAMS


def exact(folder):
    return {name: matrix.astype(np.int64) for name, matrix in matrices(folder).items()}


def expected(folder):
    m = exact(folder)
    match folder:
        case "fim_dot" | "fim_outer":
            return {"c": m["a"] @ m["b"]}
        case "fim_tensor":
            return {"ab": m["a"] @ m["b"], "atb": m["a"].T @ m["b"], "abt": m["a"] @ m["b"].T}
        case "fim_elementwise":
            return {"c": m["a"] * m["b"], "d": m["a"] * m["b"] + m["a"]}
        case "fim_chain":
            return {"d": m["a"] @ m["b"] @ m["c"]}
        case "fim_host":
            return {"y": np.maximum(m["a"] @ m["x"][0], 0)}
    return {}


@pytest.mark.parametrize("folder", [name for name in SHAPES if name != "fim_activation"])
@pytest.mark.parametrize("engine", ENGINES)
def test_products(folder, engine):
    """Islands compute matrix, outer and elementwise products like NumPy (seed 004 ¶56-59, ¶64)."""
    found = outputs_of(folder, engine)
    for name, matrix in expected(folder).items():
        data = found[name].astype(np.float16)
        if data.shape != matrix.shape or folder == "fim_elementwise":
            layout = {"fim_outer": "outer", "fim_elementwise": "elementwise"}.get(folder, "tensor")
            raw = untiled(data.tobytes(), matrix.shape, 2, layout, "c", 16)
            data = np.frombuffer(raw, np.float16).reshape(matrix.shape)
        np.testing.assert_array_equal(data.astype(np.int64), matrix, err_msg=name)


TWO = {"fim.ranks": 2, "fim.bank_groups": 1}
DIMM = {"fim.organisation": "dimm"}


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("fim_chain", [1772, 1772, 1766, 1766, 1784]),
        ("fim_gru", [2618, 2626, 2611, 2615, 2674]),
        ("fim_host", [584, 588, 578, 580, 604]),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_organisations_differ_in_time(folder, expected, engine):
    """Cycles of HBM and DIMM, by ranks and chips, are the documented ones (seed 004 ¶45).

    The page is docs/timing-fim.md.
    """
    program = macaw.assemble(PROGRAMS / folder / f"{folder[4:]}.s")
    found = []
    for changes in ({}, TWO, DIMM, DIMM | TWO, DIMM | TWO | {"fim.chip_bits": 8}):
        device = Device(config.load("tiny").changed(changes), engine=engine)
        device.load(program)
        stop = device.run(10_000)
        assert stop.reason == "exit"
        found.append(stop.cycle)
    assert found == expected


def test_files_are_those_of_the_script():
    for folder in SHAPES:
        for name, matrix in matrices(folder).items():
            np.testing.assert_array_equal(np.load(PROGRAMS / folder / f"{name}.npy"), matrix)


def test_a_layer_behind_its_activation():
    """An island computes tanh of a layer's input before its product (seed 004 ¶52)."""
    m = matrices("fim_activation")
    found = outputs_of("fim_activation")["y"]
    wide = np.tanh(m["x"].astype(np.float64)) @ m["w"].astype(np.float64)
    # 64 products of at most 3 and their sums, each rounded to 11 digits.
    np.testing.assert_allclose(found, wide, atol=64 * 3 * 2.0**-11)


# --- producer and consumer ---


@pytest.mark.parametrize("rows", [16, 64])
def test_the_consumer_begins_before_the_producer_ends(rows):
    """A consumer pulls its first row long before the producer ends (seed 004 ¶40-41, ¶48-49)."""
    seen, machine = run_chain(rows, apart=False)
    words = {address: time for time, address in seen}
    table = machine.program
    base = table.section(".fim.0").address
    ends = [a for a in sorted(words) if machine.island.program.word(a).row.mnemonic == "end"]
    first_pull = min(a for a in words if machine.island.program.word(a).row.mnemonic == "pull")
    assert base < ends[0] < first_pull < ends[1]
    begun = min(time for time, address in seen if address == first_pull + 4)  # the pull has its row
    assert begun < words[ends[0]] / (rows // 8)


def test_the_speed_up_grows_to_its_limit():
    """Two circuits at the same time are up to twice as fast as one after the other (seed 004 ¶40).

    The speed-up grows with the rows. It would be 2 if the circuits took equally long for a row.
    """
    speed = []
    for rows in (16, 32, 64):
        together, apart = (
            max(time for time, _ in run_chain(rows, one)[0]) for one in (False, True)
        )
        speed.append(apart / together)
    assert speed == sorted(speed)
    assert 1.7 < speed[0] < speed[-1] < 2
