"""The descriptor of cp, the command processor: its names, core number and settings."""

from __future__ import annotations

from macaw.isa.model import CoreDescriptor, Setting

# fmt: off
SETTINGS = (
    Setting("cp.divider",             1, "device cycles to a cycle of cp",      "cycles", 1,  64),
    Setting("cp.alu_cycles",          1, "an instruction with no other setting", "cycles", 1,  64),
    Setting("cp.mul_cycles",          3, "a multiplication",                    "cycles", 1,  64),
    Setting("cp.div_cycles",         20, "a division or remainder",             "cycles", 1, 256),
    Setting("cp.branch_taken_cycles", 2, "a taken branch or a jump",            "cycles", 1,  64),
    Setting("cp.local_cycles",        2, "a load from local memory",            "cycles", 1,  64),
    Setting("cp.csr_cycles",          1, "an access to a control and status register", "cycles", 1, 64),
)
# fmt: on

DESCRIPTOR = CoreDescriptor(
    name="cp",
    title="command processor",
    number=0,
    section=".text.cp",
    executable=True,
    base="scalar",
    settings=SETTINGS,
)
