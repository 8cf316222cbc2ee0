"""The default programs of cores, which the assembler uses if a user's sources have none.

A core's default program is the file `forms/default_CORE.s`. The line table and messages call it
`<default CORE>`.
"""

from __future__ import annotations

import re
from pathlib import Path

from macaw.asm.source import Source

_FORMS = Path(__file__).parent / "forms"


def default_program(core: str) -> Source:
    """Return the source of a core's default program."""
    name = f"<default {core}>"
    path = generated_file(name)
    assert path is not None, core
    return Source(path.read_text("utf-8"), name)


def generated_file(name: str) -> Path | None:
    """Return the file of the source that messages call `name`; None if it is not part of Macaw."""
    match = re.fullmatch(r"<default (\w+)>", name, re.ASCII)
    path = _FORMS / f"default_{match[1]}.s" if match else None
    return path if path is not None and path.is_file() else None
