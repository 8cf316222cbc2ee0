"""Rewrites lines in the spelling of GDB into lines of this debugger.

Each row of the table has the pattern of a whole line and its replacement. A form is in the table
only if its replacement means the same as the form in GDB. For forms that mean nothing in this
debugger, `gdb_advice` says what to type instead.
"""

from __future__ import annotations

import re

_INFO = r"(?:i|inf|info)\s+"
_PRINT = "p|print|inspect|output|call"
_SPELLINGS = tuple(
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        (r"set\s+var(?:iable)?\s+(.+)", r"set \1"),
        (rf"({_PRINT}|x|display|disassemble|disas|find)\s+/(\w+)(.*)", r"\1/\2\3"),
        (rf"((?:{_PRINT})(?:/\w+)?)\s+(?:-\S+\s+(?:\w+\s+)?)*--\s+(.*)", r"\1 \2"),
        (r"((?:r|a)?watch)\s+-l(?:ocation)?\s+(.+)", r"\1 \2"),
        (r"(?:d|delete)\s+(?:br|bre|break|breakpoints?)(\s.*)?", r"delete\1"),
        (r"(en|enable|dis|disa|disable)\s+(?:br|bre|break|breakpoints?)(\s.*)?", r"\1\2"),
        (r"(?:d|delete)\s+displays?(\s.*)?", r"undisplay\1"),
        (r"(l|list)\s+\+", r"\1"),
        (_INFO + r"(?:b|br\w*)(\s.*)?", r"info breakpoints\1"),
        (_INFO + r"(?:s|stack)(\s.*)?", r"backtrace\1"),
        (_INFO + r"th\w*(\s.*)?", r"info cores\1"),
        (_INFO + r"all-registers(\s.*)?", r"info registers\1"),
        (_INFO + r"r\w*\s+(?:general|all)", r"info registers"),
        (_INFO + r"f", r"info frame"),
        (r"(up|down)-silently(\s.*)?", r"\1\2"),
        (r"(ptype|whatis)/\w+\s+(.*)", r"whatis \2"),
        (_INFO + r"li", r"info line"),
        (_INFO + r"(?:files|target|sections)", r"info mem"),
        (_INFO + r"rec\w*", r"info checkpoints all"),
        (r"bookmark", r"checkpoint"),
        (r"goto-bookmark\s+(?:begin|start)", r"goto 0"),
        (r"goto-bookmark\s+(\d+)", r"restart \1"),
        (_INFO + r"bookmarks", r"info checkpoints"),
        (r"select-frame\s+(\d+)", r"frame \1"),
        (r"(?:f|frame)\s+level\s+(\d+)", r"frame \1"),
        (r"rec(?:ord)?\s+goto\s+(?:begin|start)", r"goto 0"),
        (r"rec(?:ord)?\s+goto\s+(\d+)", r"goto \1"),
        (r"(?:la|lay|layout)\s+src", r"panel code"),
        (r"(?:la|lay|layout)\s+asm", r"panel code"),
        (r"(?:la|lay|layout)\s+regs", r"panel registers"),
        (r"(?:la|lay|layout)\s+split", r"layout auto"),
        (r"set\s+pagination\s+(on|off)", r"pagination \1"),
        (r"(?:set|show)\s+pagination", r"pagination"),
        (r"set\s+height\s+(?:0|unlimited)", r"pagination off"),
        (r"!\s*(.+)", r"shell \1"),
        (r"taas\s+(.+)", r"thread apply all \1"),
        (r"tfaas\s+(.+)", r"thread apply all \1"),
    )
)


HABITS = (
    ("info threads, thread N", "info cores, thread N or focus NAME"),
    ("info files", "info mem"),
    ("info all-registers", "info registers, info registers PLACES"),
    ("x/8xb &y", "x/8xb y"),
    ("p *y@4, p y[0]@4", "p y[0:4]"),
    ("p sizeof(y), whatis y", "p sizeof(y), whatis y"),
    ("p $1, p $, p $foo", "p $1, p $, p $foo"),
    ("set var y[0] = 1", "set y[0] = 1"),
    ("watch -l y[0]", "watch y[0], watch y[0] by PLACES"),
    ("catch throw", "catch nan, catch queue-full"),
    ("record goto 100", "goto 100"),
    ("reverse-continue, rc", "reverse-continue, rc"),
    ("layout asm, layout regs", "panel code, panel registers"),
    ("dump binary value F y", "dump y F.npy"),
    ("no command of GDB", "why y[0], why-stalled, stepc, stepx, info queues, diff y F.npy"),
)
"""What GDB's users type, and what to type in this debugger. `help gdb` prints it."""


def respell(text: str) -> str:
    """Return the line of this debugger for a line in the spelling of GDB; else `text` itself."""
    for pattern, replacement in _SPELLINGS:
        match = pattern.fullmatch(text)
        if match is not None:
            return match.expand(replacement).strip()
    return text
