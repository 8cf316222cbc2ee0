"""The tree of causes that say what each cycle of a core went to: work, overhead, waits, idling.

`macaw profile` prints an account: the cycles of each cause. For this, the accountant of a core
(`macaw.emu.accountant`) charges each cycle of each unit of the core to exactly one leaf of the
tree. docs/profile.md shows an account and this table (`make docs` copies the table there).
"""

from __future__ import annotations

from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Cause:
    """A node of the tree of causes. `parent` is the name of the node above; empty for a root."""

    name: str
    parent: str
    meaning: str


# fmt: off
CAUSES = (
    Cause("work",      "",         "an instruction issued, or a unit computed or moved data"),
    Cause("overhead",  "",         "needed, but no work on data"),
    Cause("branches",  "overhead", "cycles after the first one of taken branches and jumps"),
    Cause("long",      "overhead", "cycles after the first one of other instructions that take several"),
    Cause("issue",     "overhead", "instructions that only prepare or control the work of units"),
    Cause("setup",     "overhead", "the setup of a transfer"),
    Cause("fill",      "overhead", "a pipeline was filled or drained"),
    Cause("handover",  "overhead", "PEs handed partial sums over"),
    Cause("narrow",    "overhead", "accesses moved a few bytes each that one wider access could have moved"),
    Cause("rows",      "overhead", "rows of DRAM were opened, closed or refreshed"),
    Cause("operands",  "",         "an operand was not ready"),
    Cause("loads",     "operands", "the operand came from a load"),
    Cause("results",   "operands", "the operand was the result of an earlier operation"),
    Cause("matches",   "operands", "no pair of a weight and an activation was ready"),
    Cause("memory",    "",         "memory had not done an access"),
    Cause("banks",     "memory",   "another access used the bank"),
    Cause("lanes",     "memory",   "one access took several cycles, because its elements need one bank"),
    Cause("channel",   "memory",   "another access, or lane, used the channel of external memory, or of an island"),
    Cause("latency",   "memory",   "the data were under way"),
    Cause("inside",    "",         "another part of the same core had not done its work"),
    Cause("bus",       "inside",   "the bus had not brought the packet or its data"),
    Cause("packets",   "inside",   "the cluster had no packet"),
    Cause("units",     "inside",   "another unit of the core, a buffer or a queue was in use"),
    Cause("order",     "inside",   "earlier steps used the same data"),
    Cause("locks",     "inside",   "another block had a buffer or its lock"),
    Cause("imbalance", "inside",   "the other units had not finished the same step"),
    Cause("others",    "",         "another core had not done its work"),
    Cause("transfers", "others",   "the instruction waited until a transfer ended"),
    Cause("cores",     "others",   "the instruction waited until another core ended its work"),
    Cause("data",      "others",   "another core, or block of the island, had not yet written the data or made room"),
    Cause("idle",      "",         "the unit had no program, list, transfer or block"),
    Cause("before",    "idle",     "before the core's first work"),
    Cause("between",   "idle",     "between work"),
    Cause("tail",      "idle",     "after the core's last work"),
)
# fmt: on
BY_NAME = {cause.name: cause for cause in CAUSES}
