"""docs/cli.md has the usage lines of the commands, and its examples can be run."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest

from macaw.cli import COMMANDS, cli
from macaw.isa import config
from tests.macaw.conftest import ROOT, Macaw

OF_ALL = {"--plain"}  # options of all commands, which stand once
TEXT = (ROOT / "docs" / "cli.md").read_text("utf-8")


def blocks(heading: str) -> list[str]:
    """The indented blocks below a heading of docs/cli.md."""
    section = re.split(r"^#+ ", TEXT.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]
    # A comment in a block begins no section: it is indented.
    found = re.findall(r"(?:^    .*\n(?:\n+(?=    ))?)+", section, flags=re.M)
    return [textwrap.dedent(block) for block in found]


def usage() -> dict[str, str]:
    text = re.sub(r"\n +(?=\[)", " ", blocks("The command line")[0])
    return {line.split()[1]: line for line in text.splitlines()}


@pytest.mark.parametrize("name", COMMANDS)
def test_usage_names_the_options_of_the_command(name: str) -> None:
    command: click.Command = import_module(f"macaw.commands.{name}").command
    options = {
        spelling
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for spelling in (*parameter.opts, *parameter.secondary_opts)
    }
    options -= OF_ALL - {"--plain" if name == "debug" else ""}
    assert set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", usage()[name])) == options


def test_usage_is_of_all_commands() -> None:
    assert tuple(usage()) == tuple(COMMANDS)


def test_options_in_the_text_exist() -> None:
    known = {"--debug", "--core", "--help"}
    for name in COMMANDS:
        known.update(*(p.opts for p in import_module(f"macaw.commands.{name}").command.params))
    known.update(*(parameter.opts for parameter in cli.params))
    for word in re.findall(r"(?<![\w-])--[a-z][\w-]*", TEXT):
        assert word in known, word


@pytest.mark.once
def test_commands_in_the_text_are_taken(macaw: Macaw, layer: Path) -> None:
    assert macaw("asm", layer).returncode == 0
    values = {"C": "pe", "NAME": "mac", "COMMAND": "isa"}
    for line in dict.fromkeys(re.findall(r"`macaw ([^`]+)`", TEXT)):
        words = [values.get(word, word) for word in line.split() if word != "..."]
        done = macaw(*words)
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout, line


def test_the_device_file(macaw: Macaw, tmp_path: Path) -> None:
    (text,) = blocks("device")
    (tmp_path / "wide.toml").write_text(text)
    done = macaw("device", "wide.toml")
    assert (done.returncode, done.stderr) == (0, "")
    device, base = config.parse(done.stdout), config.load("base")
    shown = {
        f"{table}.{field}": value
        for table, fields in tomllib.loads(text).items()
        for field, value in fields.items()
    }
    assert shown
    assert {field: device[field] for field in device if device[field] != base[field]} == shown


# What each shell does with the script; bash and fish complete `macaw device ti`.
ASKS = {
    "bash": "{}; COMP_WORDS=(macaw device ti); COMP_CWORD=2; _macaw_completion macaw 2>/dev/null; echo $COMPREPLY",
    "zsh": "compdef() {{ echo $1 $2; }}; {}",
    "fish": "{}; complete -C 'macaw device ti'",
}


@pytest.mark.parametrize(
    ("shell", "answer"),
    [("bash", "tiny"), ("zsh", "_macaw_completion macaw"), ("fish", "tiny")],
)
def test_the_completion_lines(tmp_path: Path, shell: str, answer: str) -> None:
    (line,) = (
        line for line in blocks("completion")[0].splitlines() if f"completion {shell}" in line
    )
    command = tmp_path / "macaw"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m macaw \"$@\"\n")
    command.chmod(0o755)
    paths = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT / "src")}
    text = line.split("  # ")[0].split(" # ")[0].strip()
    # Only bash is installed everywhere. For other shells, read what they would read.
    if shutil.which(shell):
        words = [shell, "-c", ASKS[shell].format(text)]
    else:
        words, answer = ["sh", "-c", f"macaw completion {shell}"], "_MACAW_COMPLETE"
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert answer in done.stdout


def test_the_python_lines(layer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(layer.parent)
    array = np.load("x.npy")
    names: dict[str, object] = {"array": array}
    exec(blocks("From Python")[0], names)
    weights = np.load("weights.npy").astype(np.int32)
    np.testing.assert_array_equal(names["run"].outputs["y"], weights @ array)  # type: ignore[attr-defined]
