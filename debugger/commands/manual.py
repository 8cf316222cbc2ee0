"""Writes the manual's page of commands from the table of commands."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.debugger.commands import table
from macaw.debugger.commands.table import GROUPS, Command


def page() -> str:
    """Return the text of the page in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Commands of the debugger"
    yield ""
    yield "`make docs` makes this page from the table of commands. `help NAME` shows the same in"
    yield "the debugger. A command may be abbreviated to any prefix that no other command has."
    yield "Operands are in capitals: E and V are expressions, N is a number, LOC a line, symbol or"
    yield "address, PLACES cores or units. `[...]` is optional, `a|b` is a choice. A *point* is a"
    yield "breakpoint, a watch or a caught event; `last` is the newest point. `help catch` lists"
    yield "the events."
    yield "How to use the debugger: [debugger.md](debugger.md). Words: [glossary.md](glossary.md)."
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
