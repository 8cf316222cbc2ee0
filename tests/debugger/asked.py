"""What a test of `why` asks of causes."""

from __future__ import annotations


def only(causes):
    """The one cause."""
    (found,) = causes
    return found


def inputs(cause):
    """What a value was made of, without the settings."""
    return [item for item in cause.causes if not item.setting]


def settings(cause):
    """Its settings, by name."""
    return {item.role: item.value for item in cause.causes if item.setting}


def walk(cause):
    """A cause and all its causes, without settings."""
    yield cause
    for item in inputs(cause):
        yield from walk(item)
