"""Finds loops in the time steps that a program writes out one by one.

A repetition is a sequence of operations that occurs several times in a row with the same structure.
One occurrence is a round. An operand in a round must be one of these: an operation of the same
round; an operation of the previous round (a state of the loop); a value from before the loop, the
same in all rounds; or the next rows of such a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.concord.graph import SHARED, SOURCES, Graph, Node
from macaw.lowering.concord.layer import Layer, Loop, deduplicate

_MOST_TRIES = 64
_LONGEST = 4096  # the greatest number of operations in a round


@dataclass(frozen=True)
class _Round:
    """Rounds in the list of operations: `count` rounds of `size` operations, from index `start` on.

    Operations that are not repeated are one round.
    """

    start: int
    size: int
    count: int


def roll_loops(graph: Graph) -> Layer:
    """Return the layer of a graph: its repetitions become loops, and duplicates are merged.

    Nodes that no output needs are left out.
    """
    outputs = [output.node for output in graph.outputs]
    nodes = graph.live(outputs)
    maker = _LoopMaker(nodes, graph)
    work = [node for node in nodes if node.number not in graph.early]
    for kind, part in _parts(work):
        maker.loop(work, part) if kind else maker.plain(work[part.start : part.start + part.size])
    return deduplicate(Layer(maker.nodes, maker.loops, [maker.of(node) for node in outputs]))


def _parts(work: Sequence[Node]) -> Iterator[tuple[bool, _Round]]:
    """Yield the repetitions among the operations `work`, and the operations between them, in order.

    Each item is (whether it is a repetition, the operations that it covers).
    """
    repetition = _best(work)
    if repetition is None:
        if work:
            yield False, _Round(0, len(work), 1)
        return
    end = repetition.start + repetition.size * repetition.count
    yield from _parts_of(work, 0, repetition.start)
    yield True, repetition
    yield from _parts_of(work, end, len(work))


def _parts_of(work: Sequence[Node], start: int, end: int) -> Iterator[tuple[bool, _Round]]:
    for kind, part in _parts(work[start:end]):
        yield kind, _Round(part.start + start, part.size, part.count)


def _signature(node: Node) -> tuple[object, ...]:
    values = () if node.operation == "rows" else node.values
    return node.operation, node.rows, node.blocks, len(node.inputs), values, node.name


def _best(work: Sequence[Node]) -> _Round | None:
    """Return the repetition that covers the most operations; None if there is no usable one."""
    signatures: dict[tuple[object, ...], int] = {}
    ids = np.array(
        [signatures.setdefault(_signature(node), len(signatures)) for node in work], np.int64
    )
    candidates = []
    for size in range(2, min(len(ids) // 2, _LONGEST) + 1):
        start, length = _longest(ids[:-size] == ids[size:])
        if length >= size:
            candidates.append((-(length // size + 1) * size, size, start, length + size))
    places = {node.number: place for place, node in enumerate(work)}
    best: _Round | None = None
    for coverage, size, start, length in sorted(candidates)[:_MOST_TRIES]:
        if best is not None and -coverage <= best.size * best.count:
            break
        for offset in range(min(size, length - 2 * size + 1)):
            begin = start + offset
            if begin and work[begin].chain == work[begin - 1].chain:
                continue
            rounds = _Round(begin, size, (length - offset) // size)
            if best is not None and rounds.count * size <= best.size * best.count:
                break
            if all(node.operation in SHARED for node in work[begin : begin + size]):
                continue  # the rounds only move data
            count = _consistent(work, places, rounds)
            if count > 1 and (best is None or count * size > best.size * best.count):
                best = _Round(begin, size, count)
    return best


def _longest(same: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the index and the length of the longest run of consecutive True values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return 0, 0
    at = int(np.argmax(ends - starts))
    return int(starts[at]), int(ends[at] - starts[at])


def _key(node: Node) -> object:
    """Return a key for a value from before a loop; equal values have equal keys."""
    if node.operation in ("zeros", "zero_tiles"):
        return node.operation, node.rows, node.blocks
    return node.number


def _origin(places: Mapping[int, int], rounds: _Round, turn: int, node: Node) -> tuple[str, object]:
    """Return where an operand in round `turn` comes from, as a kind and a second value.

    The kinds are:

    - "before": a value from before the loop; the second value is its key (`_key`);
    - "same": a value of round `turn`;
    - "previous": a value of the round before;
    - "round n": a value of another round.

    For a value of a round, the second value is the index in that round of the operation that
    computes it.
    """
    place = places.get(node.number)
    if place is None or place < rounds.start:
        return "before", _key(node)
    back, at = divmod(place - rounds.start, rounds.size)
    return {turn: "same", turn - 1: "previous"}.get(back, f"round {back}"), at


def _consistent(work: Sequence[Node], places: Mapping[int, int], rounds: _Round) -> int:
    """Return how many rounds, from the first on, have the same structure; 0 if fewer than two.

    `rounds` is the repetition to check. `work` has all operations. `places` has, by number of a
    node, the index of the node in `work`.
    """
    first = [_origins(work, places, rounds, 0, at) for at in range(rounds.size)]
    second: list[list[tuple[str, object]]] = []
    steps: dict[int, int] = {}
    for turn in range(1, rounds.count):
        for at in range(rounds.size):
            node, start = work[rounds.start + turn * rounds.size + at], work[rounds.start + at]
            origins = _origins(work, places, rounds, turn, at)
            if turn == 1:
                second.append(origins)
                if not all(map(_fits, first[at], origins)):
                    return 0
            elif origins != second[at]:
                return turn if turn > 1 else 0
            if node.operation == "rows":
                far = node.value["start"] - start.value["start"]
                if turn == 1:
                    steps[at] = far
                if far != steps[at] * turn or (far and origins[0][0] != "before"):
                    return turn if turn > 1 else 0
    return rounds.count


def _origins(
    work: Sequence[Node], places: Mapping[int, int], rounds: _Round, turn: int, at: int
) -> list[tuple[str, object]]:
    node = work[rounds.start + turn * rounds.size + at]
    return [_origin(places, rounds, turn, item) for item in node.inputs]


def _fits(first: tuple[str, object], later: tuple[str, object]) -> bool:
    """Return whether an operand's origin in a later round agrees with that in the first round.

    Both are results of `_origin`. They agree if they are equal, or if the later round uses a value
    of the previous round where the first round uses a value from before the loop.
    """
    if later[0] == "previous":
        return first[0] == "before"
    return first == later and later[0] in ("same", "before")


class _LoopMaker:
    """Builds a layer's nodes from the nodes of the graph, with loops in place of repetitions.

    The new nodes are numbered after all nodes of the graph.
    """

    def __init__(self, nodes: Sequence[Node], graph: Graph) -> None:
        self.nodes: list[Node] = []
        self.loops: dict[int, Loop] = {}
        self.new: dict[int, Node] = {}  # by the number of the old node: the new node
        # by the number of the old node: loop, its node, number of the round, index in the round
        self.inside: dict[int, tuple[Loop, Node, int, int]] = {}
        self.collect_nodes: dict[tuple[int, int], Node] = {}
        self.bodies: dict[int, list[Node]] = {}
        self.count = len(graph.nodes)
        for node in nodes:
            if node.number in graph.early:
                new = node
                if node.operation not in SOURCES:
                    inputs = [self.new[item.number] for item in node.inputs]
                    new = self.make(node, node.operation, inputs)
                self.new[node.number] = new
                self.nodes.append(new)

    def make(self, like: Node, operation: str, inputs: Sequence[Node], **changes: object) -> Node:
        """Return a new node like `like`, but with another number, operation and inputs.

        `changes` has the new node's parameters, and may have its number of `rows` or `blocks`. If
        `changes` has no parameters, and `like` has the same operation, the new node gets the
        parameters of `like`.
        """
        number, self.count = self.count, self.count + 1
        rows, blocks = changes.pop("rows", like.rows), changes.pop("blocks", like.blocks)
        assert isinstance(rows, int)
        assert isinstance(blocks, int)
        values = tuple(changes.items())
        if operation == like.operation and not changes:
            values = like.values
        return Node(
            number,
            operation,
            tuple(inputs),
            rows,
            blocks,
            values,
            like.place,
            like.chain,
            like.name,
        )

    def of(self, node: Node) -> Node:
        """Return the new node that replaces `node` as an operand outside of loops.

        If a loop computes `node`, this is a node that takes the value of its round from the loop's
        results.
        """
        if node.number in self.new:
            return self.new[node.number]
        loop, head, turn, at = self.inside[node.number]
        body = self.bodies[head.number]
        for slot, update in enumerate(loop.updates):
            if turn == loop.count - 1 and update is body[at]:
                part = self.make(node, "final", [head], slot=slot)
                loop.finals.append(slot)
                self.nodes.append(part)
                self.new[node.number] = part
                return part
        all_rounds = self.every(node)
        start = turn * node.rows
        stop = start + node.rows
        if node.is_matrix:
            ends = {"top": start, "bottom": stop, "left": 0, "right": node.blocks}
            part = self.make(node, "part", [all_rounds], **ends)
        else:
            part = self.make(node, "rows", [all_rounds], start=start, stop=stop)
        self.nodes.append(part)
        self.new[node.number] = part
        return part

    def every(self, node: Node) -> Node:
        """Return a node with the values that all rounds of a loop compute for an operation.

        `node` is this operation in any round. The values are stacked in the order of the rounds.
        """
        loop, head, _, at = self.inside[node.number]
        key = (head.number, at)
        if key not in self.collect_nodes:
            loop.results.append(self.bodies[head.number][at])
            place = len(loop.results) - 1
            matrix = node.is_matrix
            node_of_rounds = self.make(
                node, "collected", [head], rows=node.rows * loop.count, result=place, matrix=matrix
            )
            self.collect_nodes[key] = node_of_rounds
            self.nodes.append(node_of_rounds)
        return self.collect_nodes[key]

    def plain(self, nodes: Sequence[Node]) -> None:
        """Add copies of nodes that belong to no loop, and simplify stacks of a loop's results."""
        for node in nodes:
            whole = self._whole(node) if node.operation == "stack" else None
            if whole is None:
                inputs = self._runs(node) if node.operation == "stack" else node.inputs
                whole = self.make(node, node.operation, [self.of(item) for item in inputs])
                self.nodes.append(whole)
            whole.name = whole.name or node.name
            self.new[node.number] = whole

    def _runs(self, node: Node) -> list[Node]:
        """Return the operands of a "stack" node, with one node in place of each run of operands.

        A run is consecutive operands that are the values of one operation in all rounds of a loop.
        `every` makes the node that replaces them.
        """
        runs: list[Node] = []
        at = 0
        while at < len(node.inputs):
            item = node.inputs[at]
            place = self.inside.get(item.number)
            count = place[0].count if place and place[2] == 0 else 1
            run = [self.inside.get(each.number) for each in node.inputs[at : at + count]]
            expected = [(place[1], turn, place[3]) for turn in range(count)] if place else []
            if count > 1 and [each and each[1:] for each in run] == expected:
                item = self.every(item)
                self.new[item.number] = item
                at += count
            else:
                at += 1
            runs.append(item)
        return runs

    def _whole(self, node: Node) -> Node | None:
        """Return a node to replace `node`, a stack of a loop's results, or None.

        The result is None unless the stack has the results of all rounds of one loop, and from each
        round the results of the same operations. Results of several operations must have a single
        row.
        """
        inside = [self.inside.get(item.number) for item in node.inputs]
        if inside[0] is None or any(item is None or item[1] is not inside[0][1] for item in inside):
            return None
        pairs = [(item[2], item[3]) for item in inside if item is not None]
        loop = inside[0][0]
        width, rest = divmod(len(pairs), loop.count)
        kinds = [at for _, at in pairs[:width]]
        if rest or pairs != [(turn, at) for turn in range(loop.count) for at in kinds]:
            return None
        columns = [self.every(item) for item in node.inputs[:width]]
        if width == 1:
            return columns[0]
        if any(item.rows != 1 for item in node.inputs):
            return None
        blocks = sum(item.blocks for item in columns)
        join = self.make(node, "join", columns, rows=loop.count, blocks=blocks)
        regroup = self.make(node, "regroup", [join])
        self.nodes += [join, regroup]
        return regroup

    def loop(self, work: Sequence[Node], rounds: _Round) -> None:
        """Add the loop for `rounds`, a repetition in the nodes `work`."""
        places = {node.number: place for place, node in enumerate(work)}
        loop = Loop(rounds.count)
        head = self.make(work[rounds.start], "loop", [])
        body: list[Node] = []
        items: dict[tuple[int, int, int, int], Node] = {}
        slots: dict[tuple[object, object], Node] = {}
        first = work[rounds.start : rounds.start + rounds.size]
        second = work[rounds.start + rounds.size : rounds.start + 2 * rounds.size]
        waiting: list[tuple[int, Node]] = []  # indices of updates and of states
        for start, node in zip(first, second, strict=True):
            operands = []
            for begin, item in zip(start.inputs, node.inputs, strict=True):
                kind, where = _origin(places, rounds, 1, item)
                if kind == "same":
                    assert isinstance(where, int)
                    operands.append(body[where])
                elif kind == "before":
                    operands.append(self.of(item))
                else:
                    assert isinstance(where, int)
                    slot = slots.get((where, _key(begin)))
                    if slot is None:
                        slot = self.make(item, "carried", [])
                        slots[where, _key(begin)] = slot
                        loop.states.append(slot)
                        loop.starts.append(self.of(begin))
                        waiting.append((where, slot))
                    operands.append(slot)
            far = 0
            if node.operation == "rows":
                far = node.value["start"] - start.value["start"]
            if far:
                key = operands[0].number, start.value["start"], start.rows, far
                if key not in items:
                    items[key] = self._item(loop, start, far, operands[0])
                copy = items[key]
            else:
                copy = self.make(start, start.operation, operands)
                loop.body.append(copy)
                place = rounds.start + len(body)
                loop.chains[copy.number] = [
                    work[place + turn * rounds.size].chain for turn in range(rounds.count)
                ]
            body.append(copy)
        loop.updates = [body[where] for where, _ in waiting]
        self.bodies[head.number] = body
        for place in range(rounds.start, rounds.start + rounds.size * rounds.count):
            turn, at = divmod(place - rounds.start, rounds.size)
            self.inside[work[place].number] = (loop, head, turn, at)
        self.loops[head.number] = loop
        self.nodes.append(head)

    def _item(self, loop: Loop, start: Node, far: int, source: Node) -> Node:
        """Return the node of a loop's body that gives the rows of `source` in a round.

        `start` is the node for the rows of the first round. Each further round of the loop uses
        rows that are `far` rows after the rows of the previous round.
        """
        begin, count = start.value["start"], start.rows
        every = count * loop.count
        lines = [begin + far * turn + row for turn in range(loop.count) for row in range(count)]
        if lines == list(range(source.rows)):
            whole = source
        elif lines == list(range(begin, begin + every)):
            whole = self.make(start, "rows", [source], rows=every, start=begin, stop=begin + every)
            whole.values = (("start", begin), ("stop", begin + every))
            self.nodes.append(whole)
        else:
            whole = self.make(start, "take", [source], rows=every)
            whole.values = (("lines", tuple(lines)),)
            self.nodes.append(whole)
        item = self.make(start, "item", [])
        loop.items.append(item)
        loop.sources.append(whole)
        return item
