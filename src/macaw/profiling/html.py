"""Writes a profile as one self-contained HTML page: timeline with zoom, tooltips, tables.

`page/page.html` is the template with style and script. This module makes the data. Texts of a
program are JSON strings, which the script inserts as text and never as HTML.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from macaw.html_pages import fill, script_data
from macaw.isa.causes import CAUSES
from macaw.profiling.account_report import cause_rows
from macaw.profiling.annotation_page import annotation_data
from macaw.profiling.model import Finding, MissedThreshold, Profile, Slice, Track
from macaw.profiling.page_lines import line_totals
from macaw.profiling.page_records import (
    RecordColumns,
    StringTable,
    column,
    fractions,
    interval_columns,
)
from macaw.profiling.phrases import (
    cause_sentence,
    cost_note,
    heaviest_sentence,
    merge_sentence,
    run_summary,
    same_places,
    saved_note,
    verdict,
)
from macaw.profiling.work_page import work_sections

# of page/, concatenated to one module
SCRIPTS = (
    "base",
    "slices",
    "records",
    "view",
    "drawing",
    "tooltip",
    "timeline",
    "waits",
    "grid",
    "table",
    "range",
    "source",
    "parts",
    "keys",
    "page",
)


def page(profile: Profile, sources: Mapping[str, str] | None = None) -> str:
    """Return the text of the page. It must be written in UTF-8.

    `sources` has the texts of the source files that the page shows, by the short file name that
    source positions have (`layer.s`).
    """
    parts = {
        "title": html.escape(f"{profile.program}: profile"),
        "style": _page_file("page.css"),
        "script": "\n".join(_page_file(f"{name}.js") for name in SCRIPTS),
        "data": script_data(_PageData(profile, sources or {}).plain()),
        "work": work_sections(profile),
    }
    return fill(_page_file("page.html"), parts)


def _page_file(name: str) -> str:
    return files("macaw.profiling").joinpath("page", name).read_text("utf-8")


class _PageData:
    """Builds the object that the page's script reads."""

    def __init__(self, profile: Profile, sources: Mapping[str, str]) -> None:
        self.profile, self.sources = profile, sources
        self.strings = StringTable()
        self.records = RecordColumns(profile.tracks, self.strings)

    def plain(self) -> dict[str, Any]:
        """Return the whole object as plain JSON data."""
        profile = self.profile
        slowest = profile.bottleneck
        return {
            "program": profile.program,
            "about": run_summary(profile),
            "cycles": profile.cycles,
            "tracks": [self.track(track) for track in profile.tracks],
            "records": self.records.plain(),
            "layers": self.layers(),
            "series": [
                {"name": s.name, "unit": s.unit, "row": s.row, "most": s.most, "points": s.points}
                for s in profile.series
            ],
            "bottleneck": slowest
            and {
                "core": slowest.core,
                "why": slowest.why,
                "where": slowest.slice and heaviest_sentence(slowest.slice),
                "link": slowest.slice and self.link(slowest.slice),
                "saved": slowest.saved,
                "between": slowest.between,
                "sooner": slowest.sooner,
            },
            "findings": [self.finding(finding) for finding in profile.findings],
            "missed": [self.missed(item) for item in profile.missed_thresholds],
            "annotation": annotation_data(profile.annotation),
            "causes": [row for account in profile.accounts for row in cause_rows(account)],
            "meanings": {cause.name: cause.meaning for cause in CAUSES},
            "metrics": self.metrics(),
            "goals": [("met" if goal.met else "missed", goal.sentence) for goal in profile.goals],
            "against": profile.against,
            "earlier": self.earlier(),
            "lines": line_totals(profile.accounts),
            "sources": self.sources,
            "differences": [(verdict(item), item.sentence) for item in profile.differences],
            "merge": profile.merge and merge_sentence(profile.merge),
            "step": profile.step and (profile.step.number, profile.step.title, profile.step.text),
            "strings": self.strings.texts(),
            "ranks": self.strings.ranks(),
        }

    def track(self, track: Track) -> dict[str, Any]:
        """Return a track as JSON data."""
        return {
            "core": track.core,
            "row": track.row,
            "busy": interval_columns(track.busy),
            "cycles": track.busy_cycles,
            "records": len(track.slices),
            "waits": interval_columns([(wait.begin, wait.end) for wait in track.waits]),
            "whom": column([self.strings.number(", ".join(x.cores)) for x in track.waits]),
        }

    def earlier(self) -> dict[str, Any] | None:
        """Return the timeline of the earlier run; None if there is none."""
        earlier = self.profile.earlier
        if earlier is None:
            return None
        return {
            "program": earlier.program,
            "device": earlier.device,
            "cycles": earlier.cycles,
            "tracks": {track.core: interval_columns(track.busy) for track in earlier.tracks},
        }

    def layers(self) -> dict[str, Any] | None:
        """Return the layers of a network as rows of a table; None if the profile has no layers."""
        layers = self.profile.layers
        if not layers:
            return None
        rows = [track.row for track in self.profile.rows]
        return {
            "rows": rows,
            "table": [
                (x.name, x.operator, x.core, x.begin, x.end, x.predicted, x.bound,
                 [x.busy.get(row, 0) for row in rows])
                for x in layers
            ],
        }  # fmt: skip

    def finding(self, finding: Finding) -> dict[str, Any]:
        """Return a finding as JSON data."""
        sentence = f"{cause_sentence(finding)}. Advice: {finding.advice}"
        note = saved_note(finding, self.profile.cycles)
        return self._listed(finding, note, sentence, finding.saved)

    def missed(self, missed: MissedThreshold) -> dict[str, Any]:
        """Return a missed threshold as JSON data."""
        return self._listed(missed, cost_note(missed), missed.sentence, missed.cost)

    def _listed(
        self, item: Finding | MissedThreshold, note: str, sentence: str, saved: int
    ) -> dict[str, Any]:
        """Return a finding or missed threshold as JSON data, with a link to its longest record.

        In the page, `note` follows the source position, and `sentence` describes the finding.
        `saved` is the number of cycles that the run would save.
        """
        slices = [
            group.slice
            for group in self.profile.groups
            if group.slice.place
            and item.where.startswith(f"{group.slice.place}:")
            and item.core in (group.slice.core, group.slice.row)
        ]
        longest = max(slices, key=lambda each: each.busy, default=None)
        return {
            "core": item.core,
            "where": item.where,
            "note": note,
            "sentence": f"{sentence}; {same_places(item)}" if item.others else sentence,
            "saved": saved,
            "link": longest and self.link(longest),
        }

    @staticmethod
    def link(item: Slice) -> dict[str, Any]:
        """Return the link to a slice in the page: its core, source position and cycles."""
        return {"core": item.core, "place": item.place, "begin": item.begin, "until": item.end}

    def metrics(self) -> list[dict[str, Any]]:
        """Return each metric as columns: the records that have a value, and their values."""
        found: dict[str, dict[int, tuple[float, bool]]] = {}
        for group in self.profile.groups:
            record = self.records.numbers.get(group.slice.key)
            if record is None:
                continue
            for metric in group.metrics:
                if metric.value is not None:
                    found.setdefault(metric.key, {})[record] = metric.value, metric.ok is False
        return [self.metric(key, dict(sorted(rows.items()))) for key, rows in found.items()]

    @staticmethod
    def metric(key: str, rows: Mapping[int, tuple[float, bool]]) -> dict[str, Any]:
        """Return the values of the metric `key` as columns, with one item for each record.

        `rows` has the metric's values: {number of the record: (value, whether the value misses the
        threshold)}.
        """
        return {
            "key": key,
            "records": column(np.diff(list(rows), prepend=0)),
            "values": fractions([value for value, _ in rows.values()]),
            "missed": column([missed for _, missed in rows.values()]),
        }
