"""Named tuples and typed dicts without compiled annotations behave as the standard library's."""

from __future__ import annotations

import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from macaw.isa import typed_records


class Place(typed_records.NamedTuple):
    """A place."""

    row: int
    column: int = 3


def made(base: Any) -> Any:
    class Row(base):  # type: ignore[misc]  # the base is a value: this library's or Python's
        """A row with a default, a method and a property."""

        a: int
        # An unknown name shows that no library evaluates the annotation.
        b: list[Unknown]  # type: ignore[name-defined]  # noqa: F821
        c: str = "text"
        kind = "row"

        @property
        def twice(self) -> int:
            return 2 * int(self.a)

        def plus(self, more: int) -> Any:
            return self._replace(a=self.a + more)

    return Row


ACTS: list[Callable[[Any], Any]] = [
    lambda row: repr(row(1, [2])),
    lambda row: row(1, [2], "x") == (1, [2], "x"),
    lambda row: row(b=1, a=2)._asdict(),
    lambda row: (row._fields, row._field_defaults, row.__match_args__),
    lambda row: (row.__doc__, row.__name__, row.__module__, row.kind),
    lambda row: row(4, 5).plus(3).twice,
    lambda row: row._make([1, 2, 3]),
    lambda row: row(1),
    lambda row: row(1, 2, 3, 4),
    lambda row: row(1, 2, d=4),
    lambda row: (hash(row(1, 2)), len(row(1, 2)), row.__bases__),
    lambda row: list(row.__annotations__),
]


@pytest.mark.parametrize("act", ACTS)
def test_a_named_tuple_is_that_of_the_standard_library(act: Callable[[Any], Any]) -> None:
    def outcome(base: Any) -> Any:
        try:
            return act(made(base))
        except Exception as error:
            return type(error), str(error)

    assert outcome(typed_records.NamedTuple) == outcome(typing.NamedTuple)


def test_annotations_stay_texts_and_tuples_can_be_pickled() -> None:
    assert Place.__annotations__ == {"row": "int", "column": "int"}
    assert pickle.loads(pickle.dumps(Place(1))) == Place(1, 3)
    assert typing.get_type_hints(Place) == {"row": int, "column": int}


def test_no_unknown_field_is_replaced() -> None:
    place: Any = Place(1)
    with pytest.raises(TypeError, match=r"^Got unexpected field names: \['depth'\]$"):
        place._replace(depth=2)


def test_a_named_tuple_keeps_its_constructor() -> None:
    with pytest.raises(
        AttributeError, match="Row may not replace the constructor of a named tuple"
    ):

        class Row(typed_records.NamedTuple):
            a: int

            def __new__(cls, a: int) -> Row:  # type: ignore[misc]  # what must be refused
                return super().__new__(cls, [a])


def test_a_field_without_a_default_after_one_with_a_default() -> None:
    """The standard library refuses it, too; else the default would be that of the last field."""

    def outcome(base: Any) -> str:
        class Row(base):  # type: ignore[misc]  # as in `made`
            a: int = 5
            b: int

        return repr(Row)

    with pytest.raises(TypeError):
        outcome(typing.NamedTuple)
    with pytest.raises(TypeError, match=r"Row\.b has no default, but the field before it has$"):
        outcome(typed_records.NamedTuple)


def test_a_typed_dict_makes_plain_dicts() -> None:
    class Packet(typed_records.TypedDict):
        order: int

    assert type(Packet(order=1)) is dict
    assert Packet(order=1) == {"order": 1}
