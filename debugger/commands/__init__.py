"""The command language of the debugger, without a screen.

| module | contents |
|---|---|
| `table` | the table of commands, `COMMANDS` |
| `usage` | parses arguments by a command's usage line |
| `line` | a command line with its operands |
| `context` | what commands work on and remember |
| `interpreter`, `completion` | execute a line, complete a line |
| `answers` | the record that a command returns |
| `text` | answers as plain text |
| `manual` | the commands as a page |
| `running`, `points`, `printing`, `information`, `data`, `why`, `screen` | what the commands do |
| `saving`, `general` | commands for sessions as files; commands for scripts and help |
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
