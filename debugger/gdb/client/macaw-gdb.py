"""Defines a command of gdb, `macaw LINE`, which executes LINE in Macaw's debugger.

The command prints the answer. If the line has changed the position or the state of the program, the
command also makes gdb read the state again. In gdb: `source macaw-gdb.py`, after that for example
`macaw why y[0]` or `macaw goto 1200`. `monitor LINE` executes the same line, but gdb does not
notice a change.
"""

import gdb

STALE = "gdb has not noticed the change"  # how the last line of such an answer begins


class MacawCommand(gdb.Command):
    """Execute a command of Macaw's debugger; `macaw help` lists them."""

    def __init__(self) -> None:
        super().__init__("macaw", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    def invoke(self, line: str, from_tty: bool) -> None:
        """Execute `line` and print the answer."""
        printed = gdb.execute(f"monitor {line}", from_tty, to_string=True)
        *lines, last = printed.rstrip("\n").split("\n")
        is_stale = last.startswith(STALE)
        text = "\n".join(lines if is_stale else [*lines, last])
        if text:
            print(text)
        if is_stale:
            gdb.execute("maintenance flush register-cache", to_string=True)
            gdb.execute("maintenance flush dcache", to_string=True)
            gdb.execute("frame")


MacawCommand()
