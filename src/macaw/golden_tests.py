"""Runs golden tests: folders with a program, its inputs and its recorded results.

`golden.toml` describes the test (`golden_description.py`). `expected/` has the recording: a .npy
file for each output, and `run.json` for the rest. The results must equal the recording exactly; a
missing recording is a difference, never a pass. If an output has a reference, it is compared with
the reference within a tolerance (`array_comparison.py`), and is not recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from macaw import api, execution, run_report
from macaw.array_comparison import MOST_SHOWN, array_differences, reference_differences
from macaw.asm.program import Program
from macaw.errors import InputError, MissingInputError, RunError
from macaw.files import npy_bytes, read_array, read_arrays, read_bytes, walk, write_all
from macaw.golden_description import (
    DESCRIPTION_FILE,
    EXPECTED_FOLDER,
    GoldenTest,
    path_inside,
    read_description,
)
from macaw.isa.errors import MacawError
from macaw.phrases import suggestion
from macaw.processes import map_in_processes

RECORD_FILE = "run.json"
OnLoad = Callable[[Program], object]


@dataclass
class Result:
    """What a golden test records and compares of a run.

    `record` has the data for `run.json`. `outputs` has the output arrays by name, `element_types`
    the declared types of their elements. `cycles` is None if the program did not exit.
    """

    record: dict[str, Any]  # the contents of run.json
    outputs: dict[str, NDArray[Any]] = field(default_factory=dict)  # by name
    cycles: int | None = None  # of a run that exited
    element_types: dict[str, str] = field(default_factory=dict)  # by name of an output


@dataclass(frozen=True)
class Differences:
    """How a result differs from the recording and from the references, as lines of text.

    If a test records nothing and its run does not exit with code 0, a line of `references` says so.
    """

    recording: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a golden test.

    `status` is "passed", "differs" or "wrong"; a wrong test cannot be run. With the option `update`
    there is no "passed": a test is "recorded" if its recording was not equal to the result and has
    been replaced, "same" if it was equal, and "differs" if an output differs from its reference or
    the run is too slow. `lines` say what differs, has changed or is wrong. `seconds` is the
    duration of the test.
    """

    folder: Path
    status: str
    lines: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether the test differs or cannot be run."""
        return self.status in ("differs", "wrong")


def find_folders(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield each folder with a golden.toml at or below one of the `paths`, once.

    The folders follow the order of the paths; those of one path are sorted by name.

    Raises `InputError` for a path that does not exist, or that has no golden.toml at or below it,
    and for a folder that cannot be read.
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
        folders = sorted(folder for folder, _, names in walk(start) if DESCRIPTION_FILE in names)
        if not folders:
            raise InputError(
                f"{path}: no golden test here or below",
                f"a golden test is a folder with a {DESCRIPTION_FILE}",
            )
        for folder in folders:
            if folder.resolve() not in visited:
                visited.add(folder.resolve())
                yield folder


def files_of(folder: Path) -> list[Path]:
    """Return the files of a golden folder that no report may overwrite.

    If golden.toml is wrong, the list has only golden.toml and the recording, because the program,
    the inputs and the references are not known.
    """
    files = [folder / DESCRIPTION_FILE, *(folder / EXPECTED_FOLDER).glob("*")]
    try:
        golden = read_description(folder)
    except InputError:  # the run will report it
        return files
    references = (reference.file for reference in golden.references.values())
    return [*files, *golden.sources, *golden.inputs.values(), *references]


def run_folders(
    folders: Iterable[Path],
    *,
    update: bool,
    workers: int,
    on_load: OnLoad | None,
) -> Iterator[Outcome]:
    """Run golden folders in `workers` processes, and yield the outcomes in the folders' order.

    With `update`, record results that differ. Each process calls `on_load` with each program before
    the program runs; `on_load` must be picklable if there are several processes. Raises
    `InputError` if a process is killed.
    """
    run = partial(run_folder, update=update, on_load=on_load)
    folders = list(folders)
    if workers == 1 or len(folders) < 2:
        yield from map(run, folders)
    else:
        yield from map_in_processes(run, folders, workers)


def run_folder(folder: Path, *, update: bool, on_load: OnLoad | None) -> Outcome:
    """Run a golden folder and return its outcome, even if the folder cannot be run.

    With `update`, record the result if it differs from the recording. Before the program runs, the
    function calls `on_load(program)`.
    """
    start = perf_counter()
    try:
        found = check(folder, update=update, on_load=on_load)
    except MacawError as error:
        lines = [*error.message.splitlines(), *([f"hint: {error.hint}"] if error.hint else [])]
        return Outcome(folder, "wrong", tuple(lines), perf_counter() - start)
    recorded = found.recording
    if update and found.references:  # they cannot be recorded
        recorded = tuple(f"recorded: {line}" for line in recorded)
    lines = [*recorded, *found.references]
    if found.references or (recorded and not update):
        status = "differs"
    elif update:
        status = "recorded" if recorded else "same"
    else:
        status = "passed"
    return Outcome(folder, status, tuple(lines), perf_counter() - start)


def check(folder: Path, *, update: bool, on_load: OnLoad | None = None) -> Differences:
    """Run a golden folder and return the differences from its recording and its references.

    With `update`, record the result if it differs from the recording. Before the program runs, the
    function calls `on_load(program)`. Raises `MacawError` if the folder cannot be run, and the
    errors of `on_load`.
    """
    golden = read_description(folder)
    result = execute(golden, on_load)
    references = tuple(compare_references(golden, result))
    differences = compare(golden, result)
    if not golden.record:  # an update cannot mend these differences
        return Differences((), (*differences, *references))
    if update and differences:
        new = not (folder / EXPECTED_FOLDER / RECORD_FILE).is_file()
        save(golden, result)
        differences = ["first recording"] if new else differences
    return Differences(tuple(differences), references)


# Running, recording ----------------------------------------------------------------------------


def execute(golden: GoldenTest, on_load: OnLoad | None) -> Result:
    """Run the program of a golden folder and return its results.

    If the program stops without exiting, the reason is part of the result. Before the program runs,
    the function calls `on_load(program)`. Raises the errors of `macaw.load`, of `on_load` and of
    the binding of inputs.
    """
    program = api.load(*golden.sources, device=golden.device)
    if on_load is not None:
        on_load(program)
    _check_references(golden, program)
    inputs = read_arrays(golden.inputs)
    try:
        run = execution.run(
            program,
            inputs,
            device=golden.device,
            max_cycles=golden.max_cycles,
            jitter=golden.jitter,
        )
    except MissingInputError as error:
        raise InputError(error.message, f"[inputs] of {DESCRIPTION_FILE} names files") from None
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
    kept = {
        name: array
        for name, array in run.outputs.items()
        if "outputs" in golden.record or name in golden.references
    }
    types = {tensor.name: tensor.dtype for tensor in program.outputs}
    return Result(record, kept, run.cycles, types)


def _check_references(golden: GoldenTest, program: Program) -> None:
    """Raise `InputError` for a reference whose output the program does not have."""
    names = [tensor.name for tensor in program.outputs]
    for name in golden.references:
        if name not in names:
            hint = suggestion(name, names) if names else "the program has no output"
            raise InputError(
                f"{golden.folder / DESCRIPTION_FILE}: expected.{name}: no output is called"
                f" '{name}'",
                hint,
            )


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
    """Write `result` to `expected/`, and delete the outputs of an earlier recording there.

    If one of the files cannot be written, no file is replaced. Outputs with references are not
    written. Raises `InputError`.
    """
    folder = golden.folder / EXPECTED_FOLDER
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is no folder")
    folder.mkdir(exist_ok=True)
    outputs = _recorded_outputs(golden, result)
    record = _without_idle_cores(_json_round_trip(result.record))
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    arrays = [(folder / f"{name}.npy", npy_bytes(array)) for name, array in outputs.items()]
    write_all([*arrays, (folder / RECORD_FILE, text.encode())])
    for stale in folder.glob("*.npy"):
        if stale.stem not in outputs:
            stale.unlink()


def _recorded_outputs(golden: GoldenTest, result: Result) -> dict[str, NDArray[Any]]:
    return {name: array for name, array in result.outputs.items() if name not in golden.references}


def _without_idle_cores(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record without the registers and counters of cores whose values are all zero.

    Then a recording still fits if the device later gets a further kind of core, which the program
    does not use.
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
    """Return the record as it would be after writing it to run.json and reading it again."""
    return json.loads(json.dumps(record))


# Comparing -------------------------------------------------------------------------------------


def compare(golden: GoldenTest, result: Result) -> list[str]:
    """Return the differences between the recording and `result` as lines of text.

    If the description says that nothing is recorded, the only condition is an exit with code 0.
    """
    if not golden.record:
        end = {name: result.record.get(name) for name in ("stop", "exit_code")}
        return _differences({"stop": "exit", "exit_code": 0}, end)
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
    outputs = _recorded_outputs(golden, result)
    for name in sorted(recorded - set(outputs)):
        reason = "the program gave none"
        if name in golden.references:
            reason = "it has a reference"
        elif "outputs" not in golden.record:
            reason = f"record in {DESCRIPTION_FILE} leaves outputs out"
        lines.append(f"output {name}: recorded, but {reason}")
    for name, array in outputs.items():
        if name not in recorded:
            lines.append(f"output {name}: not recorded, {folder / name}.npy is missing")
        else:
            path = path_inside(golden.folder, f"{EXPECTED_FOLDER}/{name}.npy", folder)
            lines += array_differences(name, read_array(path), array)
    return lines


def compare_references(golden: GoldenTest, result: Result) -> Iterator[str]:
    """Yield lines that say how outputs differ from their references.

    If the run took more cycles than `most_cycles`, a first line says how many more. Raises
    `InputError` for a reference that cannot be read.
    """
    most, cycles = golden.most_cycles, result.cycles
    if most is not None and cycles is not None and cycles > most:
        yield f"cycles: {cycles:,}, {cycles - most:,} more than the {most:,} of most_cycles"
    for name, reference in golden.references.items():
        array = read_array(reference.file)
        if name not in result.outputs:
            yield f"output {name}: has a reference, but the program gave none"
        else:
            yield from reference_differences(
                name,
                reference.file.name,
                array,
                result.outputs[name],
                reference.tolerance,
                result.element_types.get(name, ""),
            )


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
    """Yield pairs (path, value) for the values in nested mappings.

    An example is `(counters, cp, instructions), 12`. Each path begins with `prefix`. A list is one
    value.
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
