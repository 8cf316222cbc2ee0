"""Whole programs with all traces recording have the same registers and records in both engines."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw
from macaw import configuration
from macaw.asm.program import Program, Tensor
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.pe.fast.row import FastRow
from macaw.isa.trace import RECORD

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[2] / "programs"
RECORDS = 200  # that the area of a core takes
EACH = {"mode": 1, "num": 1, "step": 1, "overhead": 4}
LONG = {"mode": 1, "num": 9, "step": 4, "overhead": 12}  # groups that overlap
SOURCES = {
    "digits_mlp/digits_mlp.s": 1800,  # cycles: the reference engine is slow
    "layer/layer.s": 4000,
    "lowered/conv2d/conv2d.s": 4000,
    "lowered/depthwise/depthwise.s": 4000,
    "lowered/spmm/spmm.s": 4000,
    "profiled/good.s": 3000,
    "six_cores/six_cores.s": 3000,
}


def inputs(folder: Path, tensor: Tensor) -> NDArray[Any]:
    """The tensor of the program's folder, or small numbers from -6 to 6 in turn."""
    path = folder / f"{tensor.name}.npy"
    if path.exists():
        found: NDArray[Any] = np.load(path)
        if found.shape == tensor.shape:
            return found
    count = np.arange(tensor.elements) % 13 - 6
    return count.reshape(tensor.shape).astype(tensor.dtype)


def traced(path: Path, program: Program, engine: str, parameters: dict[str, int]) -> Device:
    """A device with the program and its inputs, all cores of which record."""
    own = path.parent / f"{program.device}.toml"
    device = Device(configuration(own if own.exists() else program.device), engine=engine)
    device.load(program)
    for tensor in program.tensors:
        if tensor.direction == "input":
            device.write_tensor(tensor.name, inputs(path.parent, tensor))
    end = 0x8000_0000 + device.config["mem.external_bytes"]
    for place, core in enumerate(device.order):
        area = end - (place + 1) * RECORDS * RECORD.size
        values = {"spill": area, "spill_end": area + RECORDS * RECORD.size, **parameters}
        for name, value in values.items():
            core.write_trace(f"trace_{name}", value)
    return device


@pytest.mark.few(5)
@pytest.mark.parametrize("parameters", [EACH, LONG], ids=["each", "long"])
@pytest.mark.parametrize("name", SOURCES)
def test_both_engines_record_the_same(name: str, parameters: dict[str, int]) -> None:
    path, cycles = PROGRAMS / name, SOURCES[name]
    program = macaw.load(path)
    fast, reference = (traced(path, program, engine, parameters) for engine in ENGINES)
    for _ in range(2):  # in the middle of records, and later or at the end
        stops = [device.run(max_cycles=cycles // 2) for device in (fast, reference)]
        assert str(stops[0]) == str(stops[1])
        assert not fast.diff(reference.snapshot())
    rows = [core for core in fast.order if isinstance(core, FastRow) and core.start_count]
    assert rows
    recorded = [row.trace.read("trace_next") > row.trace.read("trace_spill") for row in rows]
    assert all(recorded) or parameters is LONG


def test_clusters_that_go_on_as_one_record_the_same() -> None:
    """Clusters that the fast engine runs as one group record what the reference's clusters do.

    The program is a lowered product whose weights stay in the PEs.
    """
    rng = np.random.default_rng(1)
    weights = rng.integers(-3, 4, (16, 40)).astype(np.int8)
    found = macaw.lower("spmm", weights, rows=24, device="tiny", mapping="weight", split="e")
    program = found.assemble()
    pair = [traced(PROGRAMS, program, engine, EACH) for engine in ENGINES]
    stops = [device.run(max_cycles=100_000) for device in pair]
    assert str(stops[0]) == str(stops[1])
    assert stops[0].reason == "exit"
    fast, reference = pair
    assert not fast.diff(reference.snapshot())
    rows = [core for core in fast.order if isinstance(core, FastRow)]
    assert sum(row.controls.groups for row in rows) > 3
    assert not any(row.controls.splits for row in rows)
    spilled = [row.trace.read("trace_next") - row.trace.read("trace_spill") for row in rows]
    assert all(spilled)
