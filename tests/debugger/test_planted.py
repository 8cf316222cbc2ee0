"""Planted bugs: `why ... against` and `--against` name the changed line within three commands."""

from __future__ import annotations

import pytest

from tests.debugger.planted import COUNT, by_other_run, by_reference, draw

WANTED = {by_reference: 19, by_other_run: 18}  # of 20, as docs/debugger.md says


def check(folder, count, wanted):
    ways = dict.fromkeys(WANTED, 0)
    for planted, good, bad in draw(folder, count=count):
        for way in ways:
            found = way(planted, good, bad)
            assert found.command <= 3
            ways[way] += bool(found.command)
    assert {way: ways[way] for way in ways if ways[way] < wanted[way]} == {}


@pytest.mark.long
def test_changed_lines_are_named(tmp_path):
    check(tmp_path, COUNT, WANTED)


@pytest.mark.once
def test_some_changed_lines_are_named(tmp_path):
    check(tmp_path, 2, dict.fromkeys(WANTED, 2))
