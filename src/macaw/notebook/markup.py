"""Writes HTML for notebooks: sections, tables, step charts. All texts are escaped and cut.

The colours are readable on light and on dark pages: text has the page's colour, and lines and fills
are partly transparent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from macaw.asm.diagnostics import printable

MOST_ROWS = 24  # of a table
MOST_CHARACTERS = 120  # of a text in a table
MOST_OUTPUT = 4000  # characters of a program's output
CHART_COLUMNS = 120  # of a chart over time
CHART_WIDTH, CHART_HEIGHT = 240, 18  # of a step chart, in its own units

STYLE = """
.macaw { font-size: 13px; line-height: 1.4; overflow-x: auto; }
.macaw h4 { font-size: 14px; margin: 4px 0; }
.macaw p { margin: 4px 0; }
.macaw table { border-collapse: collapse; margin: 6px 0 10px; font-size: inherit; color: inherit; }
.macaw caption { text-align: left; font-weight: 600; padding: 2px 0; white-space: nowrap;
  color: inherit; }
.macaw th, .macaw td { text-align: left; padding: 1px 12px 1px 0; border: 0; vertical-align: middle;
  border-bottom: 1px solid rgba(128,128,128,.25); background: transparent; color: inherit; }
.macaw th { font-weight: 600; opacity: .75; }
.macaw td.number, .macaw th.number { text-align: right; font-variant-numeric: tabular-nums; }
.macaw pre { font-family: monospace; background: rgba(128,128,128,.12); color: inherit;
  padding: 4px 8px; white-space: pre-wrap; }
.macaw .weak { opacity: .75; }
.macaw .warning { border-left: 3px solid #d06a1c; padding-left: 8px; }
.macaw summary { cursor: pointer; font-weight: 600; }
.macaw svg { vertical-align: middle; }
"""


@dataclass(frozen=True)
class Markup:
    """A finished piece of HTML, which the functions of this module insert without escaping it."""

    html: str


@dataclass(frozen=True)
class Column:
    """A column of a table.

    If `numbers` is true, the column has numbers, which are right-aligned.
    """

    heading: str
    numbers: bool = False


Cell = str | Markup


def text(value: object, most: int = MOST_CHARACTERS) -> str:
    """Return a text as escaped HTML, cut to `most` characters and without control characters."""
    words = str(value)
    if len(words) > most:
        words = f"{words[: most - 1]}…"
    return escape("\n".join(map(printable, words.split("\n"))))


def section(title: str, parts: Iterable[Markup]) -> str:
    """Return the HTML of an object: the style sheet, `title` as a heading, and the parts."""
    body = "".join(part.html for part in parts)
    return f'<div class="macaw"><style>{STYLE}</style><h4>{text(title)}</h4>{body}</div>'


def paragraph(words: str, kind: str = "") -> Markup:
    """Return a paragraph with the text `words`. `kind` is a style: "weak", "warning" or empty."""
    attribute = f' class="{kind}"' if kind else ""
    return Markup(f"<p{attribute}>{text(words, MOST_OUTPUT)}</p>")


def output(caption: str, words: str) -> Markup:
    """Return the last `MOST_OUTPUT` characters of the output `words`, below a caption.

    White space is shown as it is.
    """
    left_out = max(0, len(words) - MOST_OUTPUT)
    note = f" (without the first {left_out:,} characters)" if left_out else ""
    shown = text(words[left_out:], MOST_OUTPUT)
    return Markup(f"<p><b>{text(caption)}</b>{note}</p><pre>{shown}</pre>")


def table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], caption: str = "") -> Markup:
    """Return a table with the first `MOST_ROWS` rows, and a note with the number of further rows.

    Without rows, the result is empty. Each row has one cell for each column.
    """
    if not rows:
        return Markup("")
    kinds = [' class="number"' if column.numbers else "" for column in columns]
    head = "".join(
        f"<th{kind}>{text(column.heading)}</th>"
        for kind, column in zip(kinds, columns, strict=True)
    )
    lines = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{_cell(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = len(rows) - MOST_ROWS
    if more > 0:
        lines += f'<tr><td colspan="{len(columns)}" class="weak">and {more:,} more</td></tr>'
    name = f"<caption>{text(caption)}</caption>" if caption else ""
    return Markup(f"<table>{name}<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>")


def _cell(cell: Cell) -> str:
    return cell.html if isinstance(cell, Markup) else text(cell)


def folded(summary: str, parts: Iterable[Markup]) -> Markup:
    """Return HTML that shows `summary`, and after a click on it the `parts`.

    If the parts have no HTML, the result is empty.
    """
    body = "".join(part.html for part in parts)
    if not body:
        return Markup("")
    return Markup(f"<details><summary>{text(summary)}</summary>{body}</details>")


def step_chart(values: Sequence[float], most: float, title: str) -> Markup:
    """Return a small chart of `values` as steps of equal width (a sparkline).

    The upper edge of the chart stands for the value `most`. `title` is shown while the pointer is
    over the chart.
    """
    width = CHART_WIDTH / max(len(values), 1)
    path = f"M0 {CHART_HEIGHT}"
    for index, value in enumerate(values):
        share = min(max(value / most, 0.0), 1.0) if most > 0 else 0.0
        level = CHART_HEIGHT - share * (CHART_HEIGHT - 1)
        path += f"V{level:.3g}H{(index + 1) * width:.4g}"
    about = f"<title>{text(title)}</title>" if title else ""
    return Markup(
        f'<svg width="{CHART_WIDTH}" height="{CHART_HEIGHT}" role="img">{about}'
        f'<rect width="{CHART_WIDTH}" height="{CHART_HEIGHT}" fill="rgba(128,128,128,.12)"/>'
        f'<path d="{path}V{CHART_HEIGHT}Z" fill="#d06a1c" fill-opacity=".55" stroke="#d06a1c"/>'
        "</svg>"
    )


def column_maxima(points: Sequence[tuple[int, float]], cycles: int, columns: int) -> list[float]:
    """Return the maximum of a series in each of `columns` equal parts of a run of `cycles` cycles.

    `points` are pairs (cycle, value). A value is valid from its point to the next point. Before the
    first point the value is 0.
    """
    maxima = [0.0] * columns
    if cycles <= 0:
        return maxima
    ends = [*points[1:], (cycles, 0.0)] if points else []
    for (begin, value), (end, _) in zip(points, ends, strict=True):
        if begin >= end or begin >= cycles:
            continue
        first = begin * columns // cycles
        last = -(-min(end, cycles) * columns // cycles)
        for column in range(first, last):
            maxima[column] = max(maxima[column], value)
    return maxima
