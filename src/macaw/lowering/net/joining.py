"""Lets layers of the array write their results into the columns of a concatenated tensor.

Then no core copies the results. The results are columns of this tensor, not separate tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from macaw.lowering.net.network import Layer, ProductLayer
from macaw.lowering.net.vector.operations import Concat, VectorOperation
from macaw.lowering.onnx.network import Network


def column_writers(
    model: Network, layers: Sequence[Layer], inputs: Sequence[str], operation: VectorOperation
) -> dict[int, ProductLayer]:
    """Return changed layers that write the inputs of a concatenation into its result.

    A key of the mapping is the index in `layers` of the layer that computes one of the inputs. The
    value is a copy of this layer that writes this input into its columns of the concatenated
    tensor. The caller replaces the layer by the copy. The mapping is empty unless all of these
    conditions are true:

    - The inputs are joined along the last axis on the device: the axis of the layers' outputs.
    - They have the scale of the concatenated tensor.
    - The array computes and requantises all of them.
    - Only the concatenation reads them, each once.
    - They are no outputs of the network.
    """
    numbers = {layer.output: number for number, layer in enumerate(layers)}
    writers: dict[int, ProductLayer] = {}
    assert isinstance(operation, Concat)
    first, total = 0, operation.result[-1]
    if operation.axis < len(operation.result) - 1 or set(operation.scales) != {1.0}:
        return {}
    for name, shape in zip(inputs, operation.shapes, strict=True):
        readers = sum(other.inputs.count(name) for other in model.layers)
        layer = layers[numbers[name]] if name in numbers else None
        if not isinstance(layer, ProductLayer) or readers > 1 or name in model.outputs:
            return {}
        if not layer.product.requantises or layer.product.n != shape[-1]:
            return {}
        product = replace(layer.product, columns_of=(first, total))
        writers[numbers[name]] = replace(layer, product=product)
        first += shape[-1]
    return writers
