"""Reads ONNX models for the compiler and the estimator."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macaw import arguments, files
from macaw.errors import InputError
from macaw.lowering.errors import LowerError
from macaw.phrases import shape_text

if TYPE_CHECKING:
    import onnx
    from numpy.typing import ArrayLike, NDArray

    from macaw.lowering.onnx.network import Network

SAMPLES = 4  # for measuring densities, which hardly differ between samples
# The arguments that `compile` and `estimate` share.
MODEL_ARGUMENTS = {
    "model": arguments.either(
        "the path of an ONNX file or an ONNX model",
        arguments.path,
        arguments.instance("a model", "onnx:ModelProto"),
    ),
    "device": arguments.device,
    "dims": arguments.optional(
        arguments.mapping(arguments.whole(1), "whole numbers from 1 by name")
    ),
    "name": arguments.optional(arguments.word),
    "batch": arguments.optional(arguments.whole(1)),
    "data": arguments.optional(
        arguments.either(
            "an array of numbers, or arrays by name", arguments.array, arguments.arrays
        )
    ),
    "islands": arguments.sequence(arguments.word, "names of layers or operators"),
}


def require_onnx(what: str) -> None:
    """Raise `InputError`, which says that `what` needs the package, if onnx is not installed."""
    try:
        import_module("onnx")
    except ImportError as error:
        raise InputError(
            f"{what} needs the package {error.name}", "pip install 'macaw-npu[onnx]'"
        ) from None


def load(model: str | os.PathLike[str] | onnx.ModelProto) -> onnx.ModelProto:
    """Return the model, read from a file if `model` is a path, after the checks of ONNX.

    Raises `InputError` if the file cannot be read or the model is wrong.
    """
    require_onnx("an ONNX model")
    from macaw.lowering.onnx import model_file

    try:
        if isinstance(model, str | os.PathLike):
            return model_file.parse(files.read_bytes(model), Path(model))
        model_file.check(model)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    return model


def load_with_constants(
    model: str | os.PathLike[str] | onnx.ModelProto, constants: Mapping[str, ArrayLike]
) -> onnx.ModelProto:
    """Return the checked model, in which each input of `constants` is a constant with this value.

    Raises the errors of `load`, and `InputError` for a constant that does not fit.
    """
    proto = load(model)
    import numpy as np

    from macaw.lowering.onnx.constant_inputs import with_constants

    arrays = {name: np.asarray(array) for name, array in constants.items()}
    try:
        return with_constants(proto, arrays)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None


def with_batch(
    proto: onnx.ModelProto, batch: int | None, dims: Mapping[str, int]
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Return a checked model for `batch` samples in one run, and the sizes of named dimensions.

    `dims` has the sizes that the user gave. The returned sizes lack the dimensions that `batch`
    replaces. Without `batch`, model and sizes are returned unchanged. Raises `InputError` if the
    model cannot have a batch.
    """
    if batch is None:
        return proto, dict(dims)
    from macaw.lowering.onnx import batches

    try:
        return batches.with_batch(proto, batch, dims)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None


def sample_inputs(
    network: Network,
    proto: onnx.ModelProto,
    data: ArrayLike | Mapping[str, ArrayLike],
    dims: Mapping[str, int],
) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Yield the first `SAMPLES` samples of a network's inputs, each as arrays by name.

    `data` is an array for the only input, or arrays by the names of inputs. The samples follow one
    another along the first axis. Raises `InputError` for data that do not fit.
    """
    from macaw.lowering.onnx import samples
    from macaw.quantisation import data_by_name

    arrays = data_by_name(data, samples.input_names(proto), [])
    try:
        runs = samples.samples(proto, arrays, dims)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    for run in runs[:SAMPLES]:
        for name, array in run.items():
            wanted = network.tensors[name].shape
            if array.shape != wanted:
                raise InputError(
                    f"a sample of the input '{name}' is {shape_text(array.shape)}; the model takes"
                    f" {shape_text(wanted)}"
                )
        yield run


def layers(proto: onnx.ModelProto, dims: Mapping[str, int]) -> Network:
    """Return the layers of a model; `dims` has the sizes of its named dimensions.

    Raises `LowerError` for a model that cannot be lowered.
    """
    from macaw.lowering.onnx.canonical import canonical
    from macaw.lowering.onnx.fuse import fuse
    from macaw.lowering.onnx.layers import layers as layers_of
    from macaw.lowering.onnx.read import Wishes, read

    return layers_of(fuse(canonical(read(proto, Wishes(dims=dims)))))
