"""docs/debugger.md: its first command works, and its answers are those of the debugger."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.macaw.command_runs import ROOT, run_here

TEXT = (ROOT / "docs/debugger.md").read_text("utf-8")


@pytest.mark.once
def test_the_first_command_names_files_that_exist() -> None:
    (command,) = re.findall(r"^    macaw (debug programs/.*)$", TEXT, re.M)
    done = run_here([*shlex.split(command), "--batch", "-e", "info program"], ROOT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.once
@pytest.mark.parametrize(
    ("program", "commands"),
    [
        ("digits_mlp", ["continue", "why y[0, 3] depth 2"]),
        (
            "wrong_shift",
            ["continue", "why y[1, 0] against golden.npy hidden=golden_hidden.npy x=x.npy"],
        ),
    ],
)
def test_an_answer(program: str, commands: list[str]) -> None:
    """The debugger answers with the lines of the page in their order. `...` is any text."""
    shown = TEXT[TEXT.index(f"    (macaw) {commands[-1]}\n") :].partition("\n\n")[0]
    lines = [line.removeprefix("    ") for line in shown.splitlines()[1:]]
    folder = ROOT / "programs" / program
    inputs = {"digits_mlp": "images.npy", "wrong_shift": "x.npy"}
    words = ["debug", f"{program}.s", "-i", f"x={inputs[program]}", "--batch"]
    done = run_here([*words, *(word for x in commands for word in ("-e", x))], folder)
    pattern = "\n".join(map(re.escape, lines)).replace(re.escape("..."), r"[\s\S]*?")
    assert re.search(f"^{pattern}", done.stdout, re.M), done.stdout
