"""What depends on what: a node for each operation of a program, in the order of its chains.

A value of vectors has `rows` rows of `blocks` native vectors, a row for each iteration of a chain
(one row stands for all of them); of a matrix, rows and columns of native tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lower.concord.chains import Place

# Nodes that stand for data, not for an operation.
SOURCES = ("input", "zeros", "zero_tiles")
# Matrices come from sources alone: what is made of them stands before everything else.
EARLY = (*SOURCES, "part", "join_tiles", "stack_tiles", "quantise_matrix")
# Nodes that only choose and move, and quantisers: the same one is made once.
SHARED = (
    "zeros", "zero_tiles", "rows", "take", "columns", "regroup", "join", "stack", "windows",
    "part", "join_tiles", "stack_tiles", "quantise", "quantise_matrix", "requantise",
)  # fmt: skip


@dataclass(eq=False)
class Node:
    """An operation on earlier nodes; `values` are its numbers, by name."""

    number: int
    operation: str
    inputs: tuple[Node, ...]
    rows: int
    blocks: int
    values: tuple[tuple[str, Any], ...] = ()
    place: Place | None = None
    chain: int = -1  # which chain of the run made it
    name: str = ""  # of a tensor that a hint names

    @property
    def value(self) -> dict[str, Any]:
        return dict(self.values)

    def __repr__(self) -> str:
        inputs = ", ".join(str(item.number) for item in self.inputs)
        return f"<{self.number} = {self.operation}({inputs}) {self.rows}x{self.blocks} {self.name}>"


@dataclass
class Tensor:
    """An input or output of the layer, as its caller has it: rows x columns elements."""

    name: str
    rows: int
    columns: int
    kind: str  # "vectors" or "matrix"
    memory: str
    address: int  # in native vectors, or tiles of Dram

    @property
    def shape(self) -> tuple[int, ...]:
        """One row alone is a plain vector."""
        one = self.kind == "vectors" and self.rows == 1
        return (self.columns,) if one else (self.rows, self.columns)


@dataclass
class Output:
    """A tensor that the program gives, the node that holds it, and which instruction wrote it."""

    tensor: Tensor
    node: Node
    places: Sequence[Place] = ()  # of each native vector


@dataclass
class Graph:
    """The nodes of a program."""

    nodes: list[Node] = field(default_factory=list)
    inputs: list[tuple[Tensor, Node]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    chain: int = -1
    regrouped: dict[tuple[int, int, int], Node] = field(default_factory=dict)

    def add(
        self,
        operation: str,
        inputs: Iterable[Node],
        rows: int,
        blocks: int,
        place: Place | None = None,
        **values: Any,
    ) -> Node:
        """A new node."""
        number, numbers = len(self.nodes), tuple(values.items())
        node = Node(number, operation, tuple(inputs), rows, blocks, numbers, place, self.chain)
        self.nodes.append(node)
        return node

    def live(self, roots: Iterable[Node]) -> list[Node]:
        """The nodes that `roots` need, in order."""
        found: set[int] = set()
        todo = list(roots)
        while todo:
            node = todo.pop()
            if node.number not in found:
                found.add(node.number)
                todo += node.inputs
        return [node for node in self.nodes if node.number in found]
