"""The table rows that all cores share: faults, traffic counters, memory-mapped registers.

The settings of the memory are in `isa/config.py`, the rows of a single core in that core's module.
"""

from __future__ import annotations

from macaw.isa.model import Counter, Event, Fault, SpecialRegister

# fmt: off
FAULTS = (
    Fault("illegal instruction", "A word that is no instruction of the core or is not allowed where it is. Also an access to a control and status register that does not exist or is read-only."),
    Fault("reserved bit set",    "A bit that must be zero is set."),
    Fault("misaligned access",   "An address that is no multiple of the access's size or of the alignment that is required."),
    Fault("out-of-range access", "An address, offset or row outside of its memory or buffer, an address without a register, or a value that a register cannot have."),
    Fault("isolation violation", "A transfer to or from the half of a memory unit that feeds a running row, or a pointer of an island's buffer to memory outside of the island."),
    Fault("bad mask",            "A number, or a bit of a mask, for which there is no core, unit, bank, transfer, operation or register group. Also a core that cannot do what is asked of it."),
)
# fmt: on

# The events on any core for which a debugger can wait.
EVENTS = (
    Event("queue-full", "A queue has become full.", late=True),
    Event("queue-empty", "A queue has become empty.", late=True),
    Event("stall", "A core begins to wait for another one, for memory or for a queue."),
    Event("fault", "A program did something that the machine refuses; the run stops."),
    Event("nan", "A register of real numbers has become NaN.", late=True),
    Event(
        "saturate",
        "A register of whole numbers has reached the least or the greatest number of its type.",
        late=True,
    ),
)

# The ways in which a run ends without a fault.
STOPS = (
    Fault("exit", "The program ended itself: an ecall of cp with a7 = 93; a0 is the exit code."),
    Fault(
        "deadlock",
        "Every running core waits for something that can no longer happen. The message says which"
        " core waits for what, and since when.",
    ),
    Fault("cycle limit", "The run has not ended within the cycles of --max-cycles."),
    Fault("breakpoint", "A core met ebreak."),
)

# A core's ports count these (seed 001's event registers E_RD to E_XWR_PARTIAL).
TRAFFIC = (
    Counter("reads", "reads of on-chip memory that were granted", "accesses"),
    Counter("reads_blocked", "cycles in which a read lost a bank to another requester", "cycles"),
    Counter("writes", "writes of on-chip memory that were granted", "accesses"),
    Counter("writes_blocked", "cycles in which a write lost a bank to another requester", "cycles"),
    Counter("external_reads", "beats that external memory delivered", "beats"),
    Counter("external_writes", "beats that external memory took", "beats"),
    Counter("external_partial", "beats of writes that are narrower than external memory", "beats"),
    Counter("external_blocked", "cycles of waiting for the channel of external memory", "cycles"),
)

# The registers of each core, at 0x2000_0000 + core number << 12. Addresses are offsets from there.
REGISTERS = (
    SpecialRegister("id", 0, "ro", "the core's number"),
    SpecialRegister("status", 4, "ro", "bit 0: the core runs; bit 1: it waits"),
    SpecialRegister("next", 8, "ro", "address of the next instruction, 0 if there is none"),
    SpecialRegister("cycles", 12, "ro", "cycles of the core's clock since reset, low half"),
    SpecialRegister("cyclesh", 16, "ro", "cycles of the core's clock since reset, high half"),
)
