"""The account of a core as frozen dataclasses: its cycles by cause, and by line of the source.

Cycles are device cycles times units of the core, such as the PEs of a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CauseCycles:
    """A cause of `macaw.isa.causes` with its cycles, and the causes below it in the tree.

    `cycles` includes the cycles of the causes below. For a wait, `whom` has the cycles by what the
    core waited for: another core, a unit, or the instruction whose result it needed. `lines` has
    the cycles by line of the source.
    """

    name: str
    cycles: int  # device cycles, times units of the core
    whom: Mapping[str, int] = field(default_factory=dict)  # cycles by name, the most first
    lines: Mapping[str, int] = field(default_factory=dict)  # cycles by "layer.s:12: statement"
    below: tuple[CauseCycles, ...] = ()  # the one with most cycles first


@dataclass(frozen=True)
class LineCycles:
    """The cycles that a line of the source took on a core.

    `cycles` are device cycles times the units of the core; `causes` divides them by cause. `run`
    are the line's device cycles on the critical path of the run: each cycle of the run belongs to
    one line of one core. `whom` has the cycles of waits by what the core waited for.

    An instruction without a line of the source counts as a line without `file` and `number`.
    `place` is empty for the cycles that belong to no instruction.
    """

    place: str  # "layer.s:12"; without a line of the source "main+0x8" or "0x00010050"
    text: str  # of the line without labels and comment, or the instruction as it is disassembled
    cycles: int  # device cycles, times units of the core
    file: str = ""  # as the program names it
    number: int = 0  # of the line in its file, from 1 on
    run: int = 0  # device cycles on the critical path (`macaw.emu.critical_path`)
    causes: Mapping[str, int] = field(default_factory=dict)  # by leaf of the tree, the most first
    whom: Mapping[str, int] = field(default_factory=dict)  # as in `CauseCycles`


@dataclass(frozen=True)
class Account:
    """Where the cycles of one core went: its cycles by cause, and by line of the source.

    Causes and lines each add up to `cycles` times `units`. The numbers `run` of all lines of all
    cores add up to `cycles`. `row` is the core's row of the timeline.
    """

    core: str
    row: str  # of the timeline
    cycles: int  # of the run
    units: int
    causes: tuple[CauseCycles, ...]  # the roots of the tree, the one with most cycles first
    lines: tuple[LineCycles, ...]  # in the order of the source

    @property
    def total(self) -> int:
        """The cycles of the run, times the units of the core."""
        return self.cycles * self.units

    @property
    def idle(self) -> int:
        """The cycles in which the units of the core had nothing to do."""
        return sum(cause.cycles for cause in self.causes if cause.name == "idle")
