"""Reads ONNX models and the arrays stored beside them from files, and checks the models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import onnx

from macaw.asm.diagnostics import printable
from macaw.lowering.errors import LowerError

LONGEST_NAME, LONGEST_REASON = 60, 200  # the greatest number of characters that a message quotes
LONGEST_TEXT = 280  # the greatest number of characters of a message after the name of its node
# how the messages of ONNX's checker name the node in which the mistake is
_NODE = re.compile(r"Bad node spec for node\. Name: (.*?) OpType: (\S*)", re.DOTALL)


def parse(data: bytes, path: Path) -> onnx.ModelProto:
    """Return the model in `data`, the bytes of file `path`, with its external arrays.

    Raises `LowerError` if the data are no valid ONNX model, or an external array is missing.
    """
    try:
        model = onnx.load_model_from_string(data)
        if model.HasField("graph"):
            onnx.load_external_data_for_model(model, str(path.parent))
    except Exception as error:  # exceptions of protobuf, the file system and onnx, of many kinds
        raise LowerError(f"{printable(str(path))} is no ONNX model", reason(error)) from None
    check(model, printable(str(path)))
    return model


def external_files(data: bytes, path: Path) -> list[str]:
    """Return the paths of the files beside `path` that hold arrays of the model in `data`.

    The result is empty if the data are no ONNX model.
    """
    try:
        model = onnx.load_model_from_string(data)
    except Exception:  # exceptions of protobuf, of many kinds
        return []
    names = {
        entry.value
        for tensor in _tensors(model.graph)
        if tensor.data_location == onnx.TensorProto.EXTERNAL
        for entry in tensor.external_data
        if entry.key == "location"
    }
    return [str(path.parent / name) for name in sorted(names)]


def _tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield the constant arrays of a graph and of the graphs in it."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for inner in (attribute.g, *attribute.graphs):
                yield from _tensors(inner)


def check(model: onnx.ModelProto, what: str = "the model") -> None:
    """Raise `LowerError` if ONNX's checker refuses a model, which messages call `what`.

    Outputs without a shape are accepted.
    """
    if any(not row.type.tensor_type.HasField("shape") for row in model.graph.output):
        whole, model = model, onnx.ModelProto()
        model.CopyFrom(whole)
        for row in model.graph.output:
            row.type.tensor_type.shape.SetInParent()
    try:
        onnx.checker.check_model(model)
    except Exception as error:  # exceptions of the checker and of protobuf, of many kinds
        raise LowerError(f"{what} is no ONNX model", _complaint(error)) from None
    # protobuf returns bytes for a name that is not UTF-8
    if any(isinstance(name, bytes) for name in _names(model.graph)):
        raise LowerError(f"{what} is no ONNX model", "a name in it is not UTF-8")


def _names(graph: onnx.GraphProto) -> Iterator[str | bytes]:
    """Yield the names of a graph's values, dimensions, nodes, operators and attributes."""
    for row in (*graph.input, *graph.output):
        yield row.name
        yield from (dim.dim_param for dim in row.type.tensor_type.shape.dim)
    yield from (row.name for row in graph.initializer)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (row.name for row in node.attribute)


def message_name(name: str) -> str:
    """Return a name of the model for a message: printable, and cut to `LONGEST_NAME` characters."""
    return _cut(printable(name.replace("\t", "\\t")), LONGEST_NAME)


def node_place(name: str, operator: str) -> str:
    """Return the name and operator of a node for a message: node conv1 (Conv)."""
    kind = message_name(operator)
    return f"node {message_name(name)} ({kind})" if name else f"a node {kind}"


def message_text(error: BaseException) -> str:
    """Return an error message that may quote the model: printable, and not too long."""
    return _cut(printable(str(error).replace("\t", "\\t")), LONGEST_TEXT)


def reason(error: BaseException) -> str:
    """Return an error message of onnx as one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    return _line(next((line for line in lines if line), type(error).__name__))


def _complaint(error: BaseException) -> str:
    """Return a message of ONNX's checker as one line that begins with the node, if it has one."""
    text, _, context = str(error).strip().partition("\n\n")
    found = _NODE.search(context)
    place = "" if found is None else f"{node_place(found[1], found[2])}: "
    return place + _line(text or type(error).__name__)


def _line(text: str) -> str:
    """Return a text of onnx in one line, without marks of its kinds of errors."""
    for mark in ("[ShapeInferenceError] ", "[TypeInferenceError] "):
        text = text.replace(mark, "")
    return _cut(printable(" ".join(text.split())), LONGEST_REASON)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
