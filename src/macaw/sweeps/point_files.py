"""Files of finished points, with which an interrupted sweep continues."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from macaw import files
from macaw.errors import InputError
from macaw.isa.config import Configuration
from macaw.sweeps.measuring import digests
from macaw.sweeps.points import Outcome, Point
from macaw.sweeps.subjects import Subject

FORMAT = 1
FOLDER = "points"  # in the folder of the sweep


def point_path(folder: Path, subject: Subject, point: Point, version: str) -> Path:
    """Return the path of the file for the outcome of a subject at a point.

    The name is a digest of subject, device, seed and `version`, the version of Macaw. The contents
    of the files that the run reads have no influence on the name.
    """
    description = {
        "format": FORMAT,
        "version": version,
        "kind": type(subject).__name__,
        "subject": _plain(subject),
        "device": subject.config.to_toml(comments=False),
        "point": [list(point.settings), point.repeat, point.seed],
    }
    text = json.dumps(description, sort_keys=True)
    return folder / FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _plain(subject: Subject) -> dict[str, Any]:
    """Return the fields of a subject except its device, as values for JSON."""
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in vars(subject).items()
        if not isinstance(value, Configuration)
    }


def write_point(path: Path, outcome: Outcome) -> None:
    """Write the outcome of a point to its file. Raises `InputError` if that fails."""
    record = {
        "format": FORMAT,
        "settings": dict(outcome.point.settings),
        "repeat": outcome.point.repeat,
        "seed": outcome.point.seed,
        "refused": outcome.refused,
        "metrics": dict(outcome.metrics),
        "files": dict(outcome.files),
    }
    files.write_bytes(path, json.dumps(record, indent=1).encode() + b"\n")


def read_point(path: Path, point: Point) -> Outcome | None:
    """Return the outcome that the file of a point contains.

    Returns None if the file is missing or damaged, or if a file that the run read has changed
    since. Then the point runs again.
    """
    try:
        record = json.loads(files.read_bytes(path))
        metrics = {str(key): float(value) for key, value in record["metrics"].items()}
        read = {str(key): str(value) for key, value in record["files"].items()}
        refused = str(record["refused"])
        known = record["format"] == FORMAT
    except (InputError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not known or digests(read) != read:
        return None
    return Outcome(point, metrics, refused, read, reused=True)
