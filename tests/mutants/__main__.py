"""`python -m tests.mutants --map`, then `python -m tests.mutants --seed 1 --count 30 --room emu`.

The first command records, once for a commit, which test executes which line. The second command
makes mutants of product lines and runs the nearest tests on each mutant. It prints the mutants that
survive, and their number. `--modules` limits the mutants to some folders or modules, `--only N`
repeats one mutant. With `--tests`, each command runs the given tests instead. With `--without`, the
mutants are of lines that the given tests execute: the command prints those that these tests alone
notice.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.mutants import copies, serving
from tests.mutants.choosing import Choice, Chooser, Lines, drawn
from tests.mutants.mutations import Mutant
from tests.mutants.paths import JOBS, LINES, PACKAGE, ROOMS, TREE, room_of

OUTCOMES = {"test": "ended by a test", serving.TIME: "ended by its time", "": "survived"}


def _job(number: int, choice: Choice, text: str) -> dict[str, object]:
    """The job of the server that tests a mutant."""
    mutant = choice.mutant
    changed = mutant.applied(text)
    return {
        "number": number, "path": mutant.path, "line": mutant.lines[0], "original": text,
        "text": changed, "tests": choice.tests,
    }  # fmt: skip


def served(
    choices: Sequence[Choice], tree: Path = TREE, jobs: Path = JOBS, extra: Path | None = None
) -> dict[int, str]:
    """Run mutants in one process of pytest; return the outcomes by index in `choices`.

    Leaves out mutants without tests, and mutants that need a new process.
    """
    rows = [
        _job(number, each, (tree / each.mutant.path).read_text("utf-8"))
        for number, each in enumerate(choices)
        if each.tests and not each.afresh
    ]
    if not rows:
        return {}
    jobs.write_text(json.dumps(rows), "utf-8")
    files = sorted({test.partition("::")[0] for each in choices for test in each.tests})
    options = [*files, "-p", "tests.mutants.serving", "--tb=no"]
    subprocess.run(
        copies.pytest_words(options), cwd=tree, check=False, stdout=subprocess.DEVNULL,
        env=copies.variables(tree, extra, **{serving.JOBS: str(jobs)}),
    )  # fmt: skip
    answers = jobs.with_suffix(".answers").read_text("utf-8").splitlines()
    return dict(json.loads(line) for line in answers)


def judged(
    choices: Sequence[Choice], tree: Path = TREE, jobs: Path = JOBS, extra: Path | None = None
) -> list[str]:
    """Return for each mutant the name of a test that fails, or an empty text if all tests pass.

    The word "time" stands for a mutant whose tests took too much time.
    """
    answers = served(choices, tree, jobs, extra)
    found = []
    for number, each in enumerate(choices):
        said = answers.get(number, serving.AFRESH)
        if said == serving.AFRESH:
            text = each.mutant.applied((tree / each.mutant.path).read_text("utf-8"))
            with copies.written(tree, each.mutant.path, text):
                said = copies.fails(tree, each.tests, extra)
        found.append(said)
    return found


def session(room: str, given: argparse.Namespace, count: int) -> Counter[str]:
    """Make mutants of a room, run their tests, print the survivors; count the outcomes."""
    chooser = Chooser(TREE, Lines(LINES))
    mutants = drawn(TREE, room, count, given.seed, given.modules)
    choices = list(enumerate(map(chooser.choice, mutants)))
    if given.only is not None:
        choices = choices[given.only : given.only + 1]
    if given.tests:
        choices = [
            (number, replace(each, tests=tuple(given.tests), afresh=True))
            for number, each in choices
        ]
    counts: Counter[str] = Counter()
    for (number, choice), said in zip(choices, judged([each for _, each in choices]), strict=True):
        outcome = said if said in ("", serving.TIME) else "test"
        counts[OUTCOMES[outcome]] += 1
        mutant = choice.mutant
        if not outcome or given.only is not None:
            text = (TREE / mutant.path).read_text("utf-8")
            ran = f"{len(choice.tests)} tests" if choice.tests else "no test executes it"
            print(f"\n{room} {number}: {mutant.path}:{mutant.lines[0]}, {mutant.kind} ({ran})")
            print(f"{mutant.diff(text)}\n{OUTCOMES[outcome]} {said}".rstrip(), flush=True)
    parts = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES.values())
    print(f"{room}: {len(choices)} mutants of seed {given.seed}: {parts}", flush=True)
    return counts


def losses(
    chooser: Chooser, mutants: Sequence[Mutant], jobs: Path = JOBS, extra: Path | None = None
) -> list[tuple[Mutant, str]]:
    """The mutants that only tests left out of the chooser notice, each with such a test.

    It prints how many mutants the other tests notice.
    """
    said = judged([*map(chooser.choice, mutants)], chooser.tree, jobs, extra)
    left = [mutant for mutant, name in zip(mutants, said, strict=True) if not name]
    print(f"{len(mutants)} mutants: other tests notice {len(mutants) - len(left)}", flush=True)
    choices = [chooser.choice(mutant, left_out=True) for mutant in left]
    said = judged(choices, chooser.tree, jobs, extra)
    return [(mutant, name) for mutant, name in zip(left, said, strict=True) if name]


def print_losses(tests: Sequence[str], count: int, seed: int) -> int:
    """Print the mutants that no other tests than these notice; return how many they are."""
    chooser = Chooser(TREE, Lines(LINES), tests)
    if not chooser.left_out:
        raise SystemExit(f"no test of the map is one of these: {' '.join(tests)}")
    lost = losses(chooser, chooser.executed_by_left_out(count, seed))
    for mutant, name in lost:
        text = (TREE / mutant.path).read_text("utf-8")
        print(f"\n{mutant.path}:{mutant.lines[0]}, {mutant.kind}\n{mutant.diff(text)}\nonly {name}")
    print(f"only these tests notice {len(lost)}")
    return len(lost)


def rooms_of(room: str | None, modules: Sequence[str]) -> list[str]:
    """The given room, or the rooms of the given modules, or all rooms."""
    if room is not None:
        return [room]
    named = {room_of(f"{PACKAGE}/{each}") for each in modules}
    return [each for each in ROOMS if each in named or not named]


def main() -> int:
    """Run what the command line asks for; return 1 if a mutant survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--map", action="store_true", help="record which test executes which line")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30, help="mutants")
    parser.add_argument("--room", choices=ROOMS, help="of one room; without it of all alike")
    parser.add_argument("--only", type=int, metavar="N", help="mutant N of the room alone")
    parser.add_argument(
        "--modules", nargs="+", default=[], metavar="PATH", help="of these folders or modules"
    )
    parser.add_argument(
        "--tests", nargs="+", default=[], help="map or run these tests, not all or the nearest"
    )
    parser.add_argument(
        "--without",
        nargs="+",
        default=[],
        metavar="TEST",
        help="find what no other tests than these notice",
    )
    given = parser.parse_args()
    if given.map:
        copies.record(given.tests)
        return 0
    copies.recover(TREE)
    copies.refresh(["tests/mutants", *given.tests])
    if given.without:
        return 1 if print_losses(given.without, given.count, given.seed) else 0
    rooms = rooms_of(given.room, given.modules)
    counts: Counter[str] = Counter()
    for number, room in enumerate(rooms):
        counts += session(room, given, (given.count + number) // len(rooms))
    print(f"{counts['survived']} of {counts.total()} survived")
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
