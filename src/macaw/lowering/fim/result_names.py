"""Gives the results of a graph of tasks the names of the model's outputs.

Tasks name their tensors after outputs of nodes. The tensor with the numbers of a model's output can
therefore have another name: that of the node before an Identity, or of a part of a node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from macaw.lowering.fim.graph import Graph, Task, Tensor
from macaw.lowering.fim.labels import symbol


def name_results(graph: Graph, onnx_names: Mapping[str, str]) -> dict[str, str]:
    """Name the results of a graph after the model's outputs, and return all names by old name.

    `onnx_names` has the name of the model's output by the name of the result. If another tensor has
    the new name of a result, the two change names; but inputs keep their names.
    """
    new = {name: name for name in graph.tensors}
    old = dict(new)
    taken = {tensor.name for tensor in graph.inputs}
    for result, onnx_name in onnx_names.items():
        before, after = new[result], symbol(onnx_name, taken)
        taken.add(after)
        if after == before:
            continue
        other = old.pop(after, None)
        del old[before]
        if other is not None:
            new[other], old[before] = before, other
        new[result], old[after] = after, result
    if any(name != other for name, other in new.items()):
        _rename(graph, new)
    return new


def _rename(graph: Graph, new: Mapping[str, str]) -> None:
    """Give all tensors of a graph their names in `new`, which has them by the old names."""
    made: dict[str, Tensor] = {}

    def renamed(tensor: Tensor) -> Tensor:
        if tensor.name not in made:
            base = None if tensor.base is None else renamed(tensor.base)
            made[tensor.name] = replace(tensor, name=new[tensor.name], base=base)
        return made[tensor.name]

    def renamed_task(task: Task) -> Task:
        inputs = tuple(renamed(tensor) for tensor in task.inputs)
        bias = None if task.bias is None else renamed(task.bias)
        return replace(task, inputs=inputs, output=renamed(task.output), bias=bias)

    graph.tensors = {new[name]: renamed(tensor) for name, tensor in graph.tensors.items()}
    graph.tasks = [renamed_task(task) for task in graph.tasks]
    graph.read = [renamed(tensor) for tensor in graph.read]
