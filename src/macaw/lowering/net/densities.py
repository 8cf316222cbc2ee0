"""Measures how many elements of a network's tensors are not zero, on samples of its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.net.network import Network


def shares(names: Iterable[str], run: Mapping[str, NDArray[Any]]) -> dict[str, float]:
    """Return the share of nonzero elements of each tensor in `names` that has a value in a run.

    `run` has values of tensors by name.
    """
    return {
        name: float(np.count_nonzero(run[name]) / run[name].size) for name in names if name in run
    }


def with_shares(network: Network, runs: Iterable[Mapping[str, float]]) -> Network:
    """Return the network with the density of each tensor replaced by its mean over `runs`.

    Each of `runs` has the share of nonzero elements in one run, by the tensor's name (`shares`). A
    tensor that is in none of them keeps its density.
    """
    values: dict[str, list[float]] = {}
    for run in runs:
        for name, share in run.items():
            values.setdefault(name, []).append(share)
    means = {name: float(np.mean(found)) for name, found in values.items()}
    return replace(network, densities={**network.densities, **means})
