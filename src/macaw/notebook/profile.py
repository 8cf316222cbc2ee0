"""Shows a profile in a notebook: timeline, queues, findings; `macaw profile --html` shows more."""

from __future__ import annotations

from macaw.notebook.markup import (
    CHART_COLUMNS,
    Cell,
    Column,
    Markup,
    column_maxima,
    paragraph,
    section,
    step_chart,
    table,
)
from macaw.phrases import plural
from macaw.profiling.chart import column_shares
from macaw.profiling.model import Profile, Series
from macaw.profiling.phrases import (
    cause_sentence,
    cost_note,
    merge_sentence,
    missed_sentence,
    number_text,
    run_summary,
    share_text,
    verdict,
)


def profile_html(profile: Profile) -> str:
    """Return the HTML of a profile."""
    parts = [_timeline(profile)]
    slowest = profile.bottleneck
    if slowest is not None:
        parts.append(paragraph(f"Bottleneck: {slowest.why}", "warning"))
    parts += [_findings(profile), _missed_thresholds(profile), _series(profile)]
    parts += [_goals(profile), _differences(profile)]
    if profile.merge is not None:
        parts.append(paragraph(merge_sentence(profile.merge)))
    if profile.step is not None:
        step = profile.step
        parts.append(paragraph(f"Step {step.number}, {step.title}: {step.text}"))
    return section(f"Profile of {profile.program} {run_summary(profile)}", parts)


def _timeline(profile: Profile) -> Markup:
    numbers = [Column(heading, True) for heading in ("cycles", "of the run", "records")]
    columns = [Column("core"), Column("at work"), *numbers]
    rows: list[list[Cell]] = []
    for track in profile.rows:
        shares = column_shares(track.busy, profile.cycles, CHART_COLUMNS)
        cycles = f"{track.busy_cycles:,}"
        share = share_text(track.busy_cycles, profile.cycles)
        chart = step_chart(shares, 1.0, f"{track.core}: {cycles} cycles at work")
        rows.append([track.core, chart, cycles, share, f"{len(track.slices):,}"])
    return table(columns, rows, f"Timeline, from cycle 0 to {profile.cycles:,}")


def _series(profile: Profile) -> Markup:
    columns = [Column("queue or bandwidth"), Column("over time"), Column("greatest", True),
               Column("limit", True), Column("unit")]  # fmt: skip
    rows: list[list[Cell]] = [
        [item.name, _chart(item, profile.cycles), number_text(_greatest(item)),
         number_text(item.most), item.unit]
        for item in profile.series
    ]  # fmt: skip
    return table(columns, rows, "Queues and bandwidths")


def _greatest(series: Series) -> float:
    return max((value for _cycle, value in series.points), default=0.0)


def _chart(series: Series, cycles: int) -> Markup:
    """Return the chart of a series over `cycles` cycles, as high as the series' greatest value."""
    greatest = _greatest(series)
    return step_chart(
        column_maxima(series.points, cycles, CHART_COLUMNS),
        greatest,
        f"{series.name}: at most {number_text(greatest)}",
    )


def _findings(profile: Profile) -> Markup:
    headings = ("core", "place", "cause", "advice")
    columns = [*map(Column, headings), Column("cycles saved at most", True)]
    rows: list[list[Cell]] = [
        [item.core, item.where, cause_sentence(item), item.advice, f"{item.saved:,}"]
        for item in profile.findings
    ]
    return table(columns, rows, plural(len(rows), "finding"))


def _missed_thresholds(profile: Profile) -> Markup:
    columns = [Column("core"), Column("place"), Column("measured"), Column("cycles")]
    rows: list[list[Cell]] = [
        [item.core, item.where, paragraph(missed_sentence(item)), cost_note(item).strip("()")]
        for item in profile.missed_thresholds
    ]
    return table(columns, rows, plural(len(rows), "missed threshold"))


def _goals(profile: Profile) -> Markup:
    rows: list[list[Cell]] = [
        ["met" if goal.met else "missed", paragraph(goal.sentence)] for goal in profile.goals
    ]
    return table([Column("goal"), Column("")], rows)


def _differences(profile: Profile) -> Markup:
    rows: list[list[Cell]] = [
        [verdict(item), paragraph(item.sentence)] for item in profile.differences
    ]
    return table([Column(f"since {profile.against}"), Column("")], rows)
