"""What a profile stores of an earlier one: its timeline, and the lines whose cycles differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class EarlierTrack:
    """The busy intervals of a core, or of a row of the timeline, in the earlier run."""

    core: str
    row: str
    busy: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class EarlierRun:
    """The timeline of the earlier profile. Its times are counted from the start of that run."""

    program: str
    device: str
    cycles: int
    tracks: tuple[EarlierTrack, ...] = ()


@dataclass(frozen=True)
class LineDifference:
    """The cycles of a line of the source on a core in the earlier profile and in the new one.

    Cycles are device cycles times units of the core, as in `macaw.profiling.account`.
    """

    core: str
    place: str  # "layer.s:12" in the new profile, or in the earlier one if the new one lacks it
    text: str  # of the line, without labels and comment
    before: int | None  # cycles in the earlier profile; None: it has no such line
    after: int | None  # cycles in the new profile; None: it has no such line
    causes: Mapping[str, int] = field(default_factory=dict)  # the change by cause, largest first

    @property
    def change(self) -> int:
        """The cycles of the line in the new profile minus its cycles in the earlier profile."""
        return (self.after or 0) - (self.before or 0)
