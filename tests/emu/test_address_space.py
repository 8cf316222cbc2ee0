"""A deleted device frees its address space; registers are mapped at their addresses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config

ROOT = Path(__file__).parents[2]
LIMIT = 4_000_000 << 10  # bytes: `ulimit -v 4000000`


def said(script: str, limit: int = LIMIT) -> str:
    """The output of a script in a process with `limit` bytes of address space."""
    head = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    done = subprocess.run(
        [sys.executable, "-c", head + script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_fifty_devices_one_after_the_other_fit_into_a_bounded_process() -> None:
    script = """
from macaw import Device, configuration
from macaw.emu.pages import ADDRESS_BUDGET
config, most = configuration("base"), 0
for _ in range(50):
    device = Device(config)
    most = max(most, ADDRESS_BUDGET.bytes)
size = open("/proc/self/statm").read().split()[0]
print(most, int(size) * 4096)
"""
    most, process = map(int, said(script).split())
    assert most <= 2 << 30  # 50 of them have 9.6 GB
    assert process < LIMIT


def test_a_device_gives_its_memories_back() -> None:
    script = """
import gc
from macaw import Device, configuration
from macaw.emu.pages import ADDRESS_BUDGET
device = Device(configuration("base"))
assert ADDRESS_BUDGET.bytes > 100 << 20
del device
gc.collect()
print(ADDRESS_BUDGET.bytes)
"""
    assert said(script) == "0\n"


def test_devices_that_live_are_too_many_in_one_sentence() -> None:
    script = """
from macaw import Device, MacawError, configuration
devices = []
try:
    for _ in range(50):
        devices.append(Device(configuration("base")))
except MacawError as error:
    print(type(error).__name__, error)
devices.clear()
Device(configuration("base"))
"""
    text = said(script, 2 << 30)
    assert text.startswith("DeviceError no address space for a memory of ")
    assert text.count("\n") == 1
    assert text.strip().endswith("bytes in this process")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_core_reads_its_mapped_registers(engine):
    """A core reads id, status, next, cycles and cyclesh at 0x2000_0000 (docs/isa/device.md).

    During an instruction, `next` is the address of this instruction.
    """
    text = """
        .core cp
_start: li   t0, 0x20000000
        lw   a0, 0(t0)
        lw   a1, 4(t0)
here:   lw   a2, 8(t0)
        lw   a3, 12(t0)
        lw   a4, 12(t0)
        lw   a5, 16(t0)
        ebreak
"""
    device = Device(config.load("tiny"), engine=engine)
    program = assemble(Source(text, "p.s"), device=config.load("tiny"))
    device.load(program)
    assert device.run(max_cycles=1000).reason == "breakpoint"
    x = device.cores["cp"].state.x
    assert (x[10], x[11], x[12], x[15]) == (0, 1, program.symbol("here").value, 0)
    assert 0 < x[13] < x[14] <= device.cycle
