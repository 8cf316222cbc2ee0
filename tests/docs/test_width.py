"""Lines of pages have at most 120 characters, cells of tables at most 150."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    ".",
    "docs",
    "docs/isa",
    "docs/seeds",
    "docs/tutorial",
    "programs/*",
    "editors/*",
    "tests/*",
    "src/macaw/samples/*",
    "src/macaw/samples/exercises/*",
)
PAGES = sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.md"))
# Rows of an instruction table are one line each; answers of the tool are as long as their places.
AS_THEY_ARE = (
    '    I("',
    "    *_each(",
    "      1. pe",
    "      2. pe",
    "    stops.s:9:11: fault",
)
SETTING = re.compile(r"    +with \w+ = ")  # of a step, in an answer of `why`


def test_all_pages_are_looked_at() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git repository here")
    assert {ROOT / name for name in listed.stdout.split()} - set(PAGES) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lines_and_cells_are_short(page: Path) -> None:
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if line.startswith("|"):
            pieces = (part.strip() for cell in line.split("|") for part in cell.split("<br>"))
            assert max(map(len, pieces)) <= 150, f"{page}:{number}"
        elif not line.startswith(AS_THEY_ARE) and not SETTING.match(line):
            assert len(line) <= 120, f"{page}:{number}"
