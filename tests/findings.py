"""The findings of an outside examination: the fault, and the commit and tests that mend it.

tests/findings.toml is written by hand. `python -m tests.findings` prints the table as a page,
`--write` writes the page to docs/findings.md.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import Any

from macaw.isa.markdown import wrap
from tests.seeds.mentions import ROOT
from tests.seeds.page import tests_by_file

TABLE = ROOT / "tests" / "findings.toml"
PAGE = ROOT / "docs" / "findings.md"
STATES = {
    "mended": "a test shows that it is right now",
    "stated": "Macaw differs from the seeds, and a page says so",
    "open": "it is still so, for the reason given",
}
PARTS = {
    1: "Wrong results, wrong stops, lost data",
    26: "Advice of the profiler that was not true",
    37: "Robustness",
    51: "Promises of the seeds and of the specification",
}


@dataclass(frozen=True)
class Finding:
    """One finding, its state, and the tests and commits that mend it."""

    number: int
    was: str  # what the examination saw
    state: str = "mended"
    why: str = ""  # the reason if it is not mended, or not completely
    page: str = ""  # a page of the manual that states the difference
    says: str = ""  # words of that page
    tests: tuple[str, ...] = ()  # "tests/x/test_y.py::test_z", or "programs/x" (a golden folder)
    commits: tuple[str, ...] = ()  # the first one mended it, later ones more of it


def findings() -> list[Finding]:
    """Return the findings in the order of the file."""
    rows: list[dict[str, Any]] = tomllib.loads(TABLE.read_text("utf-8"))["finding"]
    for row in rows:
        row |= {key: tuple(row[key]) for key in ("tests", "commits") if key in row}
    return [Finding(**row) for row in rows]


def page() -> str:
    """Return the text of docs/findings.md."""
    rows = findings()
    counts = Counter(item.state for item in rows)
    total = ", ".join(f"{counts[state]} {state}" for state in STATES)
    lines = [
        "<!-- Made by `make docs` from tests/findings.toml. Edit that file, not this page. -->",
        "# Findings",
        "",
        wrap(
            "On 2026-11-22 people who had not built Macaw examined all of it. This page lists what "
            "they found wrong, and for each finding the commit that mended it and the tests that "
            f"would fail if it came back. {len(rows)} findings: {total}."
        ),
        "",
        "| state | meaning |",
        "|---|---|",
        *(f"| {state} | {meaning} |" for state, meaning in STATES.items()),
    ]
    for item in rows:
        if item.number in PARTS:
            lines += ["", f"## {PARTS[item.number]}", ""]
        lines.append(entry(item))
    return "\n".join(
        [*lines, "", "Words of the field and of Macaw: [glossary.md](glossary.md).", ""]
    )


def entry(item: Finding) -> str:
    """Return a finding as a list item, with its tests below it."""
    commits = f" by {', '.join(item.commits)}" if item.commits else ""
    text = f"- **F{item.number}**, {item.state}{commits}: {item.was}."
    text += f" {item.why}." if item.why else ""
    text += f" [{item.page}]({item.page.removeprefix('docs/')}) says so." if item.page else ""
    return "\n".join([wrap(text), *(wrap(f"  - `{of}`") for of in tests_by_file(item.tests))])


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.findings", description=__doc__)
    parser.add_argument("--write", action="store_true", help="docs/findings.md")
    if parser.parse_args().write:
        PAGE.write_text(page(), "utf-8")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()
