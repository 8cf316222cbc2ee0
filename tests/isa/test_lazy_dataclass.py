"""Dataclasses whose methods are made at their first use behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import pydoc
import threading
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from macaw.isa import lazy_dataclass as lazy

OPTIONS = [
    {"frozen": frozen, "eq": eq, "slots": slots}
    for frozen in (False, True)
    for eq in (False, True)
    for slots in (False, True)
]
ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, "b", [3]), {}),
    ((), {"a": 1, "d": 4}),
    ((1, "b", [3], 4, 5), {}),
    ((1, "b", [3]), {"e": 5}),
    ((), {}),
    ((1,), {"a": 2}),
    ((1,), {"z": 2}),
    ((1, 2, 3, 4, 5, 6), {}),
]


def made(decorate: Callable[..., Any], **options: bool) -> Any:
    @decorate(**options)
    class Row:
        """A dataclass with fields of many kinds."""

        a: int
        b: str = "text"
        c: list[int] = field(default_factory=list)
        kind: ClassVar[str] = "row"
        d: int = field(default=7, repr=False, compare=False)
        e: int = field(default=8, kw_only=True)
        f: list[int] = field(default_factory=list, init=False)

        def twice(self) -> int:
            return 2 * self.a

    return Row


def outcome(act: Callable[[], Any]) -> Any:
    """The result of a call, or the type and text of its error."""
    try:
        return act()
    except Exception as error:
        return type(error), str(error)


def described(cls: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> list[object]:
    """Attributes, comparisons, hash and text of an object; only the error if it cannot be made."""
    item = outcome(lambda: cls(*positional, **copy.deepcopy(named)))
    if isinstance(item, tuple):
        return [item]
    other, different = cls(*positional, **copy.deepcopy(named)), cls(99)
    return [
        [getattr(item, name) for name in ("a", "b", "c", "d", "e", "f", "kind")],
        item.twice(),
        item == other,
        item == different,
        item != other,
        item == 5,
        outcome(lambda: repr(item)),
        outcome(lambda: hash(item) == hash(other)),
        outcome(lambda: setattr(item, "a", 3)),
        outcome(lambda: delattr(item, "b")),
        hasattr(item, "__dict__"),
        [(x.name, x.default, x.init) for x in dataclasses.fields(item)],
        cls.__match_args__,
        cls.__doc__,
        dataclasses.is_dataclass(cls),
        outcome(lambda: dataclasses.asdict(item)),
        outcome(lambda: copy.deepcopy(item).c),
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_is_as_that_of_the_standard_library(options: dict[str, bool]) -> None:
    for positional, named in ARGUMENTS:
        ours, theirs = made(lazy.dataclass, **options), made(dataclasses.dataclass, **options)
        assert described(ours, positional, named) == described(theirs, positional, named)


def test_a_default_list_is_refused_when_the_class_is_defined() -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @lazy.dataclass
        class _Row:
            items: list[int] = []  # noqa: RUF012


@lazy.dataclass(frozen=True, slots=True)
class Point:
    """A class at module level, so that pickle finds it."""

    x: int
    y: int = 0


@lazy.dataclass(frozen=True)
class Named(Point):
    """Adds a field, a `__post_init__`, and its own `__hash__` and `__repr__`."""

    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or f"{self.x}, {self.y}")

    def __hash__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return f"<{self.name}>"


def test_pickles_go_to_a_process_that_has_made_no_object() -> None:
    data = pickle.dumps(Point(1, 2))
    vars_before = Point.__dict__["__init__"]
    assert pickle.loads(data) == Point(1, 2)
    assert copy.copy(Point(1)) == Point(1)
    assert Point.__dict__["__init__"] is vars_before


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_says_its_options_as_the_library_does(options: dict[str, bool]) -> None:
    """Dask reads `__slots__` of the options of each dataclass that it sends to a cluster."""
    ours, theirs = (
        made(decorate, **options).__dataclass_params__
        for decorate in (lazy.dataclass, dataclasses.dataclass)
    )
    names = theirs.__slots__
    assert set(names) <= set(ours.__slots__)
    made_by_us = {"init", "repr", "eq", "frozen", "slots"}
    for name in made_by_us.intersection(names):
        assert getattr(ours, name) == getattr(theirs, name)


def test_help_shows_the_fields_of_a_class_without_objects() -> None:
    ours, theirs = made(lazy.dataclass), made(dataclasses.dataclass)
    for name in ("__init__", "__eq__", "__repr__"):
        parameters = [
            [(x.name, x.kind) for x in inspect.signature(getattr(cls, name)).parameters.values()]
            for cls in (ours, theirs)
        ]
        assert parameters[0] == parameters[1]
    shown = pydoc.plain(pydoc.render_doc(made(lazy.dataclass)))
    assert "Row(a, b='text', c=" in shown
    assert "positional" not in shown


def test_a_class_extends_another_and_keeps_its_own_methods() -> None:
    assert repr(Named(1)) == "<1, 0>"
    assert Named(1, 2, "n").name == "n"
    assert hash(Named(1)) == 3
    assert Named(1) == Named(1) != Named(2)
    assert dataclasses.replace(Named(1, 2), name="other", y=5) == Named(1, 5, "other")


@pytest.mark.parametrize(
    ("base", "other"),
    [(lazy.dataclass, dataclasses.dataclass), (dataclasses.dataclass, lazy.dataclass)],
)
def test_ours_and_the_library_s_extend_each_other(base: Any, other: Any) -> None:
    @base(frozen=True)
    class First:
        """The base class."""

        a: int

    @other(frozen=True)
    class Second(First):
        """The class that extends the base class."""

        b: int = 2

    second: Any = Second
    assert second(1) == second(1, 2) != second(1, 3)
    assert repr(second(1)).endswith("Second(a=1, b=2)")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        second(1).a = 2
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        other(type("Third", (First,), {}))


@pytest.mark.parametrize("declare", [lazy.dataclass, dataclasses.dataclass])
def test_a_frozen_object_takes_no_attribute_and_loses_none(declare: Any) -> None:
    """A frozen object refuses to set or delete attributes.

    An object of a subclass without the decorator accepts new attributes.
    """
    first, second = made(declare, frozen=True)(1), None
    for name in ("a", "more"):
        with pytest.raises(
            dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(first, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(first, name)
    assert not hasattr(first, "more")
    second = type("Extended", (type(first),), {})(1)
    second.more = 3
    assert second.more == 3
    del second.more
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
        del second.a


def test_a_field_without_a_default_after_one_with_a_default() -> None:
    """The standard library refuses the class, this library its first object."""

    class Row:
        """A row whose fields are in a wrong order."""

        a: int = 5
        b: int

    with pytest.raises(TypeError, match="non-default argument 'b' follows default argument"):
        dataclasses.dataclass(type("Row", (Row,), dict(vars(Row))))
    made_lazily: Any = lazy.dataclass(Row)
    with pytest.raises(TypeError, match=r"^non-default argument 'b' follows default argument$"):
        made_lazily(1, 2)


def test_classes_that_share_code_keep_their_names_and_defaults() -> None:
    """The code of a constructor serves all classes with as many fields."""

    @lazy.dataclass(frozen=True)
    class First:
        """A class with two fields."""

        a: int
        b: int = 2

    @lazy.dataclass(frozen=True)
    class Second:
        """Another class with two fields."""

        c: int
        d: str = "d"

    assert vars(First(1)) == {"a": 1, "b": 2}
    assert vars(Second(d="e", c=3)) == {"c": 3, "d": "e"}
    assert vars(First(b=4, a=5)) == {"a": 5, "b": 4}
    assert hash(First(1)) == hash((1, 2))
    assert hash(Second(1)) == hash((1, "d"))
    untyped: Any = Second
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'c'$"):
        untyped()


def test_patterns_take_the_fields_in_their_order() -> None:
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)


def test_threads_that_make_the_first_objects_at_once() -> None:
    for _ in range(50):
        cls = made(lazy.dataclass, frozen=True)
        start = threading.Barrier(4)
        found: list[object] = []

        def make(cls: Any = cls, start: Any = start, found: list[object] = found) -> None:
            start.wait()
            found.append(cls(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [item == found[0] for item in found] == [True] * 4


def test_help_names_no_object_as_a_default():
    assert "c=<factory>" in str(inspect.signature(made(lazy.dataclass)))
