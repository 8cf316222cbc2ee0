"""The descriptor of dma, the transfer engine: its names, core number and settings."""

from __future__ import annotations

from macaw.isa.model import CoreDescriptor, Setting

# fmt: off
SETTINGS = (
    Setting("dma.setup",   4,  "from a transfer's start to its first beat", "cycles",    0, 1024),
    Setting("dma.queue",   16, "transfers that wait or run",                "transfers", 1, 256),
    Setting("dma.width",   32, "most bytes of a beat",                   "bytes",     1, 4096),
    Setting("dma.buffer",  64, "beats read ahead of the writes",            "beats",     1, 4096),
    Setting("dma.divider", 1,  "device cycles to a cycle of the engine",    "cycles",    1, 64),
)
# fmt: on

DESCRIPTOR = CoreDescriptor(
    name="dma",
    title="transfer engine",
    number=1,
    section="",
    executable=False,
    settings=SETTINGS,
)
