"""A model of convolutions whose activations are often zero, and images for it."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from tests.lowering.net.models import ModelBuilder

SHAPE = (1, 8, 12, 12)


def sparse_model() -> onnx.ModelProto:
    """A model of convolutions after ReLU; half of their activations are zero."""
    builder = ModelBuilder(3, SHAPE)
    builder.conv("first", 16, 3, padding=1)
    builder.conv("second", 16, 3)
    return builder.model()


def images(count: int) -> NDArray[np.float32]:
    """Return `count` random images for the model, of shape (count, channels, height, width)."""
    return np.random.default_rng(5).normal(size=(count, *SHAPE[1:])).astype(np.float32)
