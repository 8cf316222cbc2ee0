"""The values of those control and status registers that count time and instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol


class Counting(Protocol):
    """The data of a scalar core that determine the values of the registers in this module.

    `time` is in device cycles; one cycle of the core is `divider` device cycles. `retired` counts
    the instructions; `number` is the core's number.
    """

    time: int
    divider: int
    retired: int
    number: int


# By the names of `macaw.isa.scalar.SPECIALS`. They contain the time at the start of an instruction.
VALUES: Mapping[str, Callable[[Counting], int]] = {
    "cycle": lambda core: core.time // core.divider,
    "time": lambda core: core.time // core.divider,
    "instret": lambda core: core.retired,
    "cycleh": lambda core: core.time // core.divider >> 32,
    "timeh": lambda core: core.time // core.divider >> 32,
    "instreth": lambda core: core.retired >> 32,
    "mhartid": lambda core: core.number,
}
