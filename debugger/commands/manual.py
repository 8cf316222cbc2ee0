"""Writes the manual's page of commands from the table of commands."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.debugger.commands import table
from macaw.debugger.commands.table import GROUPS, Command


def page() -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Commands of the debugger"
    yield ""
    yield "Made from the table of commands by `make docs`. A name may be cut short as long as it is"
    yield "the only one; `[...]` may be left out. `help NAME` says the same in the debugger."
    yield "How it is used: [debugger.md](debugger.md). Words: [glossary.md](glossary.md)."
    for group, meaning in GROUPS.items():
        rows = [row for row in table.COMMANDS.values() if row.group == group]
        if rows:
            yield ""
            yield f"## {meaning[0].upper()}{meaning[1:]}"
            yield ""
            yield "| command | what it does |"
            yield "|---|---|"
            yield from map(_row, rows)


def _row(row: Command) -> str:
    usage = (
        row.usage.replace(row.name, f"{row.name}[/{row.suffix}]", 1) if row.suffix else row.usage
    )
    lines = [row.meaning]
    if row.aliases:
        lines.append("also " + ", ".join(f"`{name}`" for name in row.aliases))
    lines += row.details.splitlines()
    return f"| `{_cell(usage)}` | {_cell('<br>'.join(lines))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
