"""Makes Python's garbage collector run less often while the assembler works.

A run creates many small objects that remain to its end, and hardly any reference cycles. Repeated
collections would take a fifth of the time of a large source.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_SELDOM = 100_000  # new objects between two runs of the collector
_FULL = 1_000  # collections of the middle generation between two of all objects

_lock = Lock()
_inside: list[tuple[int, int, int]] = []  # the settings before each run that has not ended


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Make the garbage collector run seldom inside the `with` block.

    If several such blocks overlap, the last one that ends restores the old setting.
    """
    with _lock:
        before = gc.get_threshold()
        _inside.append(before if not _inside else _inside[0])
        if 0 < before[0] < _SELDOM:
            gc.set_threshold(_SELDOM, *before[1:-1], _FULL)
    try:
        yield
    finally:
        with _lock:
            before = _inside.pop()
            if not _inside:
                gc.set_threshold(*before)
