"""The annotation of lines for the page of a profile: data for its script, and a table."""

from __future__ import annotations

from typing import Any

from macaw.profiling.annotation import Annotation
from macaw.profiling.annotation_view import NO_LINE
from macaw.profiling.phrases import share_text
from macaw.profiling.text_table import Table

HEAT = "░▒▓█"
CAUSES = 3  # of a line in the table


def annotation_data(annotation: Annotation | None) -> list[dict[str, Any]] | None:
    """Return the costs of lines, as the page's script reads them; None without an annotation."""
    if annotation is None:
        return None
    return [
        {
            "place": line.place,
            "run": line.run,
            "cycles": line.cycles,
            "causes": line.causes,
            "macs": line.macs,
            "bytes": line.bytes,
            "heat": line.heat,
        }
        for line in annotation.lines
    ]


def annotation_table(annotation: Annotation, most: int) -> Table:
    """Return a table of the source lines that took most cycles of the run, at most `most` lines."""
    lines = sorted(annotation.lines, key=lambda line: -line.run)
    rows = [
        (
            line.place or NO_LINE,
            line.text,
            f"{line.run:,}",
            share_text(line.run, annotation.cycles),
            HEAT[line.heat - 1] if line.heat else "",
            ", ".join(
                f"{cause} {share_text(cycles, line.run)}"
                for cause, cycles in list(line.causes.items())[:CAUSES]
            ),
            f"{line.macs:,}",
            f"{line.bytes:,}",
        )
        for line in lines[:most]
    ]
    left = lines[most:]
    note = f"{len(left):,} more lines with {sum(line.run for line in left):,} cycles"
    return Table(
        ("line", "source", "run", "share", "heat", "causes", "macs", "bytes"),
        rows,
        (0, 1, 4, 5),
        note=note if left else "",
    )
