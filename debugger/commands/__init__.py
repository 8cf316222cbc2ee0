"""The command language of the debugger, without a screen.

| module | holds |
|---|---|
| `table` | the rows: `COMMANDS` |
| `usage` | a row's usage as a grammar |
| `interpreter` | lines to answers, completion |
| `answers` | the records |
| `text` | answers as plain text |
| `manual` | the commands as a page |
| `running`, `stopping`, `looking`, `data`, `why`, `screen` | what the commands do |
| `saving`, `rest` | the same: sessions as files, and all else |
"""

from macaw.debugger.commands import (
    data,
    information,
    looking,
    rest,
    running,
    saving,
    screen,
    stopping,
    why,
)

__all__ = [
    "data",
    "information",
    "looking",
    "rest",
    "running",
    "saving",
    "screen",
    "stopping",
    "why",
]  # imported so that their rows are in the table
