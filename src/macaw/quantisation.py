"""Quantises ONNX models: chooses scales by data, writes integers, measures each layer's loss."""

from __future__ import annotations

import json
import math
import os
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import arguments, files
from macaw.arguments import check_arguments
from macaw.errors import InputError
from macaw.lowering.errors import LowerError
from macaw.phrases import one_line, plural, suggestion
from macaw.terminal.plain import records

FLOATS = 6  # names of floating-point layers that the table lists
METHODS, SCALES, TYPES = ("mse", "minmax"), ("power-of-two", "real"), ("int8", "int16")
_HEADINGS = ("layer", "operator", "types", "scale", "own dB", "dB", "mean error")

if TYPE_CHECKING:
    import onnx

    from macaw.lowering.onnx.losses import LayerLoss
    from macaw.lowering.onnx.pipeline import Plan


@dataclass(frozen=True)
class QuantisedModel:
    """A quantised model, and the loss of precision of its layers.

    `model` is a standard ONNX model with QuantizeLinear and DequantizeLinear. `floats` has the
    names of the layers that remain floating-point. `losses` has one row for each integer layer:

    - the layer's types and the scale of its result
    - `own`, the signal-to-noise ratio of the layer's result in decibels if only this layer is
      quantised
    - `whole`, the same ratio if all layers up to this one are quantised
    - `error`, the mean difference of the result from the floating-point result if all layers up to
      this one are quantised, as a share of the floating-point result's root mean square
    """

    model: onnx.ModelProto = field(repr=False)
    losses: tuple[LayerLoss, ...] = field(repr=False)
    floats: tuple[str, ...]

    @check_arguments(path=arguments.path)
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model to an ONNX file. Raises `InputError` if the file cannot be written."""
        with files.replace_file(path) as stream:
            stream.write(self.model.SerializeToString())

    @check_arguments(width=arguments.optional(arguments.whole(1)))
    def table(self, width: int | None = 120) -> list[str]:
        """Return a table with one row for each integer layer, as lines of text.

        Long names are cut at their beginning so that a line has at most `width` characters, but
        never to fewer than 12 characters. If `width` is None, names are not cut, and each cell of a
        line comes after its heading.
        """
        if width is None:
            return [*records(_HEADINGS, self._rows()), self._summary()]
        cells = [_HEADINGS, *self._rows()]
        widths = [max(len(row[column]) for row in cells) for column in range(7)]
        widths[0] = min(widths[0], max(width - sum(widths[1:]) - 7, 12))
        lines = []
        for name, operator, types, *figures in cells:
            words = [
                _end(name, widths[0]).ljust(widths[0]),
                operator.ljust(widths[1]),
                types.ljust(widths[2]),
            ]
            words += [text.rjust(size) for text, size in zip(figures, widths[3:], strict=True)]
            lines.append(f"{words[0]}  {' '.join(words[1:])}".rstrip())
        wrapped = textwrap.wrap(
            self._summary(), width, break_long_words=False, break_on_hyphens=False
        )
        return [*lines, *wrapped]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                row.name,
                _end(row.operator, 16),
                f"{row.input}>{row.output}",
                _scale_text(row.scale),
                f"{row.own:.1f}",
                f"{row.whole:.1f}",
                f"{row.error:+.4f}",
            )
            for row in self.losses
        ]

    def _summary(self) -> str:
        layers = [row for row in self.losses if row.operator != "QuantizeLinear"]
        end = f"{plural(len(layers), 'layer')} on integers, {len(self.floats)} floating-point"
        if self.floats:
            some = ", ".join(_end(name, 40) for name in self.floats[:FLOATS])
            more = f" and {len(self.floats) - FLOATS} more" if len(self.floats) > FLOATS else ""
            end = f"{end}: {some}{more}"
        return end

    def to_json(self) -> str:
        """Return the losses as JSON. A ratio without noise or without signal is null."""
        rows = [
            {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in asdict(row).items()
            }
            for row in self.losses
        ]
        return json.dumps({"layers": rows, "floats": list(self.floats)})


def _end(name: str, most: int) -> str:
    """Return the last `most` characters of a name, whose end says more than its beginning."""
    name = one_line(name)
    return name if len(name) <= most else f"…{name[len(name) - most + 1 :]}"


def _scale_text(scale: float | None) -> str:
    if scale is None:
        return ""
    mantissa, exponent = math.frexp(scale)
    return f"2^{exponent - 1}" if mantissa == 0.5 else f"{scale:.4g}"


@check_arguments(
    model=arguments.either(
        "the path of an ONNX file, or an ONNX model",
        arguments.path,
        arguments.instance("a model", "onnx:ModelProto"),
    ),
    data=arguments.either(
        "an array of numbers, or arrays by name", arguments.array, arguments.arrays
    ),
    method=arguments.word,
    scales=arguments.word,
    per_channel=arguments.flag,
    element_type=arguments.word,
    layers=arguments.optional(arguments.mapping(arguments.word, "types by the names of layers")),
    keep_float=arguments.sequence(arguments.word, "names of layers or operators"),
    dims=arguments.optional(arguments.mapping(arguments.whole(1), "whole numbers from 1 by name")),
    constants=arguments.optional(arguments.arrays),
)
def quantise(
    model: str | os.PathLike[str] | onnx.ModelProto,
    data: ArrayLike | Mapping[str, ArrayLike],
    *,
    method: str = "mse",
    scales: str = "power-of-two",
    per_channel: bool = False,
    element_type: str = "int8",
    layers: Mapping[str, str] | None = None,
    keep_float: Collection[str] = (),
    dims: Mapping[str, int] | None = None,
    constants: Mapping[str, ArrayLike] | None = None,
) -> QuantisedModel:
    """Quantise an ONNX model to symmetric integers, calibrated with samples of its inputs.

    `data` is an array for the only input, or arrays by the names of inputs. If an array has one
    dimension more than the input, its first axis counts samples. If it has as many dimensions, it
    is cut along its first axis into samples of the input's size. `dims` gives sizes to named
    dimensions, `constants` values to inputs that become constants.

    `method` is "mse" (least squared error) or "minmax" (the largest number); `scales` is
    "power-of-two" or "real". With `per_channel`, each channel of weights has its own scale.
    `element_type`, "int8" or "int16", is the type of all layers; `layers` gives single layers, by
    name, another type or "float". `keep_float` has names of layers or operators that remain
    floating-point.

    Raises `InputError` for a model or data that cannot be used.
    """
    for word, known, what in (
        (method, METHODS, "method"),
        (scales, SCALES, "kind of scales"),
        (element_type, TYPES, "type"),
    ):
        if word not in known:
            raise InputError(f"no {what} is called '{word}'", suggestion(word, known))
    try:
        from macaw.lowering.onnx import assign, model_file, pipeline, samples
        from macaw.lowering.onnx import scales as scale_rules
    except ImportError as error:
        raise InputError(
            f"an ONNX model needs the package {error.name}", "pip install 'macaw-npu[onnx]'"
        ) from None
    plan: Plan = pipeline.Plan(
        types=assign.Types(element_type, dict(layers or {}), tuple(keep_float)),
        rule=scale_rules.ScaleRule(method, scales),
        per_channel=per_channel,
        dims=arguments.python_numbers(dims or {}),
        constants={name: np.asarray(array) for name, array in (constants or {}).items()},
    )
    try:
        if isinstance(model, str | os.PathLike):
            checked = model_file.parse(files.read_bytes(model), Path(model))
        else:
            model_file.check(model)
            checked = model
        arrays = data_by_name(data, samples.input_names(checked), list(plan.constants))
        result = pipeline.quantise_model(checked, arrays, plan)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    return QuantisedModel(result.model, result.losses, result.floats)


def data_by_name(
    data: ArrayLike | Mapping[str, ArrayLike], names: list[str], constants: list[str]
) -> dict[str, NDArray[Any]]:
    """Return `data`, a single array or arrays by the names of inputs, as arrays by name.

    `names` are the inputs of the model; those in `constants` become constants. A single array is
    for the only other input. Raises `InputError` for a single array if there are several other
    inputs or none. The names in a mapping are not checked.
    """
    if isinstance(data, Mapping):
        return {name: np.asarray(array) for name, array in data.items()}
    free = [name for name in names if name not in constants]
    if len(free) != 1:
        hint = "NAME=FILE, {'name': array}"
        some = ", ".join(one_line(name) for name in free[:8])
        raise InputError(f"the model has {plural(len(free), 'input')}: {some}", hint)
    return {free[0]: np.asarray(data)}
