"""Quantises data as the matrix-vector processor does when it writes MatrixRf or multiplies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.numbers import dequantise, quantise, quantisers, to_host
from macaw.isa.nnp import HOST_TYPES

Quantised = tuple[NDArray[np.int16], NDArray[np.int8], NDArray[Any]]


def host_type(config: Mapping[str, Any]) -> np.dtype[Any]:
    """Return the NumPy type of nnp's numbers outside of the multiplier (the host format)."""
    return np.dtype(HOST_TYPES[str(config["nnp.host_format"])])


def quantised_vectors(
    config: Mapping[str, Any], values: NDArray[Any], is_matrix: bool
) -> Quantised:
    """Quantise native vectors, shape (..., N); return their codes, exponents and values.

    `values` are numbers of the type `host_type` without NaN; the returned values are the quantised
    numbers, in the same type. The device has one quantiser for matrices and another one for
    vectors; `is_matrix` selects the one for matrices.
    """
    vector, matrix = quantisers(config)
    quantiser = matrix if is_matrix else vector
    found = quantise(values, quantiser)
    exact = dequantise(found, quantiser)
    return found.codes, found.exponents, to_host(exact, values.dtype)
