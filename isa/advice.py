"""Advice for causes of lost cycles, as one table. `macaw.isa.causes` has the table of the causes.

`WITHOUT_ADVICE` has the causes without advice, with the reasons. Each core has an accountant, which
charges the core's cycles to causes (`macaw.emu.accountant.Accountant`). The advice for a cause
applies to a core only if the attribute `mendable` of its accountant lists the cause. For each
advice and each core to which it applies, two programs in `tests/macaw/profile/pairs` show the
effect: one ignores the advice, the other follows it.
"""

from __future__ import annotations

from macaw.isa.lazy_dataclass import dataclass

WITH_INSTRUCTION = "instruction"  # the work of the instruction itself
# Which cycles of a cause remain if a program follows its advice.
FIRST = "first"  # the cycles of one access or transfer among several, or of one before a loop
SHORT = "short"  # as FIRST, and the cycles of each access beyond the 75th percentile
OPENING = "opening"  # the cycles before the first work of a packet list
UNEVEN = "uneven"  # the imbalance that remains if the rows of a matrix are sorted by their work
RUN = "run"  # what a run of the program takes in which the instructions take no cycles


@dataclass(frozen=True)
class Advice:
    """A row of the table of advice.

    `text` is the advice, `cause` the cause of lost cycles that the advice removes. If a program
    follows the advice, the cycles of the cause vanish, except those that `stays` names; the cycles
    that `more` names vanish, too.
    """

    cause: str  # a leaf of the tree
    text: str  # in the imperative, without a full stop
    more: str = ""  # work that vanishes, too: `WITH_INSTRUCTION`
    stays: str = ""  # the cycles that remain: a name above; empty: none


# fmt: off
ADVICE = (
    Advice("branches",  "unroll the loop, or let the usual case go on without a jump", WITH_INSTRUCTION),
    Advice("long",      "use a cheaper instruction, such as a shift instead of a division"),
    Advice("issue",     "move what only prepares out of the loop, or let one instruction do more", stays=RUN),
    Advice("fill",      "let one chain take all vectors, and put chains whose operands are known before those that wait for results"),
    Advice("narrow",    "gather what lies side by side: wide registers, long rows of a transfer"),
    Advice("rows",      "use all that is needed of a row before another one is opened, and put what is used together into one row", stays=FIRST),
    Advice("loads",     "unroll the loop, or load earlier, so that other instructions are between the load and its use", stays=FIRST),
    Advice("results",   "put other instructions between the operation and the use of its result, for example by several accumulators"),
    Advice("lanes",     "choose a stride whose elements are in different banks, or keep the elements side by side"),
    Advice("latency",   "keep values in registers or in a nearer memory, and join small accesses or transfers to longer ones", stays=SHORT),
    Advice("bus",       "send what several steps use only once, and the next data while the units compute, to another buffer", stays=OPENING),
    Advice("packets",   "give each cluster a part of the work", stays=OPENING),
    Advice("imbalance", "give the units of a step equal work: order rows by their work, or let units help others", stays=UNEVEN),
    Advice("transfers", "start the transfer earlier, into a second buffer, while the cores use the first one"),
    Advice("data",      "send the next data before the results of the last ones are taken"),
)
# fmt: on
BY_CAUSE = {row.cause: row for row in ADVICE}

# The causes without advice, with the reasons.
WITHOUT_ADVICE = {
    "work": "the program needs it",
    "setup": "each transfer takes it; `latency` says where transfers can be joined",
    "handover": "the mapping asks for it: several PEs compute one sum",
    "matches": "it depends on where the zeros of the data are",
    "banks": "it depends on what others do at the same time; the threshold `blocked` names the place",
    "channel": "all bytes have to pass the channel, in any order",
    "units": "the unit does work that the program needs; the account names the unit",
    "order": "the data did not exist before",
    "locks": "another block works with the buffer",
    "cores": "it is work of other cores, and these have findings of their own",
    "before": "it follows from the work of other cores",
    "between": "it follows from the work of other cores",
    "tail": "it follows from the work of other cores",
}
