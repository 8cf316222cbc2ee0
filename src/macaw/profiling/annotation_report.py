"""Prints an annotation on the terminal: each line of the source with its costs.

On a narrow screen the text of the source is cut, but numbers never are. Colours only repeat what
the signs of heat say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from macaw.asm.editors.colours import coloured_words, is_assembly_file
from macaw.phrases import plural
from macaw.profiling.annotation import Annotation
from macaw.profiling.annotation_view import (
    Choice,
    Costs,
    Section,
    ViewRow,
    sections,
    sum_costs,
)
from macaw.profiling.phrases import failure_phrase, share_text
from macaw.profiling.screen_text import printable_text
from macaw.terminal.plain import record

if TYPE_CHECKING:
    from rich.console import Console

HEAT, HEAT_ASCII = " ░▒▓█", " .:*#"
HEAT_COLUMN = 3  # the sign of heat, beside the share
HEAT_STYLES = ("", "green", "yellow", "red", "bold red")
LEAST_SOURCE = 12  # least number of cells for the source on a narrow screen
TAB = 8
NARROW = 100  # columns below which several blanks of the source become one
# (least columns of the screen, number of causes beside a line)
CAUSES = ((160, 3), (120, 2), (0, 1))
OVERLAPPED = "overlapped"  # in place of a cause: the run waited for another line

Cells = list[str]


def print_annotation(
    annotation: Annotation,
    screen: Console,
    choice: Choice,
    *,
    own: bool,
    by_core: bool,
    plain: bool,
) -> None:
    """Print an annotation as tables in the width of the screen.

    If `plain` is true, print one row of fields on each line instead. `choice` says which source
    lines are printed. The share of a source line is in percent of the cycles of the run. If `own`
    is true, it is in percent of the cycles of the annotation's cores; this is for an annotation
    that has only some of the cores (`annotation_view.of_cores`). If `by_core` is true, there is a
    column for each kind of core instead of the columns for MACs, bytes and causes.
    """
    _Report(annotation, screen, choice, own=own, by_core=by_core, plain=plain).show()


def print_hottest(annotation: Annotation, screen: Console, most: int, *, plain: bool) -> None:
    """Print the `most` costliest lines as a table without headings, or as records if `plain`."""
    choice = Choice("run", most)
    report = _Report(annotation, screen, choice, own=False, by_core=False, plain=plain)
    report.show_tables(with_headings=False)


class _Report:
    def __init__(
        self,
        annotation: Annotation,
        screen: Console,
        choice: Choice,
        *,
        own: bool,
        by_core: bool,
        plain: bool,
    ) -> None:
        self.annotation, self.screen, self.choice = annotation, screen, choice
        self.plain = plain
        self.own = own  # whether the columns have the own cycles of cores
        self.measure = "cycles" if own else "run"
        self.ascii = not screen.encoding.lower().startswith("utf")
        self.totals = sum_costs(annotation.lines)
        self.whole: int = getattr(self.totals, self.measure)
        self.causes = next(count for width, count in CAUSES if screen.width >= width)
        by_row = self.totals.by_row or {}
        self.rows = [row for row, cycles in by_row.items() if cycles] if by_core else []
        self.by_core = by_core

    def show(self) -> None:
        """Print the whole annotation."""
        annotation = self.annotation
        what = plural(annotation.cycles, "cycle") + failure_phrase(annotation.exit_code)
        self._print(
            Text(self._text(f"{annotation.program} on {annotation.device}: {what}"), "bold")
        )
        for core, units in annotation.units.items() if self.own else ():
            own = f"{annotation.cycles * units:,} cycles of {plural(units, 'unit')}"
            run = sum(
                sum(cost.run.values())
                for line in annotation.lines
                for cost in line.costs
                if cost.core == core
            )
            self._print(Text(f"  {core}: {own}; {run:,} of the run on the critical path"))
        self.show_tables()

    def show_tables(self, *, with_headings: bool = True) -> None:
        """Print the tables of all sections, and the sums."""
        parts = list(sections(self.annotation, self.choice, self.measure))
        tables = [self._cells(part) for part in parts]
        total = self._numbers(self.totals)
        headings = self._headings()
        every = [headings, total, *(cells for table in tables for cells in table)]
        widths = [max(len(cells[place]) for cells in every) for place in range(len(headings))]
        kept = [place for place in range(len(headings)) if self._is_kept(place, every)]
        columns = [(at, widths[at]) for at in kept]
        for part, table in zip(parts, tables, strict=True):
            if with_headings:
                self._print_heading(part)
            if not self.plain:
                self._print(self._line(headings, columns, None, Text("source")))
            self._print_rows(part, table, columns)
        if with_headings:
            self._print(Text(""))
        self._print(self._line(total, columns, None, Text("in all")))

    # Columns: run, own cycles, share, heat, then MACs, bytes and causes, or cores, then the line

    def _headings(self) -> Cells:
        middle = self.rows if self.by_core else ["macs", "bytes", "cause"]
        return ["run", "cycles", "share", "", *middle, "line"]

    def _is_kept(self, place: int, every: Sequence[Cells]) -> bool:
        """Return whether the report prints column number `place`.

        `every` has the headings, then the cells of the sums and of each line. The column `run` is
        always printed. The column `cycles` is printed if the options request it, any other column
        if one of its cells has contents.
        """
        heading = self._headings()[place]
        if heading == "cycles":
            return self.own or self.choice.sort == "cycles"
        return any(cells[place] for cells in every[1:]) or heading == "run"

    def _numbers(self, costs: Costs | None, heat: int = 0, causes: str = "") -> Cells:
        """Return the cells for the numbers of a line, its heat and its causes.

        A number 0 of MACs, of bytes or of a core gives an empty cell. If `costs` is None, because
        the line has no cost, all cells are empty.
        """
        if costs is None:
            middle = [""] * len(self.rows) if self.by_core else ["", "", ""]
            return ["", "", "", "", *middle, ""]
        by_row = costs.by_row or {}
        if self.by_core:
            middle = [_number(by_row.get(row, 0)) for row in self.rows]
        else:
            middle = [_number(costs.macs), _number(costs.bytes), causes]
        part = getattr(costs, self.measure)
        share = share_text(part, self.whole) if part else ""
        sign = (HEAT_ASCII if self.ascii else HEAT)[heat].strip()
        return [f"{costs.run:,}", f"{costs.cycles:,}", share, sign, *middle, ""]

    def _cells(self, part: Section) -> list[Cells]:
        table = []
        for row in part.rows:
            line = row.line
            cells = self._numbers(row.costs, line.heat if line else 0, self._causes(row))
            cells[-1] = row.place or (str(row.number) if row.number else "")
            table.append(cells)
        return table

    def _causes(self, row: ViewRow) -> str:
        """Return the causes with most cycles, each with its share of the line's cycles, as text."""
        line = row.line
        if line is None:
            return ""
        whole = sum(line.causes.values())
        if not whole:
            return OVERLAPPED if line.cycles and line.place else ""
        shown = list(line.causes.items())[: self.causes]
        return ", ".join(
            name if cycles == whole else f"{name} {100 * cycles / whole:.0f}%"
            for name, cycles in shown
        )

    # Lines

    def _print_heading(self, part: Section) -> None:
        share = share_text(getattr(part.costs, self.measure), self.whole)
        count = plural(getattr(part.costs, self.measure), "cycle")
        note = "" if self._has_source(part) else "; the source cannot be read"
        self._print(Text(""))
        self._print(Text(self._text(f"{part.title}: {count}, {share}{note}"), "bold"))

    def _print_rows(
        self, part: Section, table: list[Cells], columns: list[tuple[int, int]]
    ) -> None:
        coloured = self._coloured(part)
        for row, cells in zip(part.rows, table, strict=True):
            if row.hidden:
                mark = "" if self.plain else "… "
                text = Text(self._text(f"{mark}{plural(row.hidden, 'line')}"), "dim")
            else:
                text = coloured.get(row.number) or Text(self._source(row.text))
            self._print(self._line(cells, columns, row, text))

    def _has_source(self, part: Section) -> bool:
        return not part.file or part.file in self.annotation.sources

    def _coloured(self, part: Section) -> dict[int, Text]:
        """Return the lines of a section's file in the colours of listings, by line number.

        The result is empty for a screen without colours, and for a file that is no assembly source.
        """
        lines = self.annotation.sources.get(part.file, ())
        if self.screen.color_system is None or not is_assembly_file(part.file):
            return {}
        text = Text()
        for word, style in coloured_words("\n".join(map(self._source, lines))):
            text.append(word, style)
        return dict(enumerate(text.split("\n", allow_blank=True), 1))

    def _line(
        self, cells: Cells, widths: list[tuple[int, int]], row: ViewRow | None, source: Text
    ) -> Text:
        """Return a line for the screen: the cells, and the source as far as there is room.

        `widths` are pairs of the number of a column and its width. `row` gives the colour of heat.
        """
        if self.plain:
            last = len(cells) - 1  # the line; a report without a line does not keep this column
            shown = [last, *(at for at, _ in widths if at not in (HEAT_COLUMN, last))]
            headings = [*(self._headings()[at] for at in shown), "source"]
            texts = [*(cells[at] for at in shown), source.plain]
            return Text(self._text(record(headings, texts)))
        line = Text()
        heat = row.line.heat if row is not None and row.line is not None else 0
        names = {len(cells) - 1} if self.choice.sort else set()
        if not self.by_core:
            names.add(len(cells) - 2)  # the causes
        for at, width in widths:
            gap = "" if not line else " " if at == HEAT_COLUMN else "  "
            text = f"{cells[at]:<{width}}" if at in names else f"{cells[at]:>{width}}"
            line.append(gap).append(
                self._text(text), HEAT_STYLES[heat] if at in (2, HEAT_COLUMN) else ""
            )
        room = max(self.screen.width - line.cell_len - 2, LEAST_SOURCE)
        if source.cell_len > room:
            mark = "..." if self.ascii else "…"
            source = source.copy()
            source.truncate(room - len(mark))
            source.append(mark)
        line.append("  ").append_text(source)
        line.rstrip()
        return line

    def _source(self, text: str) -> str:
        """Return a line of the source as the screen shows it.

        A narrow screen shows one blank instead of several, and indents an indented line by two.
        """
        text = self._text(text.expandtabs(TAB))
        if self.screen.width >= NARROW:
            return text
        return ("  " if text[:1].isspace() else "") + " ".join(text.split())

    def _text(self, text: str) -> str:
        return printable_text(text, self.ascii)

    def _print(self, line: Text) -> None:
        self.screen.print(line, soft_wrap=True)


def _number(count: int) -> str:
    return f"{count:,}" if count else ""
