"""Names of folders and files that several modules of the mutants' tool use."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "src/macaw"  # mutants have the paths by which modules are imported, through the links
ROOMS = ("isa", "asm", "emu", "debugger", "lowering", "macaw")  # macaw: what is in no other

WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"  # a copy of the files that Git knows: mutants are made and tested there
LINES = WORK / "lines"  # which test executes which line: a file for each folder of tests
JOBS = WORK / "jobs.json"  # the mutants of one session, with the tests of each
RESULTS = WORK / "results.jsonl"


def room_of(path: str) -> str:
    """The room of a module's path."""
    name = Path(path).relative_to(PACKAGE).parts[0]
    return name if name in ROOMS else "macaw"
