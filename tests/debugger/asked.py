"""Functions that read causes, for tests of `why`."""

from __future__ import annotations


def only(causes):
    """Return the only cause."""
    (found,) = causes
    return found


def inputs(cause):
    """The causes of a cause, without its settings."""
    return [item for item in cause.causes if not item.setting]


def settings(cause):
    """The values of a cause's settings, by role."""
    return {item.role: item.value for item in cause.causes if item.setting}


def walk(cause):
    """Yield a cause and all its causes, without settings."""
    yield cause
    for item in inputs(cause):
        yield from walk(item)
