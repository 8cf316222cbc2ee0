"""The cores of one device, some of which are made only when they are first used.

Most programs use few kinds of cores, and importing a core's table and engine takes longer than a
short run. A core's folder in `emu` may therefore declare `ON_DEMAND = True`. The device then makes
the core when the program or the host first uses it: by its number, by an address that may be in its
own memory or in its windows, or with all cores. Before that the core would be idle in its state
after reset, so nobody can notice that it is missing.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Generic, TypeVar

from macaw.emu.agents import Agent
from macaw.isa import registry

A = TypeVar("A", bound=Agent)


def _packages() -> Iterator[tuple[int, ModuleType]]:
    """Yield (core number, package) for each folder that models cores, in the order of the numbers.

    The number is that of the folder's first core.
    """
    for descriptor in registry.all_descriptors():
        folder = f"macaw.emu.{registry.module(descriptor.name)}"
        spec = find_spec(folder)
        if spec is not None and spec.origin is not None:
            yield descriptor.number, import_module(folder)


class CoreSet(Generic[A]):
    """The cores of one device: those that exist, and functions that make the others.

    `present` has the existing cores, ordered by number; it is always the same list object. `make`
    calls a function `build` for the device, and returns the cores. The set calls `on_made` with the
    cores that it makes after its construction. If `builders` is None, the set uses the functions
    `build` of all folders of `emu`; otherwise it uses `builders` and makes their cores at once.
    Raises `ValueError` if two cores have the same number or name.
    """

    def __init__(
        self,
        make: Callable[[Callable[..., Sequence[A]]], Sequence[A]],
        on_made: Callable[[Sequence[A]], object],
        builders: Iterable[Callable[..., Sequence[A]]] | None,
    ) -> None:
        self.present: list[A] = []
        self.by_number: dict[int, A] = {}
        self._make, self._on_made = make, on_made
        self._absent: dict[int, Callable[..., Sequence[A]]] = {}  # by their first core's number
        self._first_numbers: list[int] = []
        if builders is None:
            builders = []
            for number, package in _packages():
                self._first_numbers.append(number)
                if getattr(package, "ON_DEMAND", False):
                    self._absent[number] = package.build
                else:
                    builders.append(package.build)
        for build in builders:
            self._add(make(build))

    def _add(self, cores: Iterable[A]) -> None:
        for core in cores:
            if core.number in self.by_number or any(core.name == x.name for x in self.present):
                raise ValueError("two cores have the same number or name")
            self.by_number[core.number] = core
            insort(self.present, core, key=lambda item: item.number)

    def find(self, number: int) -> A | None:
        """Return the core with this number, and make it first if it does not exist yet.

        The result is None if the device has no such core.
        """
        place = bisect_right(self._first_numbers, number) - 1
        if place >= 0 and number not in self.by_number:
            self._complete(self._first_numbers[place])
        return self.by_number.get(number)

    def all(self) -> list[A]:
        """Make the cores that do not exist yet, and return all cores, ordered by number."""
        for number in tuple(self._absent):
            self._complete(number)
        return self.present

    @property
    def is_complete(self) -> bool:
        """Whether all cores exist."""
        return not self._absent

    def _complete(self, number: int) -> None:
        """Make the cores of the folder whose first core has this number, unless they exist."""
        build = self._absent.get(number)
        if build is not None:
            made = self._make(build)  # if this raises an error, the next use makes the cores again
            del self._absent[number]
            self._add(made)
            self._on_made(made)
