"""Prints a profile on the terminal: timeline, cores, metrics, findings, bottleneck, goals.

All output is `rich.text.Text` and never markup, because names come from sources. Colours only
repeat what the words say. Characters that the screen cannot show are replaced.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from macaw.phrases import plural
from macaw.profiling import chart
from macaw.profiling.account_report import tree_lines
from macaw.profiling.annotation_report import print_hottest
from macaw.profiling.comparison_report import line_table
from macaw.profiling.distinct_names import distinct_names
from macaw.profiling.energy_report import energy_lines, energy_text
from macaw.profiling.model import (
    Difference,
    Finding,
    Goal,
    Group,
    Merge,
    Metric,
    MissedThreshold,
    Profile,
    Track,
)
from macaw.profiling.phrases import (
    cause_sentence,
    cost_note,
    group_place,
    heaviest_sentence,
    longest_groups,
    merge_sentence,
    metric_keys,
    number_text,
    run_summary,
    same_places,
    saved_note,
    share_text,
    verdict,
)
from macaw.profiling.roofline_report import memory_lines, roofline_lines
from macaw.profiling.screen_text import printable_text
from macaw.terminal.plain import record, records

if TYPE_CHECKING:
    from rich.console import Console

MOST_GROUPS, MOST_FINDINGS, MOST_CORES = 12, 8, 32  # lines of each
WIDE = 100  # columns from which a screen shows all metrics
GAP, NAME = 2, 10  # cells between columns; least width of a name
# Styles of the rows' bars, in turn. The row's name is beside the bar.
STYLES = ("blue", "magenta", "green", "cyan", "yellow", "red")


def print_report(
    profile: Profile,
    screen: Console,
    *,
    layers: bool,
    limit: int | None,
    plain: bool,
) -> None:
    """Print the whole report in the width of the screen; with `layers`, a table of layers, too.

    A `plain` report has no charts, and tables have one line of fields for each row.

    `limit` is the greatest number of records, findings, missed thresholds and source lines. If it
    is None, the report has at most `MOST_GROUPS` records or lines, and `MOST_FINDINGS` findings or
    missed thresholds.
    """
    _Report(profile, screen, layers, limit, plain).show()


class _Report:
    def __init__(
        self, profile: Profile, screen: Console, layers: bool, limit: int | None, plain: bool
    ) -> None:
        self.profile, self.screen, self.layers, self.plain = profile, screen, layers, plain
        self.width = None if plain else screen.width  # of tables
        self.most_groups = MOST_GROUPS if limit is None else limit
        self.most_findings = MOST_FINDINGS if limit is None else limit
        self.ascii = not screen.encoding.lower().startswith("utf")

    def show(self) -> None:
        profile = self.profile
        self._print_title()
        self._print_timeline()
        if any(profile.cores(track.row) for track in profile.rows):
            self._print_cores()
        if self.layers:
            self._print_layers()
        self._print_bottleneck()
        if profile.accounts:
            self._print_heading("causes")
            for line in tree_lines(profile.accounts, self.width):
                self.screen.print(self._text(line), soft_wrap=True)
        self._print_work()
        if profile.annotation is not None:
            self._print_heading("lines")
            print_hottest(profile.annotation, self.screen, self.most_groups, plain=self.plain)
        if profile.groups:
            self._print_groups()
        self._print_findings()
        self._print_missed_thresholds()
        if profile.merge is not None:
            self._print_merge(profile.merge)
        if profile.differences:
            self._print_differences(profile.differences)
        if profile.line_differences:
            self._print_heading("lines that changed")
            for line in line_table(profile.line_differences, self.width):
                self.screen.print(self._text(line), soft_wrap=True)
        if profile.goals:
            self._print_goals(profile.goals)
        if profile.step is not None:
            title = f"next step ({profile.step.number} of Fig. 7): {profile.step.title}"
            self._print_heading(title)
            self._print_paragraph(profile.step.text)

    # Pieces

    def _text(self, text: str, style: str = "") -> Text:
        """Return a text with only those characters that this screen can show."""
        return Text(printable_text(text, self.ascii), style)

    def _shorten(self, text: Text, width: int, least: int) -> Text:
        """Return the text, cut to `width` cells with a mark at its end if it is longer.

        The first `least` cells are not cut.
        """
        if text.cell_len <= width:
            return text
        mark = self._text("…")
        shortened = text.copy()
        if least and width - mark.cell_len <= least:
            shortened.truncate(least)
            return shortened
        shortened.truncate(width - mark.cell_len)
        return shortened.append_text(mark)

    def _print_heading(self, text: str) -> None:
        self.screen.print()
        self.screen.print(self._text(text, "bold"))

    def _print_paragraph(self, text: str, indent: int = 2) -> None:
        """Print a text, indented and wrapped between words."""
        width = max(self.screen.width - indent, 20)
        lines = textwrap.wrap(
            self._text(text).plain, width, break_long_words=False, break_on_hyphens=False
        )
        for line in lines:
            self.screen.print(Text(" " * indent + line), soft_wrap=True)

    def _print_table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[Text]],
        names: int,
        places: Sequence[int] = (),
    ) -> None:
        """Print a table. The first `names` columns contain names, the others numbers.

        On a narrow screen, the names in the last column of names are shortened, but different names
        stay different. `places` has a number for each row: the number of characters at the start of
        this name that are never cut, for example its source position. Numbers are never shortened.
        """
        if self.plain:
            for text in records(headings, [[cell.plain for cell in row] for row in rows]):
                self.screen.print(self._text(text), soft_wrap=True)
            return
        least = [*places, *[0] * (len(rows) - len(places))]
        titles = [self._text(heading, "dim") for heading in headings]
        widths = [
            max(line.cell_len for text in column for line in text.split("\n") or [Text()])
            for column in zip(titles, *rows, strict=True)
        ]
        others = sum(widths) - widths[names - 1] + GAP * (len(widths) - 1)
        room = max(self.screen.width - others, NAME, *least)
        long_names = [row[names - 1] for row in rows]
        texts, least = distinct_names(
            [name.plain for name in long_names], least, room, self._text("…").plain
        )
        short = [Text(text, name.style) for text, name in zip(texts, long_names, strict=True)]
        rows = [
            (*row[: names - 1], name, *row[names:]) for row, name in zip(rows, short, strict=True)
        ]
        widths[names - 1] = min(widths[names - 1], max(room, *least, 0))
        lines = [title.split("\n") for title in titles]
        high = max(map(len, lines))
        self.screen.print()
        for place in range(high):
            line_numbers = (place - high if place >= high - len(line) else None for line in lines)
            cells = [
                Text() if at is None else line[at]
                for line, at in zip(lines, line_numbers, strict=True)
            ]
            self._print_cells(cells, widths, names)
        for row, least_cells in zip(rows, least, strict=True):
            cells = [
                self._shorten(text, width, least_cells if index == names - 1 else 0)
                for index, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            self._print_cells(cells, widths, names)

    def _print_cells(self, cells: Sequence[Text], widths: Sequence[int], names: int) -> None:
        """Print a line of a table: each of `cells` in a column of its width in `widths`.

        The first `names` cells are left-aligned, the others right-aligned.
        """
        line = Text()
        for index, (text, width) in enumerate(zip(cells, widths, strict=True)):
            room = " " * (width - text.cell_len)
            line.append_text(text).append(room) if index < names else line.append(room).append(text)
            line.append(" " * GAP)
        line.rstrip()
        self.screen.print(line, soft_wrap=True)

    # Parts of the report

    def _print_title(self) -> None:
        profile = self.profile
        text = self._text(profile.program, "bold").append_text(
            self._text(f" {run_summary(profile)}")
        )
        self.screen.print(text)

    def _print_timeline(self) -> None:
        profile, screen = self.profile, self.screen
        rows = profile.rows
        slowest = profile.bottleneck.core if profile.bottleneck else ""
        if self.plain:
            self._print_busy_records(slowest)
            return
        label = max((len(track.row) for track in rows), default=0) + 3
        busy = max((len(f"{track.busy_cycles:,}") for track in rows), default=0)
        busy = max(busy, len("busy"))
        columns = max(screen.width - label - busy - 10, 10)
        screen.print()
        head = Text(" " * label).append(chart.axis_text(profile.cycles, columns), "dim")
        head.append(f"{'busy':>{busy + 1}}{'':8}".rstrip(), "dim")
        screen.print(head, no_wrap=True, overflow="crop")
        for place, track in enumerate(rows):
            shares_of_columns = chart.column_shares(track.busy, profile.cycles, columns)
            mark = "> " if track.row == slowest else "  "
            style = "bold" if track.row == slowest else ""
            line = Text(f"{mark}{track.row:<{label - 2}}", style)
            line.append(chart.bar_text(shares_of_columns, self.ascii), STYLES[place % len(STYLES)])
            line.append(f" {track.busy_cycles:>{busy},}", style)
            line.append(f" {share_text(track.busy_cycles, profile.cycles):>6}", style)
            screen.print(line, no_wrap=True, overflow="crop")
        self._print_lost()

    def _print_busy_records(self, slowest: str) -> None:
        """Print the busy cycles of each row of the timeline as one line of fields.

        `slowest` is the name of the bottleneck.
        """
        for track in self.profile.rows:
            first, last = (track.busy[0][0], track.busy[-1][1]) if track.busy else (0, 0)
            cells = (
                track.row,
                f"{track.busy_cycles:,} cycles",
                share_text(track.busy_cycles, self.profile.cycles),
                f"{first:,} to {last:,}" if track.busy else "",
                "slowest" if track.row == slowest else "",
            )
            text = record(("core", "busy", "", "from cycle", ""), cells)
            self.screen.print(self._text(text), soft_wrap=True)
        self._print_lost()

    def _print_lost(self) -> None:
        profile = self.profile
        lost = sum(track.lost for track in profile.tracks if not profile.cores(track.core))
        if lost:
            text = (
                f"{plural(lost, 'record')} lost: all register groups were in use"
                " (--groups N has more), or the spill area was full"
            )
            self.screen.print(self._text(text, "bold yellow"))

    def _print_cores(self) -> None:
        """Print the cores of rows with several cores: at most `MOST_CORES`, the busiest ones."""
        profile = self.profile
        tracks = [core for track in profile.rows for core in profile.cores(track.row)]
        hidden = max(len(tracks) - MOST_CORES, 0)
        if hidden:
            numbers = sorted(range(len(tracks)), key=lambda n: tracks[n].busy_cycles)
            tracks = [tracks[n] for n in sorted(numbers[hidden:])]
        headings = ("core", "busy", "", "records", "first", "last")
        self._print_table(headings, [self._core_cells(core) for core in tracks], 1)
        if hidden:
            self._print_hidden(hidden, "core")

    def _core_cells(self, core: Track) -> tuple[Text, ...]:
        first = f"{core.busy[0][0]:,}" if core.busy else ""
        last = f"{core.busy[-1][1]:,}" if core.busy else ""
        cells = (
            core.core,
            f"{core.busy_cycles:,}",
            share_text(core.busy_cycles, self.profile.cycles),
            f"{len(core.slices):,}",
            first,
            last,
        )
        return tuple(map(self._text, cells))

    def _print_hidden(self, count: int, word: str) -> None:
        self.screen.print(self._text(f"{plural(count, f'more {word}')} not shown", "dim"))

    def _print_layers(self) -> None:
        """Print a network's layers: their cycles, and in which share of them each row worked."""
        layers, screen = self.profile.layers, self.screen
        self._print_heading(f"layers: {len(layers):,}")
        busy = [row.row for row in self.profile.rows if any(x.busy.get(row.row) for x in layers)]
        names, numbers = ["layer"], ["cycles", "predicted"]
        if screen.width >= WIDE:
            names, numbers = ["operation", "core", "layer"], ["begin", *numbers, "bound"]
        headings = [*names, *numbers, *busy]
        rows = []
        for item in layers:
            values = {
                "layer": item.name,
                "operation": item.operator,
                "core": item.core,
                "begin": f"{item.begin:,}",
                "cycles": f"{item.cycles:,}",
                "predicted": f"{item.predicted:,}",
                "bound": f"{item.bound:,}",
                **{row: share_text(item.busy.get(row, 0), item.cycles) for row in busy},
            }
            rows.append([self._text(values[name]) for name in headings])
        self._print_table(headings, rows, len(names))

    def _print_bottleneck(self) -> None:
        bottleneck = self.profile.bottleneck
        if bottleneck is None:
            return
        self._print_heading(f"bottleneck: {bottleneck.core}")
        self._print_paragraph(bottleneck.why)
        if bottleneck.slice is not None:
            self._print_paragraph(heaviest_sentence(bottleneck.slice))
        if bottleneck.saved:
            items = sorted(bottleneck.saved.items(), key=lambda item: -item[1])
            saved = ", ".join(f"{row} {cycles:,}" for row, cycles in items)
            self._print_paragraph(f"cycles saved without the work of: {saved}")

    def _print_work(self) -> None:
        """Print rooflines, the chart of memories and energy, as far as the profile has them."""
        work, energy, width = self.profile.work, self.profile.energy, self.width
        parts: list[tuple[str, Iterable[str]]] = []
        if work is not None:
            parts.append(("roofline", roofline_lines(work, width)))
            parts.append(("memory", memory_lines(work.memory, width)))
        if energy is not None:
            parts.append((f"energy: {energy_text(energy.total)}", energy_lines(energy, width)))
        for heading, lines in parts:
            self._print_heading(heading)
            for line in lines:
                self.screen.print(self._text(line), soft_wrap=True)

    def _print_groups(self) -> None:
        """Print the instructions that took longest, each with the metrics of its longest record."""
        groups = self.profile.groups
        longest = longest_groups(groups, self.most_groups)
        if longest:
            self._print_longest(longest)
        if len(groups) > len(longest):
            self._print_hidden(len(groups) - len(longest), "record")

    def _print_longest(self, longest: list[Group]) -> None:
        names = metric_keys(longest)
        thresholds = _thresholds(longest)
        titles = ["core", "instructions", "begin", "cycles"]
        if self.screen.width < WIDE:  # drop metrics without a threshold
            names = [name for name in names if name in thresholds]
        rows = []
        for group in longest:
            item = group.slice
            cells = (item.core, group_place(group), f"{item.begin:,}", f"{item.busy:,}")
            values = (self._metric_text(group.metric(key)) for key in names)
            rows.append([*map(self._text, cells), *values])
        if thresholds:
            limits = (self._text(thresholds.get(key, ""), "dim") for key in names)
            rows.append([Text(), self._text("threshold", "dim"), Text(), Text(), *limits])
        headings = [*titles, *(key.replace("_", "\n") for key in names)]
        places = [self._text(group.slice.place).cell_len for group in longest]
        self._print_table(headings, rows, 2, places)

    def _metric_text(self, metric: Metric | None) -> Text:
        """Return the value of a metric as text, with a mark if it misses its threshold."""
        if metric is None:
            return Text()
        if metric.ok is False:
            return self._text(f"{number_text(metric.value)} !", "bold red")
        return self._text(number_text(metric.value) + ("  " if metric.ok is not None else ""))

    def _print_findings(self) -> None:
        """Print the causes that make the run longer."""
        findings = self.profile.findings
        if findings:
            self._print_heading(f"findings: {len(findings):,}")
        for index, finding in enumerate(findings[: self.most_findings], 1):
            self._print_place(index, finding)
            self._print_paragraph(cause_sentence(finding), 5)
            saved = saved_note(finding, self.profile.cycles)
            self._print_paragraph(f"{finding.advice}: {saved}", 5)
            if finding.others:
                self._print_paragraph(same_places(finding), 5)
        if len(findings) > self.most_findings:
            self._print_hidden(len(findings) - self.most_findings, "finding")

    def _print_missed_thresholds(self) -> None:
        missed = self.profile.missed_thresholds
        if not missed:
            if self.profile.groups:
                self._print_heading("missed thresholds: none")
            return
        self._print_heading(f"missed thresholds: {len(missed):,}")
        for index, item in enumerate(missed[: self.most_findings], 1):
            self._print_place(index, item, cost_note(item))
            self._print_paragraph(item.sentence, 5)
            if item.others:
                self._print_paragraph(same_places(item), 5)
        if len(missed) > self.most_findings:
            self._print_hidden(len(missed) - self.most_findings, "missed threshold")

    def _print_place(self, index: int, item: Finding | MissedThreshold, note: str = "") -> None:
        """Print the first line of a finding or missed threshold: number, core, place and `note`."""
        head = Text(f"{index:>3}. ").append_text(self._text(item.core, "bold"))
        head.append_text(self._text(f" {item.where} {note}".rstrip()))
        self.screen.print(head, soft_wrap=True)

    def _print_merge(self, merge: Merge) -> None:
        core = f" of {merge.core}" if merge.core else ""
        self._print_heading(f"merged timeline{core}: {plural(merge.total, 'cycle')}")
        self._print_paragraph(merge_sentence(merge))

    def _print_differences(self, differences: Iterable[Difference]) -> None:
        self._print_heading(f"against {self.profile.against}")
        for item in differences:
            style = {True: "green", False: "red", None: ""}[item.better]
            self._print_verdict(verdict(item), style, item.sentence)

    def _print_goals(self, goals: Iterable[Goal]) -> None:
        self._print_heading("goals")
        for goal in goals:
            style = "green" if goal.met else "bold red"
            self._print_verdict("met" if goal.met else "missed", style, goal.sentence)

    def _print_verdict(self, word: str, style: str, sentence: str) -> None:
        line = Text("  ").append(f"{word:<7}", style).append_text(self._text(sentence))
        self.screen.print(line, soft_wrap=True)


def _thresholds(groups: Iterable[Group]) -> dict[str, str]:
    """Return the text of each metric's threshold, by the metric's key."""
    thresholds = {}
    for group in groups:
        for metric in group.metrics:
            if metric.threshold is not None:
                thresholds[metric.key] = number_text(metric.threshold)
    return thresholds
