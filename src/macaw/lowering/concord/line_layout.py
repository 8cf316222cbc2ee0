"""Breaks Python source into lines as the usual formatters do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from macaw.isa.lazy_dataclass import dataclass

WIDTH = 88


@dataclass(frozen=True)
class Group:
    """A comma-separated list of texts in brackets.

    If the whole list fits on one line, it stays there. Otherwise the brackets are on separate
    lines, and the items are between them, each on a line of its own. If `call` is true, the items
    are the arguments of a call; they share one line if they fit.
    """

    items: tuple[str | Group, ...]
    brackets: str = "()"
    call: bool = False

    def __str__(self) -> str:
        more = "," if len(self.items) == 1 and self.brackets == "()" and not self.call else ""
        return f"{self.brackets[0]}{', '.join(map(str, self.items))}{more}{self.brackets[1]}"


def arguments(*items: str | Group) -> Group:
    """Return a group that represents the arguments of a call."""
    return Group(items, call=True)


def lay_out(start: str, group: Group, end: str, indent: int = 0) -> list[str]:
    """Return the lines of `start`, a group and `end`: one line if they fit.

    Otherwise the items are on lines between the lines with the brackets, as `Group` says. `start`
    includes its own indentation; `indent` is the indentation of the closing bracket.
    """
    line = f"{start}{group}{end}"
    if len(line) <= WIDTH:
        return [line]
    inner, blank = " " * (indent + 4), " " * indent
    whole = inner + ", ".join(map(str, group.items))
    lines = [start + group.brackets[0]]
    if group.call and len(whole) <= WIDTH:
        lines.append(whole)
    else:
        for item in group.items:
            if isinstance(item, Group):
                lines += lay_out(inner, item, ",", indent + 4)
            else:
                lines.append(f"{inner}{item},")
    return [*lines, f"{blank}{group.brackets[1]}{end}"]


def bare(start: str, group: Group, end: str, indent: int) -> list[str]:
    """Return the lines of `start`, a group and `end`, without the group's brackets if possible.

    If the group has several items and everything fits on one line, there are no brackets. A single
    item on one line has the group's brackets. A group that needs several lines is in parentheses.
    """
    line = f"{start}{', '.join(map(str, group.items))}{end}"
    if len(group.items) > 1 and len(line) <= WIDTH:
        return [line]
    lines = [f"{start}{group}{end}"]
    if len(lines[0]) <= WIDTH and len(group.items) == 1:
        return lines
    inner = " " * (indent + 4)
    lines = [f"{start}("]
    for item in group.items:
        if isinstance(item, Group):
            lines += lay_out(inner, item, ",", indent + 4)
        else:
            lines.append(f"{inner}{item},")
    return [*lines, f"{' ' * indent}){end}"]


def numbers(rows: Sequence[int]) -> str | Group:
    """Return a Python expression for a list of row numbers, as short as possible.

    An example is `range(0, 8, 2)` for 0, 2, 4, 6. If no short form fits, the result is a list of
    all numbers.
    """
    steps = {after - before for before, after in pairwise(rows)}
    first, count = rows[0], len(rows)
    if len(steps) == 1:
        step = steps.pop()
        if step == 0:
            return f"[{first}] * {count}"
        return f"range({first}, {first + step * count}, {step})"
    for across in range(2, count):  # lines of an image, with some columns of each
        step, down, height = rows[1] - first, rows[across] - first, count // across
        if count % across == 0 and step > 0 and down > 0:
            lines = [first + y * down + x * step for y in range(height) for x in range(across)]
            if list(rows) == lines:
                ys = f"range({first}, {first + down * height}, {down})"
                return f"[y + x for y in {ys} for x in range(0, {step * across}, {step})]"
    for period in (n for n in range(2, count // 2 + 1) if count % n == 0):
        text = f"{list(rows[:period])} * {count // period}"
        if len(text) <= WIDTH // 2 and list(rows) == list(rows[:period]) * (count // period):
            return text
    return Group(tuple(map(str, rows)), "[]")
