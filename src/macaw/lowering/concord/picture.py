"""Draws the data flow of an nnp program, as Graphviz text or as SVG.

The SVG is drawn without any other tool. Operations are boxes in lines: each operation is below its
operands, and the operations of a line are ordered by the positions of their operands. This suits
the graph of one network layer; for larger graphs, Graphviz draws a better picture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape

from macaw.lowering.concord.graph import SOURCES, Graph, Node
from macaw.lowering.concord.layer import Layer, Loop
from macaw.lowering.concord.loops import roll_loops

_WIDTH, _HEIGHT, _GAP, _LAYER = 132, 34, 18, 64
_FILL = {
    "source": "#eef3f7", "moved": "#ffffff", "product": "#d8e8ff", "function": "#e6f4e1",
    "output": "#fff1d6",
}  # fmt: skip


class Drawing:
    """The boxes and arrows of a layer, with a frame around the boxes of each loop."""

    def __init__(self, graph: Graph) -> None:
        self.layer: Layer = roll_loops(graph)
        self.boxes: dict[str, tuple[str, str]] = {}  # by key: text and kind of the box
        # key of the first box, key of the second box, whether it goes to the next round
        self.arrows: list[tuple[str, str, bool]] = []
        self.frames: dict[str, list[str]] = {}
        self.alias: dict[int, str] = {}
        for node in self.layer.nodes:
            loop = self.layer.loops.get(node.number)
            if loop is not None:
                self._loop(node, loop)
            elif node.operation == "final":
                head = self.layer.loops[node.inputs[0].number]
                self.alias[node.number] = self._key(head.updates[node.value["slot"]])
            elif node.operation == "collected":
                head = self.layer.loops[node.inputs[0].number]
                self.alias[node.number] = self._key(head.results[node.value["result"]])
            else:
                self._box(node)
        for output, node in zip(graph.outputs, self.layer.outputs, strict=True):
            key = f"out_{output.tensor.name}"
            self.boxes[key] = f"{output.tensor.name}\n{_shape(output.tensor.shape)}", "output"
            self.arrows.append((self._key(node), key, False))

    def _key(self, node: Node) -> str:
        return self.alias.get(node.number, f"n{node.number}")

    def _box(self, node: Node) -> str:
        key = f"n{node.number}"
        self.boxes[key] = _text(node), _kind(node)
        self.arrows += [(self._key(item), key, False) for item in node.inputs]
        return key

    def _loop(self, head: Node, loop: Loop) -> None:
        inside = []
        for item, source in zip(loop.items, loop.sources, strict=True):
            key = f"n{item.number}"
            self.boxes[key] = f"{source.name or 'rows'}[t]", "moved"
            self.arrows.append((self._key(source), key, False))
            inside.append(key)
        for carried, start, update in zip(loop.states, loop.starts, loop.updates, strict=True):
            key = f"n{carried.number}"
            self.boxes[key] = f"{update.name or 'state'}[t-1]", "moved"
            self.arrows.append((self._key(start), key, False))
            inside.append(key)
        inside += [self._box(node) for node in loop.body]
        for carried, update in zip(loop.states, loop.updates, strict=True):
            self.arrows.append((self._key(update), f"n{carried.number}", True))
        self.frames[f"{loop.count} times"] = inside


def _shape(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))


def _text(node: Node) -> str:
    title = node.operation.replace("_tiles", "")
    if node.operation == "input":
        return f"{node.name}\n{node.value['kind']}"
    if node.name and node.name != title:
        title = f"{node.name} = {title}"
    where = ""
    if node.place is not None and node.place.line is not None:
        where = f"\n{node.place.line.file.rpartition('/')[2]}:{node.place.line.line}"
    return title + where


def _kind(node: Node) -> str:
    if node.operation in SOURCES:
        return "source"
    if node.operation == "mv_mul":
        return "product"
    return "function" if node.operation.startswith("v") else "moved"


def dot(graph: Graph) -> str:
    """Return the drawing of a graph as Graphviz text."""
    drawing = Drawing(graph)
    lines = ["digraph layer {", '    node [shape=box, style="filled", fontname="sans-serif"];']
    inside = {key for keys in drawing.frames.values() for key in keys}

    def box(key: str, indent: str) -> str:
        text, kind = drawing.boxes[key]
        label = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{indent}{key} [label="{label}", fillcolor="{_FILL[kind]}"];'

    lines += [box(key, "    ") for key in drawing.boxes if key not in inside]
    for number, (title, keys) in enumerate(drawing.frames.items()):
        lines += [f"    subgraph cluster_{number} {{", f'        label="{title}";']
        lines += [box(key, "        ") for key in keys] + ["    }"]
    for start, end, again in drawing.arrows:
        style = ' [style="dashed", constraint=false]' if again else ""
        lines.append(f"    {start} -> {end}{style};")
    return "\n".join([*lines, "}"]) + "\n"


def _layers(drawing: Drawing) -> list[list[str]]:
    """Return the keys of all boxes in lines of the picture, from top to bottom.

    A box is one line below the lowest of its operands. A box without operands is one line above the
    first box that uses it. The boxes of a line are ordered by the positions of their operands.
    Arrows from one round of a loop to the next are ignored.
    """
    takes: dict[str, list[str]] = defaultdict(list)
    for start, end, again in drawing.arrows:
        if not again:
            takes[end].append(start)
    depth: dict[str, int] = {}
    for key in drawing.boxes:  # boxes come after their operands
        depth[key] = max((depth.get(item, 0) + 1 for item in takes[key]), default=0)
    uses: dict[str, int] = {}
    for key in reversed(list(drawing.boxes)):
        for item in takes[key]:
            uses[item] = min(uses.get(item, depth[key]), depth[key])
    for key, below in uses.items():  # a box without operands is above its first use
        if not takes[key]:
            depth[key] = below - 1
    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    place: dict[str, float] = {}
    for key in sorted(drawing.boxes, key=lambda item: depth[item]):
        rows[depth[key]].append(key)
    for row in rows:

        def mean_position(key: str) -> float:
            positions = [place[item] for item in takes[key] if item in place]
            return sum(positions) / len(positions) if positions else len(place)

        row.sort(key=mean_position)
        for at, key in enumerate(row):
            place[key] = at - len(row) / 2
    return rows


def _places(
    drawing: Drawing, rows: Sequence[Sequence[str]]
) -> tuple[dict[str, tuple[float, float]], int]:
    """Return the position (x, y) of each box and the width of the picture, in pixels.

    `rows` are the lines of boxes. In each line the boxes of loops are on the right.
    """
    step = _WIDTH + _GAP
    inside = {key for keys in drawing.frames.values() for key in keys}
    split = [[key for key in row if key not in inside] for row in rows]
    frames = [len(others) < len(row) for others, row in zip(split, rows, strict=True)]
    beside = max((len(x) for x, frame in zip(split, frames, strict=True) if frame), default=0)
    within = max((len(row) - len(x) for x, row in zip(split, rows, strict=True)), default=0)
    wide = max([beside + within, *map(len, rows)]) * step + 2 * _GAP
    at: dict[str, tuple[float, float]] = {}
    for level, (row, others) in enumerate(zip(rows, split, strict=True)):
        loop = [key for key in row if key in inside]
        left, right = beside * step, wide - 2 * _GAP
        starts = [(right - len(row) * step) / 2, 0]
        groups = [row]
        if loop:
            starts = [left - len(others) * step, left + (right - left - len(loop) * step) / 2]
            groups = [others, loop]
        for start, group in zip(starts, groups, strict=False):
            for place, key in enumerate(group):
                at[key] = _GAP * 1.5 + start + place * step, _GAP + level * _LAYER
    return at, wide


def svg(graph: Graph) -> str:
    """Return the drawing of a graph as SVG."""
    drawing = Drawing(graph)
    rows = _layers(drawing)
    at, wide = _places(drawing, rows)
    high = len(rows) * _LAYER + 2 * _GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}"'
        f' height="{high}" font-family="sans-serif" font-size="11">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for title, keys in drawing.frames.items():
        lines += _frame(title, [at[key] for key in keys])
    for start, end, again in drawing.arrows:
        (x1, y1), (x2, y2) = at[start], at[end]
        x1, x2, y1 = x1 + _WIDTH / 2, x2 + _WIDTH / 2, y1 + _HEIGHT
        dash = ' stroke-dasharray="4 3"' if again else ""
        bend = (y2 - y1) / 2
        lines.append(
            f'<path d="M{x1:g} {y1:g}C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}"'
            f' fill="none" stroke="#777"{dash} marker-end="url(#arrow)"/>'
        )
    for key, (text, kind) in drawing.boxes.items():
        lines += _draw(text, kind, *at[key])
    return "\n".join([*lines, "</svg>"]) + "\n"


def _frame(title: str, places: Sequence[tuple[float, float]]) -> list[str]:
    left, top = min(x for x, _ in places) - 8, min(y for _, y in places) - 8
    right = max(x for x, _ in places) + _WIDTH + 8
    bottom = max(y for _, y in places) + _HEIGHT + 8
    return [
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"'
        ' rx="6" fill="none" stroke="#999" stroke-dasharray="6 3"/>',
        f'<text x="{left + 6:g}" y="{bottom - 4:g}" fill="#666">{escape(title)}</text>',
    ]


def _draw(text: str, kind: str, x: float, y: float) -> list[str]:
    lines = [
        f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"'
        f' fill="{_FILL[kind]}" stroke="#555"/>'
    ]
    parts = text.split("\n")
    for number, part in enumerate(parts):
        line = y + _HEIGHT / 2 + 4 + (number - (len(parts) - 1) / 2) * 13
        part = part if len(part) <= 22 else part[:21] + "…"
        lines.append(
            f'<text x="{x + _WIDTH / 2:g}" y="{line:g}" text-anchor="middle">{escape(part)}</text>'
        )
    return lines


PICTURES = {"dot": dot, "svg": svg}
