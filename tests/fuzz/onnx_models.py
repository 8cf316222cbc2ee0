"""Fuzzes ONNX models: each gives a program with ONNX's results, or an error with a node's name.

Examples are small graphs of all operators that Macaw reads, and graphs with damaged fields or
bytes.
"""

from __future__ import annotations

import gc
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import onnx
import onnxruntime
from google.protobuf.message import DecodeError
from onnx import TensorProto, helper, numpy_helper

import macaw
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import onnx_graph
from macaw.lowering.onnx.model_file import parse
from tests.fuzz import mutate
from tests.fuzz.onnx_graphs import CONSTANTS, LAYERS, MOVERS, ONE, OTHERS, TWO, built
from tests.fuzz.target import Example, Target, require, sentence

THOROUGH = 0.05  # share of examples that are planned; they run if they take at most SHORT cycles
SHORT = 4000
SECONDS = 10.0
LARGE = 1 << 16  # numbers of a value: larger ones are not compared
ROOM = 256 << 20  # bytes of external memory of `base`
ODD = ("", "a\nb", "\x1b[31m", "x" * 5000, "\u202e", "Ж", "x", "y", "\0")
SIZES = (
    0,
    1,
    2,
    3,
    5,
    8,
    64,
    1000,
    4096,
    1 << 20,
    1 << 31,
    (1 << 31) - 1,
    1 << 32,
    (1 << 63) - 1,
    -1,
    -2,
)
VERSIONS = (*range(1, 8), *range(7, 24), 22, 23, 24, 25, 99)
# How a message begins that says where the mistake is.
PLACED = re.compile(
    r"(a node|node|no node|the input|the output|the value|the initializer|the model|the graph|nothing can do|sparse|"
    r"a\.onnx is no ONNX model|the \d+ steps of|inputs and outputs|copies go through)"
)


def _size(rng: Random, made: onnx.ModelProto) -> None:
    rows = [*made.graph.input, *made.graph.output]
    dims = [dim for row in rows for dim in row.type.tensor_type.shape.dim]
    if dims:
        dim = rng.choice(dims)
        if rng.random() < 0.2:
            dim.dim_param = rng.choice(("N", "batch size", "\x1b[1m"))
        else:
            dim.dim_value = rng.choice(SIZES)


def _initializer(rng: Random, made: onnx.ModelProto) -> None:
    if not made.graph.initializer:
        return
    row = rng.choice(made.graph.initializer)
    kind = rng.randrange(5)
    if kind == 0:
        row.data_type = rng.randrange(0, 30)
    elif kind == 1 and row.dims:
        row.dims[rng.randrange(len(row.dims))] = rng.choice(SIZES)
    elif kind == 2 and row.raw_data:
        data = bytearray(row.raw_data)
        mutate.some_bytes(rng, data)
        row.raw_data = bytes(data)
    elif kind == 3:
        values = np.array([rng.choice(SIZES) for _ in range(rng.randrange(4))], np.int64)
        row.CopyFrom(numpy_helper.from_array(values, row.name))
    else:
        made.graph.initializer.remove(row)


def _attribute(rng: Random, made: onnx.ModelProto) -> None:
    node = rng.choice(made.graph.node)
    if not node.attribute:
        name = rng.choice(
            "axis axes pads perm keepdims to alpha group value mode bla direction clip".split()
        )
        node.attribute.append(
            helper.make_attribute(name, rng.choice((0, 1, -1, 7, 1.5, "x", [1, 0], [0])))
        )
        return
    row = rng.choice(node.attribute)
    kind = rng.randrange(4)
    if kind == 0:
        row.i = rng.choice((*SIZES, -5, 7))
    elif kind == 1 and row.ints:
        row.ints[rng.randrange(len(row.ints))] = rng.choice((*SIZES, -5, 7))
    elif kind == 2 and row.ints:
        del row.ints[-1]
    elif kind == 3:
        node.attribute.remove(row)


def _wire(rng: Random, made: onnx.ModelProto) -> None:
    node = rng.choice(made.graph.node)
    names = [name for other in made.graph.node for name in (*other.input, *other.output)]
    kind = rng.randrange(5)
    if kind == 0 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice((*names, ""))
    elif kind == 1:
        node.input.append(rng.choice(names))
    elif kind == 2 and node.input:
        del node.input[-1]
    elif kind == 3:
        node.op_type = rng.choice((*MOVERS, *LAYERS, *ONE, *TWO, *OTHERS, *CONSTANTS, *ODD))
    else:
        node.output.append(rng.choice(("more", "")))


def _word(rng: Random, made: onnx.ModelProto) -> None:
    kind = rng.randrange(4)
    if kind == 0:
        rng.choice(made.graph.node).name = rng.choice(ODD)
    elif kind == 1:
        made.opset_import[0].version = rng.choice(VERSIONS)
    elif kind == 2:
        rng.choice(made.graph.node).domain = rng.choice(("ai.onnx", "ai.onnx.ml", "mine"))
    else:
        old, new = rng.choice([*made.graph.input, *made.graph.output]).name, rng.choice(ODD)
        for node in made.graph.node:
            for names in (node.input, node.output):
                names[:] = [new if name == old else name for name in names]
        for row in (*made.graph.input, *made.graph.output):
            row.name = new if row.name == old else row.name


_DAMAGES: tuple[Callable[[Random, onnx.ModelProto], None], ...] = (
    _size, _size, _initializer, _initializer, _attribute, _attribute, _wire, _wire, _word,
)  # fmt: skip


@cache
def _other() -> bytes:
    return built(Random("another")).SerializeToString()


def make(rng: Random) -> Example[bytes]:
    """A graph; in about half of the examples it is damaged."""
    made = built(rng)
    thorough, kind = rng.random() < THOROUGH, rng.random()
    origin = made.SerializeToString()
    if kind < 0.3:
        for _ in range(mutate.several(rng, 3)):
            rng.choice(_DAMAGES)(rng, made)
    data = bytearray(_serialized(made, origin))
    if kind > 0.8:
        for _ in range(mutate.several(rng)):
            rng.choice((mutate.some_bytes, mutate.some_bytes, mutate.cut, mutate.extended))(
                rng, data
            )
        if kind > 0.95:
            mutate.spliced(rng, data, _other())
    return Example(bytes(data), origin, thorough)


def _serialized(made: onnx.ModelProto, origin: bytes) -> bytes:
    try:
        return bytes(made.SerializeToString())
    except (ValueError, DecodeError):  # a name that no file can have
        return origin


# --- outcomes ---


def check(example: Example[bytes]) -> str:
    """Read a model; an accepted one gives onnxruntime's results, some also in the emulator."""
    try:
        model = parse(example.data, Path("a.onnx"))
        dims = sizes_by_name(model)
        found = onnx_graph.read(model, 1, dims, ROOM)
    except LowerError as error:
        return refused(str(error), error.hint)
    if math.prod((1, *map(_numbers, (*found.inputs.values(), *found.outputs.values())))) == 0:
        require(False, "a tensor has no numbers", str(found.outputs))
    random = np.random.default_rng(len(example.data))
    given = {name: random.uniform(-1, 1, shape) for name, shape in found.inputs.items()}
    wanted_outputs = witness(model, list(given.values()))
    if _large(found) or wanted_outputs is None:
        return _planned(model, dims, given, None, example.thorough)
    tensors = found.graph.tensors
    matrices = {
        name: array.reshape(tensors[name].rows, tensors[name].columns)
        for name, array in given.items()
    }
    with np.errstate(all="ignore"):
        values = found.graph.evaluate(matrices)
    for (name, shape), wanted in zip(found.outputs.items(), wanted_outputs, strict=True):
        equal(values[name].reshape(shape), wanted, name, loose(model))
    return _planned(model, dims, given, wanted_outputs, example.thorough)


def sizes_by_name(model: onnx.ModelProto) -> dict[str, int]:
    """Size 3 for each dimension that has a name in the model's inputs."""
    rows = (row.type.tensor_type.shape.dim for row in model.graph.input)
    return {dim.dim_param: 3 for shape in rows for dim in shape if dim.dim_param}


def _numbers(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def refused(message: str, hint: str) -> str:
    sentence(message)
    if hint:
        require(hint.isprintable(), "a hint cannot be printed", repr(hint[:200]))
    require(PLACED.match(message) is not None, "a message without its place", message)
    return "refused"


def _large(found: onnx_graph.ImportedGraph) -> bool:
    return any(tensor.numbers > LARGE for tensor in found.graph.tensors.values())


def loose(model: onnx.ModelProto) -> float:
    """The tolerance: greater for half precision, which rounds at each operation."""
    kinds = {row.type.tensor_type.elem_type for row in model.graph.input}
    return 2e-2 if kinds & {TensorProto.FLOAT16, TensorProto.BFLOAT16} else 2e-4


def equal(ours: np.ndarray, theirs: np.ndarray, name: str, tolerance: float) -> None:
    """Raise `Failure` unless Macaw's result equals the witness's within the tolerance."""
    require(
        ours.shape == theirs.shape,
        "another shape than onnxruntime's",
        f"{name}: {ours.shape}, {theirs.shape}",
    )
    theirs = theirs.astype(np.float64)
    # An overflow, or a division by nearly zero, depends on roundings.
    most = 1e3 if tolerance < 1e-2 else 30  # the difference of two halves may keep few digits
    sane = np.isfinite(theirs) & (np.abs(theirs) < most) & np.isfinite(ours)
    if not sane.all():
        return
    scale = 1 + float(np.max(np.abs(theirs), initial=0))
    far = np.abs(ours - theirs) > tolerance * scale
    require(
        not far.any(),
        "another result than onnxruntime's",
        f"{name}: {ours[far][:3]}, {theirs[far][:3]}",
    )


def witness(model: onnx.ModelProto, given: list[np.ndarray]) -> list[np.ndarray] | None:
    """The outputs that onnxruntime computes, or None if it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    names = {row.name for row in model.graph.initializer}
    rows = [row for row in model.graph.input if row.name not in names]
    if any(array.size > LARGE for array in given):
        return None
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        feed = {
            row.name: array.astype(helper.tensor_dtype_to_np_dtype(row.type.tensor_type.elem_type))
            for row, array in zip(rows, given, strict=True)
        }
        return list(session.run(None, feed))
    except Exception:  # of many kinds; a model that onnxruntime refuses has no witness
        return None


def _planned(
    model: onnx.ModelProto, dims: Mapping[str, int], given: Mapping[str, np.ndarray],
    wanted_outputs: list[np.ndarray] | None, thorough: bool,
) -> str:  # fmt: skip
    read = "read" if wanted_outputs is None else "compared"
    if not thorough:
        return read
    try:
        found = macaw.lower_graph(model, dims=dims, number_format="fp32")
    except macaw.InputError as error:
        return refused(str(error), error.hint)
    if found.cycles > SHORT:
        return "planned"
    arrays = {
        name: array.astype(np.float32).reshape(array.shape or (1,)) for name, array in given.items()
    }
    run = macaw.run(found.assemble(), arrays)
    outputs = dict(run.outputs)
    del run
    gc.collect()  # a device's memory
    if wanted_outputs is None:
        return "run"
    for ours, wanted in zip(outputs.values(), wanted_outputs, strict=True):
        equal(ours.reshape(wanted.shape), wanted, "in the emulator", 10 * loose(model))
    return "run and compared"


TARGET = Target("onnx", make, check, seconds=SECONDS)
