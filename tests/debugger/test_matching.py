"""The matcher of two runs finds the same first difference as a search in whole lists."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from macaw.debugger.comparison.first_difference import Difference, Matcher
from macaw.debugger.comparison.observations import Observation, Write
from tests.fuzzing import properties

SUBJECT: Any = "subject"  # any object: the matcher only passes it on

Piece = tuple[Any, int, int, Any]  # a stream, the item's number in its list, the offset, the value


def observation(stream: str, item: int) -> Observation:
    return Observation(stream, item, 0, "cp", None, (0, 0))


def write(stream: str, first: int, data: bytes) -> Write:
    return Write(stream, data, 0, "cp", None, (0, 0), first)


ITEMS = st.lists(
    st.one_of(
        st.builds(observation, st.sampled_from("ab"), st.integers(0, 1)),
        st.builds(
            write,
            st.sampled_from("mn"),
            st.integers(0, 3),
            st.binary(max_size=3).map(lambda data: bytes(x % 2 for x in data)),
        ),
    ),
    max_size=8,
)


def pieces(items: list[Observation]) -> list[Piece]:
    """Single bytes of writes and other items, each with its stream, in the order of the list."""
    found: list[Piece] = []
    for number, item in enumerate(items):
        if isinstance(item, Write):
            found += [
                ((item.stream, at), number, at, value)
                for at, value in enumerate(item.item, item.first)
            ]
        else:
            found.append((item.stream, number, 0, item.item))
    return found


def expected(this: list[Observation], other: list[Observation]) -> Difference | None:
    """The first piece of this run that has no equal partner in the other run.

    If there is none, the first piece of the other run without an equal partner here, or None.
    """
    one, two = pieces(this), pieces(other)
    for mine, theirs, is_other in ((one, two, False), (two, one, True)):
        for place, (stream, number, offset, value) in enumerate(mine):
            before = sum(piece[0] == stream for piece in mine[:place])
            partners = [piece for piece in theirs if piece[0] == stream]
            partner = partners[before] if before < len(partners) else None
            if partner is not None and partner[3] == value:
                continue
            own = (this, other)[is_other][number]
            opposite = (other, this)[is_other][partner[1]] if partner else None
            sides = (opposite, own) if is_other else (own, opposite)
            name = stream[0] if isinstance(stream, tuple) else stream
            count = min(before, len(partners))
            return Difference(SUBJECT, name, count, sides, offset)
    return None


@properties
@given(ITEMS, ITEMS, st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4))
def test_the_first_difference_however_far_each_run_is(
    this: list[Observation], other: list[Observation], chunks: list[tuple[int, int]]
) -> None:
    runs: Any = [SimpleNamespace(items=[], over=False, subject=SUBJECT) for _ in range(2)]
    matcher, found = Matcher(*runs), None
    for ends in (*sorted(chunks), (len(this), len(other))):
        for run, items, end in zip(runs, (this, other), ends, strict=True):
            run.items = items[: max(end, len(run.items))]
        found = found or matcher.match()
    for run in runs:
        run.over = True
    found = found or matcher.match()
    assert found == expected(this, other) if found else matcher.extra() == expected(this, other)


@properties
@given(ITEMS, st.data())
def test_equal_runs_match_to_the_last_item(this: list[Observation], data: st.DataObject) -> None:
    """Equal runs match to the last item, even if their streams are in another order."""
    streams = data.draw(st.permutations("abmn"))
    other = [item for stream in streams for item in this if item.stream == stream]
    runs: Any = [SimpleNamespace(items=x, over=True, subject=SUBJECT) for x in (this, other)]
    matcher = Matcher(*runs)
    assert matcher.match() is None
    assert matcher.at == len(this)
    assert matcher.extra() is None
