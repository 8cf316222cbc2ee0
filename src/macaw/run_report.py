"""Prints the results of a run: arrays and tables for people, JSON (docs/cli.md) for programs."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.asm.diagnostics import Diagnostic, Span
from macaw.asm.program import Program
from macaw.emu.copies import original
from macaw.errors import RunError
from macaw.execution import Run, RunCaution, combine_counters
from macaw.isa import reading
from macaw.isa.common import TRAFFIC
from macaw.phrases import plural, shape_text
from macaw.terminal import console
from macaw.terminal.diagnostics_output import print_diagnostics

if TYPE_CHECKING:
    from rich.table import Table

    from macaw.emu.faults import Stop
    from macaw.isa.model import Core

LABEL_WIDTH, CELL_WIDTH = 17, 10  # aligns the columns of different cores
NO_TEXTS: Mapping[str, str] = MappingProxyType({})
MOST_CAUTIONS = 3
MEANING_WIDTH = 60  # columns that the meanings of counters need


def print_outputs(run: Run) -> None:
    """Print each output: a line such as `y (int32, 10)`, then its elements in NumPy's format."""
    program = run.device.program
    print_arrays(run.outputs, {x.name: x.dtype for x in program.outputs} if program else {})


def print_arrays(
    arrays: Mapping[str, NDArray[Any]], types: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Print each array: a line such as `y (int32, 10)`, then its elements in NumPy's format.

    `types` has the declared types of tensors by name. Other arrays are printed with their own type.
    """
    width = _terminal_width() if sys.stdout.isatty() else 100
    for name, array in arrays.items():
        print(f"{name} ({types.get(name, array.dtype.name)}, {shape_text(array.shape)})")
        print(np.array2string(array, max_line_width=width, separator=" "))
    sys.stdout.flush()


def _terminal_width() -> int:
    from shutil import get_terminal_size  # late, because it imports compressors, which takes long

    return get_terminal_size().columns


def print_stats(run: Run) -> None:
    """Print the number of cycles, and a table of counters for each kind of core, to stderr."""
    sys.stdout.flush()
    screen = console.stderr()
    what = "" if run.items is None else f" in {plural(run.items, 'run')}"
    screen.print(f"{plural(run.cycles, 'cycle')}{what}", soft_wrap=True)
    zero = 0
    tables = {core.table.name: core.table for core in run.device.cores.values()}
    for name, table in tables.items():
        members = [core for core in run.device.cores if run.device.cores[core].table is table]
        counts = {core: run.counters[core] for core in members}
        names = list(dict.fromkeys(name for values in counts.values() for name in values))
        names_shown = [name for name in names if any(counts[core].get(name) for core in members)]
        zero += len(names) - len(names_shown)
        if names_shown:
            screen.print()
            screen.print(_counter_table(table, counts, names_shown, screen.width))
    if zero:
        text = f"{plural(zero, 'counter')} that {'is' if zero == 1 else 'are'} zero not shown"
        screen.print(f"\n{text}", style="dim", soft_wrap=True)


def _counter_table(
    core: Core, counts: Mapping[str, Mapping[str, int]], names: list[str], width: int
) -> Table:
    """Return a table of the counters `names` of the kind of cores to which `core` belongs.

    `counts` has the counters by core. If `width` has enough columns, each core has its own column;
    else the table has only the sums. If there is room, the table also has a column with the
    counters' meanings. On a narrow screen, it first leaves out the units, then wraps names. It
    always shows the numbers.
    """
    from rich.table import Table

    rows = {row.name: row for row in (*core.counters, *TRAFFIC)}
    label = max(LABEL_WIDTH, *map(len, names)) + 2
    unit = max(len(rows[name].unit) if name in rows else 0 for name in names) + 2
    most = max(value for values in counts.values() for value in values.values())
    cell = max(CELL_WIDTH, len(f"{most * len(counts):,}"), *map(len, counts)) + 2
    several = len(counts) > 1
    each = not several or label + unit + cell * (len(counts) + 1) <= width
    room = width - label - cell * (len(counts) * each + several)
    units, meaning = room + 2 >= unit, room - unit >= MEANING_WIDTH
    folded = room + 2 < 0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    if folded:
        table.add_column(core.name, width=max(label + room, 1), overflow="fold")
    else:
        table.add_column(core.name, no_wrap=True, min_width=label - 2)
    for name in counts if each else ():
        heading = name if name != core.name else ""
        table.add_column(heading, justify="right", no_wrap=True, min_width=cell - 2)
    if several:
        heading = "all" if each else f"all {len(counts)}"
        table.add_column(heading, justify="right", no_wrap=True, min_width=cell - 2)
    if units:
        table.add_column("", no_wrap=True)
    if meaning:
        table.add_column("", no_wrap=True, overflow="ellipsis", style="dim")
    for name in names:
        row = rows.get(name)
        values = [values.get(name, 0) for values in counts.values()]
        cells = [f"{value:,}" for value in values] if each else []
        if several:
            cells.append(f"{combine_counters(row, values):,}")
        about = [row.unit, row.meaning] if row else ["", ""]
        table.add_row(name, *cells, *about[: units + meaning])
    return table


_WHY_STALLED = "`macaw debug`, then `continue` and `why-stalled` say what could end each wait"


def print_failure(error: RunError, program: Program) -> None:
    """Print why the program stopped, with the source line of the address, or else its symbol."""
    diagnostic = failure_diagnostic(error)
    if diagnostic is not None:
        print_diagnostics([diagnostic])
        return
    stop = error.stop
    text = str(stop) if stop.reason in str(stop) or stop.fault else f"{stop.reason}: {stop}"
    waits = waiting_diagnostics(error)
    hint = _symbol_hint(program, stop.address, _file_address(error))
    console.error(f"{text}{_item_note(error)}", hint or (_WHY_STALLED if waits else ""))
    print_diagnostics(waits)


def waiting_diagnostics(error: RunError, texts: Mapping[str, str] = NO_TEXTS) -> list[Diagnostic]:
    """Return a note for each source line at which a core, or a part of a core, waits in a deadlock.

    The list is empty if the program stopped for another reason. `texts` has, by name, sources that
    are not files.
    """
    device, notes = error.device, []
    if error.stop.reason != "deadlock" or device.program is None:
        return []
    for core in device.order:
        for stall in core.stalls() if core.running else ():
            if not stall.on or stall.address is None:
                continue
            place = device.place(original(device.program, core, stall.address))
            if place is not None:
                name = f"{core.name} {stall.part}".strip()
                note = f" ({stall.note})" if stall.note else ""
                text = f"{name} waits for {stall.on}{note} since cycle {stall.since}"
                notes.append(_at_place("note", text, place, texts))
    return notes


def print_cautions(run: Run) -> None:
    """Print a warning for each problem of a run (`Run.cautions`), at its source line if known.

    The function prints at most `MOST_CAUTIONS` warnings, and the number of further problems.
    """
    diagnostics = []
    for caution in run.cautions[:MOST_CAUTIONS]:
        if caution.place is None:
            console.warning(f"{caution} (at {caution.address:#010x})")
        else:
            diagnostics.append(_at_place("warning", str(caution), caution.place, NO_TEXTS))
    print_diagnostics(diagnostics)
    left = len(run.cautions) - MOST_CAUTIONS
    if left > 0:
        console.warning(f"the same at {plural(left, 'further instruction')}")


def _item_note(error: RunError) -> str:
    return "" if error.item is None else f" (item {error.item} of the batch)"


def _file_address(error: RunError) -> int | None:
    """Return the address in the program file of the instruction at which the program stopped.

    The program may have copied its code, so the address in the device can be another one. Returns
    None if the stop has no address, as a deadlock has none.
    """
    program, stop = error.device.program, error.stop
    core = error.device.cores.get(stop.core)
    if core is None or stop.address is None or program is None:
        return stop.address
    return original(program, core, stop.address)


def failure_diagnostic(error: RunError, texts: Mapping[str, str] = NO_TEXTS) -> Diagnostic | None:
    """Return the reason why the program stopped as a diagnostic at the source line.

    Returns None if the line is not known. `texts` has, by name, sources that are not files.
    """
    stop, fault = error.stop, error.stop.fault
    at = _file_address(error)
    place = None if at is None else error.device.place(at)
    if place is None:
        return None
    text = str(stop)
    if fault is not None:
        text = f"{fault.core}: {fault.kind} at {stop.address:#010x}, cycle {fault.cycle}: "
        text += fault.message
    return _at_place(stop.reason, f"{text}{_item_note(error)}", place, texts)


def _at_place(
    kind: str, text: str, place: tuple[str, int, int], texts: Mapping[str, str]
) -> Diagnostic:
    """Return a diagnostic with a caret below the word at `place`: file, line and column.

    `kind` is the word before the message `text`. `texts` has, by name, sources that are not files.
    """
    file, line, column = place
    source = _source_line(file, line, texts)
    word = re.match(r"[\w.]+", source[column - 1 :])
    span = Span(file, line, column, column + (len(word.group()) if word else 1))
    return Diagnostic(kind, text, span, source=source)


def _symbol_hint(program: Program, address: int | None, at: int | None) -> str:
    """Return a hint such as `0x00010008 is main+0x8`, or an empty text without a symbol.

    `address` is the address of an instruction in the device's memory, `at` the address of the same
    instruction in the program file. They differ if the program has copied its code.
    """
    match = None if at is None else program.symbol_at(at)
    if match is None:
        return ""
    symbol, distance = match
    return f"{address:#010x} is {symbol.name}{f'+{distance:#x}' if distance else ''}"


def _source_line(file: str, line: int, texts: Mapping[str, str]) -> str:
    """Return a line of one of the `texts`, or of a file.

    The result is empty if the line cannot be read. A file may have changed since the run.
    """
    try:
        if file in texts:
            lines = texts[file].splitlines()
        else:
            lines = reading.read(file, reading.MOST_SOURCE).decode("utf-8", "replace").splitlines()
    except reading.UnreadableError:
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""


def run_json(run: Run, files: Mapping[str, str]) -> str:
    """Return the JSON text that `macaw run --json` prints.

    `files` has the file of each output that was written to a file. For such an output, the text has
    the file's name in place of the elements.
    """
    outputs: dict[str, Any] = {}
    for name, array in run.outputs.items():
        entry: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
        if name in files:
            entry["file"] = files[name]
        else:
            entry["data"] = json_array(array)
        outputs[name] = entry
    import json

    return json.dumps(
        {
            "stop": "exit",
            "exit_code": run.exit_code,
            "items": run.items,
            "cycles": run.cycles,
            "outputs": outputs,
            "unwritten": list(run.unwritten),
            "cautions": [_caution_json(caution) for caution in run.cautions],
            "counters": run.counters,
            "stdout": run.stdout,
            "stderr": run.stderr,
        }
    )


def failure_json(error: RunError) -> str:
    """Return the JSON text of `macaw run --json` for a program that did not exit."""
    import json

    return json.dumps({**stop_json(error.stop), "item": error.item})


def stop_json(stop: Stop) -> dict[str, Any]:
    """Return a stop as JSON data: its reason (`stop`), `message`, `cycle`, and a fault if any."""
    fields: dict[str, Any] = {"stop": stop.reason, "message": stop.message, "cycle": stop.cycle}
    if stop.fault is not None:
        fault = stop.fault
        fields["fault"] = {
            "kind": fault.kind,
            "core": fault.core,
            "address": fault.address,
            "place": _place_json(fault.place),
            "values": {name: _json_number(value) for name, value in fault.values.items()},
        }
    return fields


def _place_json(place: tuple[str, int, int] | None) -> dict[str, Any] | None:
    return None if place is None else dict(zip(("file", "line", "column"), place, strict=True))


def _caution_json(caution: RunCaution) -> dict[str, Any]:
    fields = {**vars(caution), "place": _place_json(caution.place)}
    return {**fields, "message": str(caution)}


def json_array(array: NDArray[Any]) -> Any:
    """Return an array as nested lists of JSON numbers.

    NaN and infinities, for which JSON has no numbers, become "nan", "inf" or "-inf".
    """
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()
    if array.ndim == 0:
        return _json_number(array.item())
    return [json_array(np.asarray(part)) for part in array]


def _json_number(value: object) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, np.generic):
        return _json_number(value.item())
    return value if isinstance(value, int | float | str | bool | None) else str(value)
