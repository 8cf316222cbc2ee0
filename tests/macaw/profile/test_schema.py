"""The JSON Schema accepts all profiles, and refuses what `from_json` refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

import macaw
from docs import profile_schema
from macaw.errors import InputError
from macaw.profiling.model import FORMAT, from_json, to_json
from macaw.profiling.profiler import ProfileOptions, profile
from tests.macaw.profile.programs import copies
from tests.macaw.profile.synthetic import by_chance, by_hand

pytestmark = pytest.mark.once

Json = dict[str, Any]


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = macaw.profile_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def whole() -> Json:
    """The JSON of a profile with all options."""
    options = ProfileOptions(
        causes=True,
        lines=True,
        roofline=True,
        energy="",
        guide=True,
        goals={"cycles": 9},
    )
    before = profile(copies(1, work=4), {}, ProfileOptions(causes=True))
    options = ProfileOptions(**{**vars(options), "against": before, "allow": ("program",)})
    return json.loads(json.dumps(to_json(profile(copies(2, work=4), {}, options))))


def test_profiles_fit_the_schema(validator: Any, whole: Json) -> None:
    validator.validate(whole)
    for made in (by_hand(), *(by_chance(seed) for seed in range(5))):
        validator.validate(json.loads(json.dumps(to_json(made))))
    filled = {name for name, value in whole.items() if value not in ([], {}, None, "")}
    assert filled >= {"accounts", "annotation", "work", "energy", "goals", "differences", "earlier"}


CHANGES: dict[str, Callable[[Json], object]] = {
    "another kind": lambda data: data.update(kind="a letter"),
    "another version": lambda data: data.update(format=FORMAT + 1),
    "a field more": lambda data: data.update(colour=1),
    "a field less": lambda data: data.pop("cycles"),
    "a text for a number": lambda data: data.update(cycles="9"),
    "a number for a list": lambda data: data.update(tracks=7),
    "an interval of three": lambda data: data["tracks"][0].update(busy=[[1, 2, 3]]),
    "an interval of one": lambda data: data["tracks"][0].update(busy=[[1]]),
    "a cause without cycles": lambda data: data["accounts"][0]["causes"][0].pop("cycles"),
    "a mapping of texts": lambda data: data["accounts"][0]["causes"][0].update(whom={"vc": "9"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_both_refuse_what_is_no_profile(validator: Any, whole: Json, name: str) -> None:
    data = copy.deepcopy(whole)
    CHANGES[name](data)
    assert not validator.is_valid(data)
    with pytest.raises(InputError):
        from_json(data)


def test_each_unit_of_a_comment_is_a_description() -> None:
    """A comment at a field's end, after several lines, or above the field is its description."""
    made = profile_schema.schema()
    slice_ = made["$defs"]["Slice"]["properties"]
    assert (
        slice_["waited"]["description"] == "cycles of the slice in which the core waited for others"
    )
    assert made["properties"]["ratios"]["description"] == "by row, from all its records"
    bottleneck = made["$defs"]["Bottleneck"]["properties"]
    assert (
        bottleneck["sooner"]["description"] == "By row: cycles saved if the row never started late."
    )
    assert "description" not in slice_["begin"]
    assert made["$defs"]["CauseCycles"]["properties"]["below"]["items"] == {
        "$ref": "#/$defs/CauseCycles"
    }
