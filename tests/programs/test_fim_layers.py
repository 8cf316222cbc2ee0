"""Layers and cells on the islands equal NumPy's, bit for bit.

Each step is rounded to fp16: the products, each sum in the tree of adjacent pairs, and the sum with
the former number of Rz. Sigmoid and tanh are computed in binary64 and rounded once.
"""

from __future__ import annotations

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from programs.fim_files import FRACTIONS, matrices
from tests.programs.fim_programs import outputs_of
from tests.programs.scripts import PROGRAMS


def tree(products):
    """Sums of 16 adjacent numbers along the last axis, pair by pair, each sum rounded to fp16."""
    while products.shape[-1] > 1:
        products = products[..., 0::2] + products[..., 1::2]
    return products[..., 0]


def dots(matrix, vector):
    """A matrix times a vector, 16 columns at a time; the sums of the parts are added in order."""
    parts = [tree(matrix[:, k : k + 16] * vector[k : k + 16]) for k in range(0, vector.size, 16)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def sigmoid(x):
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype)


def tanh(x):
    return np.tanh(x.astype(np.float64)).astype(x.dtype)


def same_bits(found, expected):
    assert expected.dtype == np.float16  # NumPy has rounded each step
    np.testing.assert_array_equal(
        np.asarray(found, np.float16).view(np.uint16), expected.view(np.uint16)
    )


def gru(m):
    h, states = m["h0"], []
    for x in m["x"]:
        r, z = (
            sigmoid((dots(m["w"][gate], x) + dots(m["u"][gate], h)) + m["b"][gate])
            for gate in (0, 1)
        )
        n = tanh((dots(m["w"][2], x) + dots(m["u"][2], r * h)) + m["b"][2])
        h = n + z * (h - n)
        states.append(h)
    return np.array(states)


@pytest.mark.parametrize("engine", ENGINES)
def test_gru(engine):
    """An island computes a GRU as NumPy does, bit for bit (seed 004 ¶53, ¶63)."""
    found = outputs_of("fim_gru", engine)["h"]
    m = matrices("fim_gru")
    same_bits(found, gru(m))
    wide = gru({name: matrix.astype(np.float64) for name, matrix in m.items()})
    # 4 steps of sums of 33 numbers below 1, each rounded to 11 digits.
    np.testing.assert_allclose(found, wide, atol=4 * 33 * 2.0**-11)


def mlp(m):
    return np.array(
        [
            dots(m["w2"], np.maximum(dots(m["w1"], x) + m["b1"], x.dtype.type(0))) + m["b2"]
            for x in m["x"]
        ]
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_mlp(engine):
    """An island computes a network of two layers as NumPy does, bit for bit (seed 004 ¶63)."""
    found = outputs_of("fim_mlp", engine)["y"]
    m = matrices("fim_mlp")
    same_bits(found, mlp(m))
    # Sums of 17 and 33 numbers below 1 and 17.
    wide = {name: matrix.astype(np.float64) for name, matrix in m.items()}
    np.testing.assert_allclose(found, mlp(wide), atol=17 * 33 * 2.0**-11)


def conv(m):
    """A convolution whose kernels add the products of their numbers in order, row by row."""
    planes = []
    for k in m["k"]:
        total = None
        for i, j in np.ndindex(3, 3):
            products = k[i, j] * m["x"][i : i + 8, j : j + 16]
            total = products if total is None else total + products
        planes.append(total)
    return np.array(planes)


@pytest.mark.parametrize("engine", ENGINES)
def test_conv(engine):
    """An island computes a convolution as NumPy does, bit for bit (seed 004 ¶59, ¶63)."""
    found = outputs_of("fim_conv", engine)["y"]
    m = matrices("fim_conv")
    same_bits(found, conv(m))
    windows = np.lib.stride_tricks.sliding_window_view(m["x"].astype(np.float64), (3, 3))
    wide = np.einsum("rcij,oij->orc", windows, m["k"].astype(np.float64))
    # 9 products below 1 and their sums, each rounded to 11 digits.
    np.testing.assert_allclose(found, wide, atol=9 * 9 * 2.0**-11)


def scattered(m):
    y = m["y0"].copy()
    for source, target in zip(m["source"], m["target"], strict=True):
        y[target] = m["table"][source] + y[target]
    return y


@pytest.mark.parametrize("engine", ENGINES)
def test_gather_and_scatter(engine):
    """An island gathers rows of a table and adds them to rows as NumPy does (seed 004 ¶63)."""
    m = matrices("fim_gather")
    same_bits(outputs_of("fim_gather", engine)["y"], scattered(m))
    # The pairs name rows twice, as sources and as targets, in both rows of the bank.
    assert np.bincount(m["source"]).max() > 1
    assert np.bincount(m["target"]).max() > 2
    assert {0, 1} == set(m["source"] // 32)


def test_files_are_those_of_the_script():
    for folder in FRACTIONS:
        for name, matrix in matrices(folder).items():
            np.testing.assert_array_equal(np.load(PROGRAMS / folder / f"{name}.npy"), matrix)
