"""The command language of the debugger, without a screen.

| module | contents |
|---|---|
| `table` | the table of commands, `COMMANDS` |
| `usage` | parses arguments by a command's usage line |
| `line` | a command line with its operands |
| `context` | the data that commands use and store |
| `interpreter`, `completion` | execute a line, complete a line |
| `answers` | the record that a command returns |
| `text` | answers as plain text |
| `manual` | the commands as a page |
| `running`, `points`, `printing`, `information`, `data`, `why`, `screen` | most of the commands |
| `frames`, `threads`, `source_listing`, `searching`, `text_output` | more commands |
| `annotation` | the command that shows the cycles of lines |
| `saving`, `general`, `scripting` | commands for sessions as files, for scripts and help |
| `blocks`, `user_commands` | commands whose body ends with `end`; commands that a user defines |
| `gdb_spellings` | rewrites lines of GDB |
| `gdb_advice` | says what to type instead of a line of GDB that means nothing here |
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
