"""Patterns that are compiled at their first use behave as those of `re`."""

from __future__ import annotations

import re

import pytest

from macaw.isa.lazy_pattern import lazy_pattern

TEXT = "one, Two  three\nfour"


@pytest.mark.parametrize("method", ["match", "fullmatch", "search", "findall", "split"])
@pytest.mark.parametrize("flags", [re.NOFLAG, re.IGNORECASE])
def test_methods(method: str, flags: re.RegexFlag) -> None:
    ours, theirs = lazy_pattern(r"([a-z]+)", flags), re.compile(r"([a-z]+)", flags)
    for _ in range(2):  # the first use, and a later one
        found, expected = getattr(ours, method)(TEXT), getattr(theirs, method)(TEXT)
        assert str(found) == str(expected)


def test_replacing_and_iterating() -> None:
    ours, theirs = lazy_pattern("[a-z]+"), re.compile("[a-z]+")
    assert ours.sub("x", TEXT) == theirs.sub("x", TEXT)
    assert ours.subn("x", TEXT) == theirs.subn("x", TEXT)
    assert [x.span() for x in ours.finditer(TEXT)] == [x.span() for x in theirs.finditer(TEXT)]
    assert (ours.pattern, ours.flags) == (theirs.pattern, theirs.flags)


def test_a_wrong_pattern_is_refused_at_the_first_use() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error, match="missing \\)"):
        wrong.match("")
