"""Collects the lines of a block: the lines between a command such as `define` and its `end`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

END, ELSE = "end", "else"
MOST = 10_000  # the greatest number of lines of a block


@dataclass
class Block:
    """A command whose body is not complete yet.

    `head` is the command's line. `depth` is the number of open blocks inside the body.
    """

    head: str
    lines: list[str] = field(default_factory=list)
    depth: int = 0


def add_line(block: Block, text: str, opens: Callable[[str], bool]) -> bool:
    """Add a line to a block; return whether the block is complete.

    `opens(line)` returns whether a line begins a block inside this block. The `end` of the block
    itself is not added. The line is added with its white space, which is significant in Python.
    """
    word = text.strip()
    if word == END:
        if block.depth == 0:
            return True
        block.depth -= 1
    elif opens(word):
        block.depth += 1
    block.lines.append(text)
    return False


def branches(body: tuple[str, ...], opens: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Return the lines before, and the lines after, the `else` in the body of an `if`.

    If there is no `else`, the second list is empty.
    """
    depth = 0
    for at, text in enumerate(line.strip() for line in body):
        if text == ELSE and depth == 0:
            return list(body[:at]), list(body[at + 1 :])
        depth += opens(text) - (text == END)
    return list(body), []
