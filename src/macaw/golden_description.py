"""Read the description of a golden test: the golden.toml of its folder (`docs/golden-tests.md`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from macaw.errors import InputError
from macaw.files import read_bytes
from macaw.phrases import did_you_mean

DESCRIPTION_FILE = "golden.toml"
RECORDABLE = ("outputs", "registers", "cycles", "counters", "stdout")
DEFAULT_RECORD = ("outputs", "cycles")


@dataclass(frozen=True)
class GoldenTest:
    """The description of a golden folder in its golden.toml; paths are absolute."""

    folder: Path
    sources: tuple[Path, ...]
    inputs: Mapping[str, Path]
    device: str | None
    max_cycles: int | None
    jitter: int | None
    record: tuple[str, ...]


def read_description(folder: Path) -> GoldenTest:
    """Return the description of a golden folder. Raises `InputError` that names the field."""
    place = folder / DESCRIPTION_FILE
    try:
        data = tomllib.loads(read_bytes(place).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: {error}") from None
    fields = ("source", "inputs", "device", "max_cycles", "jitter", "record")
    for name in data:
        if name not in fields:
            hint = did_you_mean(name, fields) or f"the fields are {', '.join(fields)}"
            raise InputError(f"{place}: unknown field '{name}'", hint)
    sources = data.get("source")
    sources = [sources] if isinstance(sources, str) else sources
    if not _is_string_list(sources) or not sources:
        raise InputError(f"{place}: source must name the program's file, or a list of files")
    inputs = data.get("inputs", {})
    if not isinstance(inputs, dict) or not _is_string_list(list(inputs.values())):
        raise InputError(f"{place}: inputs must be a table of NAME = FILE")
    device = data.get("device")
    if device is not None and not isinstance(device, str):
        raise InputError(f"{place}: device must be a name or a file")
    cycles = data.get("max_cycles")
    if cycles is not None and (type(cycles) is not int or cycles < 1):
        raise InputError(f"{place}: max_cycles must be a whole number from 1")
    jitter = data.get("jitter")
    if jitter is not None and (type(jitter) is not int or jitter < 0):
        raise InputError(f"{place}: jitter must be a seed, a whole number from 0")
    parts = data.get("record", list(DEFAULT_RECORD))
    if not _is_string_list(parts) or not parts or not set(parts) <= set(RECORDABLE):
        raise InputError(f"{place}: record must be a list of {', '.join(RECORDABLE)}")
    return GoldenTest(
        folder,
        tuple(path_inside(folder, name, place) for name in sources),
        {name: path_inside(folder, path, place) for name, path in inputs.items()},
        str(path_inside(folder, device, place)) if device and device.endswith(".toml") else device,
        cycles,
        jitter,
        tuple(part for part in RECORDABLE if part in parts),
    )


def path_inside(folder: Path, name: str, place: Path) -> Path:
    """Return the path of a file in a golden folder. Raises `InputError` if it is outside.

    Links are resolved, as for the files that a source includes.
    """
    path = folder / name
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        is_inside = True  # no such file: the read will report it
    if not is_inside:
        raise InputError(f"{place}: '{name}' leads out of the folder of the golden test")
    return path


def _is_string_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
