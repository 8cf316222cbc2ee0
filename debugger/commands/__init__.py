"""The command language of the debugger, without a screen.

| module | holds |
|---|---|
| `table` | the rows: `COMMANDS` |
| `usage` | a row's usage as a grammar |
| `line` | a command line with its operands |
| `context` | what commands work on and remember |
| `interpreter`, `completion` | lines to answers, words to offer |
| `answers` | the records |
| `text` | answers as plain text |
| `manual` | the commands as a page |
| `running`, `points`, `printing`, `information`, `data`, `why`, `screen` | what the commands do |
| `saving`, `general` | the same: sessions as files, scripts and help |
"""

from macaw.debugger.commands import (
    data,
    general,
    information,
    points,
    printing,
    running,
    saving,
    screen,
    why,
)

__all__ = [
    "data",
    "general",
    "information",
    "points",
    "printing",
    "running",
    "saving",
    "screen",
    "why",
]  # imported so that their rows are in the table
