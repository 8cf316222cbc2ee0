"""The descriptor of vc, the SIMD core: its names, core number and settings."""

from __future__ import annotations

from macaw.isa.model import CoreDescriptor, Setting

# fmt: off
SETTINGS = (
    Setting("vc.divider",             1, "device cycles to a cycle of vc",                               "cycles", 1,  64),
    Setting("vc.alu_cycles",          1, "from the issue of an instruction to its result",               "cycles", 1,  64),
    Setting("vc.mul_cycles",          3, "from the issue of a multiplication to its result",             "cycles", 1,  64),
    Setting("vc.div_cycles",         20, "from the issue of a division or remainder to its result",      "cycles", 1, 256),
    Setting("vc.vector_cycles",       3, "from the issue of a vector instruction to its result",         "cycles", 1,  64),
    Setting("vc.vector_div_cycles",  12, "from the issue of a vector division, root or exponential to its result", "cycles", 1, 256),
    Setting("vc.pmac_cycles",         4, "from the issue of a pmac to its result",                       "cycles", 1,  64),
    Setting("vc.branch_taken_cycles", 2, "from a taken branch or a jump to the next issue",              "cycles", 1,  64),
    Setting("vc.local_cycles",        2, "from a load of cp's local memory to its result",               "cycles", 1,  64),
    Setting("vc.csr_cycles",          1, "from an access to a control and status register to its result", "cycles", 1,  64),
)
# fmt: on

DESCRIPTOR = CoreDescriptor(
    name="vc",
    title="SIMD core",
    number=2,
    section=".text.vc",
    executable=True,
    base="scalar",
    settings=SETTINGS,
)
