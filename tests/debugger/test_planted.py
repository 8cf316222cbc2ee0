"""Planted bugs: `why ... against` and `--against` name the changed line within three commands."""

from __future__ import annotations

import pytest

from tests.debugger.planted import COUNT, by_other_run, by_reference, draw, plant

WANTED = {by_reference: 20, by_other_run: 19}  # of 20, as docs/debugger.md says


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


@pytest.mark.once
@pytest.mark.parametrize(
    ("sample", "line", "old", "new", "way"),
    [
        ("nnp_softmax", 19, "4 * 4", "4 * 8", by_reference),  # reads the output before its write
        ("nnp_mlp", 19, "(7)", "(3)", by_reference),  # multiplies by tiles that were not loaded
        ("fim_chain", 64, "16:32", "17:32", by_reference),  # stores a slice that was not computed
        ("fim_outer", 42, "act   0", "act   1", by_reference),  # reads the wrong row
        ("fim_elementwise", 45, "act   1", "act   0", by_reference),  # stores to the wrong row
        ("fim_elementwise", 28, "512, 1,", "512, 0,", by_other_run),  # copies without a value
        ("fim_dot", 42, "20 + 4", "20 + 3", by_other_run),  # registers in three dimensions
    ],
)
def test_a_changed_line_is_named(tmp_path, sample, line, old, new, way):
    found = way(*plant(tmp_path / sample, sample, line, old, new))
    assert found.command, found.text


@pytest.mark.once
def test_next_to_an_unwritten_value_is_one_value_on_each_side(tmp_path):
    """The wrong slice is after slice 16, which another multiplication computed."""
    planted = plant(tmp_path / "fim_chain", "fim_chain", 64, "16:32", "17:32")
    near = by_reference(*planted).text.partition("but next to it\n")[2]
    assert "iosa[17:32]" in near
    assert "iosa[16:32]" not in near
