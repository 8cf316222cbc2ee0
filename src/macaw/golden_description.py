"""Reads the description of a golden test: golden.toml in its folder (`docs/golden-tests.md`)."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from macaw.errors import InputError
from macaw.files import read_bytes
from macaw.isa.format_versions import version_problem
from macaw.isa.lazy_dataclass import dataclass
from macaw.phrases import did_you_mean

DESCRIPTION_FILE = "golden.toml"
FORMAT = 1  # version of golden.toml
RECORDABLE = ("outputs", "registers", "cycles", "counters", "stdout")
DEFAULT_RECORD = ("outputs", "cycles")
EXPECTED_FOLDER = "expected"  # the folder of the recording
MOST_BITS = 53  # of a block format's mantissa: as many as binary64 has


@dataclass(frozen=True)
class Tolerance:
    """The greatest allowed error of an element against its reference.

    The allowed error is `absolute` + `relative` · |reference| + `units` · unit. The unit is 1 for
    integers. For floating types, it is the distance from the reference to the next number of the
    output's type.

    With `block` and `bits`, the unit is that of a block format: `block` consecutive elements of the
    last axis share an exponent e, the smallest with |reference| < 2^e for all of these elements.
    Mantissas have `bits` bits with their sign. The unit is then 2^(e - bits + 1), and 0 for a block
    of zeros.
    """

    absolute: float = 0.0
    relative: float = 0.0
    units: float = 0.0
    block: int | None = None
    bits: int | None = None


@dataclass(frozen=True)
class Reference:
    """The .npy file with the reference of an output, and the tolerance of the comparison."""

    file: Path
    tolerance: Tolerance = Tolerance()


@dataclass(frozen=True)
class GoldenTest:
    """The description of a golden test, from the golden.toml of its folder. Paths are absolute.

    After `max_cycles` cycles a run is stopped. A run that exits after more than `most_cycles`
    cycles fails the test as too slow. `record` names the results that are recorded and compared.
    """

    folder: Path
    sources: tuple[Path, ...]
    inputs: Mapping[str, Path]  # .npy files by the input's name
    device: str | None  # None: that of the program
    max_cycles: int | None  # a run is stopped after so many cycles; None: no limit
    most_cycles: int | None  # a run that takes more cycles counts as different
    jitter: int | None  # seed of noise in the timing of DRAM
    record: tuple[str, ...]  # of `RECORDABLE`: what is recorded and compared
    references: Mapping[str, Reference] = field(default_factory=dict)  # by the output's name


def read_description(folder: Path) -> GoldenTest:
    """Return the description of the golden test in a folder.

    Raises `InputError` if golden.toml is wrong; the message names the wrong field.
    """
    place = folder / DESCRIPTION_FILE
    try:
        data = tomllib.loads(read_bytes(place).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: {error}") from None
    problem = version_problem(data.get("format", 1), FORMAT, "see docs/golden-tests.md")
    if problem:
        raise InputError(f"{place}: {problem[0]}", problem[1])
    _check_names(f"{place}: ", data, _FIELDS)
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
    for name in ("max_cycles", "most_cycles"):
        cycles = data.get(name)
        if cycles is not None and (type(cycles) is not int or cycles < 1):
            raise InputError(f"{place}: {name} must be a whole number from 1")
    jitter = data.get("jitter")
    if jitter is not None and (type(jitter) is not int or jitter < 0):
        raise InputError(f"{place}: jitter must be a seed, a whole number from 0")
    parts = data.get("record", list(DEFAULT_RECORD))
    references = _references(folder, place, data.get("expected", {}))
    missing = not parts and not references  # then nothing would be compared
    if not _is_string_list(parts) or missing or not set(parts) <= set(RECORDABLE):
        hint = "" if parts else "it may be empty if [expected] has references"
        raise InputError(f"{place}: record must be a list of {', '.join(RECORDABLE)}", hint)
    return GoldenTest(
        folder,
        tuple(path_inside(folder, name, place) for name in sources),
        {name: path_inside(folder, path, place) for name, path in inputs.items()},
        str(path_inside(folder, device, place)) if device and device.endswith(".toml") else device,
        data.get("max_cycles"),
        data.get("most_cycles"),
        jitter,
        tuple(part for part in RECORDABLE if part in parts),
        references,
    )


_FIELDS = ("format", "source", "inputs", "device", "max_cycles", "most_cycles", "jitter", "record",
           "expected")  # fmt: skip


def _check_names(prefix: str, table: Mapping[str, object], names: tuple[str, ...]) -> None:
    for name in table:
        if name not in names:
            hint = did_you_mean(name, names) or f"the fields are {', '.join(names)}"
            raise InputError(f"{prefix}unknown field '{name}'", hint)


def _references(folder: Path, place: Path, table: object) -> dict[str, Reference]:
    """Return the references in `table`, by the name of the output.

    `table` is the value of `expected` in golden.toml. `place` is the path of the golden.toml, which
    begins each message.
    """
    if not isinstance(table, dict):
        raise InputError(f"{place}: expected must be a table of OUTPUT = FILE")
    names = ("file", *(item.name for item in fields(Tolerance)))
    references = {}
    for name, value in table.items():
        what = f"{place}: expected.{name}"
        entry = {"file": value} if isinstance(value, str) else value
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise InputError(f"{what} must be a .npy file, or a table with a file")
        _check_names(f"{what}: ", entry, names)
        path = path_inside(folder, entry["file"], place)
        if path.parent.resolve() == (folder / EXPECTED_FOLDER).resolve():
            text = f"{what}: {EXPECTED_FOLDER}/ has the recordings, which `--update` replaces"
            raise InputError(text, "keep references in another folder")
        references[name] = Reference(path, _tolerance(what, entry))
    return references


def _tolerance(what: str, entry: Mapping[str, Any]) -> Tolerance:
    """Return the tolerance of an entry of `expected`. Each message begins with `what`."""
    numbers = {}
    for name in ("absolute", "relative", "units"):
        value = entry.get(name, 0.0)
        if type(value) not in (int, float) or not 0 <= value < math.inf:
            raise InputError(f"{what}: {name} must be a number from 0")
        numbers[name] = float(value)
    block, bits = entry.get("block"), entry.get("bits")
    if block is not None and (type(block) is not int or block < 1):
        raise InputError(f"{what}: block must be a whole number from 1")
    if bits is not None and (type(bits) is not int or not 2 <= bits <= MOST_BITS):
        raise InputError(f"{what}: bits must be a whole number from 2 to {MOST_BITS}")
    if (block is None) != (bits is None):
        raise InputError(f"{what}: block and bits describe a block format together")
    if block is not None and "units" not in entry:
        raise InputError(f"{what}: block and bits define the unit, and units are not given")
    return Tolerance(**numbers, block=block, bits=bits)


def path_inside(folder: Path, name: str, place: Path) -> Path:
    """Return the path of the file `name` in the folder of a golden test.

    Raises `InputError` if the file is outside of that folder, also if a link leads outside. The
    message begins with `place`.
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
