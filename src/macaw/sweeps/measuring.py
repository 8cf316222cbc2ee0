"""Runs the subject of a sweep at one point, and returns its metrics."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from macaw import api, execution, files, fim_lowering, layer_lowering
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.execution import Counters
from macaw.input_binding import bind
from macaw.isa.config import ConfigError, Configuration
from macaw.isa.errors import MacawError
from macaw.lowering import reference
from macaw.network_description import MODEL
from macaw.networks import compiler
from macaw.phrases import did_you_mean, one_line
from macaw.profiling.energy_estimate import estimate_energy
from macaw.profiling.energy_table import load_table
from macaw.profiling.measuring import measure_job
from macaw.profiling.recording import make_job
from macaw.sweeps.points import Outcome, Point
from macaw.sweeps.subjects import (
    GraphSubject,
    LoweringSubject,
    NetworkSubject,
    ProgramSubject,
    Subject,
)

if TYPE_CHECKING:
    from macaw.networks.compiled import CompiledNetwork, NetworkRun

ENERGY = "picojoules"
# What is measured besides cycles, of what is not a program.
OF_LOWERINGS = ("predicted", "rows.busy", "dma.busy", "external_bytes")
OF_GRAPHS = ("predicted", "dma.busy", "resident_bytes", "error")
OF_LAYERS = ("predicted", "bound", "macs", "external_bytes")


@dataclass(frozen=True)
class _Run:
    """A run that has ended: its metrics, the files that it read, and the data to repeat the run.

    `inputs` has the inputs of each item of a batch.
    """

    metrics: Mapping[str, float]  # as in `Outcome`
    files: Sequence[str]  # paths
    program: Program
    inputs: Sequence[Mapping[str, NDArray[Any]]]


def measure(subject: Subject, point: Point) -> Outcome:
    """Run a subject at a point, and return the outcome.

    If the device or the program refuses the point, the outcome's `refused` has the reason. If its
    sources cannot be assembled, `files` is empty, because it is not known which ones they need.
    """
    config: Configuration | None = None
    try:
        config = subject.config.changed(dict(point.settings))
        run = _run(subject, point, config)
        metrics = {**run.metrics, **_energy_metrics(subject, point, config, run)}
    except MacawError as error:
        if isinstance(error, ConfigError):
            text = "; ".join(error.mistakes)
        else:
            # A program's errors have lines with the text of the source: the first one is enough.
            text = str(error).strip().partition("\n")[0]
        read = _own_files(subject) if config is None else _needed_files(subject, config)
        return Outcome(point, refused=one_line(text), files=digests(read))
    return Outcome(point, metrics, files=digests(run.files))


def check_metrics(subject: Subject, names: Iterable[str], points: Iterable[Point]) -> None:
    """Raise `InputError` for a name that no metric of the subject can have at any of the points.

    If none of the points has a possible device, the subject's own device counts.
    """
    missing, known = [*names], list[str]()
    for config in _devices(subject, points) if missing else ():
        known = _possible_metrics(subject, config)
        missing = [name for name in missing if name not in known]
        kinds = {_without_numbers(name) for name in known}
        # Devices of points may have other numbers of cores, but no other kinds.
        hopeless = [name for name in missing if _without_numbers(name) not in kinds]
        missing = hopeless or missing
        if hopeless or not missing:
            break
    if missing:
        raise InputError(f"no point has a metric '{missing[0]}'", did_you_mean(missing[0], known))


def _devices(subject: Subject, points: Iterable[Point]) -> Iterator[Configuration]:
    """Yield the different devices of the points; the subject's own one if there is none."""
    none = True
    for settings in dict.fromkeys(point.settings for point in points):
        try:
            config = subject.config.changed(dict(settings))
        except ConfigError:
            continue
        none = False
        yield config
    if none:
        yield subject.config


def _without_numbers(name: str) -> str:
    """Return the name of a metric without the number of its core, such as `pe.macs`."""
    return re.sub(r"\[\d+\]", "", name)


def with_zeros(outcome: Outcome, names: Iterable[str]) -> Outcome:
    """Return the outcome with 0 as the value of each metric in `names` that it does not have."""
    if outcome.refused:
        return outcome
    zeros = {name: 0.0 for name in names if name not in outcome.metrics}
    return replace(outcome, metrics={**outcome.metrics, **zeros})


def _possible_metrics(subject: Subject, config: Configuration) -> list[str]:
    """Return the names of all metrics that the subject may have on the device `config`."""
    device = Device(config)
    counters = {core: tuple(row) for core, row in device.counters().items()}
    names = ["cycles"]
    if isinstance(subject, ProgramSubject):
        names += ["macs", *(f"{core}.{name}" for core, row in counters.items() for name in row)]
    elif isinstance(subject, LoweringSubject):
        names += OF_LOWERINGS
    elif isinstance(subject, GraphSubject):
        names += OF_GRAPHS
    elif subject.core is not None:
        names += (f"{subject.core}.{name}" for name in counters[subject.core])
    else:
        names += [*OF_LAYERS, *(f"{core.table.name}.busy" for core in device.order)]
    if subject.energy is not None:
        names += [ENERGY, *(f"{core.name}.{ENERGY}" for core in device.order)]
    return list(dict.fromkeys(names))


def _run(subject: Subject, point: Point, config: Configuration) -> _Run:
    if isinstance(subject, ProgramSubject):
        return _run_program(subject, point, config)
    if point.seed is not None:
        raise InputError("only programs run with noise, not what is lowered or compiled here")
    if isinstance(subject, LoweringSubject):
        return _run_lowering(subject, config)
    if isinstance(subject, GraphSubject):
        return _run_graph(subject, config)
    return _run_network(subject, config)


def _energy_metrics(
    subject: Subject, point: Point, config: Configuration, run: _Run
) -> dict[str, float]:
    """Return the estimated energy of a run in picojoules, as metrics: in all, and for each core.

    The result is empty if the subject's `energy` is None. The meters need a second run, with the
    seed of `point`. For a batch, the result is the sum over all items, as for cycles.
    """
    if subject.energy is None:
        return {}
    table, sums = load_table(subject.energy), {ENERGY: 0.0}
    for inputs in run.inputs:
        job = make_job(run.program, config, inputs).with_jitter(point.seed)
        energy = estimate_energy(job, measure_job(job), table)
        sums[ENERGY] += energy.total
        for core in energy.cores:
            name = f"{core.core}.{ENERGY}"
            sums[name] = sums.get(name, 0.0) + core.energy
    return sums


def _run_program(subject: ProgramSubject, point: Point, config: Configuration) -> _Run:
    program = _load(subject, config)
    arrays = files.read_arrays(subject.inputs)
    run = execution.run(
        program,
        arrays,
        device=config,
        max_cycles=subject.max_cycles,
        jitter=point.seed,
    )
    if run.exit_code:
        raise InputError(f"the program exited with code {run.exit_code}")
    metrics = {"cycles": float(run.cycles), **counter_metrics(run.counters)}
    binding = bind(program, arrays)
    items = [binding.item(index) for index in range(binding.items or 1)]
    return _Run(metrics, [*_own_files(subject), *program.read_files], program, items)


def _load(subject: ProgramSubject, config: Configuration) -> Program:
    """Return the program, assembled for a device unless it is an executable."""
    executable = len(subject.sources) == 1 and api.is_object(subject.sources[0])
    return api.load(*subject.sources, device=None if executable else config)


def counter_metrics(counters: Counters) -> dict[str, float]:
    """Return the counters that are not 0 as metrics `core.counter`, and all MACs as `macs`."""
    metrics = {
        f"{core}.{name}": float(value)
        for core, values in counters.items()
        for name, value in values.items()
        if value
    }
    macs = sum(values.get("macs", 0) for values in counters.values())
    return {"macs": float(macs), **metrics} if macs else metrics


def _run_lowering(subject: LoweringSubject, config: Configuration) -> _Run:
    options = dict(subject.options)
    operation, weights = options.pop("operation"), files.read_array(options.pop("weights"))
    bias = options.pop("bias", None)
    lowering = layer_lowering.lower(
        operation,
        weights,
        bias=files.read_array(bias) if bias else None,
        device=config,
        **options,
    )
    x = reference.random_activations(lowering.product, config, seed=0)
    measurement = lowering.measure(x, max_cycles=subject.max_cycles)
    if not measurement.equal:
        raise InputError("the outputs differ from NumPy's")
    metrics = {
        "cycles": float(measurement.cycles),
        **_named(
            OF_LOWERINGS,
            lowering.cost.cycles,
            measurement.rows,
            measurement.dma,
            measurement.external_bytes,
        ),
    }
    program = lowering.assemble()
    return _Run(metrics, _own_files(subject), program, [{program.inputs[0].name: x}])


def _run_graph(subject: GraphSubject, config: Configuration) -> _Run:
    options = dict(subject.options)
    lowering = fim_lowering.lower_graph(options.pop("graph"), device=config, **options)
    inputs = lowering.random_inputs(seed=0)
    measurement = lowering.measure(inputs, max_cycles=subject.max_cycles)
    metrics = {
        "cycles": float(measurement.cycles),
        **_named(
            OF_GRAPHS,
            lowering.cycles,
            measurement.dma,
            lowering.resident_bytes,
            measurement.error,
        ),
    }
    return _Run(metrics, _own_files(subject), lowering.assemble(), [inputs])


def _run_network(subject: NetworkSubject, config: Configuration) -> _Run:
    from macaw.networks.compiled import CompiledNetwork, NetworkRun

    model, arrays = Path(subject.folder) / MODEL, files.read_arrays(subject.inputs)
    network = compiler.compile(
        model,
        device=config,
        dims=subject.dims or None,
        core=subject.core,
        islands=subject.islands,
    )
    run = network.run(arrays, max_cycles=subject.max_cycles)
    metrics = {"cycles": float(run.cycles)}
    if isinstance(run, NetworkRun):
        assert isinstance(network, CompiledNetwork)
        metrics |= _layer_metrics(network, run)
    else:
        metrics |= {f"{subject.core}.{name}": float(count) for name, count in run.counters.items()}
    return _Run(metrics, _own_files(subject), network.program, [network.device_inputs(arrays)])


def _layer_metrics(network: CompiledNetwork, run: NetworkRun) -> dict[str, float]:
    """Return metrics of a network: sums over its layers, and the busy shares of cores.

    Raises `InputError` if the result of a layer is wrong.
    """
    wrong = [layer.report.name for layer in run.layers if not layer.equal]
    if wrong:
        raise InputError(f"the layer {wrong[0]} differs from its definition")
    sums = (sum(getattr(layer, name) for layer in network.layers) for name in OF_LAYERS)
    return {
        **_named(OF_LAYERS, *sums),
        **{f"{core}.busy": share for core, share in run.busy.items()},
    }


def _named(names: Sequence[str], *values: float) -> dict[str, float]:
    """Return the values by name, as numbers with a fraction."""
    return dict(zip(names, map(float, values), strict=True))


def _own_files(subject: Subject) -> list[str]:
    """Return the paths of the files that a subject names."""
    table = [subject.energy] if subject.energy else []
    if isinstance(subject, ProgramSubject):
        return [*subject.sources, *subject.inputs.values(), *table]
    if isinstance(subject, NetworkSubject):
        return [str(Path(subject.folder) / MODEL), *subject.inputs.values(), *table]
    options = [subject.options.get(name) for name in ("weights", "bias", "graph")]
    named = [str(path) for path in options if path]
    if isinstance(subject, GraphSubject):
        from macaw.lowering.onnx.model_file import external_files  # late: it imports onnx

        for path in map(Path, tuple(named)):
            with suppress(MacawError):  # the run reports a file that cannot be read
                named += external_files(files.read_bytes(path), path)
    return [*named, *table]


def _needed_files(subject: Subject, config: Configuration) -> list[str]:
    """Return the paths of all files that a run of the subject on a device reads.

    The result is empty for a program whose sources cannot be assembled.
    """
    files = _own_files(subject)
    if isinstance(subject, ProgramSubject):
        try:
            files += _load(subject, config).read_files
        except MacawError:
            return []
    return files


def digests(paths: Iterable[str | os.PathLike[str]]) -> Mapping[str, str]:
    """Return the SHA-256 of each file by its path; an empty string for one that cannot be read."""
    return {os.fspath(path): digest(os.fspath(path)) for path in paths}


def digest(path: str) -> str:
    """Return the SHA-256 of a file, or an empty text if it cannot be read."""
    try:
        status = Path(path).stat()
        return _digest(path, status.st_mtime_ns, status.st_size)
    except (OSError, MacawError):
        return ""


@lru_cache(maxsize=4096)
def _digest(path: str, _changed: int, _size: int) -> str:
    return hashlib.sha256(files.read_bytes(path)).hexdigest()
