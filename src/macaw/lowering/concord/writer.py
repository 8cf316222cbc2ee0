"""Writes the function `layer` of a generated file.

Each operation becomes a statement, and each loop becomes a function.
"""

from __future__ import annotations

import builtins
import json
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.concord import arithmetic
from macaw.lowering.concord.graph import SHARED, Graph, Node, Output, Tensor
from macaw.lowering.concord.layer import Layer, Loop
from macaw.lowering.concord.line_layout import WIDTH, Group, arguments, bare, lay_out, numbers

_INLINE = (
    "quantise", "quantise_matrix", "rows", "columns", "regroup", "collected", "zeros", "zero_tiles",
    "take", "part",
)  # fmt: skip
_LONGEST_INLINE = 48
_KEPT = (
    "input",
    "carried",
    "item",
    "quantise",
    "quantise_matrix",
)  # results do not take over the names of these nodes


@dataclass
class LayerWriter:
    """Writes the function `layer` of a generated file, and finds its inputs and outputs.

    `names` has the variable of each node's value, `expressions` the expression of a node without a
    variable. `names_used` has the functions of the templates that the file calls. `bases` has each
    variable name without its number. `finals` has, by loop, the names of the last states.
    """

    graph: Graph
    layer_nodes: Layer
    config: Configuration
    target: str
    # functions of the templates that the file calls
    names_used: set[str] = field(default_factory=set)
    names: dict[int, str] = field(default_factory=dict)
    # expressions of nodes without a variable
    expressions: dict[int, str] = field(default_factory=dict)
    name_counts: Counter[str] = field(default_factory=Counter)
    bases: dict[str, str] = field(default_factory=dict)  # variable names without their number
    inputs: dict[str, Tensor] = field(default_factory=dict)
    outputs: dict[str, Output] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    finals: dict[int, list[str]] = field(default_factory=dict)  # by loop: names of the last states

    def __post_init__(self) -> None:
        self.native = int(self.config["nnp.native"])
        self.uses: Counter[int] = Counter()
        self.users: dict[int, Node] = {}
        self.live: set[int] = set()
        layer = self.layer_nodes
        self.scope: dict[int, int] = {}  # by node: 0, or place of its loop + 1
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
            for target in arithmetic.TARGETS  # one name for all of them
            for template in arithmetic.all_templates(target)
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
        """Return the source lines of the function; fill `inputs` and `outputs`."""
        layer = self.layer_nodes
        for tensor, node in self.graph.inputs:
            if node.number not in self.live:
                continue
            name = self._unique(tensor.name)
            self.inputs[name] = tensor
            self.names[node.number] = name
        head = lay_out("def layer", arguments(*self.inputs), ":")
        self.lines = [f'    """{self._sentence()}"""']
        self._nodes(layer.nodes, 4)
        results = []
        for output, node in zip(self.graph.outputs, layer.outputs, strict=True):
            name = self._output_name(output)
            self.outputs[name] = output
            results.append(f'        "{name}": {self._result_text(output.tensor, node)},')
        return [*head, *self.lines, "    return {", *results, "    }"]

    def _sentence(self) -> str:
        return "The layer; tensors are in the host format, in their shapes of INPUTS."

    def _output_name(self, output: Output) -> str:
        name = output.tensor.name
        while name in self.outputs or name in self.inputs:
            name += "_out"
        return name

    def _result_text(self, tensor: Tensor, node: Node) -> str:
        text = self._text(node)
        self.names_used.add("narrow")
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
        """Write the statement that pads an input to whole native vectors or tiles."""
        if node.number not in self.live:
            return
        name = self.names[node.number]
        kind = "matrix_of" if node.value["kind"] == "matrix" else "rows_of"
        rows = node.rows * (self.native if kind == "matrix_of" else 1)
        self.names_used.add(kind)
        arguments = [name, str(rows), str(node.blocks * self.native)]
        user = self.users.get(node.number)
        if self.uses[node.number] == 1 and user and user.operation == "quantise_matrix":
            arguments = [f"{kind}({', '.join(arguments)})"]
            kind = user.operation
            self.names_used.add(kind)
            self.names[user.number] = name
        self._assign(name, kind, arguments, indent)

    def _statement(self, node: Node, indent: int) -> None:
        if node.number in self.names:
            return  # the statement of its input defines the variable
        if node.operation == "final":
            self.names[node.number] = self.finals[node.inputs[0].number][node.value["slot"]]
            return
        function, operands = self._call(node)
        text = f"{function}{arguments(*operands)}" if function else str(operands[0])
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
            start = f"{' ' * indent}{name} = {function}"
            lines = lay_out(start, arguments(*operands), "", indent)
        else:
            lines = [f"{' ' * indent}{name} = {text}"]
        self.lines += self._with_comment(lines, node)

    def _with_comment(self, lines: list[str], node: Node) -> list[str]:
        """Return the lines of a statement, with the file and line of its assembly instruction.

        For ONNX, file and line are in a call of `place` before the statement. For other targets
        they are in a comment, if this fits on the statement's last line.
        """
        place = node.place
        if place is None or place.line is None:
            return lines
        if self.target == "onnx":
            self.names_used.add("place")
            indent = len(lines[0]) - len(lines[0].lstrip())
            file, line = place.line.file.rpartition("/")[2], place.line.line
            what = json.dumps(f"{file}:{line}: {place.text}")
            return [*lay_out(f"{' ' * indent}place", arguments(what), "", indent), *lines]
        text = f"  # {place.line.file.rpartition('/')[2]}:{place.line.line}"
        return [*lines[:-1], lines[-1] + text] if len(lines[-1] + text) <= WIDTH else lines

    def _name(self, node: Node) -> str:
        """Return a variable name for a node.

        If the node's first operand is used nowhere else, the node can take over the operand's
        variable. Otherwise the name is that of the node's tensor, or of the value that its chain
        makes in the end, or of its operation.
        """
        first = node.inputs[0] if node.inputs else None
        base_name = self.names.get(first.number, "") if first is not None else ""
        if (
            base_name in self.bases
            and first is not None
            and node.chain == first.chain
            and self.uses[first.number] == 1
            and first.operation not in _KEPT
            and self.scope.get(first.number) == self.scope.get(node.number)
            and node.name in ("", self.bases[base_name])
        ):
            return base_name
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
        """Return the variable of the nearest operand that has one, or "x" if none has one.

        The search goes from the node to its first operand, then to that operand's first operand,
        and so on.
        """
        while node.inputs:
            node = node.inputs[0]
            if node.number in self.names:
                return self.names[node.number]
        return "x"

    def _unique(self, base: str) -> str:
        base = re.sub(r"\W", "_", base)
        base = base if base.isidentifier() else f"_{base}"
        if base in self.reserved:
            base += "_"
        name = base
        while name in self.bases:
            self.name_counts[base] += 1
            name = f"{base}_{self.name_counts[base] + 1}"
        self.bases[name] = base
        return name

    # --- expressions ---

    def _text(self, node: Node) -> str:
        if node.number in self.names:
            return self.names[node.number]
        return self.expressions[node.number]

    def _call(self, node: Node) -> tuple[str, list[str | Group]]:
        """Return (function, arguments): the call that computes a node in the generated file.

        If the name of the function is empty, the first argument is the whole expression.
        """
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
        function = _FUNCTIONS.get(operation, operation)
        arguments: list[str | Group] = [*texts]
        if operation == "take":
            arguments = [*texts, numbers(value["lines"])]
        elif operation == "regroup":
            arguments = [*texts, self._row_count(node.rows), str(width)]
        elif operation == "collected":
            result = self.names[node.inputs[0].number].split()[value["result"]]
            rows = node.rows * (self.native if value["matrix"] else 1)
            arguments = [result, self._row_count(rows), str(width)]
        elif operation == "rows_of_tiles":
            arguments = [*texts, str(node.rows)]
        elif operation == "matrix_of_rows":
            arguments = [*texts, str(node.rows), str(node.blocks)]
        elif operation == "zeros":
            arguments = [str(node.rows), str(width)]
        elif operation == "zero_tiles":
            arguments = [str(node.rows * self.native), str(width)]
        elif operation == "windows":
            arguments = [*texts, *(f"{name}={number}" for name, number in value.items())]
        elif operation == "v_softmax":
            arguments = [*texts, str(value["valid"])]
        self.names_used.add(function)
        return function, arguments

    def _row_count(self, rows: int) -> str:
        """Return the number of rows for a new shape, as text.

        For ONNX it is -1, because ONNX models may leave this number open.
        """
        return "-1" if self.target == "onnx" else str(rows)

    def _assign(
        self, name: str, function: str, operands: Sequence[str | Group], indent: int
    ) -> None:
        start = f"{' ' * indent}{name} = {function}"
        self.lines += lay_out(start, arguments(*operands), "", indent)

    # --- loops ---

    def _loop(self, node: Node, loop: Loop, indent: int) -> None:
        """Write a function for one round of a loop, and the call of `scan` that does all rounds."""
        blank = " " * indent
        starts = [self._text(item) for item in loop.starts]
        sources = [self._sequence(loop, item) for item in loop.sources]
        for carried, update in zip(loop.states, loop.updates, strict=True):
            self.names[carried.number] = self._unique(update.name or "previous")
        for item, source in zip(loop.items, loop.sources, strict=True):
            self.names[item.number] = self._unique(f"{source.name or 'x'}_t")
        states = [self.names[item.number] for item in loop.states]
        items = [self.names[item.number] for item in loop.items] or ["_"]
        if not sources:
            sources = [f"zeros({loop.count}, 1)"]
            self.names_used.add("zeros")
        step = self._unique("step")
        parameters = arguments("state", *items)
        self.lines += ["", *lay_out(f"{blank}def {step}", parameters, ":", indent)]
        if states:
            self.lines += bare(f"{blank}    ", Group(tuple(states)), " = state", indent + 4)
        self._nodes(loop.body, indent + 4)
        after = Group(tuple(self._text(item) for item in loop.updates))
        results = Group(tuple(self._text(item) for item in loop.results))
        self.lines += bare(f"{blank}    return ", Group((after, results)), "", indent + 4)
        self.lines.append("")
        self.names_used.add("scan")
        left = self._scan_targets(node, loop, indent)
        self._assign(left, "scan", [step, Group(tuple(starts)), *sources], indent)

    def _scan_targets(self, node: Node, loop: Loop, indent: int) -> str:
        """Return, as text, the names to which the generated code assigns the results of `scan`.

        `scan` executes a loop. Its results are the states after the last round, and the results of
        all rounds.
        """
        bases = [f"{item.name or 'result'}_all" for item in loop.results]
        lasts = [item.name or "last" for item in loop.updates]
        needed_finals = [slot in loop.finals for slot in range(len(lasts))]
        if sum(map(len, bases)) + sum(map(len, lasts)) + indent > WIDTH // 2:
            last = self._unique("last") if loop.finals else "_"
            result = self._unique("results") if bases else "_"
            self.finals[node.number] = [f"{last}[{slot}]" for slot in range(len(lasts))]
            self.names[node.number] = " ".join(f"{result}[{at}]" for at in range(len(bases)))
            return f"{last}, {result}"
        names = [self._unique(base) for base in bases]
        self.names[node.number] = " ".join(names)
        every = [
            self._unique(base) if is_final else "_"
            for base, is_final in zip(lasts, needed_finals, strict=True)
        ]
        self.finals[node.number] = every
        last = str(Group(tuple(every))) if loop.finals else "_"
        return f"{last}, {Group(tuple(names)) if names else '_'}"

    def _sequence(self, loop: Loop, source: Node) -> str:
        rows = source.rows // loop.count
        self.names_used.add("reshape")
        count, width = self._row_count(loop.count), source.blocks * self.native
        return f"reshape({self._text(source)}, {count}, {rows}, {width})"


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
    "rows_of_tiles": "x", "matrix_of_rows": "matrix", "requantise_matrix": "matrix",
}  # fmt: skip
