"""Outcomes of generated inputs, compared with the outcomes that a file records.

A recorded outcome shows that behaviour is unchanged, not that it is right: other tests have an
independent witness. `MACAW_GOLDENS=write` writes the files; look at the difference before you keep
them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from zlib import crc32

MARK = "==== "
SHOWN_LINES = 40


def summary(text: str, shown: int = 0) -> str:
    """The number of a text's lines with the CRC-32 of the text, then its first `shown` lines."""
    lines = text.splitlines()
    return "\n".join([f"{len(lines)} lines, {crc32(text.encode()):08x}", *lines[:shown]])


def check(path: Path, outcomes: Mapping[str, str]) -> None:
    """The file has exactly these outcomes: a line `==== NAME`, then the lines of the outcome."""
    text = "".join(
        f"{MARK}{name}\n" + "".join(f"{line}\n" for line in outcome.splitlines())
        for name, outcome in outcomes.items()
    )
    if os.environ.get("MACAW_GOLDENS") == "write":
        path.write_text(text, "utf-8")
    recorded = path.read_text("utf-8") if path.exists() else ""
    if text != recorded:
        lines = unified_diff(
            recorded.splitlines(), text.splitlines(), "recorded", "now", n=3, lineterm=""
        )
        raise AssertionError("\n".join([f"{path.name}:", *islice(lines, SHOWN_LINES)]))


def shortened(text: str, most: int) -> str:
    """The text if it has at most `most` lines, else its summary with so many lines."""
    return text if len(text.splitlines()) <= most else summary(text, most)
