"""Whole devices (cp, dma, four rows) have the same cycles and state in both engines."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from macaw import api, execution
from macaw.emu.engines import ENGINES
from tests.fuzzing import tries
from tests.macaw.conftest import ROOT, Macaw
from tests.macaw.digits import digits_devices

pytestmark = pytest.mark.once


def test_digits_at_random_cycles() -> None:
    fast, reference = digits_devices()
    pick = random.Random(1)
    cycle = 0
    for _ in range(tries(25)):
        cycle += pick.choice([1, 2, 7, 40, 150])
        stops = [device.run(until=cycle) for device in (fast, reference)]
        assert stops[0].reason == stops[1].reason == "cycle limit"
        assert not fast.diff(reference.snapshot())
        assert fast.hash() == reference.hash()
    name = pick.choice([name for name in fast.cores if name.startswith("pe")])
    for core in (name, "cp") * tries(6):
        stops = [device.step_core(core) for device in (fast, reference)]
        assert stops[0] == stops[1]
        assert fast.hash() == reference.hash()


@pytest.mark.parametrize("name", ["layer", "own_cp"])
def test_programs_to_their_end(name: str) -> None:
    folder = ROOT / "programs" / name
    program = api.load(str(folder / f"{name}.s"))
    x = np.load(folder / "x.npy")
    fast, reference = (
        execution.run(program, {program.inputs[0].name: x}, engine=engine) for engine in ENGINES
    )
    assert fast.cycles == reference.cycles
    assert fast.counters == reference.counters
    assert fast.device.hash() == reference.device.hash()
    for output in program.outputs:
        np.testing.assert_array_equal(fast.outputs[output.name], reference.outputs[output.name])


def test_run_takes_an_engine(macaw: Macaw, layer: Path) -> None:
    runs = [macaw("run", layer, "-i", "x=x.npy", "--json", "--engine", name) for name in ENGINES]
    assert json.loads(runs[0].stdout) == json.loads(runs[1].stdout)
    done = macaw("run", layer, "--engine", "quick")
    assert done.returncode == 2
    assert "no engine is called 'quick', there are fast, reference" in done.stderr
