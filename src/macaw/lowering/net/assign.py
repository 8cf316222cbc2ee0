"""Assigns the layers of a quantised model to the cores of a device.

`macaw.lowering.net.layouts` says how the tensors of the model are stored on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import OPERAND_DTYPES, SUM_DTYPES, widest_of
from macaw.lowering.convolution import convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.net import island_layers
from macaw.lowering.net.edge import Edge
from macaw.lowering.net.joining import column_writers
from macaw.lowering.net.layouts import device_shape, images_of, to_device
from macaw.lowering.net.movement_layers import image_of_products, movement, same_places
from macaw.lowering.net.network import (
    IslandLayer,
    Layer,
    NativeLayer,
    NetTensor,
    Network,
    ProductLayer,
    VectorLayer,
)
from macaw.lowering.net.one_hot import INDEX
from macaw.lowering.net.recurrent_layers import RecurrentLayer
from macaw.lowering.net.rewrite import rewrite
from macaw.lowering.net.rewriting import single_shift
from macaw.lowering.net.vector.operations import VectorOperation
from macaw.lowering.net.vector_layers import NO_CORE, vector_operation
from macaw.lowering.onnx import network as model_layers
from macaw.lowering.onnx.network import Dequantisation, Quantisation, Requantisation
from macaw.lowering.operation import ENTRIES, Elements, Product, operand_dtypes

_ELEMENTS = ("int8", "int16", "float32")  # element types of inputs


@dataclass(frozen=True)
class Assignment:
    """The layers of the device that compute a model, and the model's inputs and outputs.

    `model` is the rewritten model. It also has the tensors that the device needs between its
    layers.
    """

    model: model_layers.Network
    network: Network
    inputs: tuple[Edge, ...]
    outputs: tuple[Edge, ...]


@dataclass(frozen=True)
class Refusal:
    """A node of a model that no core computes, with the reason.

    `hint` says what would help; it may be empty.
    """

    name: str
    operator: str
    reason: str
    hint: str


def assign(
    model: model_layers.Network, config: Configuration, name: str, islands: Iterable[str] = ()
) -> Assignment:
    """Return the layers of a model as layers of the device.

    `islands` has names of layers and operators. Islands compute each product of two tensors whose
    name or operator is in `islands`.

    Raises `LowerError` if no core computes a node; the message names the node and the reason.
    """
    rewritten = rewrite(model, config, islands=islands)
    return _Assigner(rewritten, config, name, operators_of(model)).assign()


def assign_what_can_be(
    model: model_layers.Network, config: Configuration, name: str, islands: Iterable[str]
) -> tuple[model_layers.Network, Network, tuple[Refusal, ...]]:
    """Return the rewritten model, the layers that cores compute, and the refused nodes.

    Islands compute each product whose name or operator is in `islands`. If the device has the type
    of a refused node's result, the layers that read this result are assigned as if a core had
    computed it. The third result leaves out refused QuantizeLinear nodes.
    """
    refused: dict[str, LowerError] = {}
    operators = operators_of(model)
    model = rewrite(model, config, refused, islands)
    assigner = _Assigner(model, config, name, operators)
    refusals = []
    for layer in model.layers:
        try:
            if layer.name in refused:
                raise refused[layer.name]
            assigner.layer(layer)
        except LowerError as error:
            if layer.operator != "QuantizeLinear":
                operator = operators.get(layer.name, layer.operator)
                refusals.append(Refusal(layer.name, operator, str(error), error.hint))
            assigner.assume(layer)
    return model, assigner.network((), ()), tuple(refusals)


def operators_of(model: model_layers.Network) -> dict[str, str]:
    """Return the operators of a model's nodes and layers by name.

    A layer that replaces the node of the same name may have another operator.
    """
    # Of layers that share a name, only the first keeps it when the model is rewritten.
    return {layer.name: layer.operator for layer in reversed(model.layers)} | dict(model.operators)


class _Assigner:
    """Assigns the layers of a model to cores in their order; records which tensors share bytes."""

    def __init__(
        self,
        model: model_layers.Network,
        config: Configuration,
        name: str,
        operators: Mapping[str, str],
    ) -> None:
        self.model, self.config, self.name = model, config, name
        self.operators = operators  # those of the model that was rewritten, by name of a layer
        self.layers: list[Layer] = []
        self.tensors: dict[str, NetTensor] = {}
        self.aliases: dict[str, str] = {}
        self.columns: dict[str, tuple[int, int]] = {}
        self.constants: dict[str, NDArray[Any]] = {}
        self.flat: dict[str, tuple[int, ...]] = {}  # (C, H, W) of images that are read as vectors
        self.inputs: dict[str, Edge] = {}
        self.outputs: dict[str, Edge] = {}

    def assign(self) -> Assignment:
        for layer in self.model.layers:
            try:
                self.layer(layer)
            except LowerError as error:
                operator = self.operators.get(layer.name, layer.operator)
                message = f"node {layer.name} ({operator}): {error}"
                raise LowerError(message, error.hint) from None
        for name in self.model.inputs:
            if name not in self.inputs:
                self._integer_input(name)
        for name in self.model.outputs:
            if name in self.model.constants:
                raise LowerError(f"the output {name} is a constant")
            if name not in self.outputs:
                tensor = self.model.tensors[name]
                self.outputs[name] = Edge(
                    name, name, self.tensors[name].dtype, tensor.shape, tensor.dtype
                )
        if not self.layers:
            raise LowerError("the model has no layer that a core computes")
        inputs = tuple(self.inputs[name] for name in self.model.inputs)
        outputs = tuple(self.outputs[name] for name in self.model.outputs)
        return Assignment(self.model, self.network(inputs, outputs), inputs, outputs)

    def network(self, inputs: tuple[Edge, ...], outputs: tuple[Edge, ...]) -> Network:
        """Return the layers assigned so far as a network with these inputs and outputs."""
        return Network(
            self.name,
            self.tensors,
            tuple(self.layers),
            tuple(edge.tensor for edge in inputs),
            tuple(dict.fromkeys(self.aliases.get(x.tensor, x.tensor) for x in outputs)),
            self.aliases,
            self.constants,
            self._densities(),
            self.columns,
        )

    def assume(self, layer: model_layers.Layer) -> None:
        """Add the results of a refused layer as tensors, if the device has their types."""
        for name in layer.outputs:
            tensor = self.model.tensors.get(name)
            # there is no tensor for an output that nothing reads
            if tensor is not None and tensor.dtype in _ELEMENTS:
                self._add_tensor(name)

    def layer(self, layer: model_layers.Layer) -> None:
        """Assign a layer to a core. Raises `LowerError` if no core computes it."""
        rule = _RULES.get(type(layer))
        if rule is None:
            raise LowerError(NO_CORE)
        rule(self, layer)

    def _add_tensor(self, name: str, dtype: str = "") -> NetTensor:
        tensor = self.model.tensors[name]
        self.tensors[name] = NetTensor(name, dtype or tensor.dtype, device_shape(tensor.shape))
        return self.tensors[name]

    def _integer_input(self, name: str, others: tuple[str, ...] = ()) -> None:
        tensor = self.model.tensors[name]
        if tensor.dtype not in (*_ELEMENTS, *others):
            raise LowerError(f"the input {name} is {tensor.dtype}", " or ".join(_ELEMENTS))
        self._add_tensor(name)
        self.inputs[name] = Edge(name, name, tensor.dtype, tensor.shape, tensor.dtype)

    def read(self, name: str) -> NetTensor:
        """Return tensor `name`; add it if new. Raises `LowerError` if the device cannot have it."""
        if name not in self.tensors:
            if name in self.model.constants and name in self.model.tensors:
                self.constants[name] = to_device(self.model.constants[name])
                return self._add_tensor(name)
            if name not in self.model.inputs:
                dtype = self.model.tensors[name].dtype
                raise LowerError(f"its input {name} is {dtype}", " or ".join(_ELEMENTS))
            self._integer_input(name)
        return self.tensors[name]

    # --- edges ---

    def sign(self, layer: model_layers.SignLayer) -> None:
        """Let the host add a layer's offset; `read` refuses other readers of unsigned integers."""
        (source,), (result,) = layer.inputs, layer.outputs
        if source in self.model.inputs:
            model = self.model.tensors[source]
            integers = self._add_tensor(result).dtype
            self.inputs[source] = Edge(
                source, result, integers, model.shape, model.dtype, offset=-layer.offset
            )
        elif result in self.model.outputs:
            model = self.model.tensors[result]
            integers = self.read(source).dtype
            self.outputs[result] = Edge(
                result, source, integers, model.shape, model.dtype, offset=layer.offset
            )
        else:
            self.assume(layer)

    def real(self, layer: model_layers.FloatLayer) -> None:
        """Assign a float layer to vc.

        The quantisation of an input of the model and the dequantisation of an output need no core:
        each becomes an `Edge`.
        """
        source, result = layer.inputs[0], layer.outputs[0]
        if layer.operator == "QuantizeLinear" and self._is_edge(source):
            model, tensor = self.model.tensors[source], self._add_tensor(result)
            quantisation = self._quantisation(layer, tensor.dtype)
            self.inputs[source] = Edge(
                source, result, tensor.dtype, model.shape, model.dtype, quantisation
            )
        elif layer.operator == "DequantizeLinear" and result in self.model.outputs:
            model = self.model.tensors[result]
            integers = self.read(source).dtype
            quantisation = self._quantisation(layer, integers)
            self.outputs[result] = Edge(
                result, source, integers, model.shape, model.dtype, quantisation
            )
        else:
            self.vector(layer)

    def _is_edge(self, name: str) -> bool:
        """Return whether a value is an input but not an output of the model, and has one reader."""
        readers = sum(name in layer.inputs for layer in self.model.layers)
        return name in self.model.inputs and readers == 1 and name not in self.model.outputs

    def _quantisation(self, layer: model_layers.Layer, dtype: str) -> Quantisation:
        constants = [self.model.constants.get(name) for name in layer.inputs[1:] if name]
        scale = constants[0] if constants else None
        zero = constants[1] if len(constants) > 1 else np.zeros(())
        if scale is None or zero is None or scale.size != 1 or zero.size != 1:
            raise LowerError("its scale is no single constant")
        if np.dtype(dtype).kind != "i":
            raise LowerError(f"its integers are {dtype}", "int8 or int16")
        return Quantisation(float(scale.reshape(-1)[0]), int(zero.reshape(-1)[0]))

    # --- layers ---

    def weights(self, layer: model_layers.WeightLayer) -> None:
        """Assign a convolution or a product with constant weights to the array."""
        x, weights = self.read(layer.inputs[0]), layer.weights.dtype.name
        has = operand_dtypes(self.config)
        if not {x.dtype, weights} <= set(has):
            raise LowerError(
                f"its input is {x.dtype}, its weights {weights}; the array computes with"
                f" {' and '.join(has)}",
                'a device with pe.widest = "int16"' if "int8" in has else "",
            )
        if layer.operator == "Conv":
            product: Product = self._convolution(layer, x)
        elif layer.operator in ("Gemm", "MatMul"):
            product = self._product(layer, x)
        else:
            raise LowerError(NO_CORE)
        (name,) = layer.outputs
        sums = SUM_DTYPES[widest_of(self.config)]
        result = self._add_tensor(name, "" if product.requantises else sums)
        types = {x.dtype, weights, *([result.dtype] * product.requantises)}
        if types != {OPERAND_DTYPES[self.config["pe.element"]]}:
            last = result.dtype if product.requantises else x.dtype
            product = replace(product, elements=Elements(x.dtype, weights, last))
        if prod(product.shapes[1]) != prod(result.shape):
            raise LowerError(f"its results are {product.shapes[1]}, not {result.shape}")
        self.layers.append(ProductLayer(layer.name, (layer.inputs[0],), name, product))
        if isinstance(layer.output, Dequantisation):
            self._real_sums(layer.output, name)

    def _densities(self) -> dict[str, float]:
        """Return, for each tensor with a frame of zeros, the share of elements inside the frame."""
        return {
            layer.outputs[0]: prod(self.model.tensors[layer.inputs[0]].shape)
            / prod(self.tensors[layer.outputs[0]].shape)
            for layer in self.model.layers
            if isinstance(layer, model_layers.FrameLayer)
            and not layer.value
            and layer.outputs[0] in self.tensors
        }

    def _real_sums(self, output: Dequantisation, name: str) -> None:
        """Let the host compute the real numbers of output `name` from the sums of a layer."""
        tensor = self.model.tensors[name]
        self.outputs[name] = Edge(
            name, name, self.tensors[name].dtype, tensor.shape, tensor.dtype,
            multipliers=output.multipliers,
        )  # fmt: skip

    def _finish(self, layer: model_layers.WeightLayer, product: Product) -> Product:
        """Return a product with the parameters that convert its sums to results."""
        output = layer.output
        if not isinstance(output, Requantisation):
            return product
        dtype = self.model.tensors[layer.outputs[0]].dtype
        info, factors = np.iinfo(dtype), dict[str, Any]()
        shift = single_shift(output, dtype)
        if shift is not None:
            factors["shift"] = shift
        else:
            factors["scales"] = np.broadcast_to(output.multipliers, (product.n,)).copy()
        if (output.low, output.high) == (0, info.max) and np.all(output.multipliers > 0):
            factors["activation"] = "relu"
        elif (output.low, output.high) != (info.min, info.max):
            numbers = np.arange(ENTRIES, dtype=np.uint8).view(np.int8)
            factors["table"] = np.clip(numbers, output.low, output.high)
        return replace(product, **factors)

    def _bias(self, layer: model_layers.WeightLayer) -> NDArray[Any] | None:
        return layer.bias if np.any(layer.bias) else None

    def _convolution(self, layer: model_layers.WeightLayer, x: NetTensor) -> Product:
        window = layer.window
        if window is None or len(window.kernel) != 2:
            raise LowerError("a convolution of two dimensions is computed, no other")
        outputs, inputs = layer.weights.shape[:2]
        depthwise = layer.groups > 1 and inputs == 1 and outputs == layer.groups
        kernels = layer.weights[:, 0] if depthwise else np.moveaxis(layer.weights, 1, -1)
        (top, left), (bottom, right) = window.before, window.after
        product = convolution(
            np.ascontiguousarray(kernels),
            (x.shape[-3], x.shape[-2]),
            stride=(window.strides[0], window.strides[1]),
            padding=(top, left),
            after=(bottom, right),
            dilation=(window.dilations[0], window.dilations[1]),
            groups=1 if depthwise else layer.groups,
            images=images_of(self.model.tensors[x.name].shape),
            depthwise=depthwise,
            bias=self._bias(layer),
        )
        return self._finish(layer, product)

    def _product(self, layer: model_layers.WeightLayer, x: NetTensor) -> Product:
        weights = layer.weights
        source = layer.inputs[0]
        if source in self.flat:  # the device stores the image's elements in another order
            channels, height, width = self.flat[source]
            images = weights.reshape(-1, channels, height, width)
            weights = np.moveaxis(images, 1, -1).reshape(weights.shape)
        inputs = weights.shape[1]
        if x.shape[-1] != inputs:
            raise LowerError(f"a product of {x.shape} and {inputs} inputs")
        rows = prod(x.shape[:-1])
        matrix = np.ascontiguousarray(weights)
        product = Product(rows, matrix, self._bias(layer), vector=len(x.shape) == 1)
        return self._finish(layer, product)

    def _vector(self, layer: model_layers.Layer, operation: VectorOperation) -> None:
        """Assign a layer to vc, which does `operation` to compute it."""
        operation.check()
        (name,) = layer.outputs
        self._add_tensor(name)
        self.layers.append(VectorLayer(layer.name, layer.inputs, name, operation))

    def vector(self, layer: model_layers.Layer) -> None:
        """Assign a layer on whole tensors to vc."""
        constants = self.model.constants.keys() - self.model.tensors.keys()
        names = [name for name in layer.inputs if name and name not in constants]
        operation, order = vector_operation(self.model, layer, [self.read(x) for x in names])
        inputs = tuple(names[number] for number in order)
        self._vector(replace(layer, inputs=inputs), operation)

    def lookup(self, layer: model_layers.LookupLayer) -> None:
        """Assign a lookup of rows to vc; only such a layer reads inputs of int32."""
        if layer.inputs[0] not in self.tensors:
            self._integer_input(layer.inputs[0], (INDEX,))
        self.vector(layer)

    def recurrent(self, layer: RecurrentLayer) -> None:
        """Assign a recurrent layer to nnp."""
        inputs = tuple(self.read(name).name for name in layer.inputs)
        (name,) = layer.outputs
        count, native = self._add_tensor(name).shape
        self.layers.append(
            NativeLayer(layer.name, inputs, name, layer.operator, layer.native, (count, native))
        )

    def islands(self, layer: island_layers.StackedProduct) -> None:
        """Assign a product of two tensors to the islands."""
        inputs = tuple(self.read(name).name for name in layer.inputs)
        (name,) = layer.outputs
        self._add_tensor(name)
        self.layers.append(IslandLayer(layer.name, inputs, name, layer.product))

    def table(self, layer: model_layers.TableLayer) -> None:
        """Assign a lookup to the array if the array makes its int8 input and nothing else reads
        this input, else to vc.
        """
        (source,), (name,) = layer.inputs, layer.outputs
        before = next((item for item in self.layers if item.output == source), None)
        readers = sum(source in other.inputs for other in self.model.layers)
        if (
            not isinstance(before, ProductLayer)
            or not before.product.requantises
            or layer.table is None
            or layer.table.dtype != np.int8
            or readers > 1
            or source in self.model.outputs
        ):
            self.vector(layer)
            return
        product, numbers = before.product, np.arange(ENTRIES, dtype=np.uint8).view(np.int8)
        # relu may follow the rounding, because rounding keeps the order
        if product.activation == "relu":
            numbers = np.maximum(numbers, 0)
        elif product.table is not None:
            numbers = product.table
        entries = layer.table[numbers.astype(np.int64) + ENTRIES // 2]
        joined = replace(product, activation="none", table=entries)
        self.layers[self.layers.index(before)] = replace(before, output=name, product=joined)
        del self.tensors[source]
        self._add_tensor(name)

    def move(self, layer: model_layers.MoveLayer) -> None:
        """Let the result share the input's bytes if possible; else the array or vc moves them."""
        if layer.operator == "Concat":
            if not self._joined(layer):
                self.vector(layer)
            return
        (name,), source = layer.outputs, layer.inputs[0]
        tensor = self.read(source)
        if not same_places(self.model, layer):
            image = image_of_products(self.model, layer)
            if not image:
                self._vector(replace(layer, inputs=(source,)), movement(self.model, layer, tensor))
                return
            self.flat[name] = image
        self._add_tensor(name, tensor.dtype)
        self.aliases[name] = self.aliases.get(source, source)

    def _joined(self, layer: model_layers.MoveLayer) -> bool:
        """Let the array write all inputs of a Concat into its result; return whether it can."""
        operation, _ = vector_operation(self.model, layer, [self.read(x) for x in layer.inputs])
        writers = column_writers(self.model, self.layers, layer.inputs, operation)
        for place, writer in writers.items():
            self.layers[place] = writer
            self.aliases[writer.output] = self._add_tensor(layer.outputs[0]).name
            self.columns[writer.output] = writer.product.first_column, writer.product.n
        return bool(writers)


_RULES: Mapping[type[model_layers.Layer], Callable[[_Assigner, Any], None]] = {
    model_layers.SignLayer: _Assigner.sign,
    model_layers.FloatLayer: _Assigner.real,
    model_layers.WeightLayer: _Assigner.weights,
    model_layers.SumLayer: _Assigner.vector,
    model_layers.ProductLayer: _Assigner.vector,
    model_layers.PoolLayer: _Assigner.vector,
    model_layers.TableLayer: _Assigner.table,
    model_layers.MoveLayer: _Assigner.move,
    model_layers.RescaleLayer: _Assigner.vector,
    model_layers.FrameLayer: _Assigner.vector,
    model_layers.LookupLayer: _Assigner.lookup,
    RecurrentLayer: _Assigner.recurrent,
    island_layers.StackedProduct: _Assigner.islands,
}
