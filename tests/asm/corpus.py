"""The corpus: sources that assemble (`ok`), and functions that its tests share."""

from __future__ import annotations

import re
from pathlib import Path

from macaw.asm.source import Source

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
VALID_SOURCES = sorted((FOLDER / "ok").glob("*.s"))


def source_of(path: Path) -> Source:
    """Return a source whose name is its path below the repository, as on every other computer."""
    return Source(path.read_text("utf-8"), str(path.relative_to(ROOT)), path.parent)


# Directives that expand or skip lines, or whose text has no meaning.
EXPANDING_DIRECTIVE = re.compile(r"\.(macro|rept|irpc?|if\w*|include|end|debug_info)\b")
