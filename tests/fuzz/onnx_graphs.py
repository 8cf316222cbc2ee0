"""Random small ONNX graphs of all operators that Macaw reads, some with constants only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

NAMES = ("x", "y", "b0", "f0", "a0", "in/x.1", "0", "_start", "é", "left", "x" * 80, "c0_b", "zero")
MOVERS = "Reshape Flatten Squeeze Unsqueeze Transpose Slice Split Expand Tile Gather GatherElements GatherND DepthToSpace SpaceToDepth Pad Concat ScatterElements ScatterND".split()
LAYERS = "MatMul Gemm Conv GRU".split()
ONE = "Relu Sigmoid Tanh Sqrt Identity Cast Dropout".split()
TWO = "Add Sub Mul Div".split()
OTHERS = "Softmax Exp MaxPool Erf Clip ReduceSum Shape Size RandomNormalLike Loop If BatchNormalization Where Scatter LSTM Einsum NonZero TopK".split()
CONSTANTS = "Abs Neg Floor Exp Sqrt Reciprocal Sin Erf Round Sign Softplus Not Transpose ReduceSum ReduceMean Softmax CumSum ArgMax Pow Max Min Where MatMul Shape Cast Range ConstantOfShape Trilu OneHot".split()


class _Maker:
    """A graph that is being made: the shapes of its values, its nodes, its constants."""

    def __init__(self, rng: Random, version: int) -> None:
        self.rng, self.version = rng, version
        self.random = np.random.default_rng(rng.getrandbits(32))
        self.shapes: dict[str, tuple[int, ...]] = {}  # of floating-point values
        self.names: set[str] = set()
        self.inputs: list[str] = []
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}
        self.element = rng.choice(
            (TensorProto.FLOAT,) * 6 + (TensorProto.FLOAT16, TensorProto.DOUBLE)
        )
        self.dtype = helper.tensor_dtype_to_np_dtype(self.element)

    def name(self) -> str:
        name = self.rng.choice(NAMES)
        if self.rng.random() < 0.85 or name in self.names:
            name = f"v{len(self.names)}"
        self.names.add(name)
        return name

    def input(self, *shape: int) -> str:
        name = self.name()
        self.shapes[name] = shape
        self.inputs.append(name)
        return name

    def constant(self, array: Any) -> str:
        name = self.name()
        self.constants[name] = np.asarray(array)
        return name

    def floats(self, *shape: int) -> str:
        """Add a constant of this shape with numbers of magnitude 0.25 to 1.5; return its name."""
        array = self.random.uniform(0.25, 1.5, shape) * self.random.choice([-1, 1], shape)
        return self.constant(array.astype(self.dtype))

    def size(self) -> int:
        return self.rng.choice((1, 2, 2, 3, 3, 4, 5, 7))

    def add(self, kind: str, inputs: list[str], count: int = 1, **attributes: Any) -> None:
        """Add a node if ONNX's rules accept it; later nodes may use its results."""
        outputs = []
        for _ in range(count):
            outputs.append(self.name())
            self.shapes[outputs[-1]] = ()
        label = self.rng.choice(("", "it", f"n{len(self.nodes)}"))
        node = helper.make_node(kind, inputs, outputs, name=label, **attributes)
        for name in outputs:
            del self.shapes[name]
        forms = self._forms(node)
        if forms is None and self.rng.random() < 0.95:
            return
        self.nodes.append(node)
        for name in outputs:
            kind_of = (forms or {}).get(name)
            if kind_of is not None and kind_of.tensor_type.elem_type == self.element:
                sizes = kind_of.tensor_type.shape.dim
                if all(dim.HasField("dim_value") and dim.dim_value >= 0 for dim in sizes):
                    self.shapes[name] = tuple(dim.dim_value for dim in sizes)

    def _forms(self, node: onnx.NodeProto) -> Mapping[str, Any] | None:
        types = {
            name: helper.make_tensor_type_proto(self.element, shape)
            for name, shape in self.shapes.items()
        }
        data = {}
        for name, array in self.constants.items():
            data[name] = numpy_helper.from_array(array, name)
            types[name] = helper.make_tensor_type_proto(data[name].data_type, array.shape)
        try:
            schema = onnx.defs.get_schema(node.op_type, self.version, "")
            opsets = [helper.make_opsetid("", self.version)]
            found = shape_inference.infer_node_outputs(
                schema, node, types, data, opset_imports=opsets
            )
        except Exception:  # onnx's own, of many kinds: such a node is left out
            return None
        return dict(found)

    def model(self) -> onnx.ModelProto:
        given = set(self.inputs)  # and what depends on them
        for node in self.nodes:
            if given.intersection(node.input):
                given.update(node.output)
        made = [name for node in self.nodes for name in node.output if name in self.shapes]
        made = [name for name in made if name in given] or made
        read = {name for node in self.nodes for name in node.input}
        wanted = [name for name in made if name not in read or self.rng.random() < 0.1] or made[-1:]
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "g",
            [info(name, self.element, self.shapes[name]) for name in self.inputs],
            [
                info(name, self.element, self.rng.choice((self.shapes[name], None)))
                for name in wanted
            ],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", self.version)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


# --- nodes ---


def _layer(maker: _Maker, x: str, kind: str) -> None:
    rng, shape = maker.rng, maker.shapes[x]
    if kind == "MatMul" and shape:
        other = maker.floats(shape[-1], *([maker.size()] if rng.random() < 0.8 else []))
        if rng.random() < 0.3:
            fitting = [
                name for name, row in maker.shapes.items() if len(row) == 2 and row[0] == shape[-1]
            ]
            other = rng.choice(fitting or [other])
        maker.add(kind, [x, other])
    elif kind == "Gemm" and len(shape) == 2:
        turn_a, turn_b, n = rng.randrange(2), rng.randrange(2), maker.size()
        k = shape[0] if turn_a else shape[1]
        m = shape[1] if turn_a else shape[0]
        inputs = [x, maker.floats(*((n, k) if turn_b else (k, n)))]
        if rng.random() < 0.6:
            inputs.append(
                maker.floats(*rng.choice(((n,), (1, n), (m, n), (m, 1), (), (1,), (n + 1,))))
            )
        maker.add(
            kind,
            inputs,
            transA=turn_a,
            transB=turn_b,
            alpha=rng.choice((1.0, 0.5)),
            beta=rng.choice((1.0, 2.0, 0.0)),
        )
    elif kind == "Conv" and len(shape) in (3, 4):
        group = rng.choice((1, 1, shape[1]))
        kernel = [rng.randint(1, 3) for _ in shape[2:]]
        inputs = [x, maker.floats(group * rng.randint(1, 2), max(1, shape[1] // group), *kernel)]
        if rng.random() < 0.5:
            inputs.append(maker.floats(maker.constants[inputs[1]].shape[0]))
        attributes: dict[str, Any] = {"group": group}
        if rng.random() < 0.5:
            attributes["strides"] = [rng.randint(1, 3) for _ in kernel]
        if rng.random() < 0.3:
            attributes["dilations"] = [rng.randint(1, 2) for _ in kernel]
        if rng.random() < 0.5:
            attributes["pads"] = [rng.randint(0, 2) for _ in range(2 * len(kernel))]
        elif rng.random() < 0.4:
            attributes["auto_pad"] = rng.choice(("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"))
        maker.add(kind, inputs, **attributes)
    elif kind == "GRU" and len(shape) == 3:
        hidden = maker.size()
        inputs = [x, maker.floats(1, 3 * hidden, shape[2]), maker.floats(1, 3 * hidden, hidden)]
        inputs.append(maker.floats(1, 6 * hidden) if rng.random() < 0.5 else "")
        inputs += ["", maker.floats(1, shape[1], hidden) if rng.random() < 0.5 else ""]
        maker.add(
            kind,
            inputs,
            rng.randint(1, 2),
            hidden_size=hidden,
            linear_before_reset=rng.randrange(2),
        )


def _mover(maker: _Maker, x: str, kind: str) -> None:
    rng, shape, random = maker.rng, maker.shapes[x], maker.random
    rank, count = len(shape), math.prod(shape)
    axis = rng.randrange(-rank, rank) if rank else 0
    length = shape[axis] if rank else 1

    def given(*values: int) -> str:
        return maker.constant(np.array(values, np.int64))

    if kind == "Reshape":
        parts = [n for n in range(1, count + 1) if count % n == 0] or [1]
        first = rng.choice(parts)
        maker.add(
            kind,
            [
                x,
                given(
                    *rng.choice(
                        ((first, -1), (-1,), (first, count // first), (0, -1), (count, 1, 1))
                    )
                ),
            ],
        )
    elif kind in ("Flatten", "Split") and rank:
        if kind == "Flatten":
            maker.add(kind, [x], axis=axis)
        else:
            cut = rng.randint(0, length)
            maker.add(kind, [x, given(cut, length - cut)], 2, axis=axis)
    elif kind in ("Squeeze", "Unsqueeze"):
        maker.add(kind, [x, given(rng.randrange(-rank - 1, rank + 1))])
    elif kind == "Transpose" and rank:
        maker.add(kind, [x], perm=rng.sample(range(rank), rank))
    elif kind == "Slice" and rank:
        ends = [rng.choice((-99, -2, 0, 1, 2, 3, length, 99, 1 << 62)) for _ in range(2)]
        maker.add(
            kind,
            [x, given(ends[0]), given(ends[1]), given(axis), given(rng.choice((1, 1, 2, -1, -2)))],
        )
    elif kind in ("Expand", "Tile"):
        times = [rng.choice((1, 1, 2, 3)) for _ in shape]
        sizes = (
            times
            if kind == "Tile"
            else [n if n > 1 else t for n, t in zip(shape, times, strict=True)]
        )
        more = [rng.randint(1, 3)] if kind == "Expand" and rng.random() < 0.3 else []
        maker.add(kind, [x, given(*more, *sizes)])
    elif kind == "Gather" and rank:
        indices = random.integers(-length, length, [maker.size() for _ in range(rng.randrange(3))])
        maker.add(kind, [x, maker.constant(indices)], axis=axis)
    elif kind in ("GatherElements", "ScatterElements") and rank:
        sizes = [rng.randint(1, n) if n else 0 for n in shape]
        if kind == "GatherElements":
            maker.add(kind, [x, maker.constant(random.integers(-length, length, sizes))], axis=axis)
            return
        order = random.permutation(length)[: sizes[axis]]  # no two go to one place
        places = np.moveaxis(np.zeros(sizes, np.int64), axis, -1) + order
        name = maker.constant(np.moveaxis(places, -1, axis))
        maker.add(kind, [x, name, maker.floats(*sizes)], axis=axis)
    elif kind in ("GatherND", "ScatterND") and rank:
        depth = rng.randint(1, rank)
        rows = rng.sample(list(np.ndindex(*shape[:depth])), min(2, math.prod(shape[:depth])))
        indices = np.array(rows, np.int64).reshape(-1, depth)
        updates = [maker.floats(len(rows), *shape[depth:])] if kind == "ScatterND" else []
        maker.add(kind, [x, maker.constant(indices), *updates])
    elif kind in ("DepthToSpace", "SpaceToDepth") and rank == 4:
        maker.add(kind, [x], blocksize=rng.choice((1, 2)))
    elif kind == "Pad":
        pads = [rng.choice((0, 0, 1, 2)) for _ in range(2 * rank)]
        mode = rng.choice(("constant", "constant", "edge", "reflect"))
        if maker.version < 11 and pads:
            maker.add(kind, [x], pads=pads, mode=mode)
        elif maker.version >= 11:
            maker.add(kind, [x, given(*pads)], mode=mode)
    elif kind == "Concat" and rank:
        fitting = [name for name, row in maker.shapes.items() if len(row) == rank]
        other = maker.floats(
            *(maker.size() if at == axis % rank else n for at, n in enumerate(shape))
        )
        maker.add(kind, rng.sample([x, other, rng.choice(fitting)], rng.randint(2, 3)), axis=axis)


def _function(maker: _Maker, x: str, kind: str) -> None:
    rng, shape = maker.rng, maker.shapes[x]
    if kind in TWO:
        sizes = [rng.choice((n, n, 1)) for n in shape[rng.randrange(len(shape) + 1) :]]
        other = rng.choice(
            (
                maker.floats(*sizes),
                maker.floats(maker.size(), *shape),
                rng.choice(list(maker.shapes)),
                x,
            )
        )
        maker.add(kind, rng.sample([x, other], 2) if kind != "Div" else [x, other])
    elif kind == "Cast":
        maker.add(kind, [x], to=maker.element)
    elif kind == "Dropout" and maker.version >= 12 and rng.random() < 0.5:
        flags = [maker.constant(np.float32(0.5)), maker.constant(np.bool_(rng.random() < 0.3))]
        maker.add(kind, [x, *flags], rng.randint(1, 2))
    elif kind != "Concat":
        maker.add(kind, [x])


def _constant(maker: _Maker) -> None:
    """Add a node whose inputs are constants; other nodes may use its result."""
    rng, kind = maker.rng, maker.rng.choice(CONSTANTS)
    known = maker.floats(*(maker.size() for _ in range(rng.randrange(1, 3))))
    more: list[str] = []
    attributes: dict[str, Any] = {}
    shape = maker.constants[known].shape
    if kind in ("Pow", "Max", "Min"):
        more = [maker.floats(shape[-1])]
    elif kind == "MatMul":
        more = [maker.floats(shape[-1], maker.size())]
    elif kind == "Cast":
        attributes["to"] = maker.element
    elif kind == "ConstantOfShape":
        known = maker.constant(np.array([maker.size(), maker.size()], np.int64))
        attributes["value"] = numpy_helper.from_array(np.full(1, 0.5, maker.dtype))
    elif kind == "Range":
        known, *more = (maker.constant(np.asarray(n, maker.dtype)) for n in (0, maker.size(), 1))
    elif kind == "CumSum":
        more = [maker.constant(np.int64(0))]
    elif kind == "Where":
        known, more = maker.constant(np.array([True, False])), [maker.floats(2, 1), maker.floats(2)]
    maker.add(kind, [known, *more], **attributes)


def built(rng: Random) -> onnx.ModelProto:
    """A graph of one to six nodes."""
    maker = _Maker(rng, rng.choice((7, 9, 10, 11, 12, 13, 13, 17, 17, 18, 20, 21)))
    for _ in range(rng.choice((1, 1, 2))):
        rank = rng.choice((0, 1, 2, 2, 2, 3, 3, 4, 4))
        maker.input(*(maker.size() for _ in range(rank)))
    wanted = rng.randint(1, 6)
    for _ in range(3 * wanted):
        if len(maker.nodes) >= wanted:
            break
        pool = [name for name, shape in maker.shapes.items() if math.prod(shape) <= 4096]
        x = rng.choice(pool[-4:] or maker.inputs)
        kind = rng.random()
        if 0 in maker.shapes[x]:
            rng.choice((_mover, _function))(maker, x, rng.choice(("Concat", "Relu", "Identity")))
        elif kind < 0.25:
            _layer(maker, x, rng.choice(LAYERS))
        elif kind < 0.6:
            _mover(maker, x, rng.choice(MOVERS))
        elif kind < 0.85:
            _function(maker, x, rng.choice(ONE + TWO))
        elif kind < 0.95:
            _constant(maker)
        else:
            maker.add(rng.choice(OTHERS), [x])
    if not maker.nodes:
        maker.nodes.append(helper.make_node("Relu", [maker.inputs[0]], ["y"], name="it"))
        maker.shapes["y"] = maker.shapes[maker.inputs[0]]
    return maker.model()
