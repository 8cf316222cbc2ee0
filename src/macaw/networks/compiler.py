"""Compiles ONNX models to programs for a device, and reads compiled networks from their folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from macaw import api, arguments
from macaw.arguments import check_arguments
from macaw.asm.network import Columns
from macaw.errors import InputError
from macaw.isa.config import Configuration, parse
from macaw.lowering.errors import LowerError
from macaw.network_description import (
    MODEL,
    NETWORK_FILE,
    columns_of,
    network_folder,
    read_description,
)
from macaw.networks import model_files
from macaw.processes import MapAll, process_map

if TYPE_CHECKING:
    import onnx
    from numpy.typing import ArrayLike, NDArray

    from macaw.lowering.net.network import Network
    from macaw.networks.compiled import CompiledNetwork
    from macaw.networks.nnp_network import NnpNetwork

_PLANNING = "macaw.lowering.net.plan_choice"  # the module whose function chooses plans
# Modules that import all that the result and its report need.
_RESULT = ("macaw.networks.report", "rich.console", "rich.table")
CORES = ("nnp",)  # cores that compute a whole network by themselves
# what a damaged description raises where its values are used
_DAMAGED = (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError)


@overload
def compile(  # noqa: A001 - the public name `macaw.compile`
    model: str | os.PathLike[str] | onnx.ModelProto,
    *,
    device: api.DeviceLike = ...,
    dims: Mapping[str, int] | None = ...,
    name: str | None = ...,
    batch: int | None = ...,
    data: ArrayLike | Mapping[str, ArrayLike] | None = ...,
    core: None = ...,
    constants: Mapping[str, ArrayLike] | None = ...,
    islands: Sequence[str] = ...,
    jobs: int = ...,
) -> CompiledNetwork: ...


@overload
def compile(  # noqa: A001 - the public name `macaw.compile`
    model: str | os.PathLike[str] | onnx.ModelProto,
    *,
    device: api.DeviceLike = ...,
    dims: Mapping[str, int] | None = ...,
    name: str | None = ...,
    batch: int | None = ...,
    data: ArrayLike | Mapping[str, ArrayLike] | None = ...,
    core: Literal["nnp"],
    constants: Mapping[str, ArrayLike] | None = ...,
) -> NnpNetwork: ...


@overload
def compile(  # noqa: A001 - the public name `macaw.compile`
    model: str | os.PathLike[str] | onnx.ModelProto,
    *,
    device: api.DeviceLike = ...,
    dims: Mapping[str, int] | None = ...,
    name: str | None = ...,
    batch: int | None = ...,
    data: ArrayLike | Mapping[str, ArrayLike] | None = ...,
    core: str | None,
    constants: Mapping[str, ArrayLike] | None = ...,
    islands: Sequence[str] = ...,
    jobs: int = ...,
) -> CompiledNetwork | NnpNetwork: ...


@check_arguments(
    **model_files.MODEL_ARGUMENTS,
    core=arguments.optional(arguments.word),
    constants=arguments.optional(arguments.arrays),
    jobs=arguments.whole(1),
)
def compile(  # noqa: A001 - the public name `macaw.compile`
    model: str | os.PathLike[str] | onnx.ModelProto,
    *,
    device: api.DeviceLike = api.DEFAULT_DEVICE,
    dims: Mapping[str, int] | None = None,
    name: str | None = None,
    batch: int | None = None,
    data: ArrayLike | Mapping[str, ArrayLike] | None = None,
    core: str | None = None,
    constants: Mapping[str, ArrayLike] | None = None,
    islands: Sequence[str] = (),
    jobs: int = 1,
) -> CompiledNetwork | NnpNetwork:
    """Compile an ONNX model to a program for a device.

    The model must be quantised. Its layers run on the array, vc, the dma and nnp, and on islands if
    `islands` asks for that. With `core="nnp"` the model is floating-point, and nnp computes all its
    layers; the result is then an `NnpNetwork`.

    `dims` gives sizes to dimensions for which the model has only names, `constants` values to
    inputs that become constants. `name` is the network's name, by default that of the file. `batch`
    is the number of samples that the network computes in one run. It replaces the first dimension
    of each input, which must be 1 or have a name. All other dimensions with this name are replaced,
    too. `data` has samples of the inputs: an array for the only input, or arrays by name. With
    `data`, predictions and plans count the zeros of each tensor in the first four samples; without
    it they assume that no activation is zero. `islands` has names of layers or operators; fim
    islands compute the products of two tensors (MatMul) among these layers, in binary32. `jobs`
    processes evaluate the samples and plan the layers; the program does not depend on their number.

    Raises `InputError` for a model that cannot be read or compiled; the message names the node.
    Raises `ConfigError` for an invalid device.
    """
    config = api.configuration(device)
    # Several processes start while this one imports onnx and reads the model.
    several = jobs > 1 and core is None
    with process_map(jobs, _PLANNING) if several else nullcontext() as map_all:
        proto = model_files.load_with_constants(model, constants or {})
        title = name or (Path(model).stem if isinstance(model, str | os.PathLike) else "network")
        count, known = arguments.python_numbers(batch), arguments.python_numbers(dims or {})
        proto, sizes = model_files.with_batch(proto, count, known)
        if core is None:
            return _compiled(proto, config, sizes, title, data, tuple(islands), map_all)
    if core not in CORES:
        hint = "`macaw.lower_graph` for islands" if core == "fim" else " or ".join(CORES)
        raise InputError(f"no core '{core}' computes whole networks", hint)
    if data is not None:
        raise InputError(f"{core} does not skip zeros: `data` is for a quantised model")
    if islands:
        raise InputError(f"{core} computes the whole network: `islands` is for other cores")
    if jobs > 1:
        raise InputError(f"one process compiles for {core}: `jobs` is for other cores")
    from macaw.networks.nnp_compiler import compile_for_nnp

    return compile_for_nnp(proto, config, sizes, title)


def _compiled(
    proto: onnx.ModelProto,
    config: Configuration,
    dims: Mapping[str, int],
    name: str,
    data: ArrayLike | Mapping[str, ArrayLike] | None,
    islands: tuple[str, ...],
    map_all: MapAll | None,
) -> CompiledNetwork:
    from macaw.lowering.net.assign import assign
    from macaw.lowering.net.island_layers import island_parts
    from macaw.lowering.net.program import network_program

    try:
        assignment = assign(model_files.layers(proto, dims), config, name, islands)
        parts = island_parts(assignment.model)
        if data is not None:
            from macaw.networks.sample_densities import with_sample_densities

            samples = model_files.sample_inputs(assignment.model, proto, data, dims)
            network = with_sample_densities(
                assignment.network, assignment.model, config, parts, samples, map_all
            )
            assignment = replace(assignment, network=network)
        chooses = None if map_all is None else _importing(map_all)
        program = network_program(assignment.network, config, chooses)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    from macaw.lowering.net.report import layer_report
    from macaw.networks.compiled import CompiledNetwork
    from macaw.networks.island_settings import IslandSettings

    layers = tuple(layer_report(plan, assignment.network.tensors, config) for plan in program.plans)
    return CompiledNetwork(
        name,
        config,
        layers,
        {name: program.symbols[_symbol_of(assignment.network, name)] for name in program.symbols},
        proto.SerializeToString(),
        dims,
        assignment.model,
        assignment,
        program.sources,
        {
            program.symbols[name]: Columns(program.symbols[assignment.network.home(name)], *part)
            for name, part in assignment.network.columns.items()
        },
        islands=IslandSettings(islands, parts),
    )


def _importing(map_all: MapAll) -> MapAll:
    """Return a function like `map_all` that also imports the modules of the compiler's result.

    Other processes choose plans while this one imports the modules. Then this one takes part, and
    no process waits for the imports.
    """

    def started(function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        results = map_all(function, arguments)
        for module in _RESULT:
            import_module(module)
        return results

    return started


def _symbol_of(network: Network, name: str) -> str:
    """Return the name of the tensor whose symbol the program uses for the tensor `name`.

    The result is the name of another tensor if `name` has the same bytes as that tensor, as after a
    reshape. Tensors that are some columns of another tensor have their own symbols.
    """
    return name if name in network.columns else network.home(name)


@check_arguments(folder=arguments.path)
def load_network(folder: str | os.PathLike[str]) -> CompiledNetwork | NnpNetwork:
    """Return the compiled network in a folder that a network's `write` has written.

    Raises `InputError` if a file is missing or wrong, or if the package onnx is not installed.
    """
    path = Path(folder)
    description = read_description(path / NETWORK_FILE)
    model_files.require_onnx("a compiled network")
    from macaw.lowering.net.assign import assign
    from macaw.lowering.net.report import LayerReport
    from macaw.networks.compiled import CompiledNetwork
    from macaw.networks.island_settings import check_parts, read_settings

    if description.get("core") in CORES:
        from macaw.networks.nnp_compiler import load_nnp_network

        return load_nnp_network(path, description)
    proto = model_files.load(path / MODEL)
    try:
        config = parse(description["device"], description["device_name"])
        network = model_files.layers(proto, description["dims"])
        islands = read_settings(description)
        assignment = assign(network, config, description["name"], islands.names)
        check_parts(assignment.model, islands.parts)
        layers = tuple(
            LayerReport(
                **{k: v for k, v in layer.items() if k != "inputs"}
                | {"shape": tuple(layer["shape"])}
            )
            for layer in description["layers"]
        )
        columns = columns_of(description)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    except _DAMAGED as error:
        raise InputError(f"{path / NETWORK_FILE} is no description of a network: {error}") from None
    return CompiledNetwork(
        description["name"],
        config,
        layers,
        description["symbols"],
        proto.SerializeToString(),
        description["dims"],
        assignment.model,
        assignment,
        dict.fromkeys(description["sources"]),
        columns,
        path,
        islands,
    )


def program_inputs(
    sources: Sequence[str], arrays: Mapping[str, NDArray[Any]]
) -> Mapping[str, NDArray[Any]]:
    """Return the inputs, by name, of the program with these sources.

    If the sources are those of a compiled network, `arrays` may be inputs of the model instead of
    inputs of the program. The function converts inputs of the model, and returns inputs of a
    program unchanged. Raises `InputError` for inputs of the model that do not fit.
    """
    folder = network_folder(sources)
    return arrays if folder is None else load_network(folder).device_inputs(arrays)
