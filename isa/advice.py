"""What to do about a cause, as one table beside that of the causes (`macaw.isa.causes`).

A cause without a row gives no advice: the work itself, or what follows from other causes.
"""

from __future__ import annotations

from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Advice:
    """A row of the table.

    If the advice is followed, the cycles of the cause vanish; of a cause below `others`, the waits
    do not take place.
    """

    cause: str  # a leaf of the tree
    text: str  # in the imperative, without a full stop
    with_producers: bool = False  # the instructions that made the operands vanish, too


# fmt: off
ADVICE = (
    Advice("loads",     "unroll the loop, or load earlier, so that other instructions are between the load and its use"),
    Advice("results",   "put other instructions between the operation and the use of its result, for example by several accumulators"),
    Advice("lanes",     "choose a stride whose elements are in different banks, or keep the elements side by side"),
    Advice("narrow",    "gather the values in a wide register and store them together", with_producers=True),
    Advice("transfers", "start the transfer earlier, into a second buffer, while the cores use the first one"),
)
# fmt: on
BY_CAUSE = {row.cause: row for row in ADVICE}
