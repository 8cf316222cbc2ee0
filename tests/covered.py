"""`python -m tests.covered FILE`: how much of each room the tests executed.

FILE is the JSON report of coverage (`pytest --cov=macaw --cov-report=json:FILE`).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from docs.modules import ROOMS


def room_of(path: str) -> str:
    """The folder of docs/modules.md to which a file belongs."""
    return next((folder for folder in ROOMS if path.startswith(f"{folder}/")), "others")


def table(files: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Iterator[str]:
    """A line for each room and one for all: statements, and the share that tests executed."""
    statements: Counter[str] = Counter()
    executed: Counter[str] = Counter()
    for path, file in files.items():
        statements[room_of(path)] += file["summary"]["num_statements"]
        executed[room_of(path)] += file["summary"]["covered_lines"]
    rows = [(room, executed[room], statements[room]) for room in statements]
    for room, done, count in [*sorted(rows), ("all", executed.total(), statements.total())]:
        yield f"{room:<20}{count:>8,} statements{done / count:>8.1%} executed by tests"


if __name__ == "__main__":
    print("\n".join(table(json.loads(Path(sys.argv[1]).read_text("utf-8"))["files"])))
