"""A device with a vc (and toy cores, if the test asks for them), and single instructions for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import macaw.emu.vector
from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.emu.device import Builder, Device
from macaw.emu.vector.interpreter import VectorInterpreter
from macaw.isa import vector
from macaw.isa.codec import encode
from macaw.isa.memory_map import EXTERNAL
from tests.emu.toys import make

TEXT = EXTERNAL
COSTS = {setting.name: setting.default for setting in vector.CORE.settings}
ROWS = vector.CORE.by_mnemonic


def code(source: str) -> bytes:
    """The bytes of a vc part that begins at `TEXT`."""
    program = assemble(Source(".core vc\n" + source, "vc.s"))
    return program.section(".text.vc").data


def words(*lines: tuple[str, Mapping[str, int]]) -> bytes:
    """The bytes of instructions, given by mnemonic and field values."""
    return b"".join(encode(ROWS[name], values).to_bytes(4, "little") for name, values in lines)


def machine(
    source: str | bytes, *others: Builder, data: tuple[tuple[int, bytes], ...] = (), **changes: Any
) -> Device:
    """A device whose vc begins at `TEXT`; `changes` are settings, with `__` instead of the dot."""
    settings = {name.replace(".", "__"): value for name, value in COSTS.items()}
    device = make(macaw.emu.vector.build, *others, **(settings | changes))
    device.memory.poke(TEXT, code(source) if isinstance(source, str) else source)
    for address, content in data:
        device.memory.poke(address, content)
    processor(device).start(TEXT, 0)
    return device


def processor(device: Device) -> VectorInterpreter:
    found = device.cores["vc"]
    assert isinstance(found, VectorInterpreter)
    return found


class Bench:
    """A vc on which a test executes single instructions."""

    def __init__(self) -> None:
        self.device = machine(b"")
        self.core = processor(self.device)

    def vector(self, number: int, data: bytes) -> None:
        """Set a vector register."""
        self.core.vr[number] = np.frombuffer(data, np.uint8)

    def do(self, mnemonic: str, **values: int) -> None:
        """Execute one instruction; raise its `Fault` if it has one."""
        self.device.memory.poke(TEXT, words((mnemonic, values)))
        self.core.start(TEXT, self.core.time if self.core.running else self.device.cycle)
        stop = self.device.step_core("vc")
        if stop.fault is not None:
            self.device.stopped = None
            raise stop.fault
        assert stop.reason == "step", stop

    def result(self, number: int) -> bytes:
        """The bytes of a vector register."""
        return self.core.vr[number].tobytes()
