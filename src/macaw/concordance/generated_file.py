"""Runs a generated Python file, and compares arrays bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.errors import InputError

Arrays = Mapping[str, NDArray[Any]]
# By target, the package that a generated file needs to run.
PACKAGES = {"numpy": "numpy", "torch": "torch", "tensorflow": "tensorflow", "onnx": "onnxruntime"}


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each element whether it has the same bits in both arrays, or is NaN in both.

    Both arrays have the same shape and floating-point type. The result has this shape, too.
    """
    unsigned = np.dtype(f"u{one.itemsize}")
    bits = np.ascontiguousarray(one).view(unsigned) == np.ascontiguousarray(other).view(unsigned)
    return np.asarray(bits | (np.isnan(one) & np.isnan(other)))


def run_generated(
    text: str,
    target: str,
    data: Arrays,
    names: Collection[str] = (),
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
) -> dict[str, NDArray[Any]]:
    """Run the generated file `text` on the inputs `data`; return its outputs by name.

    Before that, each function of the file whose name is in `names` is replaced by `wrap(function)`.
    Raises `InputError` if the package of `target` is missing or the file raises an exception.
    """
    missing = [name for name in _packages(target) if find_spec(name) is None]
    if missing:
        raise InputError(
            f"{target} cannot be run here: there is no package {missing[0]}",
            f"pip install {' '.join(missing)}",
        )
    space: dict[str, Any] = {"__name__": "macaw_layer"}
    try:
        exec(compile(text, "the generated file", "exec"), space)
        for name in names:
            if wrap is not None and name in space:
                space[name] = wrap(space[name])
        if target == "onnx":
            return _run_onnx(space["model"](), data)
        tensors = {name: _target_tensor(target, array) for name, array in data.items()}
        with np.errstate(all="ignore"):
            outputs = space["layer"](**tensors)
        return {name: np.asarray(value) for name, value in outputs.items()}
    except Exception as error:
        raise InputError(f"the generated file fails: {type(error).__name__}: {error}") from error


def _packages(target: str) -> list[str]:
    return ["onnx", "onnxruntime"] if target == "onnx" else [PACKAGES[target]]


def _target_tensor(target: str, array: NDArray[Any]) -> Any:
    if target != "torch":
        return array
    import torch

    return torch.from_numpy(np.array(array))


def _run_onnx(model: Any, data: Arrays) -> dict[str, NDArray[Any]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only: no warnings of its optimiser
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(data)), strict=True))
