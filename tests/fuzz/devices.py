"""Fuzzes devices: settings from a file, a device with them, and a small program on the device."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from random import Random

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.isa import config
from macaw.isa.config import ConfigError
from macaw.isa.model import Setting
from tests.fuzz.target import Example, Target, require, sentence

SOURCE = """
        .core   cp
_start: li      a1, 0x80000000          # a word through external memory
        li      a2, 1234
        sw      a2, 64(a1)
        lw      a3, 64(a1)
        bne     a2, a3, wrong
        li      a0, 0
        j       end
wrong:  li      a0, 1
end:    li      a7, 93
        ecall
"""
SECONDS = 10.0  # of processor time for an example
PEAK, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")
MOST_BYTES = 1 << 30  # of memory that is really used, at any time
MOST_CYCLES = 200_000


def make(rng: Random) -> Example[str]:
    """Some settings, mostly legal, often near their bounds."""
    settings = config.settings()
    lines = []
    for name in rng.sample(list(settings), rng.choice((1, 2, 3, 5, 10, 30, len(settings)))):
        lines.append(f"{name} = {_value(rng, settings[name])}")
    return Example("\n".join(lines) + "\n", "")


def _value(rng: Random, row: Setting) -> str:
    if rng.random() < 0.002:
        return rng.choice(("-1", "0", "1e999", "''", "[]", "99999999999", "true", "'int8'"))
    if isinstance(row.default, bool):
        return rng.choice(("true", "false"))
    if isinstance(row.default, str):
        if row.several:
            words = rng.sample(row.choices, rng.randrange(len(row.choices) + 1))
            return repr(" ".join(words))
        return repr(rng.choice(row.choices))
    low, high = int(row.low or 0), int(row.high if row.high is not None else 1 << 20)
    near = int(row.default)
    step = row.step if isinstance(row.default, int) else 1
    value = rng.choice(
        (
            low,
            high,
            near,
            2 * near,
            rng.randint(low, high),
            int(low + (high - low) * rng.random() ** 6),
        )
    )
    value = min(high, max(low, value)) // step * step
    return str(value if value >= low else value + step)


def _bytes(name: str) -> int:
    """Return one of the sizes that the kernel keeps for this process, in bytes."""
    return int(re.findall(rf"{name}:\s+(\d+) kB", STATUS.read_text())[0]) << 10


def check(example: Example[str]) -> str:
    """A legal file gives a device that runs; an error names a setting."""
    try:
        found = config.parse(example.data)
    except ConfigError as error:
        for text in error.mistakes:
            sentence(text)
            require(any(name in text for name in config.settings()), "no setting is named", text)
        return "refused"
    try:
        program = assemble([Source(SOURCE, "small.s")], device=found)
    except AssemblyError as error:
        raise AssertionError(f"the device takes no program: {error}") from None
    gc.collect()  # the device before it
    PEAK.write_text("5")  # from now on the peak is this example's
    before = _bytes("VmRSS")  # of the process of the tests, which may have grown
    device = Device(found)
    device.load(program)
    stop = device.run(max_cycles=MOST_CYCLES)
    require(stop.reason == "exit" and stop.exit_code == 0, "the program does not end", str(stop))
    used = _bytes("VmHWM") - before
    require(used <= MOST_BYTES, "too much memory", f"{used:,} bytes")
    return "accepted"


# Memories of the largest devices have 4 GiB of address space, of which a run uses little.
TARGET = Target("device", make, check, memory=8 << 30, seconds=SECONDS)
