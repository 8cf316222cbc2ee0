"""The points of a sweep: combinations of values, errors, and the Pareto front."""

from __future__ import annotations

import itertools
import pickle
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.errors import InputError
from macaw.isa import config
from macaw.sweeps.points import MOST_POINTS, axis, points
from macaw.sweeps.results import pareto


def test_a_text_has_a_setting_and_its_values() -> None:
    assert axis("dma.width=16, 32") == ("dma.width", (16, 32))
    assert axis("nnp.quantise=bfp,mx") == ("nnp.quantise", ("bfp", "mx"))
    for word in ("9" * 5000, "[" * 20000):  # Python refuses the number, and so many brackets
        assert axis(f"dma.width={word}") == ("dma.width", (word,))
    switch = next(x for x, row in config.settings().items() if isinstance(row.default, bool))
    assert axis(f"{switch}=true,false") == (switch, (True, False))
    assert axis(f"{switch}=true,1") == (switch, (True, 1))  # 1 is another value, which is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dma.width", "'dma.width' is not FIELD=VALUE,VALUE,..."),
        ("dma.width=", "'dma.width=' is not FIELD=VALUE,VALUE,..."),
        ("=16", "'=16' is not FIELD=VALUE,VALUE,..."),
        ("dma.width=1,,2", "'dma.width=1,,2' is not FIELD=VALUE,VALUE,..."),
        ("dma.with=1", "dma.with: no such field; did you mean 'dma.width'?"),
        ("dma.width=16,16", "dma.width has a value twice"),
        ("trace.recording=true,true", "trace.recording has a value twice"),
    ],
)
def test_texts_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        axis(text)


def test_all_combinations_the_last_setting_first() -> None:
    found = points([("a", [1, 2]), ("b", [3, 4, 5])], zipped=False, repeat=1, seed=None)
    assert [tuple(value for _, value in point.settings) for point in found] == list(
        itertools.product([1, 2], [3, 4, 5])
    )
    assert {point.seed for point in found} == {None}


def test_values_side_by_side() -> None:
    found = points([("a", [1, 2]), ("b", [3, 4])], zipped=True, repeat=1, seed=None)
    assert [dict(point.settings) for point in found] == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]


def test_repetitions_have_seeds_of_their_own() -> None:
    found = points([("a", [1, 2])], repeat=3, seed=7, zipped=False)
    assert [(dict(row.settings)["a"], row.repeat, row.seed) for row in found] == [
        (a, n, 7 + n) for a in (1, 2) for n in range(3)
    ]
    assert found[1].name == "a=1, seed 8"


@pytest.mark.parametrize(
    ("axes", "more", "message"),
    [
        ([("a", [1]), ("a", [2])], {}, "a is set twice"),
        (
            [("a", [1]), ("b", [2, 3])],
            {"zipped": True},
            "settings are zipped that have different numbers of values: a has 1, b has 2",
        ),
        ([("a", [1])], {"repeat": 2}, "repetitions without noise are all equal"),
        (
            [("a", range(1000)), ("b", range(1000))],
            {},
            f"these are 1,000,000 points, and a sweep has {MOST_POINTS:,} at most",
        ),
    ],
)
def test_points_that_are_refused(axes: Any, more: dict[str, Any], message: str) -> None:
    unset: dict[str, Any] = {"zipped": False, "repeat": 1, "seed": None}
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        points(axes, **unset | more)
    assert "--" not in f"{caught.value.message}{caught.value.hint}"  # Python has no options


numbers = st.integers(0, 6)


@given(st.lists(st.tuples(numbers, numbers), max_size=12))
def test_the_front_of_two_columns(rows: list[tuple[int, int]]) -> None:
    """The front of two columns equals its definition: no other row is at most as large in both."""
    by_definition = [
        not any(x[0] <= row[0] and x[1] <= row[1] and x != row for x in rows) for row in rows
    ]
    assert pareto(rows) == by_definition
    assert pareto([(*row, 0) for row in rows]) == by_definition


def test_a_configuration_can_go_to_another_process() -> None:
    device = config.load("base").changed({"dma.width": 64})
    assert pickle.loads(pickle.dumps(device)) == device
