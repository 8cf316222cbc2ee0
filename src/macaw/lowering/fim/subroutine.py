"""Writes the plan of a graph as a subroutine of cp, for a program that has other layers, too."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.isa.config import Configuration
from macaw.lowering.fim.plan import GraphPlan
from macaw.lowering.fim.program import LoweredGraph, ProgramWriter
from macaw.lowering.listing import Listing

LABELS = "fim_"  # the first part of all labels of a subroutine, except its entry


def subroutine(
    plan: GraphPlan, config: Configuration, entry: str, symbols: Mapping[str, str], title: str
) -> LoweredGraph:
    """Return the source of a subroutine `entry` that runs a plan's steps and returns to its caller.

    `symbols` has, by the name of each input and result of the graph, the symbol that another source
    defines for it. `title` is the first line of the source, a comment. Raises `LowerError` if the
    steps do not fit the islands or the memory.
    """
    return _SubroutineWriter(plan, config, entry, symbols, title).source_text()


class _SubroutineWriter(ProgramWriter):
    """Writes a static plan as a subroutine of cp. Other sources define its inputs and results."""

    def __init__(
        self,
        plan: GraphPlan,
        config: Configuration,
        entry: str,
        symbols: Mapping[str, str],
        title: str,
    ) -> None:
        self.entry, self.heading = entry, title
        super().__init__(plan, plan.graph, config, config.name, entry, LABELS)
        self.labels |= symbols

    def source_text(self) -> LoweredGraph:
        """Return the source of the subroutine, and the arrays that it includes."""
        out = Listing()
        out.extend([self.heading])
        out.put(f".global {self.entry}")
        self.program()
        self.write_control(out, self.entry, "ret")
        self.write_data(out)
        self.write_blocks(out)
        return LoweredGraph(out.text(), self.files)

    def end_island(self, out: Listing) -> None:
        """Write `endall` after the last block, because blocks of another layer may follow."""
        out.put("endall")
