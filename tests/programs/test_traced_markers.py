"""Programs of nnp and fim with markers run alike whether a trace records or not."""

import re
from pathlib import Path

import pytest

import macaw
from macaw import configuration
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.isa.trace import RECORD

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[2] / "programs"
RECORDS = 200
# By the start of the folder's name: the lines after which a record begins, and before which it ends.
MARKED = {
    "nnp": (r"\.core\s+nnp", r"end_chain"),
    "fim": (r"(?:\w+:\s*)?\.block\s", r"end"),
}
SOURCES = sorted(  # not fim_host: cp alone has a program there
    path
    for path in PROGRAMS.glob("*/*.s")
    if path.parent.name[:3] in MARKED
    and re.search(rf"(?m)^\s*{MARKED[path.parent.name[:3]][0]}", path.read_text())
)


def marked(path: Path) -> Program:
    """The program with a marker at the start and at the end of each block, or of its nnp code."""
    begin, end = MARKED[path.parent.name[:3]]
    text = re.sub(rf"(?m)^(\s*{begin}.*)$", r"\1\n trace_begin 0", path.read_text())
    text = re.sub(rf"(?m)^(\s*{end}\s*(#.*)?)$", r" trace_end 0\n\1", text)
    return macaw.assemble(Source(text, str(path), path.parent))


def ended(program: Program, path: Path, recording: bool) -> tuple[object, dict[str, int]]:
    """How the program ended, and the number of records of each core."""
    assert program.device
    own = path.parent / f"{program.device}.toml"
    config = configuration(own if own.exists() else program.device)
    device = Device(config.changed({"trace.recording": recording}))
    device.load(program)
    area = 0x8000_0000 + config["mem.external_bytes"]
    for core in device.order:
        core.write_trace("trace_spill_end", area)
        area -= RECORDS * RECORD.size
        core.write_trace("trace_spill", area)
    stop = device.run(max_cycles=20_000_000)
    device.sync()
    records = {}
    for core in device.order:
        spilled = core.trace.read("trace_next") - core.trace.read("trace_spill")
        records[core.name] = spilled // RECORD.size
    outputs = [device.read_tensor(tensor.name).tolist() for tensor in program.tensors]
    return (stop.cycle, str(stop), device.counters(), outputs), records


@pytest.mark.few(8)
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.parent.name)
def test_markers_take_the_same_cycles_whether_anything_is_recorded(path: Path) -> None:
    program = marked(path)
    (with_it, some), (without, none) = ended(program, path, True), ended(program, path, False)
    assert with_it == without
    assert not any(none.values())
    core = path.parent.name[:3]
    (name,) = [name for name, count in some.items() if count]
    assert name.partition("[")[0] == core
