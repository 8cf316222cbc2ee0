"""docs/options.md: its commands print what it shows, and each option of each command has an example."""

from __future__ import annotations

import re
from importlib import import_module

import click
import pytest

from docs import shown
from macaw.cli import COMMANDS
from tests.macaw.command_runs import run_shown

OF_ALL = {"--plain"}  # tests/macaw/test_plain.py runs each command with it
COMMAND = re.compile(r"^    \$ ((?:.*\\\n)*.*)$", re.M)


def examples() -> dict[str, set[str]]:
    """By command of macaw, the options that occur in the commands of all tested pages."""
    given: dict[str, set[str]] = {}
    for name in shown.PAGES:
        for line in COMMAND.findall(shown.page(name).read_text("utf-8")):
            for part in re.split(r"[|;&]+", line.replace("\\\n", " ")):
                words = part.split()
                if "macaw" in words[:-1]:
                    command, *rest = words[words.index("macaw") + 1 :]
                    options = {word.partition("=")[0] for word in rest if word.startswith("-")}
                    given.setdefault(command, set()).update(options)
    return given


GIVEN = examples()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_has_an_example_that_a_test_runs(name: str) -> None:
    command: click.Command = import_module(f"macaw.commands.{name}").command
    given = GIVEN.get(name, set())
    missing = []
    for option in command.params:
        spellings = {*option.opts, *option.secondary_opts}
        short = tuple(word for word in spellings if re.fullmatch(r"-\w", word))
        has = spellings & given or any(
            word.startswith(short) and not word.startswith("--") for word in given if short
        )
        if isinstance(option, click.Option) and not has and not spellings & OF_ALL:
            missing.append(option.opts[0])
    assert not missing, "write an example into docs/options.md"


@pytest.mark.once
def test_the_commands_print_what_the_page_shows() -> None:
    text = shown.page("options").read_text("utf-8")
    assert shown.made(text, "options", run_shown) == text


@pytest.mark.once
def test_no_example_fails_by_mistake() -> None:
    """The page shows only two kinds of errors, both on purpose."""
    text = shown.page("options").read_text("utf-8")
    wrong = re.findall(r"^    (?:macaw: error: |error: |Error: )(.*)$", text, re.M)
    assert all(line.startswith(("cycle limit", "no Dask scheduler")) for line in wrong), wrong
