"""The version in the file of a saved session, and a check before the file is executed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from macaw.debugger.commands.line import CommandError
from macaw.isa.format_versions import version_problem

HEAD = "# A session of macaw debug"  # the start of the first line
FORMAT = 1
FORMAT_LINE = "# format "  # the start of the second line


def check_version(lines: Sequence[str], name: str) -> None:
    """Raise `CommandError` for a saved session in a version of the format that cannot be read.

    `lines` are the lines of the file `name`. Files that are no saved sessions are accepted.
    """
    if len(lines) < 2 or not lines[0].startswith(HEAD) or not lines[1].startswith(FORMAT_LINE):
        return
    word = lines[1].removeprefix(FORMAT_LINE)
    version = int(word) if re.fullmatch("[0-9]{1,9}", word) else word
    problem = version_problem(version, FORMAT, "`save session`")
    if problem:
        raise CommandError(f"{name}: {problem[0]}", problem[1])
