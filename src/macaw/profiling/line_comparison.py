"""Compares the cycles of lines of the source in two profiles that have accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from macaw.profiling.account import Account, LineCycles
from macaw.profiling.earlier import LineDifference

Pair = tuple[LineCycles | None, LineCycles | None]  # of the earlier profile, of the new one


def line_differences(
    before: Sequence[Account], after: Sequence[Account]
) -> tuple[LineDifference, ...]:
    """Return the lines whose cycles or causes differ, the one that changed most first.

    A line of an edited program is found again by its text and its neighbours, as `diff` finds it.
    The result leaves out cores that only one profile has, or that worked in neither.
    """
    earlier = {account.core: account for account in before}
    changed = [
        item
        for account in after
        if account.core in earlier
        and not (_is_unused(account) and _is_unused(earlier[account.core]))
        for old, new in _pairs(earlier[account.core].lines, account.lines)
        for item in _difference(account.core, old, new)
    ]
    return tuple(sorted(changed, key=lambda item: -abs(item.change)))


def _is_unused(account: Account) -> bool:
    return account.idle == account.total


def _pairs(before: Sequence[LineCycles], after: Sequence[LineCycles]) -> Iterator[Pair]:
    """Yield a pair (old, new) for each line of the source, as `diff` matches lines by their text.

    `before` are the lines of the earlier profile, `after` those of the new one. If only one of the
    profiles has the line, the other item of its pair is None.
    """
    olds, news = ([(line.text, not line.place) for line in lines] for lines in (before, after))
    for _, begin, end, first, last in SequenceMatcher(None, olds, news).get_opcodes():
        old, new = before[begin:end], after[first:last]
        if olds[begin:end] == news[first:last]:
            yield from zip(old, new, strict=True)
        else:
            yield from ((line, None) for line in old)
            yield from ((None, line) for line in new)


def _difference(
    core: str, old: LineCycles | None, new: LineCycles | None
) -> Iterator[LineDifference]:
    """Yield the difference between two versions of a line, or nothing if they are equal."""
    line = new or old
    assert line is not None
    causes = _changes(old.causes if old else {}, new.causes if new else {})
    cycles = [None if item is None else item.cycles for item in (old, new)]
    if cycles[0] != cycles[1] or causes:
        yield LineDifference(core, line.place, line.text, cycles[0], cycles[1], causes)


def _changes(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    names = dict.fromkeys((*after, *before))
    changes = {name: after.get(name, 0) - before.get(name, 0) for name in names}
    ordered = sorted(changes.items(), key=lambda item: -abs(item[1]))
    return {name: change for name, change in ordered if change}
