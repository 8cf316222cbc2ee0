"""The command `macaw estimate`: predicts the cycles of a model's layers without running them."""

from __future__ import annotations

import click

from macaw.commands import lower_fim
from macaw.commands.data_option import data_arrays, data_option
from macaw.commands.options import FileName, batch_option, device_option, dims_option, plain_option
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS


@click.command("estimate", short_help="Predict what each layer of an ONNX model costs.")
@click.argument("model", type=FileName(), metavar="MODEL.onnx")
@device_option
@dims_option("the model")
@batch_option
@data_option
@lower_fim.islands_option
@click.option("--json", "kind", flag_value="json", help="Print the estimate as JSON.")
@click.option("--csv", "kind", flag_value="csv", help="Print the layers as CSV.")
@plain_option
def command(
    model: str,
    device: str,
    dims: tuple[str, ...],
    batch: int | None,
    data: tuple[str, ...],
    islands: tuple[str, ...],
    kind: str | None,
) -> int:
    """Predict the cycles of each layer of MODEL.onnx, but write no program.

    The predictions are those of `macaw compile`. A model of floating-point numbers is quantised
    with --data first, or else with one sample of random numbers; the cycles hardly depend on the
    scales. Without --data, the predictions assume that no activation is zero.

    Exit status 1: `macaw compile` would refuse the model. The refused nodes are listed, and the
    other layers are predicted.
    """
    from macaw.networks.estimator import estimate
    from macaw.terminal.progress_bar import ProgressBar

    with ProgressBar("estimating"):
        result = estimate(
            model,
            device=device,
            dims=lower_fim.dimensions(dims),
            batch=batch,
            data=data_arrays(data)[0] if data else None,
            islands=islands,
        )
    from macaw.networks import report  # late, because it imports onnx, which may be missing

    report.print_report(result, None, kind or "table")
    return EXIT_SUCCESS if result.is_complete else EXIT_FAILURE
