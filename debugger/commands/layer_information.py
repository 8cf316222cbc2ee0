"""The tables `info layers` and `info tensors`: a network's layers and tensors at this moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

IMAGES = "images are stored as (height, width, channels)"


def layers_table(context: Context, text: str | None) -> Answer:
    """Return a table of the layers of the network.

    If `text` is not None, the table has only layers whose name or operation contains `text`.
    """
    _check_network(context)
    states = context.session.layers()
    rows = [
        (
            ">" if item.state == "running" else "",
            item.layer.name,
            item.layer.symbol,
            item.layer.operator,
            item.layer.core,
            item.state,
            item.begin,
            item.cycles,
            item.layer.predicted,
        )
        for item in states
        if not text or text in item.layer.name or text in item.layer.operator
    ]
    done = sum(item.state == "done" for item in states)
    columns = ("", "layer", "symbol", "operation", "core", "state", "begin", "cycles", "predicted")
    return answers.table(columns, rows, f"{done} of {len(states)} layers done")


def tensors_table(context: Context, text: str | None) -> Answer:
    """Return a table of the tensors of the network whose names contain `text`.

    If `text` is None, the table has all tensors.
    """
    _check_network(context)
    rows = [
        (
            item.name,
            item.tensor.name,
            item.tensor.dtype,
            " x ".join(map(str, item.tensor.shape)),
            f"{item.tensor.address:#010x}",
            None if item.layer is None else item.layer.name,
            item.state,
        )
        for item in context.session.model_tensors()
        if not text or text in item.name
    ]
    columns = ("tensor", "symbol", "type", "shape", "address", "made by", "state")
    return answers.table(columns, rows, IMAGES)


def _check_network(context: Context) -> None:
    if context.session.program.network is None:
        raise CommandError(
            "the program is no compiled network", "macaw compile makes one; debug its folder"
        )
