"""Fills templates of self-contained HTML pages: one file with style, script and data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# characters that could end a script element, with their escapes in JSON
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def script_data(value: Any) -> str:
    """Return a value as JSON text that a script element of HTML may contain."""
    data = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for sign, escape in _ESCAPES.items():
        data = data.replace(sign, escape)
    return data


def fill(template: str, parts: Mapping[str, str]) -> str:
    """Return `template`, in which `parts[name]` replaces each `{name}`."""
    before, *rest = template.split("{")
    pieces = [before]
    for piece in rest:
        name, _, text = piece.partition("}")
        pieces += [parts[name], text]
    return "".join(pieces)
