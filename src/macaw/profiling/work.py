"""The operations and bytes of the cores in a run, as frozen dataclasses: rooflines, memory chart.

`macaw.profiling.measuring` makes these objects. Peaks are per device cycle and follow from the
device file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """A memory that a core used: the bytes that the core moved, and the memory's peak bandwidth."""

    memory: str  # "external", "on-chip", "local", "banks"
    bytes: int
    peak: float  # bytes a cycle

    def intensity(self, operations: int) -> float:
        """Return the operations for each moved byte, if the core did `operations` in all."""
        return operations / self.bytes


@dataclass(frozen=True)
class Roof:
    """The roofline of a core: the operations that the core did, its peak, and its memories.

    `row` is the core's row of the timeline, `cycles` is the length of the run.
    """

    core: str
    row: str  # of the timeline
    operations: int
    cycles: int  # of the run
    peak: float  # operations a cycle
    levels: tuple[Level, ...] = ()  # at least one, unless the core used no memory

    @property
    def rate(self) -> float:
        """The operations of the core for each cycle of the run."""
        return self.operations / self.cycles if self.cycles else 0.0

    def ceiling(self, level: Level) -> float:
        """Return the operations in each cycle that the peaks of the core and of a memory allow."""
        return min(self.peak, level.intensity(self.operations) * level.peak)

    @property
    def lowest(self) -> Level | None:
        """The memory that limits the core most: the one with the lowest `ceiling`.

        The result is None if the core used no memory.
        """
        return min(self.levels, key=self.ceiling, default=None)


@dataclass(frozen=True)
class Link:
    """A part of the path between memories and cores, the bytes that passed it, and its peak.

    For a unit of on-chip memory, `most` is the share of cycles in which its busiest bank served a
    word.
    """

    part: str  # "channel", "dma", "units", "banks", "islands"
    name: str  # "read by dma", "unit 0"
    bytes: int
    peak: float  # bytes a cycle
    most: float = 0.0  # of a unit's banks: the share of cycles in which the busiest served a word

    def share(self, cycles: int) -> float:
        """Return the bytes as a share of what the peak allows in `cycles` cycles."""
        return self.bytes / (self.peak * cycles) if cycles and self.peak else 0.0


@dataclass(frozen=True)
class RowHits:
    """How many accesses a core made to its DRAM, and how often it had to open a row for them.

    Each access is to one column of a row. An access that needed no opening found its row open.
    """

    core: str
    columns: int  # accesses to columns
    rows: int  # rows that were opened for them

    @property
    def share(self) -> float:
        """The share of the accesses that found their row open, from 0 to 1."""
        return max(0.0, 1 - self.rows / self.columns) if self.columns else 0.0


@dataclass(frozen=True)
class MemoryChart:
    """The bytes of a run between external memory, channel, dma, units, banks and islands."""

    cycles: int  # of the run
    links: tuple[Link, ...]
    rows: tuple[RowHits, ...] = ()  # of the cores with DRAM


@dataclass(frozen=True)
class Work:
    """The rooflines of all cores that did operations, and the chart of memories."""

    roofs: tuple[Roof, ...]
    memory: MemoryChart
