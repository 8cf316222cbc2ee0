"""docs/rooms.svg: the rooms of ARCHITECTURE.md and who imports whom, from import statements."""

from __future__ import annotations

from pathlib import Path

from docs.trees import origins_of

ROOT = Path(__file__).resolve().parents[1]
# Name: folder, column and row of its box.
BOXES = {
    "front": ("src/macaw", 0, 0),
    "lowering": ("src/macaw/lowering", 1, 0),
    "debugger": ("debugger", 1, 1),
    "emu": ("emu", 2, 0),
    "asm": ("asm", 3, 0),
    "isa": ("isa", 4, 0),
}
_HOLDS = {
    "front": "command, Python API",
    "lowering": "networks to programs",
    "debugger": "sessions, screen",
    "emu": "state, time, engines",
    "asm": "text, programs, ELF",
    "isa": "tables",
}
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _EDGE = 138, 52, 34, 26, 10
_STYLE = """\
<style>
text { font: 14px sans-serif; fill: #1f2328; text-anchor: middle }
.small { font-size: 11px; fill: #59636e }
rect { fill: #f6f8fa; stroke: #59636e; rx: 6px }
path { fill: none; stroke: #59636e; marker-end: url(#arrow) }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #9198a1 }
rect { fill: #151b23; stroke: #9198a1 } path { stroke: #9198a1 }
}
</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" \
markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 L8 4 L0 8 z" style="fill:#59636e;stroke:none;marker-end:none"/></marker></defs>"""


def room_of(module: str) -> str:
    """The room of a module of macaw."""
    name = f"{module}..".split(".")[1]
    return name if name in BOXES else "front"


def imports() -> dict[str, set[str]]:
    """For each room, the other rooms whose modules it imports."""
    found: dict[str, set[str]] = {name: set() for name in BOXES}
    for name, (folder, _, _) in BOXES.items():
        for path in (ROOT / folder).rglob("*.py"):
            if name == "front" and "src/macaw/lowering" in path.as_posix():
                continue
            found[name] |= {room_of(module) for module in origins_of(path)}
    return {name: rooms - {name} for name, rooms in found.items()}


def picture() -> str:
    """The text of docs/rooms.svg. Arrows that follow from others are left out."""
    edges = imports()
    width = 5 * _WIDTH + 4 * _GAP_X + 2 * _EDGE
    height = 2 * _HEIGHT + _GAP_Y + 2 * _EDGE
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">', _STYLE]
    for name, (_, column, row) in BOXES.items():
        x, y = _corner(column, row)
        lines.append(f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}"/>')
        lines.append(f'<text x="{x + _WIDTH // 2}" y="{y + 22}">{name}</text>')
        lines.append(
            f'<text class="small" x="{x + _WIDTH // 2}" y="{y + 40}">{_HOLDS[name]}</text>'
        )
        for other in sorted(edges[name]):
            if not any(other in edges[between] for between in edges[name] - {other}):
                lines.append(_arrow(name, other))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _corner(column: int, row: int) -> tuple[int, int]:
    return _EDGE + column * (_WIDTH + _GAP_X), _EDGE + row * (_HEIGHT + _GAP_Y)


def _arrow(begin: str, end: str) -> str:
    (_, column, row), (_, to, at) = BOXES[begin], BOXES[end]
    x, y = _corner(column, row)
    x_end, y_end = _corner(to, at)
    middle = _HEIGHT // 2
    return f'<path d="M{x + _WIDTH} {y + middle} L{x_end} {y_end + middle}"/>'
