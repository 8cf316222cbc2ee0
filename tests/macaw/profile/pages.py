"""A profile's page in a browser; the same profile's records as NumPy arrays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from macaw.profiling import html
from macaw.profiling.model import Profile, to_json
from tests.macaw.profile.browser import Browser, Page


class OpenedProfile:
    """The page of a profile in a browser, and what it shows."""

    def __init__(self, browser: Browser, profile: Profile, path: Path, **more: Any) -> None:
        path.write_text(html.page(profile, **more), "utf-8")
        self.page: Page = browser.open(path)

    def run(self, expression: str) -> Any:
        """The value of an expression."""
        return self.page.run(expression)

    def type(self, selector: str, text: str) -> None:
        """Click into a field, delete its text, and type another."""
        left, top, width, height = self.page.box(selector)
        self.page.click(left + width / 2, top + height / 2, count=3)
        self.page.key("Delete")
        for letter in text:
            self.page.key(letter)

    def click(self, selector: str, count: int = 1) -> None:
        """Scroll to an element and click into its middle."""
        self.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'nearest'}})")
        left, top, width, height = self.page.box(selector)
        self.page.click(left + width / 2, top + height / 2, count)

    def text(self, selector: str) -> str:
        """The text of an element."""
        found: str = self.run(f"document.querySelector({selector!r}).innerText")
        return found

    def table(self, selector: str) -> list[list[str]]:
        """The texts of the cells in the body of a table."""
        found: list[list[str]] = self.run(
            f"[...document.querySelectorAll({selector + ' tbody tr'!r})]"
            ".map(row => [...row.children].map(cell => cell.textContent))"
        )
        return found

    def view(self) -> tuple[int, int]:
        """The first and the last cycle in view."""
        match = re.match(r"cycles ([\d,]+) to ([\d,]+) of [\d,]+", self.text("#view"))
        assert match
        return number(match[1]), number(match[2])

    def at(self, row: str, cycle: float) -> tuple[float, float]:
        """The point of a row's canvas at a cycle."""
        left, top, width, height = self.page.box(f"[data-track='{row}'] canvas")
        begin, end = self.view()
        return left + (cycle - begin) / (end - begin) * width, top + height / 2


def number(text: str) -> int:
    """The integer of a text with commas."""
    return int(text.replace(",", ""))


@dataclass(frozen=True)
class Records:
    """The records of a profile's JSON, sorted by begin, core and instruction."""

    core: np.ndarray
    where: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    waited: np.ndarray

    @classmethod
    def of(cls, profile: Profile) -> Records:
        """Read the records from the JSON of a profile."""
        tracks = json.loads(json.dumps(to_json(profile)))["tracks"]
        joined = {t["row"] for t in tracks if t["core"] != t["row"]}
        rows = [
            (item["begin"], place, item["end"], item["first"], track["core"], item)
            for place, track in enumerate(tracks)
            if track["core"] not in joined
            for item in track["slices"]
        ]
        rows.sort(key=lambda row: row[:4])
        items = [row[5] for row in rows]
        return cls(
            np.array([row[4] for row in rows]),
            np.array([cls._where(item) for item in items]),
            np.array([item["begin"] for item in items]),
            np.array([item["end"] for item in items]),
            np.array([item["waited"] for item in items]),
        )

    @staticmethod
    def _where(item: dict[str, Any]) -> str:
        place = f"{item['place']}: " if item["place"] else ""
        more = f" +{item['instructions'] - 1:,}" if item["instructions"] > 1 else ""
        return f"{place}{item['name'] or 'instruction ' + format(item['first'], ',')}{more}"

    @property
    def cycles(self) -> np.ndarray:
        """The number of cycles in which each record did not wait, (records,)."""
        return self.end - self.begin - self.waited

    def cells(self, chosen: np.ndarray) -> list[list[str]]:
        """The first five cells of the page's table for the chosen records."""
        return [
            [
                str(self.core[place]),
                str(self.where[place]),
                f"{self.begin[place]:,}",
                f"{self.cycles[place]:,}",
                f"{self.waited[place]:,}" if self.waited[place] else "",
            ]
            for place in chosen
        ]
