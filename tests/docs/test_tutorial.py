"""The lessons of the tutorial: in an empty folder, their commands print what the page shows."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import pytest

from docs import shown
from tests.asm.gnu_tools import tool

LESSONS = sorted(name for name in shown.PAGES if name.startswith("tutorial/"))


@pytest.mark.once
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_shows_what_its_commands_print(name: str, installed: Path) -> None:
    """The commands of a lesson print what the lesson shows.

    The test runs them as a reader does: with the wheel, in an empty folder, in new processes. In
    lesson 1 the reader writes a layer, in lesson 7 compiles a network from ONNX, and in lesson 9
    finds a planted bug.
    """
    text = shown.page(name).read_text("utf-8")
    if "riscv64-unknown-elf-gcc" in text:
        tool("gcc")
    assert shown.made(text, name, partial(shown.run_shell, packages=installed)) == text


@pytest.mark.once
def test_what_runs_is_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The lessons run the installed wheel, not the sources beside the tests."""
    code = "import macaw, macaw.isa; print(macaw.__file__, macaw.isa.__file__)"
    command = f"{sys.executable} -c '{code}'"
    for name in shown.run_shell(command, tmp_path, "", packages=installed).split():
        assert Path(name).is_relative_to(installed)


def test_a_file_is_separated_from_the_next_command() -> None:
    text = "Save this as `a.py`:\n\n    print(1)\n\n    $ python a.py\n"
    with pytest.raises(ValueError, match="a sentence has to separate"):
        shown.made(text, LESSONS[0])


def test_the_contents_list_all_lessons_in_their_order() -> None:
    contents = (shown.TUTORIAL / "README.md").read_text("utf-8")
    listed = re.findall(r"^\d+\. \[(.+)\]\((.+)\.md\)", contents, re.M)
    assert [f"tutorial/{file}" for _, file in listed] == LESSONS
    for number, (title, file) in enumerate(listed, 1):
        first = (shown.TUTORIAL / f"{file}.md").read_text("utf-8").partition("\n")[0]
        assert first == f"# {number}. {title}"
