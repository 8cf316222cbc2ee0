"""Advice for each cause of lost cycles, as one table beside that of the causes
(`macaw.isa.causes`).

A cause without a row gives no advice: it is the work itself, or it follows from other causes.
"""

from __future__ import annotations

from macaw.isa.lazy_dataclass import dataclass

WITH_INSTRUCTION = "instruction"  # that of the instruction itself
WITH_PRODUCERS = "producers"  # that of the instructions that made the operands


@dataclass(frozen=True)
class Advice:
    """A row of the table.

    If somebody follows the advice, the cycles of the cause vanish. For a cause below `others` in
    the tree, the waits for other cores vanish.
    """

    cause: str  # a leaf of the tree
    text: str  # in the imperative, without a full stop
    more: str = ""  # work that vanishes, too: `WITH_INSTRUCTION` or `WITH_PRODUCERS`


# fmt: off
ADVICE = (
    Advice("branches",  "unroll the loop, or let the usual case go on without a jump", WITH_INSTRUCTION),
    Advice("long",      "use a cheaper instruction, such as a shift instead of a division"),
    Advice("issue",     "move what only prepares out of the loop, or let one instruction do more"),
    Advice("fill",      "give the pipeline more at a time, such as all vectors by one chain, or longer steps"),
    Advice("narrow",    "gather what lies side by side: wide registers, long rows of a transfer", WITH_PRODUCERS),
    Advice("rows",      "use all that is needed of a row before another one is opened, and put what is used together into one row"),
    Advice("loads",     "unroll the loop, or load earlier, so that other instructions are between the load and its use"),
    Advice("results",   "put other instructions between the operation and the use of its result, for example by several accumulators"),
    Advice("lanes",     "choose a stride whose elements are in different banks, or keep the elements side by side"),
    Advice("latency",   "keep values in registers or in a nearer memory, and join small accesses or transfers to longer ones"),
    Advice("bus",       "send what several steps use only once, and the next data while the units compute, to another buffer"),
    Advice("packets",   "give each cluster a part of the work"),
    Advice("imbalance", "give the units of a step equal work: order rows by their work, or let units help others"),
    Advice("transfers", "start the transfer earlier, into a second buffer, while the cores use the first one"),
    Advice("data",      "send the next data before the results of the last ones are taken"),
)
# fmt: on
BY_CAUSE = {row.cause: row for row in ADVICE}
