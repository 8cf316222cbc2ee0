"""docs/modules.md: what each module is for, by the first sentence of its docstring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from docs.trees import docstring_of

ROOT = Path(__file__).resolve().parents[1]
# By folder: what a reader finds there; ARCHITECTURE.md says how the rooms depend on each other.
ROOMS = {
    "isa": "the machine as tables",
    "asm": "text to programs and back",
    "emu": "what the machine does, cycle by cycle",
    "debugger": "sessions, commands, the screen",
    "src/macaw/lowering": "network operations to programs",
    "src/macaw": "the command line and the Python API",
}
_HEAD = """\
# Modules

Made by `make docs` from the first sentence of each module's docstring.
[ARCHITECTURE.md](../ARCHITECTURE.md) says how the rooms depend on each other. The folders `isa`,
`asm`, `emu` and `debugger` are the packages `macaw.isa`, `macaw.asm`, `macaw.emu` and
`macaw.debugger`.
"""
_END = "Words of the field and of Macaw: [glossary.md](glossary.md).\n"
_WIDTH = 150  # of a cell


def page() -> str:
    """The text of docs/modules.md."""
    return "\n".join([_HEAD, *_rooms(), _END])


def _rooms() -> Iterator[str]:
    for room, holds in ROOMS.items():
        yield f"## {room}: {holds}\n"
        folders: dict[str, list[tuple[str, str]]] = {}
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if room == "src/macaw" and name.startswith("src/macaw/lowering/"):
                continue
            text = _purpose(path)
            if text:
                folders.setdefault(path.parent.relative_to(ROOT).as_posix(), []).append(
                    (path.name, text)
                )
        for folder, rows in folders.items():
            yield f"### {folder}\n"
            yield "| module | what it is for |\n|---|---|"
            yield "\n".join(f"| `{name}` | {text} |" for name, text in rows) + "\n"


def _purpose(path: Path) -> str:
    """The first sentence of a module's docstring, as a cell of a table."""
    first = " ".join(docstring_of(path).split("\n\n")[0].split()).replace("|", "\\|")
    sentence = first.split(". ")[0].rstrip(".:") if len(first) > _WIDTH else first.rstrip(".:")
    return (
        sentence if len(sentence) <= _WIDTH else sentence[: _WIDTH - 3].rsplit(" ", 1)[0] + " ..."
    )
