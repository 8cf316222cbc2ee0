"""CONTRIBUTING.md: each recipe, followed in a copy of the repository, prints what the page says.

A recipe is a section of level 2 that says so. Its steps, in the order of the page, are blocks:

- below "`path`, WHERE:" a change. WHERE is `new`, `at its end`, `after LINE` or `before LINE` (the
  beginning of exactly one line), or `in place of TEXT` (which occurs in the file once). Two empty
  lines separate a text that begins with a definition.
- `console`: commands, each with its output; `...` stands for omitted lines, or for the rest of a
  line.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.tree import ROOT, Tree
from tests.isa.gnu import tools_missing

pytestmark = pytest.mark.once

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
RECIPES = dict(re.findall(r"^## Recipe: (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
SUBJECTS = ["an instruction of vc", "a counter of the array", "an activation of the array",
            "a command of the debugger", "a kind of fault"]  # fmt: skip
WHERE = r"(new|at its end|after|before|in place of)(?: `([^`\n]+)`)?"
STEP = re.compile(
    rf"^`([^`\n]+)`, {WHERE}:\n\n```\w*\n(.*?)^```$|^```console\n(.*?)^```$", re.M | re.S
)
PROGRAMS: dict[str, list[list[str]]] = {
    "macaw": [["-m", "macaw"]],
    "pytest": [["-m", "pytest", "-p", "no:cacheprovider"]],
    "python": [[]],
    "make docs": [["docs/build.py"], ["-m", "tests.seeds", "--write"]],
}


@dataclass
class Step:
    """A block of a recipe: a change of a file, or commands with what they print."""

    path: str
    where: str
    anchor: str
    text: str
    console: str


def steps(recipe: str) -> Iterator[Step]:
    for found in STEP.finditer(RECIPES[recipe]):
        yield Step(*(part or "" for part in found.groups()))


def line_at(lines: list[str], begin: str) -> int:
    """The index of the only line that begins with `begin`."""
    found = [at for at, line in enumerate(lines) if line.strip().startswith(begin)]
    assert len(found) == 1, (begin, len(found))
    return found[0]


def change(tree: Tree, step: Step) -> None:
    """Make the change of a step in the tree."""
    if step.where == "new":
        assert not (tree.folder / step.path).exists(), step.path
        tree.write(step.path, step.text)
        return
    text = tree.read(step.path)
    if step.where == "in place of":
        assert text.count(step.anchor) == 1, (step.anchor, text.count(step.anchor))
        tree.write(step.path, text.replace(step.anchor, step.text.removesuffix("\n")))
        return
    lines, block = text.splitlines(), step.text.splitlines()
    gap = ["", ""] if re.match(r"def |class |@", step.text) else []
    if step.where == "at its end":
        lines += gap + block
    elif step.where == "after":
        at = line_at(lines, step.anchor)
        lines[at + 1 : at + 1] = gap + block
    else:
        at = line_at(lines, step.anchor)
        lines[at:at] = block + gap
    tree.write(step.path, "\n".join(lines) + "\n")


def run(tree: Tree, command: str) -> tuple[int, str]:
    """The exit status of a command and its output, with paths from the tree's root."""
    words = shlex.split(command)
    variables = {
        **{
            name: value
            for name, value in os.environ.items()
            if name not in ("CI", "GITHUB_ACTIONS", "PYTHONDONTWRITEBYTECODE")
        },
        "PYTHONPATH": os.pathsep.join((str(tree.folder / "src"), str(tree.folder))),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    name = " ".join(words) if words[0] == "make" else words[0]
    rest = [] if words[0] == "make" else words[1:]
    status, printed = 0, ""
    for program in PROGRAMS[name]:
        done = subprocess.run(
            [sys.executable, *program, *rest],
            cwd=tree.folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        status, printed = status or done.returncode, printed + done.stdout
    return status, printed.replace(f"{tree.folder}{os.sep}", "")


def pattern(shown: list[str]) -> str:
    """A regular expression for a whole output, of which the page may leave out lines (`...`)."""
    found = []
    for line in shown:
        if line == "...":
            found.append(r"(?:.*\n)*?")
        elif line.endswith("..."):
            found.append(re.escape(line.removesuffix("...")) + r".*\n")
        else:
            found.append(re.escape(line) + r"\n")
    return "".join(found)


def commands(console: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it prints."""
    for part in re.split(r"^\$ ", console, flags=re.M)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe(recipe: str, tmp_path: Path) -> None:
    """The recipe's first test fails and its last one passes; changed files are well formatted."""
    if "tests.isa.gnu" in RECIPES[recipe] and tools_missing():
        pytest.skip("no GNU assembler for RISC-V")
    tree = Tree(tmp_path / "macaw", "tests", "programs", "editors", "pyproject.toml", "Makefile")
    tests, changed = [], set()
    for step in steps(recipe):
        if step.path:
            change(tree, step)
            changed.add(step.path)
            continue
        for command, shown in commands(step.console):
            status, printed = run(tree, command)
            text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
            assert re.fullmatch(pattern(shown), text), f"$ {command}\n{text}"
            if command.startswith("pytest"):
                tests.append(status)
    assert (tests[0], tests[-1]) == (1, 0)
    sources = sorted(path for path in changed if path.endswith(".py"))
    for words in (["check"], ["format", "--check"]):
        done = tree.run("-m", "ruff", *words, "--no-cache", *sources)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_has_the_five() -> None:
    assert list(RECIPES) == SUBJECTS
    for recipe, text in RECIPES.items():
        assert len(re.findall("^```", text, re.M)) == 2 * len(list(steps(recipe))), recipe
    long = [line for line in PAGE.splitlines() if len(line) > 120]
    assert [line for line in long if not line.startswith('    *_each("')] == []  # a row is a line
