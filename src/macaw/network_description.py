"""Reads net.json, which describes the compiled network in a folder: its sources and layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from macaw import files
from macaw.asm.network import Columns, ProgramLayer, ProgramNetwork
from macaw.errors import InputError
from macaw.isa.format_versions import version_problem

NETWORK_FILE = "net.json"
MODEL = "model.onnx"
FORMAT = 2  # version of net.json; since 2, tensors may be columns of others


def read_description(path: Path) -> dict[str, Any]:
    """Return the contents of a net.json. Raises `InputError` if it cannot be read or is wrong."""
    import json

    data = files.read_bytes(path)
    try:
        description = json.loads(data)
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    if not isinstance(description, dict) or "format" not in description:
        raise InputError(f"{path} is no description of a network")
    problem = version_problem(description["format"], FORMAT, "`macaw compile`")
    if problem:
        raise InputError(f"{path}: {problem[0]}", problem[1])
    return description


def network_folder(sources: Sequence[str]) -> Path | None:
    """Return the folder of the compiled network that consists of these sources.

    Returns None if the sources are not exactly those of a compiled network.
    """
    folder = Path(sources[0]).parent
    if not (folder / NETWORK_FILE).is_file():
        return None
    return folder if network_sources(folder) == tuple(sources) else None


def program_network(sources: Sequence[str]) -> ProgramNetwork | None:
    """Return the network that these sources compute, from the net.json beside them.

    The network lets a debugger find the layers, each of which the command processor starts. Returns
    None if there is no net.json, and also if the matrix-vector processor alone computes the
    network, because the command processor then starts no layer. Raises `InputError` if net.json is
    wrong.
    """
    folder = network_folder(sources)
    if folder is None:
        return None
    path = folder / NETWORK_FILE
    description = read_description(path)
    try:
        if "core" in description:
            return None
        layers = tuple(
            ProgramLayer(
                row["name"], row["symbol"], row["operator"], row["core"], tuple(row["inputs"]),
                row["tensor"], row["predicted"], row["bound"],
            )
            for row in description["layers"]
        )  # fmt: skip
        return ProgramNetwork(
            description["name"], layers, description["symbols"], description["after_last"],
            columns_of(description),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{path} is no description of a network") from None


def columns_of(description: Mapping[str, Any]) -> dict[str, Columns]:
    """Return the tensors that are some columns of another tensor, by their symbols.

    Each value has three members: the symbol of the other tensor, the first column, and the number
    of columns.

    Raises `TypeError`, `ValueError` or `KeyError` if the description has a wrong form.
    """
    columns = dict(description.get("columns", {}))
    for whole, first, count in columns.values():
        if type(first) is not int or type(count) is not int:
            raise TypeError(f"columns {first}, {count} of {whole} are no whole numbers")
    return {symbol: Columns(*part) for symbol, part in columns.items()}


def network_sources(folder: Path) -> tuple[str, ...]:
    """Return the paths of the sources that the net.json in `folder` names.

    Raises `InputError` if net.json cannot be read or is wrong.
    """
    path = folder / NETWORK_FILE
    description = read_description(path)
    try:
        names = description["sources"]
        return tuple(str(folder / Path(name).name) for name in names)
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{path} is no description of a network") from None
