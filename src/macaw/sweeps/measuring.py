"""Runs the subject of a sweep at one point, and returns its metrics."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from macaw import api, execution, files, layer_lowering
from macaw.errors import InputError
from macaw.execution import Counters
from macaw.isa.config import Configuration
from macaw.isa.errors import MacawError
from macaw.networks import compiler
from macaw.networks.compiled import MODEL, NetworkRun
from macaw.networks.nnp_network import NnpNetwork
from macaw.phrases import one_line
from macaw.sweeps.points import Outcome, Point
from macaw.sweeps.subjects import LoweringSubject, NetworkSubject, ProgramSubject, Subject


def measure(subject: Subject, point: Point) -> Outcome:
    """Run a subject at a point. What the point cannot do is the outcome's `refused`."""
    try:
        config = subject.config.changed(dict(point.settings))
        if isinstance(subject, ProgramSubject):
            metrics, read = _run_program(subject, point, config)
        elif isinstance(subject, LoweringSubject):
            metrics, read = _run_lowering(subject, point, config)
        else:
            metrics, read = _run_network(subject, point, config)
    except MacawError as error:
        # A program's errors have a line each, with the text of the source: the first one is enough.
        text = str(error).strip().partition("\n")[0]
        return Outcome(point, refused=one_line(text), files=digests(_own_files(subject)))
    return Outcome(point, metrics, files=digests(read))


def _run_program(
    subject: ProgramSubject, point: Point, config: Configuration
) -> tuple[dict[str, float], list[str]]:
    executable = len(subject.sources) == 1 and api.is_object(subject.sources[0])
    program = api.load(*subject.sources, device=None if executable else config)
    run = execution.run(
        program,
        files.read_arrays(subject.inputs),
        device=config,
        max_cycles=subject.max_cycles,
        jitter=point.seed,
    )
    if run.exit_code:
        raise InputError(f"the program exited with code {run.exit_code}")
    metrics = {"cycles": float(run.cycles), **counter_metrics(run.counters)}
    return metrics, [*_own_files(subject), *program.read_files]


def counter_metrics(counters: Counters) -> dict[str, float]:
    """Return the counters that are not 0 as metrics `core.counter`, and the sum of all MACs."""
    metrics = {
        f"{core}.{name}": float(value)
        for core, values in counters.items()
        for name, value in values.items()
        if value
    }
    macs = sum(values.get("macs", 0) for values in counters.values())
    return {"macs": float(macs), **metrics} if macs else metrics


def _run_lowering(
    subject: LoweringSubject, point: Point, config: Configuration
) -> tuple[dict[str, float], list[str]]:
    if point.seed is not None:
        raise InputError("an operation that is lowered runs without noise")
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
    measurement = lowering.measure()
    if not measurement.equal:
        raise InputError("the outputs differ from NumPy's")
    metrics = {
        "cycles": float(measurement.cycles),
        "predicted": float(lowering.cost.cycles),
        "rows.busy": float(measurement.rows),
        "dma.busy": float(measurement.dma),
        "external_bytes": float(measurement.external_bytes),
    }
    return metrics, _own_files(subject)


def _run_network(
    subject: NetworkSubject, point: Point, config: Configuration
) -> tuple[dict[str, float], list[str]]:
    if point.seed is not None:
        raise InputError("a compiled network runs without noise")
    network = compiler.compile(
        Path(subject.folder) / MODEL, device=config, dims=subject.dims or None
    )
    assert not isinstance(network, NnpNetwork)
    run = network.run(files.read_arrays(subject.inputs), max_cycles=subject.max_cycles)
    assert isinstance(run, NetworkRun)
    wrong = [layer.report.name for layer in run.layers if not layer.equal]
    if wrong:
        raise InputError(f"the layer {wrong[0]} differs from its definition")
    metrics = {
        "cycles": float(run.cycles),
        "predicted": float(sum(layer.predicted for layer in network.layers)),
        "bound": float(sum(layer.bound for layer in network.layers)),
        "macs": float(sum(layer.macs for layer in network.layers)),
        "external_bytes": float(sum(layer.external_bytes for layer in network.layers)),
        **{f"{core}.busy": share for core, share in run.busy.items()},
    }
    return metrics, _own_files(subject)


def _own_files(subject: Subject) -> list[str]:
    """Return the files that a subject names."""
    if isinstance(subject, ProgramSubject):
        return [*subject.sources, *subject.inputs.values()]
    if isinstance(subject, NetworkSubject):
        return [str(Path(subject.folder) / MODEL), *subject.inputs.values()]
    return [str(subject.options[name]) for name in ("weights", "bias") if subject.options.get(name)]


def digests(paths: Iterable[str | os.PathLike[str]]) -> Mapping[str, str]:
    """Return the SHA-256 of each file, by path. A file that cannot be read has an empty one."""
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
