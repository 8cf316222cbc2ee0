"""The lines of text that show rooflines and the chart of memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2

from macaw.phrases import plural
from macaw.profiling.phrases import number_text, share_text
from macaw.profiling.text_table import INDENT, Row, Table, table_lines
from macaw.profiling.work import Level, MemoryChart, Roof, Work

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_POINTS = len(LETTERS)
# The chart: powers of two on each side of the ridge, columns of each power, and rows of the peak's
# powers of two.
POWERS, COLUMNS, ROWS = 8, 4, 9


def roofline_lines(work: Work, width: int | None) -> Iterator[str]:
    """Yield the lines of the table of rooflines, and of the chart of their points.

    `width` is the number of columns of the screen. If they are too few, the table leaves out the
    bytes, then the operations. If `width` is None, a point is one line of fields, and there is no
    chart.
    """
    yield from table_lines(roof_table(work), width)
    points = roof_points(work)[:MOST_POINTS]
    if width is not None and any(level is not None for _, level in points):
        yield ""
        yield from _chart(points)


def roof_table(work: Work) -> Table:
    """Return the table of rooflines, which gives each point of the chart a letter."""
    points = roof_points(work)
    rows = [_roof_row(letter, *point) for letter, point in zip(LETTERS, points, strict=False)]
    headings = ("", "core", "operations", "a cycle", "peak", "share", "memory", "bytes",
                "ops/byte", "ceiling")  # fmt: skip
    hidden = len(points) - len(rows)
    note = f"{plural(hidden, 'more point')} not shown" if hidden else ""
    if not points:
        note = "no core computed"
    return Table(headings, rows, (0, 1, 6), (7, 2), note)


def roof_points(work: Work) -> list[tuple[Roof, Level | None]]:
    """Return a point (core, memory) for each memory of each core.

    Of a core's memories, the one that limits the core most comes first. Cores without memories,
    which have no place in the chart, come last, with None.
    """
    points: list[tuple[Roof, Level | None]] = []
    for roof in work.roofs:
        levels = sorted(roof.levels, key=roof.ceiling)
        points += [(roof, level) for level in levels] or [(roof, None)]
    return sorted(points, key=lambda point: point[1] is None)


def _roof_row(letter: str, roof: Roof, level: Level | None) -> Row:
    own = (
        roof.core,
        f"{roof.operations:,}",
        number_text(roof.rate),
        number_text(roof.peak),
        share_text(roof.rate, roof.peak),
    )
    if level is None:
        return ("", *own, "", "", "", "")
    intensity = number_text(level.intensity(roof.operations))
    ceiling = number_text(roof.ceiling(level))
    return (letter, *own, level.memory, f"{level.bytes:,}", intensity, ceiling)


def chart_place(roof: Roof, level: Level) -> tuple[float, float]:
    """Return how far a point is right of the ridge and below the peak, as exponents of two.

    A point 2 right of the ridge has four times as many operations for each byte as the ridge. The
    core must have done operations.
    """
    ridge = roof.peak / level.peak
    return log2(level.intensity(roof.operations) / ridge), -log2(roof.rate / roof.peak)


def _chart(points: Sequence[tuple[Roof, Level | None]]) -> Iterator[str]:
    """Yield the lines of a chart: the share of the peak against the operations for each byte.

    The ridges of all cores are at one place. Both axes are logarithmic. A point outside of the
    chart is drawn at its edge.
    """
    width = 2 * POWERS * COLUMNS + 1
    grid = [[" "] * width for _ in range(ROWS)]
    for column in range(width):
        power = (column - POWERS * COLUMNS) / COLUMNS
        if power >= 0:
            grid[0][column] = "_"
        elif -power < ROWS and power == int(power):
            grid[int(-power)][column] = "/"
    for letter, (roof, level) in zip(LETTERS, points, strict=False):
        if level is None or not roof.rate:
            continue
        right, down = chart_place(roof, level)
        column = min(max(round(COLUMNS * (right + POWERS)), 0), width - 1)
        line = min(max(round(down), 0), ROWS - 1)
        while column < width - 1 and grid[line][column] not in " _/":
            column += 1  # points at one place stand beside each other
        grid[line][column] = letter
    yield f"{INDENT}share of peak"
    for line, cells in enumerate(grid):
        label = f"{100 / 2**line:.3g}%"
        yield f"{INDENT}{label:>6} |{''.join(cells)}".rstrip()
    yield f"{INDENT}{'':>6} +{'-' * width}"
    marks = [" "] * (width + 8)
    for power in range(-POWERS, POWERS + 1, 4):
        text = f"{2.0**power:.3g}" if power else "ridge"
        at = max(0, (power + POWERS) * COLUMNS - len(text) // 2)
        marks[at : at + len(text)] = text
    yield f"{INDENT}{'':>6}  {''.join(marks).rstrip()}"
    yield f"{INDENT}{'':>6}  operations a byte, as a multiple of those at the ridge"


def memory_lines(chart: MemoryChart, width: int | None) -> Iterator[str]:
    """Yield the lines of a table of the bytes between memories and cores, with shares of the peaks.

    `width` is the number of columns of the screen. If they are too few, the table leaves out the
    peaks, then the bytes a cycle. If `width` is None, a row is one line of fields.
    """
    yield from table_lines(memory_table(chart), width)
    for sentence in row_sentences(chart):
        yield f"{INDENT}{sentence}"


def memory_table(chart: MemoryChart) -> Table:
    """Return the table of the bytes that passed between memories and cores."""
    rows: list[Row] = []
    for link in chart.links:
        busiest = share_text(link.most, 1) if link.most else ""
        share = share_text(link.share(chart.cycles), 1)
        rate = number_text(link.bytes / max(chart.cycles, 1))
        numbers = (f"{link.bytes:,}", rate, number_text(link.peak), share, busiest)
        rows.append((link.part, link.name, *numbers))
    headings = ("", "", "bytes", "a cycle", "peak", "share", "busiest bank")
    note = "" if rows else "no bytes passed between memories and cores"
    return Table(headings, rows, (0, 1), (4, 3), note)


def row_sentences(chart: MemoryChart) -> Iterator[str]:
    """Yield a sentence for each core with DRAM: how many of its accesses found their row open."""
    for use in chart.rows:
        yield (
            f"{use.core}: {share_text(use.share, 1)} of {use.columns:,} column accesses"
            f" hit their row, {use.rows:,} rows opened"
        )
