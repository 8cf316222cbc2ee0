"""Chooses mutants, and for each one the tests that execute its line, nearest first."""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

from tests.mutants.mutations import KINDS, Mutant, legal, mutants
from tests.mutants.paths import PACKAGE, room_of
from tests.mutants.recording import COLLECTION

SLOWEST = 20.0  # seconds of processor time: no test that takes longer is run
BUDGET = 60.0  # of all tests of a mutant together, as they were recorded


@dataclass(frozen=True)
class RecordedTest:
    """A test, its seconds, and the places (`Lines.place`) that it executes."""

    name: str
    seconds: float
    places: npt.NDArray[np.uint32]

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]

    @property
    def function(self) -> str:
        return self.name.partition("[")[0]


class Lines:
    """The recording: which test executes which line of the product."""

    def __init__(self, folder: Path) -> None:
        self.numbers: dict[tuple[str, int], int] = {}
        self.tests: list[RecordedTest] = []
        self.at_collection: set[int] = set()  # places executed before the first test
        for file in sorted(folder.glob("*.npz")):
            self._read(file)

    def _read(self, file: Path) -> None:
        with np.load(file) as data:
            pairs = zip(data["files"].tolist(), data["lines"].tolist(), strict=True)
            numbers = [self.numbers.setdefault(pair, len(self.numbers)) for pair in pairs]
            ids = np.array(numbers, np.uint32)[data["ids"]]
            parts = np.split(ids, data["ends"][:-1])
            rows = zip(
                data["tests"].tolist(), data["seconds"].tolist(), data["passed"], parts, strict=True
            )
            for name, seconds, passed, places in rows:
                if name == COLLECTION:
                    self.at_collection.update(places.tolist())
                elif passed and seconds <= SLOWEST:
                    self.tests.append(RecordedTest(name, seconds, places))

    def places(self, path: str, lines: Iterable[int]) -> set[int]:
        """The numbers of the given lines of a file that any test executes."""
        pairs = ((path, line) for line in lines)
        return {self.numbers[pair] for pair in pairs if pair in self.numbers}

    @cached_property
    def _owners(self) -> npt.NDArray[np.int64]:
        return np.repeat(np.arange(len(self.tests)), [len(each.places) for each in self.tests])

    @cached_property
    def _all(self) -> npt.NDArray[np.uint32]:
        return np.concatenate([each.places for each in self.tests])

    def tests_of(self, places: set[int]) -> list[RecordedTest]:
        """The tests that execute any of the places."""
        met = np.isin(self._all, np.array(sorted(places), np.uint32))
        return [self.tests[number] for number in np.unique(self._owners[met])]


@dataclass(frozen=True)
class Choice:
    """A mutant with the tests to run, in order.

    `afresh`: it needs a new process, because its line is executed when the product is loaded.
    """

    mutant: Mutant
    tests: tuple[str, ...]
    afresh: bool


def drawn(
    tree: Path, room: str, count: int, seed: int, modules: Sequence[str] = ()
) -> list[Mutant]:
    """Draw `count` mutants of a room: first a kind, then a mutant of it, each equally likely.

    With `modules`, only of modules whose path below src/macaw begins with one of these texts.
    """
    rng = Random(f"{room} {seed}")
    beginnings = tuple(f"{PACKAGE}/{each}" for each in modules)
    files = (
        Path(folder, name)
        for folder, _, names in os.walk(tree / PACKAGE, followlinks=True)
        for name in names
        if name.endswith(".py")
    )
    texts = {
        path: (tree / path).read_text("utf-8")
        for path in sorted(str(file.relative_to(tree)) for file in files)
        if room_of(path) == room and (not modules or path.startswith(beginnings))
    }
    return _draw([each for path in texts for each in mutants(path, texts[path])], texts, count, rng)


def _draw(
    among: Iterable[Mutant], texts: Mapping[str, str], count: int, rng: Random
) -> list[Mutant]:
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for each in among:
        by_kind[each.kind].append(each)
    found: list[Mutant] = []
    while len(found) < count and any(by_kind.values()):
        kind = rng.choice([kind for kind in KINDS if by_kind[kind]])
        each = by_kind[kind].pop(rng.randrange(len(by_kind[kind])))
        if legal(each, texts[each.path]):
            found.append(each)
    return found


class Chooser:
    """Finds the tests of a mutant, without the tests of some functions and files."""

    def __init__(self, tree: Path, lines: Lines, without: Sequence[str] = ()) -> None:
        self.tree, self.lines = tree, lines
        self.left_out = {each.name for each in lines.tests if _is_of(each, without)}
        self._texts: dict[str, str] = {}

    def executed_by_left_out(self, count: int, seed: int) -> list[Mutant]:
        """Draw mutants of lines that the tests left out execute, of each kind alike."""
        tests = [each for each in self.lines.tests if each.name in self.left_out]
        met = {place for each in tests for place in each.places.tolist()}
        paths = sorted({path for (path, _), place in self.lines.numbers.items() if place in met})
        among = [
            each
            for path in paths
            for each in mutants(path, self._text(path))
            if met & self.lines.places(path, self._executed(each))
        ]
        return _draw(among, self._texts, count, Random(seed))

    def choice(self, mutant: Mutant, *, left_out: bool = False) -> Choice:
        """The tests of a mutant; with `left_out`, those that are left out otherwise."""
        places = self.lines.places(mutant.path, self._executed(mutant))
        tests = self.lines.tests_of(places)
        if not tests:
            tests = [each for each in self.lines.tests if self._nearness(mutant.path, each.file)]
        tests = [each for each in tests if (each.name in self.left_out) == left_out]
        afresh = not mutant.functions or bool(places & self.lines.at_collection)
        return Choice(mutant, tuple(self._ordered(mutant.path, tests)), afresh)

    def _executed(self, mutant: Mutant) -> Iterable[int]:
        """The numbers of the lines that a test must execute to notice the change."""
        if mutant.functions and mutant.kind != "default":
            return range(mutant.lines[0], mutant.lines[1] + 1)
        tree = ast.parse(self._text(mutant.path))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        if mutant.functions:  # a default: the whole function
            return chain(
                *(_lines(each) for each in functions if _first(each) == mutant.functions[-1])
            )
        names = set(mutant.names)
        return chain(*(_lines(each) for each in functions if _names(each) & names))

    def _ordered(self, path: str, tests: Sequence[RecordedTest]) -> Iterable[str]:
        """Names of tests within the time limit, tests of near files first.

        One case of each function comes first, then a second case of each.
        """
        near = {each.file: self._nearness(path, each.file) for each in tests}
        by_function: dict[str, list[RecordedTest]] = defaultdict(list)
        for each in sorted(tests, key=lambda each: (each.seconds, each.name)):
            by_function[each.function].append(each)

        def order(group: list[RecordedTest]) -> tuple[int, int, str]:
            return -near[group[0].file], len(group[0].places), group[0].name

        rounds = zip_longest(*sorted(by_function.values(), key=order))
        spent = 0.0
        for each in chain.from_iterable(rounds):
            if each is not None and "\n" not in each.name and spent + each.seconds <= BUDGET:
                spent += each.seconds
                yield each.name

    def _nearness(self, path: str, test_file: str) -> int:
        """How near a test file is to a module: by its name, its imports, its folder."""
        parts = Path(path).relative_to("src").with_suffix("").parts
        stem = parts[-2] if parts[-1] == "__init__" else parts[-1]
        near = 0
        if stem in Path(test_file).stem:
            near += 4
        text = self._text(test_file)
        if ".".join(parts) in text or f"from {'.'.join(parts[:-1])} import {stem}" in text:
            near += 3
        if near and Path(test_file).parts[1] == room_of(path):
            near += 1
        return near

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = (self.tree / path).read_text("utf-8")
        return self._texts[path]


def _is_of(test: RecordedTest, names: Sequence[str]) -> bool:
    return bool({test.name, test.function, test.file} & set(names))


def _first(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _lines(node: ast.FunctionDef) -> range:
    return range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
