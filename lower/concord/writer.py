"""The function `layer` of a generated file: a statement an operation, a function a loop."""

from __future__ import annotations

import builtins
import keyword
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from isa.config import Configuration
from lower.concord import arithmetic
from lower.concord.graph import SHARED, Graph, Node, Output, Tensor
from lower.concord.layer import Layer, Loop

WIDTH = 88
_INLINE = (
    "quantise", "quantise_matrix", "rows", "columns", "regroup", "collected", "zeros", "zero_tiles",
    "take", "part",
)  # fmt: skip
_LONGEST_INLINE = 48
_KEPT = ("input", "carried", "item", "quantise", "quantise_matrix")  # names not for what follows


@dataclass
class Writer:
    """Writes the function `layer`."""

    graph: Graph
    layer_nodes: Layer
    config: Configuration
    target: str
    used: set[str] = field(default_factory=set)  # functions of the templates
    names: dict[int, str] = field(default_factory=dict)
    expressions: dict[int, str] = field(default_factory=dict)  # of nodes that have no name
    taken: Counter[str] = field(default_factory=Counter)
    bases: dict[str, str] = field(default_factory=dict)  # of names: without their number
    inputs: dict[str, Tensor] = field(default_factory=dict)
    outputs: dict[str, Output] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    finals: dict[int, list[str]] = field(default_factory=dict)  # of loops: names of last states

    def __post_init__(self) -> None:
        self.native = int(self.config["nnp.native"])
        self.uses: Counter[int] = Counter()
        self.users: dict[int, Node] = {}
        self.live: set[int] = set()
        layer = self.layer_nodes
        self.scope: dict[int, int] = {}  # of nodes in a loop: which
        groups = [layer.nodes, *(loop.body for loop in layer.loops.values())]
        for scope, group in enumerate(groups):
            for node in group:
                self.live.add(node.number)
                self.scope[node.number] = scope
                self._use(node.inputs, node)
        for loop in layer.loops.values():
            self._use([*loop.starts, *loop.sources, *loop.updates, *loop.results])
        self._use(layer.outputs)
        self.reserved = {
            name
            for template in arithmetic.every(self.target)
            for piece in arithmetic.pieces(template)
            for name in piece.names
        }
        self.reserved |= {name.upper() for name in ("host", "native", "digits")}
        self.reserved |= {*keyword.kwlist, *dir(builtins), "layer", "state"}

    def _use(self, nodes: Iterable[Node], user: Node | None = None) -> None:
        for node in nodes:
            self.uses[node.number] += 1
            if user is not None:
                self.users[node.number] = user

    # --- the function ---

    def layer(self) -> list[str]:
        """The lines of the function."""
        layer = self.layer_nodes
        for tensor, node in self.graph.inputs:
            if node.number not in self.live:
                continue
            name = self._unique(tensor.name)
            self.inputs[name] = tensor
            self.names[node.number] = name
        head = self._broken("def layer", list(self.inputs), "", "")
        head[-1] += ":"
        self.lines = [f'    """{self._sentence()}"""']
        self._nodes(layer.nodes, 4)
        returned = []
        for output, node in zip(self.graph.outputs, layer.outputs, strict=True):
            name = self._output_name(output)
            self.outputs[name] = output
            returned.append(f'        "{name}": {self._returned(output.tensor, node)},')
        return [*head, *self.lines, "    return {", *returned, "    }"]

    def _sentence(self) -> str:
        return "The layer; tensors are in the host format, in their shapes of INPUTS."

    def _output_name(self, output: Output) -> str:
        name = output.tensor.name
        while name in self.outputs or name in self.inputs:
            name += "_out"
        return name

    def _returned(self, tensor: Tensor, node: Node) -> str:
        text = self._text(node)
        self.used.add("narrow")
        if tensor.columns != node.blocks * self.native:
            columns = f"0, :{tensor.columns}" if tensor.rows == 1 else f":, :{tensor.columns}"
            return f"narrow({text}[{columns}])"
        return f"narrow({text}[0])" if tensor.rows == 1 else f"narrow({text})"

    # --- statements ---

    def _nodes(self, nodes: Sequence[Node], indent: int) -> None:
        for node in nodes:
            if node.operation == "loop":
                self._loop(node, self.layer_nodes.loops[node.number], indent)
            elif node.operation == "input":
                self._prepare(node, indent)
            else:
                self._statement(node, indent)

    def _prepare(self, node: Node, indent: int) -> None:
        """An input, filled up to native vectors or tiles."""
        if node.number not in self.live:
            return
        name = self.names[node.number]
        kind = "matrix_of" if node.value["kind"] == "matrix" else "rows_of"
        rows = node.rows * (self.native if kind == "matrix_of" else 1)
        self.used.add(kind)
        arguments = [name, str(rows), str(node.blocks * self.native)]
        user = self.users.get(node.number)
        if self.uses[node.number] == 1 and user and user.operation == "quantise_matrix":
            arguments = [f"{kind}({', '.join(arguments)})"]
            kind = user.operation
            self.used.add(kind)
            self.names[user.number] = name
        self._assign(name, kind, arguments, indent)

    def _statement(self, node: Node, indent: int) -> None:
        if node.number in self.names:
            return  # its input's statement says it
        if node.operation == "final":
            self.names[node.number] = self.finals[node.inputs[0].number][node.value["slot"]]
            return
        function, arguments = self._call(node)
        text = f"{function}({', '.join(arguments)})" if function else arguments[0]
        user = self.users.get(node.number)
        here = user is None or self.scope.get(user.number) == self.scope.get(node.number)
        once = self.uses[node.number] == 1 and here
        if node.operation in _INLINE and (
            (once and len(text) <= _LONGEST_INLINE) or node.operation == "zeros"
        ):
            self.expressions[node.number] = text
            return
        name = self._name(node)
        self.names[node.number] = name
        if function:
            lines = self._broken(
                f"{' ' * indent}{name} = {function}", list(arguments), "", " " * indent
            )
        else:
            lines = [f"{' ' * indent}{name} = {text}"]
        self.lines += self._said(lines, node)

    def _said(self, lines: list[str], node: Node) -> list[str]:
        """The lines of a statement with the instruction's place in the source, where it fits."""
        place = node.place
        if place is None or place.line is None:
            return lines
        text = f"  # {place.line.file.rpartition('/')[2]}:{place.line.line}"
        return [*lines[:-1], lines[-1] + text] if len(lines[-1] + text) <= WIDTH else lines

    def _name(self, node: Node) -> str:
        """A variable's name: of its tensor, or of what becomes of it in its chain."""
        first = node.inputs[0] if node.inputs else None
        inherited = first is not None and self.names.get(first.number)
        if (
            inherited
            and first is not None
            and node.chain == first.chain
            and self.uses[first.number] == 1
            and first.operation not in _KEPT
            and self.scope.get(first.number) == self.scope.get(node.number)
            and node.name in ("", self.bases[inherited])
        ):
            return inherited
        if node.name:
            return self._unique(node.name)
        if node.operation in ("quantise", "quantise_matrix"):
            return self._unique(f"{self._stem(node)}_q")
        last = node
        moves = node.operation in SHARED and node.operation != "requantise"
        while (
            not moves
            and not last.name
            and self.uses[last.number] == 1
            and last.number in self.users
        ):
            user = self.users[last.number]
            if user.chain != node.chain or self.scope[user.number] != self.scope[node.number]:
                break
            last = user
        return self._unique(last.name or _PLAIN.get(node.operation, node.operation))

    def _stem(self, node: Node) -> str:
        """The name that what a node is made of has."""
        while node.inputs:
            node = node.inputs[0]
            if node.number in self.names:
                return self.names[node.number]
        return "x"

    def _unique(self, base: str) -> str:
        base = base if base.isidentifier() else "x"
        if base in self.reserved:
            base += "_"
        name = base
        while name in self.bases:
            self.taken[base] += 1
            name = f"{base}_{self.taken[base] + 1}"
        self.bases[name] = base
        return name

    # --- expressions ---

    def _text(self, node: Node) -> str:
        if node.number in self.names:
            return self.names[node.number]
        return self.expressions[node.number]

    def _call(self, node: Node) -> tuple[str, list[str]]:
        """A function and its arguments; without a function an expression."""
        texts = [self._text(item) for item in node.inputs]
        value, width = node.value, node.blocks * self.native
        operation = node.operation
        if operation == "rows":
            return "", [f"{texts[0]}[{value['start']}:{value['stop']}]"]
        if operation == "columns":
            return "", [
                f"{texts[0]}[:, {value['start'] * self.native}:{value['stop'] * self.native}]"
            ]
        if operation == "part":
            ends = {name: number * self.native for name, number in value.items()}
            return "", [
                f"{texts[0]}[{ends['top']}:{ends['bottom']}, {ends['left']}:{ends['right']}]"
            ]
        function, arguments = _FUNCTIONS.get(operation, operation), texts
        if operation == "take":
            arguments = [*texts, lines_text(value["lines"])]
        elif operation == "regroup":
            arguments = [*texts, str(node.rows), str(width)]
        elif operation == "collected":
            result = self.names[node.inputs[0].number].split()[value["result"]]
            arguments = [result, str(node.rows), str(width)]
        elif operation == "zeros":
            arguments = [str(node.rows), str(width)]
        elif operation == "zero_tiles":
            arguments = [str(node.rows * self.native), str(width)]
        elif operation == "windows":
            arguments = [*texts, *(f"{name}={number}" for name, number in value.items())]
        elif operation == "v_softmax":
            arguments = [*texts, str(value["valid"])]
        self.used.add(function)
        return function, list(arguments)

    def _assign(self, name: str, function: str, arguments: Sequence[str], indent: int) -> None:
        start = f"{' ' * indent}{name} = {function}"
        self.lines += self._broken(start, list(arguments), "", " " * indent)

    def _broken(self, start: str, arguments: list[str], end: str, indent: str) -> list[str]:
        """A call in a line, or in one an argument."""
        line = f"{start}({', '.join(arguments)}){end}"
        if len(line) + 1 <= WIDTH:
            return [line]
        inner = ", ".join(arguments)
        if len(inner) + len(indent) + 4 <= WIDTH:
            return [f"{start}(", f"{indent}    {inner}", f"{indent}){end}"]
        return [f"{start}(", *(f"{indent}    {each}," for each in arguments), f"{indent}){end}"]

    # --- loops ---

    def _loop(self, node: Node, loop: Loop, indent: int) -> None:
        """A function for a round, and its scan."""
        blank = " " * indent
        starts = [self._text(item) for item in loop.starts]
        sources = [self._sequence(loop, item) for item in loop.sources]
        for carried, update in zip(loop.carried, loop.updates, strict=True):
            self.names[carried.number] = self._unique(update.name or "previous")
        for item, source in zip(loop.items, loop.sources, strict=True):
            self.names[item.number] = self._unique(f"{source.name or 'x'}_t")
        states = [self.names[item.number] for item in loop.carried]
        items = [self.names[item.number] for item in loop.items] or ["_"]
        if not sources:
            sources = [f"zeros({loop.count}, 1)"]
            self.used.add("zeros")
        step = self._unique("step")
        parameters = ", ".join(["state", *items])
        self.lines += ["", f"{blank}def {step}({parameters}):"]
        if states:
            self.lines.append(f"{blank}    {_tuple(states, bare=True)} = state")
        self._nodes(loop.body, indent + 4)
        after = _tuple([self._text(item) for item in loop.updates])
        results = _tuple([self._text(item) for item in loop.results])
        self.lines += [f"{blank}    return {after}, {results}", ""]
        names = [self._unique(f"{item.name or 'result'}_all") for item in loop.results]
        self.names[node.number] = " ".join(names)
        last = "_"
        if loop.finals:
            wanted = [slot in loop.finals for slot in range(len(loop.carried))]
            bases = [item.name or "last" for item in loop.updates]
            every = [
                self._unique(base) if used else "_"
                for base, used in zip(bases, wanted, strict=True)
            ]
            self.finals[node.number] = every
            last = _tuple(every)
        left = f"{last}, {_tuple(names)}" if names else f"{last}, _"
        self.used.add("scan")
        self._assign(left, "scan", [step, _tuple(starts), *sources], indent)

    def _sequence(self, loop: Loop, source: Node) -> str:
        rows = source.rows // loop.count
        self.used.add("reshape")
        return f"reshape({self._text(source)}, {loop.count}, {rows}, {source.blocks * self.native})"


_FUNCTIONS = {
    "regroup": "reshape", "collected": "reshape", "join_tiles": "join", "stack_tiles": "stack",
    "zero_tiles": "zeros",
}  # fmt: skip
_PLAIN = {
    "mv_mul": "product", "vv_mul": "product", "windows": "window", "join": "joined",
    "stack": "stacked",
    "vv_add": "total", "vv_a_sub_b": "difference", "vv_b_sub_a": "difference", "vv_max": "greatest",
    "v_sigm": "sigmoid", "v_tanh": "tangent", "v_relu": "relu", "v_softmax": "softmax",
    "requantise": "x", "regroup": "x", "rows": "x", "take": "x", "columns": "x",
}  # fmt: skip


def _tuple(texts: Sequence[str], *, bare: bool = False) -> str:
    inner = ", ".join(texts) + ("," if len(texts) == 1 else "")
    return inner if bare else f"({inner})"


def lines_text(rows: Sequence[int]) -> str:
    """Numbers of rows as a short expression."""
    steps = {after - before for before, after in pairwise(rows)}
    first, count = rows[0], len(rows)
    if len(steps) == 1:
        step = steps.pop()
        if step == 0:
            return f"[{first}] * {count}"
        return f"range({first}, {first + step * count}, {step})"
    for across in range(2, count):  # lines of an image, some columns of each
        if count % across or rows[across] - rows[across - 1] == rows[1] - rows[0]:
            continue
        step, down = rows[1] - rows[0], rows[across] - rows[0]
        lines = [first + y * down + x * step for y in range(count // across) for x in range(across)]
        if list(rows) == lines and step > 0 and down > 0:
            ys = f"range({first}, {first + down * (count // across)}, {down})"
            return f"[y + x for y in {ys} for x in range(0, {step * across}, {step})]"
        break
    return str(list(rows))
