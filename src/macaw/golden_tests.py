"""Run golden tests: folders with a program, its inputs and its recorded results.

`golden.toml` describes the test (`golden_description.py`). `expected/` has the recording: a .npy
file for each output, and `run.json` for the rest. A comparison is exact for each element. A missing
recording is a difference, never a pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw import api, execution, run_report
from macaw.asm.program import Program
from macaw.errors import InputError, RunError
from macaw.files import read_array, read_arrays, read_bytes, write_array, write_bytes
from macaw.golden_description import DESCRIPTION_FILE, GoldenTest, path_inside, read_description
from macaw.input_binding import shape_text
from macaw.phrases import plural

EXPECTED_FOLDER = "expected"
RECORD_FILE = "run.json"
MOST_SHOWN = 8  # differences listed for an output or a part


@dataclass
class Result:
    """The results of a run that are recorded and compared."""

    record: dict[str, Any]
    outputs: dict[str, NDArray[Any]] = field(default_factory=dict)


def find_folders(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the golden folders in `paths` and below, in order and without repetition.

    Raises `InputError` for a path that does not exist or has no golden folder.
    """
    visited: set[Path] = set()
    for path in paths:
        start = path.parent if path.name == DESCRIPTION_FILE else path
        if start.is_file():
            raise InputError(
                f"{path} is a file, not a folder",
                f"a golden test is a folder with a {DESCRIPTION_FILE}",
            )
        if not start.is_dir():
            raise InputError(f"{path}: no such folder")
        folders = sorted(file.parent for file in start.rglob(DESCRIPTION_FILE))
        if not folders:
            raise InputError(
                f"{path}: no golden test here or below",
                f"a golden test is a folder with a {DESCRIPTION_FILE}",
            )
        for folder in folders:
            if folder.resolve() not in visited:
                visited.add(folder.resolve())
                yield folder


def check(
    folder: Path, *, update: bool = False, on_load: Callable[[Program], object] | None = None
) -> list[str]:
    """Run a golden folder and return the differences from its recording, one for each line.

    With `update`, record the result if it differs. `on_load` is called with the program before it
    runs. Raises `MacawError` if the folder cannot be run, and what `on_load` raises.
    """
    golden = read_description(folder)
    result = execute(golden, on_load)
    differences = compare(golden, result)
    if update and differences:
        new = not (folder / EXPECTED_FOLDER / RECORD_FILE).is_file()
        save(golden, result)
        return ["first recording"] if new else differences
    return differences


# Running, recording ----------------------------------------------------------------------------


def execute(golden: GoldenTest, on_load: Callable[[Program], object] | None = None) -> Result:
    """Run the program of a golden folder and return its results.

    If the program faults, its stop is the result. `on_load` is called with the program before it
    runs. Raises what `macaw.load`, `on_load` and the binding of inputs raise.
    """
    program = api.load(*golden.sources, device=golden.device)
    if on_load is not None:
        on_load(program)
    inputs = read_arrays(golden.inputs)
    try:
        run = execution.run(
            program,
            inputs,
            device=golden.device,
            max_cycles=golden.max_cycles,
            jitter=golden.jitter,
        )
    except RunError as error:
        return _failure_result(golden, error)
    record: dict[str, Any] = {"stop": "exit", "exit_code": run.exit_code}
    if run.items is not None:
        record["items"] = run.items
    if "cycles" in golden.record:
        record["cycles"] = run.cycles
    if "stdout" in golden.record:
        record["stdout"] = run.stdout
    if "registers" in golden.record:
        record["registers"] = execution.final_registers(run.device, changed=True)
    if "counters" in golden.record:
        record["counters"] = run.counters
    return Result(record, dict(run.outputs) if "outputs" in golden.record else {})


def _failure_result(golden: GoldenTest, error: RunError) -> Result:
    record = run_report.stop_json(error.stop)
    cycle = record.pop("cycle")
    if error.stop.fault is not None:
        # Texts and places contain the path of the source on this machine.
        del record["message"]
        place = record["fault"].pop("place")
        record["fault"]["line"] = place and place["line"]
    if error.item is not None:
        record["item"] = error.item
    if "cycles" in golden.record:
        record["cycles"] = cycle
    if "registers" in golden.record:
        record["registers"] = execution.final_registers(error.device, changed=True)
    if "counters" in golden.record:
        record["counters"] = error.device.counters()
    return Result(record)


def save(golden: GoldenTest, result: Result) -> None:
    """Write `result` to `expected/`, and delete outputs that an earlier recording left there."""
    folder = golden.folder / EXPECTED_FOLDER
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is no folder")
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("*.npy"):
        if stale.stem not in result.outputs:
            stale.unlink()
    for name, array in result.outputs.items():
        write_array(folder / f"{name}.npy", array)
    text = (
        json.dumps(
            _without_idle_cores(_json_round_trip(result.record)), indent=1, ensure_ascii=False
        )
        + "\n"
    )
    write_bytes(folder / RECORD_FILE, text.encode())


def _without_idle_cores(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record without cores whose values are all zero.

    So a new kind of core does not change recordings.
    """
    shortened = dict(record)
    for part in ("registers", "counters"):
        if isinstance(record.get(part), dict):
            cores = record[part].items()
            shortened[part] = {name: values for name, values in cores if not _is_idle(values)}
    return shortened


def _is_idle(values: object) -> bool:
    return isinstance(values, dict) and all(repr(value) == "0" for value in values.values())


def _json_round_trip(record: dict[str, Any]) -> Any:
    """Return the record after conversion to JSON and back."""
    return json.loads(json.dumps(record))


# Comparing -------------------------------------------------------------------------------------


def compare(golden: GoldenTest, result: Result) -> list[str]:
    """Return the differences between the recording and `result`, one for each line."""
    folder = golden.folder / EXPECTED_FOLDER
    if not (folder / RECORD_FILE).is_file():
        return [
            f"nothing is recorded, {folder / RECORD_FILE} is missing: `macaw test --update` records"
        ]
    record = path_inside(golden.folder, f"{EXPECTED_FOLDER}/{RECORD_FILE}", folder)
    try:
        expected = json.loads(read_bytes(record).decode("utf-8"))
    except ValueError as error:
        return [f"{folder / RECORD_FILE} cannot be read: {error}"]
    if not isinstance(expected, dict):
        return [f"{folder / RECORD_FILE} cannot be read: it holds no object"]
    lines = _differences(
        _without_idle_cores(expected), _without_idle_cores(_json_round_trip(result.record))
    )
    recorded = {path.stem for path in folder.glob("*.npy")}
    for name in sorted(recorded - set(result.outputs)):
        lines.append(f"output {name}: recorded, but the program gave none")
    for name, array in result.outputs.items():
        if name not in recorded:
            lines.append(f"output {name}: not recorded, {folder / name}.npy is missing")
        else:
            path = path_inside(golden.folder, f"{EXPECTED_FOLDER}/{name}.npy", folder)
            lines += array_differences(f"output {name}", read_array(path), array)
    return lines


def _differences(expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
    flat_expected, flat_got = dict(_flat(expected)), dict(_flat(got))
    groups: dict[str, list[str]] = {}
    for path in dict.fromkeys((*flat_expected, *flat_got)):
        before, now = flat_expected.get(path, _ABSENT), flat_got.get(path, _ABSENT)
        # `repr` also compares types: 1, 1.0 and true differ.
        if repr(before) != repr(now):
            text = f"{' '.join(path)}: expected {_value_text(before)}, got {_value_text(now)}"
            if type(before) is int and type(now) is int:
                text += f" ({now - before:+,})"
            groups.setdefault(path[0], []).append(text)
    return [line for name, lines in groups.items() for line in _first_lines(name, lines)]


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def _flat(
    record: Mapping[str, Any], prefix: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield pairs of a path and a value, such as `(counters, cp, instructions), 12`.

    Lists are values.
    """
    for name, value in record.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def _value_text(value: object) -> str:
    if type(value) is int:
        return f"{value:,}"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _first_lines(name: str, lines: list[str]) -> list[str]:
    if len(lines) <= MOST_SHOWN:
        return lines
    return [*lines[:MOST_SHOWN], f"... and {len(lines) - MOST_SHOWN:,} more of {name}"]


def array_differences(what: str, expected: NDArray[Any], got: NDArray[Any]) -> list[str]:
    """Return the differences between the bits of two arrays, one for each line.

    The first line starts with `what`.
    """
    if expected.dtype != got.dtype or expected.shape != got.shape:
        before = f"{expected.dtype.name} {shape_text(expected.shape)}"
        return [f"{what}: expected {before}, got {got.dtype.name} {shape_text(got.shape)}"]
    # Compare bits: a NaN equals the same NaN, and -0.0 differs from 0.0.
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    differ = np.atleast_1d(
        np.ascontiguousarray(expected).view(bits) != np.ascontiguousarray(got).view(bits)
    )
    if not differ.any():
        return []
    places = np.argwhere(differ)
    lines = [f"{what}: {len(places):,} of {plural(expected.size, 'element')} differ"]
    for place in places[:MOST_SHOWN]:
        index = tuple(int(number) for number in place)
        at = "".join(f"[{number}]" for number in index) if expected.ndim else ""
        if not expected.ndim:
            index = ()
        lines.append(f"  {what[7:]}{at}: expected {expected[index]}, got {got[index]}")
    if len(places) > MOST_SHOWN:
        lines.append(f"  ... and {len(places) - MOST_SHOWN:,} more")
    return lines
