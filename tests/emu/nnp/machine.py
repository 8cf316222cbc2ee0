"""A device with nnp and a toy core that starts nnp; the depths of nnp's pipeline."""

from __future__ import annotations

from typing import Any

import macaw.emu.dma
import macaw.emu.nnp
from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.nnp.core import NnpCore
from macaw.isa import config
from tests.emu.toys import toy

ENTRY = 0x3030_0000
READ, PRODUCT, CROSSBAR, ADD, MULTIPLY, ACTIVATE, SOFTMAX, WRITE = 8, 32, 4, 4, 4, 8, 32, 8
DEPTHS = {"read": READ, "multiplier": PRODUCT, "crossbar": CROSSBAR, "add": ADD,
          "multiply": MULTIPLY, "activation": ACTIVATE, "softmax": SOFTMAX, "write": WRITE}  # fmt: skip
MFU_CROSSBARS = CROSSBAR + CROSSBAR  # both MFUs, no block
EXTERNAL_LATENCY = 20  # of external memory


def nnp_device(source: str, engine: str = ENGINES[0], script: Any = (), **changes: Any) -> Device:
    """A device in which a toy core starts nnp at cycle 0, executes `script`, and waits for nnp."""
    fields = {f"nnp.{name}_depth": cycles for name, cycles in DEPTHS.items()}
    fields |= {name.replace("__", "."): value for name, value in changes.items()}
    configuration = config.load("tiny").changed(fields)
    whole = [("start", 3, ENTRY), *script, ("join", 8), ("exit", 0)]
    device = Device(
        configuration, [toy(0, whole), macaw.emu.dma.build, macaw.emu.nnp.build], engine
    )
    program = assemble([Source(f"\t.device tiny\n\t.core nnp\n{source}", "t.s")])
    device.memory.poke(ENTRY, program.section(".nnp").data)
    return device


def processor_of(device: Device) -> NnpCore:
    found = device.cores["nnp"]
    assert isinstance(found, NnpCore)
    return found
