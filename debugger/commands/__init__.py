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
| `frames`, `threads`, `source_listing`, `searching`, `text_output` | more of what the commands do |
| `annotation` | the command that shows what lines cost |
| `saving`, `general`, `scripting` | commands for sessions as files, for scripts and help |
| `blocks`, `user_commands` | commands whose body ends with `end`; commands that a user defines |
| `gdb_spellings` | rewrites what GDB's users type |
| `gdb_advice` | says what to type instead, where a line of GDB means nothing |
| `two_runs` | commands for two runs side by side |
"""

from macaw.debugger.commands import (
    annotation,
    data,
    frames,
    general,
    information,
    points,
    printing,
    running,
    saving,
    screen,
    scripting,
    searching,
    source_listing,
    text_output,
    threads,
    two_runs,
    why,
)

__all__ = [
    "annotation",
    "data",
    "frames",
    "general",
    "information",
    "points",
    "printing",
    "running",
    "saving",
    "screen",
    "scripting",
    "searching",
    "source_listing",
    "text_output",
    "threads",
    "two_runs",
    "why",
]  # imported to add their rows to the table
