"""The estimated energy of a run as frozen dataclasses.

`macaw.profiling.energy_estimate` makes these objects. All energies are in picojoules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ActivityEnergy:
    """The energy of an activity of `macaw.isa.activities`, which occurred `count` times.

    `each` is the energy of one occurrence, `source` says where this number comes from.
    """

    name: str
    count: int
    each: float
    source: str  # of the number `each`

    @property
    def energy(self) -> float:
        """The energy of all occurrences: `count` times `each`."""
        return self.count * self.each


@dataclass(frozen=True)
class LineEnergy:
    """The energy of a line of the source, in all (`energy`) and by activity.

    `place` is empty for energy that belongs to no line.
    """

    place: str  # "layer.s:12"
    text: str  # of the line, without labels and comment
    energy: float
    activities: Mapping[str, float] = field(default_factory=dict)  # and "static"; the most first


@dataclass(frozen=True)
class CoreEnergy:
    """The energy of a core: by kind of activity, by cause of its cycles, and by line of the source.

    Kinds and lines each add up to `energy`.
    """

    core: str
    row: str  # of the timeline
    energy: float
    kinds: Mapping[str, float]  # by kind of activity, and "static"
    # by root of `macaw.isa.causes`, if the table has static energy: "work" has all other energy
    causes: Mapping[str, float]
    lines: tuple[LineEnergy, ...]  # the one with most energy first


@dataclass(frozen=True)
class Energy:
    """The energy of a run, by activity, core, tensor and layer.

    The energies of the cores add up to `total`. `static` is the part of `total` that belongs to
    cycles and not to activities. `table` is the name of the table of energies.
    """

    table: str  # name of the table of energies
    total: float
    static: float  # the part of `total` that belongs to cycles and not to activities
    activities: tuple[ActivityEnergy, ...]  # the one with most energy first
    cores: tuple[CoreEnergy, ...]  # those with energy
    tensors: Mapping[str, float]  # of moved bytes, by tensor or symbol; "": of neither
    layers: Mapping[str, float]  # of a compiled network; "": outside of layers
