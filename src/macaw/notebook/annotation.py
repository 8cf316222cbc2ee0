"""Shows an annotation in a notebook: the lines of the source that cost most cycles of the run."""

from __future__ import annotations

from macaw.notebook.markup import Cell, Column, paragraph, section, table
from macaw.phrases import plural
from macaw.profiling.annotation import AnnotatedLine, Annotation
from macaw.profiling.phrases import share_text


def annotation_html(annotation: Annotation) -> str:
    """Return the HTML of an annotation: a table of its lines, the lines with most cycles first."""
    columns = [Column("line"), Column(""), Column("cycles", True), Column("of the run", True),
               Column("most of it"), Column("macs", True), Column("bytes", True)]  # fmt: skip
    costly = sorted((line for line in annotation.lines if line.run), key=lambda line: -line.run)
    rows = [_row(line, annotation.cycles) for line in costly]
    words = "Each cycle of the run belongs to one line; work that overlaps is not counted twice."
    title = f"Annotation of {annotation.program}, {plural(annotation.cycles, 'cycle')}"
    return section(f"{title} on {annotation.device}", [paragraph(words), table(columns, rows)])


def _row(line: AnnotatedLine, cycles: int) -> list[Cell]:
    cause = next(iter(line.causes), "")
    share = share_text(line.run, cycles)
    place = line.place or "(no line)"
    return [place, line.text, f"{line.run:,}", share, cause, f"{line.macs:,}", f"{line.bytes:,}"]
