"""A layer: the graph of a program after its repetitions have become loops.

Operations that compute the same value are merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.concord.graph import SHARED, Node

# nodes that are not operations
LOOPING = ("loop", "carried", "item", "collected", "final", "input")


@dataclass
class Loop:
    """A loop of `count` rounds, each of which executes the operations `body`.

    The body uses `states` and `items`. A state is a value that the previous round computed:
    `starts` has the states of the first round, `updates` the nodes that compute the states of the
    next round. An item is a part of a value in `sources`: each round uses the next part. `results`
    are nodes of the body whose values in all rounds are needed, and `finals` the indices of states
    that are needed after the loop. `chains` has, for each node of the body, its chain in each
    round.
    """

    count: int
    body: list[Node] = field(default_factory=list)
    # nodes that stand for the values of the states in a round
    states: list[Node] = field(default_factory=list)
    starts: list[Node] = field(default_factory=list)  # the states in the first round
    updates: list[Node] = field(
        default_factory=list
    )  # nodes of the body whose values are the states of the next round
    items: list[Node] = field(default_factory=list)
    # sources of the items: the rows of all rounds
    sources: list[Node] = field(default_factory=list)
    results: list[Node] = field(
        default_factory=list
    )  # nodes of the body whose values in all rounds are needed
    finals: list[int] = field(
        default_factory=list
    )  # indices of the states that are needed after the loop
    chains: dict[int, list[int]] = field(
        default_factory=dict
    )  # by node of the body: the index of its chain in each round


@dataclass
class Layer:
    """The nodes of a program, with loops as single nodes, in order.

    A node with the operation "loop" represents the loop with its number in `loops`.
    """

    nodes: list[Node]
    loops: dict[int, Loop]  # by the number of the "loop" node
    outputs: list[Node]


def operations_of(layer: Layer) -> Iterator[tuple[Node, int]]:
    """Yield the operations of a layer as they are executed, each with the number of its chain."""
    for node in layer.nodes:
        loop = layer.loops.get(node.number)
        if loop is None:
            yield node, node.chain
            continue
        for turn in range(loop.count):
            for item in loop.body:
                yield item, loop.chains.get(item.number, [item.chain] * loop.count)[turn]


def _repeat_result(collected: Node, result: Node, count: int) -> None:
    """Change the node `collected` so that it repeats the value of `result` `count` times.

    `collected` stands for the results of all `count` rounds of a loop, which are all equal.
    """
    if result.is_matrix:
        collected.operation, collected.inputs = "stack_tiles", (result,) * count
        collected.values = ()
        return
    lines = tuple(range(result.rows)) * count
    collected.operation, collected.inputs = "take", (result,)
    collected.values = (("lines", lines),)


def deduplicate(layer: Layer) -> Layer:
    """Return the layer with equal operations merged.

    Operations of a loop that compute the same in each round are moved out of the loop.
    """
    same: dict[int, Node] = {}
    outside: dict[tuple[object, ...], Node] = {}
    nodes: list[Node] = []

    def current(node: Node) -> Node:
        return same.get(node.number, node)

    def take(node: Node, into: list[Node], scope: dict[tuple[object, ...], Node]) -> None:
        node.inputs = tuple(current(item) for item in node.inputs)
        numbers = tuple(item.number for item in node.inputs)
        key = (node.operation, numbers, node.rows, node.blocks, node.values)
        if node.operation in SHARED:
            original = outside.get(key) or scope.get(key)
            if original is not None:
                original.name = original.name or node.name
                same[node.number] = original
                return
            scope[key] = node
        into.append(node)

    for node in layer.nodes:
        loop = layer.loops.get(node.number)
        if loop is None:
            take(node, nodes, outside)
            continue
        varies = {item.number for item in (*loop.states, *loop.items)}
        body: list[Node] = []
        inside: dict[tuple[object, ...], Node] = {}
        for item in loop.body:
            if any(current(source).number in varies for source in item.inputs):
                varies.add(item.number)
                take(item, body, inside)
            else:
                take(item, nodes, outside)
        loop.body = body
        if not body:  # all rounds have the same results
            for item in layer.nodes:
                if item.inputs == (node,) and item.operation == "collected":
                    original = current(loop.results[item.value["result"]])
                    if original.number not in varies:
                        _repeat_result(item, original, loop.count)
            uses = any(node in item.inputs for item in layer.nodes)
            if not uses:
                continue
        for group in (loop.starts, loop.updates, loop.sources, loop.results):
            group[:] = [current(item) for item in group]
        nodes.append(node)
    return Layer(nodes, layer.loops, [current(item) for item in layer.outputs])
