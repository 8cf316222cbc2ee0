"""Write what tables and modules say: docs/isa, other pages of docs that are lists, editors.

`make docs` runs it; tests fail if a file is out of date.

`python docs/build.py`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs/isa", "editors/vim")  # hold nothing else


def made() -> Mapping[str, str]:
    """Every file that is made, by its path below the root of the tree."""
    pages = {**_reference(), **_editors(), **_house(), "docs/debugger-commands.md": _commands()}
    return pages | _parsers()


def _reference() -> dict[str, str]:
    from macaw.asm import reference
    from macaw.isa import markdown, registry

    cores = registry.cores()
    files, anchors = {}, {}
    for core in cores:
        files[f"docs/isa/{core.name}.md"], anchors[core.name] = markdown.core_file(core)
    files["docs/isa/directives.md"] = markdown.directives_file(reference.of_language(), anchors)
    files["docs/isa/device.md"] = markdown.device_file()
    files["docs/isa/trace.md"] = markdown.trace_file(cores)
    files["docs/isa/README.md"] = markdown.index_file(cores, anchors)
    return files


def _house() -> dict[str, str]:
    from docs import causes, modules, profile_schema, pruning, rooms

    return {
        "docs/profile.md": causes.page(),
        "docs/modules.md": modules.page(),
        "docs/pruning.svg": pruning.picture(),
        "docs/rooms.svg": rooms.picture(),
        "src/macaw/profiling/profile.schema.json": profile_schema.text(),
    }


def _parsers() -> dict[str, str]:
    from macaw.asm import grammar, parser_tables
    from macaw.debugger import grammar as expressions

    made = {}
    for room, found in (("asm", grammar), ("debugger", expressions)):
        path = ROOT / room / parser_tables.NAME
        stored = path.read_text("utf-8") if path.exists() else ""
        made[f"{room}/{path.name}"] = parser_tables.current(stored, found.text(), found.START)
    return made


def _commands() -> str:
    from macaw.debugger.commands.manual import page

    return page()


def _editors() -> dict[str, str]:
    from macaw.asm.editors import textmate, vim

    return {
        **{f"editors/vscode/{name}": text for name, text in textmate.files().items()},
        **{f"editors/vim/{name}": text for name, text in vim.files().items()},
    }


def main() -> None:
    """Write what has changed, remove what is made no more."""
    files = made()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and name not in files:
                path.unlink()
                print(f"removed {name}")
    for name, text in files.items():
        path = ROOT / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"wrote {name}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
