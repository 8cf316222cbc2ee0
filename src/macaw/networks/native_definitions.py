"""The functions that nnp's layers of a network compute: concordant software of their programs.

For each such layer, the package `macaw.concordance` writes NumPy code from a program that computes
the layer on nnp alone, without cp and the dma. So the code shares nothing with the emulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.concordance.concordance import Concordance, concord
from macaw.isa.config import Configuration
from macaw.layer_lowering import assemble_lowered
from macaw.lowering.net.recurrent_layers import RecurrentLayer
from macaw.lowering.nnp.source import program
from macaw.lowering.onnx.network import Network
from macaw.lowering.onnx.reference import Definition


def native_definitions(network: Network, config: Configuration) -> Mapping[str, Definition]:
    """Return functions that compute nnp's layers of a network, by the layer's name."""
    return {
        layer.name: NativeDefinition(layer, config)
        for layer in network.layers
        if isinstance(layer, RecurrentLayer)
    }


class NativeDefinition:
    """Computes a layer of nnp in NumPy, with software that is generated at the first call."""

    def __init__(self, layer: RecurrentLayer, config: Configuration) -> None:
        self.layer, self.config = layer, config

    @cached_property
    def _software(self) -> Concordance:
        lowered = program(self.layer.native, self.config, self.layer.name)
        return concord(assemble_lowered(lowered.files, "main"))

    def __call__(self, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return a list with the layer's result for the inputs `arrays`.

        Result and inputs have shape (1, vectors, N). N is the length of a native vector.
        """
        software, native = self._software, self.layer.native
        data = dict(software.weights())
        for port, array in zip(native.inputs, arrays, strict=True):
            rows, width = port.elements.shape
            columns = software.inputs[port.tensor].columns
            data[port.tensor] = array.reshape(rows, width)[:, :columns]
        results = software.run(data)
        vectors = []
        for port in native.outputs:
            rows, width = port.elements.shape
            own = np.zeros((rows, width), np.float32)
            result = results[port.tensor].reshape(rows, -1)
            own[:, : result.shape[1]] = result
            vectors.append(own.reshape(-1))
        size = int(self.config["nnp.native"])
        return [np.concatenate(vectors).reshape(1, -1, size)]
