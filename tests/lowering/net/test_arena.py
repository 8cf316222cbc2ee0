"""Places of tensors: tensors that are needed at the same time share no bytes."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from macaw.lowering.net.arena import ALIGN, Lifetime, lifetimes, place
from tests.fuzzing import properties

LIFETIMES = st.builds(
    lambda size, first, length: Lifetime(size, first, first + length),
    st.integers(1, 500),
    st.integers(0, 9),
    st.integers(0, 5),
)


@properties
@given(st.dictionaries(st.sampled_from("abcdefgh"), LIFETIMES, min_size=1))
def test_tensors_of_the_same_time_share_no_byte(items: dict[str, Lifetime]) -> None:
    arena = place(items)
    for one, other in combinations(items, 2):
        if items[one].first <= items[other].last and items[other].first <= items[one].last:
            low, high = sorted((one, other), key=arena.offsets.__getitem__)
            assert arena.offsets[low] + items[low].size <= arena.offsets[high]
    assert all(offset % ALIGN == 0 for offset in arena.offsets.values())
    assert arena.size - ALIGN < max(arena.offsets[name] + items[name].size for name in items)
    assert arena.size % ALIGN == 0
    live = max(sum(x.size for x in items.values() if x.first <= t <= x.last) for t in range(15))
    assert live <= arena.size <= sum(x.size + ALIGN for x in items.values())


def test_a_chain_needs_two_places():
    sizes = dict.fromkeys("abcd", 64)
    steps = [
        (("x",), ("a",)),
        (("a",), ("b",)),
        (("b",), ("c",)),
        (("c",), ("d",)),
        (("d",), ("y",)),
    ]
    found = lifetimes(sizes, steps)
    assert found["b"] == Lifetime(64, 1, 2)
    assert place(found).size == 128


def test_a_residual_lives_until_its_sum():
    steps = [(("x",), ("a",)), (("a",), ("b",)), (("a", "b"), ("c",))]
    assert lifetimes({"a": 8}, steps)["a"] == Lifetime(8, 0, 2)


def test_what_nobody_reads_lives_until_the_end():
    steps = [(("x",), ("a", "b")), (("a",), ("c",)), (("c",), ("d",))]
    assert lifetimes({"b": 8}, steps)["b"] == Lifetime(8, 0, 2)


@properties
@given(st.dictionaries(st.sampled_from("abcdefgh"), LIFETIMES, min_size=1))
def test_each_tensor_is_at_the_lowest_place_that_is_free(items: dict[str, Lifetime]) -> None:
    arena, earlier = place(items), list[str]()
    for name in sorted(items, key=lambda name: (-items[name].size, items[name].first, name)):
        item, offset = items[name], 0
        while any(
            other.first <= item.last
            and item.first <= other.last
            and arena.offsets[key] < offset + item.size
            and offset < arena.offsets[key] + other.size
            for key, other in ((key, items[key]) for key in earlier)
        ):
            offset += ALIGN
        assert arena.offsets[name] == offset
        earlier.append(name)
