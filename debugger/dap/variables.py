"""Scopes and values that the user can open in an editor; their numbers are valid until a stop."""

from __future__ import annotations

from dataclasses import dataclass

from macaw.debugger.dap.connection import RequestError
from macaw.debugger.places import Place

REGISTERS, TENSORS, QUEUES, COUNTERS = "registers", "tensors", "queues", "counters"
UNITS, UNIT, VALUE = "units", "unit", "value"


@dataclass(frozen=True)
class Container:
    """A scope or a value with children. `text` is an expression, evaluated at `place`.

    `path` leads from the expression's value to the container's value: it has indices and names.
    """

    kind: str
    place: Place
    text: str = ""
    path: tuple[int | str, ...] = ()


@dataclass(frozen=True)
class Item:
    """A child of a container; the child may be a container itself.

    For a counter, `number` is its value.
    """

    name: str
    container: Container
    number: int | None = None


class References:
    """Assigns numbers (`variablesReference`) to containers."""

    def __init__(self) -> None:
        self._containers: dict[int, Container] = {}
        self._numbers: dict[Container, int] = {}
        self._last = 0

    def number(self, container: Container) -> int:
        """Return the number of a container, from 1; a new container gets the next number."""
        if container not in self._numbers:
            self._last += 1
            self._numbers[container] = self._last
            self._containers[self._last] = container
        return self._numbers[container]

    def get(self, number: int) -> Container:
        """Return the container with the number `number`. Raises `RequestError`."""
        if number not in self._containers:
            raise RequestError(f"there are no variables {number} any more")
        return self._containers[number]

    def forget(self) -> None:
        """Drop all containers, whose numbers a run makes invalid."""
        self._containers.clear()
        self._numbers.clear()
