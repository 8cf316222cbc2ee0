"""The annotation of a program as frozen dataclasses: the costs of a run, by line of the source.

Two kinds of cycles occur. `run` are device cycles on the critical path (`macaw.emu.critical_path`):
each cycle of the run belongs to one line of one core. So work that overlaps other work is not
counted twice, and `run` of all lines adds up to the cycles of the run. `cycles` are the cycles of a
core, times its units, such as the PEs of a row. They add up over all lines to the cycles of the
run, times the units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from macaw.phrases import one_line, plural

FORMAT = 1  # version of the JSON format
KIND = "macaw annotation"


@dataclass(frozen=True)
class LineCost:
    """The cycles, MACs and bytes that a line cost one core.

    `run` has the cycles on the critical path, `cycles` those of the core, times its units; both by
    causes of `macaw.isa.causes`. `whom` divides the waits in `run` by what the core waited for.
    """

    core: str  # "pe[0]"
    row: str  # of the timeline: "pe"
    run: Mapping[str, int]  # on the critical path, the most first
    cycles: Mapping[str, int]  # of the core, times its units
    whom: Mapping[str, int]  # of `run`: for whom the core waited
    macs: int  # products of MACs and of other multiplications
    bytes: Mapping[str, int]  # read and written, by memory


@dataclass(frozen=True)
class AnnotatedLine:
    """A line of the source with its costs.

    `run` has the line's device cycles on the critical path of the run, `causes` divides them by
    cause. `heat` is a number from 0 to 4 for the line's share in the sum of `run` over all lines.

    An instruction without a line of the source counts as a line without `file` and `number`. The
    line with an empty `place` has the cycles of no instruction.
    """

    place: str  # "layer.s:12"; without a line of the source "main+0x8" or "0x00010050"
    text: str  # of the line, or the instruction as it is disassembled
    file: str  # as the program names it
    number: int  # of the line in its file, from 1 on
    run: int  # device cycles on the critical path, of all cores
    causes: Mapping[str, int]  # of `run`, the most first
    macs: int  # of all cores
    bytes: int  # of all cores and memories
    heat: int  # from 0 to 4, by the share of `run` (`macaw.emu.critical_path`)
    costs: tuple[LineCost, ...]  # by core, in the order of the cores' numbers

    @property
    def cycles(self) -> int:
        """The cycles of this line on all cores: those of each core, times its units."""
        return sum(sum(cost.cycles.values()) for cost in self.costs)


@dataclass(frozen=True, repr=False)
class Annotation:
    """The costs of a run of a program, by line of the source.

    `lines` are sorted by file, then by line number. The files are sorted by the sum of `run` over
    their lines, the greatest first; instructions without a line come last. `sources` has the text
    of each file that could be read, divided into lines.
    """

    program: str  # its name
    device: str  # its name
    cycles: int  # of the run; equal to the sum of `run` of all lines
    units: Mapping[str, int]  # number of units of each core that worked
    lines: tuple[AnnotatedLine, ...]
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exit_code: int = 0  # of the program

    def __repr__(self) -> str:
        parts = f"{plural(self.cycles, 'cycle')}, {plural(len(self.lines), 'line')}"
        return one_line(f"<annotation of {self.program} on {self.device}: {parts}>")


def to_json(annotation: Annotation) -> dict[str, Any]:
    """Return the annotation as a JSON object."""
    return {"kind": KIND, "format": FORMAT, **asdict(annotation)}
