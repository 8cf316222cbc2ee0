"""Writes a profile as one self-contained HTML page: timeline with zoom, tooltips, tables.

`page/page.html` is the template with style and script. This module makes the data. Texts of a
program are JSON strings, which the script inserts as text and never as HTML.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from macaw.profiling.account_report import cause_rows
from macaw.profiling.model import Group, Metric, Profile, Slice, Track
from macaw.profiling.phrases import (
    cost_note,
    finding_sentence,
    group_place,
    heaviest_sentence,
    longest_groups,
    merge_sentence,
    metric_keys,
    run_summary,
    verdict,
)
from macaw.profiling.slice_levels import stack_slices
from macaw.profiling.work_page import work_sections

MOST_GROUPS = 200  # in the page's table; the timeline has all
SCRIPTS = ("timeline", "parts", "page")  # concatenated to one module
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
}  # none of them may end the script element


def page(profile: Profile) -> str:
    """Return the text of the page. It must be written in UTF-8."""
    data = json.dumps(_PageData(profile).plain(), separators=(",", ":"), allow_nan=False)
    for sign, escape in _ESCAPES.items():
        data = data.replace(sign, escape)
    parts = {
        "title": html.escape(f"{profile.program}: profile"),
        "style": _page_file("page.css"),
        "script": "\n".join(_page_file(f"{name}.js") for name in SCRIPTS),
        "data": data,
        "work": work_sections(profile),
    }
    before, *rest = _page_file("page.html").split("{")
    pieces = [before]
    for piece in rest:
        name, _, text = piece.partition("}")
        pieces += [parts[name], text]
    return "".join(pieces)


def _page_file(name: str) -> str:
    return files("macaw.profiling").joinpath("page", name).read_text("utf-8")


class _PageData:
    """Builds the object that the page's script reads.

    Slices refer to strings by number, because many strings are repeated.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.strings: dict[str, int] = {}
        self.groups = {group.slice.key: group for group in profile.groups}

    def plain(self) -> dict[str, Any]:
        """Return the whole object as plain JSON data."""
        profile = self.profile
        shown = longest_groups(profile.groups, MOST_GROUPS)
        names = metric_keys(shown)
        slowest = profile.bottleneck
        return {
            "program": profile.program,
            "about": run_summary(profile),
            "cycles": profile.cycles,
            "tracks": [self.track(track) for track in profile.tracks],
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
            },
            "findings": [
                {
                    "core": f.core,
                    "where": f.where,
                    "note": cost_note(f),
                    "sentence": finding_sentence(f),
                }
                for f in profile.findings
            ],
            "causes": [row for account in profile.accounts for row in cause_rows(account)],
            "keys": names,
            "groups": [self.group(group, names) for group in shown],
            "hidden": len(profile.groups) - len(shown),
            "goals": [("met" if goal.met else "missed", goal.sentence) for goal in profile.goals],
            "against": profile.against,
            "differences": [(verdict(item), item.sentence) for item in profile.differences],
            "merge": profile.merge and merge_sentence(profile.merge),
            "step": profile.step and (profile.step.number, profile.step.title, profile.step.text),
            "strings": list(self.strings),
        }

    def track(self, track: Track) -> dict[str, Any]:
        """Return a track as data. A track that joins several cores has no slices of its own."""
        joins = bool(self.profile.cores(track.core))
        levels_of_core = [] if joins else stack_slices(track.slices)
        return {
            "core": track.core,
            "row": track.row,
            "busy": track.busy,
            "cycles": track.busy_cycles,
            "records": len(track.slices),
            "lanes": [[self.slice(item) for item in lane] for lane in levels_of_core],
        }

    def layers(self) -> dict[str, Any] | None:
        """Return the layers of a network as a track, and as rows of a table; None without them."""
        layers = self.profile.layers
        if not layers:
            return None
        rows = [track.row for track in self.profile.rows]
        lane = [
            (item.begin, item.end, number, 1, self.string(item.name), self.string(item.operator),
             0, {row: item.busy.get(row, 0) for row in rows}, ())
            for number, item in enumerate(layers)
        ]  # fmt: skip
        return {
            "core": "layers",
            "row": "layers",
            "busy": [(layers[0].begin, layers[-1].end)],
            "cycles": layers[-1].end - layers[0].begin,
            "records": len(layers),
            "lanes": [lane],
            "rows": rows,
            "table": [
                (x.name, x.operator, x.core, x.begin, x.end, x.predicted, x.bound,
                 [x.busy.get(row, 0) / max(x.cycles, 1) for row in rows])
                for x in layers
            ],
        }  # fmt: skip

    def slice(self, item: Slice) -> tuple[Any, ...]:
        """Return the fields of a slice in the order that the script's function `slice` expects."""
        group = self.groups.get(item.key)
        return (
            item.begin,
            item.end,
            item.first,
            item.instructions,
            self.string(item.name),
            self.string(item.place),
            item.waited,
            {name: value for name, value in item.counters.items() if value},
            [(m.key, m.value) for m in (group.metrics if group else ()) if m.value is not None],
        )

    def group(self, group: Group, names: list[str]) -> dict[str, Any]:
        """Return a row of the table of metrics."""
        item = group.slice
        values = (group.metric(name) or Metric(name, None) for name in names)
        return {
            "core": item.core,
            "where": group_place(group),
            "begin": item.begin,
            "until": item.end,
            "cycles": item.busy,
            "values": [(metric.value, metric.ok) for metric in values],
        }

    def string(self, text: str) -> int:
        """Return the number of a string. If it is new, add it to the list."""
        return self.strings.setdefault(text, len(self.strings))
