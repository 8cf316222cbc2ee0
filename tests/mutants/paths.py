"""Names of folders and files that the parts of the mutants' tool share."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("isa", "asm", "emu", "debugger", "lower", "macaw")

WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"  # a copy of the files that Git knows: mutants are made and tested there
LINES = WORK / "lines"  # which test executes which line: a file for each folder of tests
JOBS = WORK / "jobs.json"  # the mutants of one session, with the tests of each
RESULTS = WORK / "results.jsonl"
