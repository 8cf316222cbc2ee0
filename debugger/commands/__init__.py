"""The command language of the debugger, without a screen.

| module | holds |
|---|---|
| `table` | the rows: `COMMANDS` |
| `usage` | a row's usage as a grammar |
| `interpreter` | lines to answers, completion |
| `answers` | the records |
| `text` | answers as plain text |
| `manual` | the commands as a page |
| `running`, `stopping`, `looking`, `data`, `why`, `screen`, `rest` | what the commands do |
"""

from debugger.commands import data, information, looking, rest, running, screen, stopping, why

__all__ = [
    "data",
    "information",
    "looking",
    "rest",
    "running",
    "screen",
    "stopping",
    "why",
]  # imported so that their rows are in the table
