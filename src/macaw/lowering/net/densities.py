"""Measures how many elements of a network's tensors are not zero, on samples of its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.net.network import Network


def with_densities(network: Network, runs: Iterable[Mapping[str, NDArray[Any]]]) -> Network:
    """Return a network with the mean densities of its tensors in some runs.

    A run has values of tensors by name. Tensors without a value keep their density.
    """
    shares: dict[str, list[float]] = {}
    for run in runs:
        for name in network.tensors.keys() & run.keys():
            shares.setdefault(name, []).append(np.count_nonzero(run[name]) / run[name].size)
    means = {name: float(np.mean(values)) for name, values in shares.items()}
    return replace(network, densities={**network.densities, **means})
