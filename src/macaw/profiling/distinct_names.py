"""Cuts names to the width of a column so that different names still look different."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


def distinct_names(
    names: Sequence[str], kept: Sequence[int], width: int, mark: str
) -> tuple[list[str], list[int]]:
    """Return a text for each name, and for each text how many of its characters must be shown.

    The caller cuts each text to `width` characters, or to this number if it is greater. `kept` has
    the number of characters at the start of each name that must be shown. If several names would
    look the same after the cut, their texts have `mark` in place of a part that they share:
    `layer1…conv` and `layer1…relu`. If the texts would still look the same, they are the whole
    names.
    """
    cuts = [_cut(name, least, width, mark) for name, least in zip(names, kept, strict=True)]
    groups: dict[str, set[str]] = {}
    for cut, name in zip(cuts, names, strict=True):
        groups.setdefault(cut, set()).add(name)
    texts, leasts = [], []
    for name, least, cut in zip(names, kept, cuts, strict=True):
        alike = len(groups[cut]) > 1
        text = _without_common_part(name, least, groups[cut], width, mark) if alike else name
        texts.append(text)
        leasts.append(len(text) if alike else least)
    counts = Counter(text for text, _ in set(zip(texts, names, strict=True)))
    for place, name in enumerate(names):
        if counts[texts[place]] > 1:
            texts[place], leasts[place] = name, len(name)
    return texts, leasts


def _cut(name: str, least: int, width: int, mark: str) -> str:
    """Return a name if it has at most `width` characters, else the first characters of it.

    The caller appends `mark` to a name that is cut, so the name is cut to leave room for it. But at
    least the first `least` characters stay.
    """
    return name if len(name) <= width else name[: max(least, width - len(mark))]


def _without_common_part(name: str, least: int, group: Iterable[str], width: int, mark: str) -> str:
    """Return a name in which a mark replaces characters that the other names in `group` share.

    The mark comes before the first word in which the names differ. The first `least` characters
    stay. The result has at most `width` characters if that word fits.
    """
    low, high = min(group), max(group)
    start = next((at for at, sign in enumerate(low) if sign != high[at]), len(low))
    while start > least and name[start - 1].isalnum():
        start -= 1
    end = start + 1
    while end < len(name) and name[end].isalnum():
        end += 1
    head = max(width - len(mark) - (end - start), least)
    if head + len(mark) >= start:
        return name[:end]
    tail = name[start : max(end, start + width - head - len(mark))]
    return f"{name[:head]}{mark}{tail}"
