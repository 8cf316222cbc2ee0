"""The digits network on the SIMD core: its programs, parameters and orders.

Weights, shifts and images are those of `programs/digits_mlp`, and `reference.py` there defines the
arithmetic. `python protected.py` writes the files of the golden test: weights and orders of
`net.s`, the biases, and the first eighty images.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

import macaw

FOLDER = Path(__file__).resolve().parent
MLP = FOLDER.parent / "digits_mlp"
# The scope of each program; plain.s takes weights in their own order.
SCOPES = {"net": "net", "layer": "layer", "group": "group:2", "node": "node"}

Int8 = NDArray[np.int8]
Inputs = dict[str, NDArray[np.generic]]


def _reference() -> ModuleType:
    """programs/digits_mlp/reference.py, which belongs to no package."""
    name = "digits_mlp_reference"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, MLP / "reference.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


reference = _reference()


def program(name: str) -> macaw.Program:
    """The program with this name: that of a scope, or `plain`."""
    return macaw.assemble(FOLDER / f"{name}.s")


def biases() -> Inputs:
    """The biases b1 to b3, each in lane 0 of a vector register: int32 (nodes, 4)."""
    found: Inputs = {}
    for number, bias in enumerate(reference.load().biases, 1):
        found[f"b{number}"] = np.pad(bias[:, None], ((0, 0), (0, 3))).astype(np.int32)
    return found


def weights() -> list[Int8]:
    """The weights of the three layers, (nodes, 64), in their own order."""
    return list(reference.load().weights)


def plain_inputs() -> Inputs:
    """The inputs of plain.s other than the images."""
    return {**biases(), **{f"w{number}": w for number, w in enumerate(weights(), 1)}}


def protect(name: str, seed: int | None = None) -> macaw.Protection:
    """The network's weights in random orders, for the program of a scope."""
    return macaw.protect(*weights(), scope=SCOPES[name], seed=seed)


def inputs(found: macaw.Protection, order: NDArray[np.uint8] | None = None) -> Inputs:
    """The inputs of a scope's program other than the images.

    With another `order` the run shows what a thief gets who does not know the right one.
    """
    stored = {f"w{number}": w for number, w in enumerate(found.weights, 1)}
    return {**biases(), **stored, "order": found.order if order is None else order}


def run(what: macaw.Program, values: Mapping[str, NDArray[np.generic]], images: Int8) -> macaw.Run:
    """Run a program on eighty images (80, 64), or on groups of eighty; return the run."""
    return macaw.run(what, {**values, "x": images})


def main() -> None:
    """Write the files of the golden test."""
    found = protect("net")
    found.write([FOLDER / f"w{number}.npy" for number in (1, 2, 3)], FOLDER / "order.npy")
    images, _ = reference.load_test_set()
    for name, array in {**biases(), "x": images[0]}.items():
        np.save(FOLDER / f"{name}.npy", array)


if __name__ == "__main__":
    main()
