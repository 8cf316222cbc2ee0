"""A profile as JSON and back; JSON that is no profile."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.errors import InputError
from macaw.profiling import account, annotation, earlier, energy, model, work
from macaw.profiling.model import Profile, Slice, Track, from_json, to_json


def small(hint: typing.Any) -> st.SearchStrategy[typing.Any]:
    """Draw values of a type whose lists and mappings have at most two items.

    Hypothesis itself draws longer lists, which make whole profiles too large.
    """
    parts = typing.get_args(hint)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return st.deferred(lambda: _object(hint))
    if typing.get_origin(hint) is tuple and parts[-1] is Ellipsis:
        return st.lists(small(parts[0]), max_size=2).map(tuple)
    if typing.get_origin(hint) is tuple:
        return st.tuples(*(small(part) for part in parts))
    if typing.get_origin(hint) in (Mapping, dict):
        return st.dictionaries(small(parts[0]), small(parts[1]), max_size=2)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return st.one_of(*(small(part) for part in parts))
    return st.from_type(hint)


@cache
def _object(kind: typing.Any) -> st.SearchStrategy[typing.Any]:
    hints = typing.get_type_hints(kind)
    members = {}
    for name, hint in hints.items():
        if typing.get_args(hint) == (kind, ...):  # a tree: at most one branch, so that it ends
            members[name] = st.lists(small(kind), max_size=1).map(tuple)
        else:
            members[name] = small(hint)
    return st.builds(kind, **members)


@pytest.mark.once
@given(small(Profile))
@settings(max_examples=15, deadline=None)
def test_json_keeps_everything(profile: Profile) -> None:
    again = from_json(json.loads(json.dumps(to_json(profile))))
    # By their texts: a NaN is not equal to itself. A mapping comes back as a dict.
    assert repr(to_json(again)) == repr(to_json(profile))
    assert type(again) is Profile


def test_json_gives_back_an_equal_profile() -> None:
    assert from_json(json.loads(json.dumps(to_json(SMALL)))) == SMALL


def test_every_class_is_frozen_and_reached() -> None:
    reached: set[type] = {Profile}
    waiting: list[type] = [Profile]
    while waiting:
        for hint in typing.get_type_hints(waiting.pop()).values():
            for part in (hint, *typing.get_args(hint)):
                if dataclasses.is_dataclass(part) and part not in reached:
                    assert isinstance(part, type)
                    assert vars(part)["__dataclass_params__"].frozen
                    reached.add(part)
                    waiting.append(part)
    modules = (model, account, annotation, earlier, work, energy)
    values = [value for module in modules for value in vars(module).values()]
    ours = {value for value in values if dataclasses.is_dataclass(value)}
    assert reached == ours


SMALL = Profile("a.s", "tiny", 9, (Track("cp", "cp", (Slice("cp", "cp", 0, 9, 0, 3),), ((0, 9),)),))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: [], "x.json holds no profile"),
        (lambda data: {**data, "kind": "a letter"}, "x.json holds no profile"),
        (
            lambda data: {**data, "format": 99},
            f"x.json: format 99, this Macaw reads format {model.FORMAT}",
        ),
        (
            lambda data: {**data, "colour": 1},
            "x.json holds no profile: Profile has other fields: colour",
        ),
        (lambda data: {**data, "cycles": "9"}, "x.json holds no profile: cycles: '9' is no int"),
        (lambda data: {**data, "cycles": True}, "x.json holds no profile: cycles: True is no int"),
        (lambda data: {**data, "tracks": 7}, "x.json holds no profile: tracks: 7 is no list"),
        (lambda data: {**data, "tracks": [7]}, "x.json holds no profile: tracks: Track is 7"),
        (
            lambda data: {**data, "tracks": [{**data["tracks"][0], "busy": [[1, 2, 3]]}]},
            "x.json holds no profile: tracks: busy: [1, 2, 3] has not 2 items",
        ),
        (
            lambda data: {
                **data,
                "bottleneck": {
                    "core": "cp",
                    "slice": None,
                    "why": "",
                    "saved": 1,
                    "between": {},
                    "sooner": {},
                },
            },
            "x.json holds no profile: bottleneck: saved: 1 is no object",
        ),
    ],
)
def test_what_is_no_profile(change: typing.Any, text: str) -> None:
    with pytest.raises(InputError) as caught:
        from_json(change(to_json(SMALL)), "x.json")
    assert caught.value.message == text


def test_a_slice_says_where_it_is() -> None:
    slice_ = Slice("cp", "cp", 5, 20, 3, 4, "dma.wait x0", "a.s:12", {}, 6)
    assert (slice_.where, slice_.cycles, slice_.busy, slice_.last) == (
        "a.s:12: dma.wait x0",
        15,
        9,
        6,
    )
    assert Slice("cp", "cp", 5, 20, 3, 4).where == "instruction 3"


def test_rows_and_their_cores() -> None:
    tracks = (
        Track("cp", "cp"),
        Track("pe", "pe", (), ((0, 5), (7, 9))),
        Track("pe[0]", "pe"),
        Track("pe[1]", "pe"),
    )
    profile = Profile("a.s", "tiny", 9, tracks)
    assert [track.core for track in profile.rows] == ["cp", "pe"]
    assert [track.core for track in profile.cores("pe")] == ["pe[0]", "pe[1]"]
    assert profile.cores("cp") == ()
    assert tracks[1].busy_cycles == 7
