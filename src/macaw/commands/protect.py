"""The command `macaw protect`: stores weights in a random order, and the order in another file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from macaw.commands.options import FileName, OutputName, file_option, plain_option
from macaw.errors import EXIT_SUCCESS
from macaw.phrases import plural

if TYPE_CHECKING:
    from macaw.protection import Protection


@click.command("protect", short_help="Store weights in a random order, in separate files.")
@click.argument("weights", nargs=-1, required=True, metavar="WEIGHTS...", type=FileName())
@click.option(
    "--scope",
    metavar="SCOPE",
    help="Which nodes share an order: net (default), layer, group:N, node.",
)
@click.option(
    "--lanes",
    type=int,
    metavar="N",
    help="Number of weights in a block; default that of a register.",
)
@file_option(
    "-o",
    "outputs",
    metavar="OUT",
    multiple=True,
    required=True,
    text="The shuffled weights, one -o for each file.",
    kind=OutputName(),
)
@file_option("--order", required=True, text="The orders, .npy.", kind=OutputName())
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="S",
    help="Draw the orders from a seed: for tests, not for protection.",
)
@click.option("--undo", is_flag=True, help="Restore the weights from shuffled weights and orders.")
@plain_option
def command(
    weights: tuple[str, ...],
    scope: str | None,
    lanes: int | None,
    outputs: tuple[str, ...],
    order: str,
    seed: int | None,
    undo: bool,
) -> int:
    """Write the WEIGHTS of a network, .npy files of (nodes, inputs), in random orders.

    The orders go to a file of their own, with a note beside that file. With --undo, read shuffled
    WEIGHTS and the orders, and write the original weights.
    """
    from macaw import files, protection
    from macaw.errors import InputError

    if len(outputs) != len(weights):
        raise InputError(
            f"{plural(len(weights), 'file')} of weights, {len(outputs)} of -o", "one -o for each"
        )
    note = protection.check_paths(outputs, order)
    if undo:
        if seed is not None:
            raise InputError("--undo draws no orders", "leave --seed out")
        files.refuse_overwriting(outputs, [*weights, order, note])
        plain = protection.restore_files(weights, order, scope=scope, lanes=lanes)
        files.write_all(
            (path, files.npy_bytes(array)) for path, array in zip(outputs, plain, strict=True)
        )
        return EXIT_SUCCESS
    files.refuse_overwriting(outputs, weights)
    files.refuse_overwriting([order, note], weights, "--order names another")
    arrays = [files.read_array(path) for path in weights]
    shuffled = protection.protect(
        *arrays, scope=scope or protection.DEFAULT_SCOPE, lanes=lanes, seed=seed
    )
    shuffled.write(outputs, order)
    click.echo(_strength_text(shuffled))
    if seed is not None:
        click.echo("macaw: orders drawn from a seed: who knows it has the orders", err=True)
    return EXIT_SUCCESS


def _strength_text(protection: Protection) -> str:
    """Return a text with the scope, and with the number of orders that an attacker has to try."""
    orders, blocks, lanes = protection.order.shape
    plan = protection.layout
    nodes = sum(shape[0] for shape in plan.shapes)
    lines = [
        f"scope {plan.scope}: {plural(nodes, 'node')}, {plural(orders, 'order')} of"
        f" {plural(blocks, 'block')} of {lanes} lanes",
        f"an attacker faces 2^{protection.bits:,.1f} orders",
    ]
    if protection.distinct < protection.bits - 0.05:
        lines.append(
            f"of them 2^{protection.distinct:,.1f} differ: equal weights are interchangeable"
        )
    return "\n".join(lines)
