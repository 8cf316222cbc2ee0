"""The garbage collector while a program is made: it looks less often.

A run makes many small objects that all live to its end, and no cycles worth
speaking of. Looking through them again and again takes a fifth of the time of a large
source.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_SELDOM = 20_000  # new objects between two looks

_lock = Lock()
_inside: list[tuple[int, int, int]] = []  # what was set before, for each run that goes on


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Let the collector look seldom; what was set before returns with the last of all runs."""
    with _lock:
        before = gc.get_threshold()
        _inside.append(before if not _inside else _inside[0])
        if 0 < before[0] < _SELDOM:
            gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        with _lock:
            before = _inside.pop()
            if not _inside:
                gc.set_threshold(*before)
