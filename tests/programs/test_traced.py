"""Sample programs run in the same way with all traces recording as with tracing off.

Only the records differ.
"""

from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw import configuration, golden_description
from macaw.emu.device import Device
from macaw.isa.trace import RECORD

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[2] / "programs"
RECORDS = 400  # that the area of a core takes
AUTO = {"mode": 1, "num": 3, "step": 3, "overhead": 12}
# The protected digits differ in the order of weights alone: one of the five is enough.
SOURCES = sorted(
    path
    for path in (*PROGRAMS.glob("*/*.s"), *PROGRAMS.glob("lowered/*/*.s"))
    if path.parent.name != "digits_protected" or path.stem == "net"
)


def inputs(path: Path) -> dict[str, np.ndarray]:
    """The inputs of the program's golden test, by tensor; {} if it has no such test."""
    if not (path.parent / golden_description.DESCRIPTION_FILE).exists():
        return {}
    found = golden_description.read_description(path.parent)
    return {name: np.load(x) for name, x in found.inputs.items()} if path in found.sources else {}


def ended(path: Path, recording: bool) -> tuple[object, dict[str, int]]:
    """How the program ended, and the number of records of each core."""
    program = macaw.load(path)
    assert program.device
    own = path.parent / f"{program.device}.toml"
    config = configuration(own if own.exists() else program.device).changed(
        {"trace.recording": recording}
    )
    device = Device(config)
    device.load(program)
    for name, values in inputs(path).items():
        shape = next(x.shape for x in program.tensors if x.name == name)
        device.write_tensor(name, values if values.shape == tuple(shape) else values[0])
    end = 0x8000_0000 + config["mem.external_bytes"]
    for place, core in enumerate(device.order):
        area = end - (place + 1) * RECORDS * RECORD.size
        parameters = {"spill": area, "spill_end": area + RECORDS * RECORD.size, **AUTO}
        for name, value in parameters.items():
            core.write_trace(f"trace_{name}", value)
    stop = device.run(max_cycles=20_000_000)
    device.sync()
    records = {core.name: _records(core.trace.read) for core in device.order}
    # A core without a unit in its table records nothing.
    silent = [core.name for core in device.order if not core.start_count or not core.table.unit]
    assert [name for name in silent if records[name]] == []
    assert not recording or [name for name, count in records.items() if not count] == silent
    states = {core.name: (core.retired, core.waited) for core in device.order}
    outputs = [device.read_tensor(tensor.name).tolist() for tensor in program.tensors]
    return (stop.cycle, str(stop), states, device.counters(), outputs), records


def _records(read: object) -> int:
    assert callable(read)
    spilled = (read("trace_next") - read("trace_spill")) // RECORD.size
    return int(spilled + read("trace_lost"))


# What takes 5 to 15 seconds; digits_mlp has the same cores and kinds of work.
LONG = ("digits_cnn", "digits_protected")


@pytest.mark.few(8)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.long] if path.parent.name in LONG else [])
        for path in SOURCES
    ],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_recording_takes_no_cycle(path: Path) -> None:
    """A program ends in the same cycle and state with recording and without (seed 001 ¶47)."""
    (with_it, some), (without, none) = ended(path, True), ended(path, False)
    assert with_it == without
    assert some["cp"] > 0
    assert not any(none.values())
