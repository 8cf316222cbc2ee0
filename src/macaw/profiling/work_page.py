"""The sections of a profile's page without a script: rooflines, memories, energy, lines.

The sections are HTML tables and an SVG. All texts are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from macaw.profiling.annotation_page import annotation_table
from macaw.profiling.energy_report import energy_sentence, energy_tables, energy_text
from macaw.profiling.model import Profile
from macaw.profiling.roofline_report import (
    LETTERS,
    POWERS,
    ROWS,
    chart_place,
    memory_table,
    roof_points,
    roof_table,
    row_sentences,
)
from macaw.profiling.text_table import Table
from macaw.profiling.work import Work

MOST_LINES = 200  # rows of the tables of lines and of tensors
LINES = "Cycles of the run by line of the source. Each cycle belongs to one line."
STEP, TOP, LEFT = 40, 20, 60  # pixels of a power of two, and of the edges
_COLOURS = 6  # of rows of the timeline, as in page.css


def work_sections(profile: Profile) -> str:
    """Return the HTML of those sections for which the profile has data.

    The text is empty if there are no such sections.
    """
    sections = []
    if profile.work is not None:
        chart = profile.work.memory
        rows = [track.row for track in profile.rows]
        roof = [roofline_svg(profile.work, rows), table_html(roof_table(profile.work))]
        sections.append(_section("Roofline", roof))
        hits = [_paragraph(text) for text in row_sentences(chart)]
        sections.append(_section("Memory", [table_html(memory_table(chart)), *hits]))
    if profile.energy is not None:
        tables = map(table_html, energy_tables(profile.energy, MOST_LINES))
        title = f"Energy: {energy_text(profile.energy.total)}"
        sections.append(_section(title, [_paragraph(energy_sentence(profile.energy)), *tables]))
    if profile.annotation is not None:
        table = table_html(annotation_table(profile.annotation, MOST_LINES))
        sections.append(_section("Lines", [_paragraph(LINES), table]))
    return "\n".join(sections)


def _section(title: str, parts: Iterable[str]) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{chr(10).join(parts)}\n</section>"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def table_html(table: Table) -> str:
    """Return a table as HTML; one without rows is only its note."""
    note = [_paragraph(table.note)] if table.note else []
    if not table.rows:
        return "\n".join(note)
    lines = ['<div class="scroll"><table><thead><tr>']
    for place, heading in enumerate(table.headings):
        lines.append(f'<th scope="col"{_class(table, place)}>{escape(heading)}</th>')
    lines.append("</tr></thead><tbody>")
    for row in table.rows:
        cells = (f"<td{_class(table, place)}>{escape(cell)}</td>" for place, cell in enumerate(row))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines.append("</tbody></table></div>")
    return "\n".join([*lines, *note])


def _class(table: Table, place: int) -> str:
    return ' class="name"' if place in table.names else ""


def roofline_svg(work: Work, rows: Sequence[str]) -> str:
    """Return the chart of rooflines as SVG: both axes logarithmic, all ridges at one place.

    `rows` are the rows of the timeline; a point has the colour of its row.
    """
    width, height = 2 * POWERS * STEP, (ROWS - 1) * STEP
    ridge = LEFT + POWERS * STEP
    parts = [
        f'<svg viewBox="0 0 {LEFT + width + 20} {TOP + height + 50}" role="img"'
        ' aria-label="Rooflines: share of the peak against operations a byte"'
        ' style="max-width: 50rem; width: 100%; font-size: 12px; fill: var(--soft)">',
        *_axes(width, height),
        f'<path d="M{LEFT} {TOP + POWERS * STEP} L{ridge} {TOP} H{LEFT + width}" fill="none"'
        ' stroke="var(--ink)" stroke-width="1.5"/>',
        *_points(work, rows, width, height),
        "</svg>",
    ]
    return "\n".join(parts)


def _axes(width: int, height: int) -> Iterator[str]:
    for power in range(ROWS):
        y = TOP + power * STEP
        line = 'stroke="var(--line)"'
        yield f'<line x1="{LEFT}" x2="{LEFT + width}" y1="{y}" y2="{y}" {line}/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{100 / 2**power:.3g}%</text>'
    for power in range(-POWERS, POWERS + 1, 2):
        x = LEFT + (power + POWERS) * STEP
        label = f"{2.0**power:.3g}" if power else "ridge"
        yield f'<text x="{x}" y="{TOP + height + 20}" text-anchor="middle">{label}</text>'
    middle = LEFT + width // 2
    what = "operations a byte, as a multiple of those at the ridge"
    yield f'<text x="{middle}" y="{TOP + height + 40}" text-anchor="middle">{what}</text>'
    yield f'<text x="{LEFT}" y="{TOP - 8}" text-anchor="middle">share of peak</text>'


def _points(work: Work, rows: Sequence[str], width: int, height: int) -> Iterator[str]:
    for letter, (roof, level) in zip(LETTERS, roof_points(work), strict=False):
        if level is None or not roof.rate:
            continue
        right, down = chart_place(roof, level)
        x = LEFT + min(max((right + POWERS) * STEP, 0), width)
        y = TOP + min(max(down * STEP, 0), height)
        place = rows.index(roof.row) if roof.row in rows else 0
        colour = f"var(--row{place % _COLOURS})"
        title = (
            f"{roof.core}, {level.memory}: {roof.rate:.3g} of {roof.peak:.3g} operations a cycle,"
            f" {level.intensity(roof.operations):.3g} operations a byte"
        )
        yield (
            f'<g><title>{escape(title)}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="5"'
            f' fill="{colour}"/><text x="{x + 8:.1f}" y="{y + 4:.1f}">{letter}</text></g>'
        )
