"""Runs a floating-point network on samples and records which numbers its values have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.network import Network
from macaw.lowering.onnx.reference import evaluate

NUMBERS = 1 << 16  # the most numbers of a value that are kept


@dataclass(frozen=True)
class Observation:
    """The largest magnitude of a value, and some of its numbers, evenly spread over all runs."""

    largest: float
    numbers: NDArray[np.float32]


def observe(
    network: Network, runs: Sequence[Mapping[str, NDArray[Any]]], names: Iterable[str]
) -> dict[str, Observation]:
    """Return the largest magnitude and some numbers of each of the values `names` in all runs.

    Raises `LowerError` if a value is not finite.
    """
    wanted = list(dict.fromkeys(names))
    each = max(NUMBERS // len(runs), 16)
    largest = dict.fromkeys(wanted, 0.0)
    numbers: dict[str, list[NDArray[np.float32]]] = {name: [] for name in wanted}
    for place, inputs in enumerate(runs):
        arrays = evaluate(network, inputs)
        for name in wanted:
            flat = arrays[name].reshape(-1)
            most = float(np.abs(flat).max(initial=0))
            if not np.isfinite(most):
                where = f"the value {message_name(name)}"
                raise LowerError(f"{where} is not finite for sample {place}")
            largest[name] = max(largest[name], most)
            step = max(len(flat) // each, 1)
            # Each run has another offset, so that the same pixels are not always chosen.
            numbers[name].append(flat[place * 7919 % step :: step][:each].astype(np.float32))
    return {name: Observation(largest[name], np.concatenate(numbers[name])) for name in wanted}
