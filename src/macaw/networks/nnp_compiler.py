"""Compiles ONNX models to programs of nnp alone, and reads such networks from their folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macaw.errors import InputError
from macaw.isa.config import Configuration, parse
from macaw.lowering.errors import LowerError
from macaw.network_description import MODEL, NETWORK_FILE
from macaw.networks import model_files
from macaw.networks.nnp_network import NnpLayer, NnpNetwork

if TYPE_CHECKING:
    import onnx

    from macaw.lowering.nnp.operations import Model


def compile_for_nnp(
    proto: onnx.ModelProto,
    config: Configuration,
    dims: Mapping[str, int],
    name: str,
    folder: Path | None = None,
) -> NnpNetwork:
    """Compile a checked model for nnp, and return the network.

    `dims` has the sizes of the model's named dimensions. If the network was compiled before,
    `folder` is the folder of its files, from which it loads its program. Raises `InputError` for a
    node that nnp cannot compute.
    """
    from macaw.lowering.nnp.onnx_reader import read
    from macaw.lowering.nnp.source import program

    try:
        model = read(proto, config, dims)
        lowered = program(model, config, name)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    data = proto.SerializeToString()
    return NnpNetwork(name, config, data, dims, _layers(model), model, lowered, folder)


def load_nnp_network(path: Path, description: Mapping[str, Any]) -> NnpNetwork:
    """Return the network of nnp in the folder `path`; `description` is the contents of net.json.

    Raises `InputError` if a file is missing or wrong.
    """
    try:
        config = parse(description["device"], description["device_name"])
        dims, name = description["dims"], description["name"]
    except (TypeError, KeyError) as error:
        raise InputError(f"{path / NETWORK_FILE} is no description of a network: {error}") from None
    return compile_for_nnp(model_files.load(path / MODEL), config, dims, name, path)


def _layers(model: Model) -> tuple[NnpLayer, ...]:
    """Return the nodes of a model that compute something, in the model's order."""
    tiles: dict[str, dict[str, int]] = {}
    steps: dict[str, int] = {}
    for phase in model.phases:
        for operation in phase.operations:
            if operation.matrix:
                matrix = model.matrices[operation.matrix]
                size = matrix.rows * matrix.columns
                tiles.setdefault(operation.layer, {})[operation.matrix] = size
            steps[operation.layer] = max(steps.get(operation.layer, 1), phase.steps)
    return tuple(
        NnpLayer(
            name, layer.operator, layer.shapes[0], sum(tiles.get(name, {}).values()),
            steps.get(name, 1),
        )
        for name, layer in model.layers.items()
    )  # fmt: skip
