"""The file of results, docs/benchmarks.json: figures of each case, with the date and the origin."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Skipped, parse_figure
from macaw import files

FORMAT = 1
LOADED = 1.5  # the 1-minute load average above which a figure says so; a case alone makes 1.0


@dataclass(frozen=True)
class Origin:
    """The date, the machine and the commit of a case's measurement.

    `load` has the 1-minute averages before and after the case; `speed` the machine's speed by kind
    of work (benchmarks/calibration.py). Both are empty if they are unknown.
    """

    date: str
    commit: str
    machine: str
    versions: Mapping[str, str]
    load: tuple[float, ...] = ()
    speed: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Result:
    """The figures of a case, what it left out, and their origin."""

    origin: Origin
    figures: tuple[Figure, ...]
    skipped: tuple[Skipped, ...] = ()


class ResultsError(Exception):
    """A file has no results."""


def read(path: Path) -> dict[str, Result]:
    """Return the results in a file by case. Raises `ResultsError` if the file has none."""
    try:
        found = json.loads(path.read_text("utf-8"))
        if found["format"] != FORMAT:
            raise ResultsError(f"{path}: its format is {found['format']}, not {FORMAT}")
        return {name: _result(item) for name, item in found["cases"].items()}
    except FileNotFoundError:
        raise ResultsError(f"{path}: there is no such file") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{path}: no results of benchmarks: {error!r}") from None


def write(path: Path, results: Mapping[str, Result]) -> None:
    """Write the results, a figure on each line.

    The new file replaces the old one only when it is complete.
    """
    cases = {name: asdict(result) for name, result in results.items()}
    marks: dict[str, str] = {}
    for case in cases.values():
        for key in ("figures", "skipped"):
            case[key] = [_marked(item, marks) for item in case[key]]
    text = json.dumps({"format": FORMAT, "cases": cases}, indent=1, ensure_ascii=False)
    text = re.sub(r'"(@\d+@)"', lambda match: marks[match[1]], text)
    files.write_bytes(path, f"{text}\n".encode())


def _marked(item: Mapping[str, Any], marks: dict[str, str]) -> str:
    """Return a mark for an item, and add the mark's JSON text to `marks`."""
    mark = f"@{len(marks)}@"
    kept = {key: value for key, value in item.items() if value != ""}
    marks[mark] = json.dumps(kept, ensure_ascii=False)
    return mark


def _result(item: Mapping[str, Any]) -> Result:
    origin = Origin(**item["origin"])
    origin = replace(origin, load=tuple(origin.load))
    figures = tuple(map(parse_figure, item["figures"]))
    return Result(origin, figures, tuple(Skipped(**x) for x in item["skipped"]))
