"""The data-flow graph of an nnp program: one node for each operation, in the order of its chains.

The value of a node is a group of vectors, or a matrix. Vectors have `rows` rows of `blocks` native
vectors, one row for each iteration of a chain. If `rows` is 1, all iterations use the same row. A
matrix has `rows` rows and `blocks` columns of native tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.concord.chains import SourceInstruction

# Nodes that stand for data, not for an operation.
SOURCES = ("input", "zeros", "zero_tiles")
# Operations on matrices that are inputs. They come before all others.
EARLY = (
    *SOURCES, "part", "join_tiles", "stack_tiles", "matrix_of_rows", "rows_of_tiles",
    "requantise_matrix", "quantise_matrix",
)  # fmt: skip
# Nodes whose value is a matrix in the host format: rows and columns of native tiles.
MATRICES = (
    "zero_tiles", "part", "join_tiles", "stack_tiles", "matrix_of_rows", "requantise_matrix",
)  # fmt: skip
# Nodes that only select, move or quantise. Equal ones are made once.
SHARED = (
    "zeros", "zero_tiles", "rows", "take", "columns", "regroup", "join", "stack", "windows",
    "part", "join_tiles", "stack_tiles", "matrix_of_rows", "rows_of_tiles", "requantise_matrix",
    "quantise", "quantise_matrix", "requantise",
)  # fmt: skip


@dataclass(eq=False)
class Node:
    """An operation on the values of the nodes `inputs`; `values` are its parameters by name.

    The node's value has `rows` rows of `blocks` native vectors or tiles. The node computes the
    instruction `place` of the chain with index `chain`. `name` is the name that a hint gives to the
    node's tensor; it is empty without a hint.
    """

    number: int
    operation: str
    inputs: tuple[Node, ...]
    rows: int  # rows of the value, in vectors or native tiles
    blocks: int  # native vectors of a row, or native tiles
    values: tuple[tuple[str, Any], ...] = ()
    place: SourceInstruction | None = None  # the instruction that the node computes
    chain: int = -1  # index of the chain that made the node
    name: str = ""  # the name of the node's tensor, from a hint

    @property
    def is_matrix(self) -> bool:
        """Whether the node's value is a matrix in the host format."""
        kind = self.value["kind"] if self.operation == "input" else ""
        return self.operation in MATRICES or kind == "matrix"

    @property
    def value(self) -> dict[str, Any]:
        return dict(self.values)

    def __repr__(self) -> str:
        inputs = ", ".join(str(item.number) for item in self.inputs)
        return f"<{self.number} = {self.operation}({inputs}) {self.rows}x{self.blocks} {self.name}>"


@dataclass
class Tensor:
    """An input or output of the generated function, with `rows` × `columns` elements.

    `kind` is "vectors" or "matrix". `memory` is the name of the memory or queue that has the
    tensor; `address` counts native vectors there, or native tiles for a matrix in Dram.
    """

    name: str
    rows: int
    columns: int
    kind: str  # "vectors" or "matrix"
    memory: str  # the name of the memory or queue that has the tensor
    address: int  # address in native vectors, or in tiles of Dram

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape for the caller: (columns,) for one vector, else (rows, columns)."""
        one = self.kind == "vectors" and self.rows == 1
        return (self.columns,) if one else (self.rows, self.columns)

    def bytes(self, native: int, item: int) -> tuple[int, int]:
        """Return at which byte offsets the tensor begins and ends in the memory that stores it.

        `native` is the number of elements of a native vector, `item` the size of an element in
        bytes.
        """
        across = -(-self.columns // native)
        down = -(-self.rows // native) if self.kind == "matrix" else self.rows
        unit = native * item * (native if self.kind == "matrix" else 1)
        return self.address * unit, (self.address + down * across) * unit


@dataclass
class Output:
    """An output tensor, the node with its value, and the instructions that wrote it.

    `places` has the instruction for each native vector.
    """

    tensor: Tensor
    node: Node
    places: Sequence[SourceInstruction]  # the instruction for each native vector


@dataclass
class Graph:
    """The nodes of a program, with its inputs and outputs.

    `native` is the number of elements of a native vector. `early` has the numbers of the nodes that
    depend on inputs through moves and quantisation alone. `regroups` and `as_vectors` store nodes
    that the module `cells` has made, so that it makes each only once. `chain` is the index of the
    chain whose nodes are added now.
    """

    native: int  # elements of a native vector
    nodes: list[Node] = field(default_factory=list)
    inputs: list[tuple[Tensor, Node]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    chain: int = -1  # index of the chain whose nodes are added now
    # by input, rows and blocks: the node that regroups the input
    regroups: dict[tuple[int, int, int], Node] = field(default_factory=dict)
    # numbers of nodes whose operations are in EARLY, as are those of all nodes they depend on
    early: set[int] = field(default_factory=set)
    # by number of a matrix: the node with the rows of its tiles
    as_vectors: dict[int, Node] = field(default_factory=dict)

    def add(
        self,
        operation: str,
        inputs: Iterable[Node],
        rows: int,
        blocks: int,
        place: SourceInstruction | None = None,
        **values: Any,
    ) -> Node:
        """Append a node with a value of `rows` × `blocks` for an operation, and return the node."""
        number, numbers = len(self.nodes), tuple(values.items())
        node = Node(number, operation, tuple(inputs), rows, blocks, numbers, place, self.chain)
        self.nodes.append(node)
        if operation in EARLY and all(item.number in self.early for item in node.inputs):
            self.early.add(number)
        return node

    def live(self, roots: Iterable[Node]) -> list[Node]:
        """Return `roots` and all nodes on which they depend, in the order of the graph."""
        numbers: set[int] = set()
        todo = list(roots)
        while todo:
            node = todo.pop()
            if node.number not in numbers:
                numbers.add(node.number)
                todo += node.inputs
        return [node for node in self.nodes if node.number in numbers]
