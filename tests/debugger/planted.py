"""Plants bugs in copies of samples: one operand of one line is changed, chosen by a seed.

A bug counts if the changed program assembles, exits within a limited number of cycles, and has a
different output. `python -m tests.debugger.planted [SEED]` prints the whole table.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from macaw import api
from macaw.debugger.commands.text import answer_text
from macaw.debugging import join_runs, make_interpreter
from macaw.isa.errors import MacawError
from tests.debugger.programs import PROGRAMS

SEED = 19
COUNT = 20
# Samples of all cores, with a few thousand cycles at most.
SAMPLES = (
    "layer", "conv1d", "matvec", "digits_mlp", "fim_dot", "fim_elementwise", "fim_mlp", "nnp_mlp",
    "nnp_fig2", "vector_dot", "pe_filter", "sparse_by_cp", "fig8", "fim_chain", "nnp_softmax",
    "fim_outer", "nnp_conv1x1",
)  # fmt: skip
MOST_CYCLES = 20_000
# Directives that lay out or declare, and constants, whose uses are at other lines.
_SKIPPED = re.compile(
    r"^\s*(\.(device|input|output|core|align|balign|array|section|hint|global|irp|rept|equ|set)\b|#|$)"
)
_NUMBER = re.compile(r"(?<![\w.\"])(0x[0-9a-fA-F]+|\d+)(?![\w.\"])")


@dataclass(frozen=True)
class Planted:
    """One changed operand: the sample, the file, its line and the two texts of the line."""

    sample: str
    source: str
    line: int
    old: str
    new: str


def copy_of(sample: str, folder: Path) -> Path:
    """Copy the files of a sample to a folder, and return the path of its source there."""
    golden = tomllib.loads((PROGRAMS / sample / "golden.toml").read_text("utf-8"))
    shutil.copytree(PROGRAMS / sample, folder, dirs_exist_ok=True)
    return folder / golden["source"]


@cache
def inputs_of(sample: str) -> dict[str, Any]:
    """The first item of each input of a sample, by name."""
    place = PROGRAMS / sample
    golden = tomllib.loads((place / "golden.toml").read_text("utf-8"))
    program = api.load(str(place / golden["source"]))
    return {
        tensor.name: np.load(place / golden["inputs"][tensor.name]).reshape(-1, *tensor.shape)[0]
        for tensor in program.inputs
    }


def change(text: str, chance: random.Random) -> tuple[int, str, str] | None:
    """Change one number of a source; return the line's number, its old and its new text."""
    lines = text.splitlines()
    places = [
        (number, match)
        for number, line in enumerate(lines)
        if not _SKIPPED.match(line)
        for match in _NUMBER.finditer(line.split("#")[0])
    ]
    if not places:
        return None
    number, match = chance.choice(places)
    value = int(match[0], 0)
    other = chance.choice([value + 1, max(0, value - 1), value * 2, value // 2, value + 4])
    if other == value:
        return None
    line = lines[number]
    return number + 1, line, line[: match.start()] + str(other) + line[match.end() :]


def outputs(path: Path, sample: str) -> dict[str, Any] | None:
    """The outputs of a program; None if it does not assemble or does not exit."""
    try:
        run = make_interpreter(api.load(str(path)), inputs_of(sample)).session
    except (MacawError, ValueError):
        return None
    if run.goto(MOST_CYCLES).reason != "exit":
        return None
    return {x.name: run.read(x.name) for x in run.program.outputs}


def draw(
    folder: Path, seed: int = SEED, count: int = COUNT
) -> Iterator[tuple[Planted, Path, Path]]:
    """Yield planted bugs with the paths of the good and of the changed source."""
    chance = random.Random(seed)
    made = 0
    seen = set()
    while made < count:
        sample = chance.choice(SAMPLES)
        place = folder / f"{made}"
        shutil.rmtree(place, ignore_errors=True)
        good = copy_of(sample, place)
        changed = change(good.read_text("utf-8"), chance)
        if changed is None or (sample, changed[0]) in seen:
            continue
        line, old, new = changed
        lines = good.read_text("utf-8").splitlines()
        lines[line - 1] = new
        bad = good.with_name("planted.s")
        bad.write_text("\n".join(lines) + "\n", "utf-8")
        right, wrong = outputs(good, sample), outputs(bad, sample)
        if right is None or wrong is None:
            continue
        if all(np.array_equal(right[x], wrong[x], equal_nan=True) for x in right):
            continue
        seen.add((sample, line))
        made += 1
        yield Planted(sample, good.name, line, old, new), good, bad


def plant(folder: Path, sample: str, line: int, old: str, new: str) -> tuple[Planted, Path, Path]:
    """Replace a text in one line; return the bug with the paths of the good and changed source."""
    good = copy_of(sample, folder)
    lines = good.read_text("utf-8").splitlines()
    before = lines[line - 1]
    assert before.count(old) == 1, before
    lines[line - 1] = before.replace(old, new)
    bad = good.with_name("planted.s")
    bad.write_text("\n".join(lines) + "\n", "utf-8")
    return Planted(sample, good.name, line, before, lines[line - 1]), good, bad


def references(good: Path, sample: str) -> dict[str, Path]:
    """Files with the contents of each tensor and array at the end of the good program."""
    program = api.load(str(good))
    run = make_interpreter(program, inputs_of(sample)).session
    run.cont()
    files = {}
    for tensor in (*program.tensors, *program.arrays):
        path = good.parent / f"golden_{tensor.name}.npy"
        np.save(path, run.read(tensor.name))
        files[tensor.name] = path
    return files


def lines_named(text: str, *sources: Path) -> set[int]:
    """The line numbers of the sources that an answer names."""
    names = "|".join(re.escape(path.name) for path in sources)
    return {int(x) for x in re.findall(rf"(?:{names}):(\d+)", text)}


@dataclass(frozen=True)
class Found:
    """Whether a command has named the changed line: which command, among how many lines."""

    command: int  # from 1; 0: none did
    among: int
    text: str


def by_reference(planted: Planted, good: Path, bad: Path) -> Found:
    """Ask `why ... against` with the arrays of the good program, at the end of the changed one."""
    files = references(good, planted.sample)
    run = make_interpreter(api.load(str(bad)), inputs_of(planted.sample))
    run.execute("continue")
    wrong = _first_wrong(planted, good, bad)
    others = " ".join(f"{name}={path}" for name, path in files.items() if name != wrong)
    lines = [f"why {wrong} against {files[wrong]} {others}"]
    return _ask(run, lines, 2, planted, bad)


def by_other_run(planted: Planted, good: Path, bad: Path) -> Found:
    """Look for the change by comparison with a run of the good program.

    The commands compare an output, ask `why ... against other`, and compare registers.
    """
    inputs = inputs_of(planted.sample)
    run = make_interpreter(api.load(str(bad)), inputs)
    join_runs(run, make_interpreter(api.load(str(good)), inputs), bad.name, good.name)
    name = _first_wrong(planted, good, bad)
    title = run.execute(f"compare {name}").title
    element = title.split(" is ")[-1] if title.startswith("the first") else title.split(" is ")[0]
    lines = [f"why {element.split(', byte')[0]} against other", "compare registers from 0"]
    return _ask(run, lines, 2, planted, good, bad)


def _first_wrong(planted: Planted, good: Path, bad: Path) -> str:
    """The name of the first output that differs."""
    right, wrong = outputs(good, planted.sample), outputs(bad, planted.sample)
    assert right is not None
    assert wrong is not None
    return next(x for x in right if not np.array_equal(right[x], wrong[x], equal_nan=True))


def _ask(run: Any, lines: list[str], first: int, planted: Planted, *sources: Path) -> Found:
    """Execute lines, numbered from `first`, until one names the changed line."""
    texts = []
    for number, line in enumerate(lines, first):
        answer = run.execute(line)
        texts.append(f"(macaw) {line}\n{answer_text(answer, line)}")
        named = lines_named(texts[-1], *sources)
        if planted.line in named:
            return Found(number, len(named), "\n".join(texts))
    return Found(0, 0, "\n".join(texts))


def main() -> None:
    """Print a table of all planted bugs, and of the commands that named their lines."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        count = [0, 0]
        seed = int(next((x for x in sys.argv[1:] if x != "-v"), SEED))
        for planted, good, bad in draw(Path(place), seed):
            print(flush=True, end="")
            print(
                f"{planted.sample} {planted.line}: {planted.old.strip()} -> {planted.new.strip()}"
            )
            for at, way in enumerate((by_reference, by_other_run)):
                found = way(planted, good, bad)
                count[at] += bool(found.command)
                print(f"    {way.__name__}: command {found.command}, {found.among} lines named")
                if not found.command and "-v" in sys.argv:
                    print(found.text)
        print(count)


if __name__ == "__main__":
    main()
