"""Sample programs with cp's trace recording all the time and with it switched off: equal but for the records."""

from pathlib import Path

import pytest

import macaw
from emu.device import Device
from isa.trace import MAPPED_PARAMETERS, PARAMETERS, RECORD
from macaw import configuration

PROGRAMS = Path(__file__).parents[2] / "programs"
PAGE = 0x2000_0000
RECORDS = 1000
# The protected digits differ in the order of weights alone: one of the five is enough.
SOURCES = sorted(
    path
    for path in PROGRAMS.glob("*/*.s")
    if path.parent.name != "digits_protected" or path.stem == "net"
)


def ended(path: Path, recording: bool) -> tuple[object, int]:
    """How the program ended, and how many records there are."""
    program = macaw.load(path)
    assert program.device
    own = path.parent / f"{program.device}.toml"
    config = configuration(own if own.exists() else program.device).changed(
        {"trace.recording": recording}
    )
    device = Device(config)
    device.load(program)
    area = 0x8000_0000 + config["mem.external_bytes"] - RECORDS * RECORD.size
    values = {"num": 3, "step": 3, "overhead": 12, "spill": area, "mode": 1,
              "spill_end": area + RECORDS * RECORD.size}  # fmt: skip
    for row in PARAMETERS:
        value = values.get(row.name.removeprefix("trace_"))
        if value is not None:
            device.memory.write_register(PAGE + MAPPED_PARAMETERS + 4 * row.index, 4, value, 0)
    stop = device.run(max_cycles=20_000_000)
    block = device.cores["cp"].trace
    assert block is not None
    records = (block.read("trace_next") - area) // RECORD.size
    device.sync()
    states = {core.name: (core.retired, core.waited) for core in device.order}
    outputs = [device.read_tensor(tensor.name).tolist() for tensor in program.tensors]
    return (stop.cycle, str(stop), states, device.counters(), outputs), records


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_recording_takes_no_cycle(path: Path) -> None:
    (with_it, some), (without, none) = ended(path, True), ended(path, False)
    assert with_it == without
    assert some > 0
    assert none == 0
