"""A profile on the terminal: timeline, cores, metrics, findings, bottleneck, goals.

Everything printed is `rich.text.Text`, never markup: names come from sources. No colour says
something that no word says, and the screen gets no characters that it cannot show.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from macaw.phrases import plural
from macaw.profiling import chart
from macaw.profiling.model import Difference, Finding, Goal, Group, Merge, Metric, Profile, Track
from macaw.profiling.phrases import (
    about,
    cost,
    heaviest,
    keys,
    longest,
    merged,
    number,
    same_places,
    share,
    verdict,
    where,
)

if TYPE_CHECKING:
    from rich.console import Console

GROUPS, FINDINGS, CORES = 12, 8, 32  # lines that are shown at most of each
ROOMY = 100  # columns of a screen that shows all metrics
GAP, NAME = 2, 10  # columns between a table's; that a name gets at least
# Styles of the rows' bars, in turn; what they say stands beside them in words.
STYLES = ("blue", "magenta", "green", "cyan", "yellow", "red")
PLAIN = {"×": "x", "≥": ">=", "≤": "<=", "–": "-", "…": "...", "Δ": "d", "→": "->", "µ": "u"}


def show(profile: Profile, screen: Console) -> None:
    """Print the whole report; it is as wide as the screen."""
    _Report(profile, screen).show()


class _Report:
    def __init__(self, profile: Profile, screen: Console) -> None:
        self.profile, self.screen = profile, screen
        self.ascii = not screen.encoding.lower().startswith("utf")

    def show(self) -> None:
        profile = self.profile
        self._title()
        self._timeline()
        if any(profile.cores(track.row) for track in profile.rows):
            self._cores()
        self._bottleneck()
        if profile.groups:
            self._groups()
        self._findings()
        if profile.merge is not None:
            self._merge(profile.merge)
        if profile.differences:
            self._differences(profile.differences)
        if profile.goals:
            self._goals(profile.goals)
        if profile.step is not None:
            title = f"next step ({profile.step.number} of Fig. 7): {profile.step.title}"
            self._heading(title)
            self._paragraph(profile.step.text)

    # Pieces

    def _text(self, text: str, style: str = "") -> Text:
        """A text as this screen can show it."""
        text = "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)
        if self.ascii:
            text = "".join(PLAIN.get(sign, sign) for sign in text)
            text = text.encode("ascii", "backslashreplace").decode()
        return Text(text, style)

    def _cut(self, text: Text, width: int, kept: int) -> Text:
        """The text, cut with a mark if it is longer than `width` cells; the first `kept` stay."""
        if text.cell_len <= width:
            return text
        mark = self._text("…")
        shown = text.copy()
        if kept and width - mark.cell_len <= kept:
            shown.truncate(kept)
            return shown
        shown.truncate(width - mark.cell_len)
        return shown.append_text(mark)

    def _heading(self, text: str) -> None:
        self.screen.print()
        self.screen.print(self._text(text, "bold"))

    def _paragraph(self, text: str, indent: int = 2) -> None:
        """A text folded at words, and set in; its words are never broken."""
        width = max(self.screen.width - indent, 20)
        lines = textwrap.wrap(
            self._text(text).plain, width, break_long_words=False, break_on_hyphens=False
        )
        for line in lines:
            self.screen.print(Text(" " * indent + line), soft_wrap=True)

    def _table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[Text]],
        names: int = 1,
        places: Sequence[int] = (),
    ) -> None:
        """Print a table; the first `names` columns hold names, the others numbers.

        Where there is little room the last name is cut, the numbers stay, and so do the first
        cells of it: `places` says how many in each row.
        """
        kept = [*places, *[0] * (len(rows) - len(places))]
        titles = [self._text(heading, "dim") for heading in headings]
        widths = [
            max(line.cell_len for text in column for line in text.split("\n") or [Text()])
            for column in zip(titles, *rows, strict=True)
        ]
        others = sum(widths) - widths[names - 1] + GAP * (len(widths) - 1)
        widths[names - 1] = min(widths[names - 1], max(self.screen.width - others, NAME, *kept))
        lines = [title.split("\n") for title in titles]
        high = max(map(len, lines))
        self.screen.print()
        for place in range(high):
            shown = (place - high if place >= high - len(line) else None for line in lines)
            cells = [
                Text() if at is None else line[at] for line, at in zip(lines, shown, strict=True)
            ]
            self._cells(cells, widths, names)
        for row, keep in zip(rows, kept, strict=True):
            cells = [
                self._cut(text, width, keep if index == names - 1 else 0)
                for index, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            self._cells(cells, widths, names)

    def _cells(self, cells: Sequence[Text], widths: Sequence[int], names: int) -> None:
        """A line of a table: names at the left of their columns, numbers at the right."""
        line = Text()
        for index, (text, width) in enumerate(zip(cells, widths, strict=True)):
            room = " " * (width - text.cell_len)
            line.append_text(text).append(room) if index < names else line.append(room).append(text)
            line.append(" " * GAP)
        line.rstrip()
        self.screen.print(line, soft_wrap=True)

    # Parts of the report

    def _title(self) -> None:
        profile = self.profile
        text = self._text(profile.program, "bold").append_text(self._text(f" {about(profile)}"))
        self.screen.print(text)

    def _timeline(self) -> None:
        profile, screen = self.profile, self.screen
        rows = profile.rows
        label = max((len(track.row) for track in rows), default=0) + 3
        busy = max((len(f"{track.busy_cycles:,}") for track in rows), default=0)
        busy = max(busy, len("busy"))
        columns = max(screen.width - label - busy - 10, 10)
        screen.print()
        head = Text(" " * label).append(chart.axis(profile.cycles, columns), "dim")
        head.append(f"{'busy':>{busy + 1}}{'':8}".rstrip(), "dim")
        screen.print(head, no_wrap=True, overflow="crop")
        slowest = profile.bottleneck.core if profile.bottleneck else ""
        for place, track in enumerate(rows):
            found = chart.shares(track.busy, profile.cycles, columns)
            mark = "> " if track.row == slowest else "  "
            style = "bold" if track.row == slowest else ""
            line = Text(f"{mark}{track.row:<{label - 2}}", style)
            line.append(chart.bar(found, self.ascii), STYLES[place % len(STYLES)])
            line.append(f" {track.busy_cycles:>{busy},}", style)
            line.append(f" {share(track.busy_cycles, profile.cycles):>6}", style)
            screen.print(line, no_wrap=True, overflow="crop")
        lost = sum(track.lost for track in profile.tracks if not profile.cores(track.core))
        if lost:
            text = f"{plural(lost, 'record')} lost: the spill area was full"
            screen.print(self._text(text, "bold yellow"))

    def _cores(self) -> None:
        """The cores of rows that have several, most at work first of all if there are too many."""
        profile = self.profile
        tracks = [core for track in profile.rows for core in profile.cores(track.row)]
        hidden = max(len(tracks) - CORES, 0)
        if hidden:
            least = sorted(tracks, key=lambda core: core.busy_cycles)[:hidden]
            tracks = [core for core in tracks if core not in least]
        headings = ("core", "busy", "", "records", "first", "last")
        self._table(headings, [self._core(core) for core in tracks])
        if hidden:
            self._more(hidden, "core")

    def _core(self, core: Track) -> tuple[Text, ...]:
        first = f"{core.busy[0][0]:,}" if core.busy else ""
        last = f"{core.busy[-1][1]:,}" if core.busy else ""
        cells = (
            core.core,
            f"{core.busy_cycles:,}",
            share(core.busy_cycles, self.profile.cycles),
            f"{len(core.slices):,}",
            first,
            last,
        )
        return tuple(map(self._text, cells))

    def _more(self, count: int, word: str) -> None:
        self.screen.print(self._text(f"{plural(count, f'more {word}')} not shown", "dim"))

    def _bottleneck(self) -> None:
        found = self.profile.bottleneck
        if found is None:
            return
        self._heading(f"bottleneck: {found.core}")
        self._paragraph(found.why)
        if found.slice is not None:
            self._paragraph(heaviest(found.slice))
        if found.saved:
            items = sorted(found.saved.items(), key=lambda item: -item[1])
            saved = ", ".join(f"{row} {cycles:,}" for row, cycles in items)
            self._paragraph(f"cycles less without the work of: {saved}")

    def _groups(self) -> None:
        """The instructions that took longest, each by its longest record, and their metrics."""
        groups = self.profile.groups
        shown = longest(groups, GROUPS, each=True)
        names = keys(shown)
        held = _thresholds(shown)
        titles = ["core", "instructions", "begin", "cycles"]
        if self.screen.width < ROOMY:  # what is held against nothing can wait
            names = [name for name in names if name in held]
        rows = []
        for group in shown:
            item = group.slice
            cells = (item.core, where(group), f"{item.begin:,}", f"{item.busy:,}")
            values = (self._value(group.metric(key)) for key in names)
            rows.append([*map(self._text, cells), *values])
        if held:
            limits = (self._text(held.get(key, ""), "dim") for key in names)
            rows.append([self._text("threshold", "dim"), *[Text()] * 3, *limits])
        headings = [*titles, *(key.replace("_", "\n") for key in names)]
        places = [self._text(group.slice.place).cell_len for group in shown]
        self._table(headings, rows, 2, places)
        if len(groups) > len(shown):
            self._more(len(groups) - len(shown), "record")

    def _value(self, metric: Metric | None) -> Text:
        """A metric's value, with a mark if it is not as it should be."""
        if metric is None:
            return Text()
        if metric.ok is False:
            return self._text(f"{number(metric.value)} !", "bold red")
        return self._text(number(metric.value) + ("  " if metric.ok is not None else ""))

    def _findings(self) -> None:
        found = self.profile.findings
        if not found:
            if self.profile.groups:
                self._heading("findings: none")
            return
        self._heading(f"findings: {len(found):,}")
        for index, finding in enumerate(found[:FINDINGS], 1):
            self._finding(index, finding)
        if len(found) > FINDINGS:
            self._more(len(found) - FINDINGS, "finding")

    def _finding(self, index: int, finding: Finding) -> None:
        head = Text(f"{index:>3}. ").append_text(self._text(finding.core, "bold"))
        head.append_text(self._text(f" {finding.where} {cost(finding)}".rstrip()))
        self.screen.print(head, soft_wrap=True)
        self._paragraph(finding.sentence, 5)
        if finding.others:
            self._paragraph(same_places(finding), 5)

    def _merge(self, merge: Merge) -> None:
        core = f" of {merge.core}" if merge.core else ""
        self._heading(f"merged timeline{core}: {plural(merge.total, 'cycle')}")
        self._paragraph(merged(merge))

    def _differences(self, found: Iterable[Difference]) -> None:
        self._heading(f"against {self.profile.against}")
        for item in found:
            style = {True: "green", False: "red", None: ""}[item.better]
            self._judged(verdict(item), style, item.sentence)

    def _goals(self, goals: Iterable[Goal]) -> None:
        self._heading("goals")
        for goal in goals:
            style = "green" if goal.met else "bold red"
            self._judged("met" if goal.met else "missed", style, goal.sentence)

    def _judged(self, word: str, style: str, sentence: str) -> None:
        line = Text("  ").append(f"{word:<7}", style).append_text(self._text(sentence))
        self.screen.print(line, soft_wrap=True)


def _thresholds(groups: Iterable[Group]) -> dict[str, str]:
    """By metric what its values were held against."""
    found = {}
    for group in groups:
        for metric in group.metrics:
            if metric.threshold is not None:
                found[metric.key] = number(metric.threshold)
    return found
