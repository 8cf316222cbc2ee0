"""The lines of text that show accounts: a tree of causes for each core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from macaw.profiling.account import Account, CauseCycles
from macaw.profiling.phrases import share_text
from macaw.terminal.plain import record

INDENT = 2
MOST_NAMES = 3  # beside a cause


def tree_lines(accounts: Sequence[Account], width: int | None) -> Iterator[str]:
    """Yield the lines of the tree of causes of each core that worked, then the other cores' names.

    `width` is the number of columns of the screen. If it is None, each cause is one line with its
    path in the tree, for programs that read the output.
    """
    used = [account for account in accounts if account.idle < account.total]
    if width is None:
        for account in used:
            yield from _cause_records(account)
    else:
        yield from _aligned_trees(used, width)
    unused = [account.core for account in accounts if account.idle == account.total]
    if unused:
        yield f"{' ' * INDENT}without work: {', '.join(unused)}"


def _cause_records(account: Account) -> Iterator[str]:
    path: list[str] = []
    for _, depth, name, cycles, share, whom, lines in cause_rows(account):
        path[depth:] = [name if depth else account.core]
        cells = (", ".join(path), f"{cycles:,} {name if not depth else 'cycles'}",
                 share_text(share, 1), whom, ", ".join(lines))  # fmt: skip
        yield record(("", "", "", "for", "at"), cells)


def _aligned_trees(used: Sequence[Account], width: int) -> Iterator[str]:
    # one width for all, so that the numbers stand below each other
    labels = [_label_width(account.causes, 2 * INDENT) for account in used]
    label = max([*labels, *(INDENT + len(account.core) for account in used)], default=0)
    number = max((len(f"{account.total:,}") for account in used), default=0)
    for account in used:
        head = f"{' ' * INDENT}{account.core}"
        yield f"{head:<{label}} {account.total:>{number},} {units_text(account)}"
        yield from _cause_lines(account, account.causes, 2 * INDENT, label, number, width)


def cause_rows(account: Account) -> Iterator[tuple[Any, ...]]:
    """Yield a row of a table for each cause of a core; nothing for a core that never worked.

    A row has the core, the depth of the cause in the tree, the cause, its cycles, their share of
    all cycles of the core, what the core waited for, and the source lines of these cycles. The
    first row is for the whole core.
    """
    if account.idle == account.total:
        return
    yield account.core, 0, units_text(account), account.total, 1.0, "", []
    todo = [(cause, 1) for cause in reversed(account.causes)]
    while todo:
        cause, depth = todo.pop()
        share = cause.cycles / max(account.total, 1)
        whom = ", ".join(_items(cause.whom))
        yield "", depth, cause.name, cause.cycles, share, whom, _items(cause.lines)
        todo += [(item, depth + 1) for item in reversed(cause.below)]


def _items(names: Mapping[str, int]) -> list[str]:
    return [f"{name} ({cycles:,})" for name, cycles in names.items()]


def units_text(account: Account) -> str:
    """Return the unit of an account's numbers: "cycles", or "cycles of 4 units"."""
    return f"cycles of {account.units} units" if account.units > 1 else "cycles"


def _label_width(causes: Iterable[CauseCycles], indent: int) -> int:
    return max(
        (
            max(indent + len(cause.name), _label_width(cause.below, indent + INDENT))
            for cause in causes
        ),
        default=0,
    )


def _cause_lines(
    account: Account,
    causes: Iterable[CauseCycles],
    indent: int,
    label: int,
    number: int,
    width: int,
) -> Iterator[str]:
    for cause in causes:
        share = share_text(cause.cycles, account.total)
        line = f"{' ' * indent + cause.name:<{label}} {cause.cycles:>{number},} {share:>6}"
        room = width - len(line) - 2
        note = _names_text("for", cause.whom, room) or _names_text("at", cause.lines, room)
        yield f"{line}  {note}" if note else line
        yield from _cause_lines(account, cause.below, indent + INDENT, label, number, width)


def _names_text(word: str, names: Mapping[str, int], room: int) -> str:
    """Return `word` and the names with most cycles, in at most `room` characters.

    `names` has the cycles of each name. If not even the first name, such as `a.s:4: exe`, fits, the
    text has only its source position (`a.s:4`). If that does not fit either, the result is empty.
    """
    chosen = list(names.items())[:MOST_NAMES]
    for count in range(len(chosen), 0, -1):
        listed = ", ".join(f"{name} ({cycles:,})" for name, cycles in chosen[:count])
        hidden = len(names) - count
        text = f"{word} {listed}" + (f", {hidden} more" if hidden else "")
        if len(text) <= room:
            return text
    short = f"{word} {next(iter(names), '').partition(': ')[0]}"
    return short if names and len(short) <= room else ""
