"""Sweeps settings of the device, in processes or on a cluster.

The subject of a sweep is a program, a lowered operation or graph, or a network. It runs at each
point, which gives each swept setting one of its values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from macaw import api, arguments, execution, files
from macaw.arguments import check_arguments
from macaw.clusters import map_on_cluster
from macaw.errors import InputError
from macaw.input_binding import bind
from macaw.isa.config import Value
from macaw.network_description import NETWORK_FILE, network_folder, read_description
from macaw.networks import compiler
from macaw.processes import map_in_processes
from macaw.profiling.energy_table import load_table
from macaw.program_folder import find_program
from macaw.sweeps.measuring import check_metrics, measure, with_zeros
from macaw.sweeps.point_files import FOLDER, point_path, read_point, write_point
from macaw.sweeps.points import Outcome, Point, check_axis, points
from macaw.sweeps.results import Sweep
from macaw.sweeps.subjects import (
    GraphSubject,
    LoweringSubject,
    NetworkSubject,
    ProgramSubject,
    Subject,
)

_VALUES = arguments.sequence(
    arguments.either("a value of a setting", arguments.flag, arguments.number, arguments.word),
    "a list of values",
)


@check_arguments(
    sources=arguments.path,
    settings=arguments.mapping(_VALUES, "lists of values by the name of a setting"),
    inputs=arguments.optional(arguments.mapping(arguments.path, "paths of .npy files by name")),
    lower=arguments.optional(arguments.mapping(arguments.anything, "arguments of macaw.lower")),
    device=arguments.optional(arguments.device),
    zipped=arguments.flag,
    repeat=arguments.whole(1),
    jitter=arguments.optional(arguments.seed),
    max_cycles=arguments.optional(arguments.whole(0)),
    jobs=arguments.whole(1),
    scheduler=arguments.optional(arguments.word),
    energy=arguments.optional(arguments.path),
    folder=arguments.optional(arguments.path),
    metrics=arguments.sequence(arguments.word, "a list of names"),
    watch=arguments.optional(arguments.function),
)
def sweep(
    *sources: api.FilePath,
    settings: Mapping[str, Sequence[Value]],
    inputs: Mapping[str, api.FilePath] | None = None,
    lower: Mapping[str, Any] | None = None,
    device: api.DeviceLike | None = None,
    zipped: bool = False,
    repeat: int = 1,
    jitter: int | None = None,
    max_cycles: int | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    energy: api.FilePath | None = None,
    folder: api.FilePath | None = None,
    metrics: Sequence[str] = (),
    watch: Callable[[int, int], object] = lambda done, total: None,
) -> Sweep:
    """Run a program, an operation or a network on devices that differ in `settings`.

    `sources` are the sources of a program, one ELF file, a folder with a golden test, or the folder
    of a compiled network. The model of a network is compiled again for each device. Without
    sources, `lower` has the arguments of `macaw.lower`, with paths of .npy files for weights and
    bias, or the arguments of `macaw.lower_graph`, with the path of the `graph`. `inputs` are paths
    of .npy files by name.

    The points are all combinations of the values. With `zipped`, the first point has the first
    value of each setting, the next one the second values, and so on. With a seed `jitter`, each
    point runs `repeat` times with noise in the timing of DRAM. `jobs` processes run the points, or
    the Dask cluster at `scheduler`. With a `folder`, each finished point has a file there. A later
    sweep with this folder runs only the points that have no such file, or whose run read a file
    that has changed since. The function calls `watch(done, total)` after each point. A run that
    takes more than `max_cycles` is an error.

    With `energy`, the file of a table or "" for the default table, each point also has an estimate
    of its energy in picojoules, from a second run. `metrics` are names of metrics that the result
    has also if they are 0 at all points; the function checks them before the first run.

    A point that cannot run is in the result with its reason (`Outcome.refused`). Raises
    `InputError` for settings and metrics that do not exist, and the errors of `macaw.load` for the
    subject.
    """
    axes = [check_axis(name, arguments.python_numbers([*row])) for name, row in settings.items()]
    chosen = points(
        axes,
        zipped=zipped,
        repeat=arguments.python_numbers(repeat),
        seed=arguments.python_numbers(jitter),
    )
    paths = {name: os.fspath(path) for name, path in (inputs or {}).items()}
    names = [os.fspath(path) for path in sources]
    if lower is not None:
        if names or paths:
            raise InputError("an operation that is lowered has no sources and no inputs")
        subject: Subject = lowering_subject(lower, device, max_cycles)
    else:
        subject = source_subject(names, paths, device, max_cycles)
    if energy is not None:
        load_table(os.fspath(energy))  # reports an error in the table before the first run
        subject = replace(subject, energy=os.fspath(energy))
    check_metrics(subject, metrics, chosen)
    results = run_points(
        subject, chosen, workers=jobs, scheduler=scheduler, folder=folder, watch=watch
    )
    return Sweep(subject.name, tuple(with_zeros(outcome, metrics) for outcome in results))


def source_subject(
    names: Sequence[str],
    inputs: Mapping[str, str],
    device: api.DeviceLike | None,
    max_cycles: int | None,
) -> ProgramSubject | NetworkSubject:
    """Return the program or the network that `names` name: sources, one ELF file, or a folder.

    `inputs` are paths of .npy files by name. Each replaces the golden test's input of this name.
    Unless they are None, `device` replaces the device of the program or network, and `max_cycles`
    the golden test's limit. Raises `InputError` and the errors of `macaw.load`.
    """
    if not names:
        raise InputError("there is nothing to run", "name sources, or an operation to lower")
    found = find_program(names)
    network = network_folder(found.sources)
    if network is not None:
        return network_subject(network, inputs, device, max_cycles)
    device = device if device is not None else found.device
    limit = max_cycles if max_cycles is not None else found.max_cycles
    program = api.load(*found.sources, device=device)
    config = execution.configuration_of(program, device)
    every = {**found.inputs, **inputs}
    # reports an array that fits no point before the first run
    bind(program, files.read_arrays(every))
    return ProgramSubject(found.sources, every, config, limit)


def network_subject(
    folder: Path,
    inputs: Mapping[str, str],
    device: api.DeviceLike | None,
    max_cycles: int | None,
) -> NetworkSubject:
    """Return the subject for the folder of a compiled network.

    `inputs` are paths of .npy files by name. Without `device`, the network runs on the device for
    which it was compiled. `max_cycles` limits each run. Raises `InputError` if the folder or the
    inputs are wrong.
    """
    network = compiler.load_network(folder)
    from macaw.networks.compiled import CompiledNetwork  # late: it imports onnx

    network.device_inputs(files.read_arrays(inputs))
    config = network.config if device is None else api.configuration(device)
    core = read_description(folder / NETWORK_FILE).get("core")
    islands = network.islands.names if isinstance(network, CompiledNetwork) else ()
    return NetworkSubject(
        str(folder), inputs, config, network.dims, max_cycles, core, islands=islands
    )


def lowering_subject(
    options: Mapping[str, Any], device: api.DeviceLike | None, max_cycles: int | None = None
) -> LoweringSubject | GraphSubject:
    """Return the subject for `options`: arguments of `macaw.lower`, or of `macaw.lower_graph`.

    `device` replaces a device in the options, `max_cycles` limits each run. Raises `InputError` if
    the operation, the path of the weights, or the path of the graph is missing.
    """
    given = {name: value for name, value in options.items() if value is not None}
    named = given.pop("device", None)
    config = api.configuration(device if device is not None else named or api.DEFAULT_DEVICE)
    if "graph" in given:
        if not isinstance(given["graph"], str | os.PathLike):
            raise InputError("a graph to lower is the path of an ONNX file")
        given["graph"] = os.fspath(given["graph"])
        files.read_bytes(given["graph"])
        return GraphSubject(given, config, max_cycles)
    for name in ("operation", "weights"):
        if not isinstance(given.get(name), str | os.PathLike):
            raise InputError(f"an operation to lower needs '{name}'", "a name, and a .npy file")
    for name in ("weights", "bias"):
        if name in given:
            given[name] = os.fspath(given[name])
            files.read_array(given[name])
    return LoweringSubject(given, config, max_cycles)


@dataclass(frozen=True)
class _Job:
    """A point to run, and the path of its file if the process that runs it must write the file."""

    subject: Subject
    point: Point
    path: Path | None  # None: the process writes no file


def _run(job: _Job) -> Outcome:
    outcome = measure(job.subject, job.point)
    if job.path is not None and outcome.files:
        write_point(job.path, outcome)
    return outcome


def run_points(
    subject: Subject,
    chosen: Sequence[Point],
    *,
    workers: int,
    scheduler: str | None,
    folder: api.FilePath | None,
    watch: Callable[[int, int], object],
) -> list[Outcome]:
    """Run the subject at all chosen points and return the outcomes in the order of the points.

    `workers` processes run the points, or the Dask cluster at `scheduler`. With a `folder`, each
    finished point has a file there, and a point with a valid file from an earlier sweep does not
    run again. The function calls `watch(done, total)` after each point. Raises `InputError` if
    processes or cluster fail; the files of finished points stay.
    """
    paths: list[Path | None] = [None] * len(chosen)
    outcomes: list[Outcome | None] = [None] * len(chosen)
    if folder is not None:
        from macaw import __version__

        files.make_folder(Path(folder) / FOLDER)
        for number, point in enumerate(chosen):
            own = point_path(Path(folder), subject, point, __version__)
            paths[number], outcomes[number] = own, read_point(own, point)
    left = [number for number, outcome in enumerate(outcomes) if outcome is None]
    # A worker of a cluster may be on another machine, so the files are written here.
    remote = scheduler is not None
    jobs = [_Job(subject, chosen[number], None if remote else paths[number]) for number in left]
    done = len(chosen) - len(left)
    watch(done, len(chosen))
    for number, outcome in zip(left, _results(jobs, workers, scheduler), strict=True):
        outcomes[number] = outcome
        path = paths[number]
        if remote and path is not None and outcome.files:
            write_point(path, outcome)
        done += 1
        watch(done, len(chosen))
    return [outcome for outcome in outcomes if outcome is not None]


def _results(jobs: Sequence[_Job], workers: int, scheduler: str | None) -> Iterator[Outcome]:
    if scheduler is not None and jobs:
        return map_on_cluster(_run, jobs, scheduler)
    if workers > 1 and len(jobs) > 1:
        return map_in_processes(_run, jobs, workers)
    return map(_run, jobs)
