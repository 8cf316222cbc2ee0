"""The accuracy of the quantised network that tells a text's direction (docs/networks.md).

    python -m benchmarks.text_direction [--images 400] [--rows 1]

The command downloads the network, renders images from a seed, quantises the network in several
ways, and evaluates all images with the reference evaluator. Exit status 1: the accuracy in the
first row (int8) is more than 1.5 points below that in floating point, or that of int16 more than
0.5 points.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import macaw
from benchmarks.models import fetched
from benchmarks.text_images import images
from macaw.lowering.onnx.pipeline import network_of
from macaw.lowering.onnx.read import Wishes
from macaw.lowering.onnx.reference import evaluate

SEED, CALIBRATION_SEED, CALIBRATION = 20, 7, 64
ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("int8", "powers of two, `--method mse` (default)", {}),
    ("int16", "powers of two", {"element_type": "int16"}),
    ("int8", "powers of two, `--per-channel`", {"per_channel": True}),
    ("int8", "`--scales real`", {"scales": "real"}),
    ("int8", "`--scales real --per-channel`", {"scales": "real", "per_channel": True}),
    ("int8", "powers of two, `--method minmax`", {"method": "minmax"}),
)
POINTS = {"int8": 0.015, "int16": 0.005}  # at most below floating-point


def answers(model: onnx.ModelProto, data: np.ndarray) -> np.ndarray:
    """Return the class of each image by the reference evaluator."""
    name = model.graph.input[0].name
    network = network_of(model, Wishes(shapes={name: (1, *data.shape[1:])}))
    (output,) = network.outputs
    return np.array([evaluate(network, {name: x[None]})[output].argmax() for x in data])


def measure(
    path: Path, data: np.ndarray, calibration: np.ndarray, options: dict[str, Any]
) -> np.ndarray:
    """Return the answers of the network for `data`, after quantisation with `calibration`.

    `options` are options of `macaw.quantise`.
    """
    return answers(macaw.quantise(path, calibration, **options).model, data)


def main() -> int:
    """Print the table of docs/networks.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--rows", type=int, default=len(ROWS))
    chosen = parser.parse_args()
    path = fetched("text-direction")
    data, classes = images(chosen.images, SEED)
    calibration, _ = images(CALIBRATION, CALIBRATION_SEED)
    exact = answers(onnx.load(path), data)
    right = float(np.mean(exact == classes))
    print(f"| floating-point |  | {right:.2%} | 100% |", flush=True)
    status = 0
    for kind, words, options in ROWS[: chosen.rows]:
        found = measure(path, data, calibration, options)
        share = float(np.mean(found == classes))
        print(f"| {kind} | {words} | {share:.2%} | {np.mean(found == exact):.2%} |", flush=True)
        strict = not options or kind == "int16"
        status |= int(strict and share < right - POINTS[kind])
    return status


if __name__ == "__main__":
    sys.exit(main())
