"""The JSON Schema of profiles, which `docs/profile_schema.py` writes."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

FILE = "profile.schema.json"


def profile_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the files that `macaw profile --json` writes."""
    text = resources.files("macaw.profiling").joinpath(FILE).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
