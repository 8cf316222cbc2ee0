"""The table of dma, the transfer engine (box 235 in the figures of seed 000).

The dma executes no program: cp sends it transfers with `dma.copy`. Macaw defines transfers, beats,
buffer and queue where the seeds do not.
"""

from __future__ import annotations

from macaw.isa.descriptors.dma import DESCRIPTOR
from macaw.isa.model import Core, Counter, Event, Fault, Member, Queue, Structure, checked

TRANSFER = Structure(
    "transfer",
    (
        Member(
            "dst",
            "u32",
            "address of the first row's destination; in an on-chip address, bits 27:24 are the"
            " number of further units, after that of the address, that get the same bytes"
            " (multicast)",
        ),
        Member("src", "u32", "address of the first row's source"),
        Member("row_bytes", "u32", "bytes of a row"),
        Member("rows", "u32", "rows"),
        Member("dst_stride", "i32", "bytes from a row's destination to the next one's"),
        Member("src_stride", "i32", "bytes from a row's source to the next one's"),
    ),
    "What dma.copy starts; aligned to 4 bytes, read when dma.copy executes.",
)

QUEUES = (
    Queue("transfers", "dma.queue", "transfers that wait or run", "transfers"),
    Queue("beats", "dma.buffer", "beats that were read and not yet written", "buffer"),
)

COUNTERS = (
    Counter("transfers", "transfers that ended", "transfers"),
    Counter("beats", "beats that were written", "beats"),
    Counter("bytes", "bytes that were written", "bytes"),
    Counter("cycles_busy", "cycles from the start of a transfer to its end", "cycles"),
)

FAULTS = (
    Fault(
        "misaligned access",
        "A transfer's description that is not aligned to 4 bytes; a fault of the core that starts it.",
    ),
    Fault(
        "out-of-range access",
        "A row that does not lie within one memory, or rows of a multicast that do not lie within one half.",
    ),
    Fault("isolation violation", "A beat accesses the half that feeds a running core."),
    Fault("bad mask", "A ticket that was never given; a fault of the core that waits for it."),
    Fault("illegal instruction", "A message to nnp with a word that sets none of its registers."),
    Fault(
        "reserved bit set", "A message to nnp with a word in which a bit that must be zero is set."
    ),
    Fault(
        "broken chain", "A message to nnp that sets a register to a value that no chain can use."
    ),
)

CORE = checked(
    Core(
        **vars(DESCRIPTOR),
        row=1,
        unit="nothing: dma has no compute units, so these registers stay 0",
        instructions=(),
        structures=(TRANSFER,),
        queues=QUEUES,
        counters=COUNTERS,
        faults=FAULTS,
        events=(Event("dma-done", "A transfer has ended.", announced="end"),),
        piece="end",
    )
)
