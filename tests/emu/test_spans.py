"""Spans of cycles contain the same cycles as a set of cycle numbers."""

from hypothesis import given
from hypothesis import strategies as st

from macaw.emu.spans import Spans

SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 12)).map(lambda span: (span[0], sum(span))),
    min_size=1,
    max_size=14,
)


@given(st.lists(SPANS, max_size=8), st.integers(0, 40))
def test_each_cycle_counts_once(groups: list[list[tuple[int, int]]], before: int) -> None:
    spans, seen = Spans(), set[int]()
    for number, group in enumerate(groups):
        if number % 2:  # what comes later begins at `before` or behind it
            group = [(max(begin, before), max(end, before + 1)) for begin, end in group]
        wanted = {cycle for span in group for cycle in range(*span)} - seen
        begins, ends = zip(*group, strict=True)
        assert spans.add_all(begins, ends) == len(wanted)
        seen |= wanted
        spans = Spans(spans.plain())
    assert sorted(spans.begins) == spans.begins
    assert all(a < b for a, b in zip(spans.ends, spans.begins[1:], strict=False))
    assert {cycle for span in spans.plain() for cycle in range(*span)} == seen
    spans.forget(before)
    later = range(before, 80)
    assert spans.add(before, 80) == len(set(later) - seen)
