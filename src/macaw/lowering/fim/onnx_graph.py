"""Reads ONNX graphs as graphs of tasks (seed 004 ¶61: the scheduler analyses a framework's graph).

All values have one number format, fp16, fp32 or bf16. ONNX's reference evaluator computes in
advance everything that does not depend on inputs. For nodes that only move numbers, it also
determines where they move each number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import onnx
from onnx import TensorProto

from macaw.isa.fim_circuit import FORMAT_NAMES, FORMATS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import onnx_movement
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.onnx_composed import COMPOSED, binary, unary
from macaw.lowering.fim.onnx_extremes import EXTREMES
from macaw.lowering.fim.onnx_layers import LAYERS
from macaw.lowering.fim.onnx_movement import JOINS, MOVES, SCATTERS
from macaw.lowering.fim.onnx_pools import POOLS
from macaw.lowering.fim.onnx_shares import SHARES
from macaw.lowering.fim.onnx_values import TaskValue, Values, matrix
from macaw.lowering.fim.result_names import name_results
from macaw.lowering.onnx.constants import Evaluator
from macaw.lowering.onnx.graph import Graph as FrozenGraph
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.read import SIZES, Wishes, node_error
from macaw.lowering.onnx.read import read as freeze
from macaw.lowering.onnx.shapes import Form
from macaw.lowering.onnx.values import LARGEST, Room, element_name

TWO = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div"}
ONE = {"Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Sqrt": "vssqrt"}
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
SAME = ("Identity", "Cast")
COMPUTING = {**LAYERS, **COMPOSED, **EXTREMES, **POOLS, **SHARES}
NODES = tuple(sorted((*TWO, *ONE, *SAME, *SIZES, *MOVES, *SCATTERS, *JOINS, *COMPUTING, "Dropout")))


@dataclass(frozen=True)
class ImportedGraph:
    """A graph of tasks read from a model, with the model's shapes of inputs and outputs.

    `inputs` and `outputs` have the shapes by the names of the tensors in the graph of tasks.
    """

    graph: Graph
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]


def read(
    model: onnx.ModelProto,
    form: int,
    dims: Mapping[str, int] | None = None,
    room: int = LARGEST,
) -> ImportedGraph:
    """Return the graph of tasks of a model that `macaw.lowering.onnx.model_file` has checked.

    `form` is the index of a number format in `macaw.isa.fim_circuit.FORMATS`. `dims` has sizes for
    dimensions that the model only names. `room` is the size of external memory in bytes. Raises
    `LowerError` if tasks cannot compute a node, or if an input or output is not suitable.
    """
    memory = Room(room, FORMATS[form].size)
    wishes = Wishes(dims=dims or {}, room=memory, not_folded=frozenset())
    return _Translator(freeze(model, wishes), form, memory).translate()


class _Translator:
    """Translates the nodes of a model to tasks, after all that needs no input has been computed."""

    def __init__(self, frozen: FrozenGraph, form: int, room: Room) -> None:
        self.frozen = frozen
        self.values = Values(form, room, frozen.version)
        self.evaluator = Evaluator(frozen.version)
        self.inputs: dict[str, tuple[int, ...]] = {}

    def translate(self) -> ImportedGraph:
        for name in self.frozen.inputs:
            self.values.by_name[name] = self._input(name)
        for name, value in self.frozen.values.items():
            if value.array is not None:
                constant = TaskValue(value.shape, value.array, value.name, value.element)
                self.values.by_name[name] = constant
        with np.errstate(all="ignore"):  # constants may be infinite
            for node in self.frozen.nodes:
                self._node(node)
        results = {self._result(name): name for name in self.frozen.outputs}
        new = name_results(self.values.graph, results)
        outputs = {new[result]: self.values.by_name[name].shape for result, name in results.items()}
        shapes = {**self.inputs, **outputs}
        # A scalar is a tensor of one number.
        self.values.graph.shapes |= {name: shape or (1,) for name, shape in shapes.items()}
        return ImportedGraph(self.values.graph, self.inputs, outputs)

    def _input(self, name: str) -> TaskValue:
        shape, element = self.frozen.values[name].shape, self.frozen.values[name].element
        try:
            if element not in FLOATS:
                raise LowerError(f"it is of {element_name(element)}, no floating-point type")
            value = self.values.input_value(name, shape, element)
        except LowerError as error:
            raise LowerError(f"the input {message_name(name)}: {error}", error.hint) from None
        assert value.tensor is not None
        self.inputs[value.tensor.name] = shape
        return value

    def _result(self, onnx_name: str) -> str:
        """Mark an output of the model as a result of the graph; return the name of its tensor.

        If the tensor is an input or a view, or is already marked as another output, a gather copies
        it to a separate tensor. Raises `LowerError` for an output that depends on no input.
        """
        graph, value = self.values.graph, self.values.by_name[onnx_name]
        if value.array is not None:
            raise LowerError(f"the output {message_name(onnx_name)} does not depend on any input")
        tensor = value.tensor
        assert tensor is not None
        outputs = {task.output.memory.name for task in graph.tasks}
        if tensor.name not in outputs or tensor in graph.read:
            rows, columns = matrix(value.shape)
            tensor = graph.segments(
                tensor, [0], tensor.numbers, (rows, columns), self.values.name(onnx_name)
            )
        graph.result(tensor)
        return tensor.name

    # --- nodes ---

    def _node(self, node: Node) -> None:
        try:
            inputs = [self.values.by_name[name] if name else None for name in node.inputs]
            forms = [self._form(name) for name in node.outputs]
            values = self._compute(node, inputs, forms)
            for value, form in zip(values, forms, strict=True):
                if form is not None and form.shape != value.shape:
                    raise LowerError(
                        f"its result is of {value.shape}, by ONNX's rules of {form.shape}"
                    )
            self.values.check_tasks()
        except LowerError as error:
            raise node_error(node.name, node.operator, error) from None
        for name, value, form in zip(node.outputs, values, forms, strict=True):
            if name and form:
                self.values.by_name[name] = replace(value, element=form.element)

    def _form(self, name: str) -> Form | None:
        """Return element type and shape of an output, or None for an output without a name."""
        if not name:
            return None
        return Form(self.frozen.values[name].element, self.frozen.values[name].shape)

    def _compute(
        self, node: Node, inputs: list[TaskValue | None], forms: list[Form | None]
    ) -> list[TaskValue]:
        kind = node.operator
        if kind not in NODES:
            raise _no_task()
        values = [value for value in inputs if value is not None]
        if all(value.constant for value in values):
            raise LowerError("its inputs are constants, but macaw does not compute it on constants")
        name = node.outputs[0]
        if kind in TWO:
            return [binary(self.values, TWO[kind], values[0], values[1], name)]
        if kind in ONE:
            return [unary(self.values, ONE[kind], values[0], name)]
        if kind in SAME:
            if node.attributes.get("to", FLOATS[0]) not in FLOATS:
                raise LowerError("a cast to another type than of floating point")
            return [values[0]]
        if kind in COMPUTING:
            return COMPUTING[kind](self.values, node, inputs)
        return onnx_movement.move_node(self.values, self.evaluator, node, inputs, forms)


def _no_task() -> LowerError:
    return LowerError("no task of the islands does it", "there are " + ", ".join(NODES))


def form_of(name: str) -> int:
    """Return the index of the number format with this name; raise `LowerError` if there is none."""
    if name not in FORMAT_NAMES:
        raise LowerError(f"no format '{name}'", "there are " + ", ".join(FORMAT_NAMES))
    return FORMAT_NAMES.index(name)
