"""The command `macaw run FOLDER` for the folder of a compiled network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from macaw.networks.compiled import CompiledNetwork, NetworkRun
    from macaw.networks.nnp_network import NnpNetwork, NnpRun


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
    """Run the network in `folder`, and write its outputs to the files `results`, or print them.

    With `layers`, also print a row for each layer. With `as_json`, print one JSON object. Returns
    exit status 1 if a layer differs from the reference evaluator, or if the program stops without
    exiting, for example after `max_cycles`.
    """
    from macaw import files, run_report
    from macaw.errors import InputError, RunError
    from macaw.networks.compiler import load_network

    network = load_network(folder)
    # After the network, because these modules import onnx, which may be missing.
    from macaw.networks.compiled import NetworkRun
    from macaw.networks.nnp_network import NnpNetwork, NnpRun

    ports = network.operations if isinstance(network, NnpNetwork) else network.assignment
    names = [port.name for port in ports.outputs]
    for name in results:
        if name not in names:
            raise InputError(f"the model has no output '{name}'", "it has " + ", ".join(names))
    arrays = files.read_arrays(inputs)
    try:
        result = _run(network, arrays, engine, max_cycles)
    except RunError as error:
        if as_json:
            click.echo(run_report.failure_json(error))
        else:
            run_report.print_failure(error, network.program)
        return error.status
    files.write_all((path, files.npy_bytes(result.outputs[name])) for name, path in results.items())
    if not results and not as_json and not layers:
        run_report.print_arrays(result.outputs)
    form = "json" if as_json else "table" if layers else None
    if isinstance(network, NnpNetwork):
        assert isinstance(result, NnpRun)
        return _compare_nnp(network, result, arrays, form)
    assert isinstance(result, NetworkRun)
    return _compare(network, result, form)


def _run(
    network: CompiledNetwork | NnpNetwork,
    arrays: Mapping[str, NDArray[Any]],
    engine: str,
    max_cycles: int | None,
) -> NetworkRun | NnpRun:
    """Run a network, show a progress bar, and return the run.

    The bar counts the layers that are done. For a network on nnp, it counts nothing.
    """
    from macaw.networks.compiled import CompiledNetwork
    from macaw.terminal.progress_bar import ProgressBar

    if not isinstance(network, CompiledNetwork):
        with ProgressBar("running"):
            return network.run(arrays, engine=engine, max_cycles=max_cycles)
    with ProgressBar("running: layers", len(network.layers)) as bar:

        def watch(layers: int) -> None:
            bar.count = layers

        return network.run(arrays, engine=engine, max_cycles=max_cycles, on_layer=watch)


def _compare(network: CompiledNetwork, result: NetworkRun, form: str | None) -> int:
    """Return the exit status of a run: 0 if all layers equal the reference evaluator, else 1.

    With a `form` (table, csv or json), also print the report of the run in this form.
    """
    if form is not None:
        from macaw.networks import report as network_report

        network_report.print_report(network, result, form)
    wrong = [layer.report.name for layer in result.layers if not layer.equal]
    if wrong and form is None:
        from macaw.terminal import console

        console.error(f"layer {wrong[0]} differs from the reference", "--layers shows all")
    return EXIT_FAILURE if wrong else EXIT_SUCCESS


def _compare_nnp(
    network: NnpNetwork, result: NnpRun, arrays: Mapping[str, NDArray[Any]], form: str | None
) -> int:
    """Return the exit status of a run of nnp: always 0.

    With a `form` (table, csv or json), also print how much the outputs for the inputs `arrays`
    differ from those of ONNX's reference evaluator.
    """
    if form is not None:
        from macaw.networks import nnp_report

        nnp_report.print_run(network, result, network.expected(arrays), form)
    return EXIT_SUCCESS
