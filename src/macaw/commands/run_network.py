"""The command `macaw run FOLDER` for the folder of a compiled network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS

if TYPE_CHECKING:
    from macaw.networks.nnp_network import NnpNetwork


def run(
    folder: Path,
    inputs: Mapping[str, str],
    results: Mapping[str, str],
    *,
    max_cycles: int | None,
    engine: str,
    layers: bool,
    as_json: bool,
) -> int:
    """Run a network, write or print its outputs, and with `layers` print a row for each layer.

    Returns exit status 1 if a layer differs from the reference evaluator, or if the program stops.
    """
    from macaw import files, run_report
    from macaw.errors import InputError, RunError
    from macaw.networks import report as network_report
    from macaw.networks.compiler import load_network
    from macaw.networks.nnp_network import NnpNetwork

    network = load_network(folder)
    ports = network.operations if isinstance(network, NnpNetwork) else network.assignment
    names = [port.name for port in ports.outputs]
    for name in results:
        if name not in names:
            raise InputError(f"the model has no output '{name}'", "it has " + ", ".join(names))
    if isinstance(network, NnpNetwork):
        return _run_nnp(
            network,
            inputs,
            results,
            max_cycles=max_cycles,
            engine=engine,
            layers=layers,
            as_json=as_json,
        )
    try:
        result = network.run(files.read_arrays(inputs), engine=engine, max_cycles=max_cycles)
    except RunError as error:
        if as_json:
            click.echo(run_report.failure_json(error))
        else:
            run_report.print_failure(error, network.program)
        return error.status
    for name, path in results.items():
        files.write_array(path, result.outputs[name])
    if not results and not as_json and not layers:
        run_report.print_arrays(result.outputs)
    if layers or as_json:
        network_report.print_report(network, result, "json" if as_json else "table")
    wrong = [layer.report.name for layer in result.layers if not layer.equal]
    if wrong and not (layers or as_json):
        from macaw.terminal import console

        console.error(f"layer {wrong[0]} differs from the reference", "--layers shows all")
    return EXIT_FAILURE if wrong else EXIT_SUCCESS


def _run_nnp(
    network: NnpNetwork,
    inputs: Mapping[str, str],
    results: Mapping[str, str],
    *,
    max_cycles: int | None,
    engine: str,
    layers: bool,
    as_json: bool,
) -> int:
    """Run a network of nnp; with `layers` compare its outputs with ONNX's reference."""
    from macaw import files, run_report
    from macaw.errors import RunError
    from macaw.networks import nnp_report

    arrays = files.read_arrays(inputs)
    try:
        result = network.run(arrays, engine=engine, max_cycles=max_cycles)
    except RunError as error:
        if as_json:
            click.echo(run_report.failure_json(error))
        else:
            run_report.print_failure(error, network.program)
        return error.status
    for name, path in results.items():
        files.write_array(path, result.outputs[name])
    if layers or as_json:
        expected = network.expected(arrays)
        nnp_report.print_run(network, result, expected, "json" if as_json else "table")
    elif not results:
        run_report.print_arrays(result.outputs)
    return EXIT_SUCCESS
