"""Measures the page of a profile with many records in Chromium: loading, memory, and frames.

`python -m benchmarks.profile_page [RECORDS]` prints a table of medians and 95th percentiles. Input
comes through the DevTools protocol, as a user's would. "Between frames" is the time from one frame
of the browser to the next while the input goes on. "Drawing" is the time that the page's script
takes for a frame.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from macaw.profiling import html
from tests.macaw.profile.browser import Browser, Page
from tests.macaw.profile.many_records import CORES, many_records, with_waits

RECORDS = 1_000_000
SHARE = 0.95
TITLES = {  # of what the page measures
    "frame": "drawing",
    "search": "search",
    "search in all": "search in all",
    "sort": "sorting",
    "sort in all": "sort in all",
    "statistics": "statistics",
    "statistics in all": "stat. in all",
}
WATCH = """(() => {
  window.frames_ = []; window.stop_ = false; let before = null;
  const note = now => { if (before !== null) frames_.push(now - before); before = now; if (!stop_) requestAnimationFrame(note); };
  requestAnimationFrame(note);
})()"""
IDLE = """new Promise(done => {
  const look = () => document.getElementById("grid").ariaBusy === "true" ? setTimeout(look, 5) : done();
  look();
})"""


def share_of(values: list[float], share: float) -> float:
    """Return the value below which the share `share` of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


class Measured:
    """Measures a page, and prints a row of the table for each kind of input."""

    def __init__(self, page: Page) -> None:
        self.page = page
        left, top, width, height = page.box("[data-track='pe'] canvas")
        self.x, self.y, self.width = left, top + height / 2, width

    def frames(self, name: str, act: object) -> None:
        """Measure the frames while `act` gives input; `act` is called with 0 to 59."""
        assert callable(act)
        self.page.run(f"(performance.clearMeasures(), {WATCH}, 0)")
        for turn in range(60):
            act(turn)
        found = self.page.run(
            f"(stop_ = true, [frames_, ...{list(TITLES)}.map(name =>"
            " performance.getEntriesByName(name).map(one => one.duration))])"
        )
        for title, values in zip(("between frames", *TITLES.values()), found, strict=True):
            if values:
                print(
                    f"{name:<18} {title:<15} {len(values):>5} {share_of(values, 0.5):>8.1f}"
                    f" {share_of(values, SHARE):>8.1f} {max(values):>8.1f}"
                )

    def wheel(self, turn: int) -> None:
        """Zoom in for half of the time, and out again."""
        step = -60 if turn % 60 < 30 else 60
        x = self.x + self.width * 0.4
        self.page.mouse("mouseWheel", x, self.y, deltaX=0, deltaY=step)

    def drag(self, turn: int) -> None:
        """Move the view with the left button held."""
        x = self.x + self.width / 2
        if turn == 0:
            self.page.mouse("mousePressed", x, self.y, button="left", clickCount=1)
        self.page.mouse("mouseMoved", x - 8 * turn, self.y, button="left", buttons=1)
        if turn == 59:
            self.page.mouse("mouseReleased", x, self.y, button="left", clickCount=1)

    def letter(self, turn: int) -> None:
        """Type a search, letter by letter, and delete it."""
        word = "lw net.s:1 t0 fim transfer cp"
        self.page.key(word[turn] if turn < len(word) else "Backspace")
        self.page.run(IDLE)

    def scroll(self, turn: int) -> None:
        """Scroll the table of records."""
        left, top, width, height = self.page.box("#grid")
        self.page.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=300)

    def sort(self, turn: int) -> None:
        """Click on headings."""
        if turn % 15 == 0:
            column = ("cycles", "where", "core", "waited")[turn // 15]
            left, top, width, height = self.page.box(f"[data-column={column}] button")
            self.page.click(left + width / 2, top + height / 2)
            self.page.run(IDLE)


def main(count: int) -> None:
    """Print all measurements for `count` records."""
    start = time.perf_counter()
    plain = many_records(count, gaps=(1, 6))
    profile = replace(plain, tracks=tuple(with_waits(track) for track in plain.tracks))
    made = time.perf_counter()
    text = html.page(profile)
    print(
        f"records {sum(len(track.slices) for track in plain.tracks if track.core in CORES):,}"
        f", waits {sum(len(track.waits) for track in profile.tracks if track.core in CORES):,}"
    )
    print(f"html.page {time.perf_counter() - made:.1f} s (profile {made - start:.1f} s)")
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        path = Path(folder) / "profile.html"
        path.write_text(text, "utf-8")
        print(f"file {path.stat().st_size / 1e6:.1f} MB")
        page = browser.open(path, 1400, 1000)
        load = page.run("performance.getEntriesByName('load')[0].duration")
        page.call("HeapProfiler.collectGarbage")
        memory = page.run("performance.memory.usedJSHeapSize")
        usage = page.call("Runtime.getHeapUsage")
        print(f"load {load:.0f} ms, heap {memory / 1e6:.0f} MB, usage {usage}")
        print(f"{'input':<18} {'what':<15} {'count':>5} {'median':>8} {'95%':>8} {'most':>8}  ms")
        measured = Measured(page)
        measured.frames("nothing", lambda turn: time.sleep(0.016))
        measured.frames("wheel", measured.wheel)
        page.key("+")
        page.key("+")
        measured.frames("drag", measured.drag)
        page.key("0")
        page.key("/")
        measured.frames("search", measured.letter)
        page.run("document.activeElement.blur()")
        measured.frames("scroll of table", measured.scroll)
        measured.frames("sort", measured.sort)
        assert page.troubles() == []


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS)
